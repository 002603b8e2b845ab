"""The sum version: forward and backward over the lattice, probabilities of moves, and of the nodes of a tree.

The sum runs over all trees and all labels of headings that the lattice holds; with a cap on its states some are left
out. A unit outside headings has the likeliest of its other labels.
"""

from dataclasses import dataclass

import numpy as np

from ...types import Doubles, Indices
from .lattice import Lattice


@dataclass(frozen=True)
class Moves:
    """The A moves between states that were kept, as columns, in order of their sources; states numbered anew.

    source ((A,)), target ((A,)): states, in order of layers. variant, bag, depth ((A,)): see `lattice.Arcs`.
    fixed ((A,)): score without features. starts ((C + 2,)): first state of each layer. by_target ((A,)): order of
    moves by their targets.
    """

    source: Indices
    target: Indices
    variant: Indices
    bag: Indices
    depth: Indices
    fixed: Doubles
    starts: Indices
    by_target: Indices


def moves_of(lattice: Lattice) -> Moves:
    """The moves of a lattice that was built with arcs. O(A log A)."""
    assert lattice.arcs is not None
    states = np.array([state for layer in lattice.layers for state in layer], dtype=np.intp)
    renumbered = np.full(len(lattice.score), -1, dtype=np.intp)
    renumbered[states] = np.arange(len(states))
    arcs = lattice.arcs
    source, target = (renumbered[np.array(column, dtype=np.intp)] for column in (arcs.source, arcs.target))
    kept = (source >= 0) & (target >= 0)
    variant, bag, depth = (np.array(column, dtype=np.intp)[kept] for column in (arcs.variant, arcs.bag, arcs.depth))
    source, target, fixed = source[kept], target[kept], np.array(arcs.score, dtype=np.float64)[kept]
    starts = np.concatenate([[0], np.cumsum([len(layer) for layer in lattice.layers])]).astype(np.intp)
    return Moves(source, target, variant, bag, depth, fixed, starts, np.argsort(target, kind="stable"))


def move_scores(lattice: Lattice, moves: Moves) -> Doubles:
    """((A,)): the score of each move."""
    variants = np.array([variant.score for variant in lattice.variants] + [0.0])
    bags = np.array([*lattice.scorer.scores, 0.0])
    scores: Doubles = moves.fixed + variants[moves.variant] + bags[moves.bag]
    return scores


def forward_backward(moves: Moves, scores: Doubles) -> tuple[float, Doubles]:
    """The log sum over all ways, and the probability of each move. O(A) time, a few numpy calls a layer.

    RETURNS (tuple): log_z, and ((A,)): probabilities. Without any way to the end log_z is -inf, and all are 0.
    """
    n_states = int(moves.starts[-1])
    alpha, beta = np.full(n_states, -np.inf), np.full(n_states, -np.inf)
    last = slice(int(moves.starts[-2]), n_states)
    alpha[0], beta[last] = 0.0, 0.0
    into, out_of = moves.target[moves.by_target], moves.source
    source_in, score_in = moves.source[moves.by_target], scores[moves.by_target]
    bounds_in = np.searchsorted(into, moves.starts).tolist()
    bounds_out = np.searchsorted(out_of, moves.starts).tolist()
    for low, high in zip(bounds_in[1:-1], bounds_in[2:]):
        _gather(alpha, into[low:high], alpha[source_in[low:high]] + score_in[low:high])
    for layer in range(len(bounds_out) - 3, -1, -1):
        low, high = bounds_out[layer], bounds_out[layer + 1]
        _gather(beta, out_of[low:high], scores[low:high] + beta[moves.target[low:high]])
    log_z = float(np.logaddexp.reduce(alpha[last], initial=-np.inf))
    if log_z == -np.inf:
        return log_z, np.zeros(len(scores))
    return log_z, np.exp(alpha[moves.source] + scores + beta[moves.target] - log_z)


def _gather(values: Doubles, states: Indices, terms: Doubles) -> None:
    """Set each state to the log sum of its terms; equal states stand together."""
    if len(states):
        first = np.flatnonzero(np.concatenate([[True], states[1:] != states[:-1]]))
        values[states[first]] = np.logaddexp.reduceat(terms, first)


def opening_probabilities(lattice: Lattice, moves: Moves, probabilities: Doubles) -> dict[tuple[int, int], float]:
    """The probability that a section with a heading of its own opens, by first unit of the heading and level."""
    opens = moves.variant >= 0
    variants = moves.variant[opens]
    starts = np.array([variant.heading.start for variant in lattice.variants], dtype=np.intp)[variants]
    levels = moves.depth[opens] + np.array([len(v.openings) for v in lattice.variants], dtype=np.intp)[variants]
    keys, inverse = np.unique(np.stack([starts, levels]), axis=1, return_inverse=True)
    sums = np.bincount(inverse.ravel(), weights=probabilities[opens])
    return {(int(start), int(level)): float(total) for (start, level), total in zip(keys.T, sums)}
