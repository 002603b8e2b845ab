"""Weights of trigrams on top of a first-order chain that has been trained: the second of two stages.

All other weights stay as they are, and with them the candidates: an evaluation costs no more than the arcs between
these, and where gold is known the objective is convex. The first-order marginals that prune the chain remain those of a
trained chain; where all weights are learned together, they drift away, and sets of labels get worse on held-out data.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..arrays import Doubles, Floats, Indices
from ..chain.forward import log_partition
from ..chain.lattice import Lattice
from ..chain.potentials import ChainPotentials, NoPathError, numbered, potentials
from ..chain.second_order import PairStates, candidates, checked_marginals, pair_states
from ..labels import Gold
from ..threads import run_parallel
from ..trigrams import TrigramWeights
from ..weights import ChainWeights
from .blocks import Block, EncodedCorpus, cut
from .full_batch import Weighted
from .lbfgs import LBFGS, minimiser

MOST_DRAWS = 256  # of a sequence


@dataclass(frozen=True)
class _Target:
    """Gold with a fixed target in each unit: the states and arcs that it meets, and its counts of trigrams ((Z,))."""

    states: Weighted
    arcs: Weighted
    trigrams: Doubles

    def evaluate(self, lattice: Lattice, weights: Doubles) -> tuple[float, Doubles]:
        """The score of gold in the lattice of the model, and its gradient by the weights ((Z,)) of trigrams."""
        states, arcs = lattice.scores[self.states.cells], lattice.weights[self.arcs.cells]
        return float(self.states.amounts @ states) + float(self.arcs.amounts @ arcs), self.trigrams


@dataclass(frozen=True)
class _OpenTarget:
    """Gold that leaves labels open: a mean over what gold allows once labels are drawn, see `Draws`.

    states (PairStates), lattice (Lattice): of each sequence once for each draw, clamped to what is allowed.
    shares ((C,)): of each.
    """

    states: PairStates
    lattice: Lattice
    shares: Doubles

    def evaluate(self, _: Lattice, weights: Doubles) -> tuple[float, Doubles]:
        """The mean of log Z of what gold allows, and its gradient."""
        found = checked_marginals(self.states.weighted(self.lattice, weights))
        by_state = self.shares[self.lattice.batch.row_sequences[self.states.rows]]
        by_arc = np.repeat(by_state, self.lattice.n_arcs)
        weighed = replace(found, states=found.states * by_state, arcs=found.arcs * by_arc)
        return float(self.shares @ found.log_z), self.states.trigram_counts(weighed)


@dataclass(frozen=True)
class _Part:
    """A block of the corpus.

    sequences ((b,)): indices in the corpus. states (PairStates): of the candidates.
    lattice (Lattice): without weights of trigrams. gold: what is to be learned.
    """

    sequences: Indices
    states: PairStates
    lattice: Lattice
    gold: _Target | _OpenTarget

    def evaluate(self, weights: Doubles) -> tuple[float, Doubles]:
        """Negative log-likelihood under weights ((Z,)) of trigrams, and its gradient."""
        lattice = self.states.weighted(self.lattice, weights)
        with numbered(self.sequences):
            found = checked_marginals(lattice)
            score, counts = self.gold.evaluate(lattice, weights)
        return float(found.log_z.sum()) - score, self.states.trigram_counts(found) - counts


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
        self._parts = run_parallel(lambda block: _part(block, typed, known), list(cut(corpus)), n_threads)

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
        if not block.is_open:
            chosen |= block.gold.dense() > 0
            states = pair_states(chains.batch, chosen, known.trigrams)
            lattice = states.lattice(chains)
            return _Part(block.sequences, states, lattice, _target(block, states, lattice))
        draws = Draws.of(block.gold, chains)
        drawn, rows = chains.select(draws.sequences)
        log_gold = draws.log_weights[drawn.batch.units]
        np.logical_or.at(chosen, rows, candidates(drawn.clamped(log_gold), known.pruning))
        states = pair_states(chains.batch, chosen, known.trigrams)
        own = pair_states(drawn.batch, chosen[rows], known.trigrams)
        target = _OpenTarget(own, own.clamped(own.lattice(drawn), log_gold), draws.shares)
    return _Part(block.sequences, states, states.lattice(chains), target)


@dataclass(frozen=True)
class Draws:
    """Sequences whose labels with distributions are drawn, once for each way to draw them: C chains of n units.

    Chains of order 2, which no single label cuts, run over all of them. Where a sequence has more than `MOST_DRAWS`,
    so many are drawn, always the same ones, which show each unit its labels in their proportions (a Latin hypercube):
    their mean is near, but not exact.

    sequences ((C,)): which sequence. shares ((C,)): of the draw, given that there is a path.
    log_weights ((n, L)): 0 for a label that is allowed, else -inf; one chain after the other.
    """

    sequences: Indices
    shares: Doubles
    log_weights: Floats

    @classmethod
    def of(cls, gold: Gold, chains: ChainPotentials) -> "Draws":
        """Draw.

        gold (Gold): in packed order. chains (ChainPotentials): what they forbid, gold does not allow.
        RAISES (NoPathError): where all of gold is forbidden.
        """
        batch = chains.batch
        own = gold.take(batch.rows)
        weights, soft = own.dense(), own.distributions()
        runs = batch.segments
        sequences, shares, tables = [], [], []
        for sequence, units in enumerate(runs.slices()):
            drawn = soft[np.searchsorted(soft, units.start) : np.searchsorted(soft, units.stop)]
            for labels, share in _draws([weights[unit] for unit in drawn]):
                table = weights[units] > 0
                table[drawn - units.start] = np.eye(weights.shape[1], dtype=bool)[labels]
                sequences.append(sequence)
                shares.append(share)
                tables.append(table)
        with np.errstate(divide="ignore"):
            log_weights = np.log(np.concatenate([*tables, weights[:0] > 0]).astype(np.float32))
        made = cls(np.array(sequences, dtype=np.intp), np.array(shares), log_weights)
        return made._with_path(chains)

    def _with_path(self, chains: ChainPotentials) -> "Draws":
        drawn, _ = chains.select(self.sequences)
        alive = np.ones(len(self.shares), dtype=bool)
        try:
            log_partition(drawn.clamped(self.log_weights[drawn.batch.units]))
        except NoPathError as error:
            alive[error.sequences] = False
        totals = np.bincount(self.sequences, weights=self.shares * alive, minlength=chains.batch.n_sequences)
        if not totals.all():
            raise NoPathError(np.flatnonzero(totals == 0).tolist())
        units = np.repeat(alive, drawn.batch.lengths)
        return Draws(self.sequences[alive], (self.shares / totals[self.sequences])[alive], self.log_weights[units])


def _draws(rows: Sequence[Floats]) -> Iterator[tuple[Indices, float]]:
    """Yield ways to draw a label from each distribution, and the share of each."""
    labels = [np.flatnonzero(row) for row in rows]
    shares = [row[own] / row[own].sum(dtype=np.float64) for row, own in zip(rows, labels)]
    if math.prod(map(len, labels)) <= MOST_DRAWS:
        for places in product(*(range(len(own)) for own in labels)):
            share = math.prod(float(own[place]) for own, place in zip(shares, places))
            yield np.array([own[place] for own, place in zip(labels, places)], dtype=np.intp), share
        return
    rng, levels = np.random.default_rng(0), (np.arange(MOST_DRAWS) + 0.5) / MOST_DRAWS
    drawn = [
        own[np.minimum(np.searchsorted(np.cumsum(share), rng.permutation(levels)), len(own) - 1)]
        for own, share in zip(labels, shares)
    ]
    yield from ((one, 1 / MOST_DRAWS) for one in np.stack(drawn, axis=1))


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
