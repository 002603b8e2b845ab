"""Annotated XML, which can be corrected and trained on: see `spacy_crf.sections.units.annotated` for the format."""

from collections.abc import Iterator

from ..units.annotated import KINDS, LEAVES, TAGS, UNIT
from ..units.layout import Layout
from ..units.tree import SectionNode, SectionTree
from .formatting import Formatting
from .outline import Begin, End, outline
from .xml_text import attributes, encode

LEAF_TAGS = {label: tag for tag, label in LEAVES.items()}
TEXT_TAG = "text"


def write_annotated(layout: Layout, tree: SectionTree) -> str:
    """A document as annotated XML: read again, it has the same text, units, labels and sections.

    layout (Layout): the document. tree (SectionTree): its sections, and labels for all of its units. Labels other than
        NR, SECTION_TITLE and NEWLINE become text; characters that XML cannot hold are replaced.
    RETURNS (str): the file. Sections have attributes with their level, number and probability, which are not read.
    """
    return "".join(_Writer(layout, tree).write())


class _Writer:
    def __init__(self, layout: Layout, tree: SectionTree) -> None:
        self.layout = layout
        self.tree = tree
        self.formatting = Formatting(layout.runs, TAGS.keys())
        self.marked = Formatting(layout.runs, KINDS)
        self.kinds = {(unit.start, unit.end): unit.kind.value for unit in layout.units}
        self.place = 0

    def write(self) -> Iterator[str]:
        layout = self.layout
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        yield f"<document{attributes(xml_lang=layout.language, id=layout.name)}>\n"
        for event in outline(self.tree):
            if isinstance(event, Begin):
                yield self._until(event.node.start_char)
                yield f"<section{_attributes(event.node)}>"
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
        inner = encode(self.layout.text[start:end]) if blank else self._formatted(start, end)
        if any(styles for _, _, styles in self.marked.pieces(start, end)):
            inner = f"<{UNIT}{attributes(kind=self.kinds.get((start, end)))}>{inner}</{UNIT}>"
        tag = LEAF_TAGS.get(label, TEXT_TAG)
        return inner if blank else f"<{tag}>{inner}</{tag}>"

    def _formatted(self, start: int, end: int) -> str:
        found = []
        for first, last, styles in self.formatting.pieces(start, end):
            tags = [TAGS[style] for style in styles]
            opened = "".join(f"<{tag}>" for tag in tags)
            closed = "".join(f"</{tag}>" for tag in reversed(tags))
            found.append(f"{opened}{encode(self.layout.text[first:last])}{closed}")
        return "".join(found)


def _attributes(node: SectionNode) -> str:
    return attributes(virtual=node.virtual, level=str(node.level), number=node.number, probability=node.probability)
