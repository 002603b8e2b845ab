"""How a sequence is to be decoded under constraints, and what is known of the labelling that was found."""

import math
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from ..arrays import Ints
from ..errors import CoreErrors, CRFError, require
from . import ilp
from .lagrangian import RULES, StepRule

Method: TypeAlias = Literal["auto", "viterbi", "lagrangian", "automaton", "ilp"]
USUAL_ITERATIONS = 200  # of Lagrangian relaxation
STAGES = ("lagrangian", "automaton", "ilp")
METHODS: dict[str, tuple[str, ...]] = {"auto": STAGES, "viterbi": (), **{stage: (stage,) for stage in STAGES}}


@dataclass(frozen=True)
class MethodSettings:
    """How to decode.

    method (str): "auto" for the chain of methods, or one of them.
    max_iterations (int | None): of Lagrangian relaxation, for each sequence; None is 200. step_rule (str): see `Steps`.
    max_states (int): of the product automaton, for each sequence.
    budget (float | None): seconds that "auto" gives to each sequence that ten iterations leave open; None: no end.
    solver (str | None): PuLP's name of it, or "highs" or "cbc". time_limit (float | None): its seconds per sequence.
    max_arcs (int): longer sequences are not given to a solver.
    objective (str), tau (float): see `ilp.solve`; "violations" is for the methods "ilp" and "auto", which is then the
        same.
    quiet (bool): no warnings.
    RAISES (ValueError): for settings that make no sense.
    """

    method: Method = "auto"
    max_iterations: int | None = None
    step_rule: StepRule = "polyak"
    max_states: int = 400_000
    budget: float | None = 10.0
    solver: str | None = None
    time_limit: float | None = 60.0
    max_arcs: int = ilp.MAX_ARCS
    objective: ilp.Objective = "score"
    tau: float = 0.5
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CRFError(CoreErrors.CRF921.format(method=self.method, known=", ".join(METHODS)))
        objectives = get_args(ilp.Objective)
        solves = self.objective == "score" or self.method in ("auto", "ilp")
        for name, holds, expected in (
            ("objective", self.objective in objectives, f"one of {', '.join(objectives)}"),
            ("objective", solves, f"'score' for the method {self.method!r}; 'violations' takes 'ilp' or 'auto'"),
            ("tau", 0 < self.tau <= 1, "above 0 and at most 1"),
            ("step_rule", self.step_rule in RULES, f"one of {', '.join(RULES)}"),
            ("max_iterations", self.max_iterations is None or self.max_iterations >= 1, "at least 1, or None"),
            ("max_states", self.max_states >= 1, "at least 1"),
            ("budget", self.budget is None or self.budget > 0, "above 0, or None"),
            ("max_arcs", self.max_arcs >= 1, "at least 1"),
            ("time_limit", self.time_limit is None or self.time_limit > 0, "above 0, or None"),
        ):
            require(CoreErrors.CRF922, name, getattr(self, name), holds, expected)

    @property
    def iterations(self) -> int:
        """Of Lagrangian relaxation, at most."""
        return self.max_iterations or USUAL_ITERATIONS

    @property
    def seconds(self) -> float:
        """Of automata and solver together, at most."""
        return math.inf if self.budget is None or self.method != "auto" else self.budget

    @property
    def needs_solver(self) -> bool:
        """Whether nothing but an integer programme will do."""
        return self.method == "ilp" or self.objective == "violations"


@dataclass(frozen=True)
class Decision:
    """The labelling of one sequence, and what is known of it.

    labels ((T,)): tags. score (float): unnormalised log score of the chain.
    objective (float): score minus the costs of what is violated, without the constraints that were relaxed; for the
        objective "violations" minus these costs alone.
    bound (float): no labelling has a greater objective; for "violations", none within tau of the best score.
    certified (bool): whether no labelling is proved to be better, that is a gap of at most 1e-6 max(1, |score|), or by
        the solver. It would have a greater objective, or, of relaxed constraints, a smaller sum of priorities; for
        "violations", the score decides between equal costs.
    viterbi_score (float): the best score without constraints.
    method (str): "viterbi", "lagrangian", "automaton" or "ilp". iterations (int): of Lagrangian relaxation.
    limits (tuple of str): settings that ended a method before it had proved anything; empty if certified.
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
    certified: bool
    viterbi_score: float
    method: str
    iterations: int
    violated: dict[int, int]
    relaxed: tuple[int, ...] = ()
    grounds: tuple[int, ...] = ()
    viterbi_violated: dict[int, int] = field(default_factory=dict)
    limits: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """By how much the objective might be better, at least 0."""
        return max(0.0, self.bound - self.objective)
