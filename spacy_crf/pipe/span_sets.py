"""Sets of spans with a promise: all that are likely enough, so that few of the right ones are missed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.util import minibatch

from ..annotation.documents import number_documents, read_doc_name
from ..annotation.gold import partial_gold, same_tokens
from ..annotation.span_targets import SpanTarget, without_overlaps
from ..annotation.target import Place
from ..annotation.white_space import Places
from ..core.arrays import Bools, Doubles, Indices, Segments
from ..core.chain.spans import best_spans, exact_spans, likely_spans
from ..core.labels import OUTSIDE, TagSet
from ..core.sets.risk import SpanRisk
from .block import UNFITTED_THRESHOLD
from .decoding import Batch
from .promises import KeepsPromise, read_promise

BATCH_SIZE = 256
N_THRESHOLDS = 20  # that are compared, evenly up to 0.5
SPANS = "spans"  # the kind of the promise, in a config
NEARLY = 0.98  # of the greatest F: thresholds that reach so much do as well
ROUNDING = 1e-9  # of the same probability in another batch: a span at the threshold stays in the set


class LikelySpan(NamedTuple):
    """A span of tokens in a set, with its exact probability."""

    start: int
    end: int
    label: str
    probability: float


class PromisesSpans(KeepsPromise):
    """A component over a chain whose setting `guarantee` may hold a promise about the spans that it labels."""

    def span_sets(self) -> "SpanSetsOutput":
        """What keeps the promise of the settings; a coded error for what is none."""
        promise = read_promise(self.name, self.settings.guarantee, {SPANS: SpanRisk})
        return SpanSetsOutput(self.settings.sets_key, promise, self.check_promise)


@dataclass(frozen=True)
class SpanSetsOutput:
    """The set of spans of each Doc, in `doc.spans[key]`, with their probabilities as `scores` in its attrs.

    promise (SpanRisk): says which spans are in it. check (Callable): warns where it may not hold.
    """

    key: str
    promise: SpanRisk
    check: Callable[[], None]

    def read(self, batch: Batch) -> list[list[LikelySpan]]:
        self.check()
        least, longest = self.promise.threshold - ROUNDING, self.promise.longest
        found = likely_spans(batch.distribution, batch.tags, batch.columns.lengths, least, longest)
        rows = list(zip(found.firsts.tolist(), found.ends.tolist(), found.labels, found.probabilities.tolist()))
        cuts, firsts = np.searchsorted(found.firsts, batch.by_doc.bounds).tolist(), batch.by_doc.firsts.tolist()
        return [
            [LikelySpan(start - first, end - first, *told) for start, end, *told in rows[low:high]]
            for first, low, high in zip(firsts, cuts, cuts[1:])
        ]

    def empty(self) -> list[LikelySpan]:
        return []

    def spread(self, value: list[LikelySpan], places: Places) -> list[LikelySpan]:
        return [LikelySpan(*places.tokens_of(one.start, one.end), one.label, one.probability) for one in value]

    def write(self, doc: Doc, value: list[LikelySpan]) -> None:
        spans = [Span(doc, one.start, one.end, label=one.label) for one in value]
        attrs = {"scores": [one.probability for one in value]}
        doc.spans[self.key] = SpanGroup(doc, name=self.key, attrs=attrs, spans=spans)

    def register(self) -> None:
        """Groups of spans need no custom attribute."""


# -- promises ----------------------------------------------------------------------------------------------------


class HeldOutSpans(NamedTuple):
    """Gold spans of held-out documents: their exact probabilities ((S,)), 0 for those that the component cannot give,
    and the numbers of the sentence and of the document ((S,)) that each is in."""

    probabilities: Doubles
    sentences: Indices
    documents: Indices


def held_out_spans(pipe: Any, examples: Iterable[Example], longest: int) -> HeldOutSpans:
    """Find the exact probabilities of gold spans, under the settings of the component.

    pipe (CRFTagger | ConstrainedNER): that labels spans. examples (Iterable[Example]): with what it needs to see on the
        predicted side. longest (int): a span of more tokens cannot be given, nor one with an unknown label, or one that
        begins or ends within a token or in white space that is left out, or runs across sentences.
    """
    probabilities, sentences, owners, names = [np.zeros(0)], list[int](), list[int](), list[str]()
    n_sentences = 0
    for batch in minibatch(examples, BATCH_SIZE):
        columns, found = pipe.distribution(pipe.words([example.predicted for example in batch]))
        sequences, by_doc = Segments(columns.lengths), Segments(columns.doc_lengths)
        places: list[tuple[Place, bool]] = []
        for example, first in zip(batch, by_doc.firsts.tolist()):
            own = _gold_places(pipe, example)
            places += [((start + first, end + first, label), is_exact) for (start, end, label), is_exact in own]
            owners += [len(names)] * len(own)
            names.append(read_doc_name(example.reference))
        of = sequences.owners
        known = set(pipe.labels) - {OUTSIDE}
        possible = [
            k
            for k, ((start, end, label), is_exact) in enumerate(places)
            if is_exact and label in known and end - start <= longest and of[start] == of[end - 1]
        ]
        own_probabilities = np.zeros(len(places))
        if possible:
            firsts, ends = (np.array([places[k][0][side] for k in possible], dtype=np.intp) for side in (0, 1))
            asked = exact_spans(pipe.tags, firsts, ends, [places[k][0][2] for k in possible])
            (own_probabilities[possible],) = found.spans(asked)
        probabilities.append(own_probabilities)
        sentences += [n_sentences + int(of[start]) for (start, _, _), _ in places]
        n_sentences += len(columns.lengths)
    numbers = number_documents(names)[np.array(owners, dtype=np.intp)]
    return HeldOutSpans(np.concatenate(probabilities), np.array(sentences, dtype=np.intp), numbers)


def best_threshold(pipe: Any, examples: Iterable[Example]) -> float:
    """The threshold of `best_spans` that examples want: the mean of those whose F is nearly the greatest one, as dev
    texts are few. It is between 0.025 and 0.5; 0.2 where no span is right. Where gold is unknown, nothing counts."""
    thresholds = np.arange(1, N_THRESHOLDS + 1) / (2 * N_THRESHOLDS)
    counts, n_gold = np.zeros((len(thresholds), 2)), 0  # of spans that are found, and of right ones
    for batch in minibatch(examples, BATCH_SIZE):
        words = pipe.word_examples(batch)
        columns, found = pipe.distribution([example.predicted for example in words])
        likely = likely_spans(found, pipe.tags, columns.lengths, thresholds[0], int(columns.lengths.max(initial=0)))
        by_doc = Segments(columns.doc_lengths)
        owners, firsts = by_doc.owners[likely.firsts], by_doc.firsts[by_doc.owners[likely.firsts]]
        bounds = (likely.firsts - firsts).tolist(), (likely.ends - firsts).tolist()
        places = list(zip(owners.tolist(), zip(*bounds, likely.labels)))
        gold = [GoldSpans.of(pipe.annotation, own, pipe.tags, _gold_places(pipe, eg)) for own, eg in zip(words, batch)]
        right = {(number, place) for number, own in enumerate(gold) for place, is_exact in own.places if is_exact}
        is_judged = np.array([gold[number].judges(place) for number, place in places], dtype=bool)
        n_gold += sum(own.judges(place) for own in gold for place, _ in own.places)
        for row, threshold in enumerate(thresholds.tolist()):
            chosen = best_spans(likely, threshold)
            judged = [places[k] for k in chosen[is_judged[chosen]].tolist()]
            counts[row] += len(judged), len(right.intersection(judged))
    f = counts[:, 1] / np.maximum(1, counts[:, 0] + n_gold)
    return float(thresholds[f >= NEARLY * f.max()].mean()) if f.any() else UNFITTED_THRESHOLD


def gold_places(target: SpanTarget, example: Example) -> Iterator[tuple[Place, bool]]:
    """Yield the gold spans of an example by the predicted tokens that they touch, and whether they end with these."""
    is_same = same_tokens(example)
    for span in target.spans(example.reference):
        if is_same:
            yield (span.start, span.end, span.label_), True
        elif aligned := example.get_aligned_spans_y2x([span]):
            yield (aligned[0].start, aligned[0].end, span.label_), True
        elif touched := [own for token in span for own in example.alignment.y2x[token.i].tolist()]:
            yield (min(touched), max(touched) + 1, span.label_), False


def _gold_places(pipe: Any, example: Example) -> list[tuple[Place, bool]]:
    """What `gold_places` yields, by the units of the chain of a component."""
    found = gold_places(pipe.annotation, example)
    return list(_by_words(found, Places.of(example.predicted)) if pipe.skips_white_space else found)


def _by_words(places: Iterable[tuple[Place, bool]], words: Places) -> Iterator[tuple[Place, bool]]:
    """What `gold_places` yields, by words; a span with white space at its ends does not end with these."""
    for (start, end, label), is_exact in places:
        first, behind = words.words_of(start, end)
        if first < behind:
            yield (first, behind, label), is_exact and words.tokens_of(first, behind) == (start, end)


@dataclass(frozen=True)
class GoldSpans:
    """What gold says of spans of the predicted tokens of an example.

    places (list): those of the gold, see `gold_places`. unknown ((n + 1,)): tokens of which gold says nothing.
    behind (int): tokens behind a span that have to be known, as gold has to say that it ends there.
    """

    places: Sequence[tuple[Place, bool]]
    unknown: Bools
    behind: int

    @classmethod
    def of(
        cls,
        target: SpanTarget,
        example: Example,
        tags: TagSet,
        places: Sequence[tuple[Place, bool]] | None = None,
    ) -> "GoldSpans":
        """Read the gold of an example. tags (TagSet): of the component. places: of its spans, if they are known."""
        places = list(gold_places(target, example)) if places is None else places
        unknown = np.array([*(name is None for name in target.names(example, tags)), False], dtype=bool)
        for (start, end, _), _ in places:  # also where it begins or ends within a token
            unknown[start:end] = False
        return cls(places, unknown, int(partial_gold(example, target.name, target.key) is not None))

    def judges(self, place: Place | LikelySpan) -> bool:
        """Whether gold says of a span that it is right or wrong."""
        return not self.unknown[place[0] : place[1] + self.behind].any()


# -- sets --------------------------------------------------------------------------------------------------------


def likely_spans_of(pipe: Any, docs: Sequence[Doc], promise: SpanRisk) -> list[list[LikelySpan]]:
    """The sets that a promise makes of Docs, which stay as they are."""
    output, found = SpanSetsOutput("", promise, lambda: None), list[list[LikelySpan]]()
    for batch in minibatch(docs, BATCH_SIZE):
        words = pipe.words(batch)
        columns, distribution = pipe.distribution(words)
        sets = output.read(Batch(words, columns, distribution, pipe.tags))
        found += [
            output.spread(own, Places.of(doc)) if pipe.skips_white_space else own for doc, own in zip(batch, sets)
        ]
    return found


def read_span_set(doc: Doc, key: str) -> list[LikelySpan]:
    """The set of spans that a pipeline has given a Doc."""
    group = doc.spans[key]
    places = ((span.start, span.end, span.label_) for span in group)
    return [LikelySpan(*place, score) for place, score in zip(places, group.attrs["scores"])]


class SpanSetReport(NamedTuple):
    """Measures of sets of spans.

    documents (int), spans (int): with gold spans, and how many these have. coverage (float | None): share of these in
    their sets. size (float): spans in the sets of a document, of which there may be several. alone (float | None):
    share of spans that overlap no other one of their set. alone_right (float | None): share of these that are gold.
    Shares of nothing are None.
    """

    documents: int
    spans: int
    coverage: float | None
    size: float
    alone: float | None
    alone_right: float | None


def report_span_sets(sets: Iterable[tuple[Sequence[LikelySpan], GoldSpans]], documents: Indices) -> SpanSetReport:
    """Measure the sets of spans of D Docs, each with its gold. documents ((D,)): what each is a part of."""
    spans = covered = size = alone = judged = right = 0
    with_spans = set[int]()
    for number, (found, gold) in zip(documents.tolist(), sets):
        known, own = {place for place, is_exact in gold.places if is_exact}, {span[:3] for span in found}
        lone = {span[:3] for span in without_overlaps(found)}
        with_spans.update([number] if gold.places else [])
        spans, covered, size = spans + len(gold.places), covered + len(known & own), size + len(found)
        told = set(filter(gold.judges, lone))
        alone, judged, right = alone + len(lone), judged + len(told), right + len(told & known)
    pairs = (covered, spans), (alone, size), (right, judged)
    coverage, lone_share, lone_right = (part / whole if whole else None for part, whole in pairs)
    mean_size = size / max(1, len(np.unique(documents)))
    return SpanSetReport(len(with_spans), spans, coverage, mean_size, lone_share, lone_right)
