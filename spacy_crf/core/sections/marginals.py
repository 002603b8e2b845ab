"""The sum version: forward and backward over the lattice, probabilities of moves.

The sum runs over all trees and all labels of headings that the lattice holds; with a cap on its states some are left
out. A unit outside headings has the likeliest of its other labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Indices
from .lattice import Lattice


@dataclass(frozen=True)
class Moves:
    """The A moves between the states that were kept, of B documents, in order of their sources.

    States are numbered anew, in order of layers; in a batch layer c of all documents stands together.

    source ((A,)), target ((A,)): states. variant, bag, depth ((A,)): see `lattice.Arcs`. fixed ((A,)): score without
    features. document ((A,)): of each move. layers ((S,)): of each state. first ((B,)): the state that each document
    begins with. last, owner ((E,)): the states that documents end with, and whose they are, in order of documents.
    """

    source: Indices
    target: Indices
    variant: Indices
    bag: Indices
    depth: Indices
    fixed: Doubles
    document: Indices
    layers: Indices
    first: Indices
    last: Indices
    owner: Indices


def moves_of(lattice: Lattice) -> Moves:
    """The moves of a lattice that was built with arcs. O(A)."""
    assert lattice.arcs is not None
    states = np.array([state for layer in lattice.layers for state in layer], dtype=np.intp)
    renumbered = np.full(len(lattice.score), -1, dtype=np.intp)
    renumbered[states] = np.arange(len(states))
    arcs = lattice.arcs
    source, target = (renumbered[np.array(column, dtype=np.intp)] for column in (arcs.source, arcs.target))
    kept = np.flatnonzero((source >= 0) & (target >= 0))
    kept = kept[np.argsort(source[kept], kind="stable")]
    variant, bag, depth = (np.array(column, dtype=np.intp)[kept] for column in (arcs.variant, arcs.bag, arcs.depth))
    layers = np.repeat(np.arange(len(lattice.layers)), [len(layer) for layer in lattice.layers])
    last = np.arange(len(states) - len(lattice.layers[-1]), len(states))
    alone = np.zeros(len(kept), dtype=np.intp)
    fixed = np.array(arcs.score, dtype=np.float64)[kept]
    first, owner = np.zeros(1, dtype=np.intp), np.zeros(len(last), dtype=np.intp)
    return Moves(source[kept], target[kept], variant, bag, depth, fixed, alone, layers, first, last, owner)


def join(documents: Sequence[Moves]) -> tuple[Moves, Indices]:
    """The moves of several documents as a batch. O(A log A).

    RETURNS (tuple): the batch, and ((A,)): of each of its moves the place among those of the documents in order.
    """
    offsets = np.concatenate([[0], np.cumsum([len(moves.layers) for moves in documents])])
    layers = np.concatenate([moves.layers for moves in documents])
    order = np.argsort(layers, kind="stable")
    renumbered = np.empty(len(order), dtype=np.intp)
    renumbered[order] = np.arange(len(order))

    def moved(name: str) -> Indices:
        columns = [getattr(moves, name) + offset for moves, offset in zip(documents, offsets)]
        return np.asarray(renumbered[np.concatenate(columns)], dtype=np.intp)

    source = moved("source")
    places = np.argsort(source, kind="stable")
    variant, bag, depth, fixed = (
        np.concatenate([getattr(moves, name) for moves in documents])[places]
        for name in ("variant", "bag", "depth", "fixed")
    )
    document = np.repeat(np.arange(len(documents)), [len(moves.source) for moves in documents])[places]
    owner = np.repeat(np.arange(len(documents)), [len(moves.last) for moves in documents])
    first, last, target = moved("first"), moved("last"), moved("target")[places]
    batch = Moves(source[places], target, variant, bag, depth, fixed, document, layers[order], first, last, owner)
    return batch, places


def move_scores(lattice: Lattice, moves: Moves) -> Doubles:
    """((A,)): the score of each move."""
    variants = np.array([variant.score for variant in lattice.variants] + [0.0])
    bags = np.array([*lattice.scorer.scores, 0.0])
    scores: Doubles = moves.fixed + variants[moves.variant] + bags[moves.bag]
    return scores


@dataclass(frozen=True)
class Sums:
    """log_z ((B,)): the log sum over all ways through each document; -inf for one without any way to its end.

    alpha ((S,)): log sum over all ways to each state. probabilities ((A,)): of each move.
    """

    log_z: Doubles
    alpha: Doubles
    probabilities: Doubles


def forward_backward(moves: Moves, scores: Doubles) -> Sums:
    """The log sum over all ways through each document, and the probability of each move.

    O(A) time, a few numpy calls for each layer of the longest document.

    scores ((A,)): of the moves.
    """
    n_layers = int(moves.layers[-1]) + 1
    alpha, beta = np.full(len(moves.layers), -np.inf), np.full(len(moves.layers), -np.inf)
    alpha[moves.first], beta[moves.last] = 0.0, 0.0
    inwards = np.argsort(moves.target, kind="stable")
    into, source_in, score_in = moves.target[inwards], moves.source[inwards], scores[inwards]
    bounds = np.searchsorted(moves.layers, np.arange(n_layers + 1))
    bounds_in, bounds_out = (np.searchsorted(states, bounds).tolist() for states in (into, moves.source))
    for low, high in zip(bounds_in[:-1], bounds_in[1:]):
        _gather(alpha, into[low:high], alpha[source_in[low:high]] + score_in[low:high])
    for low, high in zip(bounds_out[-2::-1], bounds_out[:0:-1]):
        _gather(beta, moves.source[low:high], scores[low:high] + beta[moves.target[low:high]])
    log_z = np.full(len(moves.first), -np.inf)
    _gather(log_z, moves.owner, alpha[moves.last])
    reached = np.where(log_z > -np.inf, log_z, np.inf)  # no way has no probability
    probabilities = np.exp(alpha[moves.source] + scores + beta[moves.target] - reached[moves.document])
    return Sums(log_z, alpha, probabilities)


def _gather(values: Doubles, rows: Indices, terms: Doubles) -> None:
    """Set each row to the log sum of its terms; equal rows stand together."""
    if len(rows):
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        values[rows[first]] = np.logaddexp.reduceat(terms, first)
