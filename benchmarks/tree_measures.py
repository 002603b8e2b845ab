"""Measures of section trees beside PARSEVAL: crossing brackets, levels of headings, tree edit similarity.

Tree edit distance is that of Zhang & Shasha, "Simple fast algorithms for the editing distance between trees and related
problems", SIAM J. Comput. 18 (1989). STEDS: 1 - distance / max(nodes), as in HRDoc (Ma et al., AAAI 2023).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_crf.core.arrays import Indices
from spacy_crf.sections.scorer import BracketCounts, Constituent


def mean_f(documents: Sequence[BracketCounts]) -> float:
    """Mean F over documents, each counting the same; 0.0 without documents."""
    return float(np.mean([counts.f for counts in documents])) if documents else 0.0


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
    """Levels of headings that are both predicted and gold. same: equal; near: at most one apart; total: all of them."""

    same: int
    near: int
    total: int

    @property
    def accuracy(self) -> float:
        """same / total; 1 without headings."""
        return self.same / self.total if self.total else 1.0

    @property
    def accuracy_within_one(self) -> float:
        """near / total; 1 without headings."""
        return self.near / self.total if self.total else 1.0

    def __add__(self, other: "LevelCounts") -> "LevelCounts":
        return LevelCounts(self.same + other.same, self.near + other.near, self.total + other.total)


def level_accuracy(predicted: dict[int, int], gold: dict[int, int]) -> LevelCounts:
    """Compare the levels of headings. predicted, gold (dict): levels by the first unit of the heading."""
    distances = [abs(predicted[unit] - gold[unit]) for unit in predicted.keys() & gold.keys()]
    return LevelCounts(distances.count(0), sum(distance <= 1 for distance in distances), len(distances))


@dataclass
class TreeNode:
    """A node of an ordered tree. label: compared for equality. children: in order."""

    label: Hashable
    children: list["TreeNode"] = field(default_factory=list)


def tree_edit_distance(first: TreeNode, second: TreeNode) -> int:
    """The least number of insertions, deletions and relabellings of nodes from one tree to the other.

    O(n m d e) for n and m nodes and depths d and e at the worst; vectorised over the nodes of the second tree's parts
    where that is possible: all but the running minimum of insertions.
    """
    left, right = _PostOrder(first), _PostOrder(second)
    distance: Indices = np.zeros((len(left.labels), len(right.labels)), dtype=np.intp)
    for i in left.keyroots:
        for j in right.keyroots:
            _forests(left, right, i, j, distance)
    return int(distance[-1, -1])


def similarity(first: TreeNode, second: TreeNode) -> float:
    """1 - distance / nodes of the larger tree: 1 for equal trees."""
    return 1.0 - tree_edit_distance(first, second) / max(count_nodes(first), count_nodes(second))


def count_nodes(tree: TreeNode) -> int:
    """Nodes of a tree, the root too."""
    return len(_PostOrder(tree).labels)


def document_tree(labels: Sequence[Hashable], parents: Sequence[int]) -> TreeNode:
    """A tree from nodes in document order. parents: index of each node's parent, -1 for the document itself."""
    root = TreeNode("document")
    nodes = [TreeNode(label) for label in labels]
    for node, parent in zip(nodes, parents):
        (root if parent < 0 else nodes[parent]).children.append(node)
    return root


class _PostOrder:
    """Nodes in post-order, for each its leftmost leaf, and the keyroots: the last node of each leftmost leaf."""

    def __init__(self, tree: TreeNode) -> None:
        self.labels: list[Hashable] = []
        self.leftmost: list[int] = []
        stack: list[tuple[TreeNode, int, int]] = [(tree, 0, -1)]
        while stack:
            node, child, leaf = stack.pop()
            if child < len(node.children):
                stack += [(node, child + 1, leaf), (node.children[child], 0, -1)]
                continue
            self.leftmost.append(leaf if leaf >= 0 else len(self.labels))
            if stack and stack[-1][2] < 0:
                stack[-1] = (*stack[-1][:2], self.leftmost[-1])
            self.labels.append(node.label)
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
            changed = np.array([left.labels[node] != label for label in right.labels[base : j + 1]])
            matched = np.where(whole, rows[row - 1, :-1] + changed, rows[start, spans] + distance[node, base : j + 1])
        else:
            matched = rows[start, spans] + distance[node, base : j + 1]
        candidates = np.concatenate([[row], np.minimum(deleted, matched)])
        rows[row] = np.minimum.accumulate(candidates - columns) + columns  # insertions, one after the other
        if start == 0:
            distance[node, base : j + 1] = np.where(whole, rows[row, 1:], distance[node, base : j + 1])
