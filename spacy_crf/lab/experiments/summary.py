"""Means over test parts, and what summed confusions say of single tags."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from .results import PartResult
from .statistics import Interval, bootstrap, pearson

POOLED = ("precision", "recall", "f", "f05")  # measures of tags, pooled over test parts
LEAST = 20  # tokens of a tag whose accuracy is more than chance (Heid, Fig. 6.14)


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
    """One tag.

    gold (int), predicted (int), right (int): tokens. precision, recall, f (float): 0 where they are undefined.
    """

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
    """The spread of a measure. values (Sequence[float]): at least one."""
    deviation = stdev(values) if len(values) > 1 else None
    return Spread(fmean(values), deviation, min(values), max(values), len(values), interval)


def summarise(tests: Sequence[PartResult], seed: int = 0) -> dict[str, Spread]:
    """All measures of test parts that may be averaged, each part counting the same.

    tests (Sequence[PartResult]): of one group. seed (int): of the bootstrap.
    RETURNS (dict[str, Spread]): by name, scores first; a measure is averaged over the parts that have it.
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
    """A score of each document, and its mean number of tokens; documents tested several times count once."""
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
    """The curves of test parts, averaged point by point."""
    names = dict.fromkeys(name for test in tests for name in test.found.curves)
    curves = {name: [test.found.curves[name] for test in tests if name in test.found.curves] for name in names}
    return {name: {x: spread([curve[x] for curve in own]) for x in own[0]} for name, own in curves.items()}


def sum_confusions(tests: Sequence[PartResult]) -> Counter[tuple[str, str]]:
    """Tokens by gold tag and predicted tag, over all test parts."""
    return sum((test.found.confusions for test in tests), Counter())


def tag_rows(confusions: Counter[tuple[str, str]]) -> list[TagRow]:
    """Counts of each tag, the most frequent gold tag first.

    confusions (Counter): tokens by gold tag and predicted tag.
    """
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (right, found), count in confusions.items():
        gold[right] += count
        predicted[found] += count
    tags = sorted({*gold, *predicted}, key=lambda tag: (-gold[tag], -predicted[tag], tag))
    return [TagRow(tag, gold[tag], predicted[tag], confusions[tag, tag]) for tag in tags]


def pooled_by_draw(tests: Sequence[PartResult]) -> dict[str, dict[str, Spread]]:
    """Precision, recall, F and F0.5 of each tag, counted over the test parts of a draw together, and their spread.

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
    """Pearson's correlation of the frequency of a tag in training and its accuracy, over tags with LEAST test tokens.

    RETURNS (float | None): None where there are too few such tags.
    """
    frequencies: Counter[str] = sum((test.found.frequencies for test in tests), Counter())
    rows = [row for row in tag_rows(sum_confusions(tests)) if row.gold >= LEAST]
    counts = np.array([frequencies[row.tag] for row in rows], dtype=np.float64)
    return pearson(counts, np.array([row.recall for row in rows], dtype=np.float64))
