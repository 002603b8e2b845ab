"""The markup of references with tagged fields, as lines of text and as XML.

Cora (McCallum et al., Information Retrieval 3, 2000) and ParsCit write `<author> A. Lee. </author> <title> On ..`, one
reference per line or between lines `<NEWREFERENCE>`. ParsCit and AnyStyle also have XML: a `<sequence>` of fields for
each reference, in a `<dataset>`. Fields do not nest. A reference with faulty markup is left out with a warning that
names file and line; the others go on.
"""

import re
import warnings
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..core.errors import CRFWarning
from .errors import CorpusWarnings
from .files import NEW_REFERENCE, has_xml
from .text import read_lines
from .xml_events import XmlReader

TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)>")
LETTER_OR_DIGIT = re.compile(r"[^\W_]")
UNLABELLED = ""
SEQUENCE = "sequence"


class Field(NamedTuple):
    """A piece of a reference, and its label in upper case; "" for text outside of fields."""

    label: str
    text: str


class Reference(NamedTuple):
    """A tagged reference: its fields in order, and the line it begins in."""

    line: int
    fields: list[Field]


class _Event(NamedTuple):
    """A piece of markup: the name of a field that opens or closes, or text where there is no name."""

    name: str
    closes: bool
    text: str


class _Fault(ValueError):
    """Why a reference cannot be read."""


def read_markup(path: Path, known: Container[str]) -> Iterator[Reference]:
    """Yield the references of a file, in whichever of the two kinds of markup it is.

    path (Path): The file. known (Container[str]): Names of fields, in upper case.
    YIELDS (Reference): One reference. Faulty ones are left out, with the warning CRFW560.
    RAISES (ValueError): For XML that is malformed or has a document type.
    """
    marked = _Parser(path).parse() if has_xml(path) else _read_text(path)
    for line, events in marked:
        try:
            fields = _assemble(events, known)
        except _Fault as fault:
            warnings.warn(CorpusWarnings.CRFW560.format(path=path, line=line, fault=fault), CRFWarning, stacklevel=2)
        else:
            yield Reference(line, fields)


def _assemble(events: Iterable[_Event], known: Container[str]) -> list[Field]:
    """The fields of a reference. Marks behind a field belong to it: Cora has `</pages>.` where it means `.</pages>`."""
    fields: list[Field] = []
    opened = ""
    for name, closes, text in events:
        if name:
            _check_tag(name, closes, opened, known)
            opened = "" if closes else name
            if not closes:
                fields.append(Field(name.upper(), ""))
        elif opened or (fields and not LETTER_OR_DIGIT.search(text)):
            fields[-1] = Field(fields[-1].label, fields[-1].text + text)
        else:
            fields.append(Field(UNLABELLED, text))
    if opened:
        raise _Fault(f"<{opened}> is not closed")
    return fields


def _check_tag(name: str, closes: bool, opened: str, known: Container[str]) -> None:
    """Raise a fault for a tag of no field, and for one that cannot stand in the field that is open."""
    if name.upper() not in known:
        raise _Fault(f"there is no field <{name}>")
    if closes and name != opened:
        raise _Fault(f"</{name}> closes {f'<{opened}>' if opened else 'nothing'}")
    if opened and not closes:
        raise _Fault(f"<{name}> is in <{opened}>")


def _read_text(path: Path) -> Iterator[tuple[int, Iterator[_Event]]]:
    """The number of the first line of each reference, and its markup."""
    first, pending, is_marked = 0, "", False
    for number, line in enumerate(read_lines(path), 1):
        rest = line.strip()
        starts = rest[: len(NEW_REFERENCE)].upper() == NEW_REFERENCE
        is_marked = is_marked or starts
        rest = rest[len(NEW_REFERENCE) :] if starts else rest
        if pending and (starts or not is_marked):
            yield first, _split_line(pending)
            pending = ""
        if rest:
            first = first if pending else number
            pending = f"{pending} {rest}" if pending else rest
    if pending:
        yield first, _split_line(pending)


def _split_line(text: str) -> Iterator[_Event]:
    end = 0
    for tag in TAG.finditer(text):
        if tag.start() > end:
            yield _Event("", False, text[end : tag.start()])
        yield _Event(tag[2], bool(tag[1]), "")
        end = tag.end()
    if end < len(text):
        yield _Event("", False, text[end:])


class _Parser(XmlReader):
    """Collects the markup of the references of an XML file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.found: list[tuple[int, list[_Event]]] = []
        self.is_inside = False
        self.expat.buffer_text = True
        self.expat.StartElementHandler = self._start
        self.expat.EndElementHandler = self._end
        self.expat.CharacterDataHandler = self._read_text

    def parse(self) -> list[tuple[int, list[_Event]]]:
        self.read()
        return self.found

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
