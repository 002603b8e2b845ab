"""The passive-aggressive algorithms (Crammer et al. 2006) for sequences, with the costs of CRFsuite."""

import math
from typing import Literal

import numpy as np

from ..arrays import Floats
from .difference import Difference
from .mistakes import MistakeDriven
from .online import require_positive

Kind = Literal["PA", "PA-I", "PA-II"]


class PassiveAggressive(MistakeDriven):
    """Moves the weights as little as makes the gold path better than the predicted one, by a margin.

    kind (str): "PA" goes all the way, "PA-I" at most c, "PA-II" is held back by c smoothly.
    c (float): aggressiveness.
    error_sensitive (bool): the margin is the square root of the number of wrong labels, else 1.
    averaging (bool): predict with the mean of the weights.
    batch_size (int): see `MistakeDriven`.
    """

    def __init__(
        self,
        kind: Kind = "PA-I",
        c: float = 1.0,
        error_sensitive: bool = True,
        averaging: bool = True,
        batch_size: int = 1,
        dtype: type[np.floating] = np.float32,
    ):
        require_positive(c=c)
        super().__init__(averaging, batch_size, dtype)
        self.kind, self.c, self.error_sensitive = kind, c, error_sensitive

    def step(self, found: Difference) -> tuple[Floats, float]:
        """As far as the hinge loss asks for, in proportion to the squared norm of the difference."""
        norm = float(found.amounts @ found.amounts)
        if not norm:
            return found.amounts, 0.0  # no weight tells the paths apart
        behind = -float(found.amounts @ self.weights.values[found.cells])
        loss = max(behind, 0.0) + (math.sqrt(found.n_wrong) if self.error_sensitive else 1.0)
        return self._rate(loss, norm) * found.amounts, loss

    def _rate(self, loss: float, norm: float) -> float:
        if self.kind == "PA-II":
            return loss / (norm + 0.5 / self.c)
        return loss / norm if self.kind == "PA" else min(self.c, loss / norm)
