"""Whether a difference between two systems is more than chance.

Which of the tests may be asked depends on how the data were split. Differences on separate documents are about
independent: Wilcoxon's test and the bootstrap. Splits that are drawn again and again share their training data, and
tests that count them as independent find differences where there are none: the corrected resampled t-test.
"""

from dataclasses import dataclass
from math import copysign, inf, nan, sqrt
from typing import Literal, get_args

import numpy as np

from ..core.arrays import Doubles
from ..core.errors import CoreErrors, CRFError
from .errors import LabErrors

Alternative = Literal["two-sided", "greater", "less"]
MOST_EXACT = 60  # differences; beyond that the normal approximation is as good
DRAWS = 10_000
CELLS = 1_000_000  # of the bootstrap in memory at once
DIGITS = 12  # of differences; what is behind is the rounding of the scores


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
    """Outcome of the corrected resampled t-test on n splits, two-sided, with the confidence interval of the mean.

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


def resampled_t_test(differences: Doubles, test_per_train: float, level: float = 0.95) -> ResampledT:
    """Test the differences ((n,)) of at least two splits by the corrected resampled t-test (Nadeau and Bengio 2003).

    The variance of the mean of n differences is estimated as (1/n + test_per_train) times their sample variance,
    as training sets that overlap make differences depend on each other; n - 1 degrees of freedom. For k-fold
    cross-validation, repeated or not, test_per_train is 1 / (k - 1) (Bouckaert and Frank 2004).
    p is 1 where all differences are 0, and 0 where they are all the same otherwise; both as `wilcoxon` sees it.

    test_per_train (float): size of test parts by that of training parts; 0 is Student's paired t-test.
    level (float): of the confidence interval.
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
    reach = error * float(stats.t.ppf((1 + level) / 2, n - 1))
    return ResampledT(n, mean, t, float(2 * stats.t.sf(abs(t), n - 1)), mean - reach, mean + reach)


def bootstrap(values: Doubles, weights: Doubles, level: float = 0.95, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Return the percentile interval of a weighted mean over documents that are drawn with replacement.

    values ((D,)): a score for each document, or the difference of the scores of two systems.
    weights ((D,)): e.g. their tokens, so that the mean is one over tokens.
    level (float): of the interval. draws (int): resamples.
    """
    from scipy import stats

    _check_finite(values)
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


def pearson(first: Doubles, second: Doubles) -> float | None:
    """Return Pearson's correlation; None where there are fewer than two pairs, or one side does not vary."""
    if len(first) < 2 or not np.ptp(first) or not np.ptp(second):
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _without_rounding(differences: Doubles) -> Doubles:
    """Round finite differences so that those of equal size are equal, and those of 0 are 0."""
    _check_finite(differences)
    scale = max(1.0, np.abs(differences).max(initial=0.0))
    return np.asarray(np.round(differences / scale, DIGITS) * scale)


def _check_finite(values: Doubles) -> None:
    if not np.isfinite(values).all():
        raise CRFError(CoreErrors.CRF102.format(name="differences"))
