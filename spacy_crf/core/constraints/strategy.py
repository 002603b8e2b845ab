"""Ever stronger methods in turn, and what to do about hard constraints that cannot hold together."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..arrays import Ints
from ..errors import CoreWarnings
from . import ilp
from .automaton import best_labelling
from .decision import METHODS, Decision, Settings
from .families import Constraint
from .lagrangian import is_certified, relax
from .problem import Problem
from .product import Products
from .spelling import to_text


@dataclass(frozen=True)
class Answer:
    """The best that is known of one problem: a labelling (None if there is none yet), its value, and a bound.

    known (tuple of (T,)): labellings that were met. grounds (frozenset of int): constraints that the bound rests on,
        without those that are charged to arcs.
    """

    path: Ints | None = None
    score: float = -math.inf
    objective: float = -math.inf
    bound: float = math.inf
    method: str = "viterbi"
    iterations: int = 0
    known: tuple[Ints, ...] = ()
    grounds: frozenset[int] = frozenset()

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be done: the labelling is proved best, or it is proved that there is none."""
        return self.bound == -math.inf or is_certified(self.objective, self.bound, self.score)

    def improved(
        self, problem: Problem, path: Ints | None, bound: float, method: str, grounds: frozenset[int] = frozenset()
    ) -> "Answer":
        """With what another method found, as far as it is better."""
        answer = replace(self, bound=bound, grounds=grounds) if bound < self.bound else self
        if path is not None:
            score, objective, _ = problem.value(path)
            if self.path is None or objective > self.objective:
                answer = replace(answer, path=path, score=score, objective=objective, method=method)
                answer = replace(answer, known=(*self.known, path))
        return replace(answer, method=method) if answer.settled else answer


class Strategy:
    """The methods in turn, for sequences that Viterbi does not settle.

    settings (Settings): which methods. names (sequence of str | None): of all sequences, for warnings.
    """

    def __init__(self, settings: Settings, names: Sequence[str] | None):
        self.settings, self.names = settings, names
        self._products = Products()

    def run(self, sequences: list[int], problems: list[Problem], viterbi_paths: list[Ints]) -> list[Decision]:
        """Decide about some problems.

        sequences (list of int): their numbers. viterbi_paths: the best labellings without constraints.
        """
        answers = self.answers(sequences, problems, [start(*pair) for pair in zip(problems, viterbi_paths)])
        decisions = []
        for sequence, problem, path, answer in zip(sequences, problems, viterbi_paths, answers):
            decision = self._decide(sequence, problem, path, answer)
            if not decision.certified and self.settings.method != "viterbi":
                self._warn(CoreWarnings.CRFW902, sequence, gap=decision.gap)
            decisions.append(decision)
        return decisions

    def answers(self, sequences: list[int], problems: list[Problem], answers: list[Answer]) -> list[Answer]:
        """Try each method on what the ones before it have not settled."""
        stages = {"lagrangian": self._lagrangian, "automaton": self._automaton, "ilp": self._ilp}
        for method in METHODS[self.settings.method]:
            live = [place for place, answer in enumerate(answers) if not answer.settled]
            if live:
                parts = ([items[place] for place in live] for items in (sequences, problems, answers))
                for place, answer in zip(live, stages[method](*parts)):  # type: ignore[arg-type]
                    answers[place] = answer
        return answers

    def _lagrangian(self, sequences: list[int], problems: list[Problem], answers: list[Answer]) -> list[Answer]:
        relaxed = relax(problems, self.settings.iterations, self.settings.step_rule)
        return [
            replace(
                answer.improved(problem, found.path, found.bound, "lagrangian", found.grounds),
                iterations=found.iterations,
            )
            for problem, answer, found in zip(problems, answers, relaxed)
        ]

    def _automaton(self, sequences: list[int], problems: list[Problem], answers: list[Answer]) -> list[Answer]:
        out = []
        for problem, answer in zip(problems, answers):
            found = best_labelling(problem, answer.known, self.settings.max_states, self._products)
            out.append(answer.improved(problem, found.path, found.bound, "automaton", found.grounds))
        return out

    def _ilp(self, sequences: list[int], problems: list[Problem], answers: list[Answer]) -> list[Answer]:
        if not ilp.has_solver():
            return answers  # for the method "ilp" this was found out before
        out = []
        for sequence, problem, answer in zip(sequences, problems, answers):
            if self.settings.method == "auto" and problem.arcs.n_arcs > self.settings.max_arcs:
                out.append(answer)
                continue
            try:
                out.append(self._solve(problem, answer))
            except ValueError as error:
                self._warn(CoreWarnings.CRFW903, sequence, error=error)
                out.append(self._without_solver(sequence, problem, answer))
        return out

    def _without_solver(self, sequence: int, problem: Problem, answer: Answer) -> Answer:
        """The answer where a solver failed: of the methods that were not tried yet."""
        if self.settings.method == "auto":
            return answer
        (answer,) = self._automaton([sequence], [problem], self._lagrangian([sequence], [problem], [answer]))
        return answer

    def _solve(self, problem: Problem, answer: Answer) -> Answer:
        own = self.settings
        by_score = own.method != "ilp" or own.objective == "score"
        objective: ilp.Objective = "score" if by_score else own.objective
        found = ilp.solve(problem, objective, own.tau, own.solver, own.time_limit, own.max_arcs)
        if found.path is None:
            return replace(answer, bound=-math.inf) if found.infeasible else answer
        score, objective_value, _ = problem.value(found.path)
        everything = frozenset(range(len(problem.constraints)))
        if not by_score:  # the best for another objective
            bound = objective_value if found.optimal else answer.bound
            return Answer(found.path, score, objective_value, bound, "ilp", grounds=everything)
        bound = objective_value if found.optimal else math.inf
        return answer.improved(problem, found.path, bound, "ilp", everything)

    def _decide(self, sequence: int, problem: Problem, viterbi_path: Ints, answer: Answer) -> Decision:
        """The decision that an answer stands for; without a labelling, some hard constraints are relaxed first."""
        viterbi_score, _, viterbi_violated = problem.value(viterbi_path)
        if answer.path is not None or self.settings.method == "viterbi":
            path = viterbi_path if answer.path is None else answer.path
            value = problem.value(path)
            outcome = (value.score, value.objective, answer.bound, viterbi_score, answer.method, answer.iterations)
            grounds = _grounds(problem, answer)
            return Decision(path, *outcome, value.violated, grounds=grounds, viterbi_violated=viterbi_violated)
        softened = problem.with_constraints(_softened(problem))
        (again,) = self.answers([sequence], [softened], [start(softened, viterbi_path)])
        assert again.path is not None  # nothing is hard any more
        broken = problem.value(again.path).violated
        relaxed = tuple(index for index in broken if problem.constraints[index].hard)
        paid = sum(softened.constraints[index].cost for index in relaxed)
        if relaxed:
            listing = ", ".join(to_text(problem.constraints[index]) for index in relaxed)
            proved = answer.bound == -math.inf
            self._warn(CoreWarnings.CRFW901 if proved else CoreWarnings.CRFW904, sequence, relaxed=listing)
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
            _grounds(softened, again),
            viterbi_violated,
        )

    def _warn(self, message: str, sequence: int, **facts: object) -> None:
        name = f"sequence {sequence}" if self.names is None else repr(self.names[sequence])
        warnings.warn(message.format(name=name, **facts), stacklevel=2)


def start(problem: Problem, viterbi_path: Ints) -> Answer:
    """What is known before anything is done: the best labelling without constraints, and its score as a bound."""
    allowed = problem.value(viterbi_path).objective > -math.inf
    answer = Answer(known=(viterbi_path,))
    return answer.improved(problem, viterbi_path if allowed else None, problem.charged.bound, "viterbi")


def _grounds(problem: Problem, answer: Answer) -> tuple[int, ...]:
    """The constraints that a bound rests on, with those that are charged to arcs."""
    local = {index for index, one in enumerate(problem.constraints) if one.cost > 0 and one.is_local}
    return tuple(sorted(local | answer.grounds))


def _softened(problem: Problem) -> list[Constraint]:
    """The constraints with so great costs for the hard ones that a labelling breaks as little of them as it can."""
    soft = [replace(constraint, cost=0.0) if constraint.hard else constraint for constraint in problem.constraints]
    scale = 1.0 + problem.arcs.bound - problem.with_constraints(soft).floor
    least = min(constraint.priority for constraint in problem.constraints if constraint.hard)
    return [
        replace(constraint, cost=scale * constraint.priority / least, count="once") if constraint.hard else constraint
        for constraint in problem.constraints
    ]
