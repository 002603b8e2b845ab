"""The section tree of a document, as components make it and exports need it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import CRFError
from ..errors import SectionErrors

VERSION = 1


@dataclass(frozen=True, slots=True)
class Element:
    """A leaf: one unit and its label.

    start (int), end (int): characters of the text. label (str): such as "SECTION_TITLE". probability (float | None): of
    the label.
    """

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


@dataclass(slots=True)
class SectionTree:
    """Sections and elements of a document.

    sections (list[SectionNode]): the outermost, in order. elements (list[Element]): all leaves, in order.
    exact (bool): whether it is certain that no other tree has a higher score. dropped (int): states that a cap on their
    number has cost. score (float | None): logarithm of its weight.
    """

    sections: list[SectionNode] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    exact: bool = True
    dropped: int = 0
    score: float | None = None

    def walk(self) -> Iterator[SectionNode]:
        """All sections in the order of the text, each before those in it."""
        waiting = self.sections[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def to_json(self) -> dict[str, Any]:
        """The tree as JSON can hold it: a flat list of sections, in which each has the place of its parent."""
        return {
            "version": VERSION,
            "exact": self.exact,
            "dropped": self.dropped,
            "score": self.score,
            "elements": [[e.start, e.end, e.label, e.probability] for e in self.elements],
            "sections": _flatten(self.sections),
        }


def from_json(data: Mapping[str, Any]) -> SectionTree:
    """The tree that `SectionTree.to_json` has written.

    data (Mapping[str, Any]): as JSON holds it. RAISES (ValueError): if it is not a section tree.
    """
    try:
        if data["version"] != VERSION:
            raise ValueError(f"version {data['version']}")
        elements = [Element(int(start), int(end), str(label), p) for start, end, label, p in data["elements"]]
        sections = _nest(data["sections"])
        return SectionTree(sections, elements, bool(data["exact"]), int(data["dropped"]), data["score"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CRFError(SectionErrors.CRF952.format(error=f"{type(error).__name__}: {error}")) from error


def dumps(tree: SectionTree) -> str:
    """The tree as JSON text. tree (SectionTree): any tree."""
    return json.dumps(tree.to_json(), ensure_ascii=False) + "\n"


def _flatten(sections: Sequence[SectionNode]) -> list[dict[str, Any]]:
    flat: list[dict[str, Any]] = []
    waiting: list[tuple[SectionNode, int | None]] = [(node, None) for node in reversed(sections)]
    while waiting:
        node, parent = waiting.pop()
        place = len(flat)
        flat.append(
            {
                **{"start": node.start_char, "end": node.end_char, "level": node.level, "parent": parent},
                **{"number": node.number, "title": node.title, "heading": list(node.heading)},
                **{"probability": node.probability, "virtual": node.virtual},
            }
        )
        waiting.extend((child, place) for child in reversed(node.children))
    return flat


def _nest(flat: Sequence[Mapping[str, Any]]) -> list[SectionNode]:
    nodes: list[SectionNode] = []
    outermost: list[SectionNode] = []
    for row in flat:
        node = SectionNode(
            int(row["start"]), int(row["end"]), int(row["level"]), str(row["number"]), str(row["title"]),
            row["probability"], bool(row["virtual"]), [int(place) for place in row["heading"]],
        )  # fmt: skip
        parent = row["parent"]
        if parent is not None and not 0 <= parent < len(nodes):
            raise ValueError(f"parent {parent} of section {len(nodes)}")
        (outermost if parent is None else nodes[parent].children).append(node)
        nodes.append(node)
    return outermost
