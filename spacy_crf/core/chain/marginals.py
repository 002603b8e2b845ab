"""Marginal probabilities and expected counts from forward-backward messages."""

import numpy as np

from ..types import Doubles, Floats, Indices
from .forward import ForwardBackward
from .logspace import LogForwardBackward, transition_matrices

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


def node_marginals(messages: ForwardBackward) -> Floats:
    """p(y_t = label | x) for every unit. O(N L).

    RETURNS ((N, L)): in packed order; rows sum to 1.
    """
    marginals = messages.alpha * messages.beta
    marginals /= marginals.sum(axis=1, keepdims=True)
    return marginals


def edge_marginals(messages: ForwardBackward, rows: Indices) -> Floats:
    """p(y_{t-1} = from, y_t = to | x) for the transitions into some units. O(n L^2).

    rows ((n,)): packed rows of units that are not the first of their sequence.
    RETURNS ((n, L, L)): [unit, from, to]; each matrix sums to 1.
    """
    previous = messages.potentials.batch.previous_rows(rows)
    factors = messages.scaled.transitions
    if messages.potentials.edges is not None:
        factors = factors[messages.potentials.edges.groups[rows]]
    marginals = messages.alpha[previous][:, :, None] * factors * messages.inward[rows][:, None, :]
    if messages.redone is not None:
        _, ours, theirs = np.intersect1d(rows, messages.redone.rows, return_indices=True)
        marginals[ours] = _log_edge_marginals(messages.redone, theirs)
    marginals /= marginals.sum(axis=(1, 2), keepdims=True)
    return marginals


def expected_transitions(messages: ForwardBackward) -> Floats:
    """Expected number of times that each transition is taken, over the whole batch. O(N L^2).

    RETURNS ((L, L) or (G, L, L)): [from, to], one matrix for each observation group where edges are conditioned.
    """
    edges = messages.potentials.edges
    sums = _expected_plain(messages) if edges is None else _expected_by_group(messages, edges.groups)
    sums *= messages.scaled.transitions
    if messages.redone is not None:
        _add_redone(sums, messages.redone, None if edges is None else edges.groups)
    return sums


def _expected_plain(messages: ForwardBackward) -> Floats:
    batch, alpha, inward = messages.potentials.batch, messages.alpha, messages.inward
    sums = np.zeros((alpha.shape[1], alpha.shape[1]), dtype=alpha.dtype)
    for step in range(1, batch.n_steps):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        sums += alpha[before : before + n].T @ inward[low : low + n]
    return sums


def _expected_by_group(messages: ForwardBackward, groups: Indices) -> Floats:
    """Sums of alpha[t-1] x inward[t] by group: rows sorted by group, outer products reduced in chunks."""
    alpha, inward = messages.alpha, messages.inward
    sums = np.zeros_like(messages.scaled.transitions)
    inner = np.arange(len(messages.potentials.batch.first_rows), len(alpha))
    inner = inner[np.argsort(groups[inner], kind="stable")]
    for rows in _chunks(inner, alpha.shape[1]):
        outer = alpha[messages.potentials.batch.previous_rows(rows)][:, :, None] * inward[rows][:, None, :]
        firsts = np.flatnonzero(np.diff(groups[rows], prepend=-1))
        sums[groups[rows[firsts]]] += np.add.reduceat(outer, firsts, axis=0)
    return sums


def _add_redone(sums: Floats, redone: LogForwardBackward, groups: Indices | None) -> None:
    """Add the edge marginals of the log-space sequences, whose scaled `inward` is zero."""
    batch = redone.potentials.batch
    for rows in _chunks(np.arange(len(batch.first_rows), batch.n_units), redone.log_alpha.shape[1]):
        matrices = _log_edge_marginals(redone, rows)
        if groups is None:
            sums += matrices.sum(axis=0).astype(sums.dtype)
        else:
            np.add.at(sums, groups[redone.rows[rows]], matrices.astype(sums.dtype))


def _log_edge_marginals(redone: LogForwardBackward, rows: Indices) -> Doubles:
    """((n, L, L)): edge marginals of rows of the log-space batch."""
    previous = redone.potentials.batch.previous_rows(rows)
    into = redone.potentials.emissions[rows] + redone.log_beta[rows] - redone.log_norms[rows, None]
    matrices = transition_matrices(redone.potentials, rows)
    return np.exp(redone.log_alpha[previous][:, :, None] + matrices + into[:, None, :])


def _chunks(rows: Indices, n_labels: int) -> list[Indices]:
    size = max(1, CHUNK // max(1, n_labels * n_labels))
    return [rows[low : low + size] for low in range(0, len(rows), size)]
