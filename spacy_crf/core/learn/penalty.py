"""The L2 penalty that a corpus asks for: some of its documents are held out, and tell which weights predict them best.

Weights are fitted from the greatest penalty on, each from those under the one before it, which is close; the loss of
what is held out falls until the weights fit the other documents too closely, and then it rises. It is taken at the
temperature that makes it least: smaller penalties give better labels long after probabilities have become too sure,
which another temperature mends.
"""

from collections.abc import Callable

import numpy as np

from ..arrays import Doubles, Floats, Indices
from ..chain.evidence import log_evidence
from ..chain.potentials import potentials
from ..threads import run_parallel
from ..weights import ChainWeights, Layout
from .blocks import Block, EncodedCorpus, cut
from .full_batch import FullBatchObjective, new_optimizer

PENALTIES = (3.0, 1.0, 0.3, 0.1, 0.03)
FOLDS = 3
TEMPERATURES = (1.0, 1.25, 1.5, 1.8, 2.2, 2.8)
ITERATIONS, PRECISE = 30, 1e-3  # under each penalty: losses of what is held out are then in their order
LEAST = 1000  # units with gold, to choose by
USUAL = 1.0  # where there are fewer


def deal(count: int, folds: int, rng: np.random.Generator) -> Indices:
    """Return the fold ((count,)) of each of some units, dealt out at random."""
    return np.argsort(rng.permutation(count)) % folds


def fold_numbers(documents: Indices) -> Indices:
    """((B,)): folds of sequences, given their documents ((B,)), which stay together unless there are too few."""
    units = np.unique(documents, return_inverse=True)[1]
    if units.max(initial=-1) + 1 < FOLDS:
        units = np.arange(len(documents))
    return deal(int(units.max(initial=-1)) + 1, FOLDS, np.random.default_rng(0))[units]


def penalty_losses(
    corpus: EncodedCorpus,
    folds: Indices,
    start: Callable[[EncodedCorpus], Layout],
    *,
    c1: float = 0.0,
    n_threads: int = 0,
) -> dict[float, float]:
    """Return the loss of all gold, in nats, each under weights that have not seen its fold, by penalty.

    A penalty is left out where a fold has said that greater ones are better. As much work as about 300 passes of
    training over the corpus, at most.

    folds ((B,)): of the sequences. start (Callable): gives the weights that a part of the corpus asks for.
    """
    losses: dict[float, Doubles] = {}
    tried: tuple[float, ...] = PENALTIES
    for fold in np.unique(folds).tolist():
        inside, outside = (corpus.take(np.flatnonzero(chosen)) for chosen in (folds != fold, folds == fold))
        found = _losses(inside, outside, start(inside), tried, c1, n_threads)
        tried = tuple(found)
        losses = {c2: losses.get(c2, 0.0) + loss for c2, loss in found.items()}
    return {c2: float(by_temperature.min()) for c2, by_temperature in losses.items()}


def _losses(
    inside: EncodedCorpus, outside: EncodedCorpus, layout: Layout, tried: tuple[float, ...], c1: float, n_threads: int
) -> dict[float, Doubles]:
    """Losses of what is outside under weights that are fitted inside, by penalty, up to the first that is too small."""
    objective, losses = FullBatchObjective(inside, layout, tried[0], n_threads), dict[float, Doubles]()
    flat: Floats = np.zeros(layout.size)
    for c2 in tried:
        objective.c2 = c2
        optimizer = new_optimizer(objective, flat, c1, delta=PRECISE)
        optimizer.run(ITERATIONS)
        weights = objective.weights(optimizer.x)
        losses[c2], flat = held_out_losses(outside, weights, n_threads), weights.flat
        if losses[c2].min() > min(loss.min() for loss in losses.values()):
            break
    return losses


def held_out_losses(corpus: EncodedCorpus, weights: ChainWeights, n_threads: int = 0) -> Doubles:
    """((K,)): negative log-probability of what gold allows, in nats, at each of the K temperatures."""
    dense = weights.astype(np.float32).dense

    def losses(block: Block) -> list[float]:
        chains = potentials(block.observations, dense, weights.layout).astype(np.float64)
        allowed = block.gold.dense() > 0
        return [-float(log_evidence(chains.tempered(one), allowed).sum()) for one in TEMPERATURES]

    by_block = run_parallel(losses, list(cut(corpus)), n_threads)
    return np.array([sum(column) for column in zip(*by_block)], dtype=np.float64)
