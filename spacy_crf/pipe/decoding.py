"""From what a chain says of Docs to their labels, and to what else is told of them; a Doc that fails, fails alone."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from spacy import util
from spacy.tokens import Doc

from ..annotation.extensions import register_marginals, register_result, write_marginals
from ..annotation.target import DecodedDoc, SpanScores, Target
from ..annotation.white_space import Places
from ..core.arrays import Bools, Floats, Indices, Ints, Segments, cached_property
from ..core.chain.distribution import ChainDistribution, Labellings, PartialDistribution
from ..core.chain.potentials import NonFiniteError, NoPathError
from ..core.chain.spans import bounded_spans, covered_spans, exact_spans, span_labels
from ..core.errors import CRFError, CRFWarning, excerpt
from ..core.labels import OUTSIDE, UNKNOWN, Scheme, TagSet
from ..features.columns import Columns
from .block import AUTO, SPAN_TARGETS, ChainSettings, Decode, LabelSettings
from .errors import PipeErrors, PipeWarnings


@dataclass(frozen=True)
class Batch:
    """Docs that follow each other, as columns of units, and the distribution over the labellings of their sequences.

    unlabelled ((N,) | None): units that get no label, and no set of labels; None for none.
    """

    docs: Sequence[Doc]
    columns: Columns
    distribution: ChainDistribution
    tags: TagSet
    unlabelled: Bools | None = None

    @cached_property
    def by_doc(self) -> Segments:
        """The units of each Doc."""
        return Segments(self.columns.doc_lengths)

    def numbered_sequences(self) -> list[list[tuple[int, dict[str, int]]]]:
        """For each Doc its sequences: their numbers in the batch, and where they start and end in the Doc."""
        sequences = Segments(self.columns.lengths)
        by_doc = sequences.within(self.by_doc)
        bounds = list(zip(sequences.firsts.tolist(), sequences.ends.tolist()))
        return [
            [(b, {"start": bounds[b][0] - first, "end": bounds[b][1] - first}) for b in range(own.start, own.stop)]
            for own, first in zip(by_doc.slices(), self.by_doc.firsts.tolist())
        ]

    @cached_property
    def labellings(self) -> Labellings:
        """The labellings of the sequences; those that differ in unlabelled units alone are one."""
        if self.unlabelled is None or not self.unlabelled.any():
            return self.distribution
        return PartialDistribution(self.distribution, self.unlabelled)

    def listed(self, labels: Ints, probabilities: Floats) -> dict[str, Any]:
        """Labellings (K, T) by the names of their tags, "" for none, with their probabilities (K,)."""
        tags = (*self.tags.tags, "")  # UNKNOWN is -1
        names = [[tags[tag] for tag in path] for path in labels.tolist()]
        return {"labels": names, "probabilities": probabilities.tolist()}

    @cached_property
    def marginals(self) -> Floats:
        """((N, L)): probabilities of the labels of each unit, in single precision as they are stored."""
        return self.distribution.marginals.astype(np.float32)


@dataclass(slots=True)
class Prediction:
    """What was decoded for one Doc: labels with their spans, and a value for each output of the decoder."""

    decoded: DecodedDoc
    told: tuple[Any, ...] = ()

    @property
    def tags(self) -> Ints:
        """((n,)): label indices, UNKNOWN where there is none."""
        return self.decoded.labels


class Output(Protocol):
    """Something that is told of Docs beside their labels: `read` returns a value for each Doc of a batch, `empty` that
    for a Doc without tokens, and `spread` what is told of the words of a Doc as told of all its tokens; `write` stores
    it, and `register` makes its custom attributes available."""

    def read(self, batch: Batch) -> Sequence[Any]: ...
    def empty(self) -> Any: ...
    def spread(self, value: Any, places: Places) -> Any: ...
    def write(self, doc: Doc, value: Any) -> None: ...
    def register(self) -> None: ...


@dataclass(frozen=True)
class DocOutput:
    """An output in an attribute of Docs, whose name is the key; None is not written."""

    key: str

    def write(self, doc: Doc, value: Any) -> None:
        if value is not None:
            doc._.set(self.key, value)

    def register(self) -> None:
        register_result(self.key)


@dataclass(frozen=True)
class Decoder:
    """The best labels of each unit, the spans that they form, and what outputs tell.

    target (Target | None): what is labelled; None where only outputs are written.
    decode (str): "viterbi": the best sequence; "posterior": labels that are right most often; "spans": `best_spans`.
    scored (bool): give spans their exact probabilities. threshold (float): leave out spans with lower ones.
    """

    target: Target | None
    outputs: tuple[Output, ...] = ()
    decode: Decode | Literal["spans"] = "viterbi"
    scored: bool = False
    threshold: float = 0.0

    @property
    def reads(self) -> int | None:
        """Attribute of spaCy's to be read with the words, for the target."""
        return None if self.target is None else self.target.reads

    def __call__(self, batch: Batch) -> list[Prediction]:
        """Decode a batch: a Prediction for each Doc."""
        return self.told(batch, self.decoded(batch, self.labels(batch)))

    def labels(self, batch: Batch) -> Ints:
        """((N,)): labels of the units, before a threshold leaves out spans of the best sequence."""
        if self.decode == "spans":
            return span_labels(batch.distribution, batch.tags, batch.columns.lengths, self.threshold)
        return batch.labellings.posterior_best() if self.decode == "posterior" else batch.labellings.best()

    def empty(self, tags: TagSet) -> Prediction:
        """What is decoded for a Doc without tokens, where no other Doc of the batch has any."""
        scores = SpanScores(*np.zeros((3, 0))) if self.scored else None
        decoded = DecodedDoc(np.zeros(0, dtype=np.int32), scores=scores)
        return Prediction(decoded, tuple(output.empty() for output in self.outputs))

    def decoded(self, batch: Batch, labels: Ints) -> list[DecodedDoc]:
        """Labels and spans of each Doc. labels ((N,)): of the units."""
        by_doc, present = batch.by_doc, batch.columns.extra
        if batch.unlabelled is not None:
            labels = np.where(batch.unlabelled, UNKNOWN, labels)
        found = [DecodedDoc(own) for own in by_doc.split(labels)]
        if present is not None:
            for decoded, own in zip(found, by_doc.split(present)):
                decoded.present = own
        if self.target is not None and self.target.is_spans:
            self._add_spans(found, batch, labels)
        return found

    def told(self, batch: Batch, decoded: Sequence[DecodedDoc]) -> list[Prediction]:
        """Predictions with the values of the outputs."""
        values = [output.read(batch) for output in self.outputs]
        return [Prediction(one, told) for one, told in zip(decoded, zip(*values) if values else [()] * len(decoded))]

    def spread(self, found: Prediction, doc: Doc, places: Places) -> Prediction:
        """What was decoded for the words of a Doc, of all its tokens."""
        present: Any = None if self.reads is None else doc.to_array(self.reads)
        told = (output.spread(value, places) for output, value in zip(self.outputs, found.told))
        return Prediction(found.decoded.spread(places, present), tuple(told))

    def _add_spans(self, found: Sequence[DecodedDoc], batch: Batch, labels: Ints) -> None:
        starts, ends, first_tags = batch.tags.spans(labels, batch.columns.lengths)
        names = [batch.tags.span_label(tag) for tag in first_tags.tolist()]
        scores = score_spans(batch.distribution, batch.tags, starts, ends, names) if self.scored else None
        if scores is not None and self.threshold:
            kept = np.flatnonzero(scores.label >= self.threshold)
            starts, ends, scores = starts[kept], ends[kept], scores.take(kept)
            names = [names[k] for k in kept.tolist()]
        by_doc = batch.by_doc
        cuts = np.searchsorted(starts, by_doc.bounds).tolist()
        places = list(zip(starts.tolist(), ends.tolist(), names))
        for decoded, first, own in zip(found, by_doc.firsts.tolist(), map(slice, cuts, cuts[1:])):
            decoded.spans = [(start - first, end - first, name) for start, end, name in places[own]]
            decoded.scores = None if scores is None else scores.take(own)

    def register(self) -> None:
        """Make custom attributes available; settings may have named others since the last time."""
        if self.target is not None:
            self.target.register()
        for output in self.outputs:
            output.register()

    def write(self, docs: Iterable[Doc], predictions: Iterable[Prediction], tags: TagSet) -> None:
        """Write predictions to their Docs, in whose vocabularies the tags are then."""
        self.register()
        vocab, values = None, np.zeros(0)
        for doc, prediction in zip(docs, predictions):
            if self.target is not None and (len(doc) or self.target.is_spans):
                if doc.vocab is not vocab:
                    vocab, values = doc.vocab, self.target.values(doc.vocab.strings, tags.tags)
                self.target.write(doc, prediction.decoded, values)
            for output, value in zip(self.outputs, prediction.told):
                output.write(doc, value)


@dataclass(frozen=True)
class MarginalsOutput:
    """The probabilities of all tags, in a custom attribute of Docs and tokens."""

    name: str
    tags: Sequence[str]

    def read(self, batch: Batch) -> list[Floats]:
        return batch.by_doc.split(batch.marginals)

    def empty(self) -> Floats:
        return np.zeros((0, len(self.tags)), dtype=np.float32)

    def spread(self, value: Floats, places: Places) -> Floats:
        return places.spread(value, 0)

    def write(self, doc: Doc, value: Floats) -> None:
        write_marginals(doc, self.name, self.tags, value)

    def register(self) -> None:
        register_marginals(self.name)


D = TypeVar("D", bound=Decoder)


def label_decoder(
    kind: type[D], settings: LabelSettings, target: Target, tags: Sequence[str], *outputs: Output, **more: Any
) -> D:
    """Make the decoder, of some kind and with more arguments, of a component that writes labels to tokens or spans."""
    threshold = settings.least_probability
    scored = target.is_spans and (target.name == "spans" or threshold > 0 or settings.scores is not None)
    told = () if settings.marginals is None else (MarginalsOutput(settings.marginals, tags),)
    return kind(target, (*told, *outputs), scored=scored, threshold=threshold, **more)


def resolve_scheme(settings: LabelSettings) -> Scheme:
    """The scheme that "auto" stands for: BIO for spans, none for tokens."""
    if settings.scheme != "auto":
        return settings.scheme
    return "BIO" if settings.target in SPAN_TARGETS else "none"


class IsolatesFailures:
    """Runs `predict` and `set_annotations` over batches; of a batch that fails, each Doc is tried alone."""

    name: str
    predict: Callable[[Sequence[Doc]], Any]
    set_annotations: Callable[[Sequence[Doc], Any], None]
    get_error_handler: Any  # of spaCy, whose types differ between versions

    def __call__(self, doc: Doc) -> Doc:
        """Process one Doc in place; if it fails, the error handler is told."""
        self._processed([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process a stream; a Doc that fails goes to the error handler alone, and the rest of its batch goes on."""
        for docs in util.minibatch(stream, size=batch_size):
            yield from self._processed(docs)

    def _processed(self, docs: list[Doc]) -> list[Doc]:
        """The Docs of a batch that did not fail."""
        return [doc for part, found in self._predicted(docs) for doc in self._written(part, found)]

    def prediction_of(self, found: Any, number: int) -> Any:
        """What was predicted for one Doc of a batch, as for a batch of its own."""
        return found[number : number + 1]

    def _predicted(self, docs: list[Doc]) -> list[tuple[list[Doc], Any]]:
        """Docs with what is predicted for them, all before any is written; without those that fail."""
        try:
            return [(docs, self.predict(docs))]
        except Exception as error:
            if len(docs) > 1:
                return [one for doc in docs for one in self._predicted([doc])]
            self._tell(docs[0], error)
            return []

    def _written(self, docs: list[Doc], found: Any) -> list[Doc]:
        """Write what was predicted; of Docs that fail together, each alone. None is predicted again: what was written
        by then would be evidence."""
        try:
            self.set_annotations(docs, found)
        except Exception as error:
            if len(docs) > 1:
                return [doc for k, one in enumerate(docs) for doc in self._written([one], self.prediction_of(found, k))]
            self._tell(docs[0], error)
            return []
        return docs

    def _tell(self, doc: Doc, error: Exception) -> None:
        """Tell the error handler of a Doc that failed."""
        told = error
        if isinstance(error, NonFiniteError | NoPathError):  # of the core, which does not know the document
            message = PipeErrors.CRF407.format(name=self.name, document=excerpt(doc.text), error=error)
            told = CRFError(message).with_traceback(error.__traceback__)
        self.get_error_handler()(self.name, self, [doc], told)


class WarnsOfScores:
    """Warns where probabilities are asked of scores that a trainer has learned by their order alone."""

    name: str
    settings: ChainSettings
    _has_warned = False

    @property
    def has_probabilities(self) -> bool:
        """Whether scores have been learned, or been calibrated, as logarithms of probabilities."""
        return self.settings.trainer.gives_probabilities or self.settings.temperature not in (1, AUTO)

    def warn_of(self, uses: Iterable[str]) -> None:
        """Warn once of the first use of probabilities, where scores are none."""
        if self._has_warned or self.has_probabilities:
            return
        for use in uses:
            self._has_warned = True
            trainer = type(self.settings.trainer).__name__.removesuffix("Settings")
            message = PipeWarnings.CRFW403.format(name=self.name, what=use, trainer=f"spacy_crf.{trainer}.v1")
            warnings.warn(message, CRFWarning, stacklevel=3)
            return


def score_spans(
    distribution: ChainDistribution, tags: TagSet, starts: Indices, ends: Indices, labels: list[str]
) -> SpanScores:
    """The three exact probabilities of spans."""
    if tags.scheme == "none":
        return _score_runs(distribution, tags, starts, ends, labels)
    exact, covered = exact_spans(tags, starts, ends, labels), covered_spans(tags, starts, ends, labels)
    return SpanScores(*distribution.spans(exact, bounded_spans(tags, starts, ends), covered))


def _score_runs(
    distribution: ChainDistribution, tags: TagSet, starts: Indices, ends: Indices, labels: list[str]
) -> SpanScores:
    """The probabilities of spans that are maximal runs: those with any label are added up over the labels."""
    names = [tag for tag in tags.tags if tag != OUTSIDE]
    each = [exact_spans(tags, starts, ends, [name] * len(labels)) for name in names]
    *exact, covered = distribution.spans(*each, covered_spans(tags, starts, ends, labels))
    by_label = np.stack(exact, axis=1)
    own = by_label[np.arange(len(labels)), [names.index(label) for label in labels]]
    return SpanScores(own, by_label.sum(axis=1), covered)
