"""Documents as a stream of sections that begin and end, with the elements and their formatting between; in brackets."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import compress, pairwise
from textwrap import shorten
from typing import TypeAlias

from ..layout import DocumentLayout
from ..segment import HEADINGS, Kind, Run
from ..tree import NEWLINE, TITLE, SectionNode, SectionTree


@dataclass(frozen=True, slots=True)
class Begin:
    """A section begins. depth (int): 1 for the outermost."""

    node: SectionNode
    depth: int


@dataclass(frozen=True, slots=True)
class End:
    """A section ends."""

    node: SectionNode


@dataclass(frozen=True, slots=True)
class Leaf:
    """An element, by its place in the list of the tree, and the innermost section around it."""

    place: int
    node: SectionNode | None


Event: TypeAlias = Begin | End | Leaf


def outline(tree: SectionTree) -> Iterator[Event]:
    """Sections and elements in the order of the text; a section may have no elements. O(sections + elements)."""
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


class TreeWriter:
    """Base of the writers of documents; its tree has the usual labels. styles (Set[str]): those that the format has."""

    def __init__(self, layout: DocumentLayout, tree: SectionTree, styles: Set[str] = frozenset()) -> None:
        self.layout, self.tree = layout, tree.with_usual_labels()
        self.units = {unit.start: unit for unit in layout.units}
        self.formatting = Formatting(layout.runs, styles)

    def blocks(self) -> Iterator[Begin | End | list[int]]:
        """The outline with places of elements on a line put together; without blank lines, and headings of titles."""
        block: list[int] = []
        headings: set[int] = set()
        for event in outline(self.tree):
            if isinstance(event, Leaf):
                element = self.tree.elements[event.place]
                behind = self.tree.elements[block[-1]].end if block else element.start
                if "\n" in self.layout.text[behind : element.start]:
                    yield from self._kept(block, headings)
                    block = []
                if not self.is_blank(event.place):
                    block.append(event.place)
                continue
            yield from self._kept(block, headings)
            block = []
            if isinstance(event, Begin) and self.has_heading(event.node):
                headings.update(event.node.heading)
            yield event
        yield from self._kept(block, headings)

    def _kept(self, block: Sequence[int], headings: Set[int]) -> Iterator[list[int]]:
        if kept := [place for place in block if place not in headings]:
            yield kept

    def is_titled(self, node: SectionNode) -> bool:
        """Whether the heading of a section is more than a number before a text: it has a title, or mark-up names it."""
        elements = [self.tree.elements[place] for place in node.heading]
        return any(element.label == TITLE or self._is_marked(element.start) for element in elements)

    def _is_marked(self, start: int) -> bool:
        unit = self.units.get(start)
        return unit is not None and not unit.styles.isdisjoint(HEADINGS)

    def has_heading(self, node: SectionNode) -> bool:
        """Whether the heading of a section is written with it, and not with its text: it has a title, or is a number
        alone on its line, as "Article 3" and "ACT ONE"."""
        return self.is_titled(node) or (bool(node.heading) and self._is_alone(node.heading))

    def _is_alone(self, places: Sequence[int]) -> bool:
        start, end = self.bounds(places)
        text, line_end = self.layout.text, self.layout.text.find("\n", end)
        before, behind = text[text.rfind("\n", 0, start) + 1 : start], text[end : line_end if line_end >= 0 else None]
        return not before.strip() and not behind.strip()

    def is_item(self, places: Sequence[int]) -> bool:
        """Whether a line begins with the mark of a list."""
        start, end = self.bounds(places[:1])
        unit = self.units.get(start)
        return unit is not None and unit.kind is Kind.MARK and unit.end == end and len(places) > 1

    def is_blank(self, place: int) -> bool:
        """Whether an element is a blank line."""
        element = self.tree.elements[place]
        return element.label == NEWLINE and not self.layout.text[element.start : element.end].strip()

    def line(self, places: Sequence[int]) -> str:
        """Elements with the white space between them, in one line."""
        return " ".join(self.layout.text[slice(*self.bounds(places))].split()) if places else ""

    def heading(self, node: SectionNode) -> str:
        """The heading of a section, in one line."""
        return self.line(node.heading)

    def tagged(self, start: int, end: int, tags: Mapping[str, str], write: Callable[[str], str]) -> str:
        """A stretch of text with its styles as elements. tags (Mapping[str, str]): by style."""
        found = ""
        for first, last, styles in self.formatting.pieces(start, end):
            opened = "".join(f"<{tags[style]}>" for style in styles)
            closed = "".join(f"</{tags[style]}>" for style in reversed(styles))
            found += f"{opened}{write(self.layout.text[first:last])}{closed}"
        return found

    def bounds(self, places: Sequence[int]) -> tuple[int, int]:
        """Start and end of some elements in the text."""
        return self.tree.elements[places[0]].start, self.tree.elements[places[-1]].end


class Formatting:
    """Styles by place, from runs that may overlap, in any order. styles (Set[str]): those of interest."""

    def __init__(self, runs: Sequence[Run], styles: Set[str]) -> None:
        self.places = [0]
        self.styles: list[tuple[str, ...]] = [()]
        changes = [
            (place, sign, style)
            for start, end, style in runs
            if start < end and style in styles
            for place, sign in ((start, 1), (end, -1))
        ]
        on: Counter[str] = Counter()
        for place, sign, style in sorted(changes):
            if place > self.places[-1]:
                self.places.append(place)
                self.styles.append(())
            on[style] += sign
            self.styles[-1] = tuple(sorted(+on))
        changed = [True, *(before != styles for before, styles in pairwise(self.styles))]
        self.places, self.styles = list(compress(self.places, changed)), list(compress(self.styles, changed))

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Parts of a stretch with their styles, sorted by name."""
        number = bisect_right(self.places, start) - 1
        while start < end:
            stop = min([end, *self.places[number + 1 : number + 2]])
            yield start, stop, self.styles[number]
            start, number = stop, number + 1


UNTITLED, MOST_CHARACTERS = "(no heading)", 60  # of the words of a section without a title


def write_outline(layout: DocumentLayout, tree: SectionTree) -> str:
    """The headings, a line for each section, with two spaces for each section around it; of a section without a title,
    the first words of its text."""
    writer, lines = TreeWriter(layout, tree), list[tuple[int, str]]()
    untitled: SectionNode | None = None  # the last section, until its words are found
    for event in outline(tree):
        if isinstance(event, Begin):
            lines.append((event.depth, writer.heading(event.node)))
            untitled = None if writer.is_titled(event.node) else event.node
        elif (
            isinstance(event, Leaf)
            and untitled is not None
            and event.place not in untitled.heading
            and not writer.is_blank(event.place)
        ):
            (depth, number), words = lines[-1], writer.line([event.place])
            lines[-1] = depth, f"{number} {shorten(words, MOST_CHARACTERS, placeholder=' ..')}".strip()
            untitled = None
    return "".join(f"{'  ' * (depth - 1)}{line or UNTITLED}\n" for depth, line in lines) or "No section was found.\n"


ROOT, SECTION, VIRTUAL = "DOCUMENT", "SECTION", "VIRTUAL"
ESCAPES = str.maketrans({"(": "-LRB-", ")": "-RRB-"})


def write_brackets(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document in brackets as treebanks have them, without blank lines; brackets in the text are -LRB- and -RRB-."""
    lines, depth, writer = [f"({ROOT}"], 1, TreeWriter(layout, tree)
    for event in outline(tree):
        if isinstance(event, Begin):
            lines.append(f"{'  ' * depth}({VIRTUAL if event.node.virtual else SECTION}")
            depth += 1
        elif isinstance(event, End):
            lines[-1] += ")"
            depth -= 1
        elif not writer.is_blank(event.place):
            words = writer.line([event.place]).translate(ESCAPES)
            lines.append(f"{'  ' * depth}({tree.elements[event.place].label} {words})")
    return "\n".join(lines) + ")\n"
