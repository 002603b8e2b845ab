"""The section tree of a document, as components make it and exports need it; and documents with gold trees."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..annotation.parts import Markup, contents, element, notebook
from ..core.arrays import cached_property
from ..core.errors import CRFError
from .errors import SectionErrors
from .layout import DocumentLayout
from .segment import Kind, LayoutUnit

VERSION = 1
MOST = 10**12  # that a number in JSON may be
NUMBER, TITLE, TEXT, NEWLINE = "NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE"  # labels, unless a component has others
USUAL = {"number": NUMBER, "title": TITLE, "text": TEXT, "newline": NEWLINE}  # the same, by role


@dataclass(frozen=True, slots=True)
class Element:
    """A leaf: the characters of one unit, its label, such as "SECTION_TITLE", and the label's probability."""

    start: int
    end: int
    label: str
    probability: float | None = None


@dataclass(slots=True)
class SectionNode:
    """A section of a document.

    start_char (int), end_char (int): from its heading to the end of its last element or subsection.
    level (int): 1 for the outermost. number (str), title (str): as its heading has them, "" without; the number of a
    virtual section is the implied one. probability (float | None): that there is a section from this heading to this
    end. virtual (bool): implied by a numbering below it, without a heading of its own.
    heading (list[int]): its elements, by their places in the tree's list. children (list[SectionNode]): in order.
    """

    start_char: int
    end_char: int
    level: int
    number: str = ""
    title: str = ""
    probability: float | None = None
    virtual: bool = False
    heading: list[int] = field(default_factory=list)
    children: "list[SectionNode]" = field(default_factory=list)

    @property
    def own_end(self) -> int:
        """The place where its first subsection begins, or it ends."""
        return min([self.end_char, *(child.start_char for child in self.children)])

    def strip(self, text: str) -> None:
        """Leave out the white space at its ends."""
        inside = text[self.start_char : self.end_char]
        end = self.start_char + len(inside.rstrip())
        self.start_char += len(inside) - len(inside.lstrip())
        self.end_char = max(self.start_char, end)


@dataclass(slots=True)
class SectionTree:
    r"""Sections and elements of a document.

    sections (list[SectionNode]): the outermost, in order. elements (list[Element]): all leaves, in order.
    exact (bool): whether it is certain that no other tree has a higher score. dropped (int): stacks of open sections
    that a cap on their number left out. score (float | None): logarithm of its weight. roles (dict[str, str]): labels
    of elements by "number", "title", "text" and "newline".

    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> parser = nlp.add_pipe("section_parser")
    >>> tree = nlp("1. Scope\nAll ferries.\n\n2. Term\nA year.\n")._.section_tree
    >>> [(node.number, node.title, node.level) for node in tree.walk()]
    [('1.', 'Scope', 1), ('2.', 'Term', 1)]
    """

    sections: list[SectionNode] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    exact: bool = True
    dropped: int = 0
    score: float | None = None
    roles: Mapping[str, str] = field(default_factory=lambda: USUAL)

    def walk(self) -> Iterator[SectionNode]:
        """All sections in the order of the text, each before those in it."""
        waiting = self.sections[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def parents(self) -> list[int]:
        """The place of the parent of each section, in the order of `walk`; -1 for the outermost."""
        parent = {id(child): number for number, node in enumerate(self.walk()) for child in node.children}
        return [parent.get(id(node), -1) for node in self.walk()]

    def with_usual_labels(self) -> "SectionTree":
        """The same tree with NR, SECTION_TITLE, TEXT_BLOCK and NEWLINE as labels; those without a role are text."""
        if self.roles == USUAL:
            return self
        usual = {label: USUAL[role] for role, label in self.roles.items()}
        elements = [replace(element, label=usual.get(element.label, TEXT)) for element in self.elements]
        return replace(self, elements=elements, roles=USUAL)

    def to_json(self) -> dict[str, Any]:
        """The tree as JSON can hold it: a flat list of sections, in which each has the place of its parent."""
        sections = [
            {
                **{"start": node.start_char, "end": node.end_char, "level": node.level},
                **{"parent": None if parent < 0 else parent},
                **{"number": node.number, "title": node.title, "heading": list(node.heading)},
                **{"probability": node.probability, "virtual": node.virtual},
            }
            for node, parent in zip(self.walk(), self.parents())
        ]
        elements = [[e.start, e.end, e.label, e.probability] for e in self.elements]
        facts: dict[str, Any] = {"exact": self.exact, "dropped": self.dropped, "score": self.score}
        if self.roles != USUAL:
            facts["roles"] = dict(self.roles)
        return {"version": VERSION, **facts, "elements": elements, "sections": sections}

    def _repr_html_(self) -> Markup:
        return notebook(element("div", contents(self.to_json()), class_="outline"))


def from_json(data: Mapping[str, Any]) -> SectionTree:
    """The tree that `SectionTree.to_json` has written.

    RAISES (ValueError): if it is not a section tree, such as one whose sections overlap, or leave their parent.
    """
    try:
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']}")
        elements = [Element(_whole(a), _whole(b), str(label), _finite(p)) for a, b, label, p in data["elements"]]
        _check_order([(element.start, element.end) for element in elements], "element")
        facts = bool(data["exact"]), _whole(data["dropped"]), _finite(data["score"])
        roles = {str(role): str(label) for role, label in data.get("roles", USUAL).items()}
        if roles.keys() != USUAL.keys():
            raise ValueError(f"roles {', '.join(roles)[:100]}")
        return SectionTree(_nest(data["sections"], len(elements)), elements, *facts, roles)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise CRFError(SectionErrors.CRF952.format(error=f"{type(error).__name__}: {str(error)[:200]}")) from error


def _whole(value: Any) -> int:
    if isinstance(value, bool) or value != int(value) or not -MOST <= value <= MOST:
        raise ValueError(f"{str(value)[:20]} is no whole number, or a very great one")
    return int(value)


def _finite(value: Any) -> float | None:
    if value is not None and not math.isfinite(value):
        raise ValueError(f"{value} is no finite number")
    return value if value is None else float(value)


def _check_order(bounds: Sequence[tuple[int, int]], what: str, low: int = 0, high: int = MOST) -> None:
    """Raise an error unless stretches of text follow each other between two places."""
    for place, (start, end) in enumerate(bounds):
        if not low <= start <= end <= high:
            raise ValueError(f"{what} {place} from {start} to {end}, where {low} to {high} is left")
        low = end


def _nest(flat: Sequence[Mapping[str, Any]], n_elements: int) -> list[SectionNode]:
    nodes: list[SectionNode] = []
    outermost: list[SectionNode] = []
    for row in flat:
        node = SectionNode(
            _whole(row["start"]), _whole(row["end"]), _whole(row["level"]), str(row["number"]), str(row["title"]),
            _finite(row["probability"]), bool(row["virtual"]), [_whole(place) for place in row["heading"]],
        )  # fmt: skip
        parent = None if row["parent"] is None else _whole(row["parent"])
        if parent is not None and not 0 <= parent < len(nodes):
            raise ValueError(f"parent {parent} of section {len(nodes)}")
        if node.level < 1:
            raise ValueError(f"level {node.level} of section {len(nodes)}")
        if not all(0 <= place < n_elements for place in node.heading):
            raise ValueError(f"heading {node.heading} of section {len(nodes)}, with {n_elements} elements")
        (outermost if parent is None else nodes[parent].children).append(node)
        nodes.append(node)
    _check_order([(node.start_char, node.end_char) for node in outermost], "section")
    for place, node in enumerate(nodes):
        inner = [(child.start_char, child.end_char) for child in node.children]
        _check_order(inner, f"in section {place}, section", node.start_char, node.end_char)
    return outermost


@dataclass(frozen=True)
class GoldDocument:
    """A document with what annotators say of it, kept apart from what a component may see.

    leaves (tuple[Element, ...]): labelled stretches of the text, in order. sections (tuple[SectionNode, ...]): the
    outermost; empty if the file has no sections.
    """

    layout: DocumentLayout
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


def label_units(units: Sequence[LayoutUnit], leaves: Sequence[Element]) -> list[str]:
    """Labels of units, from stretches of text that need not begin and end where units do. O(units + leaves).

    A blank line has NEWLINE, others have the label of the leaf that has most of it, the first of those that have the
    same; text where there is none. A number and a title in one unit, which is no numbering by its form, are a title.
    """
    labels = []
    first = 0
    for unit in units:
        while first < len(leaves) and leaves[first].end <= unit.start:
            first += 1
        best, shared, place = TEXT, 0, first
        has_title = False
        while place < len(leaves) and leaves[place].start < unit.end:
            common = min(unit.end, leaves[place].end) - max(unit.start, leaves[place].start)
            has_title |= leaves[place].label == TITLE and common > 0
            if common > shared:
                best, shared = leaves[place].label, common
            place += 1
        if best == NUMBER and has_title and unit.kind is not Kind.NUMBER:
            best = TITLE
        labels.append(NEWLINE if unit.kind is Kind.NEWLINE else best)
    return labels


def mark_headings(sections: Sequence[SectionNode], units: Sequence[LayoutUnit], leaves: Sequence[Element]) -> None:
    """Set the headings of sections: of their first leaves a number and titles, before the first text or subsection."""
    labels, starts = label_units(units, leaves), [unit.start for unit in units]
    for node in SectionTree(list(sections)).walk():
        if not node.virtual:
            first, limit = (bisect_left(starts, place) for place in (node.start_char, node.own_end))
            node.heading = heading_places(labels[first:limit], first)


def heading_places(labels: Sequence[str], first: int) -> list[int]:
    """Places of a number and titles at the beginning of a section, whose first label has the place `first`."""
    found: list[int] = []
    for place, label in enumerate(labels, first):
        if label == TEXT or (label == NUMBER and found):
            break
        if label != NEWLINE:
            found.append(place)
    return found
