"""Negative log-likelihood of chains and its gradient, for gold that is known, unknown, a set or a distribution.

loss = log Z - score(gold) for known gold and for distributions (the expected score under them). Where gold is a set in
some units, log Z(allowed paths) takes the place of the score, see `open_gold`. The gradient is expected counts minus
gold counts in all cases.
"""

import numpy as np

from ..arrays import Floats, PackedBatch
from ..labels import Gold
from ..weights import DenseWeights, Layout
from .forward import ForwardBackward, forward_backward
from .marginals import Counts, expected_transitions, node_marginals, pair_sums
from .open_gold import OpenGold
from .potentials import ChainPotentials, Observations, numbered, potentials


def model_counts(messages: ForwardBackward) -> Counts:
    """Expected counts under the model."""
    return Counts(node_marginals(messages), expected_transitions(messages))


def gold_counts(gold: Gold, observations: Observations, layout: Layout) -> Counts:
    """Counts of gold with a fixed target in each unit: one label, or a distribution.

    Adjacent distributions are taken as independent, given that the path is allowed. `NoPathError` where none is.
    """
    nodes = gold.dense()
    batch, edges = observations.batch, observations.edges
    groups, n_groups = (None, 1) if edges is None else (edges.groups, edges.features.n_rows)
    transitions = pair_sums(batch, nodes, nodes, groups, n_groups)
    counts = Counts(nodes, transitions)
    if not _uses_forbidden(counts, batch, layout):
        return counts
    allowed = potentials(observations, DenseWeights.zeros(layout, np.float64), layout)
    return model_counts(forward_backward(allowed.clamped(gold.log_weights())))


def _uses_forbidden(counts: Counts, batch: PackedBatch, layout: Layout) -> bool:
    pairs = counts.transitions.reshape(-1, *layout.allowed.shape).sum(axis=0)
    starts, ends = counts.nodes[batch.first_rows], counts.nodes[batch.last_rows]
    outside = (pairs[~layout.allowed], starts[:, ~layout.allowed_start], ends[:, ~layout.allowed_end])
    return any(part.any() for part in outside)


def add_counts(counts: Counts, observations: Observations, out: DenseWeights) -> None:
    """Add counts to those of the features that were active. O(nnz L)."""
    batch, nodes, transitions = observations.batch, counts.nodes, counts.transitions
    observations.features.add_transposed(np.ascontiguousarray(nodes, dtype=out.state.dtype), out.state)
    out.start += nodes[batch.first_rows].sum(axis=0)
    out.end += nodes[batch.last_rows].sum(axis=0)
    if observations.edges is None:
        out.transitions += transitions
        return
    by_group = transitions.reshape(len(transitions), out.edges.shape[1])
    observations.edges.features.add_transposed(np.ascontiguousarray(by_group, dtype=out.edges.dtype), out.edges)
    out.transitions += transitions.sum(axis=0)


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
    observations: Observations,
    gold: Gold,
    weights: DenseWeights,
    layout: Layout,
    out: DenseWeights,
    nodes: Floats | None = None,
) -> float:
    """Negative log-likelihood of a batch, without regularisation. O(nnz L + N L^2).

    gold (Gold): in packed order. out (DenseWeights): the gradient is added to it.
    nodes ((N, L) | None): takes the gradient by the emissions, in packed order.
    RAISES (NoPathError): where gold, or the masks, leave no path.
    """
    batch = observations.batch
    latent = gold.latent_sequences(batch.row_sequences, batch.n_sequences)
    if latent.any() and not latent.all():
        loss = 0.0
        for sequences in (np.flatnonzero(~latent), np.flatnonzero(latent)):
            part, rows = observations.select(sequences)
            own = None if nodes is None else np.empty((len(rows), layout.n_labels), dtype=nodes.dtype)
            with numbered(sequences):
                loss += loss_and_gradient(part, gold.take(rows), weights, layout, out, own)
            if nodes is not None and own is not None:
                nodes[rows] = own
        return loss
    chains = potentials(observations, weights, layout)
    messages = forward_backward(chains)
    if latent.any():
        score, target = OpenGold.of(gold, batch, layout).evaluate(chains)
    else:
        target = gold_counts(gold, observations, layout)
        score = gold_score(target, chains)
    difference = model_counts(messages).minus(target)
    add_counts(difference, observations, out)
    if nodes is not None:
        nodes[...] = difference.nodes
    return float(messages.log_z.sum()) - score
