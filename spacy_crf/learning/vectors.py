"""Vectors of tokens from a tok2vec layer, and gradients back into it."""

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from spacy.attrs import NAMES
from spacy.tokens import Doc
from thinc.types import Floats2d

from ..core.arrays import Floats, Segments
from .model import Tok2Vec

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
