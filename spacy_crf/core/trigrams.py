"""Which trigrams of labels have a weight. The edges of a sequence count as one more label, before it and behind it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .arrays import Indices, Ints, Segments
from .gold import Gold

EDGE = -1  # stands for what is before the first unit of a sequence, and behind the last one


@dataclass(frozen=True)
class Trigrams:
    """Trigrams by the places of their weights.

    n_labels (int): L. cells ((Z,)): `((first + 1) * M + second + 1) * M + third + 1` for M = L + 1, each once, in any
        order; EDGE is a label too.
    """

    n_labels: int
    cells: Indices

    def __len__(self) -> int:
        return len(self.cells)

    def contexts(self, first: Indices | Ints, second: Indices | Ints) -> Indices:
        """For each pair of labels the row of `places` where its trigrams are; row 0 for pairs that have none."""
        rows: Indices = self._rows[(first + 1) * (self.n_labels + 1) + (second + 1)]
        return rows

    def find(self, contexts: Indices, third: Indices | Ints | int) -> Indices:
        """For each trigram the place of its weight, Z where it has none.

        contexts ((n,)): rows of its first two labels. third ((n,) | int): its last label.
        """
        places: Indices = self._places.take(contexts * (self.n_labels + 1) + (third + 1))
        return places

    def resized(self, n_labels: int) -> "Trigrams":
        """The same trigrams, in the same places, among more labels."""
        before, size = self.n_labels + 1, n_labels + 1
        pairs, third = np.divmod(self.cells, before)
        first, second = np.divmod(pairs, before)
        return Trigrams(n_labels, (first * size + second) * size + third)

    @cached_property
    def _pairs(self) -> tuple[Indices, Indices]:
        """The first two labels that trigrams have, ascending, and for each trigram the number of its pair."""
        pairs, numbers = np.unique(self.cells // (self.n_labels + 1), return_inverse=True)
        return pairs, numbers

    @cached_property
    def _rows(self) -> Indices:
        rows = np.zeros((self.n_labels + 1) ** 2, dtype=np.intp)
        rows[self._pairs[0]] = 1 + np.arange(len(self._pairs[0]))
        return rows

    @cached_property
    def _places(self) -> Indices:
        """((pairs + 1) * M,): place of each trigram, Z for those without a weight."""
        size = self.n_labels + 1
        places = np.full((len(self._pairs[0]) + 1) * size, len(self), dtype=np.intp)
        places[(1 + self._pairs[1]) * size + self.cells % size] = np.arange(len(self))
        return places


def no_trigrams(n_labels: int) -> Trigrams:
    """No trigram has a weight."""
    return Trigrams(n_labels, np.zeros(0, dtype=np.intp))


def seen_trigrams(gold: Gold, lengths: Indices, n_labels: int) -> Indices:
    """Cells of the trigrams that gold makes possible, ascending. O(N) where most units have one label.

    A unit whose gold is unknown shows no trigram.

    gold (Gold): of N units. lengths ((B,)): of their sequences, one after the other.
    """
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
