"""Targets of spans: entities (`doc.ents`), and groups of spans (`doc.spans[key]`); all targets by their names."""

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, IOB_STRINGS
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.labels import OUTSIDE, UNKNOWN, Gold, TagSet
from .extensions import register
from .gold import as_bio, end_spans, narrow, partial_gold, partial_tags, possible_tags, same_tokens
from .target import DecodedDoc, Names, Place, Target, Values, token_target

BLOCKED = 3  # ENT_IOB of a token that begins an entity; without a type, of one barred from entities


def target_of(
    name: str, spans_key: str = "sc", *, overwrite: bool = False, scores: str | None = None, extend: bool = False
) -> Target:
    """The target that a setting names: "tag", "pos", "ent", "spans" or a custom token attribute.

    spans_key (str), extend (bool): for "spans". scores (str | None): for "ent".
    """
    if name == "ent":
        return EntityTarget(name, overwrite, scores=scores)
    if name == "spans":
        return GroupTarget(name, overwrite, spans_key, extend)
    return token_target(name, overwrite)


@dataclass(frozen=True)
class SpanTarget(Target):
    """Spans of tokens, by the tags of a scheme."""

    key: str = ""  # of the group of spans
    is_spans: ClassVar[bool] = True

    @abstractmethod
    def spans(self, doc: Doc) -> Sequence[Span]:
        """All spans of a Doc that have tokens."""

    def has_touching(self, doc: Doc) -> bool:
        """Whether a span of a Doc ends where one of its label begins; tags without a scheme make one of both."""
        spans = self.spans(doc)
        ends = {(span.end, span.label) for span in spans}
        return any((span.start, span.label) in ends for span in spans)

    @abstractmethod
    def _has_outside(self, doc: Doc) -> bool:
        """Whether a token is known to lie outside of all spans, by the spans."""

    @abstractmethod
    def _free(self, doc: Doc, places: Sequence[Place]) -> list[int]:
        """Which of the spans that were decoded for a Doc are written, beside those that are kept."""

    @abstractmethod
    def _names(self, example: Example, tags: TagSet) -> Names:
        """The gold tags, by the spans."""

    def labels_of(self, doc: Doc) -> set[str]:
        tags = partial_tags(doc, self.name, self.key) or ()
        return {*(span.label_ for span in self.spans(doc)), *(tag[2:] for tag in tags)}

    def has_outside(self, doc: Doc) -> bool:
        """Whether a token of a Doc is known to lie outside of all spans."""
        partial = partial_tags(doc, self.name, self.key)
        return self._has_outside(doc) if partial is None else OUTSIDE in partial

    def names(self, example: Example, tags: TagSet) -> Names:
        partial = partial_gold(example, self.name, self.key)
        if partial is None:
            return self._names(example, tags)
        possible = possible_tags(partial, tags)
        # the one tag that is possible; one that the tag set lacks in any case, to be told of
        return [own[0] if len(own) == 1 or (own and own[0] not in tags.number) else None for own in possible]

    def narrow(self, gold: Gold, examples: Sequence[Example], lengths: Indices, tags: TagSet) -> Gold:
        if not len(gold.rows):
            return gold
        partial = [partial_gold(eg, self.name, self.key) for eg in examples]
        if tags.scheme == "BILUO":
            return narrow(gold, [found or [""] * len(eg.predicted) for found, eg in zip(partial, examples)], tags)
        ends_known = np.repeat([found is None for found in partial], [len(eg.predicted) for eg in examples])
        return end_spans(gold, ends_known, lengths, tags)

    def evidence(self, docs: Sequence[Doc], lengths: Indices, tags: TagSet) -> Bools:
        """See `Target.evidence`. As for spaCy's own entity recognizer, spans are given, and tokens outside are not.

        Of labels that the tag set lacks, spans leave their tokens no other tag than O, if there is one. Spans that
        overlap, or that cross from one sequence into the next, say nothing.
        """
        sequences = Segments(lengths).owners
        allowed = np.ones((len(sequences), len(tags)), dtype=bool)
        for doc, own in zip(docs, Segments.of(docs).slices()):
            self._allow(doc, sequences[own], tags, allowed[own])
        return allowed

    def chosen(self, found: DecodedDoc, tags: TagSet) -> Ints:
        """See `Target.chosen`: without the tags of spans that a threshold has left out."""
        is_kept = found.labels == UNKNOWN
        for start, end, _ in found.spans:
            is_kept[start:end] = True
        return np.where(is_kept, found.labels, tags.number.get(OUTSIDE, UNKNOWN)).astype(np.int32)

    def written_names(self, doc: Doc, found: DecodedDoc, tags: TagSet) -> list[str]:
        """See `Target.written_names`; where spans overlap there is no tag."""
        kept = () if self.overwrite else ((span.start, span.end, span.label_) for span in self.spans(doc))
        names, covered = [OUTSIDE if OUTSIDE in tags.number else ""] * len(doc), set[int]()
        for start, end, label in (*kept, *(found.spans[k] for k in self._free(doc, found.spans))):
            own = zip(range(start, end), tags.tag_span(start, end, label))
            names[start:end] = ["" if token in covered else name for token, name in own]
            covered.update(range(start, end))
        return names

    @staticmethod
    def _known(tags: TagSet) -> tuple[str, ...]:
        """The labels that spans may have."""
        return tags.tags if tags.scheme == "none" else tags.span_labels

    def _allow(self, doc: Doc, sequences: Indices, tags: TagSet, allowed: Bools) -> None:
        """Leave the tokens of spans the tags of these, and none after them that would prolong them, in place."""
        plain = tags.scheme == "none"
        spans = without_overlaps(self.spans(doc))
        inner = [span for span in spans if sequences[span.start] == sequences[span.end - 1]]
        for span in inner:
            start, end, known = span.start, span.end, span.label_ in self._known(tags)
            if not known and OUTSIDE not in tags.number:
                continue
            names = tags.tag_span(start, end, span.label_) if known else [OUTSIDE] * (end - start)
            allowed[start:end] = [_only_tag(name, tags) for name in names]
            if not plain and end < len(sequences) and sequences[end] == sequences[start]:
                allowed[end] &= ~tags.continues()
        if plain:
            _end_runs(inner, sequences, tags, allowed)


@dataclass(frozen=True)
class EntityTarget(SpanTarget):
    """`doc.ents`. scores (str | None): span extension for the probabilities of entities."""

    scores: str | None = None

    @property
    def description(self) -> str:
        return "doc.ents"

    def register(self) -> None:
        register(Span, self.scores)

    def spans(self, doc: Doc) -> Sequence[Span]:
        return doc.ents

    def _has_outside(self, doc: Doc) -> bool:
        return bool((doc.to_array(ENT_IOB) == IOB_STRINGS.index(OUTSIDE)).any())

    def _names(self, example: Example, tags: TagSet) -> Names:
        if not same_tokens(example):
            biluo = example.get_aligned_ner()
            return [None if tag in (None, "", "-") else _from_biluo(tag, tags) for tag in biluo]
        reference = example.reference
        iob = reference.to_array([ENT_IOB, ENT_TYPE])[:, 0]
        names: list[str | None] = [None if code == 0 else OUTSIDE for code in iob.tolist()]
        for ent in reference.ents:
            names[ent.start : ent.end] = tags.tag_span(ent.start, ent.end, ent.label_)
        return names

    def _allow(self, doc: Doc, sequences: Indices, tags: TagSet, allowed: Bools) -> None:
        super()._allow(doc, sequences, tags, allowed)
        for span in _blocked_spans(doc) if OUTSIDE in tags.number else ():
            allowed[span.start] = _only_tag(OUTSIDE, tags)

    def _free(self, doc: Doc, places: Sequence[Place]) -> list[int]:
        return _beside([] if self.overwrite else [*doc.ents, *_blocked_spans(doc)], places)

    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        """Set doc.ents; tokens outside of entities become so explicitly."""
        spans = [Span(doc, start, end, label=label) for start, end, label in found.spans]
        kept: Sequence[Span] = () if self.overwrite else doc.ents
        blocked = [] if self.overwrite else _blocked_spans(doc)
        free = self._free(doc, found.spans)
        doc.set_ents([*kept, *(spans[k] for k in free)], blocked=blocked, default="outside")
        if self.scores is not None and found.scores is not None:
            for k in free:
                told = {name: float(getattr(found.scores, name)[k]) for name in ("label", "boundaries", "covered")}
                spans[k]._.set(self.scores, told)


@dataclass(frozen=True)
class GroupTarget(SpanTarget):
    """`doc.spans[key]`. extend (bool): whether a group that is there gets the spans that fit between its own."""

    extend: bool = False

    @property
    def description(self) -> str:
        return f"doc.spans[{self.key!r}]"

    def spans(self, doc: Doc) -> Sequence[Span]:
        """The spans of the group, apart from empty ones: no tag can stand for these."""
        return [span for span in doc.spans.get(self.key, ()) if len(span)]

    def has_overlaps(self, doc: Doc) -> bool:
        """Whether two spans of a Doc share a token; no tags can stand for both."""
        spans = self.spans(doc)
        return len(without_overlaps(spans)) < len(spans)

    def _has_outside(self, doc: Doc) -> bool:
        return self.key in doc.spans and len(_covered(self.spans(doc))) < len(doc)

    def _names(self, example: Example, tags: TagSet) -> Names:
        if self.key not in example.reference.spans:
            return [None] * len(example.predicted)
        names: list[str | None] = [OUTSIDE] * len(example.predicted)
        spans = self.spans(example.reference)
        aligned = without_overlaps(spans)
        if same_tokens(example):
            for span in spans:
                names[span.start : span.end] = [None] * len(span)
        else:
            aligned = example.get_aligned_spans_y2x(aligned, allow_overlap=False)
            if len(aligned) < len(spans):
                for token in _covered(spans):
                    for own in example.alignment.y2x[token].tolist():
                        names[own] = None
        for span in aligned:
            names[span.start : span.end] = tags.tag_span(span.start, span.end, span.label_)
        return names

    def _free(self, doc: Doc, places: Sequence[Place]) -> list[int]:
        kept = [] if self.overwrite else list(doc.spans.get(self.key, ()))
        return [] if kept and not self.extend else _beside(kept, places)

    def write(self, doc: Doc, found: DecodedDoc, values: Values) -> None:
        """Set doc.spans[key], the probabilities in the attrs of the group; other attrs of a group stay."""
        present = None if self.overwrite else doc.spans.get(self.key)
        kept: list[Span] = list(present or ())
        if kept and not self.extend:
            return
        free = (found.spans[k] for k in self._free(doc, found.spans))
        spans = [*kept, *(Span(doc, start, end, label=label) for start, end, label in free)]
        attrs = {**(present.attrs if present is not None else {}), **_group_scores(spans, found)}
        doc.spans[self.key] = SpanGroup(doc, name=self.key, attrs=attrs, spans=spans)


def _from_biluo(tag: str, tags: TagSet) -> str:
    """A BILUO tag as a tag of the scheme at hand."""
    if tags.scheme == "BILUO" or tag == OUTSIDE:
        return tag
    return tag[2:] if tags.scheme == "none" else as_bio(tag)


def _group_scores(spans: Sequence[Span], found: DecodedDoc) -> dict[str, Any]:
    """Probabilities of the spans of a group; NaN for those that were not decoded."""
    scores = found.scores
    if scores is None:
        return {}
    number = {place: k for k, place in enumerate(found.spans)}
    chosen = [number.get((span.start, span.end, span.label_)) for span in spans]
    columns = {"scores": scores.label, "scores_boundaries": scores.boundaries, "scores_covered": scores.covered}
    return {name: [math.nan if k is None else float(values[k]) for k in chosen] for name, values in columns.items()}


class Bounds(Protocol):
    """The first token of a span, and the one after its last."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


S = TypeVar("S", bound=Bounds)


def without_overlaps(spans: Sequence[S]) -> list[S]:
    """The spans that share no token with another one. O(S log S)."""
    in_order = sorted(spans, key=lambda span: (span.start, span.end))
    ends = [0, *itertools.accumulate((span.end for span in in_order), max)]
    nexts = [*(span.start for span in in_order[1:]), None]
    return [
        span
        for span, end_before, start_after in zip(in_order, ends, nexts)
        if end_before <= span.start and (start_after is None or span.end <= start_after)
    ]


def _covered(spans: Iterable[Span]) -> set[int]:
    """The tokens of spans."""
    return {token for span in spans for token in range(span.start, span.end)}


def _beside(kept: Iterable[Span], places: Sequence[Place]) -> list[int]:
    """Which places share no token with spans."""
    taken = _covered(kept)
    return [k for k, (start, end, _) in enumerate(places) if taken.isdisjoint(range(start, end))]


def _blocked_spans(doc: Doc) -> list[Span]:
    """Tokens that somebody has barred from entities."""
    iob, types = doc.to_array([ENT_IOB, ENT_TYPE]).reshape(-1, 2).T
    barred = np.flatnonzero((iob == BLOCKED) & (types == 0))
    return [Span(doc, token, token + 1) for token in barred.tolist()]


def _only_tag(name: str, tags: TagSet) -> Bools:
    """((L,)): one tag and no other."""
    return np.arange(len(tags)) == tags.number[name]


def _end_runs(spans: Iterable[Span], sequences: Indices, tags: TagSet, allowed: Bools) -> None:
    """Rule out the labels of spans for the tokens beside them, unless these have tags of their own."""
    for span in spans:
        for beside in (span.start - 1, span.end):
            inside = 0 <= beside < len(sequences) and sequences[beside] == sequences[span.start]
            if inside and allowed[beside].sum() > 1:
                allowed[beside] &= ~tags.tags_of(span.label_)
