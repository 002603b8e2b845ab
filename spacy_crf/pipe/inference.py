"""From columns to decoded Docs: features, potentials, Viterbi and, on request, exact probabilities."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..core.arrays import Bools, Floats, Hashes, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.observations import Observations, observe
from ..core.labels import TagSet
from ..core.threads import available_threads, run_parallel
from ..features.columns import Columns
from ..features.features import Features
from ..learning.scores import Emissions, Rows, edge_observations
from .constrained import ConstrainedDecoder, Decided, SequenceFacts, by_doc
from .span_scores import SpanScores, score_spans
from .strata import Tokens
from .uncertainty import (
    Alternatives,
    Entropies,
    LikelySequences,
    SequenceChoice,
    alternatives,
    entropies,
    likely_sequences,
)

UNITS_PER_THREAD = 4096  # fewer do not repay a thread


@dataclass(frozen=True)
class Inference:
    """What to compute.

    spans (bool): turn tags into spans. marginals (bool): of every label at every unit.
    probabilities (bool): of the decoded spans.
    posterior (bool): decode the labels that are right most often, instead of the best sequence.
    n_best (int): how many of the best sequences to list. entropies (bool): of sequences and tokens.
    temperature (float): what scores are divided by before they become probabilities.
    extra (int | None): attribute to read along with the features, for `set_annotations`: a call into a Doc costs more
        than the attributes that it returns.
    sets (Callable | None): chooses sets of labels (N, L) by the marginals, which must be asked for as well, and tokens.
    sequences (SequenceChoice | None): how many labellings of each sequence to list.
    constrained (ConstrainedDecoder | None): chooses the labels, in the place of Viterbi.
    """

    spans: bool = False
    marginals: bool = False
    probabilities: bool = False
    posterior: bool = False
    n_best: int = 0
    entropies: bool = False
    temperature: float = 1.0
    extra: int | None = None
    sets: Callable[[Floats, Tokens], Bools] | None = None
    sequences: SequenceChoice | None = None
    constrained: ConstrainedDecoder | None = None


@dataclass(slots=True)
class Prediction:
    """What was decoded for one Doc.

    tags ((n,)): label indices. marginals ((n, L) | None): probabilities.
    spans (list[tuple[int, int, str]]): (start, end, label). scores (SpanScores | None): of the spans.
    extra ((n,) | None): the attribute that was read along.
    n_best (list[Alternatives] | None), entropies (Entropies | None): of its sequences.
    members ((n, L) | None): the set of labels of each token.
    sequences (list[LikelySequences] | None): labellings of its sequences.
    decided (list[Decided] | None): what is known of its sequences under constraints.
    """

    tags: Ints
    marginals: Floats | None = None
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    scores: SpanScores | None = None
    extra: Hashes | None = None
    n_best: list[Alternatives] | None = None
    entropies: Entropies | None = None
    members: Bools | None = None
    sequences: list[LikelySequences] | None = None
    decided: list[Decided] | None = None

    @classmethod
    def empty(cls, n_labels: int) -> "Prediction":
        """For a Doc without tokens."""
        none = np.zeros(0)
        nowhere = np.zeros(0, dtype=np.intp)
        return cls(
            np.zeros(0, dtype=np.int32),
            np.zeros((0, n_labels), dtype=np.float32),
            scores=SpanScores(none, none, none),
            n_best=[],
            entropies=Entropies(nowhere, nowhere, none, none),
            members=np.zeros((0, n_labels), dtype=bool),
            sequences=[],
            decided=[],
        )

    def above(self, threshold: float) -> "Prediction":
        """Without the spans whose probability is below a threshold; 0 keeps all."""
        if not threshold or self.scores is None:
            return self
        kept = np.flatnonzero(self.scores.label >= threshold)
        return replace(self, spans=[self.spans[k] for k in kept.tolist()], scores=self.scores.take(kept))


def infer(
    columns: Columns,
    emissions: Emissions,
    tags: TagSet,
    inference: Inference,
    evidence: Bools | None = None,
    facts: SequenceFacts | None = None,
) -> list[Prediction]:
    """Decode a batch of Docs on the threads of this process.

    evidence ((N, L) | None): labels that each unit may have, beyond what the masks forbid.
    facts (SequenceFacts | None): about the units, for decoding under constraints.
    RETURNS (list[Prediction]): one for each Doc.
    """
    n_threads = min(available_threads(), 1 + len(columns.orths) // UNITS_PER_THREAD)
    parts, first, begun = [], 0, 0
    for part in columns.split(n_threads):
        own = slice(first, first + len(part.orths))
        known = None if facts is None else facts.part(own, slice(begun, begun + len(part.lengths)))
        parts.append((part, emissions.look_up(part), None if evidence is None else evidence[own], known))
        first, begun = own.stop, begun + len(part.lengths)

    def decode(part: tuple[Columns, list[Rows], Bools | None, SequenceFacts | None]) -> list[Prediction]:
        columns, looked_up, evidence, facts = part
        distribution = emissions.distribution(columns, looked_up).given(evidence).at(inference.temperature)
        return decode_chains(columns, distribution, tags, inference, facts)

    decoded = run_parallel(decode, parts, n_threads)
    return [prediction for part in decoded for prediction in part]


def encode(columns: Columns, features: Features, vectors: Floats | None = None) -> Observations:
    """Packed observations of a batch of Docs.

    vectors ((width, L) | None): scores of the tokens' vectors, for models that have them.
    """
    state = features.state.encode(features.extractor.keys(columns, features.extractor.state_templates))
    scores = None if columns.vectors is None or vectors is None else columns.vectors @ vectors
    return observe(columns.lengths, state, edge_observations(columns, features), scores)


def decode_chains(
    columns: Columns,
    distribution: ChainDistribution,
    tags: TagSet,
    inference: Inference,
    facts: SequenceFacts | None = None,
) -> list[Prediction]:
    """Decode chains, wherever their scores come from.

    columns (Columns): of their Docs; only lengths, word forms and what was read along are looked at.
    facts (SequenceFacts | None): about the units, for decoding under constraints.
    RETURNS (list[Prediction]): one for each Doc.
    RAISES (ValueError): for what a chain of order 2 does not give.
    """
    doc_lengths = columns.doc_lengths
    labels, decided = _labels(distribution, tags, inference, facts)
    marginals = distribution.marginals.astype(np.float32) if inference.marginals else None
    spans = None
    if inference.spans:
        spans = _spans(labels, columns, tags, distribution if inference.probabilities else None)
    predictions = _by_doc(columns, labels, marginals, spans)
    if decided is not None:
        for prediction, found in zip(predictions, by_doc(decided, distribution.lengths, doc_lengths)):
            prediction.decided = found
    if marginals is not None and inference.sets is not None:
        members = inference.sets(marginals, Tokens(columns.orths, columns.lengths, doc_lengths))
        for prediction, own in zip(predictions, Segments(doc_lengths).split(members)):
            prediction.members = own
    if inference.sequences is not None:
        for prediction, likely in zip(predictions, likely_sequences(distribution, inference.sequences, doc_lengths)):
            prediction.sequences = likely
    if inference.n_best:
        for prediction, listed in zip(predictions, alternatives(distribution, inference.n_best, doc_lengths)):
            prediction.n_best = listed
    if inference.entropies:
        for prediction, values in zip(predictions, entropies(distribution, doc_lengths)):
            prediction.entropies = values
    return predictions


def _labels(
    distribution: ChainDistribution, tags: TagSet, inference: Inference, facts: SequenceFacts | None
) -> tuple[Ints, list[Decided] | None]:
    """((N,), ..): the labels of the units, one sequence after the other; and how they were found under constraints."""
    if inference.constrained is None:
        return distribution.posterior_best() if inference.posterior else distribution.best(), None
    decided = inference.constrained(distribution.chains, tags, facts)
    return np.concatenate([one.decision.labels for one in decided]), decided


@dataclass(frozen=True)
class _Spans:
    starts: Indices
    ends: Indices
    labels: list[str]
    scores: SpanScores | None


def _spans(labels: Ints, columns: Columns, tags: TagSet, distribution: ChainDistribution | None) -> _Spans:
    starts, ends, first_tags = tags.spans(labels, columns.lengths)
    names = [tags.span_label(tag) for tag in first_tags.tolist()]
    scores = None if distribution is None else score_spans(distribution, tags, starts, ends, names)
    return _Spans(starts, ends, names, scores)


def _by_doc(columns: Columns, labels: Ints, marginals: Floats | None, spans: _Spans | None) -> list[Prediction]:
    docs = Segments(columns.doc_lengths)
    units = docs.slices()
    predictions = [Prediction(labels[own]) for own in units]
    for prediction, own in zip(predictions, units):
        if columns.extra is not None:
            prediction.extra = columns.extra[own]
        if marginals is not None:
            prediction.marginals = marginals[own]
    if spans is not None:
        triples = list(zip(spans.starts.tolist(), spans.ends.tolist(), spans.labels))
        cuts = np.searchsorted(spans.starts, docs.bounds).tolist()
        for prediction, first, own in zip(predictions, docs.firsts.tolist(), map(slice, cuts, cuts[1:])):
            prediction.spans = [(start - first, end - first, label) for start, end, label in triples[own]]
            prediction.scores = None if spans.scores is None else spans.scores.take(own)
    return predictions
