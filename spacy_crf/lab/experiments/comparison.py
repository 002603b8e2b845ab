"""Two systems on the same splits: differences, tests and intervals."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ...core.arrays import Doubles
from .results import Experiment, PartResult, SystemResult
from .splits import Kind
from .statistics import Interval, ResampledT, SignedRanks, bootstrap, resampled_t_test, wilcoxon
from .summary import document_means

# kinds whose test parts are drawn again and again, so that training parts overlap
RESAMPLED: tuple[Kind, ...] = ("kfold", "monte-carlo", "cross-domain", "across", "shuffling", "curve")


@dataclass(frozen=True)
class Difference:
    """One score of two systems on the test parts of one group.

    first (str), second (str): the systems. score (str): its name. series (str), fraction (float): of the group.
    first_mean (float), second_mean (float): over test parts; differences are first minus second.
    ranks (SignedRanks): over test parts; those of the same name, such as a document, are averaged before.
    resampled (ResampledT | None): over splits, where these are drawn.
    interval (Interval | None): of the difference over documents, paired; None for a single document.
    """

    first: str
    second: str
    score: str
    series: str
    fraction: float
    first_mean: float
    second_mean: float
    ranks: SignedRanks
    resampled: ResampledT | None
    interval: Interval | None

    @property
    def mean(self) -> float:
        """Of the differences."""
        return self.first_mean - self.second_mean

    def to_data(self) -> dict[str, Any]:
        """As data that JSON can hold."""
        return {**asdict(self), "mean": self.mean}


def compare_all(experiment: Experiment) -> list[Difference]:
    """The first system against each of the others, in all scores that both have."""
    first, *others = experiment.systems
    settings = experiment.settings
    return [found for other in others for found in compare(first, other, settings.kind, settings.seed)]


def compare(first: SystemResult, second: SystemResult, kind: Kind, seed: int = 0) -> list[Difference]:
    """Compare two systems.

    first (SystemResult), second (SystemResult): results on the same splits. kind (str): of these.
    seed (int): of the bootstrap.
    RETURNS (list[Difference]): one for each score and group.
    """
    found = []
    for (series, fraction), ours in first.groups.items():
        theirs = second.groups[series, fraction]
        shared = [name for name in ours[0].scores if all(name in test.scores for test in (*ours, *theirs))]
        for name in shared:
            pairs = [(a.scores[name], b.scores[name]) for a, b in zip(ours, theirs)]
            means = [fmean(side) for side in zip(*pairs)]
            differences = np.array([a - b for a, b in pairs])
            found.append(
                Difference(
                    *(first.name, second.name, name, series, fraction, means[0], means[1]),
                    ranks=wilcoxon(_by_test(ours, differences)),
                    resampled=_resampled(ours, differences) if kind in RESAMPLED else None,
                    interval=_interval(ours, theirs, name, seed),
                )
            )
    return found


def _by_test(tests: Sequence[PartResult], differences: Doubles) -> Doubles:
    """Differences, averaged over test parts of the same name."""
    found: dict[str, list[float]] = {}
    for test, difference in zip(tests, differences.tolist()):
        found.setdefault(test.test, []).append(difference)
    return np.array([fmean(own) for own in found.values()])


def _resampled(tests: Sequence[PartResult], differences: Doubles) -> ResampledT | None:
    if len(tests) < 2:
        return None
    ratio = fmean(test.test_tokens for test in tests) / fmean(test.train_tokens for test in tests)
    return resampled_t_test(differences, ratio)


def _interval(ours: Sequence[PartResult], theirs: Sequence[PartResult], name: str, seed: int) -> Interval | None:
    first, second = document_means(ours, name), document_means(theirs, name)
    shared = [document for document in first if document in second]
    if len(shared) < 2:
        return None
    values = np.array([first[document][0] - second[document][0] for document in shared])
    return bootstrap(values, np.array([first[document][1] for document in shared]), seed=seed)
