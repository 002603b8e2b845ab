"""Entries as BibTeX. Fields are those of BibTeX and, beyond them, of biblatex."""

from collections.abc import Iterable, Iterator

from .bibtex_names import write_names
from .entry import THESES, Date, Entry, EntryType
from .latex import encode, protect_capitals

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Names of the fields that are plain text, in the order in which they are written.
TEXT_FIELDS = {
    "series": "series",
    "volume": "volume",
    "number": "number",
    "pages": "pages",
    "page_total": "pagetotal",
    "chapter": "chapter",
    "place": "address",
    "genre": "type",
    "edition": "edition",
}
# These are taken as they are by packages that typeset addresses.
VERBATIM_FIELDS = {"doi": "doi", "url": "url", "arxiv": "eprint", "isbn": "isbn"}
PUBLISHERS = {EntryType.TECHREPORT: "institution", **dict.fromkeys(THESES, "school")}


def write_bibtex(entries: Iterable[Entry], unicode: bool = False) -> str:
    """A .bib file.

    Titles keep their capitals by braces (see `latex.protect_capitals`), ranges of pages get two hyphens. A date with a
    day, or a range of dates, is also in the field `date` of biblatex.

    entries (Iterable[Entry]): with distinct keys.
    unicode (bool): leave accents and signs as they are, for BibTeX that is read as UTF-8; without it they are commands
        of LaTeX.
    RETURNS (str): read back by `read_bibtex`.
    """
    return "\n".join(_write(entry, unicode) for entry in entries)


def _write(entry: Entry, unicode: bool) -> str:
    fields = ",\n".join(f"  {name} = {value}" for name, value in _fields(entry, unicode))
    return f"@{entry.type.value}{{{entry.key},\n{fields}\n}}\n"


def _fields(entry: Entry, unicode: bool) -> Iterator[tuple[str, str]]:
    """Names and values with their delimiters; fields without a value are left out."""
    container = "journal" if entry.type is EntryType.ARTICLE else "booktitle"
    publisher = PUBLISHERS.get(entry.type, "publisher")
    head = {
        "author": write_names(entry.authors, unicode),
        "editor": write_names(entry.editors, unicode),
        "title": protect_capitals(entry.title, unicode),
        container: protect_capitals(entry.container, unicode),
    }
    text = {name: encode(getattr(entry, field), unicode) for field, name in TEXT_FIELDS.items()}
    text["pages"] = text["pages"].replace("-", "--")
    text[publisher] = encode(entry.publisher, unicode)
    tail = {name: getattr(entry, field) for field, name in VERBATIM_FIELDS.items()}
    tail["archiveprefix"] = "arXiv" if entry.arxiv else ""
    tail["urldate"] = "" if entry.accessed is None else entry.accessed.iso
    tail["note"] = encode(entry.note, unicode)
    yield from _braced(head)
    if entry.date is not None:
        yield from _date_fields(entry.date)
    yield from _braced({**text, **tail})


def _braced(fields: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, f"{{{value}}}") for name, value in fields.items() if value)


def _date_fields(date: Date) -> Iterator[tuple[str, str]]:
    first, last = date.first, date.last
    until = f"--{last.year}" if last is not None and last.year != first.year else ""
    yield "year", f"{{{first.year}{until}{date.letter}}}"
    if first.month is not None:
        yield "month", MONTHS[first.month - 1]
    if first.day is not None or last is not None:
        yield "date", f"{{{date.iso}}}"
