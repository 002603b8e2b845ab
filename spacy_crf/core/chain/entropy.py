"""How uncertain a chain is: entropies of sequences and units."""

import numpy as np

from ..arrays import Doubles, Floats, Segments
from .forward import ForwardBackward
from .lattice import Lattice, LatticeMarginals
from .logspace import transition_matrices
from .marginals import edge_marginals, node_marginals
from .walk import chunks


def sequence_entropies(messages: ForwardBackward) -> Doubles:
    """Entropy of p(y | x) over all label sequences, in nats. O(N L^2).

    Exact as log Z - E[score], up to a rounding error in the order of 1e-15 |log Z| (float64).

    RETURNS ((B,)): in the order the sequences were given; 0 for empty ones.
    """
    return np.maximum(messages.log_z - expected_scores(messages), 0.0)


def expected_scores(messages: ForwardBackward) -> Doubles:
    """Expected unnormalised log score of a label sequence under the model. O(N L^2).

    RETURNS ((B,)): in the order the sequences were given; 0 for empty ones.
    """
    potentials, batch = messages.potentials, messages.potentials.batch
    nodes = node_marginals(messages).astype(np.float64)
    units = np.einsum("nl,nl->n", nodes, _finite(potentials.emissions))
    units[batch.first_rows] += nodes[batch.first_rows] @ _finite(potentials.start)
    units[batch.last_rows] += nodes[batch.last_rows] @ _finite(potentials.end)
    units += _expected_transition_scores(messages)
    return batch.sequence_sums(units)


def _expected_transition_scores(messages: ForwardBackward) -> Doubles:
    """((N,)): expected score of the transition into each packed row; 0 at first units."""
    potentials, batch = messages.potentials, messages.potentials.batch
    expected = np.zeros(batch.n_units)
    if potentials.edges is None:
        weighted = messages.scaled.transitions * _finite(potentials.transitions)
    else:
        weighted = messages.scaled.transitions * _finite(potentials.edges.matrices)
    for step in range(1, batch.n_steps):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        alpha, inward = messages.alpha[before : before + n], messages.inward[low : low + n]
        if potentials.edges is None:
            arriving = alpha @ weighted
        else:
            arriving = np.matmul(alpha[:, None, :], weighted[potentials.edges.groups[low : low + n]])[:, 0, :]
        expected[low : low + n] = np.einsum("nl,nl->n", arriving, inward)
    if messages.redone is not None:
        _add_redone(messages, expected)
    return expected


def _add_redone(messages: ForwardBackward, expected: Doubles) -> None:
    """Write the rows that were computed in log space, whose scaled messages cannot be used."""
    assert messages.redone is not None
    inner = messages.redone.rows[messages.redone.rows >= len(messages.potentials.batch.first_rows)]
    for part in chunks(slice(0, len(inner)), messages.potentials.n_labels**2):
        matrices = _finite(transition_matrices(messages.potentials, inner[part]))
        expected[inner[part]] = (edge_marginals(messages, inner[part]) * matrices).sum(axis=(1, 2))


def path_entropies(lattice: Lattice, marginals: LatticeMarginals) -> Doubles:
    """Entropy of the paths of each sequence of a lattice, in nats, like `sequence_entropies`. O(S + A)."""
    by_state = marginals.states * _finite(lattice.scores)
    by_arc = marginals.arcs * _finite(lattice.weights)
    rows, n_rows = Segments(np.diff(lattice.bounds)).owners, lattice.batch.n_units
    scores = np.zeros(n_rows)
    scores += np.bincount(rows, weights=by_state, minlength=n_rows)
    scores += np.bincount(np.repeat(rows, lattice.n_arcs), weights=by_arc, minlength=n_rows)
    return np.maximum(marginals.log_z - lattice.batch.sequence_sums(scores), 0.0)


def _finite(scores: Floats) -> Floats:
    """0 in the place of -inf: what is forbidden has no probability, hence no part in an expectation."""
    return np.where(np.isneginf(scores), np.zeros(1, dtype=scores.dtype), scores)


def token_entropies(marginals: Floats) -> Doubles:
    """Entropy of each unit's label, in nats. O(N L).

    marginals ((N, L)): rows sum to 1.
    RETURNS ((N,)): between 0 and log L.
    """
    values = marginals.astype(np.float64)
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    entropies: Doubles = -np.einsum("nl,nl->n", values, logs)
    return np.maximum(entropies, 0.0)
