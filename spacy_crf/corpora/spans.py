"""From one tag per token to spans, for all the schemes in use: IOB1, IOB2, BILUO, BIOES, BMES, IO."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from spacy.tokens import Span

MISSING = ""
OUTSIDE = "O"
# I and M are inside, L and E last, U, S and W single.
PREFIXES = "BIMLEUSW"
GOES_ON = frozenset("IMLE")
CLOSES = frozenset("LEUSW")
NONE_OPEN = -1
# In order of preference: "B-I" is label I, "NP-B" and "A_B-I" carry the letter at the end, "B_NP" at the
# start.
TAG_FORMS = (
    re.compile(rf"(?P<prefix>[{PREFIXES}])-(?P<label>.+)"),
    re.compile(rf"(?P<label>.+)-(?P<prefix>[{PREFIXES}])"),
    re.compile(rf"(?P<prefix>[{PREFIXES}])_(?P<label>.+)"),
    re.compile(rf"(?P<prefix>[{PREFIXES}])(?P<label>)"),
)


class LabelledSpan(NamedTuple):
    """A labelled stretch of tokens, `end` exclusive."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=4096)
def split_tag(tag: str) -> tuple[str, str] | None:
    """Take a tag apart.

    tag (str): E.g. "B-NP", "NP-B", "B_NP", "O"; "B" alone has the empty label.
    RETURNS (tuple[str, str] | None): The letter and the label; None if it is not a tag of a known scheme.
    """
    if tag in (OUTSIDE, MISSING):
        return OUTSIDE, ""
    for form in TAG_FORMS:
        match = form.fullmatch(tag)
        if match:
            return match["prefix"], match["label"]
    return None


def decode_spans(tags: Sequence[str], *, untyped: str = "SPAN") -> list[LabelledSpan]:
    """Read the spans of one sentence, whatever the scheme; every tag that is not O is in exactly one span.

    A span goes on as long as an inside or end tag of the same label follows; everything else starts a new
    one. Hence I after O begins a span (IOB1), and an end tag on its own is a span of one token.

    tags (Sequence[str]): One tag per token; "" (unknown) is not part of a span.
    untyped (str): The label of spans whose tags have none (B, I and O only).
    RETURNS (list[LabelledSpan]): The spans in the order of the text.
    """
    spans: list[LabelledSpan] = []
    start, current = NONE_OPEN, ""
    for i, tag in enumerate(tags):
        prefix, label = split_tag(tag) or (OUTSIDE, "")
        label = label or untyped
        if start != NONE_OPEN and not (prefix in GOES_ON and label == current):
            spans.append(LabelledSpan(start, i, current))
            start = NONE_OPEN
        if start == NONE_OPEN and prefix != OUTSIDE:
            start, current = i, label
        if prefix in CLOSES:
            spans.append(LabelledSpan(start, i + 1, current))
            start = NONE_OPEN
    if start != NONE_OPEN:
        spans.append(LabelledSpan(start, len(tags), current))
    return spans


def bio_tags(spans: Iterable[Span], tags: Sequence[str]) -> list[str]:
    """BIO tags for what is known.

    spans (Iterable[Span]): The spans of a Doc, none of which overlap.
    tags (Sequence[str]): One tag of any scheme per token; "" is unknown.
    RETURNS (list[str]): One tag per token; "" is unknown.
    """
    found = [OUTSIDE if tag else MISSING for tag in tags]
    for span in spans:
        found[span.start : span.end] = [f"B-{span.label_}", *[f"I-{span.label_}"] * (len(span) - 1)]
    return found
