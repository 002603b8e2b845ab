"""Annotated XML, to correct and to train on: the text with its sections, the labels of its elements, its formatting.

The text between the tags is the document's, character by character, but for one newline behind the start tag of the
root and one before its end tag. Elements:

    document    the root; attributes `xml:lang` and `id` (name of the document), others are not looked at
    section     a section; `virtual="true"` for one that is implied, with its number in `number`
    nr title text   labels: NR, SECTION_TITLE, TEXT_BLOCK; all that is not white space is in one of them
    b i u h h1 .. h9 large1 .. large6   formatting, inside of labelled stretches or around them; h is a title, of no
                level, large1 the largest of the sizes above that of running text
    unit        what mark-up of another format said, as `kind`: a kind of unit, or "paragraph" (see `segment`)
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from ...core.errors import CRFError
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import HEADINGS, LARGE, PARAGRAPH, Kind, Run
from ..tree import NUMBER, TEXT, TITLE, Element, GoldDocument, SectionNode, SectionTree, mark_headings
from . import STYLE_TAGS, MarkupEvents, XmlSource, attributes, encode, name_of
from .outline import Begin, End, Formatting, TreeWriter, outline

ROOT = "document"
SECTION = "section"
UNIT = "unit"
LEAVES = {"nr": NUMBER, "title": TITLE, "text": TEXT}
TAGS = {
    **STYLE_TAGS,
    "title": "h",
    **{style: f"h{level}" for style, level in HEADINGS.items()},
    **{style: style for style in LARGE},
}
STYLES = {tag: style for style, tag in TAGS.items()}
KINDS = frozenset({*Kind, PARAGRAPH})
LEAF_TAGS = {label: tag for tag, label in LEAVES.items()}


def read_annotated(path: Path) -> GoldDocument:
    """Read a file of annotated XML. Units come from its text and formatting alone, whatever the labels say.

    RAISES (ValueError): for what the module does not describe, with the line.
    """
    reader = _AnnotatedReader(path)
    reader.source.read()
    return reader.gold(name_of(path))


class _AnnotatedReader(MarkupEvents):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = XmlSource(path, self)
        self.builder = LayoutBuilder()
        self.name = self.language = ""
        self.leaves: list[Element] = []
        self.sections: list[SectionNode] = []
        self.open: list[tuple[int, str]] = []  # where an element began, and the style that it gives
        self.nodes: list[SectionNode] = []  # open sections
        self.leaf = ""
        self.begun = False  # there was text

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        style = STYLES.get(name, "")
        if not self.open:
            if name != ROOT:
                self._fail(f"the root is <{name}>, not <{ROOT}>")
            self.name, self.language = attributes.get("id", ""), attributes.get("lang", "")
        elif name in LEAVES:
            if self.leaf:
                self._fail(f"<{name}> in <{self.leaf}>")
            self.leaf = name
        elif name == SECTION:
            self._begin_section(attributes)
        elif name == UNIT and attributes.get("kind") in KINDS:
            style = attributes["kind"]
        elif name not in STYLES:
            self._fail(f"<{name}> with the attributes {dict(attributes)} is not known")
        self.open.append((self.builder.length, style))

    def end(self, name: str) -> None:
        start, style = self.open.pop()
        if style:
            self.builder.style(start, style)
        if name in LEAVES:
            self.leaf = ""
            if start < self.builder.length:
                self.leaves.append(Element(start, self.builder.length, LEAVES[name]))
        elif name == SECTION:
            self.nodes.pop().end_char = self.builder.length

    def data(self, text: str) -> None:
        if not self.leaf and not text.isspace():
            self._fail(f"the text {text.strip()[:40]!r} has no label")
        self.builder.write(text if self.begun else text.removeprefix("\n"))
        self.begun = True

    def gold(self, name: str) -> GoldDocument:
        layout = self.builder.build(self.name or name, self.language)
        if layout.text.endswith("\n"):
            length = len(layout.text) - 1
            runs = tuple((start, min(end, length), style) for start, end, style in layout.runs if start < length)
            layout = replace(layout, text=layout.text[:-1], runs=runs)
        leaves = tuple(leaf for leaf in self.leaves if not layout.text[leaf.start : leaf.end].isspace())
        layout = replace(
            layout, runs=tuple(_join_headings(layout, {leaf.end for leaf in leaves if leaf.label == NUMBER}))
        )
        tree = SectionTree(self.sections)
        for node in tree.walk():
            node.strip(layout.text)
        mark_headings(self.sections, layout.units, leaves)
        name_sections(tree, layout.text, leaves)
        return GoldDocument(layout, leaves, tuple(self.sections))

    def _begin_section(self, attributes: Mapping[str, str]) -> None:
        if self.leaf:
            self._fail(f"<{SECTION}> in <{self.leaf}>")
        virtual, place = attributes.get("virtual") == "true", self.builder.length
        number = attributes.get("number", "") if virtual else ""
        node = SectionNode(place, place, len(self.nodes) + 1, number, virtual=virtual)
        (self.nodes[-1].children if self.nodes else self.sections).append(node)
        self.nodes.append(node)

    def _fail(self, problem: str) -> NoReturn:
        line = self.source.expat.CurrentLineNumber
        raise CRFError(SectionErrors.CRF953.format(path=self.path, line=line, problem=problem))


def _join_headings(layout: DocumentLayout, numbers: Container[int]) -> list[Run]:
    """Runs of styles, where the parts of a heading on one line are one, as they are labelled apart.

    numbers (Container[int]): Where numbers end: behind others, a tab is between two cells of a table.
    """
    found: list[Run] = []
    last: dict[str, int] = {}  # place of the last run of a style
    for start, end, style in layout.runs:
        before = found[last[style]] if style in last and style in HEADINGS else (0, -1, style)
        between = layout.text[before[1] : start]
        if 0 <= before[1] <= start and not between.strip("\t " if before[1] in numbers else " "):
            found[last[style]] = (before[0], end, style)
        else:
            last[style] = len(found)
            found.append((start, end, style))
    return found


def name_sections(tree: SectionTree, text: str, leaves: tuple[Element, ...]) -> None:
    """Give sections the number and the title that their first leaves have."""
    starts = {leaf.start: place for place, leaf in enumerate(leaves)}
    for node in tree.walk():
        limit = node.own_end
        place = starts.get(node.start_char, len(leaves))
        titles: list[Element] = []
        while not node.virtual and place < len(leaves) and leaves[place].start < limit:
            leaf = leaves[place]
            if leaf.label == TITLE:
                titles.append(leaf)
            elif leaf.label != NUMBER or node.number or titles:
                break
            else:
                node.number = " ".join(text[leaf.start : leaf.end].split())
            place += 1
        if titles:  # with nothing but white space between them
            node.title = " ".join(text[titles[0].start : titles[-1].end].split())


def write_annotated(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document as annotated XML: read again, it has the same text, units, labels and sections.

    Labels of other roles than numbers, titles and blank lines become text; characters that XML cannot hold are
    replaced. Sections have attributes with their level, number and probability, which are not read.
    """
    return "".join(_AnnotatedWriter(layout, tree, TAGS.keys()).write())


class _AnnotatedWriter(TreeWriter):
    place = 0

    def write(self) -> Iterator[str]:
        layout, self.marked = self.layout, Formatting(self.layout.runs, KINDS)
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield f"<document{attributes(xml_lang=layout.language, id=layout.name)}>\n"
        for event in outline(self.tree):
            if isinstance(event, Begin):
                node = event.node
                yield self._until(node.start_char)
                facts = {"level": str(node.level), "number": node.number, "probability": node.probability}
                yield f"<section{attributes(virtual=node.virtual, **facts)}>"
            elif isinstance(event, End):
                yield "</section>"
            else:
                element = self.tree.elements[event.place]
                yield self._until(element.start)
                yield self._leaf(element.start, element.end, element.label)
        yield self._until(len(layout.text))
        yield "\n</document>\n"

    def _until(self, place: int) -> str:
        """White space up to a place."""
        start, self.place = self.place, max(place, self.place)
        return encode(self.layout.text[start : self.place])

    def _leaf(self, start: int, end: int, label: str) -> str:
        self.place = end
        blank = self.layout.text[start:end].isspace()
        inner = encode(self.layout.text[start:end]) if blank else self.tagged(start, end, TAGS, encode)
        idle = set[str]() if blank else {Kind.NEWLINE}  # of words, such a run says nothing
        if any(not idle.issuperset(styles) for _, _, styles in self.marked.pieces(start, end)):
            unit = self.units.get(start)
            kind = unit.kind.value if unit is not None and unit.end == end else None
            inner = f"<{UNIT}{attributes(kind=kind)}>{inner}</{UNIT}>"
        tag = LEAF_TAGS.get(label, "text")
        return inner if blank else f"<{tag}>{inner}</{tag}>"
