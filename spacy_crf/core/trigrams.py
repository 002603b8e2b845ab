"""Weights of trigrams of labels: what a chain of order 2 has beyond one of order 1.

The edges of a sequence count as one more label, before it and behind it.
"""

from dataclasses import dataclass, replace
from typing import NoReturn, Self

import numpy as np

from .arrays import Bools, Doubles, Floats, Indices, Ints, Segments, cached_property
from .errors import CoreErrors, CRFError, require_count
from .labels import Gold

EDGE = -1  # stands for what is before the first unit of a sequence, and behind the last one


def moved_cells(cells: Indices, shape: tuple[int, ...], n_labels: int) -> Indices:
    """Cells of an array ((.., L, L)) as those of one for more labels: all axes but the first grow."""
    wider = (shape[0], *[n_labels] * (len(shape) - 1))
    return np.ravel_multi_index(np.unravel_index(cells, shape), wider)


@dataclass(frozen=True)
class Trigrams:
    """Trigrams by the places of their weights.

    n_labels (int): L. cells ((Z,)): `((first + 1) * M + second + 1) * M + third + 1` for M = L + 1, each once, in any
        order; EDGE is a label too.
    """

    n_labels: int
    cells: Indices

    @classmethod
    def none(cls, n_labels: int) -> Self:
        """Give no trigram a weight."""
        return cls(n_labels, np.zeros(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.cells)

    def contexts(self, first: Indices | Ints, second: Indices | Ints) -> Indices:
        """For each pair of labels where its trigrams are in a `table`: the third label is added to it."""
        return np.asarray(self._contexts[(first + 1) * (self.n_labels + 1) + (second + 1)])

    def table(self, weights: Floats) -> Doubles:
        """Lay out weights ((Z,)) so that each is found by its labels; 0 for trigrams that have none."""
        table = np.zeros((len(self._pairs[0]) + 1) * (self.n_labels + 1))
        table[self.places] = weights
        return table

    def resized(self, n_labels: int) -> "Trigrams":
        """The same trigrams, in the same places, among more labels."""
        size = self.n_labels + 1
        return Trigrams(n_labels, moved_cells(self.cells, (size, size, size), n_labels + 1))

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """The first two labels that trigrams have, ascending, and for each trigram the number of its pair."""
        return np.unique(self.cells // (self.n_labels + 1), return_inverse=True)

    @cached_property
    def _contexts(self) -> Indices:
        size = self.n_labels + 1
        rows = np.zeros(size**2, dtype=np.intp)  # row 0: pairs that have no trigram
        rows[self._pairs[0]] = 1 + np.arange(len(self._pairs[0]))
        return rows * size + 1  # for EDGE

    @cached_property
    def places(self) -> Indices:
        """((Z,)): of trigrams in a `table`."""
        return (1 + self._pairs[1]) * (self.n_labels + 1) + self.cells % (self.n_labels + 1)


@dataclass(frozen=True)
class Pruning:
    """How few labels of each unit a chain of order 2 looks at.

    threshold (float): least marginal probability of a candidate, below 1.
    limit (int): the most candidates of a unit, at least 1; a unit with k of them among others has k^3 arcs.
    """

    threshold: float
    limit: int

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise CRFError(CoreErrors.CRF120.format(value=self.threshold))
        require_count(max_candidates=self.limit)

    def probable(self, marginals: Floats) -> Bools:
        """((N, L)): labels by their marginals alone; among the last equals, those of smaller index."""
        chosen = (marginals >= self.threshold) & (marginals > 0)
        crowded = np.flatnonzero(chosen.sum(axis=1) > self.limit)
        rows = marginals[crowded]
        last = np.partition(rows, -self.limit, axis=1)[:, -self.limit, None] if len(crowded) else rows
        above, tied = rows > last, rows == last
        chosen[crowded] = above | (tied & (tied.cumsum(axis=1) <= self.limit - above.sum(axis=1, keepdims=True)))
        return np.asarray(chosen)


@dataclass(frozen=True)
class TrigramWeights:
    """Weights of trigrams, none before they are learned.

    trigrams (Trigrams): which have one. values ((Z,)): the weights, in their order.
    pruning (Pruning): which labels of a unit are looked at.
    """

    trigrams: Trigrams
    values: Floats
    pruning: Pruning

    def with_labels(self, n_labels: int) -> Self:
        """Keep the weights among more labels."""
        return replace(self, trigrams=self.trigrams.resized(n_labels))

    def without_zeros(self) -> Self:
        """Leave out trigrams whose weight is 0."""
        kept = self.values != 0
        return replace(self, trigrams=replace(self.trigrams, cells=self.trigrams.cells[kept]), values=self.values[kept])


def refuse_second_order(name: str, what: str) -> NoReturn:
    """Raise for `what` chains of order 2 do not give; name (str): of the component that has one."""
    raise CRFError(CoreErrors.CRF436.format(name=name, what=what))


def seen_trigrams(gold: Gold, lengths: Indices, n_labels: int) -> Indices:
    """Cells of the trigrams that gold, if known, makes possible, ascending. O(N) where most units have one label."""
    filled = Segments(lengths[lengths > 0])
    # two edges before each sequence and one behind it stand in a row of their own each
    places = np.arange(filled.n_units) + 3 * filled.owners + 2
    n_rows = filled.n_units + 3 * len(filled)
    units, labels = gold.seen_pairs()
    is_edge = np.ones(n_rows, dtype=bool)
    is_edge[places] = False
    rows = np.concatenate([places[units], np.flatnonzero(is_edge)])
    values = np.concatenate([labels.astype(np.intp) + 1, np.zeros(int(is_edge.sum()), dtype=np.intp)])
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], values[order]
    ends, cells, size = rows, values, n_labels + 1
    for _ in range(2):
        # prolong what ends in a row by everything in the next one
        low, high = (np.searchsorted(rows, ends + 1, side=side) for side in ("left", "right"))
        found = Segments(high - low)
        after = found.at(low)
        cells = cells[found.owners] * size + values[after]
        ends = rows[after]
    # what reaches from one sequence into the next has an edge in its middle and at its end
    return np.unique(cells[cells % (size * size) != 0])
