"""L-BFGS for a smooth function plus a weighted L1 norm: orthant-wise limited-memory quasi-Newton (OWL-QN).

Andrew & Gao, Scalable Training of L1-Regularized Log-Linear Models (ICML 2007). Within an orthant |x|_1 is linear, so
each iteration stays in one: steps follow the curvature of the smooth part and end at 0 where they would change a sign.
"""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles
from ..errors import CoreErrors, CRFError
from .lbfgs import LBFGS
from .line_search import Point, backtrack


@dataclass
class OWLQN(LBFGS):
    """Minimises objective(x) + sum of c1_i |x_i|. Its `value` includes the norm, its `gradient` does not.

    objective (Callable): the smooth part: maps x (n,) to (value, gradient (n,)).
    c1 ((n,)): what the absolute value of each variable costs.
    See `LBFGS` for the rest; `period`, `delta` and `epsilon` test the whole function and its one-sided slopes.
    RAISES (ValueError): where a cost is negative.
    """

    c1: Doubles = field(kw_only=True)
    _slopes: Doubles = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not (self.c1 >= 0).all():
            raise CRFError(CoreErrors.CRF204.format(name="c1", value=float(self.c1.min()), expected="at least 0"))
        super().__post_init__()

    @property
    def slopes(self) -> Doubles:
        """((n,)): pseudo-gradient: the one-sided slope where x_i can fall, 0 where it can do no better."""
        return self._slopes

    def _move_to(self, point: Point) -> None:
        super()._move_to(point)
        self._slopes = pseudo_gradient(point.x, point.gradient, self.c1)

    def _direction(self) -> Doubles:
        """The quasi-Newton direction, less what would leave the orthant that the slopes point into."""
        direction = super()._direction()
        direction[direction * self._slopes >= 0] = 0.0
        return direction

    def _search(self, direction: Doubles, slope: float, first: float) -> Point:
        orthant = np.where(self.x != 0, self.x, -self._slopes)
        here = Point(0.0, self.value, slope, self.x, self._slopes)
        return backtrack(lambda step: self._within(orthant, self.x + step * direction), here, first)

    def _within(self, orthant: Doubles, x: Doubles) -> Point:
        """The point at the projection of x on an orthant."""
        x[x * orthant <= 0] = 0.0
        return self._evaluate(x)

    def _evaluate(self, x: Doubles) -> Point:
        point = super()._evaluate(x)
        return point._replace(value=point.value + float(self.c1 @ np.abs(x)))


def pseudo_gradient(x: Doubles, gradient: Doubles, c1: Doubles) -> Doubles:
    """Slopes of a function plus sum of c1_i |x_i|.

    x ((n,)), gradient ((n,)): a point and the gradient of the smooth part there. c1 ((n,)): costs.
    RETURNS ((n,)): where x_i is 0, the slope towards the side on which the sum falls, or 0 where it falls on neither.
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - c1, 0.0)
    slopes: Doubles = np.where(x == 0, at_zero, gradient + np.sign(x) * c1)
    return slopes
