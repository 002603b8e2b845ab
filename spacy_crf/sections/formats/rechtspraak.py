"""Judgments of Dutch courts in the XML of Rechtspraak.nl, with or without labels of elements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..layout import DocumentLayout, LayoutBuilder
from ..segment import FORMATTING, Kind
from ..tree import NUMBER, Element, GoldDocument, SectionNode, SectionTree, mark_headings
from . import MarkupEvents, XmlSource, attributes, encode, name_of
from .outline import Begin, End, TreeWriter

ROOTS = ("open-rechtspraak", "uitspraak", "conclusie")
CONTENT = ROOTS[1:]
GROUPS = ("section", "paragroup")
INLINE = frozenset({"emphasis", "potentialnr", "nr", "text", "listmarking", "quote", "textgroup", "link"})
OPAQUE = frozenset({"footnote", "footnote-ref", "listitem", "link", "bridgehead", "mediaobject"})
OPAQUE_ENDS = ("list", "table", "object")
KINDS = {"nr": Kind.NUMBER, "potentialnr": Kind.NUMBER, "listmarking": Kind.MARK, "quote": Kind.QUOTE}
FACTS = {"nr": "number", "title": "title"}
BREAKS = ("linebreak", "breakline")
LABEL = "manualAnnotation"
NAMESPACE = "http://www.rechtspraak.nl/schema/rechtspraak-1.0"


def read_rechtspraak_gold(path: Path, hidden: bool = False) -> GoldDocument:
    """Read a judgment: its decision or opinion without metadata and abstract; with labels and sections of the court.

    A paragraph is a line, an empty one a blank line, and a line break ends a line. Footnotes, lists, tables and links
    are units of their own. Numbers that are marked up (`nr`, and `potentialnr` of files prepared for annotation) are
    numbering candidates alike, and the other elements of prepared files are units. Labels of annotators are in the
    attribute `manualAnnotation`; the layout is made without a look at them.

    hidden (bool): the tags `section`, `paragroup`, `parablock`, `title` and `nr`, by which courts say what the
        structure is, and the elements of prepared files have no effect but on lines: candidates come from the text. For
        scores against trees of courts. Gold is the same with both.
    RAISES (ValueError): for malformed XML, with the line.
    """
    reader = _RechtspraakReader(hidden)
    XmlSource(path, reader).read()
    return reader.gold(name_of(path))


@dataclass(slots=True)
class _RechtspraakElement:
    """An element that has begun: where, how much was written before it, and what it is."""

    name: str
    start: int
    ink: int
    kind: Kind | None
    label: str
    styles: list[str]
    node: SectionNode | None
    broken: bool = False


class _RechtspraakReader(MarkupEvents):
    def __init__(self, hidden: bool) -> None:
        self.hidden = hidden
        self.builder = LayoutBuilder()
        self.language = ""
        self.leaves: list[Element] = []
        self.sections: list[SectionNode] = []
        self.open: list[_RechtspraakElement] = []  # from the root of the content on
        self.facts: list[tuple[SectionNode, str, int, int]] = []  # of sections: "number" or "title", and where it is
        self.opaque = 0  # elements around that are one unit
        self.behind_number = False  # the line has a number that the next element belongs to

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.open:
            if name not in CONTENT:
                return
            self.language = attributes.get("lang", self.language)
        if self.opaque:
            if name not in INLINE:  # keeps apart the parts of a list or table, which are one unit
                self.builder.gap()
        elif name not in INLINE | OPAQUE or name in ("listitem", "bridgehead"):
            (self.builder.gap if self.behind_number else self.builder.end_line)()
        kind, styles = self._kind(name, attributes), attributes.get("role", "").split() if name == "emphasis" else []
        node = self._begin_section() if name in GROUPS and not self.opaque else None
        place, label = (self.builder.length, self.builder.ink), attributes.get(LABEL, "")
        self.open.append(_RechtspraakElement(name, *place, kind, label, styles, node))
        self.opaque += kind is Kind.OTHER

    def end(self, name: str) -> None:
        if not self.open:
            return
        element = self.open.pop()
        builder = self.builder
        self.opaque -= element.kind is Kind.OTHER
        if element.kind is not None:
            builder.style(element.start, element.kind.value)
        for role in FORMATTING:
            if role in element.styles:
                builder.style(element.start, role)
        if element.label and builder.ink > element.ink:
            self.leaves.append(Element(element.start, builder.length, element.label))
        if element.node is not None:
            element.node.end_char = builder.length
        elif element.name in FACTS and (node := self._section()) is not None:
            self.facts.append((node, FACTS[element.name], element.start, builder.length))
        if not self.opaque:
            self._end_block(element)

    def data(self, text: str) -> None:
        if not self.open:
            return
        if text.isspace():
            # between blocks it is indentation
            if self.open[-1].name in INLINE | {"para", "title"}:
                self.builder.flow(text)
            return
        if self.behind_number:
            self.builder.gap()
            self.behind_number = False
        self.builder.flow(text)

    def instruction(self, name: str) -> None:
        if not self.open or name not in BREAKS:
            return
        if self.opaque:
            self.builder.gap()
            return
        self.builder.write("\n")
        self.behind_number = False
        self.open[-1].broken = True
        if not self.hidden:
            self.builder.style(self.builder.length - 1, Kind.NEWLINE.value)

    def gold(self, name: str) -> GoldDocument:
        layout = self.builder.build(name, self.language)
        leaves = tuple(self.leaves)
        for node in SectionTree(self.sections).walk():
            node.strip(layout.text)
        for node, fact, start, end in self.facts:
            if not getattr(node, fact):
                words = " ".join(layout.text[start:end].split())
                setattr(node, fact, f"{words} ".removeprefix(f"{node.number} ").rstrip())
        if leaves:
            mark_headings(self.sections, layout.units, leaves)
        return GoldDocument(layout, leaves, tuple(self.sections))

    def _kind(self, name: str, attributes: Mapping[str, str]) -> Kind | None:
        if not self.opaque and (name in OPAQUE or name.endswith(OPAQUE_ENDS)):
            return Kind.OTHER
        is_hidden = self.opaque or self.hidden
        return None if is_hidden else KINDS.get(name, Kind.TEXT if LABEL in attributes else None)

    def _end_block(self, element: _RechtspraakElement) -> None:
        blank = self.builder.ink == element.ink
        if element.name == "nr" and not blank:
            self.behind_number = True
        elif element.name == "para" and blank:
            self.behind_number = False
            if not element.broken:
                self.builder.blank_line()
        elif element.name not in INLINE | OPAQUE | {"textgroup"} and not blank and not self.behind_number:
            self.builder.end_line()

    def _begin_section(self) -> SectionNode:
        above = self._section()
        node = SectionNode(self.builder.length, self.builder.length, 1 if above is None else above.level + 1)
        (self.sections if above is None else above.children).append(node)
        return node

    def _section(self) -> SectionNode | None:
        """The innermost section that is open."""
        return next((element.node for element in reversed(self.open) if element.node is not None), None)


def write_rechtspraak(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document as the courts publish theirs, without metadata: `section` for one with a `title`, else `paragroup`."""
    return "".join(_RechtspraakWriter(layout, tree, frozenset(FORMATTING)).write())


class _RechtspraakWriter(TreeWriter):
    def has_heading(self, node: SectionNode) -> bool:
        return bool(node.heading)

    def write(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<open-rechtspraak>\n'
        yield f"<uitspraak{attributes(id=self.layout.name, lang=self.layout.language, xmlns=NAMESPACE)}>\n"
        for event in self.blocks():
            if isinstance(event, Begin):
                yield f"<{self._tag(event.node)}>\n"
                if event.node.heading:
                    yield self._heading(event.node)
            elif isinstance(event, End):
                yield f"</{self._tag(event.node)}>\n"
            else:
                yield f"<para>{self._text(event)}</para>\n"
        yield "</uitspraak>\n</open-rechtspraak>\n"

    def _tag(self, node: SectionNode) -> str:
        return "section" if self.is_titled(node) else "paragroup"

    def _heading(self, node: SectionNode) -> str:
        labels = {place: self.tree.elements[place].label for place in node.heading}
        texts = {place: self._text([place]) for place in node.heading}
        heading = " ".join(f"<nr>{texts[k]}</nr>" if labels[k] == NUMBER else texts[k] for k in node.heading)
        return f"<title>{heading}</title>\n" if self.is_titled(node) else f"{heading}\n"

    def _text(self, places: list[int]) -> str:
        found = []
        for first, last, styles in self.formatting.pieces(*self.bounds(places)):
            text = encode(self.layout.text[first:last])
            found.append(f'<emphasis role="{" ".join(styles)}">{text}</emphasis>' if styles else text)
        return "".join(found)
