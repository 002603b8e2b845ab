"""Probabilities of labels that another component of the pipeline gives to each token."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..core.types import Floats
from ..errors import Errors
from .tagger import CRFTagger

TOLERANCE = 1e-3  # rows that sum to 1 up to this are probabilities, others are logits


class ProbabilitySource:
    """A component whose model gives scores of its labels for each token: a crf_tagger, spaCy's tagger and the like.

    nlp (Language): the pipeline, in which the component is looked up when it is needed.
    name (str): of the component that asks. source (str): of the one that is asked.
    """

    def __init__(self, nlp: Language, name: str, source: str):
        self._nlp, self._name, self._source = nlp, name, source

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        if self._source == self._name:
            return ()
        known = dict(self._nlp.components)  # disabled ones too: spaCy asks for labels whenever it writes its meta data
        return tuple(getattr(known.get(self._source), "labels", ()))

    @property
    def tags(self) -> tuple[str, ...]:
        """What its probabilities are about: the tags of a crf_tagger, the labels of others."""
        source = self._find()
        return source.tags.tags if isinstance(source, CRFTagger) else self.labels

    def predict(self, docs: Sequence[Doc], n_labels: int) -> list[Floats]:
        """Probabilities.

        n_labels (int): how many labels they have to be about.
        RETURNS (list of (n, L)): for each Doc.
        RAISES (ValueError): where the source does not come before, or gives something else.
        """
        source, filled = self._find(), [doc for doc in docs if len(doc)]
        if isinstance(source, CRFTagger):
            inference = replace(source.inference(), marginals=True)
            found = iter([prediction.marginals for prediction in source.infer(filled, inference)])
        else:
            found = iter(
                [_probabilities(np.asarray(scores)) for scores in source.model.predict(filled)] if filled else []
            )
        rows = [next(found) if len(doc) else np.zeros((0, n_labels), dtype=np.float32) for doc in docs]
        for doc, values in zip(docs, rows):
            if values is None or values.shape != (len(doc), n_labels):
                shape = None if values is None else values.shape
                raise ValueError(Errors.CRF417.format(name=self._name, source=self._source, shape=shape))
        return [np.asarray(values, dtype=np.float32) for values in rows]

    def _find(self) -> Any:
        """The component with the probabilities, which must come before the one that asks."""
        names = self._nlp.pipe_names
        before = names[: names.index(self._name)] if self._name in names else names
        if self._source not in before:
            raise ValueError(Errors.CRF416.format(name=self._name, source=self._source, known=", ".join(before)))
        return self._nlp.get_pipe(self._source)


def _probabilities(scores: Floats) -> Floats:
    """((n, L)): scores of one Doc as they are if they are probabilities, else their softmax."""
    if (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1.0, atol=TOLERANCE):
        return scores
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
