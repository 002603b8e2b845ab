"""Sets of tags from the probabilities of another component: a crf_tagger, or a tagger of spaCy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc

from ..core.types import Floats
from ..errors import Errors
from .annotate import register_extensions
from .isolation import IsolatesFailures
from .set_rules import check_set_settings, set_rule
from .set_tagger import listed, register_sets
from .strata import Tokens
from .tag_tree import tag_tree
from .tagger import CRFTagger

TOLERANCE = 1e-3  # rows that sum to 1 up to this are probabilities, others are logits


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
        self._nlp, self.vocab, self.name, self.source, self.scorer = nlp, nlp.vocab, name, source, scorer
        self.cfg: dict[str, Any] = {**settings, "source": source}
        self._register_extensions()

    def _register_extensions(self) -> None:
        register_sets(self.cfg["tag_set"])
        register_sets(self.cfg["tag_nodes"])
        register_extensions(None, None, self.cfg["tag_probs"])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the source; none where the pipeline has no such component."""
        known = dict(self._nlp.components)  # disabled ones too: spaCy asks for labels whenever it writes its meta data
        return tuple(getattr(known.get(self.source), "labels", ()))

    def predict(self, docs: Sequence[Doc]) -> list[Floats]:
        """Probabilities of the source's labels.

        RETURNS (list of (n, L)): for each Doc.
        """
        source, n_labels = self._find_source(), len(self.labels)
        filled = [doc for doc in docs if len(doc)]
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
                raise ValueError(Errors.CRF417.format(name=self.name, source=self.source, shape=shape))
        return [np.asarray(values, dtype=np.float32) for values in rows]

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

    def _find_source(self) -> Any:
        """The component with the probabilities, which must come before this one."""
        names = self._nlp.pipe_names
        before = names[: names.index(self.name)] if self.name in names else names
        if self.source not in before:
            raise ValueError(Errors.CRF416.format(name=self.name, source=self.source, known=", ".join(before)))
        return self._nlp.get_pipe(self.source)


def _tokens(docs: Sequence[Doc]) -> Tokens:
    """Tokens of Docs, whose sequences are their sentences, or the Docs where there are none."""
    orths = np.concatenate([doc.to_array(ORTH) for doc in docs]) if docs else np.zeros(0, dtype=np.uint64)
    has_sentences = [doc.has_annotation("SENT_START") for doc in docs]
    lengths = [[len(s) for s in doc.sents] if known else [len(doc)] for doc, known in zip(docs, has_sentences)]
    flat = np.array([length for own in lengths for length in own if length], dtype=np.intp)
    return Tokens(orths.astype(np.uint64), flat, np.array([len(doc) for doc in docs], dtype=np.intp))


def _probabilities(scores: Floats) -> Floats:
    """((n, L)): scores of one Doc as they are if they are probabilities, else their softmax."""
    if (scores >= 0).all() and np.allclose(scores.sum(axis=1), 1.0, atol=TOLERANCE):
        return scores
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
