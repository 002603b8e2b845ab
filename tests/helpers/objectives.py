"""Objectives and gradients, made the plain way."""

from collections.abc import Callable

import numpy as np

from spacy_crf.core.chain.objective import loss_and_gradient
from spacy_crf.core.chain.potentials import observe
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.weights import DenseWeights, Layout, gather, scatter


def plain_loss(
    corpus: EncodedCorpus, layout: Layout, flat: np.ndarray, gold: Gold | None = None
) -> tuple[float, np.ndarray]:
    """Loss of a corpus in one batch, and its gradient over the whole flat vector, in double precision."""
    observations = observe(corpus.lengths, corpus.features, corpus.edges)
    weights, out = DenseWeights.zeros(layout, np.float64), DenseWeights.zeros(layout, np.float64)
    scatter(layout, flat, weights)
    loss = loss_and_gradient(observations, (gold or corpus.gold).take(observations.batch.units), weights, layout, out)
    gradient = np.zeros(layout.size)
    gather(layout, out, gradient)
    return loss, gradient


def differences(function: Callable[[np.ndarray], float], x: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """The gradient of a function by central differences."""
    steps = np.eye(len(x)) * eps
    return np.array([(function(x + step) - function(x - step)) / (2 * eps) for step in steps])
