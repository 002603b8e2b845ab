"""The regularised negative log-likelihood of a whole corpus, evaluated block by block on several threads."""

from dataclasses import dataclass, replace

import numpy as np

from ..chain.forward import exp_shifted, forward_backward
from ..chain.objective import Counts, add_counts, gold_counts, model_counts
from ..chain.potentials import ChainPotentials, numbered
from ..observations import potentials
from ..params import DenseWeights, Layout, gather, masked, scatter
from ..sparse import SparseRows
from ..threads import run_parallel
from ..types import Doubles, Floats, Indices, Ints
from .blocks import Block, Corpus, cut
from .implied import factor
from .singletons import find_singletons

LANE_BYTES = 16 << 20  # gradient accumulators larger than this are fewer


@dataclass(frozen=True)
class _OwnWeights:
    """Merged singleton weights of one block: they score one label of one unit each."""

    where: Indices
    rows: Indices
    labels: Ints
    scales: Floats


class FullBatchObjective:
    """sum of -log p(gold | x) + c2 |w|^2 over a corpus, and its gradient, as in CRFsuite.

    It works on a vector of its own (`start` to `finish`), in which singleton attributes are merged and features are
    sorted by frequency, so that frequent ones share cache lines. What features imply is scored once for each feature.

    corpus (Corpus): encoded sequences with gold.
    layout (Layout): which weights exist.
    c2 (float): L2 penalty.
    n_threads (int): 0 takes all CPUs of this process. The result does not depend on it.
    dtype (type): precision of the recursions; sums of losses are float64 in any case.
    """

    def __init__(
        self,
        corpus: Corpus,
        layout: Layout,
        c2: float,
        n_threads: int = 0,
        dtype: type[np.floating] = np.float32,
    ):
        self.layout, self.c2, self.n_threads, self.dtype = layout, c2, n_threads, dtype
        self.singletons = find_singletons(layout, corpus.features)
        features, self._order, self._inner, self._ranked = self._compacted(corpus.features)
        self._implications = None
        if corpus.slots is not None and features.values is None:
            features, self._implications = factor(features, corpus.slots[self._ranked])
        self.blocks = cut(Corpus(corpus.lengths, features, corpus.gold, corpus.edges))
        self._own = self._own_weights(int(corpus.lengths.sum()))
        n_merged = len(self.singletons.units)
        self._sections = np.cumsum([len(self._order), n_merged])
        self.size = self._inner.size + n_merged
        self._weights = DenseWeights.zeros(self._inner, dtype)
        n_lanes = 4 if self._weights.state.nbytes <= LANE_BYTES else 2
        self._lanes = [DenseWeights.zeros(self._inner, dtype) for _ in range(n_lanes)]
        self._gold = self._gold_gradient()

    @property
    def l1_scales(self) -> Doubles:
        """((size,)): |w|_1 of the layout's weights is the sum of |x_i| times this.

        Merging is exact under L1 as under L2: m weights w, merged to u = sqrt(m) w, have the norm m |w| = sqrt(m) |u|.
        """
        scales = np.ones(self.size)
        scales[self._sections[0] : self._sections[1]] = self.singletons.scales
        return scales

    def start(self, flat: Floats) -> Doubles:
        """The vector of this objective for the layout's flat weights."""
        state, *others = self.layout.split(np.asarray(flat, dtype=np.float64))
        return np.concatenate([state[self._order], self.singletons.merge(state), *others])

    def finish(self, x: Doubles) -> Doubles:
        """The layout's flat weights for a vector of this objective."""
        flat = np.empty(self.layout.size)
        n_state = len(self.layout.state_cells)
        flat[:n_state][self._order], merged, flat[n_state:] = np.split(x, self._sections)
        self.singletons.unmerge(merged, flat[:n_state])
        return flat

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x. O(nnz L + N L^2).

        RAISES (NoPathError): where the masks, or gold, leave a sequence of the corpus no path.
        """
        shared, merged = self._split(x)
        self._set_weights(shared)
        own_gradient = np.zeros(len(merged))
        lanes = list(range(len(self._lanes)))
        losses = run_parallel(lambda lane: self._run_lane(lane, merged, own_gradient), lanes, self.n_threads)
        gradient = self._join(self._sum_lanes(), own_gradient)
        value = sum(losses) - self._gold_score(x) + self.c2 * float(x @ x)
        gradient -= self._gold
        gradient += 2 * self.c2 * x
        return value, gradient

    def expected_unseen(self, x: Doubles, threshold: float) -> Indices:
        """State cells without a weight that the model at x expects more often than `threshold` in the corpus.

        Their gold count is 0, so this is their gradient: where a weight would help most (grafting, Perkins, Lacker &
        Theiler 2003).

        RETURNS ((P,)): cells `feature * L + label`, ascending; merged features are left out.
        """
        self(x)
        expected = self._lanes[0].state.reshape(-1)
        expected[self._inner.state_cells] = 0
        column, label = np.divmod(np.flatnonzero(expected > threshold), self.layout.n_labels)
        return np.sort(self._ranked[column] * self.layout.n_labels + label)

    def _run_lane(self, lane: int, merged: Doubles, own_gradient: Doubles) -> float:
        """Every n-th block, summed in order into the lane's own accumulator."""
        out = self._lanes[lane]
        out.clear()
        total = 0.0
        for block, own in zip(self.blocks[lane :: len(self._lanes)], self._own[lane :: len(self._lanes)]):
            chains = potentials(block.observations, self._weights, self._inner)
            chains.emissions[own.rows, own.labels] += (own.scales * merged[own.where]).astype(self.dtype)
            loss, counts = _expectations(block, chains)
            total += loss
            add_counts(counts, block.observations, out)
            own_gradient[own.where] = own.scales * counts.nodes[own.rows, own.labels]
        return total

    def _gold_gradient(self) -> Doubles:
        """Counts of the gold that has a fixed target in each unit: constant over the run."""
        out = DenseWeights.zeros(self._inner, np.float64)
        own_counts = np.zeros(len(self.singletons.units))
        for block, own in zip(self.blocks, self._own):
            if block.log_gold is None:
                with numbered(block.sequences):
                    counts = gold_counts(block.gold, block.observations, self._inner)
                add_counts(counts, block.observations, out)
                own_counts[own.where] = own.scales * counts.nodes[own.rows, own.labels]
        if self._implications is not None:
            self._gold_cells = np.flatnonzero(out.state).astype(np.int32)
            self._gold_counts = out.state.reshape(-1)[self._gold_cells].astype(np.float32)
            self._implications.collect_gradient(out.state)
        return self._join(out, own_counts)

    def _gold_score(self, x: Doubles) -> float:
        """Score of the gold that has a fixed target in each unit, by the weights just set.

        Chains see sums of weights, and exponentials of transitions, in single precision. Gold must see the same ones:
        what gold uses 30,000 times would shift the value by its rounding error as often, which is noise to the search.
        """
        seen = x.astype(self.dtype).astype(np.float64)
        first = self._sections[-1]
        if self._inner.n_edge_features == 0 and len(self._inner.transition_cells):
            factors, greatest = exp_shifted(masked(self._weights.transitions, self._inner.allowed), axis=None)
            cells = self._inner.transition_cells
            with np.errstate(divide="ignore"):
                exact = np.log(factors.reshape(-1)[cells].astype(np.float64)) + greatest
            usable = np.flatnonzero(np.isfinite(exact))
            seen[first + usable] = exact[usable]
        if self._implications is None:
            return float(self._gold @ seen)
        others = slice(len(self._order), None)
        sums = self._weights.state.reshape(-1)[self._gold_cells].astype(np.float64)
        return float(sums @ self._gold_counts) + float(self._gold[others] @ seen[others])

    def _set_weights(self, shared: Doubles) -> None:
        if self._implications is None:
            scatter(self._inner, shared, self._weights)
            return
        self._weights.state[...] = 0  # rows that took weights of others have cells that no weight overwrites
        scatter(self._inner, shared, self._weights)
        self._implications.spread_weights(self._weights.state)

    def _sum_lanes(self) -> DenseWeights:
        first, *others = self._lanes
        for other in others:
            for total, part in zip(first.sections(), other.sections()):
                total += part
        if self._implications is not None:
            self._implications.collect_gradient(first.state)
        return first

    def _split(self, x: Doubles) -> tuple[Doubles, Doubles]:
        shared, merged, others = np.split(x, self._sections)
        return np.concatenate([shared, others]), merged

    def _join(self, dense: DenseWeights, own: Doubles) -> Doubles:
        flat = np.empty(self._inner.size)
        gather(self._inner, dense, flat)
        shared, others = np.split(flat, self._sections[:1])
        return np.concatenate([shared, own, others])

    def _compacted(self, features: SparseRows) -> tuple[SparseRows, Indices, Layout, Indices]:
        """Features without singletons, most frequent first; their state weights; their layout; their old numbers."""
        layout, merged = self.layout, self.singletons.features
        frequency = np.bincount(features.indices, minlength=layout.n_features)
        ranked = np.argsort(-frequency, kind="stable")
        ranked = ranked[~merged[ranked]]
        column = np.full(layout.n_features, -1, dtype=np.int32)
        column[ranked] = np.arange(len(ranked))
        feature, label = np.divmod(layout.state_cells, layout.n_labels)
        kept = np.flatnonzero(~merged[feature])
        cells = column[feature[kept]].astype(np.intp) * layout.n_labels + label[kept]
        order = np.argsort(cells)
        pairs = np.flatnonzero(~merged[features.indices])
        compact = features.select(pairs, column[features.indices[pairs]], len(ranked))
        inner = replace(layout, n_features=len(ranked), state_cells=cells[order])
        return compact, kept[order], inner, ranked

    def _own_weights(self, n_units: int) -> list[_OwnWeights]:
        """For each block, the merged weights of its units."""
        block_of, row_of = np.zeros(n_units, dtype=np.intp), np.zeros(n_units, dtype=np.intp)
        for number, block in enumerate(self.blocks):
            block_of[block.units], row_of[block.units] = number, np.arange(len(block.units))
        merged = self.singletons
        by_block = np.argsort(block_of[merged.units], kind="stable")
        ends = np.searchsorted(block_of[merged.units[by_block]], np.arange(1, len(self.blocks)))
        return [
            _OwnWeights(where, row_of[merged.units[where]], merged.labels[where], merged.scales[where])
            for where in np.split(by_block, ends)
        ]


def _expectations(block: Block, chains: ChainPotentials) -> tuple[float, Counts]:
    """Loss and counts of a block, less what its gold adds if that is constant."""
    with numbered(block.sequences):
        messages = forward_backward(chains)
        loss, counts = float(messages.log_z.sum()), model_counts(messages)
        if block.log_gold is None:
            return loss, counts
        clamped = forward_backward(chains.clamped(block.log_gold))
    return loss - float(clamped.log_z.sum()), counts.minus(model_counts(clamped))
