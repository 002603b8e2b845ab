"""A linear-chain CRF for tags, chunks and entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..annotation.extensions import register
from ..annotation.target import Target
from ..annotation.targets import target_of
from ..core.arrays import Bools, Indices
from ..core.chain.marginals import token_entropies
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch, Decoder, Output, label_decoder, resolve_scheme
from ..pipe.probabilities import LabelsTokens
from ..pipe.spans import SpanScores, probabilities_of
from .block import TaggerSettings


@LabelsTokens.register
class CRFTagger(ChainPipe):
    """Labels tokens, or spans of tokens, with a linear-chain CRF. See `TaggerSettings`."""

    settings: TaggerSettings

    def __init__(self, vocab: Vocab, settings: TaggerSettings, name: str = "crf_tagger"):
        super().__init__(vocab, settings, name, resolve_scheme(settings))

    @property
    def annotation(self) -> Target:
        own = self.settings
        where: dict[str, Any] = {"spans_key": own.spans_key, "overwrite": own.overwrite, "scores": own.scores}
        return target_of(own.target, **where, extend=own.given)

    def decoder(self) -> Decoder:
        own, names = self.settings, self.tags.tags
        outputs: list[Output] = []
        if own.n_best:
            outputs.append(NBest(own.n_best_key, own.n_best, names))
        if own.entropy is not None:
            outputs.append(Entropies(own.entropy))
        return label_decoder(Decoder, own, self.annotation, names, *outputs, posterior=own.decode == "posterior")

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        return self.annotation.evidence(docs, lengths, self.tags) if self.settings.given else None

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the model; their labels must be among the component's.

        The settings `temperature` and `given` hold for them too.

        RETURNS (SpanScores): label, boundaries and covered, one value for each span.
        RAISES (ValueError): for a span whose label the component does not know, or a model of order 2.
        """
        return probabilities_of(self, doc, spans)


@dataclass(frozen=True)
class NBest:
    """The best labellings of each sequence, in an attribute of Docs.

    key (str): of the attribute. count (int): how many. tags (Sequence[str]): of the chain.
    """

    key: str
    count: int
    tags: Sequence[str]

    def read(self, batch: Batch) -> list[list[dict[str, Any]]]:
        found = batch.distribution.n_best(self.count)
        return [
            [{**place, **self._listed(*found[number])} for number, place in own] for own in batch.numbered_sequences()
        ]

    def empty(self) -> list[dict[str, Any]]:
        return []

    def _listed(self, labels: Any, probabilities: Any) -> dict[str, Any]:
        names = [[self.tags[tag] for tag in path] for path in labels.tolist()]
        return {"labels": names, "probabilities": probabilities.tolist()}

    def write(self, doc: Doc, value: list[dict[str, Any]]) -> None:
        doc._.set(self.key, value)

    def register(self) -> None:
        register(Doc, self.key)


@dataclass(frozen=True)
class Entropies:
    """Entropies of sequences and tokens in nats, in an attribute of Docs. key (str): of the attribute."""

    key: str

    def read(self, batch: Batch) -> list[dict[str, Any]]:
        by_sequence = batch.distribution.entropies.tolist()
        by_token = batch.by_doc.split(token_entropies(batch.distribution.marginals))
        sequences = [
            [{**place, "entropy": by_sequence[number]} for number, place in own] for own in batch.numbered_sequences()
        ]
        return [{"sequences": own, "tokens": tokens.tolist()} for own, tokens in zip(sequences, by_token)]

    def empty(self) -> dict[str, Any]:
        return {"sequences": [], "tokens": []}

    def write(self, doc: Doc, value: dict[str, Any]) -> None:
        doc._.set(self.key, value)

    def register(self) -> None:
        register(Doc, self.key)
