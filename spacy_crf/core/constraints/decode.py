"""Decoding under constraints in one call: ever stronger methods in turn, and an answer that says which one gave it.

Viterbi is the answer where it breaks nothing. Lagrangian relaxation often proves its own; dynamic programming over the
automata of the constraints is exact where they are small enough; an integer programme is the last resort. Hard
constraints that cannot hold together are relaxed, those with the least sum of priorities.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from ..arrays import Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..errors import CoreErrors, CoreWarnings, CRFError
from ..labels import TagSet
from . import ilp
from .automaton import Products, best_labelling
from .family import Constraint
from .labelling import Fields, Labelling, UnitPredicates
from .lagrangian import RULES, StepRule, is_certified, relax
from .problem import Problem, Trellis, violations

CELLS = 1 << 22  # edges that are relaxed side by side
Method: TypeAlias = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
STAGES = ("lagrangian", "automaton", "ilp")
METHODS: dict[str, tuple[str, ...]] = {"auto": STAGES, "viterbi": (), **{stage: (stage,) for stage in STAGES}}


@dataclass(frozen=True)
class MethodSettings:
    """How to decode.

    method (str): "auto" for the chain of methods, or one of them.
    max_iterations (int | None): of Lagrangian relaxation, for each sequence; None is 10 where other methods follow,
        which are then faster, and 200 for "lagrangian" alone. step_rule (str): see `Steps`.
    max_states (int): of the product automaton, for each sequence.
    solver (str | None): PuLP's name of it, or "highs" or "cbc". time_limit (float | None): its seconds per sequence.
    max_arcs (int): longer sequences are not given to a solver.
    objective (str), tau (float): of the method "ilp"; see `ilp.solve`.
    RAISES (ValueError): for settings that make no sense.
    """

    method: Method = "auto"
    max_iterations: int | None = None
    step_rule: StepRule = "polyak"
    max_states: int = 400_000
    solver: str | None = None
    time_limit: float | None = 60.0
    max_arcs: int = ilp.MAX_ARCS
    objective: ilp.Objective = "score"
    tau: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CRFError(CoreErrors.CRF921.format(method=self.method, known=", ".join(METHODS)))
        objectives = get_args(ilp.Objective)
        for name, holds, expected in (
            ("objective", self.objective in objectives, f"one of {', '.join(objectives)}"),
            ("tau", 0 < self.tau <= 1, "above 0 and at most 1"),
            ("step_rule", self.step_rule in RULES, f"one of {', '.join(RULES)}"),
            ("max_iterations", self.max_iterations is None or self.max_iterations >= 1, "at least 1, or None"),
            ("max_states", self.max_states >= 1, "at least 1"),
            ("max_arcs", self.max_arcs >= 1, "at least 1"),
            ("time_limit", self.time_limit is None or self.time_limit > 0, "above 0, or None"),
        ):
            if not holds:
                raise CRFError(CoreErrors.CRF922.format(setting=name, value=getattr(self, name), expected=expected))

    @property
    def iterations(self) -> int:
        """Of Lagrangian relaxation, at most."""
        return self.max_iterations or (200 if self.method == "lagrangian" else 10)


@dataclass(frozen=True)
class Decision:
    """The labelling of one sequence, and what is known of it.

    labels ((T,)): tags. score (float): unnormalised log score of the chain.
    objective (float): score minus the costs of what is violated, without the constraints that were relaxed.
    bound (float): no labelling has a greater objective. viterbi_score (float): the best score without constraints.
    method (str): "viterbi", "lagrangian", "automaton" or "ilp". iterations (int): of Lagrangian relaxation.
    violated (dict): indices of the constraints that are broken and were not relaxed, and how often each is paid for;
        hard ones among them only with the method "viterbi". relaxed (tuple of int): hard ones that were given up.
    grounds (tuple of int): of the constraints that the bound rests on. Without any of the others that the labelling
        keeps, it would still be certified.
    viterbi_violated (dict): what the best labelling without constraints breaks, as `violated`.
    """

    labels: Ints
    score: float
    objective: float
    bound: float
    viterbi_score: float
    method: str
    iterations: int
    violated: dict[int, int]
    relaxed: tuple[int, ...] = ()
    grounds: tuple[int, ...] = ()
    viterbi_violated: dict[int, int] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """By how much the objective might be better, at least 0."""
        return max(0.0, self.bound - self.objective)

    @property
    def certified(self) -> bool:
        """Whether no labelling has a greater objective: a gap of at most 1e-6 max(1, |score|)."""
        return is_certified(self.objective, self.bound, self.score)


def decode(
    potentials: ChainPotentials,
    constraints: Sequence[Constraint],
    tags: TagSet,
    predicates: UnitPredicates | None = None,
    settings: MethodSettings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    potentials (ChainPotentials): of a batch; float64 where certificates are to be exact.
    predicates (UnitPredicates | None): of the units, in packed order. names (sequence of str): of the sequences.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the predicates that they ask for, and if the
        method "ilp" has no solver.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or MethodSettings()
    fields, predicates = Fields(tags), predicates or UnitPredicates(potentials.batch.n_units)
    for constraint in constraints:
        constraint.check(fields, predicates)
    if settings.method == "ilp":
        ilp.require_solver(settings.solver)
    found = viterbi(potentials)
    rows = potentials.batch.segments.split(potentials.batch.rows)
    decisions: dict[int, Decision] = {}
    for index, (own, score) in enumerate(zip(rows, found.scores.tolist())):
        path = found.labels[own]
        broken = violations(constraints, Labelling(path.tolist(), fields, predicates.at(own)))
        if not any(constraints[one].cost for one in broken):
            decisions[index] = Decision(path, score, score, score, score, "viterbi", 0, broken, viterbi_violated=broken)
    strategy = Strategy(settings, names)
    for part in _parts([index for index in range(len(rows)) if index not in decisions], potentials):
        cases = []
        for index, own in ((index, rows[index]) for index in part):
            problem = Problem(Trellis.of(potentials, own), constraints, fields, predicates.at(own))
            cases.append(Case(index, problem, found.labels[own]))
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


@dataclass
class Case:
    """A sequence to be decided about, and the best that is known: a labelling (None without one), and a bound.

    viterbi_path ((T,)): its best labelling without constraints. known (list of (T,)): labellings that were met.
    grounds (frozenset of int): constraints that the bound rests on, without those that are charged to edges.
    """

    number: int
    problem: Problem
    viterbi_path: Ints
    path: Ints | None = None
    score: float = -math.inf
    objective: float = -math.inf
    bound: float = math.inf
    method: str = "viterbi"
    iterations: int = 0
    known: list[Ints] = field(default_factory=list)
    grounds: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self.known.append(self.viterbi_path)
        allowed = self.problem.value(self.viterbi_path).objective > -math.inf
        self.improve(self.viterbi_path if allowed else None, self.problem.charged.bound, "viterbi")

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be done: the labelling is proved best, or it is proved that there is none."""
        return self.bound == -math.inf or is_certified(self.objective, self.bound, self.score)

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

    def decision(self, problem: Problem, relaxed: tuple[int, ...] = (), paid: float = 0.0) -> Decision:
        """The decision, by the values of a problem whose relaxed constraints, which are hard there, were paid for."""
        path = self.viterbi_path if self.path is None else self.path
        before, now = problem.value(self.viterbi_path), problem.value(path)
        violated = {index: times for index, times in now.violated.items() if index not in relaxed}
        outcome = now.score, self.objective + paid, self.bound + paid, before.score, self.method, self.iterations
        grounds = tuple(sorted({*self.problem.local, *self.grounds}))
        return Decision(path, *outcome, violated, relaxed, grounds, before.violated)


class Strategy:
    """The methods in turn, for sequences that Viterbi does not settle; names of all sequences are for warnings."""

    def __init__(self, settings: MethodSettings, names: Sequence[str] | None):
        self.settings, self.names = settings, names
        self._products: Products = {}

    def decide(self, cases: list[Case]) -> list[Decision]:
        """Decide about some sequences."""
        self._improve(cases)
        decisions = []
        for case in cases:
            stuck = case.path is None and self.settings.method != "viterbi"
            decisions.append(decision := self._relaxed(case) if stuck else case.decision(case.problem))
            if not decision.certified and self.settings.method != "viterbi":
                self._warn(CoreWarnings.CRFW902, case, gap=decision.gap)
        return decisions

    def _improve(self, cases: list[Case]) -> None:
        """Try each method on what the ones before it have not settled."""
        stages = {"lagrangian": self._lagrangian, "automaton": self._automaton, "ilp": self._ilp}
        for method in METHODS[self.settings.method]:
            stages[method]([case for case in cases if not case.settled])

    def _lagrangian(self, cases: list[Case]) -> None:
        relaxed = relax([case.problem for case in cases], self.settings.iterations, self.settings.step_rule)
        for case, found in zip(cases, relaxed):
            case.improve(found.path, found.bound, "lagrangian", found.grounds)
            case.iterations = len(found.history)

    def _automaton(self, cases: list[Case]) -> None:
        for case in cases:
            found = best_labelling(case.problem, case.known, self.settings.max_states, self._products)
            case.improve(found.path, found.bound, "automaton", found.grounds)

    def _ilp(self, cases: list[Case]) -> None:
        if not cases or not ilp.has_solver():
            return  # for the method "ilp" this was found out before
        for case in cases:
            if self.settings.method == "auto" and case.problem.trellis.n_edges > self.settings.max_arcs:
                continue
            try:
                self._solve(case)
            except ValueError as error:
                self._warn(CoreWarnings.CRFW903, case, error=error)
                if self.settings.method == "ilp":  # no other was tried yet
                    self._lagrangian([case])
                    self._automaton([case])

    def _solve(self, case: Case) -> None:
        own = self.settings
        objective: ilp.Objective = own.objective if own.method == "ilp" else "score"
        found = ilp.solve(case.problem, objective, own.tau, own.solver, own.time_limit, own.max_arcs)
        if found.path is None:
            case.bound = -math.inf if found.infeasible else case.bound
            return
        value = case.problem.value(found.path)
        everything = frozenset(range(len(case.problem.constraints)))
        if objective == "score":
            case.improve(found.path, value.objective if found.optimal else math.inf, "ilp", everything)
        else:  # the best for another objective
            case.path, case.score, case.objective, case.method = found.path, value.score, value.objective, "ilp"
            case.bound, case.grounds = value.objective if found.optimal else case.bound, everything

    def _relaxed(self, case: Case) -> Decision:
        """The decision if hard constraints are soft, but dearer than all else together."""
        constraints, softened = case.problem.constraints, _softened(case.problem)
        again = Case(case.number, case.problem.with_constraints(softened), case.viterbi_path)
        self._improve([again])
        assert again.path is not None  # nothing is hard any more
        relaxed = tuple(index for index in case.problem.value(again.path).violated if constraints[index].hard)
        if relaxed:
            message = CoreWarnings.CRFW901 if case.bound == -math.inf else CoreWarnings.CRFW904
            self._warn(message, case, relaxed=", ".join(str(constraints[index]) for index in relaxed))
        return again.decision(case.problem, relaxed, sum(softened[index].cost for index in relaxed))

    def _warn(self, message: str, case: Case, **known: object) -> None:
        name = f"sequence {case.number}" if self.names is None else repr(self.names[case.number])
        warnings.warn(message.format(name=name, **known), stacklevel=2)


def _softened(problem: Problem) -> list[Constraint]:
    """The constraints with so great costs for the hard ones that a labelling breaks as little of them as it can."""
    soft = [replace(one, cost=0.0) if one.hard else one for one in problem.constraints]
    scale = 1.0 + problem.trellis.bound - problem.with_constraints(soft).floor
    least = min(one.priority for one in problem.constraints if one.hard)
    return [
        replace(one, cost=scale * one.priority / least, count="once") if one.hard else one
        for one in problem.constraints
    ]
