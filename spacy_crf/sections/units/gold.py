"""Gold labels and trees of annotated documents, kept apart from what a component may see."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .layout import Layout
from .tree import Element, SectionNode, SectionTree
from .unit import Kind, Unit

NUMBER, TITLE, TEXT, NEWLINE = "NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE"


@dataclass(frozen=True)
class Gold:
    """A document with what annotators say of it.

    layout (Layout): the document, made without a look at labels. leaves (tuple[Element, ...]): labelled stretches of
    its text, in order. sections (tuple[SectionNode, ...]): the outermost; empty if the file has no sections.
    """

    layout: Layout
    leaves: tuple[Element, ...]
    sections: tuple[SectionNode, ...] = ()

    @cached_property
    def labels(self) -> list[str]:
        """One label for each unit of the layout, see `label_units`."""
        return label_units(self.layout.units, self.leaves)

    @cached_property
    def tree(self) -> SectionTree:
        """The sections above the units with their labels."""
        units = self.layout.units
        elements = [Element(unit.start, unit.end, label) for unit, label in zip(units, self.labels)]
        return SectionTree(list(self.sections), elements)


def label_units(units: Sequence[Unit], leaves: Sequence[Element]) -> list[str]:
    """Labels of units, from stretches of text that need not begin and end where units do.

    units (list[Unit]): in order. leaves (list[Element]): in order, without overlaps.
    RETURNS (list[str]): for a blank line NEWLINE, for others the label of the leaf that has most of it, the first of
        those that have the same; text where there is none. O(units + leaves).
    """
    labels = []
    first = 0
    for unit in units:
        while first < len(leaves) and leaves[first].end <= unit.start:
            first += 1
        best, shared, place = TEXT, 0, first
        while place < len(leaves) and leaves[place].start < unit.end:
            common = min(unit.end, leaves[place].end) - max(unit.start, leaves[place].start)
            if common > shared:
                best, shared = leaves[place].label, common
            place += 1
        labels.append(NEWLINE if unit.kind is Kind.NEWLINE else best)
    return labels


def find_headings(sections: Sequence[SectionNode], units: Sequence[Unit], leaves: Sequence[Element]) -> None:
    """Fill in the places of the units that are the headings of sections.

    A heading is what of a section's first leaves are a number and titles, before its first text or subsection.

    sections (list[SectionNode]): the outermost; they are changed. units (list[Unit]), leaves (list[Element]): of the
        same document, in order.
    """
    labels = label_units(units, leaves)
    starts = [unit.start for unit in units]
    for node in SectionTree(list(sections)).walk():
        if not node.virtual:
            limit = min([node.end_char, *(child.start_char for child in node.children)])
            node.heading = _heading(node.start_char, limit, starts, labels)


def _heading(start: int, limit: int, starts: Sequence[int], labels: Sequence[str]) -> list[int]:
    found: list[int] = []
    for place in range(bisect_left(starts, start), len(starts)):
        if starts[place] >= limit or labels[place] == TEXT or (labels[place] == NUMBER and found):
            break
        if labels[place] != NEWLINE:
            found.append(place)
    return found


def shrink(node: SectionNode, text: str) -> None:
    """Leave out the white space at the ends of a section. node (SectionNode): changed. text (str): the document."""
    inside = text[node.start_char : node.end_char]
    node.start_char += len(inside) - len(inside.lstrip())
    node.end_char = max(node.start_char, node.end_char - len(inside) + len(inside.rstrip()))
