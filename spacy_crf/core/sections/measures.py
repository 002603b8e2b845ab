"""Measures of section trees: PARSEVAL, crossing brackets, level accuracy. Tree edit similarity is in `tree_edit`.

A constituent is (label, start, end): an interval of units, the end not included. Intervals are counted without units
that do not matter (blank lines), see `without`. Constituents are a multiset: two sections over the same units are two.
PARSEVAL is due to Abney et al. (1991); labelled precision and recall follow Collins (1999). Trompper (2016) counts all
non-terminals of the parse and the root: give those as constituents to have the thesis's variant.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Bools

Constituent: TypeAlias = tuple[str, int, int]


@dataclass(frozen=True)
class BracketCounts:
    """Constituents of one or more documents. right: those that are in both; predicted, gold: all of them."""

    right: int
    predicted: int
    gold: int

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


def without(constituents: Iterable[Constituent], dropped: Bools) -> list[Constituent]:
    """Constituents counted over the units that are left when some are dropped. O(N + constituents).

    dropped ((N,)): units that do not matter, such as blank lines. A constituent of nothing else becomes empty, and is
    left out.
    """
    before = np.concatenate([[0], np.cumsum(~dropped)]).tolist()
    moved = [(label, before[start], before[end]) for label, start, end in constituents]
    return [(label, start, end) for label, start, end in moved if start < end]


def parseval(predicted: Iterable[Constituent], gold: Iterable[Constituent]) -> BracketCounts:
    """Counts of one document, as multisets."""
    left, right = Counter(predicted), Counter(gold)
    return BracketCounts((left & right).total(), left.total(), right.total())


def pooled(documents: Iterable[BracketCounts]) -> BracketCounts:
    """Counts of all documents together: what the headline is computed from."""
    return sum(documents, BracketCounts(0, 0, 0))


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
