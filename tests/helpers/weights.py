"""Weights of models as arrays, to look at and to change."""

from dataclasses import replace

import numpy as np
from thinc.api import Model

from spacy_crf.core.weights import DenseWeights
from spacy_crf.learning.model import get_weights, set_weights


def flat_weights(model: Model) -> np.ndarray:
    """All weights but those of vectors and trigrams."""
    return get_weights(model).flat


def set_flat_weights(model: Model, flat: np.ndarray) -> None:
    set_weights(model, replace(get_weights(model), flat=flat))


def dense_weights(model: Model) -> DenseWeights:
    return get_weights(model).dense


def vector_weights(model: Model) -> np.ndarray:
    """What vectors score."""
    vectors = get_weights(model).vectors
    assert vectors is not None
    return vectors
