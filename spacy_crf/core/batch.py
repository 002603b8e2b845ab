"""Packed batches: sequences sorted by length and laid out time-major.

Step t of a recursion is then one contiguous block of rows, one row for each sequence still alive, and the row of
the same sequence at step t + 1 has the same offset within its block. Python loops over time only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .arrays import Doubles, Floats, Indices, Segments


class Step(NamedTuple):
    """The rows at one position of their sequences.

    going (slice): of units that others follow. following (slice): of those. ending (slice): of last units.
    """

    going: slice
    following: slice
    ending: slice


@dataclass(frozen=True)
class PackedBatch:
    """How B sequences of any lengths (0 included) are laid out in N rows.

    lengths ((B,)): lengths of the sequences, in the order given.
    order ((B,)): `order[k]` is the given index of the k-th longest sequence; equal lengths keep their order.
    offsets ((T + 1,)): rows of step t are `offsets[t]:offsets[t + 1]`; T is the greatest length.
    """

    lengths: Indices
    order: Indices
    offsets: Indices

    @property
    def n_sequences(self) -> int:
        return len(self.lengths)

    @property
    def n_units(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def rows(self) -> Indices:
        """((N,)): for each unit of the concatenated sequences in the order given, its packed row."""
        return self.offsets[self.times] + np.repeat(_inverse(self.order), self.lengths)

    @cached_property
    def units(self) -> Indices:
        """((N,)): for each packed row, its unit in the concatenated sequences: the inverse of `rows`."""
        return _inverse(self.rows)

    @cached_property
    def segments(self) -> Segments:
        """The sequences as runs of the concatenated units."""
        return Segments(self.lengths)

    @property
    def times(self) -> Indices:
        """((N,)): for each unit of the concatenated sequences, its position in its sequence."""
        return self.segments.positions

    @cached_property
    def row_sequences(self) -> Indices:
        """((N,)): for each packed row, the given index of its sequence."""
        return self.order[np.arange(self.n_units) - np.repeat(self.offsets[:-1], np.diff(self.offsets))]

    @cached_property
    def alive(self) -> list[int]:
        """Number of sequences alive at each step."""
        return list(np.diff(self.offsets).tolist())

    @cached_property
    def starts(self) -> list[int]:
        """First row of each step, as Python integers for the loops."""
        return list(self.offsets[:-1].tolist())

    @cached_property
    def links(self) -> list[tuple[slice, slice]]:
        """For each step but the first: rows of the units before, and rows of the step."""
        parts = zip(self.starts, self.starts[1:], self.alive[1:])
        return [(slice(before, before + n), slice(low, low + n)) for before, low, n in parts]

    def steps_back(self) -> Iterator[Step]:
        """Steps, the last one first."""
        n_after = after = 0
        for low, n in zip(reversed(self.starts), reversed(self.alive)):
            yield Step(slice(low, low + n_after), slice(after, after + n_after), slice(low + n_after, low + n))
            n_after, after = n, low

    @cached_property
    def first_rows(self) -> Indices:
        """((B',)): rows of the first units of the sequences that are not empty, in packed order."""
        return np.arange(self.alive[0] if self.alive else 0)

    @cached_property
    def last_rows(self) -> Indices:
        """((B',)): rows of the last units of the sequences that are not empty, in packed order."""
        lengths = self.lengths[self.order[: len(self.first_rows)]]
        return self.offsets[lengths - 1] + np.arange(len(lengths))

    @cached_property
    def before(self) -> Indices:
        """((N,)): for each packed row, that of the unit before; 0 for first units."""
        alive = np.diff(self.offsets)
        steps_back = np.concatenate([np.arange(len(self.first_rows)), np.repeat(alive[:-1], alive[1:])])
        before: Indices = np.arange(self.n_units) - steps_back
        return before

    def sequence_sums(self, values: Floats) -> Doubles:
        """((B,)): sums of (N,) packed values by sequence, in the order given."""
        sums = np.bincount(self.row_sequences, weights=values, minlength=self.n_sequences)
        return sums.astype(np.float64)  # bincount of nothing is integer

    def select(self, sequences: Indices) -> tuple["PackedBatch", Indices]:
        """Lay out some of the sequences ((B',)) anew; with it, for each of its rows, the row in this one."""
        part = pack(self.lengths[sequences])
        rank = _inverse(self.order)[sequences][part.row_sequences]
        return part, self.offsets[np.repeat(np.arange(len(part.alive)), part.alive)] + rank


def pack(lengths: Indices) -> PackedBatch:
    """Lay out sequences of the given lengths ((B,)). O(N + B log B)."""
    lengths = np.asarray(lengths, dtype=np.intp)
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    # sequences alive at step t = sequences longer than t
    ending = np.bincount(lengths, minlength=longest + 1)
    alive = len(lengths) - np.cumsum(ending)[:longest]
    offsets = np.concatenate([[0], np.cumsum(alive)]).astype(np.intp)
    return PackedBatch(lengths, order, offsets)


def _inverse(order: Indices) -> Indices:
    """Return the place of each number in a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
