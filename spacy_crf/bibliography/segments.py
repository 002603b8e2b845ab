"""The fields of a Doc, whatever holds their labels."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..annotation.span_targets import SpanTarget, target_of
from ..core.labels import TagSet
from .identifiers import find_identifiers

Segment = tuple[str, str]  # label, empty without one, and text


def read_segments(doc: Doc, target: str = "ent", spans_key: str = "sc") -> list[Segment]:
    """Fields and what is between them, in order; together they have every character that is no white space.

    An identifier is a segment of its own, wherever the borders of the fields are.

    target (str): where labels are, as in the settings of `crf_tagger`: "tag", "pos", "ent", "spans" or the name of a
        token extension. spans_key (str): of the group, for "spans", of which the longer one counts where they overlap.
        Tokens of the same tag make one field, and so do those of a BIO or BILUO tag.
    """
    place = target_of(target, spans_key)
    if isinstance(place, SpanTarget):
        bounds = [(span.start, span.end, span.label_) for span in filter_spans(place.spans(doc))]
    else:
        bounds = list(_runs([tag or "" for tag in place.names(Example(doc, doc), TagSet((), "none"))]))
    found, end = [], 0
    for first, last, label in [*bounds, (len(doc), len(doc), "")]:
        found += [("", doc[end:first]), (label, doc[first:last])]
        end = last
    return [(label, text) for label, text in _set_apart(doc.text, found) if text]


def _set_apart(text: str, found: Iterable[tuple[str, Span]]) -> Iterator[Segment]:
    """Fields without identifiers, and these, whole, with the label of the field that they begin in."""
    identifiers = deque((own.start, own.end) for own in find_identifiers(text))
    taken = 0
    for label, span in found:
        start, end = span.start_char, span.end_char
        pieces, whole = [], []
        while identifiers and identifiers[0][0] < end:
            first, last = identifiers.popleft()
            pieces.append(text[max(start, taken) : first].strip())
            whole.append((label, text[first:last].strip()))
            taken = last
        pieces.append(text[max(start, taken) : end].strip())
        yield label, " ".join(filter(None, pieces))
        yield from whole


def _runs(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and label of neighbouring tokens of a field."""
    labels = ["" if tag in ("O", "_") else re.sub("^[BILU]-", "", tag) for tag in tags]
    before = ["", *labels]
    starts = [place for place, tag in enumerate(tags) if labels[place] != before[place] or tag[:2] in ("B-", "U-")]
    return ((start, end, labels[start]) for start, end in pairwise([*starts, len(tags)]) if labels[start])
