"""Sets of tags from the probabilities of another component: a crf_tagger, or a tagger of spaCy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..core.types import Floats
from .annotate import register_extensions
from .isolation import IsolatesFailures
from .set_rules import check_set_settings, set_rule
from .set_tagger import listed, register_sets
from .source import ProbabilitySource
from .strata import Tokens
from .tag_tree import tag_tree


class SourcedSetTagger(IsolatesFailures, Pipe):
    """Gives sets of tags to tokens that an earlier component has tagged; it has nothing to learn of its own.

    nlp (Language): the pipeline, in which the source is looked up when it is needed. name (str): of the component.
    source (str): name of the component with the probabilities: a crf_tagger, or any trainable component whose model
        gives scores of its labels for each token, as spaCy's tagger, morphologizer and senter do.
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
        self._probabilities = ProbabilitySource(nlp, name, source)
        self.cfg: dict[str, Any] = {**settings, "source": source}
        self._register_extensions()

    def _register_extensions(self) -> None:
        register_sets(self.cfg["tag_set"])
        register_sets(self.cfg["tag_nodes"])
        register_extensions(None, None, self.cfg["tag_probs"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        return self._probabilities.labels

    def predict(self, docs: Sequence[Doc]) -> list[Floats]:
        """Probabilities of the source's labels.

        RETURNS (list of (n, L)): for each Doc.
        """
        return self._probabilities.predict(docs, len(self.labels))

    def set_annotations(self, docs: Sequence[Doc], probabilities: Sequence[Floats]) -> None:
        """Write sets and probabilities; tags are the source's."""
        self._register_extensions()
        labels = self.labels
        rule, names = set_rule(self.name, self.cfg, labels), np.array(labels, dtype=object)
        tree = tag_tree(self.name, self.cfg, labels) if self.cfg["method"] == "hierarchy" else None
        ends = np.cumsum([len(doc) for doc in docs])[:-1]
        members = np.split(rule(np.concatenate(probabilities), _tokens(docs)), ends)
        for doc, values, own in zip(docs, probabilities, members):
            doc._.set(self.cfg["tag_set"], listed(own, values, names))
            if tree is not None:
                doc._.set(self.cfg["tag_nodes"], tree.names_of(own))
            doc._.set(self.cfg["tag_probs"], {"tags": list(labels), "values": values})


def _tokens(docs: Sequence[Doc]) -> Tokens:
    """Tokens of Docs, whose sequences are their sentences, or the Docs where there are none."""
    orths = np.concatenate([doc.to_array(ORTH) for doc in docs]) if docs else np.zeros(0, dtype=np.uint64)
    has_sentences = [doc.has_annotation("SENT_START") for doc in docs]
    lengths = [[len(s) for s in doc.sents] if known else [len(doc)] for doc, known in zip(docs, has_sentences)]
    flat = np.array([length for own in lengths for length in own if length], dtype=np.intp)
    return Tokens(orths.astype(np.uint64), flat, np.array([len(doc) for doc in docs], dtype=np.intp))
