"""Trees as flat lists of nodes: a long run of units makes them deeper than Python lets functions call themselves."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ..errors import CoreErrors, CRFError

BRACKET = re.compile(r"\(|\)|[^\s()]+")
ROOT = -1


class Node(NamedTuple):
    """A node of a tree.

    label (str): a symbol. start (int), end (int): the units that it covers, end exclusive.
    parent (int): index of the node above it, -1 for the root.
    """

    label: str
    start: int
    end: int
    parent: int


@dataclass(frozen=True)
class Tree:
    """A tree over units.

    nodes (tuple of Node): in preorder: parents before their children, these from left to right. Leaves are terminals.
    """

    nodes: tuple[Node, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the children of each node, from left to right."""
        below: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent != ROOT:
                below[node.parent].append(index)
        return tuple(map(tuple, below))

    @property
    def leaves(self) -> tuple[str, ...]:
        """Labels of the units."""
        return tuple(node.label for node, below in zip(self.nodes, self.children) if not below)

    def rules(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The index of each node that is no leaf, and its rule as (parent, child, ..)."""
        for index, below in enumerate(self.children):
            if below:
                yield index, (self.nodes[index].label, *(self.nodes[child].label for child in below))

    def __str__(self) -> str:
        """The tree in brackets, such as `(Text (Text TEXT_BLOCK) (Text NEWLINE))`."""
        parts: list[str] = []
        waiting: list[int | None] = [0] if self.nodes else []
        while waiting:
            index = waiting.pop()
            if index is None:
                parts[-1] += ")"
            elif self.children[index]:
                parts.append(f"({self.nodes[index].label}")
                waiting += [None, *reversed(self.children[index])]
            else:
                parts.append(self.nodes[index].label)
        return " ".join(parts)

    @classmethod
    def from_brackets(cls, text: str) -> "Tree":
        """Read what `str` has written; labels hold neither brackets nor white space.

        RAISES (ValueError): for brackets that do not match, or a bracket without a label or without children.
        """
        labels: list[str] = []
        parents: list[int] = []
        bounds: list[list[int]] = []
        path, units, opening = [ROOT], 0, False
        for token in BRACKET.findall(text):
            if token == ")":
                if opening or len(path) == 1 or bounds[path[-1]][0] == units:
                    raise _malformed(text)
                bounds[path.pop()][1] = units
            elif token == "(":
                if opening or (labels and len(path) == 1):
                    raise _malformed(text)
                opening = True
            else:
                if labels and len(path) == 1:
                    raise _malformed(text)
                labels.append(token)
                parents.append(path[-1])
                bounds.append([units, units + 1])
                if opening:
                    path.append(len(labels) - 1)
                units += not opening
                opening = False
        if opening or len(path) != 1 or not labels:
            raise _malformed(text)
        return cls(tuple(Node(label, low, high, parent) for label, (low, high), parent in zip(labels, bounds, parents)))


def _malformed(text: str) -> CRFError:
    problem = "its brackets do not match, or one of them has no label or no children"
    return CRFError(CoreErrors.CRF949.format(name=repr(text[:60]), problem=problem))
