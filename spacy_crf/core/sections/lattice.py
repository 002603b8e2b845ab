"""The lattice of the section parser: at each unit that may begin a heading, the stacks that may be open there.

A move either passes the unit over (it is no heading, the stack stays), or opens one of its headings: close any number
of open sections, then push. Units that cannot begin a heading take no time: scores are relative to each unit's
likeliest label, so passing over them adds nothing. The best way through is a tree of sections.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain
from math import inf

import numpy as np

from ..arrays import Doubles, Indices, Ints
from .headings import Stacks
from .scores import Scorer, Variant

PASS = -1  # the variant of a move that opens nothing
integers = partial(array, "i")


@dataclass(frozen=True)
class LatticeArcs:
    """All moves of a lattice, in order of their sources, as columns, so that long documents take little memory.

    source, target: states. variant: what is opened; PASS for nothing. bag: features of the first section that opens
    with what it meets. depth: open sections below it.
    """

    source: "array[int]" = field(default_factory=integers)
    target: "array[int]" = field(default_factory=integers)
    variant: "array[int]" = field(default_factory=integers)
    bag: "array[int]" = field(default_factory=integers)
    depth: "array[int]" = field(default_factory=integers)

    def add(self, moves: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add moves from a layer."""
        for each, column in zip(fields(self), zip(*moves)):
            getattr(self, each.name).extend(column)


@dataclass
class StackLattice:
    """All states that were reached, the best way to each, and, if they were asked for, all moves.

    units (list of int): first units of the C possible headings; layer c holds the states before unit c, layer C those
        at the end. variants (list of Variant): what arcs open.
    score, back, variant, depth: of each state: the best score, the state before, and the move between them.
    layers (list of arrays): the states of each layer that were kept. layer_stacks (list of arrays): their stacks.
    passing (list of float): for each layer, the score of a move that opens nothing.
    arcs (LatticeArcs | None): all moves, if they are kept.
    dropped (int): stacks that were left out because of the cap, as often as they were reached.
    bound (float): on the score of any way that was left out; -inf for none.
    """

    units: list[int]
    scorer: Scorer
    variants: list[Variant] = field(default_factory=list)
    score: "array[float]" = field(default_factory=lambda: array("d"))
    back: "array[int]" = field(default_factory=integers)
    variant: "array[int]" = field(default_factory=integers)
    depth: "array[int]" = field(default_factory=integers)
    layers: "list[array[int]]" = field(default_factory=list)
    layer_stacks: "list[array[int]]" = field(default_factory=list)
    passing: list[float] = field(default_factory=list)
    arcs: LatticeArcs | None = None
    dropped: int = 0
    bound: float = -inf
    stacks: Stacks = field(default_factory=Stacks)

    def reach(self, back: int, score: float, variant: int, depth: int) -> int:
        """Add a state that is reached by a move from another one."""
        self.score.append(score)
        self.back.append(back)
        self.variant.append(variant)
        self.depth.append(depth)
        return len(self.score) - 1

    @property
    def best_score(self) -> float:
        """The score of the best way to the end."""
        return max((self.score[state] for state in self.layers[-1]), default=-inf)

    def best_moves(self) -> list[tuple[Variant, int]]:
        """The headings on the best way to the end, in order, and how many open sections each stands in."""
        state = max(self.layers[-1], key=self.score.__getitem__)
        moves = []
        while self.back[state] >= 0:
            if self.variant[state] != PASS:
                moves.append((self.variants[self.variant[state]], self.depth[state]))
            state = self.back[state]
        return moves[::-1]


# -- the sum over all ways ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moves:
    """The A moves between the states that were kept, of B documents, in order of their sources.

    States are numbered anew, in order of layers; in a batch layer c of all documents stands together.

    source ((A,)), target ((A,)): states. variant, bag, depth ((A,)): see `arcs`. fixed ((A,)): score without
    features. document ((A,)): of each move. layers ((S,)): of each state. first ((B,)): the state that each document
    begins with. last, owner ((E,)): the states that documents end with, and whose they are, in order of documents.
    """

    source: Ints
    target: Ints
    variant: Ints
    bag: Ints
    depth: Ints
    fixed: Doubles
    document: Ints
    layers: Indices
    first: Indices
    last: Indices
    owner: Indices


def moves_of(lattice: StackLattice) -> Moves:
    """The moves of a lattice that was built with arcs. O(A)."""
    assert lattice.arcs is not None
    sizes = [len(layer) for layer in lattice.layers]
    states = np.fromiter(chain.from_iterable(lattice.layers), dtype=np.int32, count=sum(sizes))
    renumbered = np.full(len(lattice.score), -1, dtype=np.int32)
    renumbered[states] = np.arange(len(states))
    layers = np.repeat(np.arange(len(sizes)), sizes)
    source, target, variant, bag, depth = (
        np.frombuffer(getattr(lattice.arcs, each.name), dtype=np.intc) for each in fields(LatticeArcs)
    )
    source, target = renumbered[source], renumbered[target]
    kept = np.flatnonzero((source >= 0) & (target >= 0))
    kept = kept[np.argsort(source[kept], kind="stable")]
    source, target, variant, bag, depth = (column[kept] for column in (source, target, variant, bag, depth))
    fixed = np.zeros(len(kept))
    passes = np.flatnonzero(variant == PASS)
    fixed[passes] = np.array(lattice.passing)[layers[source[passes]]]
    last = np.arange(len(states) - sizes[-1], len(states))
    alone = np.zeros(len(kept), dtype=np.int32)
    first, owner = (np.zeros(size, dtype=np.intp) for size in (1, len(last)))
    return Moves(source, target, variant, bag, depth, fixed, alone, layers, first, last, owner)


def join(documents: Sequence[Moves]) -> tuple[Moves, Indices]:
    """The moves of several documents as a batch, and ((A,)) the place of each among those in order. O(A log A)."""
    offsets = np.concatenate([[0], np.cumsum([len(moves.layers) for moves in documents])])
    joined = {each.name: [getattr(moves, each.name) for moves in documents] for each in fields(Moves)}
    layers = np.concatenate(joined["layers"])
    order = np.argsort(layers, kind="stable")
    renumbered = np.empty(len(order), dtype=np.intp)
    renumbered[order] = np.arange(len(order))
    source, target, first, last = (
        renumbered[np.concatenate([own + offset for own, offset in zip(joined[name], offsets)])]
        for name in ("source", "target", "first", "last")
    )
    places = np.argsort(source, kind="stable")
    variant, bag, depth, fixed = (np.concatenate(joined[name])[places] for name in ("variant", "bag", "depth", "fixed"))
    owners, owner = (np.repeat(np.arange(len(documents)), [*map(len, joined[name])]) for name in ("source", "last"))
    source, target, document = (column[places].astype(np.int32) for column in (source, target, owners))
    rest = layers[order], first, last, owner
    return Moves(source, target, variant, bag, depth, fixed, document, *rest), places


def move_scores(lattice: StackLattice, moves: Moves) -> Doubles:
    """((A,)): the score of each move."""
    variants = np.array([variant.score for variant in lattice.variants] + [0.0])
    bags = np.array([*lattice.scorer.scores, 0.0])
    scores: Doubles = moves.fixed + variants[moves.variant]
    scores += bags[moves.bag]
    return scores


@dataclass(frozen=True)
class LatticeSums:
    """log_z ((B,)): the log sum over all ways through each document; -inf for one without any.

    alpha ((S,)): over those to each state. probabilities ((A,)): of each move.
    """

    log_z: Doubles
    alpha: Doubles
    probabilities: Doubles


def forward_backward(moves: Moves, scores: Doubles) -> LatticeSums:
    """The log sum over all ways through each document, and the probability of each move, by scores ((A,)). O(A)."""
    n_layers = int(moves.layers[-1]) + 1
    alpha, beta = np.full(len(moves.layers), -np.inf), np.full(len(moves.layers), -np.inf)
    alpha[moves.first], beta[moves.last] = 0.0, 0.0
    inwards = np.argsort(moves.target, kind="stable").astype(np.int32)
    into = moves.target[inwards]
    bounds = np.searchsorted(moves.layers, np.arange(n_layers + 1))
    bounds_in, bounds_out = (np.searchsorted(states, bounds).tolist() for states in (into, moves.source))
    for low, high in zip(bounds_in[:-1], bounds_in[1:]):
        own = inwards[low:high]
        _gather(alpha, into[low:high], alpha[moves.source[own]] + scores[own])
    for low, high in zip(bounds_out[-2::-1], bounds_out[:0:-1]):
        _gather(beta, moves.source[low:high], scores[low:high] + beta[moves.target[low:high]])
    log_z = np.full(len(moves.first), -np.inf)
    _gather(log_z, moves.owner, alpha[moves.last])
    reached = np.where(log_z > -np.inf, log_z, np.inf)  # no way has no probability
    probabilities = alpha[moves.source]
    probabilities += scores
    probabilities += beta[moves.target]
    probabilities -= reached[moves.document]
    np.exp(probabilities, out=probabilities)
    return LatticeSums(log_z, alpha, probabilities)


def _gather(values: Doubles, rows: Indices | Ints, terms: Doubles) -> None:
    """Set each row to the log sum of its terms; equal rows stand together."""
    if len(rows):
        first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
        values[rows[first]] = np.logaddexp.reduceat(terms, first)
