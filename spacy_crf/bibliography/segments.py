"""Labelled fields of a Doc, whatever holds the labels."""

from collections.abc import Iterator

from spacy.tokens import Doc
from spacy.util import filter_spans

Segment = tuple[str, str]  # label, empty without one, and text


def read_segments(doc: Doc, target: str = "ent", spans_key: str = "sc") -> list[Segment]:
    """Fields and what is between them, in order; together they have every character that is no white space.

    doc (Doc): labelled. target (str): where the labels are, as in the settings of `crf_tagger`: "tag", "pos", "ent",
        "spans" or the name of a token extension. spans_key (str): of the group, for "spans". Of spans that overlap the
        longer one counts. Tokens of the same tag make one field, and so do those of a BIO or BILUO tag.
    RETURNS (list[tuple[str, str]]): label, empty without one, and text.
    """
    if target == "ent":
        bounds = [(span.start, span.end, span.label_) for span in doc.ents]
    elif target == "spans":
        spans = filter_spans(doc.spans[spans_key]) if spans_key in doc.spans else []
        bounds = [(span.start, span.end, span.label_) for span in spans]
    else:
        bounds = list(_runs([_tag(doc, place, target) for place in range(len(doc))]))
    found, end = [], 0
    for first, last, label in [*bounds, (len(doc), len(doc), "")]:
        found.append(("", doc[end:first].text.strip()))
        found.append((label, doc[first:last].text.strip()))
        end = last
    return [(label, text) for label, text in found if text]


def _tag(doc: Doc, place: int, target: str) -> str:
    token = doc[place]
    if target in ("tag", "pos"):
        return token.tag_ if target == "tag" else token.pos_
    return token._.get(target) or ""


def _runs(tags: list[str]) -> Iterator[tuple[int, int, str]]:
    """Start, end and label of neighbouring tokens of a field."""
    start = 0
    for place in range(1, len(tags) + 1):
        before = tags[place - 1]
        if place < len(tags) and _label(tags[place]) == _label(before) and tags[place][:2] not in ("B-", "U-"):
            continue
        if _label(before):
            yield start, place, _label(before)
        start = place


def _label(tag: str) -> str:
    if tag in ("O", "_"):
        return ""
    return tag[2:] if tag[:2] in ("B-", "I-", "L-", "U-") else tag
