"""Whether a difference between two systems is more than chance.

Which of the tests may be asked depends on how the data were split. Differences on separate documents are about
independent: Wilcoxon's test and the bootstrap. Splits that are drawn again and again share their training data, and
tests that count them as independent find differences where there are none: the corrected resampled t-test.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import copysign, inf, nan, sqrt
from statistics import fmean
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from ..core.arrays import Doubles, Indices, check_finite, dense_rows
from ..core.errors import CRFError
from .errors import LabErrors

Alternative = Literal["two-sided", "greater", "less"]
MOST_EXACT = 60  # differences; beyond that the normal approximation is as good
DRAWS = 10_000
CELLS = 1_000_000  # of the bootstrap in memory at once
DIGITS = 12  # of differences; what is behind is the rounding of the scores
FIGURE_DRAWS = 1000
LEVEL = 0.95

Scores: TypeAlias = Mapping[str, Any]
"""Figures by name; one that is a mapping itself has those of each label, or of precision and recall, within it."""
Names: TypeAlias = tuple[str, ...]
"""Of a figure, from the outermost one."""


@dataclass(frozen=True)
class SignedRanks:
    """Outcome of Wilcoxon's signed-rank test on n differences that are not 0, with the sums of their ranks.

    p (float): probability of a result as far off, if differences were symmetric about 0; 1 for n = 0.
    """

    n: int
    positive: float
    negative: float
    p: float


@dataclass(frozen=True)
class ResampledT:
    """Outcome of the corrected resampled t-test on n splits, two-sided, with the 95 % confidence interval of the mean.

    t (float): statistic, NaN where all differences are 0.
    """

    n: int
    mean: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class Interval:
    """A weighted mean over documents with the bounds of its percentile interval."""

    mean: float
    low: float
    high: float
    documents: int


def wilcoxon(differences: Doubles, alternative: Alternative = "two-sided") -> SignedRanks:
    """Test the differences ((n,)) of pairs by Wilcoxon's signed ranks; "greater" asks whether they are above 0.

    Differences of 0 are dropped, as Wilcoxon did, and equal ones share their mean rank; both to DIGITS digits of the
    greatest one, or of 1 where that is more, as 0.9 - 0.8 and 0.8 - 0.7 differ by rounding. The probability is exact,
    also with ties, up to MOST_EXACT differences; above, it is the normal approximation with correction for ties.
    Critical values of tables are often one-sided: the sum of signed ranks 33 for n = 10 in Heid, section 2.3.5, is so;
    two-sided it is 39.
    """
    from scipy import stats

    differences = _without_rounding(differences)
    if alternative not in get_args(Alternative):
        raise CRFError(LabErrors.CRF618.format(value=alternative, known=", ".join(get_args(Alternative))))
    kept = differences[differences != 0]
    ranks = stats.rankdata(np.abs(kept))
    positive, negative = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
    if len(kept) > MOST_EXACT:
        p = stats.wilcoxon(kept, alternative=alternative, method="approx", correction=True).pvalue
    elif len(np.unique(ranks)) == len(ranks) > 0:
        p = stats.wilcoxon(kept, alternative=alternative, method="exact").pvalue
    else:
        p = _exact_with_ties(ranks, positive, alternative)
    return SignedRanks(len(kept), positive, negative, float(p))


def _exact_with_ties(ranks: Doubles, positive: float, alternative: Alternative) -> float:
    """Return the probability where all signs are equally likely, which scipy knows for distinct ranks only. O(n^3)."""
    doubled = np.rint(2 * ranks).astype(np.intp)  # mean ranks are halves
    chances = np.zeros(doubled.sum() + 1)
    chances[0] = 1.0
    for rank in doubled.tolist():
        chances[rank:] += chances[: len(chances) - rank].copy()
        chances /= 2
    seen = round(2 * positive)
    above, below = float(chances[seen:].sum()), float(chances[: seen + 1].sum())
    return {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]


def resampled_t_test(differences: Doubles, test_per_train: float) -> ResampledT:
    """Test the differences ((n,)) of at least two splits by the corrected resampled t-test (Nadeau and Bengio 2003).

    The variance of the mean of n differences is estimated as (1/n + test_per_train) times their sample variance,
    as training sets that overlap make differences depend on each other; n - 1 degrees of freedom. For k-fold
    cross-validation, repeated or not, test_per_train is 1 / (k - 1) (Bouckaert and Frank 2004).
    p is 1 where all differences are 0, and 0 where they are all the same otherwise; both as `wilcoxon` sees it.

    test_per_train (float): size of test parts by that of training parts; 0 is Student's paired t-test.
    """
    from scipy import stats

    differences = _without_rounding(differences)
    n = len(differences)
    if n < 2:
        raise CRFError(LabErrors.CRF619.format(found=n))
    mean, error = float(differences.mean()), sqrt((1 / n + test_per_train) * differences.var(ddof=1))
    if not np.ptp(differences):
        return ResampledT(n, mean, copysign(inf, mean) if mean else nan, float(mean == 0), mean, mean)
    t = mean / error
    reach = error * float(stats.t.ppf((1 + LEVEL) / 2, n - 1))
    return ResampledT(n, mean, t, float(2 * stats.t.sf(abs(t), n - 1)), mean - reach, mean + reach)


def bootstrap(values: Doubles, weights: Doubles, level: float = 0.95, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Return the percentile interval of a weighted mean over documents that are drawn with replacement.

    values ((D,)): a score for each document, or the difference of the scores of two systems.
    weights ((D,)): e.g. their tokens, so that the mean is one over tokens.
    level (float): of the interval. draws (int): resamples.
    """
    from scipy import stats

    check_finite("differences", values)
    if not len(values) or not weights.sum() > 0:
        raise CRFError(LabErrors.CRF620)
    mean = float(np.average(values, weights=weights))
    if len(values) < 2:
        return Interval(mean, mean, mean, len(values))

    def weighted_mean(sums: Doubles, totals: Doubles, axis: int) -> Doubles:
        sums, totals = sums.sum(axis=axis), totals.sum(axis=axis)
        return np.divide(sums, totals, out=np.full(sums.shape, mean), where=totals > 0)

    settings = {"paired": True, "vectorized": True, "method": "percentile", "confidence_level": level}
    drawn = {"n_resamples": draws, "batch": max(1, CELLS // len(values)), "random_state": np.random.default_rng(seed)}
    found = stats.bootstrap((weights * values, weights), weighted_mean, **settings, **drawn).confidence_interval
    return Interval(mean, float(found.low), float(found.high), len(values))


def join_pieces(pieces: Sequence[tuple[float, int, int]], divided: bool) -> tuple[float, float]:
    """Return the mean over the pieces of a document that were tested, and the weight of the document.

    pieces (Sequence): score, weight and draw of each. divided (bool): the pieces of a draw, such as those in folds,
        share the weight of the document; otherwise each of them has all of it.
    """
    scores, weights, draws = zip(*pieces)
    return float(np.average(scores, weights=weights)), sum(weights) / (len(set(draws)) if divided else len(draws))


def shared_means(rows: Sequence[Sequence[float | None]]) -> tuple[list[float | None], list[int]]:
    """Return means over the columns that no row lacks, None where there are none, and the numbers of the others."""
    lacking = sorted({column for row in rows for column, value in enumerate(row) if value is None})
    kept = [[value for k, value in enumerate(row) if value is not None and k not in lacking] for row in rows]
    return [fmean(own) if own else None for own in kept], lacking


def pearson(first: Doubles, second: Doubles) -> float | None:
    """Return Pearson's correlation; None where there are fewer than two pairs, or one side does not vary."""
    if len(first) < 2 or not np.ptp(first) or not np.ptp(second):
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _without_rounding(differences: Doubles) -> Doubles:
    """Round finite differences so that those of equal size are equal, and those of 0 are 0."""
    check_finite("differences", differences)
    scale = max(1.0, np.abs(differences).max(initial=0.0))
    return np.asarray(np.round(differences / scale, DIGITS) * scale)


# -- intervals of figures ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """Counts of D documents, of K kinds.

    counts ((D, K)): they may be sums of shares too. scores (Callable): takes sums ((K,)), and returns the figures.
    """

    counts: Doubles
    scores: Callable[[Doubles], Scores]

    @classmethod
    def of(cls, documents: Iterable[Mapping[Any, float]], scores: Callable[[Counter[Any]], Scores]) -> "Tally":
        """Make a tally of counts by key. scores (Callable): takes sums of them."""
        rows = list(documents)
        keys = list(dict.fromkeys(key for row in rows for key in row))
        counts = dense_rows(rows, {key: k for k, key in enumerate(keys)})
        return cls(counts, partial(_from_keys, keys=keys, scores=scores))

    def total(self) -> Scores:
        """Return the figures of all documents together."""
        return self.scores(self.counts.sum(axis=0))


def _from_keys(sums: Doubles, keys: Sequence[Hashable], scores: Callable[[Counter[Any]], Scores]) -> Scores:
    return scores(Counter({key: count for key, count in zip(keys, sums.tolist()) if count}))


def flatten(scores: Scores, path: Names = ()) -> dict[Names, float]:
    """Return the figures that are numbers by their path."""
    found: dict[Names, float] = {}
    for name, value in scores.items():
        if isinstance(value, Mapping):
            found |= flatten(value, (*path, str(name)))
        elif isinstance(value, int | float):
            found[(*path, str(name))] = float(value)
    return found


def single_figures(scores: Scores) -> dict[str, float]:
    """Return the figures that are numbers, and none of those by label."""
    return {name: float(value) for name, value in scores.items() if isinstance(value, int | float)}


def nest(figures: Mapping[Names, Any]) -> dict[str, Any]:
    """Return figures as they were before `flatten`."""
    found: dict[str, Any] = {}
    for (*outer, name), value in figures.items():
        inner = found
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[name] = value
    return found


def bootstrap_figures(
    tallies: Sequence[Tally], documents: Indices, draws: int = FIGURE_DRAWS, seed: int = 0
) -> dict[Names, Interval]:
    """Return the 95 % percentile interval of each figure, over documents that are drawn with replacement.

    Each draw makes the figure anew from the sums of its documents, so that this is the interval of the figure itself,
    such as F of all documents together, and not of a mean over documents. A figure that a draw lacks, as none of its
    documents has such a label, is taken from the others. None with fewer than two documents.

    documents ((n,)): number of the document that each row of the tallies belongs to.
    """
    n = int(documents.max(initial=-1)) + 1
    if n < 2:
        return {}
    drawn: dict[Names, list[float]] = {}
    rng, done = np.random.default_rng(seed), 0
    by_document = [(_sum_rows(tally.counts, documents, n), tally.scores) for tally in tallies]
    while done < draws:
        size = min(draws - done, max(1, CELLS // n))
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64)
        for counts, scores in by_document:
            for sums in weights @ counts:
                for path, value in flatten(scores(sums)).items():
                    drawn.setdefault(path, []).append(value)
        done += size
    low, high = 50 * (1 - LEVEL), 50 * (1 + LEVEL)
    means = {path: value for tally in tallies for path, value in flatten(tally.total()).items()}
    return {
        path: Interval(mean, float(np.percentile(drawn[path], low)), float(np.percentile(drawn[path], high)), n)
        for path, mean in means.items()
        if path in drawn
    }


def _sum_rows(counts: Doubles, documents: Indices, n: int) -> Doubles:
    sums = np.zeros((n, counts.shape[1]))
    np.add.at(sums, documents, counts)
    return sums
