"""Annotation that is there as evidence: which tags each token may have, given what it is labelled already."""

from collections.abc import Iterable, Sequence

import numpy as np
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..annotation.gold import gold_tags, spans_with_tokens, without_overlaps
from ..core.arrays import Bools, Indices, Segments
from ..core.chain.evidence import allowed_labels
from ..core.labels import OUTSIDE, TagSet
from .annotate import blocked_spans
from .settings import SPAN_TARGETS


def read_evidence(docs: Sequence[Doc], lengths: Indices, target: str, spans_key: str, tags: TagSet) -> Bools:
    """Tags that the annotation of Docs leaves open.

    As for spaCy's own entity recognizer, entities and blocked tokens are given, and tokens outside of entities are
    not. Of labels that the tag set lacks, spans leave their tokens no other tag than O, if there is one, and tags say
    nothing. So do spans that overlap, or that cross from one sequence into the next.

    lengths ((B,)): of the sequences that the Docs consist of.
    RETURNS ((N, L)): one row for each token, one Doc after the other.
    """
    if target not in SPAN_TARGETS:
        labels = [gold_tags(Example(doc, doc), target, spans_key, tags, strict=False) for doc in docs]
        return allowed_labels(np.concatenate(labels), len(tags))
    sequences = Segments(lengths).owners
    allowed = np.ones((len(sequences), len(tags)), dtype=bool)
    first = 0
    for doc in docs:
        own = slice(first, first + len(doc))
        spans: Iterable[Span] = doc.ents if target == "ent" else without_overlaps(spans_with_tokens(doc, spans_key))
        _allow_spans(spans, sequences[own], tags, allowed[own])
        if target == "ent":
            for span in blocked_spans(doc) if OUTSIDE in tags.number else ():
                allowed[own][span.start] = _only(OUTSIDE, tags)
        first = own.stop
    return allowed


def _allow_spans(spans: Iterable[Span], sequences: Indices, tags: TagSet, allowed: Bools) -> None:
    """Leave the tokens of spans the tags of these, and none after them that would prolong them.

    sequences ((n,)): of each token. allowed ((n, L)): changed in place.
    """
    plain = tags.scheme == "none"
    inner = [span for span in spans if sequences[span.start] == sequences[span.end - 1]]
    for span in inner:
        start, end, known = span.start, span.end, span.label_ in (tags.tags if plain else tags.span_labels)
        if not known and OUTSIDE not in tags.number:
            continue
        names = tags.tag_span(start, end, span.label_) if known else [OUTSIDE] * (end - start)
        allowed[start:end] = [_only(name, tags) for name in names]
        if not plain and end < len(sequences) and sequences[end] == sequences[start]:
            allowed[end] &= ~tags.continues()
    if plain:
        _end_runs(inner, sequences, tags, allowed)


def _end_runs(spans: Iterable[Span], sequences: Indices, tags: TagSet, allowed: Bools) -> None:
    """Rule out the labels of spans for the tokens beside them, unless these have tags of their own."""
    for span in spans:
        for beside in (span.start - 1, span.end):
            inside = 0 <= beside < len(sequences) and sequences[beside] == sequences[span.start]
            if inside and allowed[beside].sum() > 1:
                allowed[beside] &= ~tags.tags_of(span.label_)


def _only(name: str, tags: TagSet) -> Bools:
    """((L,)): one tag and no other."""
    return np.arange(len(tags)) == tags.number[name]
