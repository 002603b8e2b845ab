"""Weights worth having that gold never shows: grafting (Perkins, Lacker & Theiler 2003)."""

import numpy as np

from ..arrays import Floats, Indices
from ..chain.objective import add_counts
from ..chain.observations import potentials
from ..threads import run_parallel
from ..weights import ChainWeights, DenseWeights
from .blocks import Block, EncodedCorpus, cut
from .expectations import expectations
from .singletons import find_singletons

LANES = 2  # accumulators of all cells are large


def expected_unseen(
    corpus: EncodedCorpus, weights: ChainWeights, threshold: float, n_threads: int = 0, dtype: type = np.float32
) -> Indices:
    """State cells without a weight that a model expects more often than `threshold` in a corpus.

    Their gold count is 0, so this is their gradient: where a weight would help most.

    weights (ChainWeights): of the model. dtype (type): precision of the counts.
    RETURNS ((P,)): cells `feature * L + label`, ascending; features that occur once and have one weight have none.
    """
    weights, layout, blocks = weights.astype(dtype), weights.layout, cut(corpus)

    def run(lane: int) -> Floats:
        out = DenseWeights.zeros(layout, dtype)
        for block in blocks[lane::LANES]:
            _add_expected(block, weights, out)
        return out.state

    expected, *others = run_parallel(run, range(LANES), n_threads)
    for other in others:
        expected += other
    expected[find_singletons(layout, corpus.features).features] = 0
    expected.reshape(-1)[layout.state_cells] = 0
    return np.flatnonzero(expected > threshold)


def _add_expected(block: Block, weights: ChainWeights, out: DenseWeights) -> None:
    expected = expectations(block, potentials(block.observations, weights.dense, weights.layout))
    add_counts(expected.counts, block.observations, out)
