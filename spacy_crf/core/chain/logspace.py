"""Forward-backward in log space: slower than the scaled recursion, and right for any scores."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Doubles, Floats, Indices
from .edges import EdgeColumns
from .potentials import ChainPotentials

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


@dataclass(frozen=True)
class LogForwardBackward:
    """Log messages of a batch, normalised like the scaled ones: sum(exp(log_alpha + log_beta)) is 1 in each row.

    log_alpha ((N, L)), log_beta ((N, L)), log_norms ((N,)): as in `ForwardBackward`, in log space.
    log_z ((B,)): log partition functions; -inf where no path is allowed.
    rows ((N,)): rows that these sequences take in the batch they were selected from.
    """

    potentials: ChainPotentials
    log_alpha: Doubles
    log_beta: Doubles
    log_norms: Doubles
    log_z: Doubles
    rows: Indices

    def placed(self, rows: Indices) -> "LogForwardBackward":
        return replace(self, rows=rows)


def log_forward_backward(potentials: ChainPotentials) -> LogForwardBackward:
    """Messages and log Z of a batch in log space. O(N L^2) exponentials."""
    batch = potentials.batch
    with np.errstate(divide="ignore", invalid="ignore"):
        log_alpha, log_norms = _forward(potentials)
        ends = _log_sum_exp(log_alpha[batch.last_rows] + potentials.end)
        log_z = batch.sequence_sums(log_norms)
        log_z[batch.order[: len(ends)]] += ends
        log_z[np.isnan(log_z)] = -np.inf
        log_beta = _backward(potentials, log_norms, ends)
    return LogForwardBackward(potentials, log_alpha, log_beta, log_norms, log_z, np.arange(batch.n_units))


def _forward(potentials: ChainPotentials) -> tuple[Doubles, Doubles]:
    batch = potentials.batch
    log_alpha = np.empty(potentials.emissions.shape)
    log_norms = np.empty(batch.n_units)
    for step, (low, n) in enumerate(zip(batch.starts, batch.alive)):
        rows = slice(low, low + n)
        if step == 0:
            scores = potentials.emissions[rows] + potentials.start
        else:
            before = log_alpha[batch.starts[step - 1] :][:n]
            scores = log_product(before, potentials, rows) + potentials.emissions[rows]
        log_norms[rows] = _log_sum_exp(scores)
        log_alpha[rows] = scores - _finite(log_norms[rows])[:, None]
    return log_alpha, log_norms


def _backward(potentials: ChainPotentials, log_norms: Doubles, ends: Doubles) -> Doubles:
    batch = potentials.batch
    log_beta = np.empty(potentials.emissions.shape)
    log_beta[batch.last_rows] = potentials.end - _finite(ends)[:, None]
    for step in range(batch.n_steps - 1, 0, -1):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        rows = slice(low, low + n)
        inward = log_beta[rows] + potentials.emissions[rows] - _finite(log_norms[rows])[:, None]
        log_beta[before : before + n] = log_product(inward, potentials, rows, backward=True)
    return log_beta


def log_product(messages: Floats, potentials: ChainPotentials, rows: slice, backward: bool = False) -> Doubles:
    """Log of (messages times the transitions into the given rows), in chunks that stay in the cache.

    messages ((n, L)): log messages of the units before (backward: of the units themselves).
    rows (slice): packed rows of the n units.
    RETURNS ((n, L)): log sums over the label that is left behind.
    """
    n, n_labels = messages.shape
    out = np.empty((n, n_labels))
    size = max(1, CHUNK // max(1, n_labels * n_labels))
    for low in range(0, n, size):
        part = slice(low, min(n, low + size))
        matrices = transition_matrices(potentials, slice(rows.start + part.start, rows.start + part.stop))
        if backward:
            out[part] = _log_sum_exp(messages[part, None, :] + matrices, axis=2)
        else:
            out[part] = _log_sum_exp(messages[part, :, None] + matrices, axis=1)
    return out


def transition_matrices(potentials: ChainPotentials, rows: slice | Indices) -> Floats:
    """((n, L, L) or (1, L, L)): log potentials of the transitions into the given packed rows."""
    if potentials.edges is None:
        return potentials.transitions[None]
    if isinstance(potentials.edges, EdgeColumns):
        return potentials.edges.into(rows)
    return potentials.edges.matrices[potentials.edges.groups[rows]]


def _log_sum_exp(values: Floats, axis: int = -1) -> Doubles:
    greatest = values.max(axis=axis, keepdims=True, initial=-np.inf)
    sums = np.exp(values - _finite(greatest)).sum(axis=axis)
    return np.asarray(np.log(sums) + np.squeeze(_finite(greatest), axis=axis))


def _finite(values: Floats) -> Floats:
    """Zero in the place of -inf, so that -inf minus -inf stays -inf."""
    return np.where(np.isfinite(values), values, 0.0)
