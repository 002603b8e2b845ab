"""Viterbi and gradient of one sequence: what a learner that updates after every sequence spends its time on.

Here a call into numpy costs more than the arithmetic: few calls for each unit, and nothing that a batch would need.
"""

from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Floats, Indices, Ints
from ..chain.potentials import EdgeObservations, NonFiniteError, NoPathError
from ..errors import CoreErrors
from ..sparse import SparseRows
from ..weights import DenseWeights, Layout, masked
from .blocks import EncodedCorpus
from .online import OnlineWeights

RANGE = 300.0  # scores further apart than this might underflow


class SingleDecoder:
    """Decodes one sequence at a time, under weights that may change in between, in place.

    A unit takes six calls into numpy. They leave room for nothing slow: sums are of arrays of the same shape, as short
    rows that are repeated cost twice as much, and maxima are looked up where `argmax` finds them, which takes a
    quarter of the time of `max` and gives the way back.
    """

    def __init__(self, weights: DenseWeights, layout: Layout):
        self._weights, self._layout = weights, layout
        self._is_free = layout.allows_all
        self._work = np.empty_like(weights.transitions)
        self._firsts = np.arange(layout.n_labels) * layout.n_labels

    def __call__(self, features: SparseRows, edges: EdgeObservations | None, scores: Floats | None = None) -> Ints:
        """((T,)): the highest-scoring labels of T > 0 rows. O(nnz L + T L^2); ties as in `viterbi`.

        scores ((T, L) | None): added to the emissions.
        RAISES (NonFiniteError): for NaN or +inf.
        RAISES (NoPathError): where no path is allowed.
        """
        weights, layout = self._weights, self._layout
        emissions = np.zeros((features.n_rows, layout.n_labels), dtype=weights.state.dtype)
        features.times(weights.state, out=emissions)
        if not emissions.max() < np.inf:  # NaN compares false
            raise NonFiniteError(CoreErrors.CRF102.format(name="emissions"), [0])
        if scores is not None:
            emissions += scores
        start, end, transitions = weights.start, weights.end, weights.transitions
        if not self._is_free:
            start, end = masked(start, layout.allowed_start), masked(end, layout.allowed_end)
            transitions = masked(transitions, layout.allowed)
        emissions[0] += start
        emissions[-1] += end
        if edges is None:
            return _trace(emissions, self._forward(emissions, repeat(transitions.T.copy())))
        into = masked(_conditioned(edges, weights), layout.allowed).swapaxes(1, 2).copy()
        return _trace(emissions, self._forward(emissions, into))

    def _forward(self, best: Floats, into: Iterable[Floats]) -> Indices:
        """Turn emissions ((T, L)) into scores of the best paths that end in each label; returns the labels before
        ((T - 1, L)). into: the transitions ((L, L), [to, from]) into each unit but the first."""
        work, firsts, add, cells = self._work, self._firsts, np.add, np.empty_like(self._firsts)
        argmax, take, highest = work.argmax, work.reshape(-1).take, np.empty_like(best[0])
        back, rows = np.empty((len(best) - 1, len(firsts)), dtype=np.intp), list(best)
        for before, row, origins, matrix in zip(rows, rows[1:], back, into):
            work[...] = before
            add(work, matrix, work)
            argmax(1, origins)
            add(origins, firsts, cells)
            take(cells, None, highest, "clip")
            add(row, highest, row)
        return back


def _conditioned(edges: EdgeObservations, weights: DenseWeights) -> Floats:
    """((T - 1, L, L)): the transitions into each unit but the first."""
    matrices = np.tile(weights.transitions.reshape(-1), (len(edges.groups) - 1, 1))
    edges.features.take(edges.groups[1:]).times(weights.edges, out=matrices)
    return matrices.reshape(-1, *weights.transitions.shape)


def _trace(best: Floats, back: Indices) -> Ints:
    """((T,)): the best path, from scores ((T, L)) of those that end in each label and the labels before."""
    label = int(best[-1].argmax())
    score = float(best[-1, label])
    if score == -np.inf:
        raise NoPathError([0])
    if not np.isfinite(score):
        raise NonFiniteError(CoreErrors.CRF102.format(name="scores"), [0])
    labels = [label]
    for origins in back[::-1]:
        label = origins.item(label)
        labels.append(label)
    labels.reverse()
    return np.array(labels, dtype=np.int32)


class Gradient(NamedTuple):
    """Loss of a sequence, -log p(gold | x), and its gradient: expected counts minus those of gold.

    cells ((n,)): cells of weights that exist; they may repeat. amounts ((n,)): what each adds to the gradient.
    """

    loss: float
    cells: Indices
    amounts: Doubles


def single_gradient(sequence: EncodedCorpus, weights: OnlineWeights) -> Gradient | None:
    """The gradient by the weights that a sequence of T > 0 units meets; no mask may restrict it. O(nnz L + T L^2).

    RETURNS (Gradient | None): None where the general recursion is needed: for gold that is no single path, and for
        scores that are not finite or very far apart.
    """
    if len(sequence.gold.rows):
        return None
    emissions, matrices = _scores(sequence, weights)
    found = _marginals(emissions, matrices)
    if found is None:
        return None
    log_z, nodes, pairs = found
    labels, units = sequence.gold.labels, np.arange(len(sequence.gold.labels))
    gold_nodes, gold_pairs = (units, labels), (units[:-1], labels[:-1], labels[1:])
    gold_score = float(emissions[gold_nodes].sum() + matrices[gold_pairs].sum())
    nodes[gold_nodes] -= 1
    pairs[gold_pairs] -= 1
    return Gradient(log_z - gold_score, *_by_weight(sequence, nodes, pairs, weights))


def _scores(sequence: EncodedCorpus, weights: OnlineWeights) -> tuple[Doubles, Doubles]:
    """Log potentials: emissions ((T, L)), with those of start and end, and matrices ((T - 1, L, L)), [from, to]."""
    dense = weights.dense
    emissions = np.zeros((sequence.features.n_rows, weights.layout.n_labels), dtype=dense.state.dtype)
    sequence.features.times(dense.state, out=emissions)
    if sequence.scores is not None:
        emissions += sequence.scores
    emissions[0] += dense.start
    emissions[-1] += dense.end
    edges = sequence.edges
    matrices = np.tile(dense.transitions, (len(emissions) - 1, 1, 1)) if edges is None else _conditioned(edges, dense)
    return emissions.astype(np.float64), matrices.astype(np.float64)


def _marginals(emissions: Doubles, matrices: Doubles) -> tuple[float, Doubles, Doubles] | None:
    """log Z, p(y_t) ((T, L)) and p(y_t-1, y_t) ((T - 1, L, L)); None where they might underflow.

    Scaled at each step (Rabiner 1989, section V.A).
    """
    highest, steepest = emissions.max(), matrices.max(initial=-np.inf)
    spread = highest - emissions.min() + (steepest - matrices.min() if len(matrices) else 0.0)
    if not spread < RANGE:  # NaN compares false
        return None
    alpha, factors = np.exp(emissions - highest), np.exp(matrices - steepest)
    inward = alpha.copy()
    norms = _forward(alpha, factors)
    inward /= norms[:, None]
    beta = _backward(inward, factors)
    log_z = np.log(norms).sum() + len(alpha) * highest + (len(factors) * steepest if len(factors) else 0.0)
    return float(log_z), alpha * beta, alpha[:-1, :, None] * factors * inward[1:, None, :]


def _forward(alpha: Doubles, factors: Doubles) -> Doubles:
    """Turn factors of emissions ((T, L)) into p(y_t | x_1..t), and return the norm of each row."""
    norms = np.empty(len(alpha))
    rows = list(alpha)
    norms[0] = norm = np.add.reduce(rows[0])
    rows[0] /= norm
    for number, (before, row, matrix) in enumerate(zip(rows, rows[1:], factors), 1):
        row *= np.dot(before, matrix)
        norms[number] = norm = np.add.reduce(row)
        row /= norm
    return norms


def _backward(inward: Doubles, factors: Doubles) -> Doubles:
    """beta ((T, L)), scaled by the norms; factors of emissions over norms become what each unit passes back."""
    beta = np.ones_like(inward)
    rows, passed = list(beta), list(inward)
    for number in range(len(rows) - 1, 0, -1):
        row = passed[number]
        row *= rows[number]
        np.dot(factors[number - 1], row, out=rows[number - 1])
    return beta


def _by_weight(
    sequence: EncodedCorpus, nodes: Doubles, pairs: Doubles, weights: OnlineWeights
) -> tuple[Indices, Doubles]:
    """Counts of labels and of pairs of labels as counts of the weights that score them."""
    labels = np.arange(weights.layout.n_labels)
    first, second = np.repeat(labels, len(labels)), np.tile(labels, len(labels))
    pairs = pairs.reshape(-1, len(first))
    rows = sequence.features
    parts: list[tuple[Indices, Floats]] = [
        (weights.state_cells(rows.indices[:, None], labels), _spread(nodes, rows.row_numbers(), rows.values)),
        (weights.transition_cells(first, second), pairs.sum(axis=0)),
    ]
    if sequence.edges is not None:
        rows = sequence.edges.features.take(sequence.edges.groups[1:])
        cells = weights.edge_cells(rows.indices[:, None], first, second)
        parts.append((cells, _spread(pairs, rows.row_numbers(), rows.values)))
    if weights.layout.boundary:
        parts += [(weights.start_cells(labels), nodes[0]), (weights.end_cells(labels), nodes[-1])]
    cells = np.concatenate([part.reshape(-1) for part, _ in parts])
    known = np.flatnonzero(weights.slots[cells] >= 0)
    return cells[known], np.concatenate([amounts.reshape(-1) for _, amounts in parts])[known]


def _spread(counts: Doubles, rows: Indices, values: Floats | None) -> Doubles:
    """Counts of rows as counts of the features that they have."""
    found = counts[rows]
    return found if values is None else found * values[:, None]
