"""Marginal probabilities, expected counts and scores, and entropies from forward-backward messages."""

from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Floats, Indices, PackedBatch, Segments, chunks, row_sums
from .forward import ForwardBackward
from .lattice import Lattice, LatticeMarginals
from .logspace import LogForwardBackward, finite

CHUNK = 1 << 20  # cells of the (rows, L, L) work array


class Counts(NamedTuple):
    """(Expected) counts of a batch before they are spread over features.

    nodes ((N, L)): how much of each label each unit has.
    transitions ((L, L) or (G, L, L)): how often each transition is taken.
    """

    nodes: Floats
    transitions: Floats

    def minus(self, others: "Counts") -> "Counts":
        return Counts(self.nodes - others.nodes, self.transitions - others.transitions)


def node_marginals(messages: ForwardBackward) -> Floats:
    """((N, L)): p(y_t = label | x) of every unit, in packed order; rows sum to 1. O(N L)."""
    marginals = messages.alpha * messages.beta
    marginals /= row_sums(marginals)[:, None]
    return marginals


def edge_marginals(messages: ForwardBackward, rows: Indices) -> Floats:
    """((n, L, L)): p(y_{t-1} = from, y_t = to | x) at some packed rows, none the first of its sequence. O(n L^2)."""
    previous = messages.potentials.batch.before[rows]
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


def step_probabilities(messages: ForwardBackward, rows: Indices) -> Doubles:
    """((n, L, L)): p(y_t | y_{t-1}, x) [from, to] of the transitions into some units. O(n L^2)."""
    edges = edge_marginals(messages, rows).astype(np.float64)
    leaving = edges.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(edges, leaving, out=np.zeros_like(edges), where=leaving > 0))


def expected_transitions(messages: ForwardBackward, shares: Doubles | None = None) -> Floats:
    """((L, L) or (G, L, L)): how often each transition is expected, for each group of conditioned edges. O(N L^2).

    shares ((B,) | None): how much each sequence counts; all of them 1 without.
    """
    batch, edges, redone = messages.potentials.batch, messages.potentials.edges, messages.redone
    groups, n_groups = (None, 1) if edges is None else (edges.groups, len(edges.matrices))
    alpha, by_row = messages.alpha, None
    if shares is not None:
        by_row = shares[batch.row_sequences].astype(alpha.dtype)
        alpha = alpha * by_row[:, None]
    sums = pair_sums(batch, alpha, messages.inward, groups, n_groups)
    sums *= messages.scaled.transitions
    if redone is not None:  # the scaled `inward` of its sequences is zero
        batch = redone.potentials.batch
        for rows in _row_chunks(np.arange(len(batch.first_rows), batch.n_units), redone.log_alpha.shape[1]):
            matrices = _log_edge_marginals(redone, rows)
            if by_row is not None:
                matrices *= by_row[redone.rows[rows], None, None]
            if groups is None:
                sums += matrices.sum(axis=0).astype(sums.dtype)
            else:
                np.add.at(sums, groups[redone.rows[rows]], matrices.astype(sums.dtype))
    return sums


def pair_sums(
    batch: PackedBatch, before: Floats, after: Floats, groups: Indices | None = None, n_groups: int = 1
) -> Floats:
    """((L, L) or (G, L, L)): sums of the outer products of what a unit's predecessor and the unit have. O(N L^2).

    before ((N, L)), after ((N, L)): in packed order. groups ((N,) | None): which sum the unit belongs to.
    """
    n_labels = before.shape[1]
    if groups is None:
        sums = np.zeros((n_labels, n_labels), dtype=before.dtype)
        for previous, rows in batch.links:
            sums += before[previous].T @ after[rows]
        return sums
    sums = np.zeros((n_groups, n_labels, n_labels), dtype=before.dtype)
    inner = np.arange(len(batch.first_rows), batch.n_units)
    inner = inner[np.argsort(groups[inner], kind="stable")]
    for part in _row_chunks(inner, n_labels):
        outer = before[batch.before[part]][:, :, None] * after[part][:, None, :]
        firsts = np.flatnonzero(np.diff(groups[part], prepend=-1))
        sums[groups[part[firsts]]] += np.add.reduceat(outer, firsts, axis=0)
    return sums


def _log_edge_marginals(redone: LogForwardBackward, rows: Indices) -> Doubles:
    """((n, L, L)): edge marginals of rows of the log-space batch."""
    potentials = redone.potentials
    into = potentials.emissions[rows] + redone.log_beta[rows] - redone.log_norms[rows, None]
    before = redone.log_alpha[potentials.batch.before[rows]]
    return np.exp(before[:, :, None] + potentials.into(rows) + into[:, None, :])


def _row_chunks(rows: Indices, n_labels: int) -> list[Indices]:
    return [rows[part] for part in chunks(slice(0, len(rows)), n_labels * n_labels, CHUNK)]


# -- entropies --------------------------------------------------------------------------------------------------------


def sequence_entropies(messages: ForwardBackward) -> Doubles:
    """((B,)): entropies of p(y | x) over all label sequences, in nats; 0 for empty ones. O(N L^2).

    Exact as log Z - E[score], up to a rounding error in the order of 1e-15 |log Z| (float64).
    """
    return np.maximum(messages.log_z - expected_scores(messages), 0.0)


@np.errstate(invalid="ignore")  # of lanes that no result is taken from: see `row_sums`
def expected_scores(messages: ForwardBackward) -> Doubles:
    """((B,)): expected unnormalised log scores of label sequences; 0 for empty ones. O(N L^2)."""
    potentials, batch = messages.potentials, messages.potentials.batch
    nodes = node_marginals(messages).astype(np.float64)
    units = np.einsum("nl,nl->n", nodes, finite(potentials.emissions))
    units[batch.first_rows] += nodes[batch.first_rows] @ finite(potentials.start)
    units[batch.last_rows] += nodes[batch.last_rows] @ finite(potentials.end)
    units += _expected_transition_scores(messages)
    return batch.sequence_sums(units)


def _expected_transition_scores(messages: ForwardBackward) -> Doubles:
    """((N,)): expected score of the transition into each packed row; 0 at first units."""
    potentials, batch, edges = messages.potentials, messages.potentials.batch, messages.potentials.edges
    expected = np.zeros(batch.n_units)
    weighted = messages.scaled.transitions * finite(potentials.transitions if edges is None else edges.matrices)
    for before, rows in batch.links:
        alpha = messages.alpha[before]
        if edges is None:
            arriving = alpha @ weighted
        else:
            arriving = np.matmul(alpha[:, None, :], weighted[edges.groups[rows]])[:, 0, :]
        expected[rows] = np.einsum("nl,nl->n", arriving, messages.inward[rows])
    if messages.redone is not None:  # scaled messages of its sequences cannot be used
        inner = messages.redone.rows[messages.redone.rows >= len(batch.first_rows)]
        for part in _row_chunks(inner, potentials.n_labels):
            expected[part] = (edge_marginals(messages, part) * finite(potentials.into(part))).sum(axis=(1, 2))
    return expected


def path_entropies(lattice: Lattice, marginals: LatticeMarginals) -> Doubles:
    """((B,)): entropies of the paths of each sequence of a lattice, in nats, like `sequence_entropies`. O(S + A)."""
    rows, n_rows = Segments(np.diff(lattice.bounds)).owners, lattice.batch.n_units
    scores = np.zeros(n_rows)
    scores += np.bincount(rows, weights=marginals.states * finite(lattice.scores), minlength=n_rows)
    by_arc = marginals.arcs * finite(lattice.weights)
    scores += np.bincount(np.repeat(rows, lattice.n_arcs), weights=by_arc, minlength=n_rows)
    return np.maximum(marginals.log_z - lattice.batch.sequence_sums(scores), 0.0)


def token_entropies(marginals: Floats) -> Doubles:
    """((N,)): entropy of each unit's label, in nats, from marginals ((N, L)). O(N L)."""
    values = marginals.astype(np.float64)
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    entropies: Doubles = -np.einsum("nl,nl->n", values, logs)
    return np.maximum(entropies, 0.0)
