"""A linear-chain CRF for tags, chunks and entities."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.extensions import register, register_marginals, write_marginals
from ..annotation.gold import Violation, find_violation, forget_crossing
from ..annotation.span_targets import GroupTarget, SpanTarget
from ..annotation.target import Decoded, Target
from ..annotation.targets import target_of
from ..core.arrays import Bools, Indices, Ints
from ..core.calibration.temperature import HeldOut
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.gold import Gold
from ..core.labels import OUTSIDE, Scheme, TagSet
from ..features.block import FeatureSettings, SequenceMode
from ..learning.block import Trainer
from ..learning.model import ChainModel, get_layout
from ..pipe.component import ChainPipe
from ..pipe.dictionary.block import DictionarySettings
from ..pipe.errors import PipeErrors
from ..pipe.inference import Inference, Prediction
from ..pipe.orders import check_order, require_first_order
from ..pipe.reading import given, probabilistic
from ..pipe.settings import SPAN_TARGETS, Decode, check_settings
from ..pipe.span_scores import SpanScores, score_spans
from .errors import TaggingErrors, TaggingWarnings


class CRFTagger(ChainPipe):
    """Labels tokens, or spans of tokens, with a linear-chain CRF. See `factory.make_crf_tagger` for the settings."""

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "crf_tagger",
        *,
        features: FeatureSettings,
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
        dictionary: DictionarySettings | None = None,
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
        self.annotation.register()
        for name in (self.cfg["n_best_key"] if self.cfg["n_best"] else None, self.cfg["entropy"]):
            register(Doc, name)
        register_marginals(self.cfg["marginals"])

    @property
    def annotation(self) -> Target:
        """What is learned and written, under the present settings."""
        own = {name: self.cfg[name] for name in ("spans_key", "overwrite", "scores")}
        return target_of(self.target, **own, extend=self.cfg["given"])

    @property
    def has_plain_spans(self) -> bool:
        """Whether the tags of spans are their labels; then O is a label where the training data have it."""
        return self.target in SPAN_TARGETS and self.scheme == "none"

    def make_tags(self, labels: tuple[str, ...]) -> TagSet:
        if self.target in SPAN_TARGETS and self.scheme != "none" and labels:
            return TagSet.of_spans(labels, self.scheme)
        return TagSet(labels, self.scheme)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        found, target = list(references), self.annotation
        labels = target.labels(found)
        if labels and isinstance(target, SpanTarget) and self.has_plain_spans:
            return [OUTSIDE, *labels] if any(target.has_outside(doc) for doc in found) else labels
        return labels

    def describe_gold(self) -> str:
        return self.annotation.description

    def gold(self, examples: Sequence[Example], lengths: Indices) -> Gold:
        parts = [np.zeros(0, dtype=np.int32), *(self._gold_of(example) for example in examples)]
        labels = np.concatenate(parts)
        if self.target in SPAN_TARGETS:
            forget_crossing(labels, lengths, self.tags)
        violation = find_violation(labels, lengths, get_layout(self.model))
        if violation is not None:
            ends = np.cumsum([len(example.predicted) for example in examples])
            self._raise_violation(violation, examples[int(np.searchsorted(ends, violation.unit, side="right"))])
        return self.annotation.narrow(Gold.known(labels, len(self.tags)), examples, self.tags)

    def _gold_of(self, example: Example) -> Ints:
        target = self.annotation
        document = {"name": self.name, "document": excerpt(example.reference.text)}
        if isinstance(target, GroupTarget) and target.has_overlaps(example.reference):
            warnings.warn(TaggingWarnings.CRFW402.format(**document), CRFWarning, stacklevel=2)
        try:
            return target.gold(example, self.tags)
        except KeyError as error:
            raise CRFError(PipeErrors.CRF403.format(label=error.args[0], **document)) from error

    def _raise_violation(self, violation: Violation, example: Example) -> NoReturn:
        names = [*self.tags.tags, "the edge of a sequence"]
        before, after = (names[-1 if tag is None else tag] for tag in (violation.before, violation.after))
        where = {"name": self.name, "document": excerpt(example.reference.text), "scheme": self.scheme}
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
            extra=self.annotation.reads,
        )

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        if not self.cfg["given"]:
            return None
        return self.annotation.evidence(docs, lengths, self.tags)

    def held_out(self, examples: Sequence[Example]) -> HeldOut:
        """Scores of examples at temperature 1, with their gold; labels that the component does not know are unknown.

        RETURNS (HeldOut): for `fit_temperature`.
        RAISES (ValueError): for a model of order 2.
        """
        self._require_labels()
        require_first_order(self.name, self.model, "fitting a temperature")
        columns = self._read_all([example.predicted for example in examples])
        found = (self.annotation.gold(eg, self.tags, strict=False) for eg in examples)
        labels = np.concatenate([np.zeros(0, dtype=np.int32), *found])
        if self.target in SPAN_TARGETS:
            forget_crossing(labels, columns.lengths, self.tags)
        chains = self._chains(columns)
        return HeldOut(chains, labels[chains.batch.units])

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the model; their labels must be among the component's.

        The settings `temperature` and `given` hold for them too.

        RETURNS (SpanScores): label, boundaries and covered, one value for each span.
        RAISES (ValueError): for a span whose label the component does not know, or a model of order 2.
        """
        require_first_order(self.name, self.model, "probabilities of spans")
        for span in spans:
            if span.label_ not in self.labels or (self.has_plain_spans and span.label_ == OUTSIDE):
                raise CRFError(PipeErrors.CRF403.format(label=span.label_, document=excerpt(doc.text), name=self.name))
        self._require_labels()
        columns = self._read_all([doc])
        sequence = np.repeat(np.arange(len(columns.lengths)), columns.lengths)
        # a span that is empty or runs across sequences is impossible
        inside = [k for k, s in enumerate(spans) if len(s) and sequence[s.start] == sequence[s.end - 1]]
        found = SpanScores(*(np.zeros(len(spans)) for _ in range(3)))
        if inside:
            chains = given(self._chains(columns), self.possible_tags([doc], columns))
            starts = np.array([spans[k].start for k in inside], dtype=np.intp)
            ends = np.array([spans[k].end for k in inside], dtype=np.intp)
            labels = [spans[k].label_ for k in inside]
            messages = probabilistic(chains, self.cfg["temperature"])
            scores = score_spans(messages, self.tags, starts, ends, labels)
            found.label[inside], found.boundaries[inside] = scores.label, scores.boundaries
            found.covered[inside] = scores.covered
        return found

    def set_annotations(self, docs: Iterable[Doc], predictions: Sequence[Prediction]) -> None:
        """Write predictions to Docs. Annotation that is there stays, unless `overwrite` is set."""
        self._register_extensions()
        marginals, threshold, target = self.cfg["marginals"], self.cfg["threshold"], self.annotation
        values = target.values(self.vocab.strings, self.tags.tags)
        for doc, prediction in zip(docs, predictions):
            kept = prediction.above(threshold)
            target.write(doc, Decoded(kept.tags, kept.spans, kept.scores, kept.extra), values)
            if marginals is not None and prediction.marginals is not None:
                write_marginals(doc, marginals, self.tags.tags, prediction.marginals)
            self._write_uncertainty(doc, prediction)

    def _write_uncertainty(self, doc: Doc, prediction: Prediction) -> None:
        if prediction.n_best is not None and self.cfg["n_best"]:
            doc._.set(self.cfg["n_best_key"], [found.to_data(self.tags.tags) for found in prediction.n_best])
        if prediction.entropies is not None and self.cfg["entropy"] is not None:
            doc._.set(self.cfg["entropy"], prediction.entropies.to_data())
