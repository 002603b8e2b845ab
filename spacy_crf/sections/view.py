"""A document as a page to read, with its sections as a collapsible outline beside the text.

The page is one file without fonts, scripts or other resources from elsewhere. The shade of a section in the outline
says how doubtful it is; an implied section has a dashed frame.
"""

from collections.abc import Iterator
from html import escape
from importlib import resources

from .exports.formatting import Formatting
from .exports.outline import Begin, End, blocks, is_titled, text_of
from .units.gold import NUMBER
from .units.layout import Layout
from .units.tree import SectionNode, SectionTree
from .units.unit import Kind

TAGS = {"bold": "b", "italic": "i", "underline": "u"}
DEEPEST = 6  # levels of headings that HTML has
OPENING = 70  # characters of the text that stand for a title


def render_sections(layout: Layout, tree: SectionTree) -> Iterator[str]:
    """The lines of an HTML page.

    layout (Layout): the document. tree (SectionTree): its sections and labels. YIELDS (str): lines without line ends.
    """
    nodes = list(tree.walk())
    names = {id(node): f"s{number}" for number, node in enumerate(nodes, 1)}
    title = escape(layout.name or "Document")
    yield "<!DOCTYPE html>"
    yield f'<html lang="{escape(layout.language or "und", quote=True)}"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_resource('sections.css')}</style></head><body>"
    yield '<a class="skip" href="#text">Skip to the text</a><div class="page">'
    yield from _outline(layout, tree, names)
    yield f'<main id="text"><header><h1>{title}</h1><p>{_summary(tree, nodes)}</p></header>'
    yield from _Text(layout, tree, names).render()
    yield f"</main></div><script>{_resource('sections.js')}</script></body></html>"


def _resource(name: str) -> str:
    return resources.files("spacy_crf.sections").joinpath("pages", name).read_text(encoding="utf8")


def _summary(tree: SectionTree, nodes: list[SectionNode]) -> str:
    implied = sum(node.virtual for node in nodes)
    parts = [f"{len(nodes) - implied:,} sections", f"{implied:,} implied" if implied else ""]
    parts.append(f"{max((node.level for node in nodes), default=0)} levels" if nodes else "")
    if not tree.exact:
        parts.append(f"perhaps not the best tree ({tree.dropped:,} states dropped)")
    return " · ".join(filter(None, parts))


def _outline(layout: Layout, tree: SectionTree, names: dict[int, str]) -> Iterator[str]:
    yield '<aside aria-label="Outline"><details id="outline" open><summary>Outline</summary>'
    yield '<div class="tools"><button type="button" value="open">Expand all</button>'
    yield '<button type="button" value="">Collapse all</button></div><nav aria-label="Sections">'
    if not tree.sections:
        yield '<p class="none">No sections were found.</p>'
    yield "<ul>"
    waiting: list[SectionNode | str] = list(reversed(tree.sections))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
            continue
        link = _link(layout, tree, node, names[id(node)])
        if node.children:
            yield f"<li><details open><summary>{link}</summary><ul>"
            waiting += ["</ul></details></li>", *reversed(node.children)]
        else:
            yield f'<li class="leaf">{link}</li>'
    yield "</ul></nav>"
    if any(node.probability is not None for node in tree.walk()):
        yield '<p class="key">Doubtful<span class="scale"></span>certain. Figures are probabilities.</p>'
    yield "</details></aside>"


def _link(layout: Layout, tree: SectionTree, node: SectionNode, name: str) -> str:
    kind = ' class="virtual"' if node.virtual else ""
    shade = "" if node.probability is None else f' style="--p:{node.probability:.3f}"'
    number = f'<span class="nr">{escape(node.number)}</span>' if node.number else ""
    shown = "" if node.probability is None else f'<span class="p">{node.probability:.2f}</span>'
    return f'<a href="#{name}"{kind}{shade}>{number}{_name(layout, tree, node)}{shown}</a>'


def _name(layout: Layout, tree: SectionTree, node: SectionNode) -> str:
    if node.virtual:
        return '<span class="name">implied</span>'
    if node.title:
        return f'<span class="name">{escape(node.title)}</span>'
    start = tree.elements[node.heading[-1]].end if node.heading else node.start_char
    line = layout.text[start : min(node.end_char, start + 4 * OPENING)].strip().partition("\n")[0]
    words = " ".join(line.split()).removeprefix(node.number)
    return f'<span class="name opening">{escape(words[:OPENING])}</span>'


class _Text:
    def __init__(self, layout: Layout, tree: SectionTree, names: dict[int, str]) -> None:
        self.layout = layout
        self.tree = tree
        self.names = names
        self.formatting = Formatting(layout.runs, TAGS.keys())
        self.units = {unit.start: unit for unit in layout.units}

    def render(self) -> Iterator[str]:
        headings: set[int] = set()
        for event in blocks(self.layout, self.tree):
            if isinstance(event, Begin):
                is_heading = is_titled(self.tree, event.node)
                kind = "" if is_heading or event.node.virtual else ' class="text"'
                yield f'<section id="{self.names[id(event.node)]}"{kind}>'
                yield from self._heading(event)
                if is_heading:
                    headings.update(event.node.heading)
            elif isinstance(event, End):
                yield "</section>"
            elif places := [place for place in event if place not in headings]:
                yield self._paragraph(places)

    def _heading(self, event: Begin) -> Iterator[str]:
        node = event.node
        if node.virtual:
            yield f'<p class="implied">{escape(node.number)} (implied)</p>'
        elif is_titled(self.tree, node):
            level = min(event.depth + 1, DEEPEST)
            inner = " ".join(self._heading_part(place) for place in node.heading)
            yield f'<h{level} class="heading l{min(event.depth, 4)}">{inner}</h{level}>'

    def _heading_part(self, place: int) -> str:
        text = escape(text_of(self.layout, self.tree, [place]))
        kind = "nr" if self.tree.elements[place].label == NUMBER else "title"
        return f'<span class="{kind}">{text}</span>'

    def _paragraph(self, places: list[int]) -> str:
        elements = self.tree.elements
        unit = self.units.get(elements[places[0]].start)
        if unit is not None and unit.kind is Kind.OTHER:
            return f'<p class="other">{self._text(places)}</p>'
        is_mark = unit is not None and unit.kind is Kind.MARK
        if len(places) > 1 and (is_mark or elements[places[0]].label == NUMBER):
            indent = f' style="--indent:{min(unit.indent, 24) / 2:g}ch"' if unit is not None and unit.indent else ""
            kind = "item" if is_mark else "numbered"
            return (
                f'<p class="{kind}"{indent}><span class="nr">{self._text(places[:1])}</span>'
                f"<span>{self._text(places[1:])}</span></p>"
            )
        return f"<p>{self._text(places)}</p>"

    def _text(self, places: list[int]) -> str:
        start, end = self.tree.elements[places[0]].start, self.tree.elements[places[-1]].end
        found = []
        for first, last, styles in self.formatting.pieces(start, end):
            opened = "".join(f"<{TAGS[style]}>" for style in styles)
            closed = "".join(f"</{TAGS[style]}>" for style in reversed(styles))
            found.append(f"{opened}{escape(self.layout.text[first:last])}{closed}")
        return "".join(found)
