"""The loss of gold with a fixed target in each unit, without the noise of single precision.

Chains see sums of weights, and exponentials of scores, in single precision. Gold must see the same ones: rounding
errors that many units share would shift the value by as many times their size, and mislead the line search. Scored by
the very factors that the recursion multiplied, they cancel.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..arrays import Doubles, Floats, Indices
from ..batch import PackedBatch
from ..chain.forward import ForwardBackward
from ..chain.objective import Counts

SMALLEST = 1e-30  # a smaller factor may have lost digits


@dataclass(frozen=True)
class Weighted:
    """The cells of an array that gold meets, ((m,)), and how often, ((m,))."""

    cells: Indices
    amounts: Doubles

    @classmethod
    def of(cls, counts: Floats) -> Self:
        cells = np.flatnonzero(counts)
        return cls(cells, counts.reshape(-1)[cells].astype(np.float64))


@dataclass(frozen=True)
class GoldCells:
    """What the gold of a block meets in its emissions, transitions ((G, L, L) where conditioned), starts and ends."""

    parts: tuple[Weighted, ...]

    def loss(self, messages: ForwardBackward) -> float:
        """log Z - score(gold), summed over the block. O(N)."""
        scaled, potentials = messages.scaled, messages.potentials
        factors = self._met(scaled.emissions, scaled.transitions, scaled.start, scaled.end)
        if messages.redone is None and min(part.min(initial=1.0) for part in factors) > SMALLEST:
            shifts = float(scaled.shifts.sum()) + len(potentials.batch.last_rows) * scaled.end_shift
            return float(messages.log_z.sum()) - shifts - self._sum([np.log(part) for part in factors])
        matrices = potentials.transitions if potentials.edges is None else potentials.edges.matrices
        scores = self._met(potentials.emissions, matrices, potentials.start, potentials.end)
        return float(messages.log_z.sum()) - self._sum(scores)

    def _met(self, *arrays: Floats) -> list[Doubles]:
        """The values of the cells, in double precision."""
        return [array.reshape(-1)[part.cells].astype(np.float64) for part, array in zip(self.parts, arrays)]

    def _sum(self, values: list[Doubles]) -> float:
        return sum(float(part.amounts @ found) for part, found in zip(self.parts, values))


def gold_cells(counts: Counts, batch: PackedBatch) -> GoldCells:
    """What gold meets, from its counts; the labels of each unit sum to 1."""
    starts, ends = counts.nodes[batch.first_rows].sum(axis=0), counts.nodes[batch.last_rows].sum(axis=0)
    return GoldCells(tuple(map(Weighted.of, (counts.nodes, counts.transitions, starts, ends))))
