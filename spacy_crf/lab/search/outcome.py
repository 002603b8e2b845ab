"""What one trial of a search has found so far, on the dev corpus or on folds."""

from statistics import fmean
from typing import Any

from .trial import Evaluation


class Outcome:
    """What is known of a trial, finished or not."""

    def __init__(self) -> None:
        self.folds: list[float] = []
        self.evaluations: list[Evaluation] = []
        self.steps = 0

    @property
    def score(self) -> float:
        """Mean of the folds so far."""
        return fmean(self.folds)

    def add(self, score: float, evaluation: Evaluation) -> None:
        """Take in a fold, or the dev corpus."""
        self.folds.append(score)
        self.evaluations.append(evaluation)

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        rows = [numbers(evaluation) for evaluation in self.evaluations]
        names = [name for name in (rows[0] if rows else {}) if all(name in row for row in rows)]
        return {
            "folds": self.folds if len(self.folds) > 1 else [],
            "scores": {name: fmean(row[name] for row in rows) for name in names},
            "steps": self.steps,
        }


def numbers(evaluation: Evaluation) -> dict[str, float]:
    """Scores that are single numbers; speed is none."""
    found = evaluation.scores.items()
    return {name: float(value) for name, value in found if isinstance(value, int | float) and name != "speed"}
