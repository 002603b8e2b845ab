"""The full-batch objective of a second-order chain: emissions, transitions and trigrams are learned together.

The second of two stages. Candidates are those of the weights at its beginning and stay as they are, so that the
objective is a smooth function; what gold needs is always among them.
"""

from dataclasses import dataclass

import numpy as np

from ..chain.candidates import Pruning
from ..chain.lattice import Lattice
from ..chain.objective import Counts
from ..chain.potentials import ChainPotentials, numbered
from ..chain.second_order import PairStates, checked_marginals, pair_states
from ..observations import potentials
from ..params import DenseWeights, Layout
from ..threads import run_parallel
from ..trigrams import Trigrams
from ..types import Doubles, Floats
from .blocks import Block, Corpus
from .full_batch import FullBatchObjective
from .gold_cells import Weighted


class SecondOrderObjective(FullBatchObjective):
    """sum of -log p(gold | x) + c2 |w|^2 of a second-order chain over candidates, and its gradient.

    Its argument has the variables of the first-order objective, and behind them the weights of trigrams.

    corpus (Corpus), layout (Layout), c2 (float), n_threads (int), dtype (type): see `FullBatchObjective`.
    flat ((layout.size,)): first-order weights, whose marginals choose the candidates.
    trigrams (Trigrams): which have a weight. pruning (Pruning): how many candidates there are.
    """

    def __init__(
        self,
        corpus: Corpus,
        layout: Layout,
        flat: Floats,
        trigrams: Trigrams,
        pruning: Pruning,
        c2: float,
        n_threads: int = 0,
        dtype: type[np.floating] = np.float32,
    ):
        super().__init__(corpus, layout, c2, n_threads, dtype)
        self.trigrams = trigrams
        inner, cells = self.basis.split(super().start(flat))
        self._set_weights(inner)
        numbers = list(range(len(self.blocks)))
        self._states = run_parallel(lambda k: self._pair_states(k, cells, pruning), numbers, n_threads)
        self._lane_counts = np.zeros((len(self._lanes), len(trigrams)))
        self._targets = [self._target(block, states) for block, states in zip(self.blocks, self._states)]
        self._fixed_counts = np.zeros(len(trigrams))
        for target in self._targets:
            if target is not None:
                self._fixed_counts += target.trigrams

    def start(self, flat: Floats) -> Doubles:
        """The variables for the layout's flat weights with those of the trigrams behind them."""
        first, trigrams = np.split(np.asarray(flat, dtype=np.float64), [self.basis.layout.size])
        return np.concatenate([super().start(first), trigrams])

    def finish(self, x: Doubles) -> Doubles:
        first, trigrams = np.split(x, [self.basis.size])
        return np.concatenate([super().finish(first), trigrams])

    @property
    def l1_scales(self) -> Doubles:
        return np.concatenate([super().l1_scales, np.ones(len(self.trigrams))])

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x. O(nnz L + states + arcs).

        RAISES (NoPathError): where the candidates leave a sequence of the corpus no path.
        """
        first, self._weights_of_trigrams = np.split(x, [self.basis.size])
        self._lane_counts[:] = 0
        value, gradient = super().__call__(first)
        weights = self._weights_of_trigrams
        by_trigrams = self._lane_counts.sum(axis=0) - self._fixed_counts + 2 * self.c2 * weights
        return value + self.c2 * float(weights @ weights), np.concatenate([gradient, by_trigrams])

    def _expect(self, k: int, chains: ChainPotentials) -> tuple[float, Counts]:
        block, states, target = self.blocks[k], self._states[k], self._targets[k]
        lattice = states.lattice(chains, self._weights_of_trigrams)
        with numbered(block.sequences):
            found = checked_marginals(lattice)
            counts = self._lane_counts[k % len(self._lanes)]
            counts += states.trigram_counts(found)
            expected = states.counts(found, chains.edges)
            if target is not None:
                return float(found.log_z.sum()) - target.score(lattice), expected
            assert block.log_gold is not None
            clamped = checked_marginals(states.clamped(lattice, block.log_gold))
        counts -= states.trigram_counts(clamped)
        loss = float(found.log_z.sum()) - float(clamped.log_z.sum())
        return loss, expected.minus(states.counts(clamped, chains.edges))

    def _pair_states(self, k: int, cells: Doubles, pruning: Pruning) -> PairStates:
        block, chains = self.blocks[k], self._potentials(k, cells)
        with numbered(block.sequences):
            candidates = pruning.candidates(chains)
            if block.log_gold is None:
                candidates |= block.gold.dense() > 0
            else:
                candidates |= pruning.candidates(chains.clamped(block.log_gold))
        return pair_states(chains.batch, candidates, self.trigrams)

    def _target(self, block: Block, states: PairStates) -> "_Target | None":
        """Gold of a block; None where it has no fixed target in each unit."""
        if block.log_gold is not None:
            return None
        fixed = states.fixed(block.gold.dense())
        layout = self._inner
        if not (layout.allowed.all() and layout.allowed_start.all() and layout.allowed_end.all()):
            masks = potentials(block.observations, DenseWeights.zeros(layout, np.float64), layout)
            open_paths = states.lattice(masks, np.zeros(len(self.trigrams)))
            if fixed.states[np.isneginf(open_paths.scores)].any():
                fixed = checked_marginals(states.clamped(open_paths, block.gold.log_weights()))
        return _Target(Weighted.of(fixed.states), Weighted.of(fixed.arcs), states.trigram_counts(fixed))


@dataclass(frozen=True)
class _Target:
    """Gold with a fixed target in each unit: what it meets in a lattice, and its trigrams ((Z,))."""

    states: Weighted
    arcs: Weighted
    trigrams: Doubles

    def score(self, lattice: Lattice) -> float:
        states, arcs = lattice.scores[self.states.cells], lattice.weights[self.arcs.cells]
        return float(self.states.amounts @ states) + float(self.arcs.amounts @ arcs)
