"""The loss of known gold, without the noise of single precision.

Chains see sums of weights, and exponentials of scores, in single precision. Gold must see the same ones: rounding
errors that many units share would shift the value by as many times their size, and mislead the line search. Scored by
the very factors that the recursion multiplied, they cancel.
"""

from dataclasses import dataclass

import numpy as np

from ..chain.forward import ForwardBackward
from ..gold import Gold
from ..observations import Observations
from ..types import Floats, Indices

SMALLEST = 1e-30  # a smaller factor may have lost digits


@dataclass(frozen=True)
class GoldPath:
    """Where the gold labels of a block stand in its potentials.

    emissions ((N,)): cells `row * L + label`.
    transitions ((N - B,)): cells `from * L + to`, or `(group * L + from) * L + to` for conditioned transitions.
    starts ((B,)), ends ((B,)): first and last labels.
    """

    emissions: Indices
    transitions: Indices
    starts: Indices
    ends: Indices

    def loss(self, messages: ForwardBackward) -> float:
        """log Z - score(gold), summed over the block. O(N)."""
        scaled, potentials = messages.scaled, messages.potentials
        factors = self._take(scaled.emissions, scaled.transitions, scaled.start, scaled.end)
        if messages.redone is None and factors.min(initial=1.0) > SMALLEST:
            shifts = scaled.shifts.sum() + len(self.ends) * scaled.end_shift
            return float(messages.log_z.sum() - shifts - np.log(factors).sum())
        matrices = potentials.transitions if potentials.edges is None else potentials.edges.matrices
        scores = self._take(potentials.emissions, matrices, potentials.start, potentials.end)
        return float(messages.log_z.sum() - scores.sum())

    def _take(self, emissions: Floats, matrices: Floats, start: Floats, end: Floats) -> Floats:
        """What gold meets, in double precision."""
        parts = (
            emissions.reshape(-1)[self.emissions],
            matrices.reshape(-1)[self.transitions],
            start[self.starts],
            end[self.ends],
        )
        return np.concatenate(parts, dtype=np.float64)


def gold_path(gold: Gold, observations: Observations) -> GoldPath | None:
    """The path of a block's gold; None where not every unit has one label.

    gold (Gold): in packed order.
    """
    if len(gold.rows):
        return None
    batch, edges = observations.batch, observations.edges
    labels, n_labels = gold.labels.astype(np.intp), gold.weights.shape[1]
    inner = np.arange(len(batch.first_rows), batch.n_units)
    pairs = labels[batch.previous_rows(inner)] * n_labels + labels[inner]
    if edges is not None:
        pairs += edges.groups[inner] * (n_labels * n_labels)
    cells = np.arange(batch.n_units) * n_labels + labels
    return GoldPath(cells, pairs, labels[batch.first_rows], labels[batch.last_rows])
