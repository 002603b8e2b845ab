"""Measures of section trees: PARSEVAL, crossing brackets, levels of headings, tree edit similarity.

PARSEVAL and crossing brackets are due to Abney et al. (1991); labelled precision and recall follow Collins (1999).
Trompper (2016) counts all non-terminals of the parse and the root: give those as constituents to have the thesis's
variant. Tree edit distance is that of Zhang & Shasha, "Simple fast algorithms for the editing distance between trees
and related problems", SIAM J. Comput. 18 (1989). STEDS: 1 - distance / max(nodes), as in HRDoc (Ma et al., AAAI 2023)
and TEDS of tables (Zhong et al., ECCV 2020), of structure alone: a section is known by the unit that it begins with.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ..core.arrays import Bools, Indices, Numbered

Constituent: TypeAlias = tuple[str, int, int]
"""Label and interval of units, the end not included."""


@dataclass(frozen=True)
class BracketCounts:
    """Constituents of one or more documents: those that are in both, and all of them."""

    right: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        """right / predicted; with none predicted 1 if there is no gold either, else 0."""
        return self.right / self.predicted if self.predicted else float(not self.gold)

    @property
    def recall(self) -> float:
        """right / gold; with no gold 1 if none is predicted either, else 0."""
        return self.right / self.gold if self.gold else float(not self.predicted)

    @property
    def f(self) -> float:
        """Harmonic mean of both; 1 for empty against empty."""
        total = self.predicted + self.gold
        return 2 * self.right / total if total else 1.0

    def __add__(self, other: "BracketCounts") -> "BracketCounts":
        return BracketCounts(self.right + other.right, self.predicted + other.predicted, self.gold + other.gold)


def without(found: Iterable[Constituent], dropped: Bools) -> list[Constituent]:
    """Constituents counted over the units that are not dropped ((N,)); those of nothing else are left out."""
    before = np.append(0, np.cumsum(~dropped)).tolist()
    moved = [(label, before[start], before[end]) for label, start, end in found]
    return [(label, start, end) for label, start, end in moved if start < end]


def parseval(predicted: Iterable[Constituent], gold: Iterable[Constituent]) -> BracketCounts:
    """Counts of one document; constituents are a multiset: two sections over the same units are two."""
    left, right = Counter(predicted), Counter(gold)
    return BracketCounts((left & right).total(), left.total(), right.total())


def crossing(predicted: Iterable[Constituent], gold: Sequence[Constituent]) -> int:
    """Predicted constituents that cross a gold one: they overlap, and neither holds the other. O(predicted gold)."""
    starts = np.array([start for _, start, _ in gold], dtype=np.intp)
    ends = np.array([end for _, _, end in gold], dtype=np.intp)
    crossed = 0
    for _, start, end in predicted:
        begins_inside = (starts < start) & (start < ends) & (ends < end)
        ends_inside = (start < starts) & (starts < end) & (end < ends)
        crossed += bool((begins_inside | ends_inside).any())
    return crossed


@dataclass(frozen=True)
class LevelCounts:
    """Levels of headings that are both predicted and gold. same: equal ones; total: all of them."""

    same: int
    total: int

    @property
    def accuracy(self) -> float:
        """same / total; 1 without headings."""
        return self.same / self.total if self.total else 1.0

    def __add__(self, other: "LevelCounts") -> "LevelCounts":
        return LevelCounts(self.same + other.same, self.total + other.total)


def level_accuracy(predicted: dict[int, int], gold: dict[int, int]) -> LevelCounts:
    """Compare the levels of headings. predicted, gold (dict): levels by the first unit of the heading."""
    distances = [abs(predicted[unit] - gold[unit]) for unit in predicted.keys() & gold.keys()]
    return LevelCounts(distances.count(0), len(distances))


@dataclass
class TreeNode:
    """A node of an ordered tree. label: compared for equality. children: in order."""

    label: Hashable
    children: list["TreeNode"] = field(default_factory=list)


def tree_of(constituents: Iterable[Constituent]) -> TreeNode:
    """Constituents that hold each other or lie apart as a tree, each labelled by the unit that it begins with."""
    root = TreeNode("document")
    opened: list[tuple[TreeNode, int]] = []
    for label, start, end in sorted(constituents, key=lambda one: (one[1], -one[2])):
        while opened and opened[-1][1] <= start:
            opened.pop()
        node = TreeNode((label, start))
        (opened[-1][0] if opened else root).children.append(node)
        opened.append((node, end))
    return root


def levels_of(constituents: Iterable[Constituent]) -> dict[int, int]:
    """The level of each constituent by its first unit, of several the innermost one; 1 for the outermost."""
    found: dict[int, int] = {}
    ends: list[int] = []
    for _, start, end in sorted(constituents, key=lambda one: (one[1], -one[2])):
        while ends and ends[-1] <= start:
            ends.pop()
        ends.append(end)
        found[start] = len(ends)
    return found


def tree_edit_distance(first: TreeNode, second: TreeNode) -> int:
    """The least number of insertions, deletions and relabellings of nodes from one tree to the other.

    O(n m d e) for n and m nodes and depths d and e at the worst; vectorised over the nodes of the second tree's parts
    where that is possible: all but the running minimum of insertions.
    """
    codes = Numbered[Hashable]()
    left, right = _PostOrder(first, codes), _PostOrder(second, codes)
    distance = (left.labels[:, None] != right.labels).astype(np.intp)  # of leaves; of all others it is filled in
    for i in left.keyroots:
        for j in right.keyroots:
            if not (left.leftmost[i] == i and right.leftmost[j] == j):
                _forests(left, right, i, j, distance)
    return int(distance[-1, -1])


def similarity(first: TreeNode, second: TreeNode) -> float:
    """STEDS: 1 - distance / nodes of the larger tree: 1 for equal trees."""
    return 1.0 - tree_edit_distance(first, second) / max(count_nodes(first), count_nodes(second))


def count_nodes(tree: TreeNode) -> int:
    """Nodes of a tree, the root too."""
    return len(_PostOrder(tree, Numbered()).labels)


class _PostOrder:
    """Nodes in post-order: codes of their labels, for each its leftmost leaf, and the keyroots.

    These are the last nodes of each leftmost leaf. codes (Numbered): of labels, to which new ones are added.
    """

    def __init__(self, tree: TreeNode, codes: Numbered[Hashable]) -> None:
        labels: list[int] = []
        self.leftmost: list[int] = []
        stack: list[tuple[TreeNode, int, int]] = [(tree, 0, -1)]
        while stack:
            node, child, leaf = stack.pop()
            if child < len(node.children):
                stack += [(node, child + 1, leaf), (node.children[child], 0, -1)]
                continue
            self.leftmost.append(leaf if leaf >= 0 else len(labels))
            if stack and stack[-1][2] < 0:
                stack[-1] = (*stack[-1][:2], self.leftmost[-1])
            labels.append(codes.number(node.label))
        self.labels: Indices = np.array(labels, dtype=np.intp)
        self.keyroots = sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def _forests(left: _PostOrder, right: _PostOrder, i: int, j: int, distance: Indices) -> None:
    """Fill in the distances between the subtrees that begin at the leftmost leaves of two keyroots."""
    low, base = left.leftmost[i], right.leftmost[j]
    width = j - base + 2
    columns = np.arange(width)
    spans = np.array(right.leftmost[base : j + 1]) - base  # where the forest before each subtree ends
    whole = spans == 0
    rows = np.zeros((i - low + 2, width), dtype=np.intp)
    rows[0] = columns
    for node in range(low, i + 1):
        row, start = node - low + 1, left.leftmost[node] - low
        deleted = rows[row - 1, 1:] + 1
        if start == 0:
            changed = right.labels[base : j + 1] != left.labels[node]
            matched = np.where(whole, rows[row - 1, :-1] + changed, rows[start, spans] + distance[node, base : j + 1])
        else:
            matched = rows[start, spans] + distance[node, base : j + 1]
        candidates = np.concatenate([[row], np.minimum(deleted, matched)])
        rows[row] = np.minimum.accumulate(candidates - columns) + columns  # insertions, one after the other
        if start == 0:
            distance[node, base : j + 1] = np.where(whole, rows[row, 1:], distance[node, base : j + 1])
