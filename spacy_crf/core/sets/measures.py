"""Measures of tags and tag sets where the gold is a weighted set (Heid, sections 2.3.2, 4.3 and 5.3), and of whether
sets hold gold as often as they should, in each stratum: size, label or group.

Gold is one row of weights per unit. A single 1 is one right tag; several 1s are tags that are all right; fractions
that sum to 1 are a partial gold, where annotators could not decide. A row of zeros has no gold and is left out: all
arrays returned here have one entry for each of the N' units with gold, so that their means are means over tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Doubles, Floats, Indices, Scalar, check_shape
from ..calibration import Reliability, classwise_errors, reliability
from ..errors import CoreErrors, CRFError

SUM_TOLERANCE = 1e-6
CUT = 0.01  # weights are written with two decimals, rounded or cut: .33 and .66 stand for thirds


def normalise(weights: Floats, name_unit: Callable[[int], str] = "Unit {}".format) -> Doubles:
    """Check rows of gold weights and make partial gold sum to exactly 1.

    weights ((N, L)): fractions may miss the sum of 1 by what two decimals can lose, .01 for each tag.
    name_unit (Callable): what messages call a unit, by its number.
    RETURNS ((N, L)): rows of zeros and rows of several ones stay as they are.
    RAISES (ValueError): for negative or non-finite weights, and for rows that are neither of these kinds.
    """
    rows = weights.astype(np.float64)
    wrong = np.asarray(~(np.isfinite(rows) & (rows >= 0)).all(axis=1), dtype=np.bool_)
    rows[wrong] = 0.0
    positive = rows > 0
    counts, totals = positive.sum(axis=1), rows.sum(axis=1)
    every = positive.any(axis=1) & (np.isclose(rows, 1.0, rtol=0.0, atol=SUM_TOLERANCE) | ~positive).all(axis=1)
    partial = (counts > 0) & (np.abs(totals - 1) <= CUT * counts + SUM_TOLERANCE)
    np.divide(rows, totals[:, None], out=rows, where=(partial & ~every)[:, None])
    rows[every] = positive[every]
    wrong |= (counts > 0) & ~every & ~partial
    if wrong.any():
        unit = int(np.argmax(wrong))
        raise CRFError(
            CoreErrors.CRF812.format(unit=name_unit(unit), weights=weights[unit][weights[unit] != 0].tolist())
        )
    return rows


def has_gold(weights: Floats) -> Bools:
    """((N,)): the units that measures are taken of: those with a positive weight."""
    return np.asarray((weights > 0).any(axis=1), dtype=np.bool_)


def ml_acc(weights: Floats, best: Indices) -> Doubles:
    """((N',)): ml-acc of one predicted tag: its share of the gold weight, squared where several tags are right."""
    known = np.flatnonzero(has_gold(weights))
    rows = weights[known].astype(np.float64)
    return _accuracy(rows, rows[np.arange(len(rows)), np.asarray(best)[known]])


def ml_util(weights: Floats, members: Bools, g: Doubles) -> Doubles:
    """((N',)): ml-util of predicted sets (eq. 5.1): ml-acc of the set, times g(1 + the number of its wrong tags).

    Sets of `utility_optimal_sets` are optimal for it only where gold is a single label.

    weights ((N, W)): as of `normalise`. members ((N, L)): the sets; labels behind theirs, which only gold has, are in
        none. g ((L,)): g(1) to g(L); 0 for greater sets.
    """
    known = has_gold(weights)
    rows, sets = weights[known].astype(np.float64), pad_labels(members, weights, False)[known]
    g = np.pad(g, (0, max(0, weights.shape[1] - len(g))))
    superfluous = (sets & (rows <= 0)).sum(axis=1)
    return np.asarray(_accuracy(rows, (rows * sets).sum(axis=1)) * g[superfluous])


def _accuracy(rows: Doubles, found: Doubles) -> Doubles:
    """ml-acc, where `found` ((N',)) is the weight of the gold that was predicted."""
    totals = rows.sum(axis=1)
    shares = np.minimum(found / totals, 1.0)
    accuracy: Doubles = np.where(totals > 1 + SUM_TOLERANCE, shares**2, shares)
    return accuracy


def best_labels(weights: Floats) -> Bools:
    """((N, L)): the labels of greatest gold weight of each unit, several if equal; none where there is no gold."""
    greatest = weights.max(axis=1, keepdims=True)
    return np.asarray((weights >= greatest - SUM_TOLERANCE) & (weights > 0))


def pad_labels(values: npt.NDArray[Scalar], weights: Floats, fill: float) -> npt.NDArray[Scalar]:
    """((N, W)): values ((N, L)) of labels, and another one for the labels behind them that only gold ((N, W)) has.

    RAISES (ValueError): where gold has fewer labels, or other units.
    """
    n_more = weights.shape[1] - values.shape[1]
    if n_more < 0 or len(values) != len(weights):
        raise CRFError(CoreErrors.CRF101.format(name="weights", expected=values.shape, actual=weights.shape))
    return np.pad(values, ((0, 0), (0, n_more)), constant_values=fill)


def covered(weights: Floats, members: Bools) -> Bools:
    """((N',)): whether the best gold tag is in the set; where several have the greatest weight, any of them."""
    return np.asarray((best_labels(weights) & pad_labels(members, weights, False)).any(axis=1))[has_gold(weights)]


@dataclass(frozen=True)
class SetMeasures:
    """Means over the units with gold; all 0 where there are none.

    ml_util (float): see `ml_util`. coverage (float): share of units with `covered`.
    size (float): members of a set. singletons (float): share of sets with exactly one member.
    """

    ml_util: float
    coverage: float
    size: float
    singletons: float


def set_measures(weights: Floats, members: Bools, g: Doubles) -> SetMeasures:
    """All measures of predicted sets. See `ml_util` for the arguments."""
    sizes = members[has_gold(weights)].sum(axis=1)
    columns = ml_util(weights, members, g), covered(weights, members), sizes, sizes == 1
    return SetMeasures(*(float(np.mean(column)) if len(sizes) else 0.0 for column in columns))


# -- coverage in strata, and calibration errors ------------------------------------------------------------------------
#
# A promise that is kept on average may be broken for large sets (size-stratified coverage, Angelopoulos et al. 2021) or
# for rare labels (CovGap, Ding et al. 2023).


@dataclass(frozen=True)
class StratifiedCoverage:
    """Coverage of the strata that occur.

    strata ((S,)): their sizes, labels or groups, ascending.
    counts ((S,)): units in each. coverages ((S,)): share of them whose set holds a best gold label.
    """

    strata: Indices
    counts: Indices
    coverages: Doubles

    def gap(self, level: float) -> float:
        """Mean distance of strata, large or small, from 1 - level: CovGap for labels or groups. NaN without any."""
        return float(np.abs(self.coverages - (1 - level)).mean()) if len(self.coverages) else float("nan")

    def at_least(self, count: int) -> "StratifiedCoverage":
        """The strata with that many units or more: the coverage of a few units is mostly chance."""
        kept = self.counts >= count
        return StratifiedCoverage(self.strata[kept], self.counts[kept], self.coverages[kept])


def coverage_by_size(weights: Floats, sets: Bools) -> StratifiedCoverage:
    """Coverage of sets ((N, L)) of each size, by gold ((N, L)); units with a row of zeros are left out. O(N L)."""
    return coverage_by_group(weights, sets, sets.sum(axis=1))


def coverage_by_label(weights: Floats, sets: Bools) -> StratifiedCoverage:
    """Coverage of the units with each gold label. O(N L). See `coverage_by_size`.

    A unit with several best gold labels counts for each of them, as covered if any of them is in its set.
    """
    check_shape("sets", sets, weights.shape)
    units, labels = np.nonzero(best_labels(weights)[has_gold(weights)])
    return _table(labels, covered(weights, sets)[units])


def coverage_by_group(weights: Floats, sets: Bools, groups: Indices) -> StratifiedCoverage:
    """Coverage of the units of each group ((N,)), such as unknown words, or a document. See `coverage_by_size`."""
    check_shape("sets", sets, weights.shape)
    check_shape("groups", groups, weights.shape[:1])
    return _table(groups[has_gold(weights)], covered(weights, sets))


def best_label_reliability(marginals: Floats, weights: Floats) -> Reliability:
    """Reliability of the most probable labels, in ten bins: right if they are among the best gold ones."""
    check_shape("marginals", marginals, weights.shape)
    known = np.flatnonzero(has_gold(weights))
    right = best_labels(weights)[known, marginals[known].argmax(axis=1)]
    return reliability(marginals[known].max(axis=1), right)


def best_label_error(marginals: Floats, weights: Floats) -> float:
    """Expected calibration error of the most probable labels; see `best_label_reliability`."""
    return best_label_reliability(marginals, weights).error


def classwise_error(marginals: Floats, weights: Floats) -> float:
    """Mean calibration error of the probability of each label, whether predicted or not.

    Only units with a single best gold label count: with two, no distribution over labels would be right.
    """
    check_shape("marginals", marginals, weights.shape)
    best = best_labels(weights)
    single = best.sum(axis=1) == 1
    labels = best[single].argmax(axis=1).astype(np.int32)
    return float(classwise_errors(marginals[single], labels).mean())


def _table(strata: Indices, hits: Bools) -> StratifiedCoverage:
    names, places, counts = np.unique(strata, return_inverse=True, return_counts=True)
    sums = np.bincount(places, weights=hits, minlength=len(names))
    return StratifiedCoverage(names, counts, sums / counts)
