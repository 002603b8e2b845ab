"""Weights of trigrams on top of a first-order chain that has been trained: the second of two stages.

All other weights stay as they are, and with them the candidates: an evaluation costs no more than the arcs between
these, and where gold is known the objective is convex. The first-order marginals that prune the chain remain those of a
trained chain; where all weights are learned together, they drift away, and sets of labels get worse on held-out data.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Doubles, Indices
from ..chain.lattice import Lattice
from ..chain.potentials import numbered, potentials
from ..chain.second_order import PairStates, candidates, checked_marginals, pair_states
from ..threads import run_parallel
from ..trigrams import TrigramWeights
from ..weights import ChainWeights
from .blocks import Block, EncodedCorpus, cut
from .full_batch import Weighted
from .lbfgs import LBFGS, minimiser


@dataclass(frozen=True)
class _Target:
    """Gold with a fixed target in each unit: the states and arcs that it meets, and its counts of trigrams ((Z,))."""

    states: Weighted
    arcs: Weighted
    trigrams: Doubles

    def score(self, lattice: Lattice) -> float:
        states, arcs = lattice.scores[self.states.cells], lattice.weights[self.arcs.cells]
        return float(self.states.amounts @ states) + float(self.arcs.amounts @ arcs)


@dataclass(frozen=True)
class _Part:
    """A block of the corpus.

    sequences ((b,)): indices in the corpus. states (PairStates): of the candidates.
    lattice (Lattice): without weights of trigrams. gold: a fixed target, or the lattice clamped to what gold allows.
    """

    sequences: Indices
    states: PairStates
    lattice: Lattice
    gold: _Target | Lattice

    def evaluate(self, weights: Doubles) -> tuple[float, Doubles]:
        """Negative log-likelihood under weights ((Z,)) of trigrams, and its gradient."""
        lattice = self.states.weighted(self.lattice, weights)
        with numbered(self.sequences):
            found = checked_marginals(lattice)
            loss, gradient = float(found.log_z.sum()), self.states.trigram_counts(found)
            if isinstance(self.gold, _Target):
                return loss - self.gold.score(lattice), gradient - self.gold.trigrams
            clamped = checked_marginals(self.states.weighted(self.gold, weights))
        return loss - float(clamped.log_z.sum()), gradient - self.states.trigram_counts(clamped)


class TrigramObjective:
    """sum of -log p(gold | x) + c2 |w|^2 of a second-order chain, as a function of the weights of trigrams.

    Gold is as for `FullBatchObjective`; the labels that it needs are always among the candidates.

    weights (ChainWeights): of order 2; those of the first-order chain stay.
    c2 (float), n_threads (int): as there. dtype (type): precision of the first-order scores.
    RAISES (NoPathError): where the masks, or gold, leave a sequence of the corpus no path.
    """

    def __init__(
        self, corpus: EncodedCorpus, weights: ChainWeights, c2: float, n_threads: int = 0, dtype: type = np.float32
    ):
        assert weights.trigrams is not None
        self.c2, self.n_threads, self._weights, self._known = c2, n_threads, weights, weights.trigrams
        typed, known = weights.astype(dtype), weights.trigrams
        self._parts = run_parallel(lambda block: _part(block, typed, known), cut(corpus), n_threads)

    @property
    def size(self) -> int:
        """Z: weights of trigrams."""
        return len(self._known.values)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Value and gradient at x ((Z,)). O(states + arcs)."""
        found = run_parallel(lambda part: part.evaluate(x), self._parts, self.n_threads)
        gradient = 2 * self.c2 * x
        for _, by_part in found:
            gradient += by_part
        return sum(loss for loss, _ in found) + self.c2 * float(x @ x), gradient

    def weights(self, x: Doubles) -> ChainWeights:
        """Return all weights, those of trigrams at x."""
        return replace(self._weights, trigrams=replace(self._known, values=x))


def _part(block: Block, weights: ChainWeights, known: TrigramWeights) -> _Part:
    chains = potentials(block.observations, weights.dense, weights.layout)
    with numbered(block.sequences):
        chosen = candidates(chains, known.pruning)
        if block.log_gold is None:
            chosen |= block.gold.dense() > 0
        else:
            chosen |= candidates(chains.clamped(block.log_gold), known.pruning)
        states = pair_states(chains.batch, chosen, known.trigrams)
        lattice = states.lattice(chains)
        if block.log_gold is None:
            return _Part(block.sequences, states, lattice, _target(block, states, lattice))
    return _Part(block.sequences, states, lattice, states.clamped(lattice, block.log_gold))


def _target(block: Block, states: PairStates, lattice: Lattice) -> _Target:
    """As in the first-order objective, adjacent distributions are independent, given that the path is allowed."""
    fixed = states.fixed(block.gold.dense())
    if np.isneginf(lattice.scores[fixed.states > 0]).any():
        masks = states.clamped(lattice.masks(), block.gold.log_weights())
        fixed = checked_marginals(masks)
    return _Target(Weighted.of(fixed.states), Weighted.of(fixed.arcs), states.trigram_counts(fixed))


def trigram_optimizer(objective: TrigramObjective, c1: float = 0.0, **settings: Any) -> LBFGS:
    """What minimises an objective with an L1 penalty from 0 on. settings: of `LBFGS`."""
    return minimiser(objective, np.zeros(objective.size), np.full(objective.size, c1), **settings)
