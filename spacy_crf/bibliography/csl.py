"""Entries as CSL-JSON, https://docs.citationstyles.org/en/stable/specification.html."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.errors import CRFError
from .entry import THESES, Date, Day, Entry, EntryType, Name, Names, normalise
from .errors import BibliographyErrors
from .fields import report_type

TYPES = {
    EntryType.ARTICLE: "article-journal",
    EntryType.INPROCEEDINGS: "paper-conference",
    EntryType.INCOLLECTION: "chapter",
    EntryType.BOOK: "book",
    EntryType.TECHREPORT: "report",
    EntryType.PHDTHESIS: "thesis",
    EntryType.MASTERSTHESIS: "thesis",
    EntryType.MISC: "document",
    EntryType.UNPUBLISHED: "manuscript",
}
READ_TYPES = {
    "article-magazine": EntryType.ARTICLE,
    "article-newspaper": EntryType.ARTICLE,
    "entry-encyclopedia": EntryType.INCOLLECTION,
    "entry-dictionary": EntryType.INCOLLECTION,
    **{name: kind for kind, name in TYPES.items()},
}
FIELDS = {
    **{"title": "title", "container": "container-title", "series": "collection-title"},
    **{"pages": "page", "page_total": "number-of-pages", "chapter": "chapter-number"},
    **{"publisher": "publisher", "place": "publisher-place", "genre": "genre", "edition": "edition"},
    **{"doi": "DOI", "url": "URL", "arxiv": "archive_location", "isbn": "ISBN", "issn": "ISSN", "note": "note"},
}
PARTS = {"family": "family", "given": "given", "particle": "non-dropping-particle", "suffix": "suffix"}

Item = dict[str, Any]


def write_csl(entries: Iterable[Entry]) -> str:
    """A CSL-JSON file of entries with distinct keys; `read_csl` reads it back.

    Names in one part are literal, and "et al." is a last name "others". Numbers of reports are in `number`, those of
    issues in `issue`, volumes of a series in `collection-number`; numbers at arXiv in `archive_location`.
    """
    return json.dumps([to_item(entry) for entry in entries], ensure_ascii=False, indent=2) + "\n"


def read_csl(text: str) -> list[Entry]:
    """Entries of a CSL-JSON file, in its order; variables that an entry has no field for are left out.

    Parts of dates that the calendar does not have go to the note. Months from 21 to 24 are seasons.

    RAISES (ValueError): if the text is not a list of items with types and ids.
    """
    try:
        # figures stay as they are written
        items = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
        return [from_item(item) for item in items]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CRFError(BibliographyErrors.CRF644.format(error=error)) from error


def to_item(entry: Entry) -> Item:
    """An entry as an item of CSL-JSON; variables without a value are left out."""
    item: Item = {"id": entry.key, "type": TYPES[entry.type]}
    item |= {role: [_write_name(name) for name in getattr(entry, f"{role}s").listed] for role in ("author", "editor")}
    item |= {name: getattr(entry, field) for field, name in FIELDS.items()}
    item[_volume_name(item)] = entry.volume
    item[_number_name(item)] = entry.number
    item["archive"] = "arXiv" if entry.arxiv else ""
    item["issued"] = _write_date(entry.date)
    item["accessed"] = _write_date(entry.accessed)
    item["year-suffix"] = "" if entry.date is None else entry.date.letter
    return {name: value for name, value in item.items() if value or name in ("id", "type")}


def from_item(item: Item) -> Entry:
    """An entry of an item of CSL-JSON."""
    kind = READ_TYPES.get(str(item["type"]), EntryType.MISC)
    texts = {name: _read_text(value) for name, value in item.items()}
    values = {field: texts[name] for field, name in FIELDS.items() if name in texts}
    if kind in THESES:
        found = report_type(values.get("genre", ""))
        kind = found if found in THESES else EntryType.PHDTHESIS
    if texts.get("archive") != "arXiv":
        values.pop("arxiv", None)
    dates = {name: _read_days(item.get(name)) for name in ("issued", "accessed")}
    odd = [f"{name}: {printed}" for name, (_, printed) in dates.items() if printed]
    issued, accessed = (days for days, _ in dates.values())
    return Entry(
        type=kind,
        key=_read_text(item["id"]),
        authors=_read_names(item.get("author", [])),
        editors=_read_names(item.get("editor", [])),
        volume=texts.get(_volume_name(item), ""),
        number=texts.get(_number_name(item), ""),
        date=Date.of(issued, texts.get("year-suffix", "")) if issued else None,
        accessed=Date.of(accessed) if accessed else None,
        **{**values, "note": ". ".join(filter(None, [values.get("note", ""), *odd]))},
    )


def _read_text(value: object) -> str:
    """A text or a number, or several; anything else is no text."""
    if isinstance(value, list):
        return "; ".join(filter(None, (_read_text(part) for part in value if not isinstance(part, list))))
    return normalise(value) if isinstance(value, str) else ""


def _volume_name(item: Mapping[str, Any]) -> str:
    """Volumes are counted within the series, if there is one and no journal."""
    return "collection-number" if item.get("collection-title") and item["type"] != "article-journal" else "volume"


def _number_name(item: Mapping[str, Any]) -> str:
    return "issue" if READ_TYPES.get(item["type"]) is EntryType.ARTICLE else "number"


def _write_name(name: Name) -> dict[str, str]:
    if name.is_whole:
        return {"literal": name.family}
    return {part: getattr(name, field) for field, part in PARTS.items() if getattr(name, field)}


def _read_names(names: object) -> Names:
    return Names.of(map(_read_name, names if isinstance(names, list) else [names]))


def _read_name(name: Mapping[str, object] | str) -> Name:
    if isinstance(name, str):
        return Name(normalise(name))
    if "literal" in name:
        return Name(_read_text(name["literal"]))
    parts = {field: _read_text(name.get(part)) for field, part in PARTS.items()}
    parts["particle"] = parts["particle"] or _read_text(name.get("dropping-particle"))
    return Name(**parts) if parts["family"] else Name(" ".join(filter(None, parts.values())))


def _write_date(date: Date | None) -> dict[str, list[list[int]]] | None:
    if date is None:
        return None
    return {"date-parts": [list(day.parts) for day in (date.first, date.last) if day is not None]}


def _read_days(date: object) -> tuple[list[Day], str]:
    """One day or two of a date, and its parts as they are printed if the calendar does not have them all."""
    parts = date.get("date-parts") if isinstance(date, dict) else None
    listed = [list(map(_read_text, day)) for day in parts or () if isinstance(day, list)][:2]
    if isinstance(date, dict) and len(listed) == 1 and len(listed[0]) == 1:
        listed[0] += [_season(_read_text(date.get("season")))]
    printed = [[part for part in day if part] for day in listed]
    days = [day for day in map(Day.of, printed) if day is not None]
    if [[str(part) for part in day.parts] for day in days] == [[part.lstrip("0") for part in day] for day in printed]:
        return days, ""
    return days, "/".join("-".join(day) for day in printed)


def _season(number: str) -> str:
    """Month of a season from 1 to 4."""
    return f"2{number}" if number in ("1", "2", "3", "4") else number
