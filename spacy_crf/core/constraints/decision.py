"""How to decode under constraints, and what is known of the answer."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from ..arrays import Ints
from ..errors import CoreErrors, CRFError
from .ilp import MAX_ARCS, Objective
from .lagrangian import is_certified
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


@dataclass(frozen=True)
class Settings:
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
    max_arcs: int = MAX_ARCS
    objective: Objective = "score"
    tau: float = 0.5

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise CRFError(CoreErrors.CRF921.format(method=self.method, known=", ".join(METHODS)))
        self._require("objective", self.objective in get_args(Objective), f"one of {', '.join(get_args(Objective))}")
        self._require("tau", 0 < self.tau <= 1, "above 0 and at most 1")
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
            raise CRFError(CoreErrors.CRF922.format(setting=setting, value=value, expected=expected))


@dataclass(frozen=True)
class Decision:
    """The labelling of one sequence, and what is known of it.

    labels ((T,)): tags. score (float): unnormalised log score of the chain.
    objective (float): score minus the costs of what is violated, without the constraints that were relaxed.
    bound (float): no labelling has a greater objective. viterbi_score (float): the best score without constraints.
    method (str): "viterbi", "lagrangian", "automaton" or "ilp".
    iterations (int): of Lagrangian relaxation.
    violated (dict): indices of the constraints that are broken and were not relaxed, and how often each is paid for;
        hard ones among them only with the method "viterbi".
    relaxed (tuple of int): indices of the hard constraints that were given up.
    viterbi_violated (dict): what the best labelling without constraints breaks, as `violated`.
    grounds (tuple of int): indices of the constraints that the bound rests on. Without any of the others that the
        labelling keeps, it would still be certified.
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
