"""Marginal probabilities and expected counts from forward-backward messages."""

import numpy as np

from ..arrays import Doubles, Floats, Indices
from ..batch import PackedBatch
from .forward import ForwardBackward
from .logspace import LogForwardBackward, transition_matrices

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


def node_marginals(messages: ForwardBackward) -> Floats:
    """p(y_t = label | x) for every unit. O(N L).

    RETURNS ((N, L)): in packed order; rows sum to 1.
    """
    marginals = messages.alpha * messages.beta
    marginals /= (marginals @ np.ones(marginals.shape[1], dtype=marginals.dtype))[:, None]
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
        place = np.full(len(messages.alpha), -1)
        place[messages.redone.rows] = np.arange(len(messages.redone.rows))
        redone = place[rows] >= 0
        marginals[redone] = _log_edge_marginals(messages.redone, place[rows[redone]])
    marginals /= marginals.sum(axis=(1, 2), keepdims=True)
    return marginals


def expected_transitions(messages: ForwardBackward) -> Floats:
    """Expected number of times that each transition is taken, over the whole batch. O(N L^2).

    RETURNS ((L, L) or (G, L, L)): [from, to], one matrix for each observation group where edges are conditioned.
    """
    batch, edges = messages.potentials.batch, messages.potentials.edges
    if edges is None:
        sums = pair_sums(batch, messages.alpha, messages.inward)
    else:
        sums = pair_sums_by_group(batch, messages.alpha, messages.inward, edges.groups, len(edges.matrices))
    sums *= messages.scaled.transitions
    if messages.redone is not None:
        _add_redone(sums, messages.redone, None if edges is None else edges.groups)
    return sums


def pair_sums(batch: PackedBatch, before: Floats, after: Floats) -> Floats:
    """((L, L)): sum of the outer products of what a unit's predecessor and the unit itself have. O(N L^2).

    before ((N, L)), after ((N, L)): in packed order.
    """
    sums = np.zeros((before.shape[1], after.shape[1]), dtype=before.dtype)
    for step in range(1, batch.n_steps):
        low, n, previous = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        sums += before[previous : previous + n].T @ after[low : low + n]
    return sums


def pair_sums_by_group(batch: PackedBatch, before: Floats, after: Floats, groups: Indices, n_groups: int) -> Floats:
    """((G, L, L)): the same by the group of the unit: rows sorted by group, outer products reduced in chunks."""
    n_labels = before.shape[1]
    sums = np.zeros((n_groups, n_labels, n_labels), dtype=before.dtype)
    inner = np.arange(len(batch.first_rows), batch.n_units)
    inner = inner[np.argsort(groups[inner], kind="stable")]
    for rows in _chunks(inner, n_labels):
        outer = before[batch.previous_rows(rows)][:, :, None] * after[rows][:, None, :]
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
