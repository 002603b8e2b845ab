const outline = document.getElementById("outline");
const nodes = [...outline.querySelectorAll("nav details")];
for (const button of outline.querySelectorAll("button")) {
  button.addEventListener("click", () => nodes.forEach((node) => { node.open = button.value === "open"; }));
}
if (matchMedia("(max-width: 52rem)").matches) outline.open = false;
outline.querySelector("nav").addEventListener("click", (event) => {
  if (event.target.closest("a") && matchMedia("(max-width: 52rem)").matches) outline.open = false;
});

// the section that is being read
const links = new Map([...outline.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
const seen = new Set();
let here = null;
function mark() {
  const last = [...seen].sort((one, other) =>
    one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1).pop();
  const link = last && links.get(last.id);
  if (!link || link === here) return;
  here?.classList.remove("here");
  here?.removeAttribute("aria-current");
  here = link;
  here.classList.add("here");
  here.setAttribute("aria-current", "location");
  const panel = outline.parentElement;
  const box = here.getBoundingClientRect(), frame = panel.getBoundingClientRect();
  if (panel.scrollHeight > panel.clientHeight && (box.top < frame.top + 60 || box.bottom > frame.bottom)) {
    panel.scrollTop += box.top - frame.top - frame.height / 3;
  }
}
const watch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? seen.add(target) : seen.delete(target);
  mark();
}, { rootMargin: "0px 0px -75% 0px" });
document.querySelectorAll("main section").forEach((section) => watch.observe(section));
