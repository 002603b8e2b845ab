"""What cross-validation found, and the choice that follows from it."""

from dataclasses import asdict, dataclass, field
from math import sqrt
from statistics import fmean, stdev
from typing import Any, Literal

Rule = Literal["best", "one-se"]


@dataclass(frozen=True)
class FoldResult:
    """One fold under one pair of penalties.

    fold (int): number of the fold. c1 (float), c2 (float): penalties.
    score (float): of what was held out. loss (float): -log p(gold) per token, in nats.
    n_active (int): weights that are not 0. iterations (int), seconds (float): what training took.
    """

    fold: int
    c1: float
    c2: float
    score: float
    loss: float
    n_active: int
    iterations: int
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Setting:
    """All folds under one pair of penalties.

    c1 (float), c2 (float): penalties. folds (list[FoldResult]): at least two.
    """

    c1: float
    c2: float
    folds: list[FoldResult]

    @property
    def mean(self) -> float:
        """Score."""
        return fmean(fold.score for fold in self.folds)

    @property
    def deviation(self) -> float:
        """Standard deviation of the score over folds."""
        return stdev(fold.score for fold in self.folds)

    @property
    def standard_error(self) -> float:
        """Of the mean score."""
        return self.deviation / sqrt(len(self.folds))

    @property
    def loss(self) -> float:
        """Mean of the folds."""
        return fmean(fold.loss for fold in self.folds)

    @property
    def n_active(self) -> float:
        """Mean of the folds."""
        return fmean(fold.n_active for fold in self.folds)

    @property
    def iterations(self) -> float:
        """Mean of the folds."""
        return fmean(fold.iterations for fold in self.folds)

    @property
    def seconds(self) -> float:
        """Sum of the folds."""
        return sum(fold.seconds for fold in self.folds)

    def to_data(self) -> dict[str, Any]:
        """As plain data, with the means."""
        means = {name: getattr(self, name) for name in ("mean", "deviation", "loss", "n_active", "seconds")}
        return {**asdict(self), **means}


@dataclass(frozen=True)
class CrossValidation:
    """The outcome.

    component (str): its name. score (str): name of the score, as in the component's scorer.
    rule (str): how one is chosen. settings (list[Setting]): in the order in which penalties were given.
    """

    component: str
    score: str
    rule: Rule
    settings: list[Setting]

    @property
    def best(self) -> Setting:
        """The highest mean score; of equal ones the more regularised."""
        return max(self.settings, key=lambda setting: (setting.mean, setting.c1, setting.c2))

    @property
    def chosen(self) -> Setting:
        """By the rule: the best, or the most regularised one whose mean is within one standard error of the best's.

        More regularised is what has the greater c1, which makes models sparse, and then the greater c2.
        """
        if self.rule == "best":
            return self.best
        least = self.best.mean - self.best.standard_error
        near = [setting for setting in self.settings if setting.mean >= least]
        return max(near, key=lambda setting: (setting.c1, setting.c2))

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        chosen = {"c1": self.chosen.c1, "c2": self.chosen.c2}
        settings = [setting.to_data() for setting in self.settings]
        return {"component": self.component, "score": self.score, "rule": self.rule, **chosen, "settings": settings}
