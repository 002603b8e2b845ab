"""Probabilities of labels that another component of the pipeline gives to each token."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..core.arrays import Floats
from ..core.errors import CRFError
from ..tagging.component import CRFTagger
from .errors import PipeErrors
from .probabilities import token_probabilities


class ProbabilitySource:
    """A component with probabilities of its labels for each token, found by its name.

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
        """Probabilities, as `probabilities.token_probabilities` gives them.

        n_labels (int): how many labels they have to be about.
        RETURNS (list of (n, L)): for each Doc, in single precision.
        RAISES (ValueError): where the source does not come before, or gives something else.
        """
        rows = token_probabilities(self._find(), docs)
        for doc, values in zip(docs, rows):
            if values.shape != (len(doc), n_labels):
                raise CRFError(PipeErrors.CRF417.format(name=self._name, source=self._source, shape=values.shape))
        return [values.astype(np.float32, copy=False) for values in rows]

    def _find(self) -> Any:
        """The component with the probabilities, which must come before the one that asks."""
        names = self._nlp.pipe_names
        before = names[: names.index(self._name)] if self._name in names else names
        if self._source not in before:
            raise CRFError(PipeErrors.CRF416.format(name=self._name, source=self._source, known=", ".join(before)))
        return self._nlp.get_pipe(self._source)
