"""A linear-chain CRF for tags, chunks and entities, and the fit of its temperature to held-out data."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import minibatch
from spacy.vocab import Vocab

from ..annotation.span_targets import target_of
from ..annotation.target import Target
from ..core.arrays import Bools, Indices
from ..core.calibration import Reliability, reliability
from ..core.chain.marginals import token_entropies
from ..core.chain.temperature import HeldOut, Unit, fit_temperature
from ..pipe.component import ChainPipe
from ..pipe.decoding import Batch, Decoder, DocOutput, Output, SpanScores, label_decoder, resolve_scheme
from ..pipe.labels import PREPARATION
from ..pipe.probabilities import LabelsTokens, span_probabilities
from ..pipe.scorer import target_scores
from .block import TaggerSettings

BATCH_SIZE = 256  # of examples that a temperature is fitted to


@LabelsTokens.register
class CRFTagger(ChainPipe):
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

    learned_settings = (PREPARATION,)
    settings: TaggerSettings

    def __init__(self, vocab: Vocab, settings: TaggerSettings, name: str = "crf_tagger"):
        learned: dict[str, Any] = {PREPARATION: None}
        super().__init__(vocab, settings, name, resolve_scheme(settings), **learned)

    @property
    def annotation(self) -> Target:
        own = self.settings
        where: dict[str, Any] = {"spans_key": own.spans_key, "overwrite": own.overwrite, "scores": own.scores}
        return target_of(own.target, **where, extend=own.given)

    @property
    def measured(self) -> Sequence[str]:
        return target_scores(self.target, self.settings.spans_key)

    def decoder(self) -> Decoder:
        own, names = self.settings, self.tags.tags
        outputs: list[Output] = []
        if own.n_best:
            outputs.append(NBestOutput(own.n_best_key, own.n_best))
        if own.entropy is not None:
            outputs.append(EntropyOutput(own.entropy))
        return label_decoder(Decoder, own, self.annotation, names, *outputs, posterior=own.decode == "posterior")

    def evidence(self, docs: Sequence[Doc], lengths: Indices) -> Bools | None:
        return self.annotation.evidence(docs, lengths, self.tags) if self.settings.given else None

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


class Calibration(NamedTuple):
    """Result of a fit.

    temperature (float): what scores are to be divided by.
    before (Reliability), after (Reliability): of each token's most probable tag, at the component's temperature so
        far and at the new one.
    """

    temperature: float
    before: Reliability
    after: Reliability


def calibrate(tagger: CRFTagger, examples: Iterable[Example], unit: Unit = "token", n_bins: int = 10) -> Calibration:
    """Fit a temperature; the component itself stays as it is, until its setting `temperature` is changed.

    tagger (CRFTagger): a trained component.
    examples (Iterable[Example]): with what the component needs to see on the predicted side. Tokens whose gold label
        is missing count for nothing; one that is unknown to the component counts as missed.
    unit (str): "token" or "sequence", whose gold is to become most probable.
    n_bins (int): of the reliability tables, with equal width.
    RETURNS (Calibration): the temperature, and reliability before and after.

    >>> import spacy
    >>> from spacy_crf import Corpus, calibrate
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> held_out = Corpus("corpus/crf_tagger/dev.conllu", limit=20)(nlp)
    >>> fitted = calibrate(nlp.get_pipe("crf_tagger"), held_out)
    >>> fitted.after.error < fitted.before.error
    True
    >>> nlp.get_pipe("crf_tagger").cfg["temperature"] = fitted.temperature
    """
    batches = [tagger.held_out(batch) for batch in minibatch(examples, BATCH_SIZE)]
    temperature = fit_temperature(batches, unit)
    before, after = (_reliability(batches, value, n_bins) for value in (tagger.cfg["temperature"], temperature))
    return Calibration(temperature, before, after)


def _reliability(batches: Sequence[HeldOut], temperature: float, n_bins: int) -> Reliability:
    confidences, right = [], []
    for batch in batches:
        marginals, judged = batch.distribution.at(temperature).marginals, batch.judged
        confidences.append(marginals.max(axis=1)[judged])
        right.append(batch.right(marginals.argmax(axis=1).astype(np.int32))[judged])
    return reliability(np.concatenate(confidences), np.concatenate(right), n_bins)
