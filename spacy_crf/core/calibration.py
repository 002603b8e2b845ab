"""Whether probabilities can be believed, and a map that makes them so: of what is said to be 80 % sure, 80 % are right.

Expected calibration error after Naeini et al. (2015), with bins of equal width, and its classwise form (Kull et al.
2019). Both depend on the bins: compare only what has the same ones.
"""

from dataclasses import dataclass

import numpy as np

from .arrays import Bools, Doubles, Floats, Indices, Ints, check_finite
from .errors import CoreErrors, CRFError, require_count
from .labels import UNKNOWN


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


def reliability(confidences: Floats, right: Bools | Doubles, n_bins: int = 10) -> Reliability:
    """Sort predictions ((n,)) into bins of equal width by their probability, with those that came true, or how right
    they are, from 0 to 1. O(n log n)."""
    require_count(n_bins=n_bins)
    check_finite("confidences", confidences)
    values = np.clip(confidences.astype(np.float64), 0.0, 1.0)
    bounds = np.linspace(0.0, 1.0, n_bins + 1)
    bins = np.searchsorted(bounds[1:], values, side="left")
    counts = np.bincount(bins, minlength=n_bins)
    sums = (np.bincount(bins, weights=weights, minlength=n_bins) for weights in (values, right))
    means = [np.divide(total, counts, out=np.zeros(n_bins), where=counts > 0) for total in sums]
    return Reliability(bounds[:-1], bounds[1:], counts, *means)


def classwise_errors(marginals: Floats, labels: Ints) -> Doubles:
    """((L,)): calibration error of the probability ((n, L)) of each label, predicted or not. O(n L log n)."""
    errors = [reliability(column, labels == label).error for label, column in enumerate(marginals.T)]
    return np.array(errors, dtype=np.float64)


# -- Dirichlet calibration (Kull et al. 2019): probabilities that are as sure as they are right, one map for all classes
#
# A row p of probabilities becomes softmax(log(p) W + b), with W and b fitted on held-out data. One temperature for all
# scores cannot make the probabilities of rare classes right along with those of frequent ones; this map can, since each
# class may gain or lose by what the others have. What comes out sums to 1, which it does not where the classes are
# recalibrated one by one.
#
# The map acts on each unit by itself. Units of one sequence depend on each other, which does no harm: whether 70 of 100
# probabilities of 0.7 come true is asked of marginals, and sums of them are right means whatever the dependence. The
# fit maximises the likelihood of each unit given its own row, a composite likelihood, whose maximum is consistent as
# long as dependence fades with distance; only the number of units overstates how exact it is. But the new rows are
# marginals of no distribution over sequences any more: whatever is said of several units at once is left to the chain.

LEAST = 1e-5  # what is less probable counts as this much
STEPS = 50  # of Newton's method, which takes about ten
PRIOR = 10.0  # precision; with it, maps fitted to any 2,000 words of talks lowered the loss of the others
PRECISE = 1e-8  # decrease of the objective, relative to its value, at which the fit has converged


@dataclass(frozen=True)
class DirichletMap:
    """A fitted map. weights ((M, M)): W, [from, to]. bias ((M,)): b."""

    weights: Doubles
    bias: Doubles

    def __call__(self, probabilities: Floats) -> Doubles:
        """Recalibrate rows ((n, M)) that sum to 1; what has no probability at all still has none. O(n M^2)."""
        mapped = _softmax(_inputs(probabilities) @ np.vstack([self.weights, self.bias]))
        mapped[probabilities == 0] = 0.0
        mapped /= np.maximum(mapped.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return mapped


def fit_dirichlet(probabilities: Floats, labels: Ints) -> DirichletMap:
    """The map under which the labels are most probable, by Newton's method. O(n M^4) for each of about ten steps.

    The prior is normal around the map that changes nothing; a few thousand units outweigh it.

    probabilities ((n, M)): of held-out units. labels ((n,)): gold classes, -1 where they are unknown.
    """
    known = np.flatnonzero(labels != UNKNOWN)
    if not len(known):
        raise CRFError(CoreErrors.CRF111)
    inputs, gold = _inputs(probabilities[known]), labels[known]
    n_classes = probabilities.shape[1]
    unchanged = np.vstack([np.eye(n_classes), np.zeros(n_classes)])
    params, value = unchanged, _objective(inputs, gold, unchanged, unchanged)
    for _ in range(STEPS):
        step, previous = _newton_step(inputs, gold, params, unchanged), value
        while (value := _objective(inputs, gold, params - step, unchanged)) > previous:
            step = step / 2
        params = params - step
        if previous - value <= PRECISE * previous:
            break
    return DirichletMap(params[:-1], params[-1])


def _inputs(probabilities: Floats) -> Doubles:
    """((n, M + 1)): logarithms of probabilities, and 1."""
    logs = np.log(np.maximum(probabilities.astype(np.float64), LEAST))
    return np.column_stack([logs, np.ones(len(logs))])


def _softmax(scores: Doubles) -> Doubles:
    powers: Doubles = np.exp(scores - scores.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _objective(inputs: Doubles, gold: Ints, params: Doubles, unchanged: Doubles) -> float:
    """Negative log-likelihood and log-prior, in nats."""
    scores = inputs @ params
    peaks = scores.max(axis=1)
    log_z = peaks + np.log(np.exp(scores - peaks[:, None]).sum(axis=1))
    losses = log_z - scores[np.arange(len(gold)), gold]
    return float(losses.sum() + PRIOR * ((params - unchanged) ** 2).sum() / 2)


def _newton_step(inputs: Doubles, gold: Ints, params: Doubles, unchanged: Doubles) -> Doubles:
    """((M + 1, M)): the inverse Hessian times the gradient."""
    size, n_classes = params.shape
    mapped = _softmax(inputs @ params)
    errors = mapped.copy()
    errors[np.arange(len(gold)), gold] -= 1
    gradient = inputs.T @ errors + PRIOR * (params - unchanged)
    hessian = np.empty((n_classes, size, n_classes, size))
    for first in range(n_classes):
        for second in range(first, n_classes):
            curvature = mapped[:, first] * ((first == second) - mapped[:, second])
            hessian[first, :, second] = hessian[second, :, first] = inputs.T @ (inputs * curvature[:, None])
    square = hessian.reshape(n_classes * size, -1) + PRIOR * np.eye(n_classes * size)
    step: Doubles = np.linalg.solve(square, gradient.T.reshape(-1)).astype(np.float64)
    return step.reshape(n_classes, size).T
