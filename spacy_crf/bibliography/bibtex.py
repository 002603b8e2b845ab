"""Entries as BibTeX, with fields of BibTeX and biblatex; the format with its strings and comments is read by pybtex."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING

from ..core.errors import CRFError, CRFWarning, required
from ..reading.files import read_shipped
from ..reading.latex import decode, encode, protect_capitals, unescape
from .dates import add_month, date_fields, parse_iso, parse_years
from .entry import (
    OTHERS,
    SURROGATES,
    THESES,
    Date,
    Day,
    Entry,
    EntryType,
    Name,
    Names,
    endings,
    normalise,
    plain_key,
    print_value,
)
from .errors import BibliographyErrors, BibliographyWarnings
from .fields import one_hyphen, report_type
from .identifiers import bare, looks_like_arxiv, quote_braces, take_accessed
from .names import listed_by_commas

if TYPE_CHECKING:
    from .bibtex_syntax import Written

# Names of the fields that are plain text, in the order in which they are written.
TEXT_FIELDS = {
    **{"series": "series", "volume": "volume", "number": "number", "pages": "pages", "page_total": "pagetotal"},
    **{"chapter": "chapter", "place": "address", "genre": "type", "edition": "edition"},
}
# These are taken as they are by packages that typeset addresses.
VERBATIM_FIELDS = {"doi": "doi", "url": "url", "arxiv": "eprint", "isbn": "isbn", "issn": "issn"}
PUBLISHERS = {EntryType.TECHREPORT: "institution", **dict.fromkeys(THESES, "school")}
# Types of other styles, and of biblatex.
TYPES = {
    **{"conference": EntryType.INPROCEEDINGS, "inbook": EntryType.INCOLLECTION, "thesis": EntryType.PHDTHESIS},
    **dict.fromkeys(("proceedings", "collection", "reference", "booklet"), EntryType.BOOK),
    **dict.fromkeys(("mvbook", "mvproceedings", "mvcollection", "mvreference"), EntryType.BOOK),
    **dict.fromkeys(("bookinbook", "suppbook", "suppcollection", "inreference"), EntryType.INCOLLECTION),
    **dict.fromkeys(("report", "manual"), EntryType.TECHREPORT),
    **dict.fromkeys(("review", "suppperiodical"), EntryType.ARTICLE),
    **{kind.value: kind for kind in EntryType},
}
TEXTS = {
    **{name: field for field, name in TEXT_FIELDS.items()},
    **dict.fromkeys(("publisher", *PUBLISHERS.values(), "organization"), "publisher"),
    **{"title": "title", "journal": "container", "booktitle": "container", "journaltitle": "container"},
    **{"note": "note", "invalid": "invalid", "location": "place", "pagetotal": "page_total"},
    **{"issue": "number", "city": "place"},  # as Mendeley has them
}
VERBATIM = {name: field for field, name in VERBATIM_FIELDS.items()}
DATES = ("date", "origdate", "eventdate", "urldate")
ARCHIVES = ("archiveprefix", "eprinttype")  # where an eprint is, in BibTeX and in biblatex
RIVALS = {"publisher", *PUBLISHERS.values(), "organization", "issue", "city"}
# Fields of a book that are not those of its parts
OWN = {
    *("crossref", "key", "doi", "url", "urldate", "eprint", "note", "abstract", "keywords", "file", "pages"),
    *("related", "relatedtype", "relatedstring", "ids", "options", "shorttitle", "groups", "owner", "timestamp"),
}
DATE = {"date", "year", "month"}
MOST_LEVELS = 20  # of entries that name others
Inherited = tuple[dict[str, str], dict[str, list[Name]]]
SUBTITLES = {name.replace("title", "subtitle"): name for name in ("title", "booktitle", "journaltitle")}
GENRES = {"phdthesis": "PhD thesis", "mathesis": "Master's thesis", "bathesis": "Bachelor's thesis"}  # of biblatex
GENRES |= {"techreport": "Technical report", "resreport": "Research report"}
_MACROS = read_shipped(files(__package__) / "journals.txt")  # of astronomers
JOURNALS = {name: full for name, _, full in (line.partition(" ") for line in _MACROS)}
MACRO = re.compile(r"[\s{]*\\([a-z]+)[\s}]*")
NOOP = re.compile(r"\\(?:noop|noopsort|sortnoop)\s*\{[^{}]*\}", re.IGNORECASE)  # what it holds is for sorting alone
UNFIT = re.compile(r"[\s,{}%#\\~]")  # ends a key in a file, or is a command where it is cited
MOST_QUOTED = 300  # characters of what is told of faults


def write_bibtex(entries: Iterable[Entry], unicode: bool = False) -> str:
    """A .bib file of entries; `read_bibtex` reads it back.

    Keys stay, but for characters that would end them (spaces, commas, braces) or be a command of LaTeX; where nothing
    is left, and where two are the same or differ in capitals alone, a new one is made, with letters behind. Titles keep
    their capitals by braces (see `latex.protect_capitals`), ranges of pages get two hyphens. A date with a day, or a
    range of dates, is also in the field `date` of biblatex. Braces and backslashes of identifiers are percent-encoded.

    unicode (bool): leave accents and signs as they are, for BibTeX that is read as UTF-8; without it they are commands.
    """
    written = []
    entries = list(entries)
    for key, entry in zip(_keys(entries), entries):
        fields = ",\n".join(f"  {name} = {value}" for name, value in _fields(entry, unicode))
        written.append(f"@{entry.type.value}{{{key},\n{fields}\n}}\n")
    return "\n".join(written)


def _keys(entries: Sequence[Entry]) -> Iterator[str]:
    """Keys that BibTeX can hold and tells apart; of those that are the same, the first that needs no change stays."""
    cleaned = [UNFIT.sub("", normalise(entry.key)) or plain_key(entry) for entry in entries]
    kept: dict[str, int] = {}
    for place, (key, entry) in enumerate(zip(cleaned, entries)):
        if key == entry.key:
            kept.setdefault(key.lower(), place)
    taken = set(kept)
    endings_of = {key.lower(): chain([""], endings()) for key in cleaned}
    for place, key in enumerate(cleaned):
        if kept.get(key.lower()) != place:
            key = next(own for own in map(key.__add__, endings_of[key.lower()]) if own.lower() not in taken)
            taken.add(key.lower())
        yield key


def _fields(entry: Entry, unicode: bool) -> Iterator[tuple[str, str]]:
    """Names and values with their delimiters; fields without a value are left out."""
    container = "journal" if entry.type is EntryType.ARTICLE else "booktitle"
    publisher = PUBLISHERS.get(entry.type, "publisher")
    head = {
        "author": _write_names(entry.authors, unicode),
        "editor": _write_names(entry.editors, unicode),
        "title": protect_capitals(entry.title, unicode),
        container: protect_capitals(entry.container, unicode),
    }
    text = {name: encode(getattr(entry, field), unicode) for field, name in TEXT_FIELDS.items()}
    text["pages"] = re.sub(r"[^\s,;]+", lambda found: _range(found[0]), text["pages"])
    text[publisher] = encode(entry.publisher, unicode)
    tail = {name: quote_braces(getattr(entry, field)) for field, name in VERBATIM_FIELDS.items()}
    tail["archiveprefix"] = "arXiv" if entry.arxiv else ""
    tail["urldate"] = "" if entry.accessed is None else entry.accessed.iso
    tail["note"] = encode(entry.note, unicode)
    tail["invalid"] = encode(entry.invalid, unicode)
    yield from _braced(head)
    if entry.date is not None:
        yield from date_fields(entry.date)
    yield from _braced({**text, **tail})


def _range(pages: str) -> str:
    """Pages with two hyphens between the first and the last one, and one within these: "A-3--A-7"."""
    parts = pages.split("-")
    if len(parts) % 2:
        return "--".join(parts)
    return "--".join("-".join(half) for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :]))


def _braced(fields: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, f"{{{value}}}") for name, value in fields.items() if value)


def _write_names(names: Names, unicode: bool = False) -> str:
    """Names as "von Last, Jr, First", joined by "and"; those in one part are put in braces, so that they stay whole."""
    return " and ".join(_write_name(name, unicode) for name in names.listed)


def _write_name(name: Name, unicode: bool) -> str:
    if name.is_whole:
        return f"{{{encode(name.family, unicode)}}}" if name != OTHERS else name.family
    # a command for the apostrophe would hide from BibTeX that it is a particle
    particle = name.particle if unicode else re.sub(r"(?<!\w)’", "'", name.particle)
    of_list = bool(listed_by_commas(print_value(Names((name,)))))
    particle, given = (_shielded(part, unicode) for part in (particle, name.given))
    suffix = _shielded(name.suffix, unicode, of_list)
    last = f"{particle} {_shielded(name.family, unicode, of_list, is_family=True)}".strip()
    return ", ".join([last, suffix, given] if suffix else [last, given])


def _shielded(text: str, unicode: bool, of_list: bool = False, is_family: bool = False) -> str:
    """A part of a name; in braces if BibTeX would find another part in it, or another name, as in a list."""
    words = text.split()
    is_lower = is_family and any(not word[0].isupper() for word in words)
    latex, is_apart = encode(text, unicode), is_lower or (of_list and text) or "," in text
    return f"{{{latex}}}" if is_apart or "and" in (word.lower() for word in words) else latex


def read_bibtex(text: str, with_others: bool = True) -> list[Entry]:
    """Entries of a .bib file, in its order, with fields of BibTeX or biblatex; others go to the note, with their names.

    Entries that share a key are all read, with that key. Such keys, fields that an entry has twice (the first counts),
    strings that are not defined (their names count) and errors of syntax (the fields before them count, and the other
    entries) are warned of. An entry without a key has an empty one.

    with_others (bool): whether to keep those others. Most, such as `abstract`, `keywords` and `file`, no list prints.
    RAISES (ImportError): if pybtex or pylatexenc is not installed. RAISES (ValueError): if there is nothing but errors,
    if too many entries do not end, or if strings expand to more than ten million characters.
    """
    with required(BibliographyErrors.CRF642, ImportError):
        from .bibtex_syntax import parse_bibtex
    written, faults = parse_bibtex(SURROGATES.sub("\ufffd", text))
    if faults and not written:
        raise CRFError(BibliographyErrors.CRF643.format(error=faults[0][:MOST_QUOTED]))
    if faults:
        told = "; ".join(faults)
        told = told if len(told) <= MOST_QUOTED else f"{told[:MOST_QUOTED]} .. ({len(faults)} in all)"
        warnings.warn(BibliographyWarnings.CRFW668.format(faults=told), CRFWarning, stacklevel=2)
    library = Library(written)
    return [_read(entry, library, with_others) for entry in written if entry.kind != "xdata"]


def _read(entry: "Written", library: "Library", with_others: bool) -> Entry:
    fields, persons = library.read(entry)
    for subtitle, title in SUBTITLES.items():
        if fields.get(title) and fields.get(subtitle):
            fields[title] = f"{fields[title].rstrip()}: {fields.pop(subtitle)}"
    kind = TYPES.get(entry.kind, EntryType.MISC)
    if "type" in fields and kind in PUBLISHERS:
        fields["type"] = GENRES.get(fields["type"].strip().lower(), fields["type"])
        told = report_type(decode(fields["type"]))
        kind = told if entry.kind == "thesis" and told in THESES else kind
    fields = dict(sorted(fields.items(), key=lambda field: field[0] in RIVALS - {PUBLISHERS.get(kind, "publisher")}))
    date, of_dates = _read_date(fields)
    accessed = parse_iso(fields.get("urldate", ""))
    if accessed is not None and accessed.iso == fields["urldate"]:
        of_dates.add("urldate")
    return Entry(
        type=kind,
        key=normalise(entry.key),
        authors=Names.of(persons.get("author", ())),
        editors=Names.of(persons.get("editor", ())),
        date=date,
        accessed=accessed,
        **_read_texts(fields, of_dates if with_others else fields),
    )


class Library:
    """Written entries, with the fields that they have from `xdata` and from the whole that they are part of."""

    def __init__(self, written: Sequence["Written"]) -> None:
        self._by_key = {entry.key.lower(): entry for entry in reversed(written)}
        self._read: dict[int, Inherited] = {}

    def read(self, entry: "Written", levels: int = MOST_LEVELS) -> Inherited:
        """Return all fields and persons of an entry; what it names that is not there stays a field of its own."""
        if id(entry) not in self._read:
            fields = {name: value for name, value in entry.fields.items() if value}  # programs write empty ones as well
            self._read[id(entry)] = fields, entry.persons  # for entries that name each other
            persons = dict(entry.persons)
            for name in (name for name in ("xdata", "crossref") if name in fields):
                named = [self._by_key.get(key.strip().lower()) for key in fields[name].split(",")]
                others = [one for one in named if one and levels]
                if len(others) == len(named):
                    del fields[name]
                for other in others:
                    theirs, who = self.read(other, levels - 1)
                    shared = theirs if name == "xdata" else _of_whole(theirs, other)
                    not_shared = DATE if "date" in fields or "year" in fields else ()
                    fields |= {
                        name: value for name, value in shared.items() if name not in fields and name not in not_shared
                    }
                    persons = {**who, **persons}
            self._read[id(entry)] = fields, persons
        return self._read[id(entry)]


def _of_whole(fields: Mapping[str, str], whole: "Written") -> dict[str, str]:
    """Fields of a book as its parts have them, which name it as their `crossref`."""
    shared = {name: value for name, value in fields.items() if name not in OWN}
    for name in ("title", "subtitle", "titleaddon"):
        if not whole.fields.get(f"book{name}") and f"book{name}" in shared:  # a volume has it from its work
            shared[f"main{name}"] = shared.pop(f"book{name}")
        shared.setdefault(f"book{name}", shared.pop(name, ""))
    return {name: value for name, value in shared.items() if value}


def _read_texts(fields: Mapping[str, str], read: Iterable[str]) -> dict[str, str]:
    """Fields of text; those without a place of their own and not `read` already are added to the note."""
    values: dict[str, str] = {}
    notes = []
    named = {fields.get(name, "").strip().lower() for name in ARCHIVES} - {""}
    of_arxiv = named == {"arxiv"} or (not named and looks_like_arxiv(unescape(fields.get("eprint", "")).strip()))
    for name, latex in fields.items():
        if name in VERBATIM and (name != "eprint" or of_arxiv):
            values[VERBATIM[name]] = bare(VERBATIM[name], unescape(latex))
        elif name in TEXTS and TEXTS[name] not in values:
            macro = MACRO.fullmatch(latex) if TEXTS[name] == "container" else None
            text = (JOURNALS.get(macro[1], "") if macro else "") or normalise(decode(latex))
            values[TEXTS[name]] = one_hyphen(text) if name == "pages" else text
        elif name not in read and not (name in ARCHIVES and of_arxiv):
            said = latex if name in DATES else decode(latex)  # a tilde there is no space: "1723~" is about 1723
            notes.append(f"{name}: {normalise(said)}")
    return {**values, "note": ". ".join(filter(None, [values.get("note", ""), *notes]))}


def _read_date(fields: Mapping[str, str]) -> tuple[Date | None, set[str]]:
    """The date, by the field `date` if it can be read, and the fields that it says all of."""
    text = fields.get("date", "").strip(" {}")
    month, year = (decode(NOOP.sub("", fields.get(name, ""))).strip() for name in ("month", "year"))
    left = take_accessed(year)[1].strip()
    of_year, cut = parse_years(left)
    date = parse_iso(re.sub("[?~%]|T[^/]*", "", text), of_year.letter if of_year else "")
    date = date or (of_year and add_month(of_year, month)) or (parse_years(text)[0] if text[:1].isalnum() else None)
    if date is None:
        return None, set()
    of_month = add_month(Date(Day(date.first.year)), month)
    said = {"date"} if date.iso == text else set()
    said |= {"year"} if of_year and date.says(of_year) and not cut and left == year else set()
    return date, said | ({"month"} if of_month.first.month and date.says(of_month) else set())
