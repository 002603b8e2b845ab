"""Writes decoded labels where a target has them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from spacy.attrs import IDX
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..core.labels import TagSet
from .annotate import ATTRIBUTES, label_ids, write_attribute, write_entities, write_extension, write_group
from .inference import Prediction
from .settings import SPAN_TARGETS


def read_along(target: str, overwrite: bool) -> int | None:
    """What a writer has to know of each token: its present tag, or where its extensions are kept.

    RETURNS (int | None): attribute to be read with the words.
    """
    if target in ATTRIBUTES:
        return None if overwrite else ATTRIBUTES[target]
    return None if target in SPAN_TARGETS else IDX


class LabelWriter:
    """Writes predictions to Docs, under settings that do not change meanwhile.

    vocab (Vocab): of the pipeline. target (str): "tag", "pos", "ent", "spans" or a custom token attribute.
    tags (TagSet): of the chain. settings (Mapping): overwrite, threshold, scores, spans_key and given, as in the
        factory of crf_tagger.
    """

    def __init__(self, vocab: Vocab, target: str, tags: TagSet, settings: Mapping[str, Any]):
        self._target, self._settings = target, settings
        self._tags = np.array(tags.tags, dtype=object)
        self._ids = label_ids(vocab.strings, target, tags.tags) if target in ATTRIBUTES else None

    def __call__(self, doc: Doc, prediction: Prediction) -> None:
        """Write the labels of one Doc. Annotation that is there stays, unless `overwrite` is set."""
        settings, target = self._settings, self._target
        overwrite = settings["overwrite"]
        if self._ids is not None:
            write_attribute(doc, ATTRIBUTES[target], self._ids[prediction.tags], prediction.extra)
        elif target == "ent":
            write_entities(doc, prediction.above(settings["threshold"]), overwrite, settings["scores"])
        elif target == "spans":
            decoded = prediction.above(settings["threshold"])
            write_group(doc, decoded, overwrite, settings["spans_key"], extend=settings["given"])
        else:
            values = self._tags.take(prediction.tags).tolist()
            write_extension(doc, target, values, prediction.extra, overwrite)
