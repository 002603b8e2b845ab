"""Limited-memory BFGS as a stepper whose history lives on between calls, for smooth functions and with an L1 norm.

Nocedal & Wright, Numerical Optimization (2006), algorithms 7.4 and 7.5, with the stop rule of liblbfgs (relative
improvement over a period) that CRFsuite uses.
"""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Doubles, Floats
from ..errors import CoreErrors, CRFError
from ..threads import single_threaded_blas

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


PIECE = 4096  # of an inner product: few enough terms for single precision
Objective = Callable[[Doubles], tuple[float, Doubles]]


class DivergedError(ValueError):
    """Raised when the objective or its gradient is not finite."""


@dataclass
class LBFGS:
    """Minimises a smooth function.

    x ((n,)): the start; afterwards the point reached. A step may raise the value by its rounding error, no more.
    memory (int): number of past steps that shape the curvature.
    period (int), delta (float): stop when the value fell by less than `delta` times itself over `period` iterations;
        a period of 0 leaves this test out.
    epsilon (float): stop when |gradient| <= epsilon max(1, |x|).
    history (deque): past steps ((n,)), changes of the gradient ((n,)) and inner products of both, the latest last.
    scale (float): of the inverse Hessian before history shapes it. values (deque): at the starts of past iterations.
    """

    objective: Objective
    x: Doubles
    memory: int = 6
    period: int = 10
    delta: float = 1e-5
    epsilon: float = 1e-5
    value: float = field(init=False, default=np.inf)
    gradient: Doubles = field(init=False)
    iterations: int = field(init=False, default=0)
    evaluations: int = field(init=False, default=0)
    reason: str | None = field(init=False, default=None)
    history: deque[tuple[Floats, Floats, float]] = field(init=False, repr=False)
    scale: float = field(init=False, repr=False, default=1.0)
    values: deque[float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.history = deque(maxlen=self.memory)
        self.values = deque(maxlen=self.period)
        self.go_to(self.x)
        self._check_gradient()

    def go_to(self, x: Doubles) -> None:
        """Move to a point ((n,)), whatever the value there; the history stays."""
        with single_threaded_blas():
            self._move_to(self._evaluate(x))

    @property
    def slopes(self) -> Doubles:
        """((n,)): what must vanish at a minimum: the gradient."""
        return self.gradient

    @property
    def gradient_norm(self) -> float:
        return float(np.linalg.norm(self.slopes))

    def run(self, iterations: int) -> int:
        """Take up to so many iterations, and return how many were taken; `reason` tells why it stopped.

        RAISES (DivergedError): when the objective is not finite.
        """
        before = self.iterations
        with single_threaded_blas():  # BLAS threads go on spinning after each call and would slow down the objective's
            while self.reason is None and self.iterations < before + iterations:
                self._iterate()
        return self.iterations - before

    def _iterate(self) -> None:
        direction = self._direction()
        slope = float(direction @ self.slopes)
        if not slope < 0:  # rounding spoilt the history: begin anew with the gradient
            self.history.clear()
            direction = self._direction()
            slope = float(direction @ self.slopes)
        first = 1.0 if self.history else min(1.0, 1.0 / float(np.linalg.norm(direction)))
        try:
            there = self._search(direction, slope, first)
        except LineSearchError:
            if self.history:
                self.history.clear()  # the history may have misled it: once more with the gradient
            else:
                self.reason = "the line search found no lower point"
            return
        self._remember(there.x - self.x, there.gradient - self.gradient)
        self.values.append(self.value)
        self._move_to(there)
        self.iterations += 1
        self._check_progress()
        self._check_gradient()

    def _direction(self) -> Doubles:
        """Two-loop recursion: minus the approximate inverse Hessian times the gradient. O(memory n).

        In single precision, like the history: it is bound by memory, and whatever comes out is searched along exactly.
        """
        direction: Floats = -self.slopes.astype(np.float32)
        weights = []
        for step, change, curvature in reversed(self.history):
            weight = np.float32(_dot(step, direction) / curvature)
            direction -= weight * change
            weights.append(weight)
        if self.history:
            direction *= np.float32(self.scale)
        for (step, change, curvature), weight in zip(self.history, reversed(weights)):
            direction += (weight - np.float32(_dot(change, direction) / curvature)) * step
        return direction.astype(np.float64)

    def _remember(self, step: Doubles, change: Doubles) -> None:
        curvature, length = float(step @ change), float(change @ change)
        if curvature > 1e-12 * length > 0:
            self.scale = curvature / length
            self.history.append((step.astype(np.float32), change.astype(np.float32), curvature))

    def _move_to(self, point: Point) -> None:
        self.x, self.value, self.gradient = point.x, point.value, point.gradient

    def _search(self, direction: Doubles, slope: float, first: float) -> Point:
        """A lower point in a direction."""
        here = Point(0.0, self.value, slope, self.x, self.gradient)
        return wolfe(lambda step: self._along(direction, step), here, first)

    def _along(self, direction: Doubles, step: float) -> Point:
        point = self._evaluate(self.x + step * direction)
        return point._replace(step=step, slope=float(direction @ point.gradient))

    def _evaluate(self, x: Doubles) -> Point:
        value, gradient = self.objective(x)
        self.evaluations += 1
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise DivergedError(CoreErrors.CRF201.format(iteration=self.iterations, value=value))
        return Point(0.0, value, 0.0, x, gradient)

    def _check_progress(self) -> None:
        if self.period and len(self.values) == self.period:
            improvement = (self.values[0] - self.value) / max(abs(self.value), 1e-12)
            if improvement < self.delta:
                self.reason = f"improved by less than {self.delta:g} of its value over {self.period} iterations"

    def _check_gradient(self) -> None:
        if self.gradient_norm <= self.epsilon * max(1.0, float(np.linalg.norm(self.x))):
            self.reason = f"the gradient is shorter than {self.epsilon:g} of the weights"


@dataclass
class OWLQN(LBFGS):
    """Minimises objective(x) + sum of c1_i |x_i|: orthant-wise limited-memory quasi-Newton.

    Andrew & Gao, Scalable Training of L1-Regularized Log-Linear Models (ICML 2007). Within an orthant |x|_1 is linear,
    so each iteration stays in one: steps follow the curvature of the smooth part and end at 0 where they would change a
    sign. `value` includes the norm, `gradient` does not; `period`, `delta` and `epsilon` test the whole function and
    its one-sided slopes.

    objective (Callable): the smooth part. c1 ((n,)): what the absolute value of each variable costs.
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
    """Slopes of a function plus sum of c1_i |x_i| at x, where the smooth part has the given gradient.

    Where x_i is 0, the slope towards the side on which the sum falls, or 0 where it falls on neither.
    """
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - c1, 0.0)
    slopes: Doubles = np.where(x == 0, at_zero, gradient + np.sign(x) * c1)
    return slopes


def minimiser(objective: Objective, x: Doubles, c1: Doubles, **settings: Any) -> LBFGS:
    """What minimises objective(x) + sum of c1_i |x_i| from x on. settings: of `LBFGS`."""
    return OWLQN(objective, x, c1=c1, **settings) if c1.any() else LBFGS(objective, x, **settings)


def _dot(first: Floats, second: Floats) -> float:
    """Inner product of single-precision vectors: pieces in single, their sum in double precision."""
    whole = len(first) // PIECE * PIECE
    pieces = np.matmul(first[:whole].reshape(-1, 1, PIECE), second[:whole].reshape(-1, PIECE, 1))
    return float(pieces.sum(dtype=np.float64)) + float(first[whole:] @ second[whole:])
