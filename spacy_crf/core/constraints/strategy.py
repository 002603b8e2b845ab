"""Decoding under constraints in one call: ever stronger methods in turn, and an answer that says which one gave it.

Lagrangian relaxation often proves its own labelling. Otherwise its bound tells which edges no better labelling takes;
over what is left, dynamic programming over the automata of the constraints is exact where these are small enough, and
an integer programme is the last resort. Hard constraints that cannot hold together are relaxed, those with the least
sum of priorities.
"""

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..arrays import Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..errors import CoreWarnings
from ..labels import TagSet
from . import ilp
from .automaton import Products, best_labelling
from .decision import Decision, MethodSettings
from .family import Constraint
from .labelling import Fields, Labelling, UnitPredicates
from .lagrangian import Relaxation, Steps, is_certified, proceed
from .problem import Problem, Trellis, violations

QUICK_ITERATIONS = 10  # of Lagrangian relaxation before automata are tried, in "auto"
QUICK_STATES = 20_000  # of automata, before the relaxation goes on; or, if that is more,
QUICK_WIDTH = 100  # for each unit
CELLS = 1 << 22  # edges that are relaxed side by side


@dataclass
class Case:
    """A sequence to be decided about, and the best that is known: a labelling (None without one), and a bound.

    viterbi_path ((T,)): its best labelling without constraints. known (list of (T,)): labellings that were met.
    seconds (float): left for all but the first methods. limits (set of str): settings that have ended a method.
    grounds (frozenset of int): constraints that the bound rests on, without those that are charged to edges.
    run (Relaxation | None): Lagrangian relaxation, as far as it has come.
    """

    number: int
    problem: Problem
    viterbi_path: Ints
    seconds: float
    path: Ints | None = None
    score: float = -math.inf
    objective: float = -math.inf
    bound: float = math.inf
    method: str = "viterbi"
    known: list[Ints] = field(default_factory=list)
    limits: set[str] = field(default_factory=set)
    grounds: frozenset[int] = frozenset()
    run: Relaxation | None = None

    def __post_init__(self) -> None:
        self.known.append(self.viterbi_path)
        allowed = self.problem.value(self.viterbi_path).objective > -math.inf
        self.improve(self.viterbi_path if allowed else None, self.problem.charged.bound, "viterbi")

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be done: the labelling is proved best, or it is proved that there is none."""
        return self.bound == -math.inf or is_certified(self.objective, self.bound, self.score)

    @property
    def narrowed(self) -> Problem:
        """The problem without edges that no better labelling takes."""
        return self.problem if self.run is None else self.run.within(self.objective)

    def improve(self, path: Ints | None, bound: float, method: str, grounds: frozenset[int] = frozenset()) -> None:
        """Take over what a method found, as far as it is better."""
        if bound < self.bound:
            self.bound, self.grounds = bound, grounds
        if path is not None:
            score, objective, _ = self.problem.value(path)
            if self.path is None or objective > self.objective:
                self.path, self.score, self.objective, self.method = path, score, objective, method
                self.known.append(path)
        if self.settled:
            self.method = method

    def narrow(self, path: Ints | None, bound: float, method: str, grounds: frozenset[int]) -> None:
        """Take over what a method found for the narrowed problem."""
        rests_on = grounds if self.run is None else grounds | self.run.grounds
        self.improve(path, max(bound, self.objective), method, rests_on)

    def take_relaxed(self) -> None:
        """Take over what the relaxation has found so far."""
        if self.run is not None:
            self.improve(self.run.path, self.run.bound, "lagrangian", self.run.grounds)
            self.meet("max_iterations", not self.run.done and self.seconds > 0)

    def spend(self, began: float) -> None:
        """Count the time since a moment, by `time.monotonic`."""
        self.seconds -= time.monotonic() - began
        self.meet("budget", self.seconds <= 0)

    def meet(self, limit: str, met: bool) -> None:
        """Note whether a setting has ended a method."""
        (self.limits.add if met else self.limits.discard)(limit)

    def decision(
        self, path: Ints, objective: float, bound: float, certified: bool, relaxed: tuple[int, ...] = ()
    ) -> Decision:
        """The decision for a labelling."""
        before, now = self.problem.value(self.viterbi_path), self.problem.value(path)
        violated = {index: times for index, times in now.violated.items() if index not in relaxed}
        grounds = tuple(sorted({*self.problem.local, *self.grounds}))
        limits = () if certified else tuple(sorted(self.limits))
        iterations = 0 if self.run is None else len(self.run.history)
        told = self.method, iterations, violated, relaxed, grounds, before.violated, limits
        return Decision(path, now.score, objective, max(bound, objective), certified, before.score, *told)


class Strategy:
    """The methods in turn, for sequences that Viterbi does not settle; names of all sequences are for warnings."""

    def __init__(self, settings: MethodSettings, names: Sequence[str] | None):
        self.settings, self.names = settings, names
        self._products: Products = {}

    def decide(self, cases: list[Case]) -> list[Decision]:
        """Decide about some sequences."""
        by_score = self.settings.objective == "score"
        if by_score:
            self._improve(cases)
        decisions = []
        for case in cases:
            decisions.append(decision := self._by_score(case) if by_score else self._by_cost(case))
            if not decision.certified and self.settings.method != "viterbi":
                self._warn(CoreWarnings.CRFW902, case, gap=decision.gap, advice=self._advice(decision.limits))
        return decisions

    # -- the greatest score minus costs --------------------------------------------------------------------------

    def _by_score(self, case: Case) -> Decision:
        """The decision; without a labelling that keeps the hard constraints, some of them are relaxed."""
        if self.settings.method == "viterbi":
            proved = case.path is not None and case.settled
            return case.decision(case.viterbi_path, case.objective, case.bound, proved)
        if case.path is not None:
            return case.decision(case.path, case.objective, case.bound, case.settled)
        problem = case.problem.softened()
        again = Case(case.number, problem, case.viterbi_path, case.seconds)
        self._improve([again])
        assert again.path is not None  # nothing is hard any more
        relaxed = tuple(index for index in problem.value(again.path).violated if index in problem.priorities)
        if relaxed:
            message = CoreWarnings.CRFW901 if case.bound == -math.inf else CoreWarnings.CRFW904
            self._warn_of_relaxed(message, case, relaxed)
        objective = again.score - problem.penalty(again.path)
        gap = again.bound - again.objective  # in which priorities outweigh scores
        found = again.decision(again.path, objective, objective + gap, again.settled, relaxed)
        return replace(found, viterbi_violated=case.problem.value(case.viterbi_path).violated)

    def _improve(self, cases: list[Case]) -> None:
        """Try each method on what the ones before it have not settled."""
        own = self.settings
        if own.method == "auto":
            self._lagrangian(_open(cases), min(QUICK_ITERATIONS, own.iterations))
            for case in _open(cases):
                quick = max(QUICK_STATES, QUICK_WIDTH * case.problem.trellis.n_units)
                self._automaton([case], min(quick, own.max_states))
                if not case.settled:
                    self._go_on(case)
        elif own.method == "lagrangian":
            self._lagrangian(_open(cases), own.iterations)
        if own.method in ("auto", "automaton"):
            self._automaton(_open(cases), own.max_states)
        if own.method in ("auto", "ilp"):
            self._ilp(_open(cases))

    def _lagrangian(self, cases: list[Case], iterations: int) -> None:
        for case in cases:
            case.run = Relaxation(case.problem, Steps(self.settings.step_rule))
        proceed([case.run for case in cases if case.run is not None], iterations)
        for case in cases:
            case.take_relaxed()

    def _go_on(self, case: Case) -> None:
        if case.run is not None:
            began, left = time.monotonic(), self.settings.iterations - len(case.run.history)
            proceed([case.run], left, began + case.seconds)
            case.spend(began)
            case.take_relaxed()

    def _automaton(self, cases: list[Case], max_states: int) -> None:
        for case in cases:
            deadline = (began := time.monotonic()) + case.seconds
            found = best_labelling(case.narrowed, case.known, max_states, self._products, deadline)
            case.spend(began)
            case.narrow(found.path, found.bound, "automaton", found.grounds)
            case.meet("max_states", not found.finished and case.seconds > 0)

    def _ilp(self, cases: list[Case]) -> None:
        if not ilp.has_solver():
            return  # for the method "ilp" this was found out before
        for case in cases:
            problem = case.narrowed
            too_long = problem.trellis.n_edges > self.settings.max_arcs
            if case.seconds <= 0 or (too_long and self.settings.method == "auto"):
                continue
            try:
                found = self._programme(case, problem)
            except ValueError as error:
                self._warn(CoreWarnings.CRFW903, case, instead="other methods were used", error=error)
                if self.settings.method == "ilp":  # no other was tried yet
                    self._lagrangian([case], self.settings.iterations)
                    self._automaton(_open([case]), self.settings.max_states)
                continue
            everything = frozenset(range(len(problem.constraints)))
            if found.infeasible:
                case.improve(None, -math.inf, "ilp", everything)
            elif found.path is not None:
                bound = problem.value(found.path).objective if found.optimal else math.inf
                case.narrow(found.path, bound, "ilp", everything)

    def _programme(self, case: Case, problem: Problem) -> ilp.Solved:
        """Solve integer programmes about a sequence within its time."""
        own, began = self.settings, time.monotonic()
        most = math.inf if own.time_limit is None else own.time_limit
        limit = min(most, case.seconds)
        seconds = None if math.isinf(limit) else max(limit, 0.0)
        found = ilp.solve(problem, own.objective, own.tau, own.solver, seconds, own.max_arcs)
        if found.path is not None and problem.value(found.path).objective == -math.inf:
            found = ilp.Solved(None, False, False)  # a solver that rounds a hard constraint away
        case.spend(began)
        stopped = not (found.optimal or found.infeasible)
        case.meet("time_limit", stopped and most <= limit < math.inf)
        return found

    # -- the least cost of violations within tau of the best score -----------------------------------------------

    def _by_cost(self, case: Case) -> Decision:
        """The decision; if no labelling within tau keeps the hard constraints, some of them are relaxed."""
        problem, found, again = case.problem, self._attempt(case, case.problem), None
        keeps_hard = problem.value(case.viterbi_path).objective > -math.inf
        if not keeps_hard and (found is None or found.path is None):
            problem = problem.softened()
            again = found and self._attempt(case, problem)
        answers = [one.path for one in (found, again) if one is not None and one.path is not None]
        case.method = "ilp" if answers else "viterbi"
        path = answers[0] if answers else case.viterbi_path
        infeasible = found is not None and found.infeasible
        proved = any(one is not None and one.optimal for one in ((again,) if infeasible else (found,)))
        relaxed = tuple(index for index in problem.value(path).violated if index in problem.priorities)
        if relaxed:
            self._warn_of_relaxed(CoreWarnings.CRFW904 if not infeasible else self._why(case), case, relaxed)
        case.grounds, objective = frozenset(range(len(problem.constraints))), 0.0 - problem.penalty(path)
        return case.decision(path, objective, objective if proved else 0.0, proved, relaxed)

    def _attempt(self, case: Case, problem: Problem) -> ilp.Solved | None:
        """Solve integer programmes about a sequence; None, with a warning, if the solver fails."""
        try:
            return self._programme(case, problem)
        except ValueError as error:
            self._warn(CoreWarnings.CRFW903, case, instead="the best labelling without constraints stands", error=error)
            return None

    def _why(self, case: Case) -> str:
        """The warning that says whether tau is to blame if no labelling within it keeps the hard constraints."""
        anywhere = Case(case.number, case.problem, case.viterbi_path, case.seconds)
        Strategy(replace(self.settings, method="auto", objective="score"), self.names)._improve([anywhere])
        return CoreWarnings.CRFW901 if anywhere.bound == -math.inf else CoreWarnings.CRFW905

    # -- warnings ------------------------------------------------------------------------------------------------

    def _advice(self, limits: Sequence[str]) -> str:
        """What may bring a proof."""
        raised = f"Raise {' or '.join(limits)}" if limits else "Take another decoder or solver"
        lacks = self.settings.method == "auto" and not ilp.has_solver()
        return f"{raised}, or install a solver: `pip install highspy`" if lacks else raised

    def _warn_of_relaxed(self, message: str, case: Case, relaxed: Sequence[int]) -> None:
        texts = ", ".join(str(case.problem.constraints[index]) for index in relaxed)
        self._warn(message, case, relaxed=texts, tau=self.settings.tau)

    def _warn(self, message: str, case: Case, **known: object) -> None:
        if not self.settings.quiet:
            name = f"sequence {case.number}" if self.names is None else repr(self.names[case.number])
            warnings.warn(message.format(name=name, **known), stacklevel=2)


def _open(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if not case.settled]


def decode(
    potentials: ChainPotentials,
    constraints: Sequence[Constraint],
    tags: TagSet,
    predicates: UnitPredicates | None = None,
    settings: MethodSettings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    Hard constraints that cannot hold together are relaxed: those with the least sum of priorities, and among equal sums
    those that leave the greatest score minus costs.

    potentials (ChainPotentials): of a batch; float64 where certificates are to be exact.
    predicates (UnitPredicates | None): of the units, in packed order. names (sequence of str): of the sequences.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the predicates that they ask for, and if the
        settings need a solver and there is none.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or MethodSettings()
    fields, predicates = Fields(tags), predicates or UnitPredicates(potentials.batch.n_units)
    for constraint in constraints:
        constraint.check(fields, predicates)
    if settings.needs_solver:
        ilp.require_solver(settings.solver)
    found = viterbi(potentials)
    rows = potentials.batch.segments.split(potentials.batch.rows)
    decisions: dict[int, Decision] = {}
    for index, (own, score) in enumerate(zip(rows, found.scores.tolist())):
        path = found.labels[own]
        broken = violations(constraints, Labelling(path.tolist(), fields, predicates.at(own)))
        if not any(constraints[one].cost for one in broken):
            best = score if settings.objective == "score" else 0.0
            found_so = path, score, best, best, True, score, "viterbi", 0, broken
            decisions[index] = Decision(*found_so, viterbi_violated=broken)
    strategy = Strategy(settings, names)
    for part in _parts([index for index in range(len(rows)) if index not in decisions], potentials):
        cases = []
        for index, own in ((index, rows[index]) for index in part):
            problem = Problem(Trellis.of(potentials, own), constraints, fields, predicates.at(own))
            cases.append(Case(index, problem, found.labels[own], settings.seconds))
        decisions |= zip(part, strategy.decide(cases))
    return [decisions[index] for index in range(len(rows))]


def _parts(sequences: list[int], potentials: ChainPotentials) -> list[list[int]]:
    """Runs of sequences whose edges fit into memory together."""
    parts: list[list[int]] = []
    filled = CELLS
    for sequence in sequences:
        filled += (size := int(potentials.batch.lengths[sequence]) * potentials.n_labels**2)
        if filled > CELLS:
            parts.append([])
            filled = size
        parts[-1].append(sequence)
    return parts
