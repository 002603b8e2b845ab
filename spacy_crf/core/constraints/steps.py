"""Step rules of the projected subgradient method, and the projection.

The dual function L(lambda) is to be made small. Multipliers grow where a row is violated: lambda <- P(lambda + theta
H e) with H e the values of the rows on the relaxed labelling. (Cecchini & Fersini, 3.1.1, print the step with the
opposite sign.) P keeps lambda >= 0 and, where a violation costs c, the sum of the multipliers that share it at most c.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from ..arrays import Doubles

Rule: TypeAlias = Literal["polyak", "harmonic"]
RULES: tuple[str, ...] = get_args(Rule)
PATIENCE = 4  # iterations without a better bound after which Polyak's steps are halved


@dataclass
class Steps:
    """The length of the steps.

    rule (str): "harmonic" is the paper's 1 / (k + 1) along the normed subgradient. "polyak" (Polyak 1969) goes as far
        as would reach the value of the best labelling so far if the dual function were linear; without a labelling
        that is allowed, a level below the best bound that comes nearer as steps fail.
    """

    rule: Rule = "polyak"
    _taken: int = 0
    _share: float = 1.0
    _below: float = 1.0
    _idle: int = 0

    def move(self, values: Doubles, bound: float, best_bound: float, objective: float) -> Doubles:
        """((J,)): what to add to the multipliers.

        values ((J,)): of the rows on the relaxed labelling. bound (float): dual value there; best_bound (float): the
            least so far, this one included. objective (float): of the best labelling so far, or -inf.
        """
        self._taken += 1
        norm = float(values @ values)
        if norm == 0:
            return np.zeros_like(values)
        if self.rule == "harmonic":
            return values / (math.sqrt(norm) * self._taken)
        self._adapt(bound <= best_bound)
        target = objective if objective > -math.inf else best_bound - self._below
        return values * (self._share * max(bound - target, 0.0) / norm)

    def _adapt(self, better: bool) -> None:
        self._idle = 0 if better else self._idle + 1
        self._below *= 2.0 if better else 0.7
        if self._idle >= PATIENCE:
            self._share, self._idle = self._share / 2, 0


def project(multipliers: Doubles, cap: float) -> Doubles:
    """The nearest multipliers that are not negative and sum to at most a cap. O(J log J).

    Duchi, Shalev-Shwartz, Singer & Chandra, "Efficient projections onto the l1-ball" (2008).
    """
    positive = np.maximum(multipliers, 0.0)
    if positive.sum() <= cap:
        return positive
    ordered = np.sort(positive)[::-1]
    shifts = (np.cumsum(ordered) - cap) / np.arange(1, len(ordered) + 1)
    n_kept = max(
        1, int(np.count_nonzero(ordered > shifts))
    )  # at least the greatest, also where a cap is lost in rounding
    return np.asarray(np.maximum(positive - shifts[n_kept - 1], 0.0))
