"""What an experiment found: results of test parts, means over them, and two systems compared on the same splits."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from math import isclose, isfinite
from statistics import fmean, stdev
from typing import Any, TypeVar

import numpy as np

from ..core.scores import count_confusions
from .measures import Findings
from .splits import Kind, SplitSettings
from .statistics import Interval, ResampledT, SignedRanks, bootstrap, join_pieces, pearson, resampled_t_test, wilcoxon

# kinds whose test parts are drawn again and again, so that training parts overlap
RESAMPLED: tuple[Kind, ...] = ("kfold", "monte-carlo", "cross-domain", "across", "shuffling", "curve", "active")
POOLED = ("precision", "recall", "f", "f05")  # measures of tags, pooled over test parts
LEAST = 20  # tokens of a tag whose accuracy is more than chance (Heid, Fig. 6.14)
Value = TypeVar("Value")


@dataclass(frozen=True)
class DocumentScores:
    """The scores of one document of a test part, of which so many tokens were tested."""

    name: str
    tokens: int
    scores: dict[str, float]


Weigh = Callable[[DocumentScores], int]


@dataclass(frozen=True)
class PartResult:
    """One test part of one split.

    split (str), test (str), series (str), fraction (float), draw (int): see `splits.Split`.
    labels (int): K, that the component knows.
    unknown_words (float | None): of the tested tokens, the share that is not in the training part; None without gold.
    scores (dict), documents (list): of the component's scorer, of the whole part at once and of each document.
    seconds (float): that training took, shared by all test parts of a split.
    """

    split: str
    test: str
    series: str
    fraction: float
    train_tokens: int
    test_tokens: int
    labels: int
    unknown_words: float | None
    scores: dict[str, float]
    documents: list[DocumentScores]
    found: Findings
    seconds: float = field(compare=False)
    draw: int = 0

    def to_data(self) -> dict[str, Any]:
        """Return data that JSON can hold."""
        return {
            **{name: value for name, value in vars(self).items() if name not in ("documents", "found")},
            "scores": {**self.scores, **self.found.scores},
            "documents": [asdict(document) for document in self.documents],
            "curves": {name: [list(point) for point in points.items()] for name, points in self.found.curves.items()},
            "confusions": [[*pair, count] for pair, count in self.found.confusions.most_common()],
        }


@dataclass(frozen=True)
class SystemResult:
    """All test parts of one system, in the order of splits, and the component that was scored."""

    name: str
    component: str
    tests: list[PartResult]

    @property
    def groups(self) -> dict[tuple[str, float], list[PartResult]]:
        """Test parts that may be averaged: those of the same series and fraction."""
        keys = sorted({(test.series, test.fraction) for test in self.tests})
        return {key: [test for test in self.tests if (test.series, test.fraction) == key] for key in keys}


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

    deviation (float | None): standard deviation, if n > 1.
    interval (Interval | None): over documents, for scores of the component's scorer that are means over tokens or over
        documents.
    corrected (tuple[float, float] | None): 95 % interval over test parts whose training parts overlap, corrected for
        that as in `resampled_t_test`.
    """

    mean: float
    deviation: float | None
    least: float
    greatest: float
    n: int
    interval: Interval | None = None
    corrected: tuple[float, float] | None = None


@dataclass(frozen=True)
class TagRow:
    """Tokens of one tag, and the measures of `LabelCounts`, of which recall is the tag's accuracy."""

    tag: str
    gold: int = 0
    predicted: int = 0
    right: int = 0
    precision: float = 0.0
    recall: float = 0.0
    f: float = 0.0
    f05: float = 0.0


def spread(values: Sequence[float], interval: Interval | None = None, ratio: float | None = None) -> Spread:
    """Return the spread of at least one value.

    ratio (float | None): size of test parts by that of training parts that overlap; None where these do not.
    """
    several = len(values) > 1
    told = resampled_t_test(np.array(values), ratio) if several and ratio is not None else None
    corrected = None if told is None else (told.low, told.high)
    deviation = stdev(values) if several else None
    return Spread(fmean(values), deviation, min(values), max(values), len(values), interval, corrected)


def summarise(tests: Sequence[PartResult], seed: int = 0, kind: Kind | None = None) -> dict[str, Spread]:
    """Return all measures of the test parts of a group by name, scores first; parts count the same.

    seed (int): of the bootstrap over documents. kind (str | None): of the splits.
    """
    scores, more = (_by_name(rows) for rows in zip(*((test.scores, test.found.scores) for test in tests)))
    intervals = {name: _interval(list(document_means(tests, name).values()), seed) for name in scores}
    ratio = test_share(tests) if kind in RESAMPLED else None
    found = {name: spread(values, intervals[name], ratio) for name, values in scores.items()}
    return found | {name: spread(values, None, ratio) for name, values in more.items() if name not in found}


def test_share(tests: Sequence[PartResult]) -> float:
    """Return the size of test parts by that of training parts, on the mean."""
    return fmean(test.test_tokens for test in tests) / fmean(test.train_tokens for test in tests)


def _by_name(rows: Iterable[Mapping[str, Value]]) -> dict[str, list[Value]]:
    """Return the values of each name, of all rows that have one."""
    found: dict[str, list[Value]] = {}
    for name, value in chain.from_iterable(row.items() for row in rows):
        found.setdefault(name, []).append(value)
    return found


def _interval(means: Sequence[tuple[float, float]], seed: int) -> Interval | None:
    """Return the interval of a mean over several documents, from the value and the tokens of each."""
    if len(means) < 2:
        return None
    values, tokens = np.array(means, dtype=np.float64).T
    return bootstrap(values, tokens, seed=seed)


def document_means(tests: Sequence[PartResult], name: str) -> dict[str, tuple[float, float]]:
    """Return a score of each document, and how much it counts; documents tested several times count once.

    Empty unless the score of each test part is a mean of these, by tokens, or with all documents alike. F of a test
    part, say, is no mean of those of its documents.
    """
    tests = [test for test in tests if name in test.scores]  # a part may have nothing to judge, such as trees
    own = [[document for document in test.documents if name in document.scores] for test in tests]
    kinds: tuple[Weigh, Weigh] = (lambda document: document.tokens, lambda _: 1)
    fits = [all(_is_mean(test.scores[name], part, name, kind) for test, part in zip(tests, own)) for kind in kinds]
    if not any(fits):
        return {}
    weigh, pieces = kinds[fits.index(True)], [(one, test.draw) for test, part in zip(tests, own) for one in part]
    found = _by_name({one.name: (one.scores[name], weigh(one), draw)} for one, draw in pieces)
    return {document: join_pieces(rows, divided=fits[0]) for document, rows in found.items()}


def _is_mean(score: float, documents: Sequence[DocumentScores], name: str, weigh: Weigh) -> bool:
    weights = [weigh(document) for document in documents]
    return sum(weights) > 0 and isclose(score, np.average([one.scores[name] for one in documents], weights=weights))


def average_curves(tests: Sequence[PartResult]) -> dict[str, dict[float, Spread]]:
    """Average the curves of test parts point by point."""
    curves = _by_name(test.found.curves for test in tests)
    return {name: {x: spread([curve[x] for curve in own]) for x in own[0]} for name, own in curves.items()}


def average_labels(tests: Sequence[PartResult]) -> dict[str, dict[str, dict[str, Spread]]]:
    """Average the scores of each label, over the test parts that have it."""
    return {
        name: {
            label: {kind: spread(values) for kind, values in _by_name(rows).items()}
            for label, rows in sorted(_by_name(by_label).items())
        }
        for name, by_label in _by_name(test.found.by_label for test in tests).items()
    }


def sum_confusions(tests: Sequence[PartResult]) -> Counter[tuple[str, str]]:
    """Count tokens by gold tag and predicted tag, over all test parts."""
    return sum((test.found.confusions for test in tests), Counter())


def tag_rows(confusions: Counter[tuple[str, str]]) -> list[TagRow]:
    """Return counts of each tag, the most frequent gold tag first."""
    tags = sorted({tag for pair in confusions for tag in pair})
    counts = count_confusions(confusions, tags)
    columns = {name: getattr(counts, name).tolist() for name in ("gold", "predicted", "right", *POOLED)}
    rows = [TagRow(tag, **{name: column[k] for name, column in columns.items()}) for k, tag in enumerate(tags)]
    return sorted(rows, key=lambda row: (-row.gold, -row.predicted, row.tag))


def label_data(confusions: Counter[tuple[str, str]]) -> dict[str, dict[str, float]]:
    """Return counts and measures of each label as data that JSON can hold."""
    return {
        row.tag: {"gold": row.gold, "predicted": row.predicted, **{name: getattr(row, name) for name in POOLED}}
        for row in tag_rows(confusions)
    }


def pooled_by_draw(tests: Sequence[PartResult]) -> dict[str, dict[str, Spread]]:
    """Return the spread of the measures of each tag over draws, each pooled; the most frequent gold tag first."""
    draws = [[test for test in tests if test.draw == draw] for draw in sorted({test.draw for test in tests})]
    rows = [{row.tag: row for row in tag_rows(sum_confusions(own))} for own in draws]
    pooled = {row.tag: [tags.get(row.tag, TagRow(row.tag)) for tags in rows] for row in tag_rows(sum_confusions(tests))}
    return {tag: {name: spread([getattr(row, name) for row in own]) for name in POOLED} for tag, own in pooled.items()}


def frequency_correlation(tests: Sequence[PartResult]) -> float | None:
    """Correlate the frequency of tags in training with their accuracy, over tags with LEAST test tokens, if any."""
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
        return self.first_mean - self.second_mean

    def to_data(self) -> dict[str, Any]:
        test = self.resampled and {name: value for name, value in asdict(self.resampled).items() if isfinite(value)}
        return {**asdict(self), "mean": self.mean, "resampled": test}


def compare_all(experiment: Experiment) -> list[SystemDifference]:
    """Compare the first system with each of the others, in all scores that both have."""
    first, *others = experiment.systems
    settings = experiment.settings
    return [found for other in others for found in compare(first, other, settings.kind, settings.seed)]


def compare(first: SystemResult, second: SystemResult, kind: Kind, seed: int = 0) -> list[SystemDifference]:
    """Compare two systems on the splits of a kind, in each score and group, where both have it. seed: of bootstraps."""
    found = []
    for (series, fraction), ours in first.groups.items():
        theirs, is_drawn = second.groups[series, fraction], kind in RESAMPLED
        for name in dict.fromkeys(chain.from_iterable(test.scores for test in ours)):
            pairs = [pair for pair in zip(ours, theirs) if all(name in test.scores for test in pair)]
            if not pairs:
                continue
            sides = [[test.scores[name] for test in side] for side in zip(*pairs)]
            differences = np.array([one - other for one, other in zip(*sides)])
            by_test = _by_name({test.test: difference} for (test, _), difference in zip(pairs, differences))
            documents, others = (document_means(side, name) for side in (ours, theirs))
            paired = [(documents[key][0] - others[key][0], documents[key][1]) for key in documents if key in others]
            found.append(
                SystemDifference(
                    *(first.name, second.name, name, series, fraction, fmean(sides[0]), fmean(sides[1])),
                    ranks=wilcoxon(np.array([fmean(own) for own in by_test.values()])),
                    resampled=resampled_t_test(differences, test_share(ours)) if is_drawn and len(pairs) > 1 else None,
                    interval=_interval(paired, seed),
                )
            )
    return found
