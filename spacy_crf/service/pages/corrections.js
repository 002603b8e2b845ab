// What is said of the cells of a text: by a person, in `checked`, or else by the model. A saying has the place of its
// first character, `start`, its `tags`, and that of a span its `end`. Each kind of answers has
//   said     what is said of a cell           describe  the same in words
//   ask      lists to choose from             take      the saying of what was chosen there
//   paint    how a cell shows it              drawn     what else is drawn from the cells, if anything
const TEXTS = [["tsv", "TSV"], ["conllu", "CoNLL-U"]], STORED = [["spacy", "file"]];
const NEAR = 20;  // words on either side at which a span may begin or end
const LEVELS = ["", "1", "2", "3", "4", "5", "6", "+2", "+3", "+4", "+5", "+6"];

const meets = (one, other) => one.start < other.end && other.start < one.end;
const isChecked = (saying) => checked.get(saying.start) === saying;

// names with their probabilities, the most probable first
function rankOptions(probabilities, names) {
  const ranked = Object.entries(probabilities ?? {}).sort((one, other) => other[1] - one[1]).map(([name]) => name);
  return [...new Set([...ranked.filter((name) => names.includes(name)), ...names])]
    .map((name) => [name, `${name || "no mark"} ${share(probabilities?.[name])}`.trim()]);
}

const tokens = {
  layouts: TEXTS,
  said: (cell) => checked.get(cell.start) ?? { start: cell.start, tags: tagsOf(cell) },
  describe: (saying) => saying.tags.join(" or ") || "no tag",
  ask: (cell, saying) => cell.tag ? [{ title: "Right is", value: "", options:
    [["", `as it is: ${saying.tags.join(" | ")}`], ...rankOptions(cell.probabilities, told.labels)] }] : [],
  take: (cell, saying, [tag]) => ({ start: cell.start, tags: tag ? [tag] : saying.tags }),
  paint(part, cell, saying) {
    part.classList.toggle("open", saying.tags.length > 1);
    part.querySelector("small").textContent = nameTags(saying.tags) || "–";
  },
};

let spans = new Map();  // by the first characters of their tokens

const entities = {
  layouts: STORED,
  hasSpans: true,
  prepare() {
    const own = [...checked.values()];
    const kept = told.entities.filter((one) => !own.some((other) => meets(one, other)));
    spans = new Map();
    const all = [...kept.map((span) => ({ ...span, tags: [span.label] })), ...own].sort((one, other) => one.start - other.start);
    let n = 0;
    for (const one of all) {
      while (items()[n]?.start < one.start) n += 1;  // white space at either end of a span is no cell
      const first = n;
      for (; items()[n]?.start < one.end; n += 1) spans.set(items()[n].start, one);
      if (n > first && !isChecked(one)) Object.assign(one, { start: items()[first].start, end: items()[n - 1].end });
    }
  },
  said: (cell) => spans.get(cell.start) ?? { start: cell.start, end: cell.end, tags: [] },
  describe: (saying) => saying.tags[0] ?? "no entity",
  ask(cell, saying) {
    const words = items(), first = words.findIndex((one) => one.start >= saying.start);
    let last = first;
    while (words[last + 1]?.end <= saying.end) last += 1;
    const list = (low, high) => words.slice(Math.max(0, low), high + 1).map((one, n) => [String(Math.max(0, low) + n), one.text]);
    return [
      { title: "It is", value: saying.tags[0] ?? "", options: [["", "no entity"], ...told.labels.map((label) => [label, label])] },
      { title: "First word", value: String(first), options: list(first - NEAR, last) },
      { title: "Last word", value: String(last), options: list(first, last + NEAR) },
    ];
  },
  take(cell, saying, [label, ...ends]) {
    const [first, last] = ends.map(Number).sort((one, other) => one - other).map((number) => items()[number]);
    return { start: first.start, end: last.end, tags: label ? [label] : [] };
  },
  paint(part, cell, saying) {
    const [label] = saying.tags, isLast = cell.end >= saying.end;
    part.classList.toggle("entity", Boolean(label));
    part.classList.toggle("goes-on", Boolean(label) && !isLast);
    part.classList.toggle("follows", Boolean(label) && cell.start > saying.start);
    part.classList.toggle("changed", Boolean(label) && (told.changes ?? []).some((change) => meets(change, cell)));
    if (label) part.style.setProperty("--hue", told.hues[label]);
    const below = label && isLast ? make("small", {}, `${label} ${share(saying.probability)}`.trim()) : null;
    part.replaceChildren(...[cell.text, below].filter(Boolean));
  },
};

const words = {
  layouts: STORED,
  // a word behind a mark that a person has put at the end of a sentence has a capital
  said(cell) {
    if (checked.has(cell.start)) return checked.get(cell.start);
    const last = items()[cell.n - 1], before = checked.get(last?.start)?.tags[0], [mark, form] = cell.tags;
    const isNew = told.has_case && before !== last?.tags[0] && told.ends.includes(before);
    return { start: cell.start, tags: [mark, isNew ? cell.begun : form] };
  },
  describe: (saying) => `${saying.tags[0] || "no mark"}, spelt ${saying.tags[1]}`,
  ask(cell, saying) {
    const [mark, form] = saying.tags, small = form.toLowerCase();
    const forms = [...new Set([form, cell.tags[1], small, titled(small), form.toUpperCase()])].filter((one) => one.length === form.length);
    const behind = { title: "Behind it is", value: mark, options: rankOptions(cell.probabilities, ["", ...Object.keys(told.signs)]) };
    return told.has_case ? [behind, { title: "It is spelt", value: form, options: forms.map((one) => [one, one]) }] : [behind];
  },
  take: (cell, saying, [mark, form]) => ({ start: cell.start, tags: [mark, form ?? saying.tags[1]] }),
  paint(part, cell, saying) {
    const [mark, form] = saying.tags, [was, spelt] = cell.tags, at = cell.text.indexOf(spelt) + spelt.length;
    const sign = told.signs[mark] ?? "", old = told.signs[was] ?? "", behind = cell.text.slice(at);
    const put = mark === was ? behind : old && behind.includes(old) ? behind.replace(old, sign) : sign + behind;
    part.textContent = cell.text.slice(0, at - spelt.length) + form + put;
    part.classList.toggle("doubt", !isChecked(saying));
    if (cell.probability != null) part.style.setProperty("--p", cell.probability.toFixed(4));
  },
};

function titled(form) {
  const capital = form.replace(/\p{L}/u, (letter) => letter.toUpperCase());
  return capital.length === form.length ? capital : form;
}

const lines = {
  layouts: STORED,
  said: (cell) => checked.get(cell.start) ?? { start: cell.start, tags: cell.tags },
  describe: ({ tags: [label, level] }) => [label, nameLevel(level)].filter(Boolean).join(", "),
  ask: (cell, { tags: [label, level] }) => [
    { title: "It is", value: label, options: told.labels.map((name) => [name, name]) },
    { title: "A section begins", value: level, options: [...new Set([...LEVELS, level])].map((own) => [own, nameLevel(own) || "not here"]) },
  ],
  take: (cell, { tags: [was] }, [label, level]) => {
    const before = items()[cell.n - 1], goesOn = before && label === told.roles.title && isHeading(lines.said(before).tags[0]);
    const begins = isHeading(label) ? level || (isHeading(was) || goesOn ? "" : levelBefore(cell)) : "";
    return { start: cell.start, tags: [label, begins] };
  },
  paint(part, cell, { tags: [label, level] }) {
    part.classList.toggle("heading", isHeading(label));
    if (level) part.id = `at${cell.start}`; else part.removeAttribute("id");
  },
  drawn() {
    const list = make("ul"), opened = [];
    let name = null;
    for (const cell of items()) {
      const [label, level] = lines.said(cell).tags;
      if (level) {
        const implied = level.lastIndexOf("+") + 1, depth = Number(level.slice(implied));
        while (opened.length && opened.at(-1).depth >= depth - implied) opened.pop();
        for (let own = depth - implied; own <= depth; own += 1) {
          name = make("a", own < depth ? { class: "virtual" } : { href: `#at${cell.start}` },
            make("span", { class: "name" }, own < depth ? "implied" : shorten(cell.text)));
          if (own === depth && !checked.has(cell.start)) name.append(make("span", { class: "p" }, share(cell.section)));
          const item = make("li", {}, name), above = opened.at(-1)?.item;
          (above ? above.querySelector("ul") ?? above.appendChild(make("ul")) : list).append(item);
          opened.push({ depth: own, item });
        }
      } else if (name && label === told.roles.title) name.querySelector(".name").append(` ${shorten(cell.text)}`);
      else if (label !== told.roles.newline) name = null;
    }
    answer.querySelector("nav").replaceChildren(opened.length ? list : make("p", { class: "none" }, "No sections were found."));
  },
};

const isHeading = (label) => label === told.roles.number || label === told.roles.title;
const nameLevel = (level) => !level ? "" : `level ${level.replaceAll("+", "")}${level.startsWith("+") ? ", in an implied one" : ""}`;
const shorten = (text) => text.length > 70 ? `${text.slice(0, 70)}…` : text.trim();

function levelBefore(cell) {
  const above = items().slice(0, cell.n).map((one) => lines.said(one).tags[1]).filter(Boolean);
  return (above.at(-1) ?? "1").replaceAll("+", "");
}

const CORRECTIONS = { tag: tokens, sets: tokens, entities, punctuate: words, sections: lines };
