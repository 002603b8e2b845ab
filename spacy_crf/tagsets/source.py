"""Sets of tags from the probabilities of another component, of this library or of spaCy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..annotation.extensions import register_by_token, register_marginals, write_marginals
from ..core.arrays import Floats
from ..features.columns import ColumnReader
from ..features.resources import Resources
from ..pipe.isolation import IsolatesFailures
from ..pipe.source import ProbabilitySource
from ..pipe.strata import Tokens
from .component import listed
from .rules import check_set_settings, set_rule
from .tag_tree import tag_tree


class SourcedSetTagger(IsolatesFailures, Pipe):
    """Gives sets of tags to tokens that an earlier component has tagged; it has nothing to learn of its own.

    nlp (Language): the pipeline, in which the source is looked up when it is needed. name (str): of the component.
    source (str): name of the component with the probabilities: see `probabilities.token_probabilities`.
    settings (Mapping): see `set_factory.make_set_valued_tagger`.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        *,
        source: str,
        settings: Mapping[str, Any],
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        check_set_settings(name, settings)
        self.vocab, self.name, self.source, self.scorer = nlp.vocab, name, source, scorer
        self.target: str = settings["target"]
        self._probabilities = ProbabilitySource(nlp, name, source)
        self.cfg: dict[str, Any] = {**settings, "source": source}
        self._register_extensions()

    def _register_extensions(self) -> None:
        register_by_token(self.cfg["tag_set"])
        register_by_token(self.cfg["tag_nodes"])
        register_marginals(self.cfg["tag_probs"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        return self._probabilities.labels

    @property
    def tag_probs(self) -> str:
        """Name of the custom attribute with the probabilities."""
        return str(self.cfg["tag_probs"])

    def predict(self, docs: Sequence[Doc]) -> list[Floats]:
        """Probabilities of the source's labels.

        RETURNS (list of (n, L)): for each Doc.
        """
        return self.token_probabilities(docs)

    def token_probabilities(self, docs: Sequence[Doc]) -> list[Floats]:
        """Those of the source, as it is now.

        RETURNS (list of (n, L)): for each Doc, in single precision.
        RAISES (ValueError): where there is no source, or it has no probabilities of each label.
        """
        return self._probabilities.predict(docs, len(self.labels))

    def read_tokens(self, docs: Sequence[Doc]) -> Tokens:
        """What promises may know of the tokens of Docs, whose sequences are their sentences, or the Docs without."""
        columns = ColumnReader([], Resources(), "auto").read(docs, self.vocab)
        return Tokens(columns.orths, columns.lengths, columns.doc_lengths)

    def set_annotations(self, docs: Sequence[Doc], probabilities: Sequence[Floats]) -> None:
        """Write sets and probabilities; tags are the source's."""
        self._register_extensions()
        labels = self.labels
        rule, names = set_rule(self.name, self.cfg, labels), np.array(labels, dtype=object)
        tree = tag_tree(self.name, self.cfg, labels) if self.cfg["method"] == "hierarchy" else None
        ends = np.cumsum([len(doc) for doc in docs])[:-1]
        members = np.split(rule(np.concatenate(probabilities), self.read_tokens(docs)), ends)
        for doc, values, own in zip(docs, probabilities, members):
            doc._.set(self.cfg["tag_set"], listed(own, values, names))
            if tree is not None:
                doc._.set(self.cfg["tag_nodes"], tree.names_of(own))
            write_marginals(doc, self.cfg["tag_probs"], labels, values)
