"""An entry that is being filled, field by field."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .dates import merge_dates, parse_date
from .entry import NOBODY, Date, Names
from .fields import clean, parse_edition, parse_pages, parse_report, parse_volume
from .identifiers import take_accessed, take_identifiers
from .names import parse_names

IN = re.compile(r"^[(\[]?\s*(?:in|ln|dans)\b\s*:?\s+(?=\S)", re.IGNORECASE)
SERIES = re.compile(r"^\(\s*=?\s*|^of\s+")
BY = re.compile(r"^(?:by|bei)\s+(?=the\b|[A-Z])")
STRAY = re.compile(r"^(?:[\"”»]|'')[\s,.;:]+")  # the end of a quotation belongs to the field before
REPEATED = re.compile(r"^[-–—_\s]{2,}[.,:;]*\s*")
ANNOUNCED = re.compile(r"^(?:in|to appear in|available(?: at| from)?|retrieved(?: from)?|doi|url)\W*$", re.IGNORECASE)


@dataclass
class Draft:
    """What is known so far.

    previous (Names): authors of the reference before, for whom a dash may stand. values (dict[str, str]): texts by the
    name of their field; `journal` and `book` are apart. notes (list[str]): what has no place. seen (set[str]): labels.
    """

    previous: Names = NOBODY
    values: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    authors: Names = NOBODY
    editors: Names = NOBODY
    date: Date | None = None
    accessed: Date | None = None

    def add(self, label: str, text: str) -> None:
        """Take in a field. label (str): in upper case; with one that is not known the text goes to the notes."""
        identifiers, rest = take_identifiers(STRAY.sub("", text))
        self.put_all(identifiers)
        if not re.search(r"\w", rest) and not REPEATED.match(rest):
            return
        taker = TAKERS.get(label)
        if taker is None:
            self.add_note(rest)
        else:
            self.seen.add(label)
            taker(self, rest)

    def put_all(self, found: Mapping[str, str]) -> None:
        """Set fields; those that have something else already keep it, and the new text goes to the notes."""
        for name, value in found.items():
            if name == "note" or self.values.get(name, value) != value:
                self.add_note(value)
            elif value:
                self.values[name] = value

    def add_note(self, text: str) -> None:
        """Keep a text that has no place; words that announce something else, and repetitions, are not kept."""
        text = text.strip(" ,;:–—")
        if re.search(r"\w", text) and not ANNOUNCED.match(text) and text not in self.notes:
            self.notes.append(text)

    def take_authors(self, text: str) -> None:
        repeated = REPEATED.match(text)
        if repeated:
            self.authors += self.previous
            text = text[repeated.end() :]
        names, rest = parse_names(text)
        self.authors += names
        self.add_note(rest)

    def take_editors(self, text: str) -> None:
        names, rest = parse_names(text)
        self.editors += names
        self.add_note(rest)

    def take_book(self, text: str) -> None:
        bare = IN.sub("", text)
        is_series = bare == text and (SERIES.match(text) or "book" in self.values)
        self.put_all({"series" if is_series else "book": clean(SERIES.sub("", bare))})

    def take_journal(self, text: str) -> None:
        text = IN.sub("", text).strip(" ,;:")
        is_abbreviated = re.search(r"\w\.\s.*\w\.$", text) is not None
        self.put_all({"journal": text if is_abbreviated else clean(text)})

    def take_date(self, text: str) -> None:
        date, rest = parse_date(text)
        if date is None:
            self._take_part_of_date(text)
            return
        try:
            self.date = merge_dates(self.date, date)
        except ValueError:
            # the year of publication comes last where the day of a meeting is given too
            self.date, first = (date, self.date) if _is_exact(self.date) else (self.date, date)
            self.add_note("" if first is None else first.iso)
        self.add_note(rest)

    def _take_part_of_date(self, text: str) -> None:
        """A month or day on its own belongs to a year given elsewhere."""
        if self.date is not None and self.date.first.month is None and self.date.last is None:
            date, rest = parse_date(f"{text} {self.date.first.year}{self.date.letter}")
            if date is not None and date != self.date and not rest:
                self.date = date
                return
        bare = text.strip(" ,;:()[].")
        self.add_note(f"{bare}." if "." in bare else bare)

    def take_report(self, text: str) -> None:
        found = parse_report(text)
        if "genre" in self.values and "genre" in found:
            self.add_note(clean(text))
        else:
            self.put_all(found)

    def take_note(self, text: str) -> None:
        accessed, text = take_accessed(text)
        if accessed is not None and self.accessed is None:
            self.accessed = accessed
        edition = parse_edition(text)
        if edition and "edition" not in self.values:
            self.values["edition"] = edition
        elif edition or re.search(r"\w", text):
            self.add_note(re.sub(r"^[\s.,;:]+", "", clean(text)))


def _text_taker(name: str) -> Callable[[Draft, str], None]:
    return lambda draft, text: draft.put_all({name: clean(text)})


# What is done with the text of each label.
TAKERS: dict[str, Callable[[Draft, str], None]] = {
    "AUTHOR": Draft.take_authors,
    "EDITOR": Draft.take_editors,
    "TITLE": _text_taker("title"),
    "BOOKTITLE": Draft.take_book,
    "JOURNAL": Draft.take_journal,
    "VOLUME": lambda draft, text: draft.put_all(parse_volume(text)),
    "PAGES": lambda draft, text: draft.put_all(parse_pages(text)),
    "DATE": Draft.take_date,
    "PUBLISHER": lambda draft, text: draft.put_all({"publisher": BY.sub("", clean(text))}),
    "INSTITUTION": _text_taker("publisher"),
    "LOCATION": _text_taker("place"),
    "TECH": Draft.take_report,
    "NOTE": Draft.take_note,
}


def _is_exact(date: Date | None) -> bool:
    return date is not None and date.first.day is not None
