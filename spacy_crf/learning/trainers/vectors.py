"""Gradients of vectors and of their scores, for trainers that learn batch by batch."""

from typing import cast

import numpy as np
from thinc.types import Floats2d

from ...core.arrays import Floats
from ..encoder import ChainLearner, Sample
from ..model import VECTORS


class VectorGradients:
    """What the batches of a step have asked of the vectors' scores; the layer below the vectors is told at once.

    Gradients are means per sequence of a batch. Where a step accumulates several batches, those of the scores and of
    the layer are summed over these, as spaCy's own components do.
    """

    def __init__(self) -> None:
        self._by_scores: Floats | None = None

    def scores(self, learner: ChainLearner, sample: Sample) -> Floats | None:
        """((N, L)): what the vectors of a batch score; None for models without vectors."""
        vectors = sample.columns.vectors
        return None if vectors is None else vectors @ np.asarray(learner.model.get_param(VECTORS))

    def take(self, learner: ChainLearner, sample: Sample, by_emissions: Floats) -> None:
        """Pass a gradient on.

        by_emissions ((N, L)): of the loss, by the emissions of the units in the order of the Docs.
        """
        vectors, weights = sample.columns.vectors, np.asarray(learner.model.get_param(VECTORS))
        assert vectors is not None and sample.backprop is not None
        means = by_emissions / np.float32((sample.columns.lengths > 0).sum())
        gradient = vectors.T @ means
        self._by_scores = gradient if self._by_scores is None else self._by_scores + gradient
        sample.backprop(means @ weights.T)

    def set(self, learner: ChainLearner) -> None:
        """Give the model the gradient, and forget it here."""
        if self._by_scores is not None:
            learner.model.set_grad(VECTORS, cast(Floats2d, self._by_scores))
        self._by_scores = None
