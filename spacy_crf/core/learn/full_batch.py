"""The regularised negative log-likelihood of a whole corpus, evaluated block by block on several threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from ..arrays import Doubles, Floats, Indices, PackedBatch, pack
from ..chain.forward import ForwardBackward, forward_backward
from ..chain.marginals import Counts
from ..chain.objective import add_counts, gold_counts, model_counts
from ..chain.open_gold import OpenGold
from ..chain.potentials import ChainPotentials, Observations, numbered, potentials
from ..labels import Gold
from ..threads import run_parallel
from ..weights import NONE, ChainWeights, DenseWeights, Layout, gather, scatter
from .basis import CellFinder, CellWeights, FeatureOccurrences, choose_basis, ranks
from .blocks import Block, WindowedCorpus, cut
from .implied import Implied, find_implied
from .lbfgs import LBFGS, minimiser

SMALLEST = 1e-30  # a smaller factor may have lost digits
Item = TypeVar("Item")


class Shelf(Protocol):
    """Keeps what evaluations need again and again: in memory, or elsewhere."""

    def keep(self, item: Item) -> Callable[[], Item]:
        """Return what gives the item, or one that is equal."""


class Memory:
    """The shelf that keeps all as it is."""

    def keep(self, item: Item) -> Callable[[], Item]:
        return lambda: item


@dataclass(frozen=True)
class Weighted:
    """The cells of an array that gold meets, ((m,)), and how often, ((m,))."""

    cells: Indices
    amounts: Doubles

    @classmethod
    def of(cls, counts: Floats) -> Self:
        cells = np.flatnonzero(counts)
        return cls(cells, counts.reshape(-1)[cells].astype(np.float64))


@dataclass(frozen=True)
class GoldCells:
    """What the gold of a block meets in its emissions, transitions ((G, L, L) where conditioned), starts and ends."""

    parts: tuple[Weighted, ...]

    def loss(self, messages: ForwardBackward) -> float:
        """log Z - score(gold), summed over the block. O(N)."""
        scaled, potentials = messages.scaled, messages.potentials
        factors = self._met(scaled.emissions, scaled.transitions, scaled.start, scaled.end)
        if messages.redone is None and min(part.min(initial=1.0) for part in factors) > SMALLEST:
            shifts = float(scaled.shifts.sum()) + len(potentials.batch.last_rows) * scaled.end_shift
            return float(messages.log_z.sum()) - shifts - self._sum([np.log(part) for part in factors])
        matrices = potentials.transitions if potentials.edges is None else potentials.edges.matrices
        scores = self._met(potentials.emissions, matrices, potentials.start, potentials.end)
        return float(messages.log_z.sum()) - self._sum(scores)

    def _met(self, *arrays: Floats) -> list[Doubles]:
        """The values of the cells, in double precision."""
        return [array.reshape(-1)[part.cells].astype(np.float64) for part, array in zip(self.parts, arrays)]

    def _sum(self, values: list[Doubles]) -> float:
        return sum(float(part.amounts @ found) for part, found in zip(self.parts, values))


def gold_cells(counts: Counts, batch: PackedBatch) -> GoldCells:
    """What gold meets, from its counts; the labels of each unit sum to 1."""
    starts, ends = counts.nodes[batch.first_rows].sum(axis=0), counts.nodes[batch.last_rows].sum(axis=0)
    return GoldCells(tuple(map(Weighted.of, (counts.nodes, counts.transitions, starts, ends))))


LANE_BYTES = 16 << 20  # gradient accumulators larger than this are fewer
UNSEEN_LANES = 2  # accumulators of all cells are large
UNSEEN_BLOCKS = 10  # with all of their features at a time
NO_GOLD = Gold(np.zeros(0, dtype=np.int32), NONE, np.zeros((0, 0), dtype=np.float32))


class Expectations(NamedTuple):
    """What a block's chains expect: one pass of the recursions, and those of gold where it leaves labels open.

    counts (Counts): of the model, less those of gold that has no fixed target in each unit.
    messages (ForwardBackward): of the model. log_gold (float): the mean of log Z of what such gold allows, else 0.
    paths (float): what the weights of paths add to the loss.
    """

    counts: Counts
    messages: ForwardBackward
    log_gold: float
    paths: float = 0.0

    @property
    def loss(self) -> float:
        """Of gold that has no fixed target."""
        return float(self.messages.log_z.sum()) - self.log_gold


def expectations(block: Block, chains: ChainPotentials, gold: OpenGold | None) -> Expectations:
    """Run the recursions of a block.

    gold (OpenGold | None): None where it has a fixed target in each unit; its constant counts are left to the caller.
    """
    with numbered(block.sequences):
        messages = forward_backward(chains)
        if block.paths is not None:
            counts, added = block.paths.expect(messages)
            return Expectations(counts, messages, 0.0, added)
        counts = model_counts(messages)
        if gold is None:
            return Expectations(counts, messages, 0.0)
        log_gold, target = gold.evaluate(chains)
    return Expectations(counts.minus(target), messages, log_gold)


@dataclass(frozen=True)
class _Lane:
    """Accumulators of one thread's blocks, for the inner layout and for the cell weights ((C,))."""

    dense: DenseWeights
    cells: Floats

    def clear(self) -> None:
        self.dense.clear()
        self.cells[:] = 0

    def add(self, other: Self) -> None:
        for total, part in zip(self.dense.sections(), other.dense.sections()):
            total += part
        np.add(self.cells, other.cells, out=self.cells)


@dataclass(frozen=True)
class PreparedBlock:
    """A block as evaluations see it: features with dense rows, weights of cells, and what gold meets."""

    block: Block
    cells: CellWeights
    gold: GoldCells | OpenGold


Pairs: TypeAlias = Sequence[tuple[Callable[[], PreparedBlock], Block]]


class FullBatchObjective:
    """sum of -log p(gold | x) + c2 |w|^2 over a corpus, and its gradient, as in CRFsuite; p is that under
    the weights of paths where the corpus has any.

    Its argument is a vector in the basis that it chooses, from `basis.start(flat)` to `basis.finish(x)`. What features
    imply is scored once for each feature (`implied.py`).

    c2 (float): L2 penalty. n_threads (int): 0 takes all CPUs of this process. The result does not depend on it.
    dtype (type): precision of the recursions; sums of losses are float64 in any case.
    shelf (Shelf): keeps the blocks; the result does not depend on it either.
    """

    def __init__(
        self,
        corpus: WindowedCorpus,
        layout: Layout,
        c2: float,
        n_threads: int = 0,
        dtype: type = np.float32,
        shelf: Shelf | None = None,
    ):
        self.c2, self.n_threads, self.dtype = c2, n_threads, dtype
        rows = (window.features for window in corpus.windows())
        seen = FeatureOccurrences.of(rows, layout.n_features)
        self._occurs = seen.counts > 0
        self.basis = choose_basis(layout, seen)
        self._inner = self.basis.inner
        self._implied = self._find_implied(corpus)
        self._weights = DenseWeights.zeros(self._inner, dtype)
        n_lanes = 4 if self._weights.state.nbytes <= LANE_BYTES else 2
        cells = self.basis.n_cell_weights
        self._lanes = [_Lane(DenseWeights.zeros(self._inner, dtype), np.zeros(cells, dtype)) for _ in range(n_lanes)]
        self.pieces, self._gold_gradient = self._cut(corpus, Memory() if shelf is None else shelf)

    def _find_implied(self, corpus: WindowedCorpus) -> Implied | None:
        if corpus.slots is None or any(window.features.values is not None for window in corpus.windows()):
            return None
        dense = (self.basis.dense_features(window.features) for window in corpus.windows())
        return find_implied(dense, corpus.slots[self.basis.ranked])

    def _cut(self, corpus: WindowedCorpus, shelf: Shelf) -> tuple[list[Callable[[], PreparedBlock]], Doubles]:
        """The blocks, and the gradient of the gold that has a fixed target in each unit: constant over the run."""
        out, by_cells = DenseWeights.zeros(self._inner, np.float64), np.zeros(self.basis.n_cell_weights)
        finder, pieces = CellFinder(self.basis, self.dtype), []
        for block in cut(corpus):
            cells, observations = finder.find(block), self._observations(block)
            gold: GoldCells | OpenGold | None = block.open_gold(self._inner)
            if gold is None:
                with numbered(block.sequences):
                    counts = gold_counts(block.gold, observations, self._inner)
                add_counts(counts, observations, out)
                cells.add_counts(counts.nodes, by_cells)
                gold = gold_cells(counts, observations.batch)
            fresh = replace(observations, batch=pack(observations.batch.lengths))  # without what it remembers
            kept = replace(block, observations=fresh, gold=NO_GOLD, units=NONE)
            pieces.append(shelf.keep(PreparedBlock(kept, cells, gold)))
        return pieces, self._in_basis(out, by_cells)

    def _observations(self, block: Block) -> Observations:
        """Those of the features that have dense rows and that no others imply."""
        found = block.observations
        features = self.basis.dense_features(found.features)
        return replace(found, features=features if self._implied is None else self._implied.remaining(features))

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x. O(nnz L + N L^2).

        RAISES (NoPathError): where the masks, or gold, leave a sequence of the corpus no path.
        """
        inner, cells = self.basis.split(x)
        self._set_weights(inner)
        lanes = list(range(len(self._lanes)))
        losses = run_parallel(lambda lane: self._run_lane(lane, cells), lanes, self.n_threads)
        gradient = self._collected()
        value = sum(losses) + self.c2 * float(x @ x)
        gradient -= self._gold_gradient
        gradient += 2 * self.c2 * x
        return value, gradient

    def weights(self, x: Doubles) -> ChainWeights:
        """Return the weights at x."""
        return ChainWeights(self.basis.layout, self.basis.finish(x))

    def _run_lane(self, number: int, values: Doubles) -> float:
        """Every n-th block, summed in order into the lane's own accumulators."""
        lane = self._lanes[number]
        lane.clear()
        total = 0.0
        for get in self.pieces[number :: len(self._lanes)]:
            piece = get()
            loss, counts = self._expect(piece, values)
            total += loss
            add_counts(counts, piece.block.observations, lane.dense)
            piece.cells.add_counts(counts.nodes, lane.cells)
        return total

    def _expect(self, piece: PreparedBlock, values: Doubles) -> tuple[float, Counts]:
        """The loss of a block and what its chains expect, at the present weights and those of cells ((C,))."""
        chains, gold = potentials(piece.block.observations, self._weights, self._inner), piece.gold
        piece.cells.add_scores(values, chains.emissions)
        expected = expectations(piece.block, chains, gold if isinstance(gold, OpenGold) else None)
        loss = gold.loss(expected.messages) + expected.paths if isinstance(gold, GoldCells) else expected.loss
        return loss, expected.counts

    def unseen(self, x: Doubles, corpus: WindowedCorpus, threshold: float) -> Indices:
        """((P,)): state cells without a weight that the model expects more often than `threshold`, ascending.

        Their gold count is 0, so this is their gradient: where a weight would help most (grafting, Perkins et al.
        2003). Features that occur once and have one weight have none. corpus (WindowedCorpus): that of the objective.
        """
        layout, (inner, cells) = self.basis.layout, self.basis.split(x)
        self._set_weights(inner)
        chosen = np.flatnonzero(~self.basis.singletons.features & self._occurs)
        columns = ranks(chosen, layout.n_features)

        def count(lane: int, out: Floats, pairs: Pairs) -> None:
            for get, block in pairs[lane::UNSEEN_LANES]:
                _, counts = self._expect(get(), cells)
                features = block.observations.features.renumber(columns, len(chosen))
                features.add_transposed(np.ascontiguousarray(counts.nodes, dtype=self.dtype), out)

        lanes: list[Floats] = [np.zeros((len(chosen), layout.n_labels), self.dtype) for _ in range(UNSEEN_LANES)]
        blocks = zip(self.pieces, cut(corpus))
        while pairs := list(islice(blocks, UNSEEN_BLOCKS)):
            run_parallel(lambda lane: count(lane, lanes[lane], pairs), range(UNSEEN_LANES), self.n_threads)
        total, *others = lanes
        for other in others:
            total += other
        row, label = np.divmod(np.flatnonzero(total > threshold), layout.n_labels)
        return np.setdiff1d(chosen[row] * layout.n_labels + label, layout.state_cells)

    def _set_weights(self, inner: Doubles) -> None:
        if self._implied is not None:
            self._weights.state[...] = 0  # rows that took weights of others have cells that no weight overwrites
        scatter(self._inner, inner, self._weights)
        if self._implied is not None:
            self._implied.rows.times(self._weights.state, out=self._weights.state)

    def _collected(self) -> Doubles:
        """The gradient that the lanes have gathered."""
        total, *others = self._lanes
        for other in others:
            total.add(other)
        return self._in_basis(total.dense, total.cells)

    def _in_basis(self, dense: DenseWeights, cells: Floats) -> Doubles:
        if self._implied is not None:
            self._implied.rows.add_transposed(dense.state, out=dense.state)
        inner = np.empty(self._inner.size)
        gather(self._inner, dense, inner)
        return self.basis.join(inner, cells)


def new_optimizer(objective: FullBatchObjective, flat: Floats, c1: float = 0.0, **settings: Any) -> LBFGS:
    """What minimises an objective with an L1 penalty from weights ((layout.size,)) on. settings: of `LBFGS`."""
    return minimiser(objective, objective.basis.start(flat), c1 * objective.basis.l1_scales, **settings)
