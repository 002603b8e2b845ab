"""Sentences, into which text formats are parsed: what their columns may hold, their groups, their white space.

Spans are given by one tag per token, in any scheme that is in use: IOB1, IOB2, BILUO, BIOES, BMES, IO.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Span

from ..annotation.documents import has_signs_only
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from .errors import CorpusErrors

Group = Literal["auto", "document", "sentence"] | int
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
# Of columns, in tables as other programs write them.
WORD_TITLES = frozenset(("word", "words", "token", "tokens", "form"))
TAG_TITLES = frozenset(("tag", "tags", "label", "labels", "pos", "upos", "xpos", "lemma", "ner", "chunk", "checked"))
# I and M are inside, L and E last, U, S and W single.
PREFIXES = "BIMLEUSW"
GOES_ON = frozenset("IMLE")
CLOSES = frozenset("LEUSW")
# In order of preference: "B-I" is label I, "NP-B" and "A_B-I" carry the letter at the end, "B_NP" at the start.
TAG_FORMS = (
    re.compile(rf"(?P<prefix>[{PREFIXES}])-(?P<label>.+)"),
    re.compile(rf"(?P<label>.+)-(?P<prefix>[{PREFIXES}])"),
    re.compile(rf"(?P<prefix>[{PREFIXES}])_(?P<label>.+)"),
    re.compile(rf"(?P<prefix>[{PREFIXES}])(?P<label>)"),
)
TagParts = tuple[str, str]  # letter and label
BLANKS, BLANK = re.compile(r"\s*"), re.compile(" ?")


@dataclass(slots=True)
class Sentence:
    """One sentence as it is in the file.

    words (list[str]): The tokens. columns (dict[str, list[str]]): Annotation by kind ("tag", "ner", "spans:KEY" ...),
        one value per word, spans as the tags of the file; "" is unknown.
    spaces (list[bool] | None): Whether white space follows each word; None if the format does not say.
    heads (list[int] | None), deps (list[str] | None): Index of each word's head in the sentence, its own for the root,
        and the relation to it; None unless the sentence has a complete tree.
    starts_document (bool): Whether the file marks the beginning of a document here.
    document (str): Name of the document, "" if the file does not say.
    predicted (tuple[str, ...]): Kinds of annotation that a tagger has filled in for tokens that nobody has checked.
    comments (tuple[str, ...]): Lines of the file that say something else of the sentence, such as its id.
    surfaces (tuple[tuple[int, int, str], ...]): Words that are written as one (multiword tokens), and its form.
    """

    words: list[str]
    columns: dict[str, list[str]] = field(default_factory=dict)
    spaces: list[bool] | None = None
    heads: list[int] | None = None
    deps: list[str] | None = None
    starts_document: bool = False
    document: str = ""
    predicted: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    surfaces: tuple[tuple[int, int, str], ...] = ()


_NOTHING_ELSE: dict[str, Any] = {"heads": None, "deps": None, "comments": (), "surfaces": ()}  # known of other words


def join_sentences(parts: Sequence[Sentence]) -> Sentence:
    """At least one sentence as one, without trees, comments and surfaces; all have the same columns."""
    columns = {kind: list(chain.from_iterable(part.columns[kind] for part in parts)) for kind in parts[0].columns}
    spaces = None
    if all(part.spaces is not None for part in parts):
        spaces = list(chain.from_iterable(part.spaces or () for part in parts))
    words = list(chain.from_iterable(part.words for part in parts))
    return replace(parts[0], words=words, columns=columns, spaces=spaces, **_NOTHING_ELSE)


def take_tokens(sentence: Sentence, chosen: Sequence[int]) -> Sentence:
    """Some of the tokens, without a tree, comments and surfaces; the space behind the last of a run that is left out
    comes behind the token before it."""
    spaces = None
    if sentence.spaces is not None:
        ends = [*chosen[1:], len(sentence.words) if not isinstance(chosen, range) else chosen.stop]
        spaces = [any(sentence.spaces[index:end]) for index, end in zip(chosen, ends)]
    columns = {kind: [values[index] for index in chosen] for kind, values in sentence.columns.items()}
    words = [sentence.words[index] for index in chosen]
    return replace(sentence, words=words, columns=columns, spaces=spaces, **_NOTHING_ELSE)


def bare_sentences(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Leave out punctuation, and write words in lower case; sentences that have no token left are left out."""
    starts_document = False
    for sentence in sentences:
        starts_document |= sentence.starts_document
        kept = take_tokens(sentence, [k for k, word in enumerate(sentence.words) if not has_signs_only(word)])
        if kept.words:
            yield replace(kept, words=[word.lower() for word in kept.words], starts_document=starts_document)
            starts_document = False


def group_sentences(sentences: Iterable[Sentence], group: Group) -> Iterator[list[Sentence]]:
    """Put the sentences of one file together into those of one Doc each.

    No group reaches across the beginning of a document that the file marks, or has sentences of two documents.

    group (Group): "document" for one group per document (the whole file if none is marked), "sentence" for one per
        sentence, a number for that many sentences per group, "auto" for one per document from the first mark on, and
        one per sentence before it.
    """
    size = group if isinstance(group, int) else math.inf if group == "document" else 1
    pending: list[Sentence] = []
    for sentence in sentences:
        is_next = sentence.starts_document or (pending and sentence.document != pending[-1].document)
        if pending and (is_next or len(pending) >= size):
            yield pending
            pending = []
        if sentence.starts_document and group == "auto":
            size = math.inf
        pending.append(sentence)
    if pending:
        yield pending


# -- kinds of annotation -------------------------------------------------------------------------------------


def spans_key(kind: str) -> str | None:
    """The key in `doc.spans` of a kind of annotation such as "chunk" or "spans:sc"; None for other kinds."""
    if kind == CHUNKS:
        return "chunks"
    return kind.removeprefix(SPANS_PREFIX) if kind.startswith(SPANS_PREFIX) else None


def is_spans(kind: str) -> bool:
    """Whether a kind of annotation is spans: entities, or a group of spans."""
    return kind == ENTITIES or spans_key(kind) is not None


def extension_name(kind: str) -> str | None:
    """The custom token attribute of a kind of annotation such as "ext:case"; None for other kinds."""
    return kind.removeprefix(EXTENSION_PREFIX) if kind.startswith(EXTENSION_PREFIX) else None


def validate_columns(columns: Sequence[str]) -> None:
    """Raise an error unless the names in the setting `columns` describe the columns of a file."""
    _validate_names("columns", columns, first=(WORD,), last=(SKIPPED,))
    named = [name for name in columns if name != SKIPPED]
    if WORD not in named or len(set(named)) != len(named):
        raise CRFError(CorpusErrors.CRF509.format(columns=", ".join(columns)))


def validate_input(kinds: Sequence[str]) -> None:
    """Raise an error unless the names in the setting `input` are annotations that a pipeline can be given."""
    _validate_names("input", kinds)


def _validate_names(setting: str, names: Sequence[str], first: Sequence[str] = (), last: Sequence[str] = ()) -> None:
    for name in names:
        is_annotation = name in (*TOKEN_KINDS, ENTITIES, CHUNKS) or spans_key(name) or extension_name(name)
        if not is_annotation and name not in (*first, *last):
            known = ", ".join((*first, *ANNOTATIONS, *last))
            raise CRFError(CorpusErrors.CRF508.format(setting=setting, name=name, known=known))


class RowChecker:
    """Checks rows of a file, and every distinct value once. path (Path): The file, for the messages."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: defaultdict[str, set[str]] = defaultdict(set)

    def check_width(self, line: int, row: Sequence[str], names: Sequence[str]) -> None:
        """Raise an error for a row with more or fewer columns than have a name."""
        if len(row) != len(names):
            expected = f"{len(names)} ({', '.join(names)})"
            raise CRFError(CorpusErrors.CRF507.format(path=self.path, line=line, found=len(row), expected=expected))

    def check_titles(self, line: int, row: Sequence[str]) -> None:
        """Raise an error for the first row of a file if it names columns, as no format does, instead of a token."""
        titles = {cell.strip().lower() for cell in row}
        if titles & WORD_TITLES and titles & TAG_TITLES and titles <= WORD_TITLES | TAG_TITLES:
            raise CRFError(CorpusErrors.CRF589.format(path=self.path, line=line, titles=", ".join(row)))

    def check_words(self, words: Sequence[str], lines: Sequence[int]) -> None:
        """Raise an error for an empty word."""
        if "" in words:
            raise CRFError(CorpusErrors.CRF511.format(path=self.path, line=lines[words.index("")]))

    def check(self, kind: str, values: Sequence[str], lines: Iterable[int]) -> None:
        """Raise an error if a value of a column cannot be what its kind says it is; "" is always fine."""
        known = self.known[kind]
        if known.issuperset(values):
            return
        for value, line in zip(values, lines):
            message = _find_fault(kind, value) if value and value not in known else None
            if message:
                raise CRFError(message.format(path=self.path, line=line, column=kind, value=value))
        known.update(values)


def _find_fault(kind: str, value: str) -> str | None:
    if kind == "pos":
        return None if value in PARTS_OF_SPEECH else CorpusErrors.CRF513
    if kind == "morph":
        return None if FEATURES.fullmatch(value) else CorpusErrors.CRF514
    return CorpusErrors.CRF512 if is_spans(kind) and not split_tag(value) else None


# -- spans ---------------------------------------------------------------------------------------------------


class LabelledSpan(NamedTuple):
    """A labelled stretch of tokens, `end` exclusive."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=4096)
def read_forms(tag: str) -> tuple[TagParts | None, ...]:
    """Letter and label of a tag by each of `TAG_FORMS`; None where it is not of that form."""
    matches = (form.fullmatch(tag) for form in TAG_FORMS)
    return tuple((match["prefix"], match["label"]) if match else None for match in matches)


def split_tag(tag: str) -> TagParts | None:
    """Letter and label of a tag such as "B-NP", "NP-B", "B_NP", "B" or "O"; None for other schemes."""
    return (OUTSIDE, "") if tag in (OUTSIDE, MISSING) else next(filter(None, read_forms(tag)), None)


def decode_spans(tags: Sequence[str], *, untyped: str = "SPAN") -> list[LabelledSpan]:
    """Read the spans of one sentence, whatever the scheme; every tag that is not O is in exactly one span.

    A span goes on as long as an inside or end tag of the same label follows; everything else starts a new one. Hence I
    after O begins a span (IOB1), and an end tag on its own is a span of one token. An unknown tag, "", is in no span.

    untyped (str): The label of spans whose tags have none (B, I and O only).
    """
    spans: list[LabelledSpan] = []
    start: int | None = None
    current = ""
    for i, tag in enumerate((*tags, OUTSIDE)):
        prefix, label = split_tag(tag) or (OUTSIDE, "")
        label = label or untyped
        if start is not None and not (prefix in GOES_ON and label == current):
            spans.append(LabelledSpan(start, i, current))
            start = None
        if start is None and prefix != OUTSIDE:
            start, current = i, label
        if start is not None and prefix in CLOSES:
            spans.append(LabelledSpan(start, i + 1, current))
            start = None
    return spans


def settle_spans(tags: Sequence[str], *, untyped: str = "SPAN") -> tuple[list[LabelledSpan], list[str]]:
    """Read what is known of the spans of one sentence: those whose both ends are known, and a BIO tag for each token.

    An inside or end tag behind an unknown one goes on with a span that begins there, so that its tag is I.
    """
    spans, bio = [], [OUTSIDE if tag else MISSING for tag in tags]
    for span in decode_spans(tags, untyped=untyped):
        start, end, label = span
        goes_on = start > 0 and not tags[start - 1] and _letter(tags[start]) in GOES_ON
        bio[start:end] = [f"{'I' if goes_on else 'B'}-{label}", *[f"I-{label}"] * (end - start - 1)]
        if not goes_on and (end == len(tags) or tags[end] or _letter(tags[end - 1]) in CLOSES):
            spans.append(span)
    return spans, bio


def _letter(tag: str) -> str:
    return (split_tag(tag) or (OUTSIDE, ""))[0]


def bio_tags(spans: Iterable[Span], tags: Sequence[str], first: int = 0) -> list[str]:
    """BIO tags of spans that do not overlap; "" where the tags are, of any scheme, for the tokens from `first` on."""
    found = [OUTSIDE if tag else MISSING for tag in tags]
    for span in filter(len, spans):  # an empty one would move the others
        inside = [f"I-{span.label_}"] * (len(span) - 1)
        found[span.start - first : span.end - first] = [f"B-{span.label_}", *inside]
    return found


# -- white space ---------------------------------------------------------------------------------------------


def find_spaces(text: str, words: Sequence[str]) -> list[bool]:
    """Whether white space follows each word of a text, True for the last; all True without a match."""
    return find_exact_spaces(text, words) or find_exact_spaces(text, words, BLANKS) or [True] * len(words)


def find_exact_spaces(text: str, words: Sequence[str], blanks: re.Pattern[str] = BLANK) -> list[bool] | None:
    """Whether a space follows each word, True for the last; None if words and these blanks do not make up the text.

    As in spaCy's Docs, it is one blank at most, and all else is in words of its own.
    """
    spaces: list[bool] = []
    position = 0
    for word in words:
        if not text.startswith(word, position):
            return None
        end = position + len(word)
        found = blanks.match(text, end)
        position = found.end() if found else end
        spaces.append(position > end)
    return [*spaces[:-1], True] if position == len(text) else None
