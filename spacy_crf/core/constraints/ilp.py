"""Integer linear programmes for decoding, solved through PuLP (3.x or 4) by whatever solver there is.

A labelling is a path: a binary variable for each arc, one unit of flow from the first unit to the last (Roth & Yih,
"Integer linear programming inference for conditional random fields", 2005). To it come the rows of the constraints. The
programmes are those of Cecchini & Fersini: problem (2) or (4), the greatest score, with the costs of what is violated
subtracted; and problem (3), the least cost among labellings whose score is near the best. Their bound tau Z(e*) is
tighter than the optimum where log scores are negative; here it is log p(e) >= log p(e*) + log tau.
"""

import ctypes
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ..arrays import Bools, Ints
from ..errors import CoreErrors, CRFError, require
from .labelling import Inequalities, Term
from .problem import Problem, Trellis

Objective: TypeAlias = Literal["score", "violations"]
PREFERRED = ("HiGHS", "PULP_CBC_CMD", "COIN_CMD", "HiGHS_CMD")
ALIASES = {"highs": ("HiGHS", "HiGHS_CMD"), "cbc": ("PULP_CBC_CMD", "COIN_CMD")}
MAX_ARCS = 200_000
ROUNDING = 1e-6  # of solvers


class Solved(NamedTuple):
    """What a solver found: the best labelling it knows, and whether it proved that there is none, or no better one."""

    path: Ints | None
    infeasible: bool
    optimal: bool


class Outcome(NamedTuple):
    """How a solver ended: whether it has a solution, and whether it proved that there is none, or no better one."""

    found: bool
    infeasible: bool
    optimal: bool


class Goal(NamedTuple):
    """What is to be made small: an expression of PuLP, and its value for a labelling."""

    expression: Any
    value: Callable[[Ints], float]


def has_solver() -> bool:
    """Whether PuLP and one of its solvers are installed."""
    try:
        return bool(available_solvers())
    except ValueError:
        return False


@cache
def available_solvers() -> tuple[str, ...]:
    """Names of PuLP's solvers that can be used here, the preferred ones first. RAISES (ValueError): without PuLP."""
    found = _pulp().listSolvers(onlyAvailable=True)
    return tuple(sorted(set(found), key=lambda name: (name not in PREFERRED, (*PREFERRED, name).index(name))))


def solve(
    problem: Problem,
    objective: Objective = "score",
    tau: float = 0.5,
    solver: str | None = None,
    time_limit: float | None = None,
    max_arcs: int = MAX_ARCS,
) -> Solved:
    """Decode one sequence, which is not empty, by integer programming.

    Constraints that have been softened are given up first of all as little as can be: see `Problem.softened`.

    objective (str): "score", the greatest score minus costs; or "violations", the least cost, and among equal costs the
        greatest score, where the score is at least the best one plus log tau and hard constraints hold.
    tau (float): above 0 and at most 1; for "violations".
    solver (str | None): PuLP's name of it, or "highs" or "cbc"; None takes the first there is.
    time_limit (float | None): seconds, for all programmes and the making of them; the best labelling by then is
        returned.
    RAISES (ValueError): without a solver, if it fails, and for sequences with too many arcs.
    """
    objectives = get_args(Objective)
    require(CoreErrors.CRF922, "objective", objective, objective in objectives, f"one of {', '.join(objectives)}")
    found = problem.trellis.n_edges
    if found > max_arcs:
        raise CRFError(CoreErrors.CRF926.format(units=problem.trellis.n_units, found=found, most=max_arcs))
    name, deadline = require_solver(solver), math.inf if time_limit is None else time.monotonic() + time_limit
    by_score = objective == "score"
    on_edges = by_score and not problem.priorities  # what is local is charged to edges
    rows = problem.left if on_edges else [*problem.local, *problem.left]
    try:
        model = _Model(problem, problem.charged if on_edges else problem.trellis, rows, name, deadline)
    except TimeoutError:
        return Solved(None, False, False)
    given_up = Goal(model.given_up, problem.given_up)
    if by_score:
        return model.solve([given_up], model.score - model.cost)
    model.add(model.score >= problem.trellis.bound + math.log(tau) - ROUNDING)
    return model.solve([given_up, Goal(model.cost, problem.penalty)], model.score)


def run_solver(name: str, time_limit: float | None, model: Any) -> Outcome:
    """Solve a model of PuLP to a relative gap of 0."""
    pulp, kind = _pulp(), name
    if name == "HiGHS":
        _begin_highs()
    settings: dict[str, Any] = {"msg": False, "timeLimit": time_limit, "gapRel": 0.0}
    if name == "PULP_CBC_CMD":  # the CBC that PuLP 3 brings, by a name that 3.3 does not warn of
        kind, settings["path"] = "COIN_CMD", pulp.PULP_CBC_CMD.pulp_cbc_path
    try:
        try:
            solver = pulp.getSolver(kind, **settings)
        except TypeError:  # a solver without a gap always goes on to one of 0
            del settings["gapRel"]
            solver = pulp.getSolver(kind, **settings)
        ended = model.solve(solver)
    except (pulp.PulpError, OSError, RuntimeError) as error:
        raise CRFError(CoreErrors.CRF925.format(name=name, error=error)) from error
    if hasattr(ended, "has_solution"):  # PuLP 4
        states = pulp.LpSolveStatus
        gone_on = ended.status == states.Optimal or (ended.status == states.GapLimit and "gapRel" in settings)
        return Outcome(ended.has_solution, ended.status == states.Infeasible, ended.has_solution and gone_on)
    status, optimal = model.sol_status, pulp.LpSolutionOptimal
    found = status in (optimal, pulp.LpSolutionIntegerFeasible)
    return Outcome(found, status == pulp.LpSolutionInfeasible, status == optimal)


@dataclass
class _Model:
    """Programmes over one sequence: variables of the arcs, flow, and rows of the constraints (by index) with slacks.

    solver (str): PuLP's name of it. deadline (float): by `time.monotonic`.
    score, cost, given_up: of the labelling, without the costs of softened constraints; and the priorities of these.
    RAISES (TimeoutError): if the deadline is over before all rows are there.
    """

    problem: Problem
    trellis: Trellis
    constraints: Sequence[int]
    solver: str
    deadline: float
    score: Any = field(init=False)
    cost: Any = field(init=False)
    given_up: Any = field(init=False)
    _indicators: dict[tuple[bytes, int], Any] = field(default_factory=dict)
    _sums: dict[tuple[bytes, int], Any] = field(default_factory=dict)
    _n_variables: int = 0

    def __post_init__(self) -> None:
        self.pulp = _pulp()
        self.model = self.pulp.LpProblem("labelling", self.pulp.LpMaximize)
        first = {(0, -1, tag): value for tag, value in enumerate(self.trellis.first.tolist()) if value > -math.inf}
        units, before, tags = np.nonzero(self.trellis.inner > -np.inf)
        places = zip((units + 1).tolist(), before.tolist(), tags.tolist())
        scores = {**first, **dict(zip(places, self.trellis.inner[units, before, tags].tolist()))}
        self.edges = {place: self.variable("Binary") for place in scores}
        self.score = self.pulp.lpSum(scores[place] * variable for place, variable in self.edges.items())
        self._flow()
        slacks = {index: self._keep(index) for index in self.constraints}
        priorities, costs = self.problem.priorities, [one.cost for one in self.problem.constraints]
        soft = [(costs[index], slack) for index, own in slacks.items() if index not in priorities for slack in own]
        self.cost = self.pulp.lpSum(cost * slack for cost, slack in soft)
        self.given_up = self.pulp.lpSum(priorities[index] * slack for index in priorities for slack in slacks[index])

    def variable(self, category: str, most: float | None = 1.0) -> Any:
        """A new variable from 0 up."""
        self._n_variables += 1
        name = f"v{self._n_variables}"
        make = self.model.add_variable if hasattr(self.model, "add_variable") else self.pulp.LpVariable  # PuLP 4, or 3
        return make(name, 0, most, category)

    def add(self, part: Any) -> None:
        """Add a row."""
        self.model += part

    def solve(self, goals: Sequence[Goal], last: Any) -> Solved:
        """Make goals, one after the other, as small as the ones before them allow, and then a last one great."""
        if not any(place[0] == 0 for place in self.edges):
            return Solved(None, True, False)  # the hard constraints leave no tag to begin with
        best, proved = None, True
        for goal in (goal for goal in goals if len(goal.expression)):
            path, infeasible, optimal = self._maximise(-goal.expression)
            if path is None:
                return Solved(best, infeasible and best is None, False)
            best, proved, least = path, proved and optimal, goal.value(path)
            self.add(goal.expression <= least + ROUNDING * max(1.0, least))
        path, infeasible, optimal = self._maximise(last)
        return Solved(best if path is None else path, infeasible and best is None, proved and optimal)

    def _maximise(self, goal: Any) -> Solved:
        """Solve the programme with what is to be maximised."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            return Solved(None, False, False)
        self.model.setObjective(goal)
        ended = run_solver(self.solver, None if math.isinf(left) else left, self.model)
        if not ended.found:
            return Solved(None, ended.infeasible, False)
        path = np.full(self.trellis.n_units, -1, dtype=np.int32)
        for (unit, _, tag), variable in self.edges.items():
            if (variable.varValue or 0.0) > 0.5:
                path[unit] = tag
        if np.any(path < 0):
            return Solved(None, False, False)  # stopped before there was a whole labelling
        return Solved(path, False, ended.optimal)

    def _flow(self) -> None:
        """One arc into the first unit; into each tag at each unit as many as out of it."""
        arriving, leaving = (defaultdict[tuple[int, int], list[Any]](list) for _ in range(2))
        for (unit, before, tag), variable in self.edges.items():
            arriving[unit, tag].append(variable)
            if unit:
                leaving[unit - 1, before].append(variable)
        lp_sum, last = self.pulp.lpSum, self.trellis.n_units - 1
        self.add(lp_sum(var for (unit, _), own in arriving.items() if unit == 0 for var in own) == 1)
        for place in dict.fromkeys([*arriving, *leaving]):
            if place[0] < last:
                self.add(lp_sum(arriving[place]) == lp_sum(leaving[place]))

    def _keep(self, index: int) -> list[Any]:
        """Add the rows of a constraint; its slacks."""
        constraint = self.problem.constraints[index]
        once = constraint.count == "once"
        kind = partial(self.variable, "Binary") if once else partial(self.variable, "Continuous", None)
        slacks = defaultdict[int, Any](kind)  # by group; one for all if the cost is paid once
        for block in self.problem.rows(index):
            for row, group in enumerate(block.groups.tolist()):
                value = self._row(block, row)
                most = 0 if constraint.hard else (block.largest if once else 1) * slacks[0 if once else group]
                self.add(value <= most)
        return list(slacks.values())

    def _row(self, block: Inequalities, row: int) -> Any:
        if time.monotonic() > self.deadline:
            raise TimeoutError
        parts = [term.sign * self._term(term, int(term.lows[row]), int(term.highs[row])) for term in block.terms]
        return self.pulp.lpSum(parts) + block.constant

    def _term(self, term: Term, low: int, high: int) -> Any:
        if term.reaches == 1 and low == 0:
            return self._any(term.mask, high)
        if term.reaches:
            reached = self.variable("Binary")
            count = self._sum(term.mask, high) - self._sum(term.mask, low)
            self.add(count - (term.reaches - 1) <= max(1, high - low) * reached)
            return reached
        if high - low == 1:
            return self._indicator(term.mask, low)
        return self._sum(term.mask, high) - self._sum(term.mask, low)

    def _indicator(self, mask: Bools, unit: int) -> Any:
        """Whether the path takes an edge of a mask at a unit."""
        before, tags = np.nonzero(mask[-1:] if unit == 0 else mask[:-1])
        places = ((unit, -1 if unit == 0 else one, tag) for one, tag in zip(before.tolist(), tags.tolist()))
        return self.pulp.lpSum(self.edges[place] for place in places if place in self.edges)

    def _sum(self, mask: Bools, end: int) -> Any:
        """How many edges of a mask the path takes before a unit."""
        key, sums = mask.tobytes(), self._sums
        for unit in range(end):
            if (key, unit + 1) not in sums:
                sums[key, unit + 1] = self.variable("Continuous", None)
                self.add(sums[key, unit + 1] == sums.get((key, unit), 0) + self._indicator(mask, unit))
        return sums.get((key, end), 0)

    def _any(self, mask: Bools, end: int) -> Any:
        """Whether the path takes an edge of a mask before a unit: at least that, which is all that rows need."""
        key, known = mask.tobytes(), self._indicators
        for unit in range(end):
            if (key, unit + 1) not in known:
                found = known[key, unit + 1] = self.variable("Continuous")
                self.add(found >= self._indicator(mask, unit))
                if unit:
                    self.add(found >= known[key, unit])
        return known.get((key, end), 0)


def require_solver(name: str | None) -> str:
    """PuLP's name of the solver to be used. RAISES (ValueError): if there is none, with what to install, or not it."""
    known = available_solvers()
    if not known:
        raise CRFError(CoreErrors.CRF923.format(problem="PuLP finds none"))
    wanted = known if name is None else ALIASES.get(name.lower(), (name,))
    if found := next((candidate for candidate in wanted if candidate in known), None):
        return found
    raise CRFError(CoreErrors.CRF924.format(name=name, known=", ".join(known)))


def check_solver(name: str | None) -> None:
    """RAISES (ValueError): for a name that PuLP does not know, which is asked where it is installed with a solver; the
    one that is named may be missing."""
    if name is not None and name.lower() not in ALIASES and has_solver() and name not in _pulp().listSolvers():
        raise CRFError(CoreErrors.CRF924.format(name=name, known=", ".join(available_solvers())))


@cache
def _begin_highs() -> None:
    """Let HiGHS greet on standard error: since 1.16 the first one of a process does so, whatever it is told, and
    standard output may be the result of a command."""
    with suppress(ImportError, OSError, TypeError):  # Windows has no C library of this kind
        highspy: Any = import_module("highspy")
        flush: Callable[[None], int] = ctypes.CDLL(None).fflush
        flush(None)
        output = os.dup(1)
        try:
            os.dup2(2, 1)
            highspy.Highs()
            flush(None)
        finally:
            os.dup2(output, 1)
            os.close(output)


def _pulp() -> Any:
    try:
        import pulp
    except ImportError:
        raise CRFError(CoreErrors.CRF923.format(problem="PuLP is not installed (`pip install pulp`)")) from None
    return pulp
