"""The L2 penalty that a corpus asks for: some of its documents are held out, and tell which weights predict them best.

Weights are fitted from the greatest penalty on, each from those under the one before it, which is close; the loss of
what is held out falls until the weights fit the other documents too closely, and then it rises.
"""

from collections.abc import Callable

import numpy as np

from ..arrays import Floats, Indices
from ..chain.evidence import log_evidence
from ..chain.potentials import potentials
from ..threads import run_parallel
from ..weights import ChainWeights, Layout
from .blocks import Block, EncodedCorpus, cut
from .full_batch import FullBatchObjective, new_optimizer

PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03)
FOLDS = 3
ITERATIONS = 30  # under each penalty; the losses of what is held out are then in their order
LEAST = 1000  # units with gold, to choose by
USUAL = 1.0  # where there are fewer


def deal(count: int, folds: int, rng: np.random.Generator) -> Indices:
    """Return the fold ((count,)) of each of some units, dealt out at random."""
    return np.argsort(rng.permutation(count)) % folds


def fold_numbers(documents: Indices, folds: int = FOLDS, seed: int = 0) -> Indices:
    """((B,)): folds of sequences, given their documents ((B,)), which stay together unless there are too few."""
    units = np.unique(documents, return_inverse=True)[1]
    if units.max(initial=-1) + 1 < folds:
        units = np.arange(len(documents))
    return deal(int(units.max(initial=-1)) + 1, folds, np.random.default_rng(seed))[units]


def penalty_losses(
    corpus: EncodedCorpus,
    folds: Indices,
    start: Callable[[EncodedCorpus], Layout],
    *,
    c1: float = 0.0,
    n_threads: int = 0,
) -> dict[float, float]:
    """Return the loss of all gold, in nats, each under weights that have not seen its fold, by penalty.

    A penalty is left out where the first fold has said that a greater one is better. About as much work as 300 passes
    over the corpus, at most.

    folds ((B,)): of the sequences. start (Callable): gives the weights that a part of the corpus asks for.
    """
    losses: dict[float, float] = {}
    tried: tuple[float, ...] = PENALTIES
    for fold in np.unique(folds).tolist():
        inside, outside = (corpus.take(np.flatnonzero(chosen)) for chosen in (folds != fold, folds == fold))
        found = _losses(inside, outside, start(inside), tried, c1, n_threads)
        tried = tuple(found)
        losses = {c2: losses.get(c2, 0.0) + loss for c2, loss in found.items()}
    return losses


def _losses(
    inside: EncodedCorpus, outside: EncodedCorpus, layout: Layout, tried: tuple[float, ...], c1: float, n_threads: int
) -> dict[float, float]:
    """Loss of what is outside under weights that are fitted inside, by penalty, up to the first that is too small."""
    objective, losses = FullBatchObjective(inside, layout, tried[0], n_threads), dict[float, float]()
    flat: Floats = np.zeros(layout.size)
    for c2 in tried:
        objective.c2 = c2
        optimizer = new_optimizer(objective, flat, c1)
        optimizer.run(ITERATIONS)
        weights = objective.weights(optimizer.x)
        losses[c2], flat = held_out_loss(outside, weights, n_threads), weights.flat
        if losses[c2] > min(losses.values()):
            break
    return losses


def held_out_loss(corpus: EncodedCorpus, weights: ChainWeights, n_threads: int = 0) -> float:
    """Negative log-probability of what gold allows, in nats."""
    dense = weights.astype(np.float32).dense

    def loss(block: Block) -> float:
        chains = potentials(block.observations, dense, weights.layout)
        return -float(log_evidence(chains.astype(np.float64), block.gold.dense() > 0).sum())

    return sum(run_parallel(loss, cut(corpus), n_threads))
