"""Line searches: strong Wolfe conditions for smooth functions, backtracking for paths with kinks.

Nocedal & Wright, Numerical Optimization (2006), algorithms 3.5 and 3.6 (bracket, then zoom with cubic interpolation)
and 3.1 (backtracking).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from ..arrays import Doubles

DECREASE, CURVATURE = 1e-4, 0.9
MAX_EVALUATIONS = 20
ROUNDING = 1e-7  # sums over single-precision scores are no more exact than this share of the value


class LineSearchError(ValueError):
    """Raised when no lower point was found."""


class Point(NamedTuple):
    """A point on the line, and its distance from the start in units of the direction."""

    step: float
    value: float
    slope: float
    x: Doubles
    gradient: Doubles


def wolfe(evaluate: Callable[[float], Point], start: Point, first: float) -> Point:
    """Find a point that lowers the value enough and flattens the slope enough, from a start with a negative slope.

    RETURNS (Point): the point found; after 20 evaluations, the best that lowers the value at least.
    RAISES (LineSearchError): where no point lowers it.
    """
    allowance = ROUNDING * abs(start.value)
    before, step = start, first
    for count in range(MAX_EVALUATIONS):
        here = evaluate(step)
        if _too_high(here, start, allowance) or (count and here.value >= before.value):
            return _zoom(evaluate, start, before, here, MAX_EVALUATIONS - count - 1, allowance)
        if abs(here.slope) <= -CURVATURE * start.slope:
            return here
        if here.slope >= 0:
            return _zoom(evaluate, start, here, before, MAX_EVALUATIONS - count - 1, allowance)
        before, step = here, 2.0 * step
    return _lower(before, start)


def backtrack(evaluate: Callable[[float], Point], start: Point, first: float) -> Point:
    """Halve the step until the value has fallen by a share of what the slopes at the start promise.

    Points may lie on a path that bends; the gradient at the start is one-sided where the function has a kink.

    RAISES (LineSearchError): where 20 evaluations found none.
    """
    allowance = ROUNDING * abs(start.value)
    step = first
    for _ in range(MAX_EVALUATIONS):
        here = evaluate(step)
        promise = float(start.gradient @ (here.x - start.x))
        if here.value <= start.value + DECREASE * promise + allowance:
            return here
        step *= 0.5
    raise LineSearchError


def _zoom(
    evaluate: Callable[[float], Point], start: Point, low: Point, high: Point, evaluations: int, allowance: float
) -> Point:
    """Shrink an interval that holds a good point; `low` is its end with the lower value."""
    for _ in range(evaluations):
        step = _between(low, high)
        if step in (low.step, high.step):  # the interval is as narrow as rounding lets it be
            break
        here = evaluate(step)
        if _too_high(here, start, allowance) or here.value >= low.value + allowance:
            high = here
        else:
            if abs(here.slope) <= -CURVATURE * start.slope:
                return here
            if here.slope * (high.step - low.step) >= 0:
                high = low
            low = here
    return _lower(low, start)


def _lower(point: Point, start: Point) -> Point:
    """A point that is good enough when evaluations run out: one that lowers the value at least."""
    if point.value < start.value:
        return point
    raise LineSearchError


def _too_high(point: Point, start: Point, allowance: float) -> bool:
    return point.value > start.value + DECREASE * point.step * start.slope + allowance


def _between(low: Point, high: Point) -> float:
    """Minimiser of the cubic through both ends, kept off the ends by a tenth of the interval."""
    width = high.step - low.step
    a = low.slope + high.slope - 3 * (low.value - high.value) / (low.step - high.step)
    inside = a * a - low.slope * high.slope
    share = 0.5
    if inside >= 0:
        b = math.copysign(math.sqrt(inside), width)
        bottom = high.slope - low.slope + 2 * b
        if bottom:
            share = 1.0 - (high.slope + b - a) / bottom
    return low.step + width * min(max(share, 0.1), 0.9)
