"""Exact samples of label sequences: filtering forward, sampling backward (Carter and Kohn 1994)."""

import numpy as np

from ..arrays import Doubles, Floats, Ints
from ..errors import CoreErrors, CRFError
from .forward import ForwardBackward, forward_backward
from .potentials import ChainPotentials
from .walk import chunks, scores_into, steps_back


def sample(potentials: ChainPotentials, n: int, rng: np.random.Generator) -> Ints:
    """Independent samples from p(y | x). O(N L^2 + n N L) time, O(N L + n N) memory.

    potentials (ChainPotentials): computed in float64.
    n (int): samples of each sequence, at least 1.
    rng (np.random.Generator): the same state and batch give the same samples.
    RETURNS ((n, N)): labels in packed order.
    RAISES (NonFiniteError): for NaN or +inf.
    RAISES (NoPathError): where a sequence has no allowed path.
    """
    if n < 1:
        raise CRFError(CoreErrors.CRF108.format(name="n", least=1, value=n))
    potentials = potentials.astype(np.float64)
    log_alpha = _log_alpha(forward_backward(potentials))
    labels = np.zeros((potentials.batch.n_units, n), dtype=np.int32)
    points = rng.random(labels.shape)
    for step in steps_back(potentials.batch):
        finals = log_alpha[step.ending, None, :] + potentials.end
        labels[step.ending] = _draw(_cumulative(finals), points[step.ending])
        shift = step.following.start - step.going.start
        for rows in chunks(step.going, max(n, potentials.n_labels) * potentials.n_labels):
            after = slice(rows.start + shift, rows.stop + shift)
            sums = _cumulative_before(potentials, log_alpha[rows], after, labels[after])
            labels[rows] = _draw(sums, points[rows])
    return np.ascontiguousarray(labels.T)


def _log_alpha(messages: ForwardBackward) -> Doubles:
    """((N, L)): log p(y_t | x_1..t), up to a constant in each row."""
    with np.errstate(divide="ignore"):
        log_alpha = np.log(messages.alpha)
    if messages.redone is not None:
        log_alpha[messages.redone.rows] = messages.redone.log_alpha
    return np.asarray(log_alpha, dtype=np.float64)


def _cumulative_before(potentials: ChainPotentials, log_alpha: Doubles, rows: slice, following: Ints) -> Doubles:
    """((n, S, L)): cumulative weights of the labels before those that were drawn.

    log_alpha ((n, L)): of the units. rows (slice): rows of the units after them. following ((n, S)): their labels.
    """
    n_labels = potentials.n_labels
    if following.shape[1] <= n_labels:
        return _cumulative(scores_into(potentials, rows, following) + log_alpha[:, None, :])
    every = np.broadcast_to(np.arange(n_labels, dtype=np.int32), (len(following), n_labels))
    sums = _cumulative(scores_into(potentials, rows, every) + log_alpha[:, None, :])
    return sums[np.arange(len(sums))[:, None], following]


def _cumulative(scores: Floats) -> Doubles:
    """Sums of exp(scores) along the last axis, up to a factor."""
    greatest = scores.max(axis=2, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(greatest), greatest, 0))
    return np.asarray(np.cumsum(weights, axis=2, out=weights))


def _draw(sums: Doubles, points: Doubles) -> Ints:
    """((n, S)): labels drawn in proportion to their weights.

    sums ((n, S or 1, L)): cumulative weights. points ((n, S)): uniform in [0, 1).
    """
    # a label without weight has the sum of the one before it, so that no point falls to it
    return np.asarray((sums > points[:, :, None] * sums[:, :, -1:]).argmax(axis=2), dtype=np.int32)
