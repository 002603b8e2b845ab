"""The kinds of annotation that a column of a file can hold: their names in settings, and what values they may have.

Spans are given by one tag per token, in any scheme that is in use: IOB1, IOB2, BILUO, BIOES, BMES, IO.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Span

from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from .errors import CorpusErrors

WORD = "word"
SKIPPED = "_"
TOKEN_KINDS = ("lemma", "pos", "tag", "morph")
ENTITIES = "ner"
CHUNKS = "chunk"
SPANS_PREFIX = "spans:"
EXTENSION_PREFIX = "ext:"
ANNOTATIONS = (*TOKEN_KINDS, ENTITIES, CHUNKS, f"{SPANS_PREFIX}KEY", f"{EXTENSION_PREFIX}NAME")
FEATURES = re.compile(r"[^=|]+=[^=|]+(\|[^=|]+=[^=|]+)*")
MISSING = ""
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


def spans_key(kind: str) -> str | None:
    """The key in `doc.spans` of a kind of annotation such as "chunk" or "spans:sc" (str); None for other kinds."""
    if kind == CHUNKS:
        return "chunks"
    return kind.removeprefix(SPANS_PREFIX) if kind.startswith(SPANS_PREFIX) else None


def extension_name(kind: str) -> str | None:
    """The custom token attribute of a kind of annotation such as "ext:case" (str); None for other kinds."""
    return kind.removeprefix(EXTENSION_PREFIX) if kind.startswith(EXTENSION_PREFIX) else None


def validate_columns(columns: Sequence[str]) -> None:
    """Raise an error unless the names in the setting `columns` describe the columns of a file."""
    for name in columns:
        if name not in (WORD, SKIPPED) and not _is_annotation(name):
            known = (WORD, *ANNOTATIONS, SKIPPED)
            raise CRFError(CorpusErrors.CRF508.format(setting="columns", name=name, known=", ".join(known)))
    named = [name for name in columns if name != SKIPPED]
    if WORD not in named or len(set(named)) != len(named):
        raise CRFError(CorpusErrors.CRF509.format(columns=", ".join(columns)))


def validate_input(kinds: Sequence[str]) -> None:
    """Raise an error unless the names in the setting `input` are annotations that a pipeline can be given."""
    for name in kinds:
        if not _is_annotation(name):
            raise CRFError(CorpusErrors.CRF508.format(setting="input", name=name, known=", ".join(ANNOTATIONS)))


def _is_annotation(name: str) -> bool:
    return name in (*TOKEN_KINDS, ENTITIES, CHUNKS) or bool(spans_key(name) or extension_name(name))


# -- values --------------------------------------------------------------------------------------------------


class ValueChecker:
    """Checks every distinct value of a file once. path (Path): The file, for the messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: defaultdict[str, set[str]] = defaultdict(set)

    def check(self, kind: str, values: Sequence[str], lines: Iterable[int]) -> None:
        """Raise an error if a value cannot be what its column says it is.

        values (Sequence[str]), lines (Iterable[int]): Of the words of a column; "" is always fine.
        """
        known = self.known[kind]
        if known.issuperset(values):
            return
        for value, line in zip(values, lines):
            if value and value not in known:
                message = _find_fault(kind, value)
                if message:
                    raise CRFError(message.format(path=self.path, line=line, column=kind, value=value))
        known.update(values)


def _find_fault(kind: str, value: str) -> str | None:
    if kind == "pos":
        return None if value in PARTS_OF_SPEECH else CorpusErrors.CRF513
    if kind == "morph":
        return None if FEATURES.fullmatch(value) else CorpusErrors.CRF514
    if kind == ENTITIES or spans_key(kind):
        return None if split_tag(value) else CorpusErrors.CRF512
    return None


# -- spans ---------------------------------------------------------------------------------------------------


class LabelledSpan(NamedTuple):
    """A labelled stretch of tokens, `end` exclusive."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=4096)
def split_tag(tag: str) -> tuple[str, str] | None:
    """Letter and label (tuple) of a tag such as "B-NP", "NP-B", "B_NP", "B" or "O"; None for other schemes."""
    if tag in (OUTSIDE, MISSING):
        return OUTSIDE, ""
    for form in TAG_FORMS:
        match = form.fullmatch(tag)
        if match:
            return match["prefix"], match["label"]
    return None


def decode_spans(tags: Sequence[str], *, untyped: str = "SPAN") -> list[LabelledSpan]:
    """Read the spans of one sentence (list), whatever the scheme; every tag that is not O is in exactly one span.

    A span goes on as long as an inside or end tag of the same label follows; everything else starts a new one. Hence I
    after O begins a span (IOB1), and an end tag on its own is a span of one token. An unknown tag, "", is in no span.

    untyped (str): The label of spans whose tags have none (B, I and O only).
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
    """BIO tags (list[str]) of spans that do not overlap; "" where the tags are, which may be of any scheme."""
    found = [OUTSIDE if tag else MISSING for tag in tags]
    for span in spans:
        found[span.start : span.end] = [f"B-{span.label_}", *[f"I-{span.label_}"] * (len(span) - 1)]
    return found
