"""Documents as a stream of sections that begin and end, and the blocks of elements between."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..units.gold import NEWLINE, TITLE
from ..units.layout import Layout
from ..units.tree import SectionNode, SectionTree


@dataclass(frozen=True, slots=True)
class Begin:
    """A section begins. node (SectionNode): it. depth (int): 1 for the outermost."""

    node: SectionNode
    depth: int


@dataclass(frozen=True, slots=True)
class End:
    """A section ends. node (SectionNode): it."""

    node: SectionNode


@dataclass(frozen=True, slots=True)
class Leaf:
    """An element. place (int): in the list of the tree. node (SectionNode | None): the innermost section around it."""

    place: int
    node: SectionNode | None


Event: TypeAlias = Begin | End | Leaf


def outline(tree: SectionTree) -> Iterator[Event]:
    """Sections and elements in the order of the text; a section without elements has none between its events.

    tree (SectionTree): its elements are in order. YIELDS (Event): O(sections + elements).
    """
    nodes = list(tree.walk())
    opened: list[SectionNode] = []
    following = 0
    for place, element in enumerate(tree.elements):
        while opened and opened[-1].end_char <= element.start:
            yield End(opened.pop())
        while following < len(nodes) and nodes[following].start_char <= element.start:
            opened.append(nodes[following])
            yield Begin(opened[-1], len(opened))
            following += 1
        yield Leaf(place, opened[-1] if opened else None)
    while opened:
        yield End(opened.pop())


def blocks(layout: Layout, tree: SectionTree) -> Iterator[Begin | End | list[int]]:
    """The same with elements of one section that are on a line put together; blank lines are left out.

    layout (Layout): the document. tree (SectionTree): of it. YIELDS (Begin | End | list[int]): places of elements.
    """
    block: list[int] = []
    for event in outline(tree):
        if isinstance(event, Leaf):
            element = tree.elements[event.place]
            behind = tree.elements[block[-1]].end if block else element.start
            if block and "\n" in layout.text[behind : element.start]:
                yield block
                block = []
            if not is_blank(layout, tree, event.place):
                block = [*block, event.place]
            continue
        if block:
            yield block
            block = []
        yield event
    if block:
        yield block


def is_blank(layout: Layout, tree: SectionTree, place: int) -> bool:
    """Whether an element is a blank line. layout, tree: the document. place (int): of the element."""
    element = tree.elements[place]
    return element.label == NEWLINE and not layout.text[element.start : element.end].strip()


def text_of(layout: Layout, tree: SectionTree, places: list[int]) -> str:
    """Elements with the white space between them, in one line.

    layout, tree: the document. places (list[int]): of elements, in order.
    """
    if not places:
        return ""
    elements = tree.elements
    return " ".join(layout.text[elements[places[0]].start : elements[places[-1]].end].split())


def is_titled(tree: SectionTree, node: SectionNode) -> bool:
    """Whether the heading of a section has a title, so that it is more than a number before a text."""
    return any(tree.elements[place].label == TITLE for place in node.heading)
