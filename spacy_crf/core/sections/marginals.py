"""The sum version: forward and backward over the lattice, probabilities of moves and of sections.

The sum runs over all trees and all labels of headings that the lattice holds; with a cap on its states some are left
out. A unit outside headings has the likeliest of its other labels.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Doubles, Indices
from .lattice import PASS, Section, StackLattice

NEGLIGIBLE = 1e-7  # a share of a section that is not followed further


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


def moves_of(lattice: StackLattice) -> Moves:
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
    fixed = np.array(arcs.score, dtype=np.float64)[kept]
    layers = np.repeat(np.arange(len(lattice.layers)), [len(layer) for layer in lattice.layers])
    last = np.arange(len(states) - len(lattice.layers[-1]), len(states))
    alone, first, owner = (np.zeros(size, dtype=np.intp) for size in (len(kept), 1, len(last)))
    return Moves(source[kept], target[kept], variant, bag, depth, fixed, alone, layers, first, last, owner)


def join(documents: Sequence[Moves]) -> tuple[Moves, Indices]:
    """The moves of several documents as a batch. O(A log A).

    RETURNS (tuple): the batch, and ((A,)): of each of its moves the place among those of the documents in order.
    """
    offsets = np.concatenate([[0], np.cumsum([len(moves.layers) for moves in documents])])
    joined = {each.name: [getattr(moves, each.name) for moves in documents] for each in fields(Moves)}
    layers = np.concatenate(joined["layers"])
    order = np.argsort(layers, kind="stable")
    renumbered = np.empty(len(order), dtype=np.intp)
    renumbered[order] = np.arange(len(order))
    source, target, first, last = (
        np.asarray(renumbered[np.concatenate([own + offset for own, offset in zip(joined[name], offsets)])])
        for name in ("source", "target", "first", "last")
    )
    places = np.argsort(source, kind="stable")
    variant, bag, depth, fixed = (np.concatenate(joined[name])[places] for name in ("variant", "bag", "depth", "fixed"))
    document, owner = (np.repeat(np.arange(len(documents)), [*map(len, joined[name])]) for name in ("source", "last"))
    rest = variant, bag, depth, fixed, document[places], layers[order], first, last, owner
    return Moves(source[places], target[places], *rest), places


def move_scores(lattice: StackLattice, moves: Moves) -> Doubles:
    """((A,)): the score of each move."""
    variants = np.array([variant.score for variant in lattice.variants] + [0.0])
    bags = np.array([*lattice.scorer.scores, 0.0])
    scores: Doubles = moves.fixed + variants[moves.variant] + bags[moves.bag]
    return scores


@dataclass(frozen=True)
class LatticeSums:
    """log_z ((B,)): the log sum over all ways through each document; -inf for one without any way to its end.

    alpha ((S,)): log sum over all ways to each state. probabilities ((A,)): of each move.
    """

    log_z: Doubles
    alpha: Doubles
    probabilities: Doubles


def forward_backward(moves: Moves, scores: Doubles) -> LatticeSums:
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
    return LatticeSums(log_z, alpha, probabilities)


def _gather(values: Doubles, rows: Indices, terms: Doubles) -> None:
    """Set each row to the log sum of its terms; equal rows stand together."""
    if len(rows):
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        values[rows[first]] = np.logaddexp.reduceat(terms, first)


def fill_probabilities(lattice: StackLattice, sections: list[Section], n_units: int) -> float:
    """Set the probability of each section of a document: that there is one from this heading to this end.

    O(units below each section, one after the other).

    RETURNS (float): the log sum over all ways through the lattice.
    """
    moves = moves_of(lattice)
    scores = move_scores(lattice, moves)
    sums = forward_backward(moves, scores)
    follower = _SectionFollower(lattice, moves, scores, sums, n_units)
    for section in sections:
        section.probability = min(1.0, follower.probability(section))
    return float(sums.log_z[0])


class _SectionFollower:
    """Follows a section from the moves that open it to those that close it.

    For each state on the way, and each level that the section may have there, it knows the share of the ways to the
    state on which it is open. Given the state, what comes is independent of that, so a move that closes the section
    counts with its probability times the share.
    """

    def __init__(self, lattice: StackLattice, moves: Moves, scores: Doubles, sums: LatticeSums, n_units: int) -> None:
        self.lattice, self.n_units = lattice, n_units
        self.layers: list[int] = moves.layers.tolist()
        self.target: list[int] = moves.target.tolist()
        self.variant: list[int] = moves.variant.tolist()
        self.depth: list[int] = moves.depth.tolist()
        self.chances: list[float] = sums.probabilities.tolist()
        self.shares: list[float] = np.exp(sums.alpha[moves.source] + scores - sums.alpha[moves.target]).tolist()
        self.bounds = np.searchsorted(moves.source, np.arange(len(moves.layers) + 1)).tolist()
        self.starts = np.searchsorted(moves.layers, np.arange(len(lattice.layers) + 1)).tolist()
        self.ends = np.exp(sums.alpha[moves.last] - sums.log_z[0])
        self.last: Indices = moves.last

    def probability(self, section: Section) -> float:
        """The probability of a section."""
        layers: defaultdict[int, defaultdict[tuple[int, int], float]] = defaultdict(lambda: defaultdict(float))
        begin = bisect_left(self.lattice.units, section.start)
        for move in range(self.bounds[self.starts[begin]], self.bounds[self.starts[begin + 1]]):
            level = self._level(move, section)
            if level is not None:
                target = self.target[move]
                layers[self.layers[target]][target, level] += self.shares[move]
        final = len(self.lattice.units) if section.end == self.n_units else bisect_left(self.lattice.units, section.end)
        for layer in range(begin + 1, final):
            for (state, level), share in layers.pop(layer, {}).items():
                if share > NEGLIGIBLE:
                    self._follow(state, level, share, layers)
        if section.end == self.n_units:
            return float(sum(self.ends[state - self.last[0]] * share for (state, _), share in layers[final].items()))
        return sum(self._closing(state, level) * share for (state, level), share in layers[final].items())

    def _level(self, move: int, section: Section) -> int | None:
        """The level of the section if a move opens it: with the same heading unit, or implied by the same number."""
        if self.variant[move] == PASS:
            return None
        openings = self.lattice.variants[self.variant[move]].openings
        if not section.virtual:
            return self.depth[move] + len(openings)
        for place, opening in enumerate(openings[:-1], start=1):
            if self.lattice.scorer.levels.openings[opening].reading == section.reading:
                return self.depth[move] + place
        return None

    def _follow(
        self, state: int, level: int, share: float, layers: defaultdict[int, defaultdict[tuple[int, int], float]]
    ) -> None:
        """Go on with the moves from a state that leave the section open."""
        for move in range(self.bounds[state], self.bounds[state + 1]):
            if self.variant[move] == PASS or self.depth[move] >= level:
                target = self.target[move]
                layers[self.layers[target]][target, level] += share * self.shares[move]

    def _closing(self, state: int, level: int) -> float:
        """The probability of the moves from a state that close the section."""
        moves = range(self.bounds[state], self.bounds[state + 1])
        return sum(self.chances[move] for move in moves if self.variant[move] != PASS and self.depth[move] < level)
