const KINDS = {
  tag: { title: "Tags", items: "tokens", example: "They can swim to the boats that leave at noon." },
  sets: { title: "Tag sets", items: "tokens", example: "hwu mon uin aggel yna hunkele soeddet" },
  entities: {
    title: "Entities", items: "cells", example: "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.",
  },
  cite: {
    title: "References",
    example: "[1] Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.\n" +
      "[2] Mills, R. (1998). Ferries in winter. Journal of Harbours, 12(3), 45-61.",
  },
  sections: {
    title: "Outline", items: "cells",
    example: "1. Scope\nThis contract is for all ferries of the line.\n\n2. Term\n2.1 The contract holds for one year.\n" +
      "2.2 It may be extended by letter, see 1.\n",
  },
  punctuate: { title: "Punctuation", items: "cells", example: "dear tom thank you for your letter how is your sister" },
};
const EXPLAINED = ["tag", "sets", "entities"];
const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 };
const byId = (id) => document.getElementById(id);
const [tabs, form, text, choice, state, knobs, answer, panel] = ["kinds", "form", "text", "model", "state", "knobs", "answer", "panel"].map(byId);
const drafts = {}, marks = new Map();  // texts by kind; what was checked, by what was asked
let models = [], kind = "", latest = 0;
let told = null, asked = "", by = { kind: "", model: "" };  // what is shown, and what it answers; tabs may be further
let checked = new Map(), threshold = 0, rule = { by: "model", beta: 1, mass: 0.95 };

// -- small parts --------------------------------------------------------------------------------------------------

function make(element, attributes = {}, ...children) {
  const made = document.createElement(element);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "p") { if (value != null) made.style.setProperty("--p", value.toFixed(4)); }
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

const share = (value) => (value == null ? "" : value.toFixed(2));

async function post(path, body) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error((await response.json()).message);
  return response;
}

// one of several parts can be reached by Tab, the others by arrows
function rove(parent, selector) {
  const items = [...parent.querySelectorAll(selector)];
  items.forEach((item, place) => { item.tabIndex = place ? -1 : 0; });
  parent.onkeydown = (event) => {
    const here = items.indexOf(document.activeElement), step = STEPS[event.key];
    if (here < 0 || (!step && event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    const next = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : (here + step + items.length) % items.length;
    anchor = event.shiftKey && parent === answer && correction()?.hasSpans ? anchor ?? here : null;
    focusOn(items, next);
    if (parent === answer) paintSelection(next);
  };
}

function focusOn(items, place) {
  items.forEach((item) => { item.tabIndex = -1; });
  items[place].tabIndex = 0;
  items[place].focus();
}

function makeCopy(title, content) {
  const button = make("button", { type: "button", class: "plain", onclick: async () => {
    await navigator.clipboard.writeText(content());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = title; }, 1500);
  } }, title);
  return button;
}

function makeBars(probabilities) {
  const rows = Object.entries(probabilities).sort((one, other) => other[1] - one[1]).slice(0, 8).filter(([, value]) => value >= 0.005);
  if (!rows.length) return make("p", { class: "none" }, "The model gives no probabilities.");
  return make("dl", { class: "bars" }, ...rows.flatMap(([name, value]) => [
    make("dt", {}, name || "no mark"), make("dd", {}, make("div", { class: "bar", p: value })), make("dd", {}, share(value))]));
}

// -- what is shown ------------------------------------------------------------------------------------------------

const items = () => (told && told[KINDS[by.kind].items]) ?? [];
const openers = () => [...answer.querySelectorAll("[role=button]")];
const correction = () => (told && !told.error ? CORRECTIONS[by.kind] : undefined);

// the tags that are shown for a token, by the rule that is chosen
function tagsOf(token) {
  if (!token.set?.length || rule.by === "model" || !token.probabilities) return token.set ?? (token.tag ? [token.tag] : []);
  const values = told.labels.map((label) => token.probabilities[label] ?? 0);
  const places = rule.by === "utility" ? utilitySet(values, told.alpha, rule.beta) : massSet(values, rule.mass);
  return places.map((place) => told.labels[place]);
}

function nameTags(tags) {
  const more = tags.length - 4;
  return tags.slice(0, 4).join(" | ") + (more > 0 ? ` +${more}` : "");
}

// probabilities came once: sets and doubt are found anew in the page
function refresh() {
  const own = correction();
  if (!own) return;
  let low = 0, doubtful = 0, size = 0, words = 0;
  own.prepare?.();
  for (const part of openers()) {
    const item = items()[part.dataset.n], saying = own.said(item), isRight = isChecked(saying);
    const probability = isRight ? null : saying.probability ?? item.probability, isLow = probability != null && probability < threshold;
    own.paint(part, item, saying);
    part.classList.toggle("low", isLow);
    part.classList.toggle("checked", isRight);
    part.setAttribute("aria-label", `${item.text}: ${own.describe(saying)}${isRight ? ", checked" : ""}`);
    if (saying.start !== item.start) continue;
    if (probability != null) doubtful += 1;
    low += isLow;
    if (saying.tags.length) { size += saying.tags.length; words += 1; }
  }
  own.drawn?.();
  const parts = [threshold ? `${low} of ${doubtful} below ${share(threshold)}` : null,
    by.kind === "sets" && words ? `${(size / words).toFixed(2)} tags for a word` : null, checked.size ? `${checked.size} checked` : null];
  knobs.querySelector("#figures").value = parts.filter(Boolean).join(" · ");
  knobs.querySelectorAll("[data-file]").forEach((button) => { button.disabled = !checked.size; });
}

function makeSlider(title, value, settings, change) {
  const output = make("output", {}, share(value));
  const slider = make("input", { type: "range", ...settings, value, "aria-label": title, oninput: () => {
    output.value = share(Number(slider.value));
    change(Number(slider.value));
    refresh();
  } });
  return make("label", { class: "knob" }, make("span", {}, title), slider, output);
}

function makeRule(by, title, slider) {
  const radio = make("input", { type: "radio", name: "rule", value: by, onchange: () => { rule.by = by; refresh(); } });
  radio.checked = rule.by === by;
  slider?.addEventListener("input", () => { rule.by = by; radio.checked = true; refresh(); });
  return make("div", { class: "rule" }, make("label", {}, radio, ` ${title}`), slider);
}

function showKnobs() {
  const parts = [];
  if ([...items(), ...(told.entities ?? [])].some((item) => item.probability != null)) {
    parts.push(makeSlider("Doubtful below", threshold, { min: 0, max: 1, step: 0.01 }, (value) => { threshold = value; }));
  }
  if (by.kind === "sets" && told.labels) {
    parts.push(make("fieldset", {}, make("legend", {}, "Sets"),
      makeRule("model", "as they come"),
      makeRule("utility", "best by utility", makeSlider("β", rule.beta, { min: 0, max: 5, step: 0.05 }, (value) => { rule.beta = value; })),
      makeRule("mass", "with a probability", makeSlider("of", rule.mass, { min: 0.5, max: 0.99, step: 0.01 }, (value) => { rule.mass = value; }))));
  }
  if (correction()) {
    parts.push(make("div", { class: "files" }, make("button", { type: "button", class: "plain", onclick: checkRest }, "Check the rest"),
      ...correction().layouts.map(([layout, title]) =>
        make("button", { type: "button", class: "plain", "data-file": layout, onclick: () => download(layout) }, `Download ${title}`))));
    parts.push(make("output", { id: "figures", role: "status" }));
  }
  knobs.replaceChildren(...parts);
}

// -- one of them --------------------------------------------------------------------------------------------------

let opened = null, anchor = null;  // the part whose panel is open; where a selection begins

// the saying that a panel is about: a span that is selected, or what is said of a cell
function subject(item) {
  const own = correction();
  if (anchor == null || !own.hasSpans) return own.said(item);
  const [first, last] = [anchor, item.n].sort((one, other) => one - other).map((number) => items()[number]);
  return { start: first.start, end: last.end, tags: [] };
}

function paintSelection(here) {
  openers().forEach((part, number) => part.classList.toggle("selected",
    anchor != null && Math.min(anchor, here) <= number && number <= Math.max(anchor, here)));
}

function open(part) {
  const item = items()[part.dataset.n], saying = subject(item);
  openers().forEach((other) => other.setAttribute("aria-expanded", other === part));
  opened = part;
  const name = saying.end ? [...asked].slice(saying.start, saying.end).join("") : item.text;
  const why = make("div", { class: "why", "aria-live": "polite" });
  const values = item.probabilities ?? (saying.probability == null ? null : { [saying.label]: saying.probability });
  panel.replaceChildren(
    make("div", { class: "head" }, make("h2", {}, shorten(name)), make("button", { type: "button", class: "plain", onclick: close }, "Close")),
    make("div", { class: "beside" }, makeChoice(item, saying), values && makeBars(values)), why);
  panel.hidden = false;
  (panel.querySelector("select") ?? panel).focus({ preventScroll: true });
  part.scrollIntoView({ block: "nearest" });
  if (EXPLAINED.includes(by.kind)) explain(item, why);
}

function makeChoice(item, saying) {
  const asked = correction().ask(item, saying);
  if (!asked.length) return null;
  const lists = asked.map(({ value, options }, number) => {
    const size = number ? null : Math.max(2, Math.min(5, options.length));
    const list = make("select", { id: number ? `choice${number}` : "choice", size, "aria-describedby": "choice-help" },
      ...options.map(([own, title]) => make("option", { value: own }, title)));
    list.value = value;
    list.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); accept(); } });
    return list;
  });
  const accept = () => settle(item, correction().take(item, saying, lists.map((list) => list.value)));
  lists[0].addEventListener("dblclick", accept);
  return make("div", { class: "choice" }, ...lists.map((list, number) => make("p", {}, make("label", { for: list.id }, asked[number].title), list)),
    make("div", { class: "files" }, make("button", { type: "button", class: "main", onclick: accept }, "Checked"),
      isChecked(saying) ? make("button", { type: "button", class: "plain", onclick: () => settle(item, null) }, "Not checked") : null),
    make("p", { id: "choice-help", class: "key" }, "Letters and arrows choose, Enter checks, Escape closes."));
}

function settle(item, saying) {
  if (saying) {
    for (const one of checked.values()) if (saying.end && meets(one, saying)) checked.delete(one.start);
    checked.set(saying.start, saying);
  } else checked.delete(correction().said(item).start);
  const all = openers(), end = saying ? saying.end ?? item.end : item.start;
  const next = all.findIndex((part) => items()[part.dataset.n].start >= end);
  close();
  refresh();
  focusOn(all, next < 0 ? all.length - 1 : next);
}

function checkRest() {
  for (const item of items()) {
    const { start, end, tags } = correction().said(item);
    if (item.text.trim() && (end || tags.length) && !checked.has(start)) checked.set(start, { start, end, tags });
  }
  refresh();
}

function close() {
  panel.hidden = true;
  openers().forEach((other) => other.setAttribute("aria-expanded", "false"));
  anchor = null;
  paintSelection();
  opened?.focus();
  opened = null;
}

async function explain(item, why) {
  const body = { text: asked, ...by, start: item.start, html: true };
  try {
    const { results: [found] } = await (await post("explain", body)).json();
    why.innerHTML = found.html;
  } catch (error) {
    why.replaceChildren(make("p", { class: "none" }, error.message));
  }
  opened?.scrollIntoView({ block: "nearest" });  // the panel has grown
}

async function download(layout) {
  const marks = [...checked.values()].map(({ start, end, tags }) => ({ start, end, tags }));
  try {
    const response = await post("checked", { text: asked, ...by, layout, checked: marks });
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: `checked.${layout}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  } catch (error) {
    tell(error.message, true);
  }
}

answer.addEventListener("click", (event) => {
  const part = event.target.closest("[role=button]");
  if (!part) return;
  const all = openers();
  if (event.shiftKey) anchor ??= all.findIndex((other) => other.tabIndex === 0);
  select(all, all.indexOf(part));
});
answer.addEventListener("mouseup", () => {  // words that the pointer was drawn over
  const chosen = getSelection(), all = openers();
  if (chosen.isCollapsed || !correction()?.hasSpans) return;
  const ends = [chosen.anchorNode, chosen.focusNode].map((node) => all.indexOf(node.parentElement.closest("[role=button]")));
  if (ends.includes(-1) || ends[0] === ends[1]) return;
  chosen.removeAllRanges();
  anchor = ends[0];
  select(all, ends[1]);
});

function select(all, number) {
  focusOn(all, number);
  paintSelection(number);
  open(all[number]);
}

answer.addEventListener("keydown", (event) => {
  const part = event.target.closest("[role=button]");
  if (!part) return;
  if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(part); }
  if ((event.key === "Delete" || event.key === "Backspace") && correction()) {
    event.preventDefault();
    checked.delete(correction().said(items()[part.dataset.n]).start);
    refresh();
  }
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !panel.hidden) close(); });

// -- the page -----------------------------------------------------------------------------------------------------

function tell(message, isError = false) {
  state.className = isError ? "error" : "";
  state.value = message;
}

function choose(next) {
  if (kind) drafts[kind] = text.value;
  kind = next;
  for (const tab of tabs.children) tab.setAttribute("aria-selected", tab.value === kind);
  const fitting = models.filter((model) => model.answers.includes(kind));
  choice.replaceChildren(...fitting.map((model) => make("option", { value: model.name }, model.name)));
  text.value = drafts[kind] ?? KINDS[kind].example;
  ask();
}

function show(result) {
  told = result;
  const key = JSON.stringify([by, asked]);
  checked = marks.get(key) ?? new Map();
  marks.set(key, checked);
  panel.hidden = true;
  opened = anchor = null;
  answer.innerHTML = result.html;
  items().forEach((item, number) => { item.n = number; });
  if (by.kind === "punctuate" && !result.error) answer.append(makeCopy("Copy text", () => answer.firstChild.textContent));
  if (by.kind === "cite") {
    const good = (result.references ?? []).filter((one) => !one.error);
    answer.querySelectorAll("article pre").forEach((part, place) => part.after(
      makeCopy("Copy BibTeX", () => good[place].bibtex), " ", makeCopy("Copy CSL", () => JSON.stringify([good[place].csl], null, 2))));
  }
  rove(answer, "[role=button]");
  showKnobs();
  refresh();
}

async function ask() {
  const number = ++latest, source = text.value, asking = { kind, model: choice.value };
  tell("…");
  answer.setAttribute("aria-busy", "true");
  try {
    const began = performance.now();
    const found = await (await post(kind, { text: source, model: asking.model, html: true })).json();
    if (number !== latest) return;
    [asked, by] = [source, asking];
    show(found.results[0]);
    tell(`${Math.round(performance.now() - began)} ms`);
  } catch (error) {
    if (number === latest) tell(error.message, true);
  } finally {
    if (number === latest) answer.removeAttribute("aria-busy");
  }
}

form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); }
});
choice.addEventListener("change", ask);

(async () => {
  models = await (await fetch("models")).json();
  const known = Object.keys(KINDS).filter((name) => models.some((model) => model.answers.includes(name)));
  tabs.replaceChildren(...known.map((name) => make("button", {
    type: "button", role: "tab", value: name, "aria-controls": "answer", onclick: () => choose(name) }, KINDS[name].title)));
  const wanted = location.hash.slice(1);
  choose(known.includes(wanted) ? wanted : known[0]);
  rove(tabs, "[role=tab]");
})();
