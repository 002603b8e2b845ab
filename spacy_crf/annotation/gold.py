"""Gold of examples: aligned tokens, several tags for a token, spans known in part, and no illegal tags.

Several tags are a dict from tag to weight in a custom attribute. Weights are those of section 4.3 of Heid, Set-Valued
Prediction for Part-of-Speech Tagging (2020): fractions that sum to 1, or ones for tags that are all correct. spaCy
stores the attribute with `DocBin(store_user_data=True)`; it is found whether or not anybody has registered it. The best
tag is in `token.tag` as well.

spaCy can tell entities that are missing from tokens outside, but not a token inside of an entity whose beginning is
missing; for span groups it has nothing of the kind. So a BIO tag for each token, empty where it is unknown, is kept in
a custom attribute of the tokens, which spaCy copies, cuts, joins and stores (`DocBin(store_user_data=True)`) with them.
Where a Doc has it, it is the gold, and `doc.ents` and `doc.spans` are not looked at.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, LEMMA, MORPH, ORTH, POS, TAG
from spacy.tokens import Doc
from spacy.training import Example

from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.chain.evidence import blocked_sequences
from ..core.errors import CoreErrors, CRFError, excerpt
from ..core.labels import OUTSIDE, UNKNOWN, Gold, TagSet
from ..core.weights import Layout
from .extensions import register_stored, stored_values, write_known

GOLD_TAGS = "gold_tags"
GOLD_POS = "gold_pos"  # the same for parts of speech, where a file has gold tags of its own as well
TagWeights = dict[str, float]
PARTIAL = "crf_partial_"  # how names of attributes with BIO tags begin
NAMES = {"ent": f"{PARTIAL}ent", "spans": PARTIAL + "spans_{spans_key}"}


# what gold can be read from, beside spans and what is in `doc.user_data`
ATTRIBUTES = [TAG, POS, MORPH, LEMMA, DEP, ENT_IOB, ENT_TYPE]


def annotation_checksum(doc: Doc) -> int:
    """Return a number that changes with what a Doc is annotated with, in a small part of the time of reading gold."""
    groups = [group.to_bytes() for _, group in sorted(doc.spans.items())]
    return crc32(b"".join([doc.to_array(ATTRIBUTES).tobytes(), repr(doc.user_data).encode("utf8", "replace"), *groups]))


# -- alignment -----------------------------------------------------------------------------------------------


def same_tokens(example: Example) -> bool:
    """Whether both sides have the same tokens, so that no alignment is needed."""
    return np.array_equal(example.predicted.to_array(ORTH), example.reference.to_array(ORTH))


def aligned_tokens(example: Example) -> list[list[int]]:
    """The tokens of the reference that each predicted token shares characters with."""
    return [example.alignment.x2y[token].tolist() for token in range(len(example.predicted))]


def single_tokens(example: Example) -> list[int | None]:
    """The token of the reference that is one with each predicted token; None where none is."""
    y2x = example.alignment.y2x
    return [own[0] if len(own) == 1 and len(y2x[own[0]]) == 1 else None for own in aligned_tokens(example)]


# -- gold with several tags ----------------------------------------------------------------------------------


def best_tag(weights: Mapping[str, float]) -> str:
    """The tag with the greatest weight, the first of equal ones; "" if there is none."""
    return max(weights, key=weights.__getitem__, default="")


def register_gold_tags(name: str = GOLD_TAGS) -> None:
    """Make `token._.NAME` available, which is None where there is no gold; what is there already is kept."""
    register_stored(name, default=None, allow_setter=False)


def write_gold_tags(doc: Doc, rows: Sequence[Mapping[str, float]], name: str = GOLD_TAGS) -> None:
    """Give tokens their gold tags, weights by tag, and the best one as `token.tag`; those without stay as they are, and
    so does `token.pos` beside weights of parts of speech."""
    if len(rows) != len(doc):
        raise CRFError(CoreErrors.CRF532.format(found=len(rows), expected=len(doc)))
    register_gold_tags(name)
    write_known(doc, name, [dict(weights) for weights in rows])
    for token, weights in zip(doc, rows):
        if weights and name != GOLD_POS:
            token.tag_ = best_tag(weights)


def read_gold_tags(doc: Doc, name: str = GOLD_TAGS) -> list[TagWeights]:
    """The gold tags of the tokens, weights by tag: empty for no gold. A text is one tag; tags of weight 0 are none.

    RAISES (ValueError): for what are no weights of tags.
    """
    return [_read_weights(doc, token, name, value) for token, value in enumerate(stored_values(doc, name))]


def _read_weights(doc: Doc, token: int, name: str, value: Any) -> TagWeights:
    if not value:
        return {}
    if isinstance(value, str):
        return {value: 1.0}
    try:
        found = {tag: weight for tag, weight in dict(value).items() if weight != 0}
        total = math.fsum(found.values())
    except (TypeError, ValueError, OverflowError):  # no pairs, no numbers, or too large ones
        total = math.nan
    if not 0 < total < math.inf or min(found.values()) < 0 or not all(isinstance(tag, str) and tag for tag in found):
        where = {"document": excerpt(doc.text), "token": excerpt(doc[token].text), "name": name}
        raise CRFError(CoreErrors.CRF449.format(weights=excerpt(repr(value)), **where))
    return found


# -- partial gold of spans -----------------------------------------------------------------------------------


def partial_extension(target: str, spans_key: str) -> str | None:
    """Name of the custom token attribute; None for targets that are no spans."""
    return NAMES[target].format(spans_key=spans_key) if target in NAMES else None


def partial_tags(doc: Doc, target: str, spans_key: str) -> list[str] | None:
    """BIO tags of the tokens, "" where unknown; None if the Doc has none. The attribute need not be registered."""
    name = partial_extension(target, spans_key)
    found = [] if name is None else [value or "" for value in stored_values(doc, name)]
    return found if any(found) else None


def write_partial(doc: Doc, target: str, spans_key: str, tags: Sequence[str]) -> None:
    """Give a Doc BIO tags of its tokens, "" where unknown."""
    name = partial_extension(target, spans_key) or ""
    register_stored(name)
    write_known(doc, name, tags)


def partial_gold(example: Example, target: str, spans_key: str) -> list[str] | None:
    """BIO tags of the predicted tokens, "" where unknown or misaligned; None if gold is not partial."""
    found = partial_tags(example.reference, target, spans_key)
    if found is None or same_tokens(example):
        return found
    return ["" if token is None else found[token] for token in single_tokens(example)]


def narrow(gold: Gold, partial: Sequence[Sequence[str]], tags: TagSet) -> Gold:
    """Gold with sets of tags where a span goes on or ends: of BILUO, BIO tags (Doc by Doc) cannot tell which."""
    weights = gold.weights.copy()
    for unit, found in enumerate(found for bio in partial for found in possible_tags(bio, tags)):
        if len(found) > 1:
            row = np.searchsorted(gold.rows, unit)
            weights[row] = 0
            weights[row, [tags.number[tag] for tag in found if tag in tags.number]] = 1
    return Gold(gold.labels, gold.rows, weights)


def end_spans(gold: Gold, ends_known: Bools, lengths: Indices, tags: TagSet) -> Gold:
    """Gold in which no unit without a tag goes on with the span beside it, where its end is known ((N,)).

    Tags alone do not say so: "I" may follow "B", and a run of a label may go on. lengths ((B,)): of the sequences.
    """
    in_span = np.append([tag != OUTSIDE for tag in tags.tags], False)  # an unknown label is -1
    sequences, weights = Segments(lengths).owners, gold.weights.copy()
    for step in (-1,) if tags.scheme == "BIO" else (-1, 1):
        beside = np.clip(gold.rows + step, 0, len(gold.labels) - 1)
        label = gold.labels[beside]
        own = np.flatnonzero(in_span[label] & ends_known[gold.rows] & (sequences[beside] == sequences[gold.rows]))
        if tags.scheme == "BIO":
            weights[np.ix_(own, tags.continues())] = 0
        else:
            weights[own, label[own]] = 0
    weights[~weights.any(axis=1)] = 1
    return Gold(gold.labels, gold.rows, weights)


def as_bio(tag: str) -> str:
    """A BILUO tag as the BIO tag of the same token."""
    return {"U": "B", "L": "I"}.get(tag[0], tag[0]) + tag[1:]


def possible_tags(bio: Sequence[str], tags: TagSet) -> list[tuple[str, ...]]:
    """Tags of the chain that BIO tags may stand for: none where unknown, in BILUO two where the next one is."""
    if tags.scheme == "none":
        return [((tag if tag == OUTSIDE else tag[2:]),) if tag else () for tag in bio]
    return [_possible(tag, after, tags.scheme == "BILUO") for tag, after in zip(bio, [*bio[1:], OUTSIDE])]


def _possible(tag: str, after: str, is_biluo: bool) -> tuple[str, ...]:
    if not tag:
        return ()
    if not is_biluo or tag == OUTSIDE:
        return (tag,)
    last = ("U" if tag[0] == "B" else "L") + tag[1:]
    if not after:
        return tag, last
    return (tag,) if after == f"I{tag[1:]}" else (last,)


# -- gold that no chain can have -----------------------------------------------------------------------------


class Violation(NamedTuple):
    """Tags that the masks do not let follow each other, those that gold allows before and after, and where; no tags for
    the edges of the sequence."""

    unit: int
    before: Sequence[int]
    after: Sequence[int]


def forget_crossing(labels: Ints, lengths: Indices, tags: TagSet) -> Indices:
    """Make spans unknown that cross from one sequence into the next; gold labels are changed in place.

    RETURNS ((K,)): the first units of the sequences that these go on in.
    """
    inside = np.append(tags.continues(), False)[labels]  # an unknown label is -1
    firsts = Segments(lengths).openings
    crossed = firsts[inside[firsts]]
    for first in crossed.tolist():
        low, high = first - 1, first
        while low > 0 and inside[low]:
            low -= 1
        while high < len(labels) and inside[high]:
            high += 1
        labels[max(low, 0) : high] = UNKNOWN
    return crossed


def find_violation(gold: Gold, lengths: Indices, layout: Layout) -> Violation | None:
    """The first place where gold breaks the rules, if there is one; open units only where they leave no path. O(N), and
    O(N L^2) for sequences with open units."""
    if layout.allows_all:
        return None
    found = _known_violation(gold.labels, lengths, layout)
    if found is not None or not len(gold.rows):
        return found
    sequences = Segments(lengths)
    is_open = np.unique(sequences.owners[gold.rows])
    units = sequences.units(is_open)
    blocked = blocked_sequences(lengths[is_open], gold.take(units).dense() > 0, layout)
    return _dead_end(gold, sequences.slices()[is_open[blocked[0]]], layout) if len(blocked) else None


def _known_violation(labels: Ints, lengths: Indices, layout: Layout) -> Violation | None:
    sequences = Segments(lengths)
    firsts, lasts = sequences.openings, sequences.ends[lengths > 0] - 1
    units = np.delete(np.arange(len(labels)), firsts)
    allowed = np.pad(layout.allowed, (0, 1), constant_values=True)
    pairs = units[~allowed[labels[units - 1], labels[units]]]
    if len(pairs):
        return Violation(int(pairs[0]), [int(labels[pairs[0] - 1])], [int(labels[pairs[0]])])
    starts = firsts[~np.append(layout.allowed_start, True)[labels[firsts]]]
    if len(starts):
        return Violation(int(starts[0]), [], [int(labels[starts[0]])])
    ends = lasts[~np.append(layout.allowed_end, True)[labels[lasts]]]
    if len(ends):
        return Violation(int(ends[0]), [int(labels[ends[0]])], [])
    return None


def _dead_end(gold: Gold, units: slice, layout: Layout) -> Violation:
    """The unit of a sequence without a path that no tag before leads to, or its last one."""
    before, reached = np.zeros(layout.n_labels, dtype=bool), layout.allowed_start
    for unit, own in enumerate(gold.slice(units.start, units.stop).dense() > 0, units.start):
        if not (own & reached).any():
            return Violation(unit, np.flatnonzero(before).tolist(), np.flatnonzero(own).tolist())
        before = own & reached
        reached = before @ layout.allowed
    return Violation(units.stop - 1, np.flatnonzero(before).tolist(), [])
