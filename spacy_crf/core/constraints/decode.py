"""Decoding under constraints in one call: ever stronger methods, and an answer that says which one gave it.

Viterbi is the answer where it breaks nothing. Lagrangian relaxation often proves its own; dynamic programming over the
automata of the constraints is exact where they are small enough; an integer programme is the last resort. Hard
constraints that cannot hold together are relaxed, those with the least sum of priorities.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from ...errors import Errors, Warnings
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..labels import TagSet
from ..types import Ints
from . import ilp
from .arcs import arcs_of
from .automaton import Products, best_labelling
from .check import Labelling, violations
from .families import Constraint
from .lagrangian import is_certified, relax
from .language import to_text
from .predicates import Fields, UnitFacts
from .problem import Problem
from .steps import RULES
from .steps import Rule as StepRule

Method: TypeAlias = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
METHODS: dict[str, tuple[str, ...]] = {
    "auto": ("lagrangian", "automaton", "ilp"),
    "viterbi": (),
    "lagrangian": ("lagrangian",),
    "automaton": ("automaton",),
    "ilp": ("ilp",),
}
CELLS = 1 << 22  # arcs that are relaxed side by side


@dataclass(frozen=True)
class Settings:
    """How to decode.

    method (str): "auto" for the chain of methods, or one of them.
    max_iterations (int | None): of Lagrangian relaxation, for each sequence; None is 10 where other methods follow, which
        are then faster, and 200 for "lagrangian" alone. step_rule (str): see `Steps`.
    max_states (int): of the product automaton, for each sequence.
    solver (str | None): PuLP's name of it, or "highs" or "cbc". time_limit (float | None): its seconds per sequence.
    max_arcs (int): longer sequences are not given to a solver.
    objective (str), tau (float): of the method "ilp"; see `ilp.solve`.
    RAISES (ValueError): for settings that make no sense.
    """

    method: Method = "auto"
    max_iterations: int | None = None
    step_rule: StepRule = "polyak"
    max_states: int = 100_000
    solver: str | None = None
    time_limit: float | None = 60.0
    max_arcs: int = ilp.MAX_ARCS
    objective: ilp.Objective = "score"
    tau: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(Errors.CRF921.format(method=self.method, known=", ".join(METHODS)))
        self._require("step_rule", self.step_rule in RULES, f"one of {', '.join(RULES)}")
        self._require("max_iterations", self.max_iterations is None or self.max_iterations >= 1, "at least 1, or None")
        for name in ("max_states", "max_arcs"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("time_limit", self.time_limit is None or self.time_limit > 0, "above 0, or None")

    @property
    def iterations(self) -> int:
        """Of Lagrangian relaxation, at most."""
        return self.max_iterations or (200 if self.method == "lagrangian" else 10)

    def _require(self, setting: str, holds: bool, expected: str) -> None:
        if not holds:
            value = getattr(self, setting)
            raise ValueError(Errors.CRF922.format(setting=setting, value=value, expected=expected))


@dataclass(frozen=True)
class Decision:
    """The labelling of one sequence, and what is known of it.

    labels ((T,)): tags. score (float): unnormalised log score of the chain.
    objective (float): score minus the costs of what is violated, without the constraints that were relaxed.
    bound (float): no labelling has a greater objective. viterbi_score (float): the best score without constraints.
    method (str): "viterbi", "lagrangian", "automaton" or "ilp".
    iterations (int): of Lagrangian relaxation.
    violated (dict): indices of the soft constraints that are broken, and how often each is paid for.
    relaxed (tuple of int): indices of the hard constraints that were given up.
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
    facts: UnitFacts | None = None,
    settings: Settings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    potentials (ChainPotentials): of a batch. constraints (sequence of Constraint): for all of its sequences.
    tags (TagSet): of the chain. facts (UnitFacts | None): about the units, in packed order.
    settings (Settings | None): None for the defaults. names (sequence of str): of the sequences, for warnings.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the facts that they ask for, and if the method
        "ilp" has no solver.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or Settings()
    fields = Fields(tags)
    facts = facts or UnitFacts(potentials.batch.n_units)
    check_constraints(constraints, fields, facts)
    if settings.method == "ilp":
        ilp.require_solver(settings.solver)
    found = viterbi(potentials)
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)]).tolist()
    rows = [potentials.batch.rows[low:high] for low, high in pairwise(bounds)]
    decisions: list[Decision | None] = []
    for own, score in zip(rows, found.scores.tolist()):
        decisions.append(_viterbi_decision(found.labels[own], score, constraints, fields, facts.at(own)))
    open_ones = [index for index, decision in enumerate(decisions) if decision is None]
    chain = _Chain(settings, names)
    for part in _parts(open_ones, potentials):
        problems = [
            Problem(arcs_of(potentials, rows[index]), constraints, fields, facts.at(rows[index])) for index in part
        ]
        viterbi_paths = [found.labels[rows[index]] for index in part]
        for index, decision in zip(part, chain.run(part, problems, viterbi_paths)):
            decisions[index] = decision
    return [decision for decision in decisions if decision is not None]


def check_constraints(constraints: Sequence[Constraint], fields: Fields, facts: UnitFacts) -> None:
    """Raise a coded error for constraints with unknown labels, or without the facts that they ask for."""
    for constraint in constraints:
        fields.check(constraint, to_text(constraint))
        facts.check(constraint, to_text(constraint))


def _viterbi_decision(
    path: Ints, score: float, constraints: Sequence[Constraint], fields: Fields, facts: UnitFacts
) -> Decision | None:
    """The best labelling without constraints, if it breaks none that matters."""
    broken = violations(constraints, Labelling(path.tolist(), fields, facts))
    if any(constraints[index].cost for index in broken):
        return None
    return Decision(path, score, score, score, score, "viterbi", 0, broken)


def _parts(sequences: list[int], potentials: ChainPotentials) -> list[list[int]]:
    """Runs of sequences whose arcs fit into memory together."""
    parts: list[list[int]] = []
    filled = CELLS
    for sequence in sequences:
        size = int(potentials.batch.lengths[sequence]) * potentials.n_labels**2
        if filled + size > CELLS:
            parts.append([])
            filled = 0
        parts[-1].append(sequence)
        filled += size
    return parts


@dataclass(frozen=True)
class _Answer:
    """The best that is known of one problem: a labelling (None if there is none yet), its value, and a bound.

    known (tuple of (T,)): other labellings that were met.
    """

    path: Ints | None = None
    score: float = -math.inf
    objective: float = -math.inf
    bound: float = math.inf
    method: str = "viterbi"
    iterations: int = 0
    known: tuple[Ints, ...] = ()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be done: the labelling is proved best, or it is proved that there is none."""
        return self.bound == -math.inf or is_certified(self.objective, self.bound, self.score)

    def improved(self, problem: Problem, path: Ints | None, bound: float, method: str) -> "_Answer":
        """With what another method found, as far as it is better."""
        answer = replace(self, bound=min(self.bound, bound))
        if path is not None:
            score, objective, _ = problem.value(path)
            if self.path is None or objective > self.objective:
                own = {"path": path, "score": score, "objective": objective, "known": (*self.known, path)}
                answer = replace(answer, method=method, **own)
        return replace(answer, method=method) if answer.settled else answer


class _Chain:
    """The methods in turn, for sequences that Viterbi does not settle."""

    def __init__(self, settings: Settings, names: Sequence[str] | None):
        self.settings, self.names = settings, names
        self._products = Products()

    def run(self, sequences: list[int], problems: list[Problem], viterbi_paths: list[Ints]) -> list[Decision]:
        """Decide about some problems.

        sequences (list of int): their numbers. viterbi_paths: the best labellings without constraints.
        """
        answers = self.answers(sequences, problems, [_start(*pair) for pair in zip(problems, viterbi_paths)])
        decisions = []
        for sequence, problem, path, answer in zip(sequences, problems, viterbi_paths, answers):
            decision = self._decide(sequence, problem, path, answer)
            if not decision.certified and self.settings.method != "viterbi":
                self._warn(Warnings.CRFW902, sequence, gap=decision.gap)
            decisions.append(decision)
        return decisions

    def answers(self, sequences: list[int], problems: list[Problem], answers: list[_Answer]) -> list[_Answer]:
        """Try each method on what the ones before it have not settled."""
        stages = {"lagrangian": self._lagrangian, "automaton": self._automaton, "ilp": self._ilp}
        for method in METHODS[self.settings.method]:
            live = [place for place, answer in enumerate(answers) if not answer.settled]
            if live:
                parts = ([items[place] for place in live] for items in (sequences, problems, answers))
                for place, answer in zip(live, stages[method](*parts)):  # type: ignore[arg-type]
                    answers[place] = answer
        return answers

    def _lagrangian(self, sequences: list[int], problems: list[Problem], answers: list[_Answer]) -> list[_Answer]:
        relaxed = relax(problems, self.settings.iterations, self.settings.step_rule)
        return [
            replace(answer.improved(problem, found.path, found.bound, "lagrangian"), iterations=found.iterations)
            for problem, answer, found in zip(problems, answers, relaxed)
        ]

    def _automaton(self, sequences: list[int], problems: list[Problem], answers: list[_Answer]) -> list[_Answer]:
        out = []
        for problem, answer in zip(problems, answers):
            found = best_labelling(problem, answer.known, self.settings.max_states, self._products)
            out.append(answer.improved(problem, found.path, found.bound, "automaton"))
        return out

    def _ilp(self, sequences: list[int], problems: list[Problem], answers: list[_Answer]) -> list[_Answer]:
        if not ilp.has_solver():
            return answers  # for the method "ilp" this was found out before
        out = []
        for sequence, problem, answer in zip(sequences, problems, answers):
            try:
                out.append(self._solve(problem, answer))
            except ValueError as error:
                self._warn(Warnings.CRFW903, sequence, error=error)
                out.extend(self._automaton([sequence], [problem], self._lagrangian([sequence], [problem], [answer])))
        return out

    def _solve(self, problem: Problem, answer: _Answer) -> _Answer:
        own = self.settings
        by_score = own.method != "ilp" or own.objective == "score"
        objective: ilp.Objective = "score" if by_score else own.objective
        found = ilp.solve(problem, objective, own.tau, own.solver, own.time_limit, own.max_arcs)
        if found.path is None:
            return replace(answer, bound=-math.inf) if found.infeasible else answer
        score, objective_value, _ = problem.value(found.path)
        if not by_score:  # the best for another objective
            return _Answer(found.path, score, objective_value, objective_value if found.optimal else answer.bound, "ilp")
        return answer.improved(problem, found.path, objective_value if found.optimal else math.inf, "ilp")

    def _decide(self, sequence: int, problem: Problem, viterbi_path: Ints, answer: _Answer) -> Decision:
        """The decision that an answer stands for; without a labelling, some hard constraints are relaxed first."""
        viterbi_score = problem.arcs.score(viterbi_path)
        if answer.path is not None or self.settings.method == "viterbi":
            path = viterbi_path if answer.path is None else answer.path
            value = problem.value(path)
            outcome = (value.score, value.objective, answer.bound, viterbi_score, answer.method, answer.iterations)
            return Decision(path, *outcome, value.violated)
        softened = problem.with_constraints(_softened(problem))
        (again,) = self.answers([sequence], [softened], [_start(softened, viterbi_path)])
        assert again.path is not None  # nothing is hard any more
        broken = problem.value(again.path).violated
        relaxed = tuple(index for index in broken if problem.constraints[index].hard)
        paid = sum(softened.constraints[index].cost for index in relaxed)
        if relaxed:
            listing = ", ".join(to_text(problem.constraints[index]) for index in relaxed)
            self._warn(Warnings.CRFW901, sequence, relaxed=listing)
        return Decision(
            again.path,
            problem.value(again.path).score,
            again.objective + paid,
            again.bound + paid,
            viterbi_score,
            again.method,
            again.iterations,
            {index: times for index, times in broken.items() if index not in relaxed},
            relaxed,
        )

    def _warn(self, message: str, sequence: int, **facts: object) -> None:
        name = f"sequence {sequence}" if self.names is None else repr(self.names[sequence])
        warnings.warn(message.format(name=name, **facts), stacklevel=2)


def _start(problem: Problem, viterbi_path: Ints) -> _Answer:
    """What is known before anything is done: the best labelling without constraints, and its score as a bound."""
    allowed = problem.value(viterbi_path).objective > -math.inf
    answer = _Answer(known=(viterbi_path,))
    return answer.improved(problem, viterbi_path if allowed else None, problem.charged.bound, "viterbi")


def _softened(problem: Problem) -> list[Constraint]:
    """The constraints with so great costs for the hard ones that a labelling breaks as little of them as it can."""
    soft = [replace(constraint, cost=0.0) if constraint.hard else constraint for constraint in problem.constraints]
    scale = 1.0 + problem.arcs.bound - problem.with_constraints(soft).floor
    least = min(constraint.priority for constraint in problem.constraints if constraint.hard)
    return [
        replace(constraint, cost=scale * constraint.priority / least, count="once") if constraint.hard else constraint
        for constraint in problem.constraints
    ]
