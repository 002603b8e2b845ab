"""Forward-backward in log space: slower than the scaled recursion, and right for any scores."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Floats, Indices, chunks
from .potentials import ChainPotentials

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


@dataclass(frozen=True)
class LogForwardBackward:
    """Log messages of a batch, normalised like the scaled ones: sum(exp(log_alpha + log_beta)) is 1 in each row.

    log_alpha ((N, L)), log_beta ((N, L)): as in `ForwardBackward`, in log space.
    log_norms ((N,)): log p(x_t | x_1..t-1) unnormalised; a sequence's sum plus its end term is log_z.
    log_z ((B,)): log partition functions; -inf where no path is allowed.
    rows ((N,)): rows that these sequences take in the batch they were selected from.
    """

    potentials: ChainPotentials
    log_alpha: Doubles
    log_beta: Doubles
    log_norms: Doubles
    log_z: Doubles
    rows: Indices


def log_forward_backward(potentials: ChainPotentials, rows: Indices) -> LogForwardBackward:
    """Messages and log Z of a batch in log space. O(N L^2) exponentials. rows: see `LogForwardBackward`."""
    batch = potentials.batch
    with np.errstate(divide="ignore", invalid="ignore"):
        log_alpha, log_norms = _forward(potentials)
        ends = _log_sum_exp(log_alpha[batch.last_rows] + potentials.end)
        log_z = batch.sequence_sums(log_norms)
        log_z[batch.order[: len(ends)]] += ends
        log_z[np.isnan(log_z)] = -np.inf
        log_beta = _backward(potentials, log_norms, ends)
    return LogForwardBackward(potentials, log_alpha, log_beta, log_norms, log_z, rows)


def _forward(potentials: ChainPotentials) -> tuple[Doubles, Doubles]:
    batch = potentials.batch
    log_alpha = np.empty(potentials.emissions.shape)
    log_norms = np.empty(batch.n_units)
    first = slice(0, len(batch.first_rows))
    for before, rows in [(first, first), *batch.links]:
        into = potentials.start if rows is first else _log_product(log_alpha[before], potentials, rows)
        scores = potentials.emissions[rows] + into
        log_norms[rows] = _log_sum_exp(scores)
        log_alpha[rows] = scores - finite(log_norms[rows])[:, None]
    return log_alpha, log_norms


def _backward(potentials: ChainPotentials, log_norms: Doubles, ends: Doubles) -> Doubles:
    batch = potentials.batch
    log_beta = np.empty(potentials.emissions.shape)
    log_beta[batch.last_rows] = potentials.end - finite(ends)[:, None]
    for before, rows in reversed(batch.links):
        inward = log_beta[rows] + potentials.emissions[rows] - finite(log_norms[rows])[:, None]
        log_beta[before] = _log_product(inward, potentials, rows, backward=True)
    return log_beta


def _log_product(messages: Floats, potentials: ChainPotentials, rows: slice, backward: bool = False) -> Doubles:
    """((n, L)): log of (messages times the transitions into the given rows), summed over the label left behind.

    messages ((n, L)): log messages of the units before (backward: of the units themselves).
    """
    out, n_labels = np.empty(messages.shape), messages.shape[1]
    for part in chunks(rows, n_labels * n_labels, CHUNK):
        own, matrices = slice(part.start - rows.start, part.stop - rows.start), potentials.into(part)
        if backward:
            out[own] = _log_sum_exp(messages[own, None, :] + matrices, axis=2)
        else:
            out[own] = _log_sum_exp(messages[own, :, None] + matrices, axis=1)
    return out


def _log_sum_exp(values: Floats, axis: int = -1) -> Doubles:
    greatest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    sums = np.exp(values - finite(greatest)).sum(axis=axis)
    return np.asarray(np.log(sums) + np.squeeze(finite(greatest), axis=axis))


def finite(values: Floats) -> Floats:
    """0 in the place of -inf: -inf minus -inf stays -inf, and what is forbidden has no part in an expectation."""
    return np.where(np.isfinite(values), values, 0.0)
