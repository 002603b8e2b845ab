const KINDS = {
  tag: { title: "Tags", example: "They can swim to the boats that leave at noon.", show: showWords },
  sets: { title: "Tag sets", example: "hwu mon uin aggel yna hunkele soeddet", show: showWords },
  entities: { title: "Entities", example: "Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.", show: showEntities },
  cite: {
    title: "References",
    example: "[1] Ferreira, Tomás, and Edith Crane. The Kitchen Sonnet. Tollgate Press 2003.\n" +
      "[2] Mills, R. (1998). Ferries in winter. Journal of Harbours, 12(3), 45-61.",
    show: showReferences,
  },
  sections: {
    title: "Outline",
    example: "1. Scope\nThis contract is for all ferries of the line.\n\n2. Term\n2.1 The contract holds for one year.\n" +
      "2.2 It may be extended by letter, see 1.\n",
    show: showOutline,
  },
  punctuate: { title: "Punctuation", example: "dear tom thank you for your letter how is your sister", show: showRestored },
};
const byId = (id) => document.getElementById(id);
const [tabs, form, text, choice, state, answer] = ["kinds", "form", "text", "model", "state", "answer"].map(byId);
const drafts = {};
let models = [], kind = "", latest = 0;

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

// places in answers count characters, those of strings half of some: a text as a list of characters
const characters = (source) => Object.assign([...source], { cut(start, end) { return this.slice(start, end).join(""); } });

const share = (value) => (value == null ? "" : value.toFixed(2));

// one of several buttons can be reached by Tab, the others by arrows
function rove(parent, selector) {
  const items = [...parent.querySelectorAll(selector)];
  items.forEach((item, place) => { item.tabIndex = place ? -1 : 0; });
  parent.addEventListener("keydown", (event) => {
    const here = items.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (here < 0 || (!step && event.key !== "Home" && event.key !== "End")) return;
    event.preventDefault();
    const next = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : (here + step + items.length) % items.length;
    items.forEach((item) => { item.tabIndex = -1; });
    items[next].tabIndex = 0;
    items[next].focus();
  });
}

// a panel with the probabilities of whatever was clicked last
function makePanel(root) {
  const panel = make("div", { class: "panel", "aria-live": "polite", hidden: "" });
  panel.open = (button, title, rows) => {
    root.querySelectorAll("[aria-expanded]").forEach((other) => other.setAttribute("aria-expanded", other === button));
    const bars = make("dl", { class: "bars" });
    for (const [name, value] of rows) {
      bars.append(make("dt", {}, name), make("dd", {}, make("div", { class: "bar", p: value })), make("dd", {}, share(value)));
    }
    panel.replaceChildren(make("h2", {}, title), rows.length ? bars : make("p", { class: "none" }, "The model gives no probabilities."));
    panel.hidden = false;
  };
  return panel;
}

const failed = (error) => make("p", { class: "error" }, error.message);

// -- views --------------------------------------------------------------------------------------------------------

function showWords(told, text) {
  const source = characters(text);
  const root = make("div"), words = make("div", { class: "words", role: "group", "aria-label": "Words" }), panel = makePanel(root);
  let end = 0;
  for (const token of told.tokens) {
    if (!token.text.trim()) continue;
    if (source.cut(end, token.start).includes("\n")) words.append(make("span", { class: "break" }));
    end = token.end;
    const label = token.set ? token.set.join(" | ") : token.tag ?? "";
    const rows = Object.entries(token.probabilities ?? {}).sort((one, other) => other[1] - one[1]);
    const open = () => panel.open(button, token.set ? `${token.text}: ${label}` : token.text, rows);
    const button = make("button", { type: "button", class: "word doubt", p: token.probability, "aria-expanded": "false", onclick: open },
      token.text, make("small", {}, label || "–"));
    words.append(button);
  }
  rove(words, ".word");
  root.append(words.children.length ? words : make("p", { class: "none" }, "There are no words."), panel);
  return root;
}

function showEntities(told, text) {
  const source = characters(text);
  const root = make("div"), reading = make("p", { class: "reading" });
  const labels = [...new Set(told.entities.map((one) => one.label))].sort();
  const hue = (label) => Math.round(205 + (labels.indexOf(label) * 360) / Math.max(labels.length, 5)) % 360;
  const changes = told.changes ?? [];
  let end = 0;
  for (const one of told.entities) {
    const changed = changes.some((change) => change.start < one.end && one.start < change.end);
    reading.append(source.cut(end, one.start), make("span", { class: changed ? "entity changed" : "entity", style: `--hue: ${hue(one.label)}` },
      source.cut(one.start, one.end), make("small", {}, `${one.label} ${share(one.probability)}`)));
    end = one.end;
  }
  reading.append(source.cut(end));
  root.append(reading);
  if (!told.entities.length) root.append(make("p", { class: "none" }, "Nothing was found."));
  if (changes.length) {
    const items = changes.map((change) => make("li", {}, make("b", {}, change.text), ` is ${change.to}, and would be ${change.from} without `,
      ...change.because.flatMap((reason, place) => [place ? " or " : null, make("code", {}, reason.join(" and "))])));
    root.append(make("h2", {}, "What constraints changed"), make("ul", { class: "changes" }, ...items));
  } else if (told.changes && told.entities.length) {
    root.append(make("p", { class: "none" }, "Constraints changed nothing."));
  }
  return root;
}

function showReferences(told) {
  const root = make("div");
  for (const one of told.references) {
    const article = make("article", {}, make("p", {}, one.marker ? `${one.marker} ` : null, one.text));
    root.append(article);
    if (one.error) { article.append(failed(one.error)); continue; }
    const rows = one.fields.map((field) => make("tr", {}, make("th", { scope: "row" }, field.label),
      make("td", {}, field.text), make("td", { class: "p doubt", p: field.probability }, share(field.probability))));
    const bibtex = make("pre", { tabindex: "0" }, one.bibtex.trim());
    article.append(make("table", {}, make("tbody", {}, ...rows, make("tr", {}, make("th", { scope: "row" }, "all"),
      make("td", { class: "sure" }, "all fields are right"), make("td", { class: "p doubt", p: one.probability }, share(one.probability))))),
    bibtex, makeCopy("Copy BibTeX", one.bibtex), " ", makeCopy("Copy CSL", JSON.stringify([one.csl], null, 2)));
  }
  if (!told.references.length) root.append(make("p", { class: "none" }, "There is no reference."));
  return root;
}

function makeCopy(title, content) {
  const button = make("button", { type: "button", class: "copy", onclick: async () => {
    await navigator.clipboard.writeText(content);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = title; }, 1500);
  } }, title);
  return button;
}

function showOutline(told, text) {
  const source = characters(text);
  const { sections, elements } = told.tree;
  if (!sections.length) return make("p", { class: "none" }, "No sections were found.");
  const lists = new Map([[null, make("ul")]]), headings = new Map();
  const opening = (node) => {
    const start = node.heading.length ? elements[node.heading.at(-1)][1] : node.start;
    return source.cut(start, Math.min(node.end, start + 280)).trim().split("\n")[0].slice(0, 70);
  };
  sections.forEach((node, place) => {
    const link = make("a", { href: `#s${place}`, class: node.virtual ? "doubt virtual" : "doubt", p: node.probability },
      node.number ? make("span", { class: "nr" }, node.number) : null,
      make("span", { class: "name" }, node.virtual ? "implied" : node.title || opening(node)),
      make("span", { class: "p" }, share(node.probability)));
    const item = make("li", {}, link);
    if (!lists.has(node.parent)) {
      const list = make("ul");
      lists.get(null).querySelector(`a[href="#s${node.parent}"]`).parentElement.append(list);
      lists.set(node.parent, list);
    }
    lists.get(node.parent).append(item);
    node.heading.forEach((element) => headings.set(element, place));
  });
  const reading = make("p", { class: "reading" });
  const named = new Set();
  let end = 0;
  elements.forEach(([start, behind], place) => {
    reading.append(source.cut(end, start));
    const section = headings.get(place), part = source.cut(start, behind);
    reading.append(section == null ? part : make("b", named.has(section) ? {} : { id: `s${section}` }, part));
    if (section != null) named.add(section);
    end = behind;
  });
  reading.append(source.cut(end));
  return make("div", { class: "outline" }, make("nav", { "aria-label": "Sections" }, lists.get(null)), reading);
}

function showRestored(told) {
  const root = make("div"), reading = make("p", { class: "reading" }), panel = makePanel(root);
  const restored = characters(told.restored);
  let end = 0;
  for (const mark of told.marks) {
    if (mark.at < end || mark.at >= restored.length) continue;
    reading.append(restored.cut(end, mark.at));
    const open = () => panel.open(button, `Behind “${mark.word}”`,
      Object.entries(mark.probabilities ?? {}).map(([name, value]) => [name || "no mark", value]).sort((one, other) => other[1] - one[1]));
    const button = make("button", { type: "button", class: "mark doubt", p: mark.probability, "aria-expanded": "false",
      "aria-label": `${mark.mark} behind ${mark.word}, probability ${share(mark.probability)}`, onclick: open }, restored[mark.at]);
    reading.append(button);
    end = mark.at + 1;
  }
  reading.append(restored.cut(end));
  rove(reading, ".mark");
  root.append(reading, makeCopy("Copy text", told.restored), panel);
  return root;
}

// -- the page -----------------------------------------------------------------------------------------------------

function choose(next) {
  if (kind) drafts[kind] = text.value;
  kind = next;
  for (const tab of tabs.children) tab.setAttribute("aria-selected", tab.value === kind);
  const fitting = models.filter((model) => model.answers.includes(kind));
  choice.replaceChildren(...fitting.map((model) => make("option", { value: model.name }, model.name)));
  text.value = drafts[kind] ?? KINDS[kind].example;
  ask();
}

async function ask() {
  const number = ++latest, source = text.value;
  state.className = "";
  state.value = "…";
  answer.setAttribute("aria-busy", "true");
  try {
    const began = performance.now();
    const response = await fetch(kind, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ text: source, model: choice.value }),
    });
    const told = await response.json();
    if (number !== latest) return;
    if (!response.ok) throw new Error(told.message);
    const [result] = told.results;
    answer.replaceChildren(result.error ? failed(result.error) : KINDS[kind].show(result, source));
    state.value = `${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    if (number !== latest) return;
    state.className = "error";
    state.value = error.message;
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
