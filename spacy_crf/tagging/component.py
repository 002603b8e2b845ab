"""A linear-chain CRF for tags, chunks and entities."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab

from ..annotation.gold import GOLD_POS, GOLD_TAGS
from ..annotation.span_targets import target_of
from ..annotation.target import SpanScores, Target
from ..annotation.white_space import Places
from ..core.arrays import Bools, Indices
from ..core.chain.marginals import token_entropies
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch, Decoder, DocOutput, Output, label_decoder, resolve_scheme
from ..pipe.labels import OF_TEXTS, PREPARATION, SKIPS_WHITE_SPACE, tell_several
from ..pipe.probabilities import LabelsTokens, WordTags, span_probabilities, tag_words
from ..pipe.scorer import target_scores
from ..pipe.span_sets import PromisesSpans, best_threshold
from .block import TaggerSettings


@LabelsTokens.register
class CRFTagger(PromisesSpans, ChainPipe):
    """Labels tokens, or spans of tokens, with a linear-chain CRF. See `TaggerSettings`.

    >>> import spacy
    >>> from spacy.training import Example
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("crf_tagger", config={"marginals": "probs"})
    >>> gold = [Example.from_dict(nlp.make_doc("the dog barks"), {"tags": ["DET", "NOUN", "VERB"]})]
    >>> optimizer = nlp.initialize(lambda: gold)
    >>> for _ in range(5):
    ...     losses = nlp.update(gold, sgd=optimizer)
    >>> [(token.tag_, token._.probs[token.tag_] > 0.5) for token in nlp("the dog barks")]
    [('DET', True), ('NOUN', True), ('VERB', True)]
    """

    learned_settings = OF_TEXTS
    settings: TaggerSettings

    def __init__(self, vocab: Vocab, settings: TaggerSettings, name: str = "crf_tagger"):
        learned: dict[str, Any] = {PREPARATION: None, SKIPS_WHITE_SPACE: False}
        super().__init__(vocab, settings, name, resolve_scheme(settings), **learned)

    @property
    def annotation(self) -> Target:
        own = self.settings
        where: dict[str, Any] = {"spans_key": own.spans_key, "overwrite": own.overwrite, "scores": own.scores}
        return target_of(own.target, **where, extend=own.given)

    @property
    def measured(self) -> Sequence[str]:
        return target_scores(self.target, self.settings.spans_key)

    def find_labels(self, references: Iterable[Doc]) -> list[str]:
        """Labels that occur in gold Docs, sorted; tokens with several gold tags are told."""
        extension = {"tag": GOLD_TAGS, "pos": GOLD_POS}.get(self.target)
        return super().find_labels(references if extension is None else tell_several(self.name, extension, references))

    def decoder(self) -> Decoder:
        own, names = self.settings, self.tags.tags
        outputs: list[Output] = [] if own.guarantee is None else [self.span_sets()]
        if own.n_best:
            outputs.append(NBestOutput(own.n_best_key, own.n_best))
        if own.entropy is not None:
            outputs.append(EntropyOutput(own.entropy))
        return label_decoder(Decoder, own, self.annotation, names, *outputs, decode=own.decode)

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        return self.annotation.evidence(docs, lengths, self.tags) if self.settings.given else None

    def best_threshold(self, examples: Sequence[Example]) -> float:
        """The threshold that decode = "spans" wants on examples. See the function of that name."""
        return best_threshold(self, examples)

    def tag_words(self, texts: Sequence[Sequence[str]]) -> list[WordTags]:
        """Tag texts that are split into words, without Docs. See `tag_words`."""
        return tag_words(self, texts)

    def span_probabilities(self, doc: Doc, spans: Sequence[Span]) -> SpanScores:
        """Exact probabilities of any spans under the model. See the function of that name."""
        return span_probabilities(self, doc, spans)


@dataclass(frozen=True)
class NBestOutput(DocOutput):
    """The best labellings of each sequence, so many, in an attribute of Docs; "" for tokens that get no label."""

    count: int

    def read(self, batch: Batch) -> list[list[dict[str, Any]]]:
        found = batch.labellings.n_best(self.count)
        return [[{**place, **batch.listed(*found[b])} for b, place in own] for own in batch.numbered_sequences()]

    def empty(self) -> list[dict[str, Any]]:
        return []

    def spread(self, value: list[dict[str, Any]], places: Places) -> list[dict[str, Any]]:
        return list(map(places.spread_sequence, value))


@dataclass(frozen=True)
class EntropyOutput(DocOutput):
    """Entropies of sequences and tokens in nats, in an attribute of Docs."""

    def read(self, batch: Batch) -> list[dict[str, Any]]:
        by_sequence, by_unit = batch.labellings.entropies.tolist(), token_entropies(batch.distribution.marginals)
        if batch.unlabelled is not None:
            by_unit[batch.unlabelled] = 0
        by_token = batch.by_doc.split(by_unit)
        sequences = [[{**place, "entropy": by_sequence[b]} for b, place in own] for own in batch.numbered_sequences()]
        return [{"sequences": own, "tokens": tokens.tolist()} for own, tokens in zip(sequences, by_token)]

    def empty(self) -> dict[str, Any]:
        return {"sequences": [], "tokens": []}

    def spread(self, value: dict[str, Any], places: Places) -> dict[str, Any]:
        sequences = list(map(places.spread_sequence, value["sequences"]))
        return {"sequences": sequences, "tokens": places.spread_list(value["tokens"], 0.0)}
