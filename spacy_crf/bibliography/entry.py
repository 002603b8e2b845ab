"""Entries: what a reference says, in typed fields, and the key to cite it by."""

import re
import unicodedata
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, product
from string import ascii_lowercase

from ..core.errors import CRFError
from .errors import BibliographyErrors


class EntryType(StrEnum):
    """Types of BibTeX."""

    ARTICLE = "article"
    INPROCEEDINGS = "inproceedings"
    INCOLLECTION = "incollection"
    BOOK = "book"
    TECHREPORT = "techreport"
    PHDTHESIS = "phdthesis"
    MASTERSTHESIS = "mastersthesis"
    MISC = "misc"
    UNPUBLISHED = "unpublished"


THESES = {EntryType.PHDTHESIS: "PhD thesis", EntryType.MASTERSTHESIS: "Master's thesis"}


@dataclass(frozen=True)
class Name:
    """A person or a body. One with a family name alone is printed as it is, whether body or person.

    family (str): or the whole name of a body. given (str): names or initials. particle (str): small words before the
    family name, such as "van der". suffix (str): such as "Jr." or "III".
    """

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the name has no parts."""
        return not (self.given or self.particle or self.suffix)


OTHERS = Name("others")  # stands for "et al." in files


@dataclass(frozen=True)
class Names:
    """A list of names. others (bool): whether more are meant, as by "et al."."""

    names: tuple[Name, ...] = ()
    others: bool = False

    @classmethod
    def of(cls, listed: Iterable[Name]) -> "Names":
        """The inverse of `listed`."""
        found = tuple(listed)
        return cls(tuple(name for name in found if name != OTHERS), OTHERS in found)

    @property
    def listed(self) -> tuple[Name, ...]:
        """Names as files have them, with OTHERS at the end if more are meant."""
        return (*self.names, OTHERS) if self.others else self.names

    def __bool__(self) -> bool:
        return bool(self.names) or self.others

    def __add__(self, more: "Names") -> "Names":
        return Names(self.names + more.names, self.others or more.others)


NOBODY = Names()


FIGURES = re.compile(r"\s*\d{1,4}\s*", re.ASCII)
SEASONS = {21: "Spring", 22: "Summer", 23: "Autumn", 24: "Winter"}


@dataclass(frozen=True)
class Day:
    """A year, a month or a day, from 1; what is not known is None. A day comes only with a month.

    Days are those of the Gregorian calendar, as in ISO 8601, whenever it came into use. Months from 21 to 24 are
    spring, summer, autumn and winter, as in ISO 8601-2; they have no days.

    RAISES (ValueError): for a year, month or day that the calendar does not have.
    """

    year: int
    month: int | None = None
    day: int | None = None

    def __post_init__(self) -> None:
        is_year = 1 <= self.year <= 9999
        if self.day is not None:
            exists = is_year and self.month in range(1, 13) and self.day in _days(self.year, self.month or 0)
        else:
            exists = is_year and self.month in (None, *range(1, 13), *SEASONS)
        if not exists:
            raise CRFError(BibliographyErrors.CRF628.format(year=self.year, month=self.month, day=self.day))

    @classmethod
    def of(cls, parts: Sequence[str]) -> "Day | None":
        """What the calendar has of a year, a month and a day in figures; None without a year from 1 to 9999."""
        year, month, day = ([int(part) if FIGURES.fullmatch(part) else 0 for part in parts] + [0, 0, 0])[:3]
        if year == 0:
            return None
        if month not in range(1, 13):
            return cls(year, month) if month in SEASONS else cls(year)
        return cls(year, month, day if day in _days(year, month) else None)

    @property
    def parts(self) -> tuple[int, ...]:
        """What is known: one to three numbers."""
        return tuple(part for part in (self.year, self.month, self.day) if part is not None)

    @property
    def iso(self) -> str:
        """As in ISO 8601: "2003-05-07"."""
        return "-".join([f"{self.year:04d}", *(f"{part:02d}" for part in self.parts[1:])])

    def is_after(self, other: "Day") -> bool:
        """Whether it comes after another, by what is known of both. Of a season only the year counts."""
        n_known = 1 if {self.month, other.month} & SEASONS.keys() else min(len(self.parts), len(other.parts))
        return self.parts[:n_known] > other.parts[:n_known]


def _days(year: int, month: int) -> range:
    return range(1, monthrange(year, month)[1] + 1)


@dataclass(frozen=True)
class Date:
    """When something was published.

    RAISES (ValueError): for a range that ends before it begins.
    """

    first: Day  # the date, or where a range begins
    last: Day | None = None  # where it ends
    letter: str = ""  # tells works of an author and year apart, as in "2015a"

    def __post_init__(self) -> None:
        if self.last is not None and self.first.is_after(self.last):
            raise CRFError(BibliographyErrors.CRF651.format(first=self.first.iso, last=self.last.iso))

    @classmethod
    def of(cls, days: Iterable[Day], letter: str = "") -> "Date":
        """One day, or the two of a range, of which one that comes before the first is left out."""
        first, *others = days
        last = next((day for day in others if not first.is_after(day)), None)
        return cls(first, last, letter)

    @property
    def iso(self) -> str:
        """As in ISO 8601, a range with a slash: "2003-05-07/2003-05-09"."""
        return self.first.iso if self.last is None else f"{self.first.iso}/{self.last.iso}"

    def says(self, coarse: "Date") -> bool:
        """Tell whether it says all that a coarse date does."""
        return all(
            theirs is None or (ours is not None and ours.parts[: len(theirs.parts)] == theirs.parts)
            for ours, theirs in ((self.first, coarse.first), (self.last, coarse.last))
        )


@dataclass(frozen=True)
class Entry:
    """A reference. Texts have single spaces and composed characters (NFC); without a value they are empty.

    type (EntryType): of BibTeX. key (str): to cite it by.
    authors (Names), editors (Names): who wrote and who edited it. title (str): of the work itself.
    container (str): journal of an article, else the book or proceedings that the work is in.
    series (str): of books. volume (str): of the journal, the book or the series. number (str): the issue of an article,
    or the number of a report. pages (str): ranges with one hyphen. page_total (str): how many. chapter (str): cited.
    date (Date | None): of publication. publisher (str): or the institution behind a report or thesis. place (str): of
    the publisher or meeting. genre (str): kind of a report or thesis, never empty for a thesis. edition (str): without
    the word. doi, url, arxiv, isbn, issn (str): identifiers, bare. accessed (Date | None): when the
    address was looked up. note (str): what has no other place. invalid (str): identifiers that cannot be right,
    and why.

    >>> from spacy_crf import Entry
    >>> Entry(key="crane2003", title="The Kitchen Sonnet").title
    'The Kitchen Sonnet'
    """

    type: EntryType = EntryType.MISC
    key: str = ""
    authors: Names = NOBODY
    editors: Names = NOBODY
    title: str = ""
    container: str = ""
    series: str = ""
    volume: str = ""
    number: str = ""
    pages: str = ""
    page_total: str = ""
    chapter: str = ""
    date: Date | None = None
    publisher: str = ""
    place: str = ""
    genre: str = ""
    edition: str = ""
    doi: str = ""
    url: str = ""
    arxiv: str = ""
    isbn: str = ""
    issn: str = ""
    accessed: Date | None = None
    note: str = ""
    invalid: str = ""

    def __post_init__(self) -> None:
        if self.type in THESES and not self.genre:
            object.__setattr__(self, "genre", THESES[self.type])


def print_value(value: object) -> str:
    """Return a value of a field as text: names joined by "; ", dates as in ISO 8601, "" for none."""
    if isinstance(value, Names):
        return "; ".join([*map(_print_name, value.names), *(["et al."] if value.others else [])])
    return value.iso + value.letter if isinstance(value, Date) else str(value or "")


def _print_name(name: Name) -> str:
    last = f"{name.particle} {name.family}".strip()
    return ", ".join(part for part in (last, name.suffix, name.given) if part)


SURROGATES = re.compile("[\ud800-\udfff]")  # half a character each


def normalise(text: str) -> str:
    """Single spaces, composed characters, no control characters."""
    text = "".join(char for char in text if unicodedata.category(char) not in ("Cc", "Cs") or char.isspace())
    return unicodedata.normalize("NFC", " ".join(text.split()))


LETTERS = {"ß": "ss", "ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
# Words that say nothing at the beginning of a title.
SKIPPED = re.compile("an?|the|on|of|in|to|for|and|der|die|das|eine?|l[ae]s?|une?|het|de|el|los|il")


def unique_keys(entries: Sequence[Entry]) -> list[str]:
    """Family name, year and first word of the title of each entry, such as "vanderkooij1993loading".

    Entries that would have the same key get letters, "a" to "z", then "aa" and so on, in their order. Keys are of small
    ASCII letters and figures.
    """
    plain = [plain_key(entry) for entry in entries]
    times = Counter(plain)
    taken = {key for key in plain if times[key] == 1}
    endings_of = {key: endings() for key in times}
    keys = []
    for key in plain:
        keys.append(
            key if times[key] == 1 else next(own for own in map(key.__add__, endings_of[key]) if own not in taken)
        )
        taken.add(keys[-1])
    return keys


def plain_key(entry: Entry) -> str:
    """The key of an entry that is alone."""
    names = (entry.authors or entry.editors).names
    family = _fold(f"{names[0].particle}{names[0].family}") if names else ""
    year = "" if entry.date is None else str(entry.date.first.year)
    words = [_fold(word) for word in re.split(r"[^\w'’]+", entry.title or entry.container)]
    word = next((word for word in words if word and not SKIPPED.fullmatch(word)), "")
    return f"{family}{year}{word}" or "reference"


def _fold(text: str) -> str:
    """Small ASCII letters and figures of a text; letters of other alphabets go."""
    text = "".join(LETTERS.get(char, char) for char in text.lower())
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text))


def endings() -> Iterator[str]:
    """ "a" to "z", then "aa" and so on, without end."""
    return ("".join(letters) for size in count(1) for letters in product(ascii_lowercase, repeat=size))
