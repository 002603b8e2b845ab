"""BibTeX to entries. The format itself, with its strings, comments and names, is read by pybtex."""

import re
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from ..core.errors import CRFError
from .bibtex import PUBLISHERS, TEXT_FIELDS, VERBATIM_FIELDS
from .bibtex_names import OTHERS
from .dates import month_of
from .entry import Date, Day, Entry, EntryType, Name, Names
from .errors import BibliographyErrors
from .latex import decode

# Types of other styles, and of biblatex.
TYPES = {
    "conference": EntryType.INPROCEEDINGS,
    "inbook": EntryType.INCOLLECTION,
    "proceedings": EntryType.BOOK,
    "collection": EntryType.BOOK,
    "report": EntryType.TECHREPORT,
    "manual": EntryType.TECHREPORT,
    "thesis": EntryType.PHDTHESIS,
    **{kind.value: kind for kind in EntryType},
}
TEXTS = {
    **{name: field for field, name in TEXT_FIELDS.items()},
    **dict.fromkeys(("publisher", *PUBLISHERS.values(), "organization"), "publisher"),
    **{"title": "title", "journal": "container", "booktitle": "container", "journaltitle": "container"},
    **{"note": "note", "location": "place", "pagetotal": "page_total"},
}
VERBATIM = {name: field for field, name in VERBATIM_FIELDS.items()}
OF_DATES = ("date", "year", "month", "urldate")
ISO = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
YEARS = re.compile(r"(\d{4})(?:--(\d{4}))?([a-z]?)")


def read_bibtex(text: str) -> list[Entry]:
    """Entries of a .bib file.

    text (str): BibTeX, with the fields of BibTeX or biblatex. Other fields go to the note, with their names.
    RETURNS (list[Entry]): in the order of the file.
    RAISES (ImportError): if pybtex is not installed. RAISES (ValueError): if the text is not BibTeX.
    """
    database = _pybtex()
    try:
        data = database.parse_string(text, "bibtex")
    except database.PybtexError as error:
        raise CRFError(BibliographyErrors.CRF643.format(error=error)) from error
    return [_read(key, entry) for key, entry in data.entries.items()]


def _pybtex() -> ModuleType:
    try:
        import pybtex.database
    except ImportError as error:
        raise ImportError(BibliographyErrors.CRF642) from error
    return pybtex.database


def _read(key: str, entry: Any) -> Entry:
    fields = {name.lower(): value for name, value in entry.fields.items()}
    date = _read_date(fields)
    return Entry(
        type=TYPES.get(entry.type.lower(), EntryType.MISC),
        key=key,
        authors=_read_names(entry.persons.get("author", ())),
        editors=_read_names(entry.persons.get("editor", ())),
        date=date,
        accessed=_iso_date(fields.get("urldate", "")),
        **_read_texts(fields, OF_DATES if date is not None else ("urldate",)),
    )


def _read_texts(fields: Mapping[str, str], read: Iterable[str]) -> dict[str, str]:
    """Fields of text; those without a place of their own and not `read` already are added to the note."""
    values: dict[str, str] = {}
    notes = []
    of_arxiv = fields.get("archiveprefix", "").lower() in ("", "arxiv")
    for name, latex in fields.items():
        if name in VERBATIM and (name != "eprint" or of_arxiv):
            values[VERBATIM[name]] = latex
        elif name in TEXTS and TEXTS[name] not in values:
            values[TEXTS[name]] = decode(latex.replace("--", "-") if name == "pages" else latex)
        elif name not in read and not (name == "archiveprefix" and of_arxiv):
            notes.append(f"{name}: {decode(latex)}")
    return {**values, "note": ". ".join(filter(None, [values.get("note", ""), *notes]))}


def _read_date(fields: Mapping[str, str]) -> Date | None:
    years = YEARS.fullmatch(fields.get("year", "").strip())
    letter = years[3] if years else ""
    date = _iso_date(fields.get("date", ""), letter)
    if date is not None or years is None:
        return date
    first = Day(int(years[1]), month_of(decode(fields.get("month", ""))))
    return Date(first, Day(int(years[2])) if years[2] else None, letter)


def _iso_date(text: str, letter: str = "") -> Date | None:
    found = [ISO.fullmatch(part) for part in text.split("/")]
    if found[0] is None:
        return None
    first, *last = (Day(*map(int, filter(None, day.groups()))) for day in found if day)
    return Date(first, last[0] if last else None, letter)


def _read_names(persons: Iterable[Any]) -> Names:
    """Names that pybtex has taken apart."""
    names = [_read_name(person) for person in persons]
    others = Name(OTHERS)
    return Names(tuple(name for name in names if name != others), others in names)


def _read_name(person: Any) -> Name:
    given = _plain([*person.first_names, *person.middle_names])
    return Name(_plain(person.last_names), given, _plain(person.prelast_names), _plain(person.lineage_names))


def _plain(words: list[str]) -> str:
    return " ".join(decode(" ".join(words)).split())
