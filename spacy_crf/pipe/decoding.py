"""From what a chain says of Docs to their labels, and to what else is told of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from spacy.strings import StringStore
from spacy.tokens import Doc

from ..annotation.extensions import register, register_marginals, write_marginals, write_value
from ..annotation.target import Decoded, Place, Target
from ..core.arrays import Floats, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.spans import SpanScores
from ..core.labels import TagSet
from ..features.columns import Columns


@dataclass(frozen=True)
class Batch:
    """Docs, and what the chain says of them.

    docs (Sequence[Doc]): some that follow each other. columns (Columns): of their units.
    distribution (ChainDistribution): over the labellings of their sequences. tags (TagSet): its labels.
    """

    docs: Sequence[Doc]
    columns: Columns
    distribution: ChainDistribution
    tags: TagSet

    @cached_property
    def by_doc(self) -> Segments:
        """The units of each Doc."""
        return Segments(self.columns.doc_lengths)

    @cached_property
    def sequences(self) -> Segments:
        """The units of each sequence."""
        return Segments(self.columns.lengths)

    @cached_property
    def marginals(self) -> Floats:
        """((N, L)): probabilities of the labels of each unit, in single precision as they are stored."""
        return self.distribution.marginals.astype(np.float32)


@dataclass(slots=True)
class Prediction:
    """What was decoded for one Doc.

    decoded (Decoded): labels, and spans of them. told (tuple): a value for each output of the decoder.
    """

    decoded: Decoded
    told: tuple[Any, ...] = ()

    @property
    def tags(self) -> Ints:
        """((n,)): label indices."""
        return self.decoded.labels


class Output(Protocol):
    """Something that is told of Docs beside their labels."""

    def read(self, batch: Batch) -> Sequence[Any]:
        """Return a value for each Doc of a batch."""
        ...

    def write(self, doc: Doc, value: Any) -> None:
        """Store a value on its Doc."""
        ...

    def register(self) -> None:
        """Make its custom attributes available."""
        ...


@dataclass(frozen=True)
class Decoder:
    """The best labels of each unit, the spans that they form, and what outputs tell.

    target (Target): what is labelled. outputs (tuple): what is told beside.
    posterior (bool): take the labels that are right most often instead of the best sequence.
    scored (bool): give spans their exact probabilities. threshold (float): leave out spans with lower ones.
    """

    target: Target
    outputs: tuple[Output, ...] = ()
    posterior: bool = False
    scored: bool = False
    threshold: float = 0.0

    def labels(self, batch: Batch) -> Ints:
        """((N,)): the label of each unit."""
        found = batch.distribution.posterior_best() if self.posterior else batch.distribution.best()
        return found

    def __call__(self, batch: Batch) -> list[Prediction]:
        """Decode a batch.

        RETURNS (list[Prediction]): one for each Doc.
        """
        labels = self.labels(batch)
        return self.told(batch, self.decoded(batch, labels))

    def decoded(self, batch: Batch, labels: Ints) -> list[Decoded]:
        """Labels and spans of each Doc. labels ((N,)): of the units."""
        by_doc, present = batch.by_doc, batch.columns.extra
        found = [Decoded(own) for own in by_doc.split(labels)]
        if present is not None:
            for decoded, own in zip(found, by_doc.split(present)):
                decoded.present = own
        if self.target.is_spans:
            self._add_spans(found, batch, labels)
        return found

    def told(self, batch: Batch, decoded: Sequence[Decoded]) -> list[Prediction]:
        """Predictions with the values of the outputs."""
        values = [output.read(batch) for output in self.outputs]
        return [Prediction(one, told) for one, told in zip(decoded, zip(*values) if values else [()] * len(decoded))]

    def _add_spans(self, found: Sequence[Decoded], batch: Batch, labels: Ints) -> None:
        starts, ends, first_tags = batch.tags.spans(labels, batch.columns.lengths)
        names = [batch.tags.span_label(tag) for tag in first_tags.tolist()]
        scores = batch.distribution.spans(batch.tags, starts, ends, names) if self.scored else None
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

    def write(self, docs: Iterable[Doc], predictions: Iterable[Prediction], strings: StringStore, tags: TagSet) -> None:
        """Write predictions to their Docs."""
        self.target.register()
        for output in self.outputs:
            output.register()
        values = self.target.values(strings, tags.tags)
        for doc, prediction in zip(docs, predictions):
            self.target.write(doc, prediction.decoded, values)
            for output, value in zip(self.outputs, prediction.told):
                output.write(doc, value)


@dataclass(frozen=True)
class Marginals:
    """The probabilities of all tags, in a custom attribute of Docs and tokens.

    name (str): of the attribute. tags (Sequence[str]): of the chain.
    """

    name: str
    tags: Sequence[str]

    def read(self, batch: Batch) -> list[Floats]:
        return batch.by_doc.split(batch.marginals)

    def write(self, doc: Doc, value: Floats) -> None:
        write_marginals(doc, self.name, self.tags, value)

    def register(self) -> None:
        register_marginals(self.name)
