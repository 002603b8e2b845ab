"""The lattice of the section parser: at each unit that may begin a heading, the stacks that may be open there.

A move either passes the unit over (it is no heading, the stack stays), or opens one of its headings: close any number
of open sections, then push. Units that cannot begin a heading take no time: scores are relative to each unit's
likeliest label, so passing over them adds nothing. The best way through is a tree of sections.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from math import inf

import numpy as np

from ..arrays import Doubles, Indices, Ints
from .scores import Scorer, Variant

PASS = -1  # the variant of a move that opens nothing


def integers(values: Iterable[int] = ()) -> "array[int]":
    """A column of whole numbers."""
    return array("i", values)


def depths() -> "array[int]":
    """A column of small whole numbers."""
    return array("h")


def doubles() -> "array[float]":
    """A column of numbers."""
    return array("d")


@dataclass(eq=False, slots=True)
class Stack:
    """Open sections: a level on top of another stack. Equal stacks of one `Stacks` are one object.

    under (Stack | None): None for the empty stack. top (int): 0 for the empty one. depth (int): its number of levels.
    """

    under: "Stack | None"
    top: int
    depth: int

    @property
    def levels(self) -> tuple[int, ...]:
        """Its levels, innermost first."""
        found, stack = [], self
        while stack.under is not None:
            found.append(stack.top)
            stack = stack.under
        return tuple(found)


class Stacks:
    """The stacks of a document. root (Stack): the empty one. known (dict): the others, by what is under their tops."""

    def __init__(self) -> None:
        self.root = Stack(None, 0, 0)
        self.known: dict[tuple[Stack, int], Stack] = {}

    def push(self, stack: Stack, level: int) -> Stack:
        """The stack with one more level."""
        found = self.known.get((stack, level))
        if found is None:
            found = self.known[stack, level] = Stack(stack, level, stack.depth + 1)
        return found

    def keep_only(self, stacks: Iterable[Stack]) -> None:
        """Forget all stacks but some and what is under them."""
        self.known = {}
        for stack in stacks:
            while stack.under is not None and (stack.under, stack.top) not in self.known:
                self.known[stack.under, stack.top] = stack
                stack = stack.under


@dataclass(frozen=True)
class LatticeArcs:
    """All moves of a lattice, in order of their sources, as columns, so that long documents take little memory.

    source: the place among the states that were kept. target: the state as it was reached. variant: what is opened;
    PASS for nothing. bag: features of the first section that opens with what it meets. depth: open sections below it.
    """

    source: "array[int]" = field(default_factory=integers)
    target: "array[int]" = field(default_factory=integers)
    variant: "array[int]" = field(default_factory=integers)
    bag: "array[int]" = field(default_factory=integers)
    depth: "array[int]" = field(default_factory=depths)

    def add(self, moves: list[tuple[int, int, int, int, int]]) -> None:
        """Add the moves from a layer."""
        moves.sort()
        for each, column in zip(fields(self), zip(*moves)):
            getattr(self, each.name).extend(column)


@dataclass
class StackLattice:
    """All states that were reached, the best way to each, and, if they were asked for, all moves.

    Layer c holds the states before the unit c of those that may begin a heading, layer C those at the end.

    score, back, variant, depth: of each state: the best score, the state before, and the move between them.
    kept (array): the states that were kept, in order of layers. bounds (array): the places in it where each of the C +
        1 layers begins, and its end. stacks (list): of the states of each layer, as levels, if they were asked for.
    passing (array): for each layer, the score of a move that opens nothing.
    arcs (LatticeArcs | None): all moves, if they are kept.
    dropped (int): stacks that were left out because of the cap, as often as they were reached.
    bound (float): on the score of any way that was left out; -inf for none.
    """

    scorer: Scorer
    score: "array[float]" = field(default_factory=doubles)
    back: "array[int]" = field(default_factory=integers)
    variant: "array[int]" = field(default_factory=integers)
    depth: "array[int]" = field(default_factory=depths)
    kept: "array[int]" = field(default_factory=integers)
    bounds: "array[int]" = field(default_factory=lambda: integers([0]))
    stacks: list[list[tuple[int, ...]]] = field(default_factory=list)
    passing: "array[float]" = field(default_factory=doubles)
    arcs: LatticeArcs | None = None
    dropped: int = 0
    bound: float = -inf

    def reach(self, back: int, score: float, variant: int, depth: int) -> int:
        """Add a state that is reached by a move from another one."""
        self.score.append(score)
        self.back.append(back)
        self.variant.append(variant)
        self.depth.append(depth)
        return len(self.score) - 1

    @property
    def last(self) -> "array[int]":
        """The states at the end."""
        return self.kept[self.bounds[-2] :]

    @property
    def best_score(self) -> float:
        """The score of the best way to the end."""
        return max((self.score[state] for state in self.last), default=-inf)

    def best_moves(self) -> list[tuple[Variant, int]]:
        """The headings on the best way to the end, in order, and how many open sections each stands in."""
        state = max(self.last, key=self.score.__getitem__)
        moves = []
        while self.back[state] >= 0:
            if self.variant[state] != PASS:
                moves.append((self.scorer.variants[self.variant[state]], self.depth[state]))
            state = self.back[state]
        return moves[::-1]


# -- the sum over all ways ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moves:
    """The A moves between the states that were kept, of B documents, in order of their sources.

    States are numbered anew, in order of layers; in a batch layer c of all documents stands together.

    source ((A,)), target ((A,)): states. variant, bag, depth ((A,)): see `LatticeArcs`. document ((A,)): of each move.
    layers ((S,)): of each state. first ((B,)): the state that each document begins with. last, owner ((E,)): the states
    that documents end with, and whose they are, in order of documents.
    """

    source: Ints
    target: Ints
    variant: Ints
    bag: Ints
    depth: Ints
    document: Ints
    layers: Ints
    first: Indices
    last: Indices
    owner: Indices


def moves_of(lattice: StackLattice) -> Moves:
    """The moves of a lattice that was built with arcs; these and its states are taken out of it. O(A)."""
    assert lattice.arcs is not None
    columns = [getattr(lattice.arcs, each.name) for each in fields(LatticeArcs)]
    lattice.arcs = None
    states, sizes = len(lattice.kept), np.diff(lattice.bounds)
    renumbered = np.full(len(lattice.score), -1, dtype=np.int32)
    renumbered[lattice.kept] = np.arange(states, dtype=np.int32)
    for column in (lattice.score, lattice.back, lattice.variant, lattice.depth):
        del column[:]  # they take as much memory as the moves
    kept = renumbered[columns[1]] >= 0
    # one after the other, as they are long
    source, target, variant, bag, depth = (
        np.frombuffer(column := columns.pop(0), column.typecode)[kept] for _ in range(len(columns))
    )
    target = renumbered[target]
    layers = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    last = np.arange(lattice.bounds[-2], states)
    first, owner = (np.zeros(size, dtype=np.intp) for size in (1, len(last)))
    alone = np.zeros(len(source), dtype=np.int32)
    return Moves(source, target, variant, bag, depth, alone, layers, first, last, owner)


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
    variant, bag, depth = (np.concatenate(joined[name])[places] for name in ("variant", "bag", "depth"))
    owners, owner = (np.repeat(np.arange(len(documents)), [*map(len, joined[name])]) for name in ("source", "last"))
    source, target, document = (column[places].astype(np.int32) for column in (source, target, owners))
    rest = layers[order], first, last, owner
    return Moves(source, target, variant, bag, depth, document, *rest), places


def move_scores(lattice: StackLattice, moves: Moves) -> Doubles:
    """((A,)): the score of each move."""
    scores = own_scores(lattice, moves, np.array(lattice.scorer.variants.scores))
    scores += np.array([*lattice.scorer.scores, 0.0])[moves.bag]
    return scores


def own_scores(lattice: StackLattice, moves: Moves, variants: Doubles) -> Doubles:
    """((A,)): the score of each move without that of what it meets. variants ((V,)): scores of variants."""
    scores: Doubles = np.append(variants, 0.0)[moves.variant]
    passes = np.flatnonzero(moves.variant == PASS)
    scores[passes] = np.array(lattice.passing)[moves.layers[moves.source[passes]]]
    return scores


@dataclass(frozen=True)
class LatticeSums:
    """log_z ((B,)): the log sum over all ways through each document; -inf for one without any.

    alpha, beta ((S,)): over those to each state, and from it.
    """

    log_z: Doubles
    alpha: Doubles
    beta: Doubles

    def probabilities(self, moves: Moves, scores: Doubles) -> Doubles:
        """((A,)): of each move."""
        # no way has no probability
        reached = np.where(self.log_z > -np.inf, self.log_z, np.inf)
        found: Doubles = self.alpha[moves.source] + scores
        found += self.beta[moves.target]
        found -= reached[moves.document]
        return np.exp(found, out=found)


def forward_backward(moves: Moves, scores: Doubles) -> LatticeSums:
    """The log sums over all ways through each document, by the scores of moves ((A,)). O(A)."""
    alpha, beta = np.full(len(moves.layers), -np.inf), np.full(len(moves.layers), -np.inf)
    alpha[moves.first], beta[moves.last] = 0.0, 0.0
    firsts = np.searchsorted(moves.layers, np.arange(moves.layers[-1] + 2, dtype=moves.layers.dtype))
    bounds = np.searchsorted(moves.source, firsts.astype(moves.source.dtype)).tolist()
    layers = [slice(low, high) for low, high in pairwise(bounds)]
    for own in layers:
        np.logaddexp.at(alpha, moves.target[own], alpha[moves.source[own]] + scores[own])
    for own in reversed(layers):
        np.logaddexp.at(beta, moves.source[own], beta[moves.target[own]] + scores[own])
    log_z = np.full(len(moves.first), -np.inf)
    np.logaddexp.at(log_z, moves.owner, alpha[moves.last])
    return LatticeSums(log_z, alpha, beta)
