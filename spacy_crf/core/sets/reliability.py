"""Whether sets of labels hold gold as often as they should, and in each stratum: size, label or group.

A promise that is kept on average may be broken for large sets (size-stratified coverage, Angelopoulos et al. 2021) or
for rare labels (CovGap, Ding et al. 2023). Calibration errors are those of `core.calibration`, for gold that may be
missing or have several labels: one row of weights per unit, as everywhere in `core.sets`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Doubles, Floats, Indices
from ..calibration.bins import calibration_error, classwise_errors
from ..errors import CoreErrors, CRFError
from .metrics import SUM_TOLERANCE, covered, has_gold


@dataclass(frozen=True)
class StratifiedCoverage:
    """Coverage of the strata that occur.

    strata ((S,)): their sizes, labels or groups, ascending.
    counts ((S,)): units in each. coverages ((S,)): share of them whose set holds a best gold label.
    """

    strata: Indices
    counts: Indices
    coverages: Doubles

    def worst(self) -> float:
        """The least coverage; NaN without units."""
        return float(self.coverages.min()) if len(self.coverages) else float("nan")

    def gap(self, level: float) -> float:
        """Mean distance of a stratum's coverage from 1 - level: CovGap for labels or groups. NaN without units.

        Each stratum counts the same, however small it is: see `at_least`.
        """
        return float(np.abs(self.coverages - (1 - level)).mean()) if len(self.coverages) else float("nan")

    def at_least(self, count: int) -> "StratifiedCoverage":
        """The strata with that many units or more: the coverage of a few units is mostly chance."""
        kept = self.counts >= count
        return StratifiedCoverage(self.strata[kept], self.counts[kept], self.coverages[kept])


def best_labels(weights: Floats) -> Bools:
    """((N, L)): the labels of greatest gold weight of each unit, several if equal; none where there is no gold."""
    greatest = weights.max(axis=1, keepdims=True)
    return np.asarray((weights >= greatest - SUM_TOLERANCE) & (weights > 0))


def check_shape(name: str, array: npt.NDArray[np.generic], expected: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != expected:
        raise CRFError(CoreErrors.CRF101.format(name=name, expected=expected, actual=array.shape))


def coverage_by_size(weights: Floats, sets: Bools) -> StratifiedCoverage:
    """Coverage of sets of each size. O(N L).

    weights ((N, L)): gold; units with a row of zeros are left out. sets ((N, L)): True for labels in the set.
    """
    return coverage_by_group(weights, sets, sets.sum(axis=1))


def coverage_by_label(weights: Floats, sets: Bools) -> StratifiedCoverage:
    """Coverage of the units with each gold label. O(N L). See `coverage_by_size`.

    A unit with several best gold labels counts for each of them, as covered if any of them is in its set.
    """
    check_shape("sets", sets, weights.shape)
    units, labels = np.nonzero(best_labels(weights)[has_gold(weights)])
    return _table(labels, covered(weights, sets)[units])


def coverage_by_group(weights: Floats, sets: Bools, groups: Indices) -> StratifiedCoverage:
    """Coverage of the units of each group, such as unknown words, or a document. O(N L).

    weights ((N, L)), sets ((N, L)): as in `coverage_by_size`. groups ((N,)): a number for each unit.
    """
    check_shape("sets", sets, weights.shape)
    check_shape("groups", groups, weights.shape[:1])
    return _table(groups[has_gold(weights)], covered(weights, sets))


def best_label_error(marginals: Floats, weights: Floats, n_bins: int = 10, equal_mass: bool = False) -> float:
    """Expected calibration error of the most probable labels: right if they are among the best gold ones.

    marginals ((N, L)): probabilities. weights ((N, L)): gold; units with a row of zeros are left out.
    n_bins (int), equal_mass (bool): see `core.calibration.reliability`.
    """
    check_shape("marginals", marginals, weights.shape)
    known = np.flatnonzero(has_gold(weights))
    right = best_labels(weights)[known, marginals[known].argmax(axis=1)]
    return calibration_error(marginals[known].max(axis=1), right, n_bins, equal_mass)


def classwise_error(marginals: Floats, weights: Floats, n_bins: int = 10, equal_mass: bool = False) -> float:
    """Mean calibration error of the probability of each label, whether predicted or not.

    Only units with a single best gold label count: with two, no distribution over labels would be right.
    See `best_label_error` for the arguments.
    """
    check_shape("marginals", marginals, weights.shape)
    best = best_labels(weights)
    single = best.sum(axis=1) == 1
    labels = best[single].argmax(axis=1).astype(np.int32)
    return float(classwise_errors(marginals[single], labels, n_bins, equal_mass).mean())


def _table(strata: Indices, hits: Bools) -> StratifiedCoverage:
    names, places, counts = np.unique(strata, return_inverse=True, return_counts=True)
    sums = np.bincount(places, weights=hits, minlength=len(names))
    return StratifiedCoverage(names, counts, sums / counts)
