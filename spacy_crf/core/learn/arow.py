"""Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009) for sequences, as in CRFsuite."""

import numpy as np

from ..arrays import Doubles, Floats
from ..weights import Layout
from .difference import Difference
from .mistakes import MistakeDriven
from .online import require_positive


class AROW(MistakeDriven):
    """Keeps a variance for each weight: those that were moved often are moved less. It does not average.

    variance (float): of each weight at the start.
    gamma (float): trade-off between correcting mistakes and staying where one is.
    batch_size (int): see `MistakeDriven`.
    """

    def __init__(
        self, variance: float = 1.0, gamma: float = 1.0, batch_size: int = 1, dtype: type[np.floating] = np.float32
    ):
        require_positive(variance=variance, gamma=gamma)
        super().__init__(False, batch_size, dtype)
        self.variance, self.gamma = variance, gamma

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._variances: Doubles = np.full(self.weights.n_slots, self.variance)

    def grow(self, layout: Layout) -> None:
        super().grow(layout)
        n_new = self.weights.n_slots - len(self._variances)
        if n_new:
            self._variances = np.append(self._variances, np.full(n_new, self.variance))

    def step(self, found: Difference) -> tuple[Floats, float]:
        """In proportion to the variances, which shrink; the loss is the score difference plus the wrong labels."""
        slots, squares = self.weights.slots[found.cells], found.amounts**2
        variances = self._variances[slots]
        loss = max(-float(found.amounts @ self.weights.values[found.cells]), 0.0) + found.n_wrong
        rate = loss / (self.gamma + float(squares @ variances))
        self._variances[slots] = 1 / (1 / variances + squares / self.gamma)
        return rate * variances * found.amounts, loss
