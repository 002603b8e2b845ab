"""Whether probabilities can be believed: of what is said to be 80 % sure, 80 % should be right.

Expected calibration error after Naeini et al. (2015), with bins of equal width or equal mass (Nguyen and O'Connor
2015), and its classwise form (Kull et al. 2019). All of them depend on the bins: compare only what has the same ones.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints
from ..errors import CoreErrors, CRFError


@dataclass(frozen=True)
class Reliability:
    """Predictions by how sure they were.

    lower ((M,)), upper ((M,)): bounds of the bins; a bin has its upper bound, the first one also its lower.
    counts ((M,)): predictions in each bin.
    confidences ((M,)): their mean probability, 0 in an empty bin. accuracies ((M,)): share of them that is right.
    """

    lower: Doubles
    upper: Doubles
    counts: Indices
    confidences: Doubles
    accuracies: Doubles

    @property
    def error(self) -> float:
        """Expected calibration error: mean difference of confidence and accuracy, over predictions."""
        gaps = np.abs(self.confidences - self.accuracies)
        return float((gaps * self.counts).sum() / max(1, int(self.counts.sum())))


def reliability(confidences: Floats, right: Bools, n_bins: int = 10, equal_mass: bool = False) -> Reliability:
    """Sort predictions into bins by their probability. O(n log n).

    confidences ((n,)): probabilities of the predictions. right ((n,)): whether they came true.
    n_bins (int): of equal width between 0 and 1, or of equal numbers of predictions.
    equal_mass (bool): the latter. Equal confidences share a bin, so that there may be fewer bins.
    RETURNS (Reliability): one entry for each bin.
    """
    if n_bins < 1:
        raise CRFError(CoreErrors.CRF108.format(name="n_bins", least=1, value=n_bins))
    if not np.isfinite(confidences).all():
        raise CRFError(CoreErrors.CRF102.format(name="confidences"))
    values = np.clip(confidences.astype(np.float64), 0.0, 1.0)
    least, upper = 0.0, np.linspace(0.0, 1.0, n_bins + 1)[1:]
    if equal_mass and len(values):
        least, upper = values.min(), np.unique(np.quantile(values, upper, method="inverted_cdf"))
    bins = np.searchsorted(upper, values, side="left")
    counts = np.bincount(bins, minlength=len(upper))
    sums = (np.bincount(bins, weights=weights, minlength=len(counts)) for weights in (values, right))
    means = [np.divide(total, counts, out=np.zeros(len(counts)), where=counts > 0) for total in sums]
    return Reliability(np.append(least, upper[:-1]), upper, counts, means[0], means[1])


def calibration_error(confidences: Floats, right: Bools, n_bins: int = 10, equal_mass: bool = False) -> float:
    """Expected calibration error, between 0 and 1. See `reliability` for the arguments."""
    return reliability(confidences, right, n_bins, equal_mass).error


def classwise_errors(marginals: Floats, labels: Ints, n_bins: int = 10, equal_mass: bool = False) -> Doubles:
    """Calibration error of the probability of each label, whether predicted or not. O(n L log n).

    marginals ((n, L)): probabilities. labels ((n,)): gold labels.
    RETURNS ((L,)): one error for each label; their mean is the classwise calibration error.
    """
    errors = [
        calibration_error(marginals[:, label], labels == label, n_bins, equal_mass)
        for label in range(marginals.shape[1])
    ]
    return np.array(errors, dtype=np.float64)
