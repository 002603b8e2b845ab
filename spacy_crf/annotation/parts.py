"""HTML of what components say: words with tags, spans, references, outlines, restored text, explanations, tables.

Pages, notebooks and reports are made of these parts, so that a thing looks the same wherever it is shown. They take
plain data, as the service answers it, and escape every string. What can be opened (`active`) is a button, for pages
that have a script; elsewhere it tells its probabilities on hover.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from typing import Any
from zlib import crc32

from spacy.tokens import Doc, Span

LEAST, MOST_TOLD = 0.005, 8  # less probable labels, and more of them, are not told on hover
MOST_SHOWN = 4  # tags of a set below a word; the others are counted
MOST_REASONS = 10  # features of an explanation; the others are summed up
HEADING = 70  # characters of a section without a title that stand for it
# degrees on the colour wheel; labels that are not here have some by their name
HUES = {
    **{"AUTHOR": 205, "EDITOR": 180, "TITLE": 265, "JOURNAL": 325, "BOOKTITLE": 300, "CONTAINER": 310},
    **{"DATE": 95, "PUBLISHER": 30, "LOCATION": 55, "PAGES": 150, "VOLUME": 125, "NOTE": 10, "URL": 235, "DOI": 245},
    **{"SECTION_TITLE": 265, "NR": 205, "TEXT_BLOCK": 95},
}
Told = Mapping[str, Any]


class Markup(str):
    """HTML that shows itself in notebooks."""

    def _repr_html_(self) -> str:
        return str(self)


def label_colors() -> dict[str, str]:
    """Colours of fields of references and of elements of sections, for displaCy."""
    return {label: f"hsl({hue} 60% 82%)" for label, hue in HUES.items()}


def hue_of(label: str) -> int:
    """The hue of a label, from 0 to 359: the same wherever it is shown."""
    return HUES.get(label.upper(), crc32(label.encode()) % 360)


@cache
def style() -> str:
    """The style sheet of all parts."""
    return resources.files(__package__).joinpath("parts.css").read_text(encoding="utf8")


def element(name: str, content: str = "", **attributes: Any) -> str:
    """An element. content (str): HTML. attributes: text, None leaves one out; `class_` is class, `data_n` data-n."""
    told = ((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None)
    opening = " ".join([name, *(f'{key}="{escape(str(value))}"' for key, value in told)])
    return f"<{opening}>{content}</{name}>"


def notebook(content: str) -> Markup:
    """Parts with their style, for a notebook."""
    return Markup(f'<div class="crf framed"><style>{style()}</style>{content}</div>')


def page(title: str, content: str, own_style: str = "") -> Markup:
    """A page that needs nothing else. content (str): HTML of its body. own_style (str): CSS beside that of parts."""
    view = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f"{view}<title>{escape(title)}</title><style>{style()}{own_style}</style>"
    body = element("body", content, class_="crf page")
    return Markup(f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n{body}</html>\n')


def none(text: str) -> str:
    """A sentence in the place of something that there is not."""
    return element("p", escape(text), class_="none")


def share(value: float | None) -> str:
    """A probability with two decimals; "" for none."""
    return "" if value is None else f"{value:.2f}"


def table(
    rows: Iterable[Sequence[str | float | None]], header: Sequence[str] = (), words: int = 1, kind: str | None = None
) -> str:
    """A table of texts, and of probabilities, which are shaded by doubt.

    words (int): columns of text, to the left. kind (str | None): class for the style sheet.
    """
    body = "".join(element("tr", "".join(_cell(value, k >= words) for k, value in enumerate(row))) for row in rows)
    places = ("p" if k >= words else None for k in range(len(header)))
    head = "".join(element("th", escape(name), scope="col", class_=place) for name, place in zip(header, places))
    content = (element("thead", element("tr", head)) if head else "") + element("tbody", body)
    return element("div", element("table", content, class_=kind), class_="wide")


def _cell(value: str | float | None, is_figure: bool) -> str:
    if isinstance(value, float):
        return element("td", share(value), class_="p doubt", style=_shade(value))
    return element("td", escape(value or ""), class_="p" if is_figure else None)


def bars(values: Iterable[tuple[str, float]]) -> str:
    """Probabilities by name as bars."""
    rows = (
        element("dt", escape(name or "no mark"))
        + element("dd", element("div", class_="bar", style=_shade(value)))
        + element("dd", share(value))
        for name, value in values
    )
    return element("dl", "".join(rows), class_="bars")


def _shade(value: float | None) -> str | None:
    return None if value is None else f"--p:{value:.4f}"


def _hint(probabilities: Mapping[str, float]) -> str | None:
    """The likely labels as text for hovering, the most probable first."""
    ranked = sorted(probabilities.items(), key=lambda pair: -pair[1])[:MOST_TOLD]
    return ", ".join(f"{name or 'no mark'} {value:.2f}" for name, value in ranked if value >= LEAST) or None


def _opener(content: str, active: bool, number: int, **attributes: Any) -> str:
    """What can be opened where there is a script; its number is told there. A span, as buttons do not wrap."""
    own: dict[str, Any] = (
        {"role": "button", "tabindex": -1, "aria_expanded": "false", "data_n": number} if active else {}
    )
    return element("span", content, **attributes, **own)


# -- tags --------------------------------------------------------------------------------------------------------


def words_of(span: Doc | Span, tag_set: str = "tag_set", tag_probs: str = "tag_probs") -> list[dict[str, Any]]:
    """Words for `words`, with the sets and probabilities that custom attributes of their tokens hold."""
    found = []
    for token in span:
        tags, probabilities = token._.get(tag_set) or [], token._.get(tag_probs) or {}
        best = tags[0] if tags else token.tag_
        place = {"text": token.text, "start": token.idx, "end": token.idx + len(token), "tag": best}
        own = probabilities if best else {}
        found.append({**place, "set": tags or None, "probability": own.get(best), "probabilities": own})
    return found


def words(tokens: Sequence[Told], text: str, active: bool = False) -> str:
    """Words above their tags, or sets of tags, shaded by doubt.

    tokens (Sequence[dict]): "text", "start", "end", "tag", "probability", "probabilities", and perhaps "set".
    """
    shown, end = [], 0
    for number, token in enumerate(tokens):
        if token["text"].isspace():
            continue
        if "\n" in text[end : token["start"]]:
            shown.append(element("span", class_="break"))
        end = token["end"]
        tags, probabilities = token.get("set"), token.get("probabilities") or {}
        kind = "word doubt" if tags is None or len(tags) < 2 else "word doubt open"
        below = name_tags(tags if tags is not None else [token["tag"] or ""])
        content = escape(token["text"]) + element("small", escape(below) or "–")
        given = {"class_": kind, "style": _shade(token.get("probability")), "title": _hint(probabilities)}
        shown.append(_opener(content, active, number, **given))
    if not shown:
        return none("There are no words.")
    return element("div", "".join(shown), class_="words", role="group", aria_label="Words")


def name_tags(tags: Sequence[str]) -> str:
    """The tags of a set in one line; of many, the first ones and how many more there are."""
    more = len(tags) - MOST_SHOWN
    return " | ".join(tags[:MOST_SHOWN]) + (f" +{more}" if more > 0 else "")


# -- spans -------------------------------------------------------------------------------------------------------


def cells(found: Sequence[Told], text: str) -> str:
    """A text whose parts can be opened. found (Sequence[dict]): "at", the place of each in the text, and its "text"."""
    shown, end = [], 0
    for number, one in enumerate(found):
        shown += [escape(text[end : one["at"]]), _opener(escape(one["text"]), True, number, class_="cell")]
        end = one["at"] + len(one["text"])
    return element("div", "".join(shown) + escape(text[end:]), class_="reading", role="group", aria_label="Text")


def spans(told: Told, text: str) -> str:
    """A text with its spans, and what constraints changed. told (dict): "entities", and perhaps "changes"."""
    found, changes = told["entities"], told.get("changes")
    shown, end = [], 0
    for one in found:
        changed = any(change["start"] < one["end"] and one["start"] < change["end"] for change in changes or ())
        kind = "entity changed" if changed else "entity"
        content = escape(one["text"]) + element("small", escape(f"{one['label']} {share(one['probability'])}".strip()))
        given = {"class_": kind, "style": f"--hue:{hue_of(one['label'])};{_shade(one['probability']) or ''}"}
        shown += [escape(text[end : one["start"]]), element("span", content, **given)]
        end = max(end, one["end"])
    body = element("p", "".join(shown) + escape(text[end:]), class_="reading")
    return body + ("" if found else none("Nothing was found.")) + change_list(changes)


def change_list(changes: Sequence[Told] | None) -> str:
    """What constraints changed, and which ones account for it; nothing where there are none."""
    if changes is None:
        return ""
    if not changes:
        return none("Constraints changed nothing.")
    rows = []
    for change in changes:
        reasons = " or ".join(element("code", escape(" and ".join(reason))) for reason in change["because"])
        kept = f" is {escape(change['to'])}, and would be {escape(change['from'])} without "
        rows.append(element("li", element("b", escape(change["text"])) + kept + reasons))
    return element("h3", "What constraints changed") + element("ul", "".join(rows), class_="changes")


def references(told: Told) -> str:
    """References with the confidence in each field, and their BibTeX."""
    shown = []
    for one in told["references"]:
        marker = f"{escape(one['marker'])} " if one["marker"] else ""
        content = element("p", marker + escape(one["text"]))
        if "error" in one:
            shown.append(element("article", content + failed(one["error"])))
            continue
        rows = [(field["label"], field["text"], field["probability"]) for field in one["fields"]]
        content += table([*rows, ("all", "all fields are right", one["probability"])], words=2)
        shown.append(element("article", content + element("pre", escape(one["bibtex"].strip()), tabindex=0)))
    return "".join(shown) or none("There is no reference.")


def failed(error: Told) -> str:
    """An error in the place of an answer."""
    return element("p", escape(error["message"]), class_="error")


# -- sections ----------------------------------------------------------------------------------------------------


def outline(tree: Told, text: str, prefix: str = "s") -> str:
    """An outline beside its text. tree (dict): as of `SectionTree.to_json`. prefix (str): of the marks in the text, one
    for each outline of a page."""
    sections, elements = tree["sections"], tree["elements"]
    owners = {place: number for number, node in enumerate(sections) for place in node["heading"]}
    marked, shown, end = set[int](), [], 0
    for place, (start, behind, *_) in enumerate(elements):
        section, part = owners.get(place), escape(text[start:behind])
        shown.append(escape(text[end:start]))
        if section is not None:
            part = element("b", part, id=None if section in marked else f"{prefix}{section}")
            marked.add(section)
        shown.append(part)
        end = behind
    reading = element("p", "".join(shown) + escape(text[end:]), class_="reading")
    return beside(contents(tree, text, prefix), reading)


def beside(outline: str, reading: str) -> str:
    """An outline and its text, both HTML."""
    return element("div", outline + reading, class_="outline")


def contents(tree: Told, text: str = "", prefix: str | None = None) -> str:
    """The sections of a tree as a list. prefix (str | None): of the marks in a text that they lead to, if they do."""
    sections, below = tree["sections"], dict[int | None, list[int]]()
    if not sections:
        return none("No sections were found.")
    for number, node in enumerate(sections):
        below.setdefault(node["parent"], []).append(number)
    links = [_link(node, tree, text, prefix and f"#{prefix}{number}") for number, node in enumerate(sections)]
    return element("nav", _nested(below, links), aria_label="Sections")


def section_name(node: Told, elements: Sequence[Sequence[Any]], text: str) -> str:
    """What stands for a section: its title, or how it begins behind its number."""
    if node["virtual"] or node["title"]:
        return str(node["title"] or "implied")
    start = elements[node["heading"][-1]][1] if node["heading"] else node["start"]
    lines = text[start : min(node["end"], start + 4 * HEADING)].strip().splitlines()
    return lines[0][:HEADING] if lines else ""


def _link(node: Told, tree: Told, text: str, target: str | None) -> str:
    number = element("span", escape(node["number"]), class_="nr") if node["number"] else ""
    name = element("span", escape(section_name(node, tree["elements"], text)), class_="name")
    content = number + name + element("span", share(node["probability"]), class_="p")
    kind = "doubt virtual" if node["virtual"] else "doubt"
    return element("a", content, href=target, class_=kind, style=_shade(node["probability"]))


def _nested(below: Mapping[int | None, Sequence[int]], links: Sequence[str]) -> str:
    """Lists of links within each other, from the innermost on: sections may be nested deeply."""
    done: dict[int | None, str] = {}
    for parent in sorted(below, key=lambda place: -1 if place is None else place, reverse=True):
        items = (element("li", links[number] + done.pop(number, "")) for number in below[parent])
        done[parent] = element("ul", "".join(items))
    return done.get(None, "")


# -- restored text -----------------------------------------------------------------------------------------------


def restored(told: Told) -> str:
    """A restored text, with its marks shaded by doubt. told (dict): "restored", and "marks" with their places in it."""
    text, shown, end = told["restored"] or "", [], 0
    for mark in told["marks"]:
        if not end <= mark["at"] < len(text):
            continue
        given = {"style": _shade(mark.get("probability")), "title": _hint(mark.get("probabilities") or {})}
        own = element("span", escape(text[mark["at"]]), class_="mark doubt", **given)
        shown += [escape(text[end : mark["at"]]), own]
        end = mark["at"] + 1
    return element("p", "".join(shown) + escape(text[end:]), class_="reading")


# -- explanations ------------------------------------------------------------------------------------------------


def explanation(told: Told) -> str:
    """Why a token has its label, against the runner-up. told (dict): the fields of an `Explanation`."""
    if not told["label"]:
        return none(f"{told['text']!r} has no label, as training has shown none of its kind.")
    title = f"{element('b', escape(told['text']))}: {escape(told['label'])} {share(told['probability'])}"
    if told["written"] not in ("", told["label"]):
        title += f"; that is the chain alone, what is set is {escape(told['written'])}"
    if told["runner_up"] is None:
        return element("p", f"{title}. No other label is possible.")
    title += f", not {escape(told['runner_up'])} {share(told['runner_up_probability'])}"
    rows = [
        (part["name"], part["labels"], part["other_labels"], f"{part['weight'] - part['other_weight']:+.3f}")
        for part in told["contributions"][:MOST_REASONS]
    ]
    if told["contributions"][MOST_REASONS:]:
        rest = sum(part["weight"] - part["other_weight"] for part in told["contributions"][MOST_REASONS:])
        rows.append((f"{len(told['contributions']) - MOST_REASONS} more", "", "", f"{rest:+.3f}"))
    rows.append(("sum", "", "", f"{told['difference']:+.3f}"))
    return element("p", title) + table(rows, ("feature", "scores", "or", "difference"), 3, "reasons")


def labellings(told: Sequence[Told]) -> str:
    """The best labellings of a sequence: how probable each is, and where it differs from the best."""
    differing = [", ".join(f"{word} {label}" for word, label in one["differs"]) for one in told]
    rows = [(text or "the best one", one["probability"]) for text, one in zip(differing, told)]
    return table(rows, ("labelling", "p"), kind="reasons")
