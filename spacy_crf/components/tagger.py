"""`crf_tagger`: a linear-chain CRF for tags, chunks and entities."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from spacy.attrs import POS, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training import Example
from spacy.util import filter_spans
from spacy.vocab import Vocab

from ..core.chain.forward import forward_backward
from ..core.gold import Gold
from ..core.labels import Scheme, TagSet
from ..core.observations import potentials
from ..errors import Errors
from ..features.columns import SequenceMode, describe
from ..features.config import FeatureConfig
from ..model import ChainModel, get_layout
from ..trainers import Trainer
from .base import ChainPipe
from .gold import collect_labels, describe_annotation, gold_tags
from .inference import Inference, Prediction, SpanScores, encode, score_spans

SPAN_TARGETS = ("ent", "spans")
BUILT_IN_TARGETS = ("tag", "pos", *SPAN_TARGETS)

DEFAULT_CONFIG = {
    "model": {"@architectures": "spacy_crf.LinearChain.v1"},
    "features": {"@misc": "spacy_crf.Features.v1", "templates": ["@tagging"]},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1"},
    "target": "tag",
    "scheme": "auto",
    "sequence": "auto",
    "spans_key": "sc",
    "overwrite": False,
    "threshold": 0.0,
    "scores": None,
    "marginals": None,
    "forbidden": [],
    "scorer": {"@scorers": "spacy_crf.tagger_scorer.v1"},
}
SCORE_WEIGHTS = {"crf_score": 1.0, "tag_acc": None, "pos_acc": None, "ents_f": None, "ents_p": None, "ents_r": None}


@Language.factory(
    "crf_tagger",
    assigns=["token.tag"],
    default_config=DEFAULT_CONFIG,
    default_score_weights=SCORE_WEIGHTS,
)
def make_crf_tagger(
    nlp: Language,
    name: str,
    model: ChainModel,
    features: FeatureConfig,
    trainer: Trainer,
    target: str,
    scheme: Literal["auto", "BIO", "BILUO", "none"],
    sequence: SequenceMode,
    spans_key: str,
    overwrite: bool,
    threshold: float,
    scores: str | None,
    marginals: str | None,
    forbidden: list[list[str]],
    scorer: Callable[..., dict[str, Any]] | None,
) -> "CRFTagger":
    """Construct a CRF tagger.

    model (Model): spacy_crf.LinearChain.v1.
    features (FeatureConfig): templates, cut-offs and word lists.
    trainer (Trainer): spacy_crf.LBFGS.v1 (with the batcher spacy_crf.full_batch.v1) or spacy_crf.Minibatch.v1.
    target (str): what is learned and written: "tag", "pos", "ent" (doc.ents), "spans" (doc.spans[spans_key]) or the name
        of a custom token extension.
    scheme (str): how spans become tags, "BIO" or "BILUO"; for token targets, whether tags such as B-NP are kept
        legal; "auto": BIO for spans, none for tokens.
    sequence (str): "auto" (sentences where the Doc has sentence starts, else the Doc), "doc" or "sents".
    spans_key (str): key of doc.spans for target "spans".
    overwrite (bool): whether to replace annotation that is there already.
    threshold (float): spans with a lower exact probability are not written; 0 writes all.
    scores (str | None): name of a Span extension that takes the exact probabilities of entities. The spans of target
        "spans" have them in their SpanGroup's attrs in any case.
    marginals (str | None): name of a Doc and Token extension that takes the probabilities of all tags.
    forbidden (list[list[str]]): pairs [from, to] of tags that may not follow each other.
    scorer (Callable | None): how it is evaluated.
    RETURNS (CRFTagger): the component.
    """
    return CRFTagger(
        nlp.vocab,
        model,
        name,
        features=features,
        trainer=trainer,
        target=target,
        scheme=scheme,
        sequence=sequence,
        spans_key=spans_key,
        overwrite=overwrite,
        threshold=threshold,
        scores=scores,
        marginals=marginals,
        forbidden=forbidden,
        scorer=scorer,
    )


class CRFTagger(ChainPipe):
    """Labels tokens, or spans of tokens, with a linear-chain CRF. See `make_crf_tagger` for the settings."""

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "crf_tagger",
        *,
        features: FeatureConfig,
        trainer: Trainer,
        target: str = "tag",
        scheme: Literal["auto", "BIO", "BILUO", "none"] = "auto",
        sequence: SequenceMode = "auto",
        spans_key: str = "sc",
        overwrite: bool = False,
        threshold: float = 0.0,
        scores: str | None = None,
        marginals: str | None = None,
        forbidden: list[list[str]] | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        resolved: Scheme = scheme if scheme != "auto" else "BIO" if target in SPAN_TARGETS else "none"
        if target in SPAN_TARGETS and resolved == "none":
            problem = {"setting": "scheme", "value": scheme, "expected": "'BIO' or 'BILUO' for spans"}
            raise ValueError(Errors.CRF408.format(name=name, **problem))
        self.target = target
        _register_extensions(target, scores, marginals)
        settings = {
            "target": target,
            "spans_key": spans_key,
            "overwrite": overwrite,
            "threshold": threshold,
            "scores": scores,
            "marginals": marginals,
        }
        super().__init__(
            vocab,
            model,
            name,
            features=features,
            trainer=trainer,
            sequence=sequence,
            scheme=resolved,
            forbidden=forbidden or [],
            scorer=scorer,
            settings=settings,
        )

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        if self.target in SPAN_TARGETS:
            return TagSet.of_spans(labels, self.scheme) if labels else TagSet((), self.scheme)
        return TagSet(labels, self.scheme)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        return collect_labels(references, self.target, self.cfg["spans_key"])

    def describe_gold(self) -> str:
        return describe_annotation(self.target, self.cfg["spans_key"])

    def gold(self, examples: Sequence[Example]) -> Gold:
        parts = [np.zeros(0, dtype=np.int32)]
        for example in examples:
            try:
                parts.append(gold_tags(example, self.target, self.cfg["spans_key"], self.tags))
            except KeyError as error:
                where = {"name": self.name, "document": describe(example.reference)}
                raise ValueError(Errors.CRF403.format(label=error.args[0], **where)) from error
        return Gold.known(np.concatenate(parts), len(self.tags))

    def inference(self) -> Inference:
        spans = self.target in SPAN_TARGETS
        wanted = self.target == "spans" or self.cfg["threshold"] > 0 or self.cfg["scores"] is not None
        return Inference(spans=spans, marginals=self.cfg["marginals"] is not None, probabilities=spans and wanted)

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the model; their labels must be among the component's.

        RETURNS (SpanScores): label, boundaries and covered, one value for each span.
        RAISES (ValueError): for a span whose label the component does not know.
        """
        for span in spans:
            if span.label_ not in self.labels:
                raise ValueError(Errors.CRF403.format(label=span.label_, document=describe(doc), name=self.name))
        columns = self._features.extractor.read([doc], self.vocab)
        chains = potentials(encode(columns, self._features), self._weights(), get_layout(self.model))
        starts = np.array([span.start for span in spans], dtype=np.intp)
        ends = np.array([span.end for span in spans], dtype=np.intp)
        messages = forward_backward(chains.astype(np.float64))
        return score_spans(messages, self.tags, starts, ends, [span.label_ for span in spans])

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        for doc, prediction in zip(docs, predictions):
            if self.target in SPAN_TARGETS:
                self._write_spans(doc, self._above_threshold(prediction))
            else:
                self._write_tokens(doc, prediction)
            if self.cfg["marginals"] is not None and prediction.marginals is not None:
                doc._.set(self.cfg["marginals"], {"tags": list(self.tags.tags), "values": prediction.marginals})

    def _above_threshold(self, prediction: Prediction) -> Prediction:
        scores, threshold = prediction.scores, self.cfg["threshold"]
        if not threshold or scores is None:
            return prediction
        kept = np.flatnonzero(scores.label >= threshold)
        cut = SpanScores(scores.label[kept], scores.boundaries[kept], scores.covered[kept])
        return Prediction(prediction.tags, prediction.marginals, [prediction.spans[k] for k in kept.tolist()], cut)

    def _write_tokens(self, doc: Doc, prediction: Prediction) -> None:
        if self.target not in BUILT_IN_TARGETS:
            for token, tag in zip(doc, prediction.tags.tolist()):
                if self.cfg["overwrite"] or token._.get(self.target) in ("", None):
                    token._.set(self.target, self.tags.tags[tag])
            return
        attribute = TAG if self.target == "tag" else POS
        ids = self._label_ids()[prediction.tags]
        if not self.cfg["overwrite"]:
            present = doc.to_array(attribute)
            ids = np.where(present != 0, present, ids)
        doc.from_array([attribute], ids[:, None])

    def _label_ids(self) -> "np.ndarray[Any, np.dtype[np.uint64]]":
        """Ids of the tags in the Doc's arrays."""
        strings = self.vocab.strings
        ids = [POS_IDS.get(tag, 0) if self.target == "pos" else strings.add(tag) for tag in self.tags.tags]
        return np.array(ids, dtype=np.uint64)

    def _write_spans(self, doc: Doc, prediction: Prediction) -> None:
        spans = [Span(doc, start, end, label=label) for start, end, label in prediction.spans]
        if self.target == "spans":
            self._write_group(doc, spans, prediction.scores)
            return
        if self.cfg["scores"] is not None and prediction.scores is not None:
            for span, score in zip(spans, _by_span(prediction.scores)):
                span._.set(self.cfg["scores"], score)
        if self.cfg["overwrite"] or not doc.ents:
            doc.set_ents(spans, default="outside")
            return
        kept = filter_spans([*doc.ents])
        taken = {token for ent in kept for token in range(ent.start, ent.end)}
        free = [span for span in spans if not taken.intersection(range(span.start, span.end))]
        doc.set_ents([*kept, *free], default="unmodified")

    def _write_group(self, doc: Doc, spans: list[Span], scores: SpanScores | None) -> None:
        key = self.cfg["spans_key"]
        if key in doc.spans and len(doc.spans[key]) and not self.cfg["overwrite"]:
            return
        attrs = {}
        if scores is not None:
            attrs = {
                "scores": scores.label.tolist(),
                "scores_boundaries": scores.boundaries.tolist(),
                "scores_covered": scores.covered.tolist(),
            }
        doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def _by_span(scores: SpanScores) -> list[dict[str, float]]:
    columns = zip(scores.label.tolist(), scores.boundaries.tolist(), scores.covered.tolist())
    return [{"label": a, "boundaries": b, "covered": c} for a, b, c in columns]


def _register_extensions(target: str, scores: str | None, marginals: str | None) -> None:
    """Register what the settings name, where nobody else has."""
    if target not in BUILT_IN_TARGETS and not Token.has_extension(target):
        Token.set_extension(target, default=None)
    if scores is not None and not Span.has_extension(scores):
        Span.set_extension(scores, default=None)
    if marginals is not None and not Doc.has_extension(marginals):
        Doc.set_extension(marginals, default=None)
    if marginals is not None and not Token.has_extension(marginals):
        Token.set_extension(marginals, getter=_TokenMarginals(marginals))


class _TokenMarginals:
    """Getter of a token's probabilities, by tag, from those of its Doc. A class, so that it pickles."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, token: Token) -> dict[str, float] | None:
        stored = token.doc._.get(self.name)
        if stored is None:
            return None
        return dict(zip(stored["tags"], np.asarray(stored["values"])[token.i].tolist()))
