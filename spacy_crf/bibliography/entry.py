"""What a reference says, in typed fields."""

from dataclasses import dataclass, replace
from enum import StrEnum


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


@dataclass(frozen=True)
class Names:
    """A list of names.

    names (tuple[Name, ...]): in order. others (bool): whether more are meant, as by "et al.".
    """

    names: tuple[Name, ...] = ()
    others: bool = False

    def __bool__(self) -> bool:
        return bool(self.names) or self.others

    def __add__(self, more: "Names") -> "Names":
        return Names(self.names + more.names, self.others or more.others)


NOBODY = Names()


@dataclass(frozen=True)
class Day:
    """A year, a month or a day; what is not known is None.

    year (int), month (int | None): from 1. day (int | None): from 1; only with a month.
    """

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def parts(self) -> tuple[int, ...]:
        """What is known: one to three numbers."""
        return tuple(part for part in (self.year, self.month, self.day) if part is not None)

    @property
    def iso(self) -> str:
        """As in ISO 8601: "2003-05-07"."""
        return "-".join([f"{self.year:04d}", *(f"{part:02d}" for part in self.parts[1:])])


@dataclass(frozen=True)
class Date:
    """When something was published.

    first (Day): the date, or where a range begins. last (Day | None): where it ends. letter (str): what tells works of
    an author and year apart, as in "2015a".
    """

    first: Day
    last: Day | None = None
    letter: str = ""

    @property
    def iso(self) -> str:
        """As in ISO 8601, a range with a slash: "2003-05-07/2003-05-09"."""
        return self.first.iso if self.last is None else f"{self.first.iso}/{self.last.iso}"


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
    the word. doi (str), url (str), arxiv (str), isbn (str): identifiers, bare. accessed (Date | None): when the address
    was looked up. note (str): what has no other place.
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
    accessed: Date | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.type in THESES and not self.genre:
            object.__setattr__(self, "genre", THESES[self.type])

    def with_key(self, key: str) -> "Entry":
        """The same under another key."""
        return replace(self, key=key)
