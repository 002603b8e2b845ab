"""Vectors of tokens from a tok2vec layer, and gradients back into it and into what the vectors score."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from spacy.attrs import NAMES
from spacy.tokens import Doc
from thinc.types import Floats2d

from ..core.arrays import Floats, Segments
from .block import Tok2Vec
from .encoder import ChainLearner, Sample
from .model import VECTORS

ANNOTATION = frozenset(("DEP", "ENT_IOB", "ENT_TYPE", "LEMMA", "MORPH", "POS", "TAG"))
Backprop = Callable[[Floats], None]


def annotation_read(tok2vec: Tok2Vec) -> list[str]:
    """Attributes that a layer embeds and that other components set, such as TAG, in the order of their names."""
    columns = [column for node in tok2vec.walk() for column in node.attrs.get("columns", ())]
    names = {column if isinstance(column, str) else NAMES[column] for column in columns}
    return sorted(names & ANNOTATION)


def predict_vectors(tok2vec: Tok2Vec, docs: Sequence[Doc]) -> Floats:
    """((N, width)): vectors of the tokens of all Docs, one Doc after the other, in the memory of the CPU."""
    return _stack(tok2vec, tok2vec.predict(list(docs)))


def begin_update(tok2vec: Tok2Vec, docs: Sequence[Doc]) -> tuple[Floats, Backprop]:
    """Vectors for training.

    RETURNS (tuple): (N, width) vectors, and what takes the loss's gradient by them, of the same shape, into the layer.
    """
    vectors, finish = tok2vec.begin_update(list(docs))

    def backprop(gradient: Floats) -> None:
        finish([tok2vec.ops.asarray2f(cast(Floats2d, part)) for part in Segments.of(vectors).split(gradient)])

    return _stack(tok2vec, vectors), backprop


def _stack(tok2vec: Tok2Vec, vectors: Sequence[Floats2d]) -> Floats:
    return np.concatenate([np.asarray(tok2vec.ops.to_numpy(part), dtype=np.float32) for part in vectors])


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
