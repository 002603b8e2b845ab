"""What an experiment found: results of test parts, means over them, and two systems compared on the same splits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any

import numpy as np

from ..core.arrays import Doubles
from .measures import Findings
from .splits import Kind, SplitSettings
from .statistics import Interval, ResampledT, SignedRanks, bootstrap, pearson, resampled_t_test, wilcoxon

# kinds whose test parts are drawn again and again, so that training parts overlap
RESAMPLED: tuple[Kind, ...] = ("kfold", "monte-carlo", "cross-domain", "across", "shuffling", "curve")
POOLED = ("precision", "recall", "f", "f05")  # measures of tags, pooled over test parts
LEAST = 20  # tokens of a tag whose accuracy is more than chance (Heid, Fig. 6.14)


@dataclass(frozen=True)
class DocumentScores:
    """One document of a test part, of which so many tokens were tested, and the scores of the component's scorer."""

    name: str
    tokens: int
    scores: dict[str, float]


@dataclass(frozen=True)
class PartResult:
    """One test part of one split.

    split (str), test (str), series (str), fraction (float), draw (int): see `splits.Split`.
    labels (int): K, that the component knows.
    unknown_words (float): share of the tested tokens whose form is not in the training part.
    scores (dict[str, float]): of the component's scorer, of the whole part at once.
    documents (list[DocumentScores]): the same for each document. found (Findings): further measures.
    seconds (float): that training took, shared by all test parts of a split.
    """

    split: str
    test: str
    series: str
    fraction: float
    train_tokens: int
    test_tokens: int
    labels: int
    unknown_words: float
    scores: dict[str, float]
    documents: list[DocumentScores]
    found: Findings
    seconds: float = field(compare=False)
    draw: int = 0

    def to_data(self) -> dict[str, Any]:
        """Return data that JSON can hold."""
        confusions = [[gold, found, count] for (gold, found), count in self.found.confusions.most_common()]
        curves = {name: [list(point) for point in points.items()] for name, points in self.found.curves.items()}
        plain = {name: value for name, value in vars(self).items() if name not in ("documents", "found")}
        scores = {**self.scores, **self.found.scores}
        documents = [asdict(document) for document in self.documents]
        return {**plain, "scores": scores, "documents": documents, "curves": curves, "confusions": confusions}


@dataclass(frozen=True)
class SystemResult:
    """All test parts of one system, in the order of splits, and the component that was scored."""

    name: str
    component: str
    tests: list[PartResult]

    @property
    def groups(self) -> dict[tuple[str, float], list[PartResult]]:
        """Test parts that may be averaged: those of the same series and fraction."""
        found: dict[tuple[str, float], list[PartResult]] = {}
        for test in self.tests:
            found.setdefault((test.series, test.fraction), []).append(test)
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class Experiment:
    """The outcome: how the corpus was split, the names of its documents, and one or more systems on these splits."""

    settings: SplitSettings
    documents: Sequence[str]
    systems: Sequence[SystemResult]


# -- summary -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """A measure over n test parts.

    mean (float), least (float), greatest (float): over these. deviation (float | None): standard deviation, if n > 1.
    interval (Interval | None): of the mean over documents, weighted by tokens, for scores of the component's scorer:
        exact for scores that are means over tokens, and for others, such as F, of a mean of those of documents.
    """

    mean: float
    deviation: float | None
    least: float
    greatest: float
    n: int
    interval: Interval | None = None


@dataclass(frozen=True)
class TagRow:
    """Tokens of one tag; measures are 0 where they are undefined."""

    tag: str
    gold: int
    predicted: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the predicted ones that are right."""
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold ones that are found: the tag's accuracy."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.right / (self.gold + self.predicted) if self.gold + self.predicted else 0.0

    @property
    def f05(self) -> float:
        """F0.5, in which precision counts four times as much as recall."""
        weighted = 0.25 * self.gold + self.predicted
        return 1.25 * self.right / weighted if weighted else 0.0


def spread(values: Sequence[float], interval: Interval | None = None) -> Spread:
    """Return the spread of a measure, of at least one value."""
    deviation = stdev(values) if len(values) > 1 else None
    return Spread(fmean(values), deviation, min(values), max(values), len(values), interval)


def summarise(tests: Sequence[PartResult], seed: int = 0) -> dict[str, Spread]:
    """Return all measures of the test parts of a group by name, scores first, each part that has one counting the same.

    seed (int): of the bootstrap.
    """
    found: dict[str, Spread] = {}
    for name in dict.fromkeys(name for test in tests for name in test.scores):
        values = [test.scores[name] for test in tests if name in test.scores]
        found[name] = spread(values, _interval(tests, name, seed))
    for name in dict.fromkeys(name for test in tests for name in test.found.scores):
        found.setdefault(name, spread([test.found.scores[name] for test in tests if name in test.found.scores]))
    return found


def _interval(tests: Sequence[PartResult], name: str, seed: int) -> Interval | None:
    means = document_means(tests, name)
    if len(means) < 2:
        return None
    values, tokens = np.array(list(means.values())).T
    return bootstrap(values, tokens, seed=seed)


def document_means(tests: Sequence[PartResult], name: str) -> dict[str, tuple[float, float]]:
    """Return a score of each document, and its mean number of tokens; documents tested several times count once."""
    found: dict[str, list[tuple[float, int]]] = {}
    for test in tests:
        for document in test.documents:
            if name in document.scores:
                found.setdefault(document.name, []).append((document.scores[name], document.tokens))
    return {
        document: (float(np.average(scores, weights=tokens)), fmean(tokens))
        for document, (scores, tokens) in ((key, tuple(zip(*pairs))) for key, pairs in found.items())
    }


def average_curves(tests: Sequence[PartResult]) -> dict[str, dict[float, Spread]]:
    """Average the curves of test parts point by point."""
    names = dict.fromkeys(name for test in tests for name in test.found.curves)
    curves = {name: [test.found.curves[name] for test in tests if name in test.found.curves] for name in names}
    return {name: {x: spread([curve[x] for curve in own]) for x in own[0]} for name, own in curves.items()}


def sum_confusions(tests: Sequence[PartResult]) -> Counter[tuple[str, str]]:
    """Count tokens by gold tag and predicted tag, over all test parts."""
    return sum((test.found.confusions for test in tests), Counter())


def tag_rows(confusions: Counter[tuple[str, str]]) -> list[TagRow]:
    """Return counts of each tag, the most frequent gold tag first."""
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (right, found), count in confusions.items():
        gold[right] += count
        predicted[found] += count
    tags = sorted({*gold, *predicted}, key=lambda tag: (-gold[tag], -predicted[tag], tag))
    return [TagRow(tag, gold[tag], predicted[tag], confusions[tag, tag]) for tag in tags]


def pooled_by_draw(tests: Sequence[PartResult]) -> dict[str, dict[str, Spread]]:
    """Count precision, recall, F and F0.5 of each tag over the test parts of a draw together, and return their spread.

    RETURNS (dict): by tag and measure, the most frequent gold tag first; {} without confusions.
    """
    draws: dict[int, list[PartResult]] = {}
    for test in tests:
        draws.setdefault(test.draw, []).append(test)
    rows = [{row.tag: row for row in tag_rows(sum_confusions(own))} for own in draws.values()]
    found: dict[str, dict[str, Spread]] = {}
    for tag in [row.tag for row in tag_rows(sum_confusions(tests))]:
        own = [tags.get(tag, TagRow(tag, 0, 0, 0)) for tags in rows]
        found[tag] = {name: spread([getattr(row, name) for row in own]) for name in POOLED}
    return found


def frequency_correlation(tests: Sequence[PartResult]) -> float | None:
    """Correlate the frequency of tags in training with their accuracy, over tags with LEAST test tokens.

    RETURNS (float | None): None where there are too few such tags.
    """
    frequencies: Counter[str] = sum((test.found.frequencies for test in tests), Counter())
    rows = [row for row in tag_rows(sum_confusions(tests)) if row.gold >= LEAST]
    counts = np.array([frequencies[row.tag] for row in rows], dtype=np.float64)
    return pearson(counts, np.array([row.recall for row in rows], dtype=np.float64))


# -- comparison --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SystemDifference:
    """One score of two systems on the test parts of one group.

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
        """Mean difference."""
        return self.first_mean - self.second_mean

    def to_data(self) -> dict[str, Any]:
        """Return data that JSON can hold."""
        return {**asdict(self), "mean": self.mean}


def compare_all(experiment: Experiment) -> list[SystemDifference]:
    """Compare the first system with each of the others, in all scores that both have."""
    first, *others = experiment.systems
    settings = experiment.settings
    return [found for other in others for found in compare(first, other, settings.kind, settings.seed)]


def compare(first: SystemResult, second: SystemResult, kind: Kind, seed: int = 0) -> list[SystemDifference]:
    """Compare two systems on the same splits of a kind, in each score and group. seed (int): of the bootstrap."""
    found = []
    for (series, fraction), ours in first.groups.items():
        theirs = second.groups[series, fraction]
        shared = [name for name in ours[0].scores if all(name in test.scores for test in (*ours, *theirs))]
        for name in shared:
            pairs = [(a.scores[name], b.scores[name]) for a, b in zip(ours, theirs)]
            means = [fmean(side) for side in zip(*pairs)]
            differences = np.array([a - b for a, b in pairs])
            found.append(
                SystemDifference(
                    *(first.name, second.name, name, series, fraction, means[0], means[1]),
                    ranks=wilcoxon(_by_test(ours, differences)),
                    resampled=_resampled(ours, differences) if kind in RESAMPLED else None,
                    interval=_paired_interval(ours, theirs, name, seed),
                )
            )
    return found


def _by_test(tests: Sequence[PartResult], differences: Doubles) -> Doubles:
    """Average differences over test parts of the same name."""
    found: dict[str, list[float]] = {}
    for test, difference in zip(tests, differences.tolist()):
        found.setdefault(test.test, []).append(difference)
    return np.array([fmean(own) for own in found.values()])


def _resampled(tests: Sequence[PartResult], differences: Doubles) -> ResampledT | None:
    if len(tests) < 2:
        return None
    ratio = fmean(test.test_tokens for test in tests) / fmean(test.train_tokens for test in tests)
    return resampled_t_test(differences, ratio)


def _paired_interval(ours: Sequence[PartResult], theirs: Sequence[PartResult], name: str, seed: int) -> Interval | None:
    first, second = document_means(ours, name), document_means(theirs, name)
    shared = [document for document in first if document in second]
    if len(shared) < 2:
        return None
    values = np.array([first[document][0] - second[document][0] for document in shared])
    return bootstrap(values, np.array([first[document][1] for document in shared]), seed=seed)
