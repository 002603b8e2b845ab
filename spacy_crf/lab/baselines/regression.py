"""Multinomial logistic regression over sparse rows, with weights for some (feature, label) pairs only.

The negative log-likelihood of soft targets and its gradient, for L-BFGS.
"""

import numpy as np

from ...core.arrays import Doubles, Indices
from ...core.sparse import SparseRows

ROWS = 4096  # of a block: its scores stay in the cache


class SoftmaxObjective:
    """sum over rows of -sum_j target_j log p(j | row) + c2 |w|^2, and its gradient.

    rows (SparseRows): M rows over F features.
    targets (SparseRows): M rows over L labels; a row's weight is the sum of its targets.
    cells ((P,)): `feature * L + label` of each weight, ascending; all other scores are 0.
    c2 (float): L2 penalty.
    dtype (type): precision of scores; losses are summed in float64 in any case.
    """

    def __init__(
        self,
        rows: SparseRows,
        targets: SparseRows,
        cells: Indices,
        c2: float,
        dtype: type[np.floating] = np.float32,
    ):
        self.rows, self.targets, self.cells, self.c2 = rows, targets, cells, c2
        shape = (rows.n_columns, targets.n_columns)
        self._weights, self._gradient = np.zeros(shape, dtype), np.zeros(shape, dtype)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x ((P,)). O(nnz L)."""
        self._weights.reshape(-1)[self.cells] = x
        self._gradient[...] = 0
        value = self.c2 * float(x @ x)
        for low in range(0, self.rows.n_rows, ROWS):
            value += self._add(low, min(low + ROWS, self.rows.n_rows))
        return value, self._gradient.reshape(-1)[self.cells] + 2 * self.c2 * x

    def _add(self, low: int, high: int) -> float:
        """Loss of the rows low:high; adds to their gradient."""
        part = self.rows.slice(low, high)
        targets = np.zeros((high - low, self.targets.n_columns), self._weights.dtype)
        self.targets.slice(low, high).times(np.eye(targets.shape[1], dtype=targets.dtype), targets)
        scores = np.zeros_like(targets)
        part.times(self._weights, scores)
        scores -= scores.max(axis=1, keepdims=True)
        factors = np.exp(scores)
        norms = factors.sum(axis=1, keepdims=True)
        masses = targets.sum(axis=1, keepdims=True)
        factors *= masses / norms
        factors -= targets
        part.add_transposed(factors, self._gradient)
        loss = (masses * np.log(norms)).sum(dtype=np.float64) - (targets * scores).sum(dtype=np.float64)
        return float(loss)
