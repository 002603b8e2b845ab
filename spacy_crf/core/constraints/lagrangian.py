"""Lagrangian relaxation by projected subgradient, with a certificate: dual bound minus score of a labelling.

The rows of the constraints are taken into the objective with multipliers: what remains is Viterbi over changed edges
(Cecchini & Fersini, section 3.1.1, in the form that holds for H e <= 0). A row enters when a relaxed labelling violates
it for the first time; until then its multiplier is 0. Each relaxed labelling is also tried as an answer. The bound is
valid at every iteration, dual >= optimum >= primal; a gap may remain, as rows are not always tight enough.
"""

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ..arrays import Bools, Doubles, Ints
from ..errors import CoreErrors, require
from .labelling import Inequalities, tags_before
from .problem import Problem, Trellis, best_paths

StepRule: TypeAlias = Literal["polyak", "harmonic"]
RULES: tuple[str, ...] = get_args(StepRule)
PATIENCE = 4  # iterations without a better bound after which Polyak's steps are halved
TOLERANCE = 1e-6  # of a certificate, relative to scores above 1
STALLED = 1e-12  # multipliers that move by less have arrived


@dataclass
class Steps:
    """The length of the steps.

    rule (str): "harmonic" is the paper's 1 / (k + 1) along the normed subgradient. "polyak" (Polyak 1969) goes as far
        as would reach the value of the best labelling so far if the dual function were linear; without a labelling
        that is allowed, a level below the best bound that comes nearer as steps fail.
    """

    rule: StepRule = "polyak"
    _taken: int = 0
    _share: float = 1.0
    _below: float = 1.0
    _idle: int = 0

    def __post_init__(self) -> None:
        require(CoreErrors.CRF922, "step_rule", self.rule, self.rule in RULES, f"one of {', '.join(RULES)}")

    def move(self, values: Doubles, bound: float, best_bound: float, objective: float) -> Doubles:
        """((J,)): what to add to the multipliers, with the values ((J,)) of the rows on the relaxed labelling.

        bound: dual value there; best_bound: the least so far, this one included. objective: the best so far, or -inf.
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
    n_kept = max(1, int(np.count_nonzero(ordered > shifts)))  # also where a cap is lost in rounding
    return np.asarray(np.maximum(positive - shifts[n_kept - 1], 0.0))


class Piece(NamedTuple):
    """A multiple of the number of edges within a mask (L + 1, L) at units low..high-1."""

    factor: float
    mask: Bools
    low: int
    high: int

    def value(self, before: Ints, path: Ints) -> float:
        return self.factor * int(self.mask[before[self.low : self.high], path[self.low : self.high]].sum())


class Cut(NamedTuple):
    """A linear row: at most the violation of its slack for every labelling; rows of one slack share its cost, a cap."""

    pieces: tuple[Piece, ...]
    constant: float
    slack: tuple[int, ...]
    cap: float


def proceed(runs: Sequence["Relaxation"], max_iterations: int, deadline: float = math.inf) -> None:
    """Go on with some relaxations side by side, by at most some iterations. O(iterations N L^2).

    deadline (float): by `time.monotonic`, when no further iteration begins.

    RAISES (NoPathError): where the chain and the hard constraints on single edges leave no labelling.
    """
    live = [run for run in runs if not run.done]
    for _ in range(max_iterations):
        if not live or time.monotonic() > deadline:
            break
        paths, values = best_paths([run.lagrangian(run.multipliers) for run in live])
        for run, path, value in zip(live, paths, values.tolist()):
            run.observe(path, value)
        live = [run for run in live if not run.done]


def is_certified(objective: float, bound: float, score: float) -> bool:
    """Whether a bound proves a labelling of some score to be the best: the gap is at most 1e-6 max(1, |score|)."""
    return objective > -math.inf and bound - objective <= TOLERANCE * max(1.0, abs(score))


@dataclass
class Relaxation:
    """The method for one sequence, and its outcome: the best labelling met that breaks no hard constraint.

    score, objective: of this labelling, without and with costs; or -inf.
    bound: no labelling has a greater objective; -inf if it is proved that there is none.
    history: dual value and best objective at each Viterbi pass, up to the certificate if there is one.
    tightest: the multipliers of the least bound.
    """

    problem: Problem
    steps: Steps
    path: Ints | None = None
    score: float = -math.inf
    objective: float = -math.inf
    bound: float = math.inf
    history: list[tuple[float, float]] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    multipliers: Doubles = field(default_factory=lambda: np.zeros(0))
    tightest: Doubles = field(default_factory=lambda: np.zeros(0))
    done: bool = False
    _known: set[tuple[object, ...]] = field(default_factory=set)

    @property
    def certified(self) -> bool:
        return is_certified(self.objective, self.bound, self.score)

    @property
    def grounds(self) -> frozenset[int]:
        """Constraints that the bound rests on, without those that are charged to edges."""
        return frozenset(cut.slack[0] for cut in self.cuts)

    def within(self, objective: float) -> Problem:
        """The problem without the edges that no labelling takes whose objective reaches some value.

        The objective of a labelling is at most its score in the Lagrangian, less a constant. O(T L^2).
        """
        if objective == -math.inf:
            return self.problem
        scores, margin = self.lagrangian(self.tightest), TOLERANCE * max(1.0, abs(objective))
        return self.problem.restrict(objective + self._constant(self.tightest) - margin, scores)

    def _constant(self, multipliers: Doubles) -> float:
        return math.fsum(cut.constant * multiplier for cut, multiplier in zip(self.cuts, multipliers.tolist()))

    def lagrangian(self, multipliers: Doubles) -> Trellis:
        """The trellis with the rows charged at some multipliers."""
        if not multipliers.any():
            return self.problem.charged
        trellis = self.problem.charged.copy()
        for cut, multiplier in zip(self.cuts, multipliers.tolist()):
            if multiplier:
                for piece in cut.pieces:
                    trellis.subtract(multiplier * piece.factor, piece.mask, piece.low, piece.high)
        return trellis

    def observe(self, path: Ints, value: float) -> None:
        """Take in the best labelling of the Lagrangian and its value, and move the multipliers."""
        dual = value - self._constant(self.multipliers)
        if dual < self.bound:
            self.bound, self.tightest = dual, self.multipliers
        found = self.problem.value(path)
        if found.objective > self.objective:
            self.path, self.score, self.objective = path, found.score, found.objective
        self.history.append((dual, self.objective))
        n_known = len(self.cuts)
        self._separate(path, found.violated)
        floor = self.problem.floor
        if self.bound < floor - TOLERANCE * max(1.0, abs(floor)):
            self.bound = -math.inf  # unbounded from below: the hard constraints cannot hold together
        settled = self.bound == -math.inf or self.certified
        self.done = settled or not (self._move(path, dual) or len(self.cuts) > n_known)

    def _move(self, path: Ints, dual: float) -> bool:
        """Change the multipliers; False if they stay where they are."""
        before = tags_before(path)
        values = np.array([cut.constant + sum(p.value(before, path) for p in cut.pieces) for cut in self.cuts])
        values[(values < 0) & (self.multipliers == 0)] = 0.0  # they would only lengthen the subgradient
        moved = self._projected(self.multipliers + self.steps.move(values, dual, self.bound, self.objective))
        change = float(np.abs(moved - self.multipliers).max(initial=0.0))
        self.multipliers = moved
        return change > STALLED

    def _projected(self, multipliers: Doubles) -> Doubles:
        slacks = defaultdict[tuple[int, ...], list[int]](list)
        for number, cut in enumerate(self.cuts):
            slacks[cut.slack].append(number)
        for own in slacks.values():
            multipliers[own] = project(multipliers[own], self.cuts[own[0]].cap)
        return multipliers

    def _separate(self, path: Ints, violated: dict[int, int]) -> None:
        """Add the rows that a labelling violates and that are not there yet.

        Their multipliers begin at the cost of the violation, if it is soft: often nothing avoids it at that price, and
        the bound is tight at once.
        """
        left = set(self.problem.left)
        for index in (one for one in violated if one in left):
            for key, cut in _violated_cuts(self.problem, index, path):
                if key not in self._known and cut.cap > 0:
                    self._known.add(key)
                    self.cuts.append(cut)
        new = [cut.cap if math.isfinite(cut.cap) else 0.0 for cut in self.cuts[len(self.multipliers) :]]
        self.multipliers = self._projected(np.append(self.multipliers, new))


def _violated_cuts(problem: Problem, index: int, path: Ints) -> Iterator[tuple[tuple[object, ...], Cut]]:
    """The rows of a constraint that a labelling violates, each with a key that tells it from others."""
    constraint = problem.constraints[index]
    once = constraint.count == "once" and not constraint.hard
    for number, block in enumerate(problem.rows(index)):
        for row in np.flatnonzero(block.values(path) > 0).tolist():
            slack = (index,) if once else (index, int(block.groups[row]))
            scale = 1.0 / block.largest if once else 1.0
            pieces, offset = _pieces(block, row, path, scale)
            key = (index, number, row, tuple(piece[2:] for piece in pieces))
            yield key, Cut(pieces, scale * (block.constant - offset), slack, constraint.cost)


def _pieces(block: Inequalities, row: int, path: Ints, scale: float) -> tuple[tuple[Piece, ...], int]:
    """The terms of a row as pieces, and what these count too much.

    A term that says whether a sum reaches a number is replaced by what is at most as great: the sum over the first
    units where the labelling takes the edges, as many as are needed, minus one less; nothing where it does not.
    """
    pieces, offset = list[Piece](), 0
    for term in block.terms:
        low, high = int(term.lows[row]), int(term.highs[row])
        if not term.reaches:
            pieces.append(Piece(scale * term.sign, term.mask, low, high))
            continue
        units = low + np.flatnonzero(term.mask[tags_before(path)[low:high], path[low:high]])
        if len(units) >= term.reaches:
            pieces += [Piece(scale, term.mask, unit, unit + 1) for unit in units[: term.reaches].tolist()]
            offset += term.reaches - 1
    return tuple(pieces), offset
