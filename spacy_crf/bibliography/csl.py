"""Entries as CSL-JSON, https://docs.citationstyles.org/en/stable/specification.html."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..core.errors import CRFError
from ..reading.figures import shift_figures
from .dates import parse_date, parse_iso
from .entry import THESES, Date, Day, Entry, EntryType, Name, Names, normalise
from .errors import BibliographyErrors
from .fields import one_hyphen, report_type
from .identifiers import bare, quote_braces

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
    **dict.fromkeys(("review", "review-book"), EntryType.ARTICLE),
    "entry-encyclopedia": EntryType.INCOLLECTION,
    "entry-dictionary": EntryType.INCOLLECTION,
    **{name: kind for kind, name in TYPES.items()},
    # of Crossref, whose items are CSL but for their types
    **{"journal-article": EntryType.ARTICLE, "proceedings-article": EntryType.INPROCEEDINGS},
    **dict.fromkeys(("book-chapter", "book-section", "reference-entry"), EntryType.INCOLLECTION),
    **dict.fromkeys(("monograph", "edited-book", "reference-book", "proceedings"), EntryType.BOOK),
    "dissertation": EntryType.PHDTHESIS,
}
FIELDS = {
    **{"title": "title", "container": "container-title", "series": "collection-title"},
    **{"pages": "page", "page_total": "number-of-pages", "chapter": "chapter-number"},
    **{"publisher": "publisher", "place": "publisher-place", "genre": "genre", "edition": "edition"},
    **{"doi": "DOI", "url": "URL", "arxiv": "archive_location", "isbn": "ISBN", "issn": "ISSN", "note": "note"},
}
MARKUP = re.compile(r"</?(?:[bi]|sc|sub|sup|span(?: [^<>]{0,200})?)>")  # that texts may have
NO_MARKUP = re.compile("(?!)")  # signs of identifiers are their own
IDENTIFIERS = ("doi", "url", "arxiv", "isbn", "issn")
ADDRESSES = tuple(FIELDS[name] for name in IDENTIFIERS)
SEASON_NUMBERS = ("1", "2", "3", "4")
PARTS = {"family": "family", "given": "given", "particle": "non-dropping-particle", "suffix": "suffix"}

Item = dict[str, Any]


def write_csl(entries: Iterable[Entry]) -> str:
    """A CSL-JSON file of entries with distinct keys; `read_csl` reads it back.

    Names in one part are literal, and "et al." is a last name "others". Numbers of reports are in `number`, those of
    issues in `issue`, volumes of a series in `collection-number`; numbers at arXiv in `archive_location`. What is
    said of identifiers that cannot be right is in `custom`.
    """
    return json.dumps([to_item(entry) for entry in entries], ensure_ascii=False, indent=2) + "\n"


def read_csl(text: str) -> list[Entry]:
    """Entries of a CSL-JSON file, in its order; variables that an entry has no field for are left out.

    It is a list of items, or one item, as services that look up a DOI give it; those often have no id, and the entry
    then has an empty key.

    Dates may be texts. What a date says besides goes to the note, as do parts that the calendar does not have. Months
    from 21 to 24 are seasons. Mark-up, such as <i>, is left out of all but identifiers. There braces and backslashes,
    which BibTeX could not hold, are percent-encoded.

    RAISES (ValueError): if the text is not a list of items with types.
    """
    try:
        return [from_item(item) for item in _load(text)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CRFError(BibliographyErrors.CRF644.format(error=error)) from error


def read_items(text: str) -> list[Item]:
    """Items of a CSL-JSON file with all variables that they have, as `read_csl` reads these: texts without mark-up,
    dates by their parts, names that say something. RAISES (ValueError): as `read_csl` does."""
    read_csl(text)
    return [_as_read(item) for item in _load(text)]


def _load(text: str) -> list[Item]:
    """Items, whose figures stay as they are written."""
    found = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    return [{"id": "", **item} for item in ([found] if isinstance(found, dict) else found)]


def _as_read(item: Item) -> Item:
    found: Item = {}
    for name, value in item.items():
        if isinstance(value, list) and any(isinstance(part, dict) for part in value):
            found[name] = [parts for one in value if (parts := _as_named(one))]
        elif isinstance(value, dict):
            found[name] = _as_dated(value)
        else:
            found[name] = _read_text(value, NO_MARKUP if name in ADDRESSES else MARKUP)
    return {name: value for name, value in found.items() if value or name in ("id", "type")}


def _as_named(name: Mapping[str, object] | str) -> dict[str, str]:
    """The parts of a name; a particle that some styles print behind the given names stays apart."""
    read = _read_name(name)
    if isinstance(name, str) or read.is_whole or not (dropped := _read_text(name.get("dropping-particle"))):
        return _write_name(read) if read.family else {}
    parts = {part: text for part in PARTS.values() if (text := _read_text(name.get(part)))}
    return {**parts, "dropping-particle": dropped}


def _as_dated(value: Mapping[str, object]) -> Item:
    """The parts of a date, or else its text; styles have words for seasons and for rough dates."""
    season = _read_text(value.get("season"))
    is_season = season in SEASON_NUMBERS
    date, printed = _read_date({**value, "season": ""} if is_season else value)
    found: Item = _write_date(date) or ({"literal": printed} if printed else {})
    if found and is_season:
        found["season"] = int(season)
    return {**found, "circa": True} if found and _is_rough(value) else found


def to_item(entry: Entry) -> Item:
    """An entry as an item of CSL-JSON; variables without a value are left out."""
    item: Item = {"id": entry.key, "type": TYPES[entry.type]}
    item |= {role: [_write_name(name) for name in getattr(entry, f"{role}s").listed] for role in ("author", "editor")}
    item |= {name: getattr(entry, field) for field, name in FIELDS.items()}
    item[_volume_names(item)[0]] = entry.volume
    item[_number_names(item)[0]] = entry.number
    item["archive"] = "arXiv" if entry.arxiv else ""
    item["issued"] = _write_date(entry.date)
    item["accessed"] = _write_date(entry.accessed)
    item["custom"] = {"invalid": entry.invalid} if entry.invalid else {}
    item["year-suffix"] = "" if entry.date is None else entry.date.letter
    return {name: value for name, value in item.items() if value or name in ("id", "type")}


def from_item(item: Item) -> Entry:
    """An entry of an item of CSL-JSON."""
    kind = READ_TYPES.get(str(item["type"]), EntryType.MISC)
    texts = {name: _read_text(value) for name, value in item.items()}
    values = {field: texts[name] for field, name in FIELDS.items() if name in texts}
    values |= {field: quote_braces(_read_text(item.get(FIELDS[field]), NO_MARKUP)) for field in IDENTIFIERS}
    values |= {field: bare(field, values[field]) for field in ("doi", "arxiv")}
    values["pages"] = one_hyphen(values.get("pages", ""))
    if kind in THESES:
        found = report_type(values.get("genre", ""))
        kind = found if found in THESES else EntryType.PHDTHESIS
    if texts.get("archive") != "arXiv":
        values.pop("arxiv", None)
    volume, other_volumes = _read_first(texts, _volume_names(item))
    number, other_numbers = _read_first(texts, _number_names(item))
    dates = {name: _read_date(item.get(name)) for name in ("issued", "accessed")}
    odd_dates = [f"{name}: {printed}" for name, (_, printed) in dates.items() if printed]
    issued, accessed = (date for date, _ in dates.values())
    notes = filter(None, [values.get("note", ""), *other_volumes, *other_numbers, *odd_dates])
    return Entry(
        type=kind,
        key=_read_text(item["id"]),
        authors=_read_names(item.get("author", [])),
        editors=_read_names(item.get("editor", [])),
        volume=volume,
        number=number,
        date=issued and replace(issued, letter=texts.get("year-suffix") or issued.letter),
        accessed=accessed,
        invalid=_read_text(_read_custom(item).get("invalid", "")),
        **{**values, "note": ". ".join(notes)},
    )


def _read_custom(item: Item) -> Mapping[str, object]:
    """Return variables that are no part of CSL, which other programs put here too."""
    custom = item.get("custom")
    return custom if isinstance(custom, dict) else {}


def _read_text(value: object, markup: re.Pattern[str] = MARKUP) -> str:
    """A text or a number, or several, without their mark-up; anything else is no text."""
    if isinstance(value, list):
        return "; ".join(filter(None, (_read_text(part, markup) for part in value if not isinstance(part, list))))
    return normalise(markup.sub("", shift_figures(value))) if isinstance(value, str) else ""


def _read_first(texts: Mapping[str, str], names: Iterable[str]) -> tuple[str, list[str]]:
    """The text of the first variable that has one, and those of the others with their names."""
    found = [(name, texts[name]) for name in names if texts.get(name)]
    return found[0][1] if found else "", [f"{name}: {text}" for name, text in found[1:]]


def _volume_names(item: Mapping[str, Any]) -> tuple[str, str]:
    """The variable that counts volumes, of the series if there is one and no journal, and the one to fall back on."""
    is_of_series = item.get("collection-title") and READ_TYPES.get(item["type"]) is not EntryType.ARTICLE
    return ("collection-number", "volume") if is_of_series else ("volume", "collection-number")


def _number_names(item: Mapping[str, Any]) -> tuple[str, str]:
    return ("issue", "number") if READ_TYPES.get(item["type"]) is EntryType.ARTICLE else ("number", "issue")


def _write_name(name: Name) -> dict[str, str]:
    if name.is_whole:
        return {"literal": name.family}
    return {part: getattr(name, field) for field, part in PARTS.items() if getattr(name, field)}


def _read_names(names: object) -> Names:
    found = map(_read_name, names if isinstance(names, list) else [names])
    return Names.of(name for name in found if name.family)


def _read_name(name: Mapping[str, object] | str) -> Name:
    if isinstance(name, str):
        return Name(normalise(name))
    if "literal" in name:
        return Name(_read_text(name["literal"]))
    if name.keys() & {"name", "family", "given"} == {"name"}:  # a body, as Crossref has it
        return Name(_read_text(name["name"]))
    parts = {field: _read_text(name.get(part)) for field, part in PARTS.items()}
    parts["particle"] = f"{_read_text(name.get('dropping-particle'))} {parts['particle']}".strip()
    return Name(**parts) if parts["family"] else Name(" ".join(filter(None, parts.values())))


def _write_date(date: Date | None) -> Item | None:
    if date is None:
        return None
    return {"date-parts": [list(day.parts) for day in (date.first, date.last) if day is not None]}


def _read_date(date: object) -> tuple[Date | None, str]:
    """A date by its parts, or else by its text, and how it is printed if that says more."""
    values = date if isinstance(date, dict) else {"raw": date if isinstance(date, str) else ""}
    days, printed = _read_days(values)
    if days or printed:
        read = Date.of(days) if days else None
        said = (_read_text(values.get(name)) for name in ("literal", "raw"))
        more = [text for text in said if text and parse_date(text) != (read, "") and parse_iso(text) != read]
        return read, ", ".join(filter(None, [printed, "circa" if _is_rough(values) else "", *more]))
    text = _read_text(values.get("raw")) or _read_text(values.get("literal"))
    exact = parse_iso(text)
    if exact is not None and exact.iso == text:
        return exact, ""
    found, rest = parse_date(text)
    return found, text if rest or found is None else ""


def _is_rough(date: Mapping[str, object]) -> bool:
    return date.get("circa") not in (None, False, "", "0", "false")


def _read_days(date: Mapping[str, object]) -> tuple[list[Day], str]:
    """One day or two of a date, and its parts as they are printed if the calendar does not have them all."""
    given = date.get("date-parts")
    parts = given if isinstance(given, list) else []
    if parts and not any(isinstance(day, list) for day in parts):
        parts = [parts]  # one day, as some programs write it
    listed = [list(map(_read_text, day)) for day in parts if isinstance(day, list) and day]
    if len(listed) == 1 and len(listed[0]) == 1:
        listed[0] += [_season(_read_text(date.get("season")))]
    printed = [[part for part in day if part] for day in listed]
    days = [day for day in map(Day.of, printed[:2]) if day is not None]
    read = [[str(part) for part in day.parts] for day in days]
    goes_down = len(days) == 2 and days[0].is_after(days[1])
    if not goes_down and read == [[part.lstrip("0") for part in day] for day in printed]:
        return days, ""
    return days, "/".join("-".join(day) for day in printed)


def _season(number: str) -> str:
    """Month of a season from 1 to 4."""
    return f"2{number}" if number in SEASON_NUMBERS else number
