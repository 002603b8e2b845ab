"""A linear-chain CRF for tags, chunks and entities."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.gold import (
    collect_labels,
    describe_annotation,
    gold_tags,
    has_outside,
    narrow,
    spans_with_tokens,
    without_overlaps,
)
from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.calibration.temperature import HeldOut
from ..core.errors import CRFError, CRFWarning
from ..core.gold import Gold
from ..core.labels import OUTSIDE, Scheme, TagSet
from ..features.columns import SequenceMode, describe
from ..features.config import FeatureConfig
from ..learning.block import Trainer
from ..learning.model import ChainModel, get_layout, get_weights
from ..pipe.annotate import register_extensions, write_marginals
from ..pipe.component import ChainPipe
from ..pipe.dictionary.block import DictionaryConfig
from ..pipe.errors import PipeErrors
from ..pipe.evidence import read_evidence
from ..pipe.inference import Inference, Prediction
from ..pipe.legality import Violation, find_violation, forget_crossing
from ..pipe.settings import SPAN_TARGETS, Decode, check_settings
from ..pipe.span_scores import SpanScores, score_spans
from ..pipe.state import check_order
from ..pipe.writer import LabelWriter, read_along
from .errors import TaggingErrors, TaggingWarnings

BUILT_IN_TARGETS = ("tag", "pos", *SPAN_TARGETS)


class CRFTagger(ChainPipe):
    """Labels tokens, or spans of tokens, with a linear-chain CRF. See `factory.make_crf_tagger` for the settings."""

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
        decode: Decode = "viterbi",
        temperature: float = 1.0,
        given: bool = False,
        n_best: int = 0,
        n_best_key: str = "n_best",
        entropy: str | None = None,
        forbidden: list[list[str]] | None = None,
        dictionary: DictionaryConfig | None = None,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ):
        resolved: Scheme = scheme if scheme != "auto" else "BIO" if target in SPAN_TARGETS else "none"
        self.target = target
        settings = {
            "target": target,
            "spans_key": spans_key,
            "overwrite": overwrite,
            "threshold": threshold,
            "scores": scores,
            "marginals": marginals,
            "decode": decode,
            "temperature": temperature,
            "given": given,
            "n_best": n_best,
            "n_best_key": n_best_key,
            "entropy": entropy,
        }
        check_settings(name, target, settings)
        check_order(name, model, trainer, settings)
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
            dictionary=dictionary,
        )
        self._register_extensions()

    def _register_extensions(self) -> None:
        """Make custom attributes available; settings may have named others since the last time."""
        values = [self.cfg["n_best_key"] if self.cfg["n_best"] else None, self.cfg["entropy"]]
        custom = None if self.target in BUILT_IN_TARGETS else self.target
        register_extensions(custom, self.cfg["scores"], self.cfg["marginals"], values)

    @property
    def has_plain_spans(self) -> bool:
        """Whether the tags of spans are their labels; then O is a label where the training data have it."""
        return self.target in SPAN_TARGETS and self.scheme == "none"

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        if self.target in SPAN_TARGETS and self.scheme != "none" and labels:
            return TagSet.of_spans(labels, self.scheme)
        return TagSet(labels, self.scheme)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        found, where = list(references), (self.target, self.cfg["spans_key"])
        labels = collect_labels(found, *where)
        if labels and self.has_plain_spans and any(has_outside(doc, *where) for doc in found):
            return [OUTSIDE, *labels]
        return labels

    def describe_gold(self) -> str:
        return describe_annotation(self.target, self.cfg["spans_key"])

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        parts = [np.zeros(0, dtype=np.int32), *(self._gold_of(example) for example in examples)]
        labels = np.concatenate(parts)
        if self.target in SPAN_TARGETS:
            forget_crossing(labels, lengths, self.tags)
        violation = find_violation(labels, lengths, get_layout(self.model))
        if violation is not None:
            owners = Segments.of(example.predicted for example in examples).owners
            self._raise_violation(violation, examples[int(owners[violation.unit])])
        gold = Gold.known(labels, len(self.tags))
        if self.scheme == "BILUO":
            gold = narrow(gold, examples, self.target, self.cfg["spans_key"], self.tags)
        return gold

    def _gold_of(self, example: Example) -> Ints:
        target, key = self.target, self.cfg["spans_key"]
        document = {"name": self.name, "document": describe(example.reference)}
        if target == "spans":
            spans = spans_with_tokens(example.reference, key)
            if len(without_overlaps(spans)) < len(spans):
                warnings.warn(TaggingWarnings.CRFW402.format(**document), CRFWarning, stacklevel=2)
        try:
            return gold_tags(example, target, key, self.tags)
        except KeyError as error:
            raise CRFError(PipeErrors.CRF403.format(label=error.args[0], **document)) from error

    def _raise_violation(self, violation: Violation, example: Example) -> NoReturn:
        names = [*self.tags.tags, "the edge of a sequence"]
        before, after = (names[-1 if tag is None else tag] for tag in (violation.before, violation.after))
        where = {"name": self.name, "document": describe(example.reference), "scheme": self.scheme}
        raise CRFError(TaggingErrors.CRF411.format(before=before, after=after, **where))

    def inference(self) -> Inference:
        spans = self.target in SPAN_TARGETS
        wanted = self.target == "spans" or self.cfg["threshold"] > 0 or self.cfg["scores"] is not None
        marginals = self.cfg["marginals"] is not None
        return Inference(
            spans=spans,
            marginals=marginals,
            probabilities=spans and wanted,
            posterior=self.cfg["decode"] == "posterior",
            n_best=self.cfg["n_best"],
            entropies=self.cfg["entropy"] is not None,
            temperature=self.cfg["temperature"],
            extra=self._read_along(),
        )

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        if not self.cfg["given"]:
            return None
        return read_evidence(docs, lengths, self.target, self.cfg["spans_key"], self.tags)

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        """Scores of examples at temperature 1, with their gold; labels that the component does not know are unknown.

        RETURNS (HeldOut): for `fit_temperature`.
        RAISES (ValueError): for a model of order 2.
        """
        self._require_labels()
        self._emissions().weights.require_first_order(self.name, "fitting a temperature")
        columns = self._read_all([example.predicted for example in examples])
        found = (gold_tags(eg, self.target, self.cfg["spans_key"], self.tags, strict=False) for eg in examples)
        labels = np.concatenate([np.zeros(0, dtype=np.int32), *found])
        if self.target in SPAN_TARGETS:
            forget_crossing(labels, columns.lengths, self.tags)
        return HeldOut(self._distribution(columns), labels)

    def _read_along(self) -> int | None:
        """What `set_annotations` has to know of each token: its present tag, or where its extensions are kept."""
        return read_along(self.target, self.cfg["overwrite"])

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the model; their labels must be among the component's.

        The settings `temperature` and `given` hold for them too.

        RETURNS (SpanScores): label, boundaries and covered, one value for each span.
        RAISES (ValueError): for a span whose label the component does not know, or a model of order 2.
        """
        get_weights(self.model).require_first_order(self.name, "probabilities of spans")
        for span in spans:
            if span.label_ not in self.labels or (self.has_plain_spans and span.label_ == OUTSIDE):
                raise CRFError(PipeErrors.CRF403.format(label=span.label_, document=describe(doc), name=self.name))
        self._require_labels()
        columns = self._read_all([doc])
        sequence = Segments(columns.lengths).owners
        # a span that is empty or runs across sequences is impossible
        inside = [k for k, s in enumerate(spans) if len(s) and sequence[s.start] == sequence[s.end - 1]]
        found = SpanScores(*(np.zeros(len(spans)) for _ in range(3)))
        if inside:
            distribution = self._distribution(columns).given(self.possible_tags([doc], columns))
            starts = np.array([spans[k].start for k in inside], dtype=np.intp)
            ends = np.array([spans[k].end for k in inside], dtype=np.intp)
            labels = [spans[k].label_ for k in inside]
            scores = score_spans(distribution.at(self.cfg["temperature"]), self.tags, starts, ends, labels)
            found.label[inside], found.boundaries[inside] = scores.label, scores.boundaries
            found.covered[inside] = scores.covered
        return found

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        self._register_extensions()
        marginals = self.cfg["marginals"]
        writer = LabelWriter(self.vocab, self.target, self.tags, self.cfg)
        for doc, prediction in zip(docs, predictions):
            writer(doc, prediction)
            if marginals is not None and prediction.marginals is not None:
                write_marginals(doc, marginals, self.tags.tags, prediction.marginals)
            self._write_uncertainty(doc, prediction)

    def _write_uncertainty(self, doc: Doc, prediction: Prediction) -> None:
        if prediction.n_best is not None and self.cfg["n_best"]:
            doc._.set(self.cfg["n_best_key"], [found.to_data(self.tags.tags) for found in prediction.n_best])
        if prediction.entropies is not None and self.cfg["entropy"] is not None:
            doc._.set(self.cfg["entropy"], prediction.entropies.to_data())
