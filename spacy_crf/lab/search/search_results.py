"""What a search has tried, and the best of it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from .space import Value

State = Literal["complete", "pruned", "failed"]


@dataclass(frozen=True)
class TrialResult:
    """One trial.

    number (int): from 0. state (str): "pruned" trials were given up as hopeless, "failed" ones ended in an error.
    values (dict[str, Value]): of the parameters.
    score (float | None): what is searched by, the mean of the folds if there are any; None unless complete.
    folds (list[float]): of each fold. scores (dict[str, float]): all scores; means of the folds if there are any.
    steps (int): of the training loop, all that were evaluated. seconds (float): what training took.
    error (str): of a failed trial.
    """

    number: int
    state: State
    values: dict[str, Value]
    score: float | None
    folds: list[float]
    scores: dict[str, float]
    steps: int
    seconds: float
    error: str


@dataclass(frozen=True)
class SearchResult:
    """The outcome of a search.

    score (str | None): what is searched by; None for the weighted score. minimise (bool): whether less is better.
    trials (list[TrialResult]): in their order.
    importances (dict[str, float]): share of each parameter in what sets good trials apart, the greatest first; empty
        where there are too few trials.
    """

    score: str | None
    minimise: bool
    trials: list[TrialResult]
    importances: dict[str, float]

    @property
    def ranked(self) -> list[TrialResult]:
        """Complete trials, the best first; of equal ones the earlier."""
        sign = 1 if self.minimise else -1
        complete = [trial for trial in self.trials if trial.score is not None]
        return sorted(complete, key=lambda trial: (sign * (trial.score or 0.0), trial.number))

    @property
    def best(self) -> TrialResult:
        """The best trial.

        RAISES (IndexError): where none is complete.
        """
        return self.ranked[0]

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "best": asdict(self.best)}
