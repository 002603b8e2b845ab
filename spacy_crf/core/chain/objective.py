"""Negative log-likelihood of chains and its gradient, for gold that is known, unknown, a set or a distribution.

loss = log Z - score(gold) for known gold and for distributions (the expected score under them), and
log Z - log Z(allowed paths) where gold is a set. The gradient is expected counts minus gold counts in all cases.
"""

from typing import NamedTuple

import numpy as np

from ..gold import UNKNOWN, Gold
from ..observations import Observations, potentials
from ..params import DenseWeights, Layout
from ..types import Floats, Indices
from .forward import ForwardBackward, forward_backward
from .marginals import expected_transitions, node_marginals
from .potentials import ChainPotentials


class Counts(NamedTuple):
    """(Expected) counts of a batch before they are spread over features.

    nodes ((N, L)): how much of each label each unit has.
    transitions ((L, L) or (G, L, L)): how often each transition is taken.
    """

    nodes: Floats
    transitions: Floats


def model_counts(messages: ForwardBackward) -> Counts:
    """Expected counts under the model."""
    return Counts(node_marginals(messages), expected_transitions(messages))


def gold_counts(gold: Gold, observations: Observations, n_labels: int) -> Counts:
    """Counts of gold with a fixed target in each unit: one label, or a distribution.

    RETURNS (Counts): adjacent distributions are taken as independent.
    """
    nodes = np.zeros((len(gold.labels), n_labels), dtype=np.float32)
    exact = np.flatnonzero(gold.labels != UNKNOWN)
    nodes[exact, gold.labels[exact]] = 1
    nodes[gold.rows] = gold.weights
    batch, edges = observations.batch, observations.edges
    inner = np.arange(len(batch.first_rows), batch.n_units)
    before = batch.previous_rows(inner)
    if edges is None:
        return Counts(nodes, nodes[before].T @ nodes[inner])
    transitions = np.zeros((edges.features.n_rows, n_labels, n_labels), dtype=np.float32)
    inner = inner[np.argsort(edges.groups[inner], kind="stable")]
    for rows in np.array_split(inner, 1 + len(inner) * n_labels * n_labels // (1 << 20)):
        if len(rows):
            outer = nodes[batch.previous_rows(rows)][:, :, None] * nodes[rows][:, None, :]
            firsts = np.flatnonzero(np.diff(edges.groups[rows], prepend=-1))
            transitions[edges.groups[rows[firsts]]] += np.add.reduceat(outer, firsts, axis=0)
    return Counts(nodes, transitions)


def add_counts(counts: Counts, observations: Observations, out: DenseWeights, sign: float = 1.0) -> None:
    """Spread counts over the features that were active. O(nnz L).

    out (DenseWeights): accumulator of the gradient.
    sign (float): 1 for expected counts, -1 for gold.
    """
    batch = observations.batch
    nodes = counts.nodes if sign == 1.0 else sign * counts.nodes
    observations.features.add_transposed(np.ascontiguousarray(nodes, dtype=out.state.dtype), out.state)
    out.start += nodes[batch.first_rows].sum(axis=0)
    out.end += nodes[batch.last_rows].sum(axis=0)
    if observations.edges is None:
        out.transitions += sign * counts.transitions
        return
    by_group = np.ascontiguousarray(sign * counts.transitions.reshape(len(counts.transitions), -1))
    observations.edges.features.add_transposed(by_group.astype(out.edges.dtype, copy=False), out.edges)
    out.transitions += by_group.sum(axis=0).reshape(out.transitions.shape)


def gold_score(counts: Counts, chains: ChainPotentials) -> float:
    """Score of gold counts under potentials, leaving aside what has no weight in gold."""

    def inner(weights: Floats, scores: Floats) -> float:
        chosen = weights != 0
        return float(np.dot(weights[chosen].astype(np.float64), scores[chosen].astype(np.float64)))

    batch = chains.batch
    matrices = chains.transitions if chains.edges is None else chains.edges.matrices
    return (
        inner(counts.nodes, chains.emissions)
        + inner(counts.transitions, matrices)
        + inner(counts.nodes[batch.first_rows].sum(axis=0), chains.start)
        + inner(counts.nodes[batch.last_rows].sum(axis=0), chains.end)
    )


def loss_and_gradient(
    observations: Observations, gold: Gold, weights: DenseWeights, layout: Layout, out: DenseWeights
) -> float:
    """Negative log-likelihood of a batch, its gradient added to an accumulator. O(nnz L + N L^2).

    gold (Gold): in packed order.
    out (DenseWeights): the gradient is added to it.
    RETURNS (float): the loss, without regularisation.
    RAISES (NoPathError): where gold, or the masks, leave no path.
    """
    latent = gold.latent_sequences(observations.batch)
    if latent.any() and not latent.all():
        parts = (split(observations, gold, np.flatnonzero(chosen)) for chosen in (~latent, latent))
        return sum(loss_and_gradient(*part, weights, layout, out) for part in parts)
    chains = potentials(observations, weights, layout)
    messages = forward_backward(chains)
    add_counts(model_counts(messages), observations, out)
    loss = float(messages.log_z.sum())
    if latent.any():
        clamped = forward_backward(chains.clamped(gold.log_weights()))
        add_counts(model_counts(clamped), observations, out, sign=-1.0)
        return loss - float(clamped.log_z.sum())
    counts = gold_counts(gold, observations, layout.n_labels)
    add_counts(counts, observations, out, sign=-1.0)
    return loss - gold_score(counts, chains)


def split(observations: Observations, gold: Gold, sequences: Indices) -> tuple[Observations, Gold]:
    """The given sequences of a batch, packed anew."""
    part, rows = observations.batch.select(sequences)
    edges = observations.edges
    if edges is not None:
        edges = type(edges)(edges.features, edges.groups[rows])
    return Observations(part, observations.features.take(rows), edges), gold.take(rows)
