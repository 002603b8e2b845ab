"""Whether a difference between two systems is more than chance.

Which of the tests may be asked depends on how the data were split. Differences on separate documents are about
independent: Wilcoxon's test and the bootstrap. Splits that are drawn again and again share their training data, and
tests that count them as independent find differences where there are none: the corrected resampled t-test.
"""

from dataclasses import dataclass
from math import copysign, erfc, inf, nan, sqrt
from typing import Literal, get_args

import numpy as np

from ...core.arrays import Doubles
from ...core.errors import CoreErrors, CRFError
from ..errors import LabErrors

Alternative = Literal["two-sided", "greater", "less"]
MOST_EXACT = 60  # differences; beyond that the normal approximation is as good
DRAWS = 10_000
CELLS = 1_000_000  # of the bootstrap in memory at once


@dataclass(frozen=True)
class SignedRanks:
    """Outcome of Wilcoxon's signed-rank test.

    n (int): differences that are not 0. positive (float), negative (float): sums of their ranks.
    p (float): probability of a result as far off, if differences were symmetric about 0; 1 for n = 0.
    """

    n: int
    positive: float
    negative: float
    p: float


@dataclass(frozen=True)
class ResampledT:
    """Outcome of the corrected resampled t-test.

    n (int): splits. mean (float): difference. t (float): statistic, NaN where all differences are 0.
    p (float): two-sided. low (float), high (float): bounds of the confidence interval of the mean.
    """

    n: int
    mean: float
    t: float
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class Interval:
    """A mean over documents with a percentile interval.

    mean (float): weighted. low (float), high (float): bounds. documents (int): that were drawn from.
    """

    mean: float
    low: float
    high: float
    documents: int


def wilcoxon(differences: Doubles, alternative: Alternative = "two-sided") -> SignedRanks:
    """Wilcoxon's signed-rank test of paired differences. O(n^3) for n <= MOST_EXACT, O(n log n) beyond.

    Differences of 0 are dropped, as Wilcoxon did, and equal ones share their mean rank. The probability is exact, also
    with ties, up to MOST_EXACT differences; above, it is the normal approximation with correction for ties.
    Critical values of tables are often one-sided: the sum of signed ranks 33 for n = 10 in Heid, section 2.3.5, is so;
    two-sided it is 39.

    differences ((n,)): one for each pair. alternative (str): "greater" asks whether they are above 0.
    RETURNS (SignedRanks): the outcome.
    RAISES (ValueError): for values that are not finite, or another alternative.
    """
    _check_finite(differences)
    if alternative not in get_args(Alternative):
        raise CRFError(LabErrors.CRF618.format(value=alternative, known=", ".join(get_args(Alternative))))
    kept = differences[differences != 0]
    ranks = _mean_ranks(np.abs(kept))
    positive, negative = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
    above, below = _tails(ranks, positive)
    p = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]
    return SignedRanks(len(kept), positive, negative, p)


def _mean_ranks(values: Doubles) -> Doubles:
    """((n,)): ranks from 1 on; equal values share the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Doubles = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks


def _tails(ranks: Doubles, positive: float) -> tuple[float, float]:
    """Probability of a sum of positive ranks at least, and at most, as great, where all signs are equally likely."""
    if len(ranks) > MOST_EXACT:
        distance, deviation = positive - ranks.sum() / 2, sqrt((ranks**2).sum() / 4)
        return _normal_tail((distance - 0.5) / deviation), _normal_tail((-distance - 0.5) / deviation)
    doubled = np.rint(2 * ranks).astype(np.intp)  # mean ranks are halves
    chances = np.zeros(doubled.sum() + 1)
    chances[0] = 1.0
    for rank in doubled.tolist():
        chances[rank:] += chances[: len(chances) - rank].copy()
        chances /= 2
    seen = round(2 * positive)
    return float(chances[seen:].sum()), float(chances[: seen + 1].sum())


def _normal_tail(z: float) -> float:
    return 0.5 * erfc(z / sqrt(2))


def resampled_t_test(differences: Doubles, test_per_train: float, level: float = 0.95) -> ResampledT:
    """Corrected resampled t-test (Nadeau and Bengio, Inference for the generalization error, 2003).

    The variance of the mean of n differences is estimated as (1/n + test_per_train) times their sample variance,
    as training sets that overlap make differences depend on each other; n - 1 degrees of freedom. For k-fold
    cross-validation, repeated or not, test_per_train is 1 / (k - 1) (Bouckaert and Frank 2004).

    differences ((n,)): one for each split, n at least 2.
    test_per_train (float): size of test parts by that of training parts; 0 is Student's paired t-test.
    level (float): of the confidence interval.
    RETURNS (ResampledT): the outcome; p is 1 where all differences are 0, and 0 where they are all the same otherwise.
    RAISES (ValueError): for fewer differences, or values that are not finite.
    """
    from scipy import stats

    _check_finite(differences)
    n = len(differences)
    if n < 2:
        raise CRFError(LabErrors.CRF619.format(found=n))
    mean, error = float(differences.mean()), sqrt((1 / n + test_per_train) * differences.var(ddof=1))
    if not error:
        return ResampledT(n, mean, copysign(inf, mean) if mean else nan, float(mean == 0), mean, mean)
    t = mean / error
    reach = error * float(stats.t.ppf((1 + level) / 2, n - 1))
    return ResampledT(n, mean, t, float(2 * stats.t.sf(abs(t), n - 1)), mean - reach, mean + reach)


def bootstrap(values: Doubles, weights: Doubles, level: float = 0.95, draws: int = DRAWS, seed: int = 0) -> Interval:
    """Percentile interval of a weighted mean over documents that are drawn with replacement. O(draws D).

    Paired for two systems: give the differences of their scores on the same documents.

    values ((D,)): a score, or a difference of scores, for each document. weights ((D,)): e.g. their tokens, so that the
        mean is one over tokens.
    level (float): of the interval. draws (int): resamples. seed (int): of the draws.
    RETURNS (Interval): the mean of the documents as they are, and the bounds.
    RAISES (ValueError): where there is no document, for values that are not finite, or weights of 0 only.
    """
    _check_finite(values)
    if not len(values) or not weights.sum() > 0:
        raise CRFError(LabErrors.CRF620)
    rng, found = np.random.default_rng(seed), []
    block = max(1, CELLS // len(values))
    for first in range(0, draws, block):
        drawn = rng.integers(len(values), size=(min(block, draws - first), len(values)))
        totals = weights[drawn].sum(axis=1)
        sums = (weights * values)[drawn].sum(axis=1)
        found.append(sums[totals > 0] / totals[totals > 0])
    means = np.concatenate(found)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(float(np.average(values, weights=weights)), low, high, len(values))


def pearson(first: Doubles, second: Doubles) -> float | None:
    """Pearson's correlation; None where there are fewer than two pairs, or one side does not vary.

    first ((n,)), second ((n,)): pairs.
    """
    if len(first) < 2 or not np.ptp(first) or not np.ptp(second):
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _check_finite(values: Doubles) -> None:
    if not np.isfinite(values).all():
        raise CRFError(CoreErrors.CRF102.format(name="differences"))
