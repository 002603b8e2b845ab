"""A document as a page to read, with its sections as a collapsible outline beside the text.

The page is one file without fonts, scripts or other resources from elsewhere. The shade of a section in the outline
says how doubtful it is; an implied section has a dashed frame.
"""

from bisect import bisect_left
from collections.abc import Iterator
from html import escape
from importlib import resources
from string import Template

from ..cross_references import find_cross_references
from ..layout import DocumentLayout
from ..segment import Kind
from ..tree import NUMBER, SectionNode, SectionTree
from . import STYLE_TAGS
from .outline import Begin, End, TreeWriter

DEEPEST = 6  # levels of headings that HTML has
OPENING = 70  # characters of the text that stand for a title


def write_page(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document with its outline, as one HTML file."""
    return _PageWriter(layout, tree, STYLE_TAGS.keys()).page()


def _resource(name: str) -> str:
    return resources.files("spacy_crf.sections").joinpath("pages", name).read_text(encoding="utf8")


class _PageWriter(TreeWriter):
    def page(self) -> str:
        nodes = list(self.tree.walk())
        self.names = {id(node): f"s{number}" for number, node in enumerate(nodes, 1)}
        mentions = find_cross_references(self.layout.text, self.tree)
        self.links = [(one.start, one.end, f"s{one.section + 1}") for one in mentions if one.section is not None]
        return Template(_resource("page.html")).substitute(
            language=escape(self.layout.language or "und", quote=True),
            title=escape(self.layout.name or "Document"),
            style=_resource("sections.css"),
            script=_resource("sections.js"),
            summary=self._summary(nodes),
            outline="".join(f"{line}\n" for line in self._outline(nodes)),
            body="".join(f"{line}\n" for line in self._body()),
        )

    def _summary(self, nodes: list[SectionNode]) -> str:
        implied = sum(node.virtual for node in nodes)
        parts = [f"{len(nodes) - implied:,} sections", f"{implied:,} implied" if implied else ""]
        parts.append(f"{max((node.level for node in nodes), default=0)} levels" if nodes else "")
        if not self.tree.exact:
            parts.append(f"perhaps not the best tree ({self.tree.dropped:,} stacks left out)")
        return " · ".join(filter(None, parts))

    def _outline(self, nodes: list[SectionNode]) -> Iterator[str]:
        if not nodes:
            yield '<p class="none">No sections were found.</p>'
        yield "<ul>"
        waiting: list[SectionNode | str] = list(reversed(self.tree.sections))
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                yield node
            elif node.children:
                yield f"<li><details open><summary>{self._link(node)}</summary><ul>"
                waiting += ["</ul></details></li>", *reversed(node.children)]
            else:
                yield f'<li class="leaf">{self._link(node)}</li>'
        yield "</ul></nav>"
        if any(node.probability is not None for node in nodes):
            yield '<p class="key">Doubtful<span class="scale"></span>certain. Figures are probabilities.</p>'

    def _link(self, node: SectionNode) -> str:
        kind = ' class="virtual"' if node.virtual else ""
        shade = "" if node.probability is None else f' style="--p:{node.probability:.3f}"'
        number = f'<span class="nr">{escape(node.number)}</span>' if node.number else ""
        shown = "" if node.probability is None else f'<span class="p">{node.probability:.2f}</span>'
        return f'<a href="#{self.names[id(node)]}"{kind}{shade}>{number}{self._name(node)}{shown}</a>'

    def _name(self, node: SectionNode) -> str:
        if node.virtual:
            return '<span class="name">implied</span>'
        if node.title:
            return f'<span class="name">{escape(node.title)}</span>'
        start = self.tree.elements[node.heading[-1]].end if node.heading else node.start_char
        line = self.layout.text[start : min(node.end_char, start + 4 * OPENING)].strip().partition("\n")[0]
        return f'<span class="name opening">{escape(" ".join(line.split())[:OPENING])}</span>'

    def _body(self) -> Iterator[str]:
        for event in self.blocks():
            if isinstance(event, Begin):
                kind = "" if self.has_heading(event.node) or event.node.virtual else ' class="text"'
                yield f'<section id="{self.names[id(event.node)]}"{kind}>'
                yield from self._heading(event.node, event.depth)
            elif isinstance(event, End):
                yield "</section>"
            else:
                yield self._paragraph(event)

    def _heading(self, node: SectionNode, depth: int) -> Iterator[str]:
        if node.virtual:
            yield f'<p class="implied">{escape(node.number)} (implied)</p>'
        elif self.has_heading(node):
            level = min(depth + 1, DEEPEST)
            kinds = ("nr" if self.tree.elements[place].label == NUMBER else "title" for place in node.heading)
            texts = (escape(self.line([place])) for place in node.heading)
            inner = " ".join(f'<span class="{kind}">{text}</span>' for kind, text in zip(kinds, texts))
            yield f'<h{level} class="heading l{min(depth, 4)}">{inner}</h{level}>'

    def _paragraph(self, places: list[int]) -> str:
        elements = self.tree.elements
        unit = self.units.get(elements[places[0]].start)
        if unit is not None and unit.kind is Kind.OTHER:
            return f'<p class="other">{self._text(places)}</p>'
        is_item = self.is_item(places)
        if is_item or (len(places) > 1 and elements[places[0]].label == NUMBER):
            indent = f' style="--indent:{min(unit.indent, 24) / 2:g}ch"' if unit is not None and unit.indent else ""
            kind = "item" if is_item else "numbered"
            return (
                f'<p class="{kind}"{indent}><span class="nr">{self._text(places[:1])}</span>'
                f"<span>{self._text(places[1:])}</span></p>"
            )
        return f"<p>{self._text(places)}</p>"

    def _text(self, places: list[int]) -> str:
        """Elements with their formatting, and links from the sections that they mention."""
        place, end = self.bounds(places)
        found = ""
        for first, behind, name in self.links[bisect_left(self.links, (place,)) :]:
            if behind > end:
                break
            found += self.tagged(place, first, STYLE_TAGS, escape)
            found += f'<a href="#{name}">{self.tagged(first, behind, STYLE_TAGS, escape)}</a>'
            place = behind
        return found + self.tagged(place, end, STYLE_TAGS, escape)
