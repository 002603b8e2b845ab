"""References with tagged fields as gold: each token has the label of its field.

Cora (McCallum et al., Information Retrieval 3, 2000) and ParsCit write `<author> A. Lee. </author> <title> On ..`, one
reference per line or between lines `<NEWREFERENCE>`. ParsCit and AnyStyle also have XML: a `<sequence>` of fields for
each reference, in a `<dataset>`. Fields do not nest. Others have `word<TAB>label` lines, and a blank line behind each
reference: as "_" is a label that is not known, a field may end in such words or go on. A faulty reference is left out
with a warning that names file and line; the others go on.
"""

import itertools
import re
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..core.errors import CRFWarning
from ..reading.files import first_line, read_blocks, read_lines
from ..reading.xml import XmlReader
from .block import TOKEN, ReferenceSettings
from .errors import CorpusWarnings
from .files import data_suffix
from .sentence import ENTITIES, EXTENSION_PREFIX, MISSING, SPANS_PREFIX, Sentence

GAP = "gap"
TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)>")
LETTER_OR_DIGIT = re.compile(r"[^\W_]")
SEQUENCE = "sequence"
NEW_REFERENCE = "<NEWREFERENCE>"
# What the first line of tagged references, and of their XML, begins with
FIRST_LINE = re.compile(r"\s*(<newreference>|<(?P<field>[a-z][\w-]*)>.*</(?P=field)>)", re.IGNORECASE)
LABELLED_WORD = re.compile(r"[^\s<]\S*(\t[^\s<]*)+\s*$")  # the first line where each line is a word and its label
UNKNOWN = "_"  # label of words without one
ROOT = re.compile(r"<(dataset|sequence)\b")
# Whether a span begins and ends at a token, and the letter of its tag
LETTERS = {(True, True): "U", (True, False): "B", (False, False): "I", (False, True): "L"}
HEAD = 20  # lines in which the root of an XML file is


class Field(NamedTuple):
    """A piece of a reference, and its label in upper case; "" for text outside of fields, "_" for words that may be of
    the fields beside them."""

    label: str
    text: str


def _is_border(fields: Sequence[Field]) -> bool:
    """Whether a span is known to end between the first of some adjacent fields and the last."""
    return len(fields) > 1 and not any(field.label == UNKNOWN for field in fields)


class _Event(NamedTuple):
    """A piece of markup: the name of a field that opens or closes, or text where there is no name."""

    name: str
    closes: bool
    text: str


class _Fault(ValueError):
    """Why a reference cannot be read."""


# The number of the first line of a reference, and what finds its fields, given the names of all
_Reference = tuple[int, Callable[[Container[str]], list[Field]]]


class _Token(NamedTuple):
    """A token of a reference: its offsets in the text, and the number of its field."""

    start: int
    end: int
    field: int


def is_references(path: Path) -> bool:
    """Whether a file begins as tagged references do, or, if it is XML, has their root."""
    if data_suffix(path) == ".xml":
        return any(map(ROOT.search, itertools.islice(read_lines(path), HEAD)))
    return FIRST_LINE.match(first_line(path)) is not None


def read_references(path: Path, references: ReferenceSettings | None = None) -> Iterator[Sentence]:
    """Yield tagged references, each of which is one document and one sequence.

    A token is a maximal run of letters and digits, or one other character. Runs of white space count as one space, so
    the text of the Doc is that of the reference. Tokens outside of fields have no gold.
    """
    settings = references or ReferenceSettings()
    sentences = (_make_sentence(fields, settings) for fields in _read_fields(path, settings.known))
    yield from (sentence for sentence in sentences if sentence.words)


def _make_sentence(fields: Sequence[Field], settings: ReferenceSettings) -> Sentence:
    text = "".join(field.text for field in fields)
    starts = itertools.accumulate((len(field.text) for field in fields), initial=0)
    tokens = [
        _Token(start + match.start(), start + match.end(), number)
        for number, (field, start) in enumerate(zip(fields, starts))
        for match in TOKEN.finditer(field.text)
    ]
    if not settings.punctuation:
        tokens = [token for token in tokens if LETTER_OR_DIGIT.match(text, token.start)]
    words = [text[token.start : token.end] for token in tokens]
    gaps = [text[before.end : token.start] for before, token in itertools.pairwise(tokens)]
    # marks that are left out leave a space
    spaces = [gap != "" for gap in gaps] + [False] * bool(tokens)
    labels = [MISSING if field.label == UNKNOWN else field.label for field in fields]
    columns = {"tag": [labels[token.field] for token in tokens]}
    if settings.ents or settings.spans_key:
        # a span begins and ends where its field does
        inner = [_is_border(fields[one.field : other.field + 1]) for one, other in itertools.pairwise(tokens)]
        letters = [LETTERS[pair] for pair in itertools.pairwise([True, *inner, True])]
        spans = [f"{letter}-{label}" if label else MISSING for letter, label in zip(letters, columns["tag"])]
        columns |= {ENTITIES: spans} if settings.ents else {}
        columns |= {f"{SPANS_PREFIX}{settings.spans_key}": spans} if settings.spans_key else {}
    if not settings.punctuation:
        lead = text[: tokens[0].start] if tokens else ""
        columns[f"{EXTENSION_PREFIX}{GAP}"] = [" ".join(gap.split()) for gap in (lead, *gaps)]
    return Sentence(words, columns, spaces, starts_document=True)


def _read_fields(path: Path, known: Container[str]) -> Iterator[list[Field]]:
    """Yield the fields of each reference of a file of text, words or XML; faulty ones are left out with a warning."""
    for line, find in _read_any(path):
        try:
            yield find(known)
        except _Fault as fault:
            warnings.warn(CorpusWarnings.CRFW560.format(path=path, line=line, fault=fault), CRFWarning, stacklevel=2)


def _read_any(path: Path) -> Iterable[_Reference]:
    if data_suffix(path) == ".xml" or next(read_lines(path), "").startswith("<?xml"):
        return ((line, partial(_assemble, events)) for line, events in _MarkupParser(path).read().found)
    if LABELLED_WORD.match(first_line(path)):
        return ((line, partial(_join_words, rows)) for line, rows in read_blocks(path))
    return ((line, partial(_assemble, events)) for line, events in _read_text(path))


def _join_words(lines: Sequence[str], known: Container[str]) -> list[Field]:
    """The fields of a reference of labelled words; adjacent words of one label are one field."""
    words, labels = zip(*map(_split_row, lines))
    for label in filter(UNKNOWN.__ne__, labels):
        _check_name(label, known)
    runs = itertools.groupby(zip(labels, words), lambda pair: pair[0])
    return [Field(label, "".join(f"{word} " for _, word in run)) for label, run in runs]


def _split_row(line: str) -> tuple[str, str]:
    columns = line.strip(" ").split("\t")
    if len(columns) != 2:
        raise _Fault(f"{line!r} is no word with its label")
    word, label = columns
    return word, label.upper() or UNKNOWN


def _assemble(events: Iterable[_Event], known: Container[str]) -> list[Field]:
    """The fields of a reference. Marks behind a field belong to it: Cora has `</pages>.` where it means `.</pages>`."""
    fields: list[tuple[str, list[str]]] = []  # labels, and pieces of text
    opened, events = "", list(events)
    text, tab, label = "".join(event.text for event in events).rpartition("\t")
    if tab and label.strip().upper() in known and not any(event.name for event in events):
        raise _Fault(f"{text + tab + label!r} is no word with its label")  # in a file that does not begin with one
    for name, closes, text in events:
        if name:
            _check_tag(name, closes, opened, known)
            opened = "" if closes else name
            if not closes:
                fields.append((name.upper(), []))
        elif opened or (fields and not LETTER_OR_DIGIT.search(text)):
            fields[-1][1].append(text)
        else:
            fields.append((MISSING, [text]))
    if opened:
        raise _Fault(f"<{opened}> is not closed")
    return [Field(label, "".join(pieces)) for label, pieces in fields]


def _check_tag(name: str, closes: bool, opened: str, known: Container[str]) -> None:
    """Raise a fault for a tag of no field, and for one that cannot stand in the field that is open."""
    _check_name(name, known)
    if closes and name != opened:
        raise _Fault(f"</{name}> closes {f'<{opened}>' if opened else 'nothing'}")
    if opened and not closes:
        raise _Fault(f"<{name}> is in <{opened}>")


def _check_name(name: str, known: Container[str]) -> None:
    if name.upper() not in known:
        raise _Fault(f"there is no field <{name}>")


def _read_text(path: Path) -> Iterator[tuple[int, Iterator[_Event]]]:
    """The number of the first line of each reference, and its markup."""
    first, pending, is_marked = 0, list[str](), False
    for number, line in enumerate(read_lines(path), 1):
        rest = line.strip()
        starts = rest[: len(NEW_REFERENCE)].upper() == NEW_REFERENCE
        is_marked = is_marked or starts
        rest = rest[len(NEW_REFERENCE) :] if starts else rest
        if pending and (starts or not is_marked):
            yield first, _split_line(" ".join(pending))
            pending = []
        if rest:
            first = first if pending else number
            pending.append(rest)
    if pending:
        yield first, _split_line(" ".join(pending))


def _split_line(text: str) -> Iterator[_Event]:
    pieces = TAG.split(text)  # text, then a slash or none, a name, and text, for each tag
    for piece, slash, name in zip(pieces[::3], [*pieces[1::3], ""], [*pieces[2::3], ""]):
        if piece:
            yield _Event("", False, piece)
        if name:
            yield _Event(name, bool(slash), "")


class _MarkupParser(XmlReader):
    """Collects the markup of the references of an XML file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.found: list[tuple[int, list[_Event]]] = []
        self.is_inside = False
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self._read_text

    def _start(self, element: str, _: dict[str, str]) -> None:
        if self.is_inside:
            self.found[-1][1].append(_Event(element, False, ""))
        elif element == SEQUENCE:
            self.found.append((self.expat.CurrentLineNumber, []))
            self.is_inside = True

    def _end(self, element: str) -> None:
        if element == SEQUENCE:
            self.is_inside = False
        elif self.is_inside:
            self.found[-1][1].append(_Event(element, True, ""))

    def _read_text(self, text: str) -> None:
        if self.is_inside:
            self.found[-1][1].append(_Event("", False, text))
