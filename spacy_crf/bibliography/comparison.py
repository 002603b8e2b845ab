"""References against a library: which entries are of the same work, in what they differ, and what either side lacks."""

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from ..core.grammar.numerals import ORDINALS
from .entry import LETTERS, Date, Entry, Name, Names, print_value
from .fields import ARXIV_CLASS, bare_edition
from .identifiers import take_identifiers

TEXTS = (
    *("title", "container", "series", "volume", "number", "pages", "publisher", "place", "edition"),
    *("doi", "arxiv", "isbn", "issn"),
)
FIELDS = ("authors", "editors", "date", *TEXTS)
IDENTIFIERS = ("doi", "arxiv")  # that no two works share
PLACE = ("authors", "volume", "pages")  # that tell which work is meant where a title is missing
ISSUE = ("container", "volume", "number")  # the same, with the year and the first page, without an author too
VERSION = re.compile(r"v\d+$")
WORD = re.compile(r"[^\W_]+")
INITIALS = re.compile(r"(?<!\w)[^\W\d_]{2,3}(?!\w)")  # without full stops, if they are capitals
# that shortened names of journals leave out
SMALL = re.compile("a|an|and|aus|das|de|del|della|der|des|di|die|du|e|et|for|für|in|la|le|les|of|on|the|to|und|y|zur")
CUT_RANGE = re.compile(r"([a-z]?)(\d+)-\1?(\d+)", re.IGNORECASE)
ORDINAL = re.compile(r"(?<!\w)(?:(\d+)(?:st|[nr]?d|th|de|e|er|eme|[aoª]|-?е)|[a-z]+)(?!\w)")
# Formulas of BibTeX stay as they are written, such as H$_2$O
FORMULA = re.compile(r"\$(?=[^$]{0,100}[\^_\\])([^$]{1,200})\$")
COMMAND = re.compile(r"\\([A-Za-z]+)")
STYLES = re.compile("boldsymbol|ensuremath|mbox|(?:math|text)(?:bf|cal|it|rm|sf|tt|up)?")
MARKS = re.compile("[_^{}]")
FUNCTIONS = ("arg", "cos", "cosh", "det", "dim", "exp", "inf", "ker", "lim", "ln", "log", "max", "min", "sin", "tan")
ALIKE = 0.85  # of the words of two titles are the same, if these alone tell
SOMEWHAT_ALIKE = 0.5  # the same, if the first author and the year tell too
SUREST, LEAST_SURE = 4.0, 0.4  # of pairs: by an identifier, and without titles; titles that are alike give 0.5 to 3
MOST_FOLDED = 2**14  # texts, each of which is compared with many
NOT_HELD, NOT_CITED = "not in the library", "not cited"


@dataclass(frozen=True)
class Discrepancy:
    """A field in which a reference and its entry of the library differ, or a work that one side lacks.

    reference (int | None): from 1; None for an entry that is not cited. key (str): of the library; "" for a reference
    that it lacks. match (str): what tells that they are of one work, or which side lacks it. field (str): "" where one
    side lacks all. cited (str), library (str): what the sides say, "" for nothing.
    """

    reference: int | None
    key: str
    match: str
    field: str = ""
    cited: str = ""
    library: str = ""


def compare(cited: Mapping[int, Entry], library: Sequence[Entry]) -> list[Discrepancy]:
    """Return the differences of references, by their numbers, from a library.

    Entries with the same DOI or number at arXiv are of one work, then those with the same title, or with a title much
    alike or without its subtitle, the same first author and the same year. Each entry counts for one reference. Case,
    marks, accents, initials for given names, given names, months and ends of ranges of years that one side lacks,
    shortened journals and cut ranges make no difference.

    >>> from spacy_crf import Entry
    >>> crane, held = Entry(title="On Ropes", volume="3"), Entry(key="a", title="On ropes.", volume="4")
    >>> [(one.field, one.cited, one.library) for one in compare({1: crane}, [held])]
    [('volume', '3', '4')]
    """
    cited, library = {number: _as_preprint(one) for number, one in cited.items()}, list(map(_as_preprint, library))
    matches = _match(cited, library)
    found: list[Discrepancy] = []
    for number, entry in cited.items():
        if number not in matches:
            found.append(Discrepancy(number, "", NOT_HELD, cited=_name(entry)))
            continue
        place, by = matches[number]
        held = library[place]
        for field in FIELDS:
            if not _agree(field, entry, held):
                values = (print_value(getattr(one, field)) for one in (entry, held))
                found.append(Discrepancy(number, held.key, by, field, *values))
    taken = {place for place, _ in matches.values()}
    rest = (held for place, held in enumerate(library) if place not in taken)
    return [*found, *(Discrepancy(None, held.key, NOT_CITED, library=_name(held)) for held in rest)]


def _as_preprint(entry: Entry) -> Entry:
    """Return an entry whose journal only says its number at arXiv, as in "arXiv preprint arXiv:1706.03762", without."""
    found, rest = take_identifiers(f"{entry.container} {entry.volume}")
    is_told = ARXIV_CLASS.fullmatch(rest) or not WORD.search(rest)
    if found.keys() != {"arxiv"} or not is_told or entry.arxiv not in ("", found["arxiv"]):
        return entry
    return replace(entry, container="", volume="", arxiv=found["arxiv"])


def _match(cited: Mapping[int, Entry], library: Sequence[Entry]) -> dict[int, tuple[int, str]]:
    """Return the places in the library of references, and what tells so: surest pairs first, each entry once.

    Volumes of one work have one title, author and year: of equally sure pairs, those that agree in more fields are
    first.
    """
    pairs = sorted(_pairs(cited, library), key=lambda pair: (-pair[0], -pair[1], pair[2], pair[3]))
    matches: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    for _, _, number, place, by in pairs:
        if number not in matches and place not in taken:
            matches[number] = place, by
            taken.add(place)
    return matches


def _pairs(cited: Mapping[int, Entry], library: Sequence[Entry]) -> Iterator[tuple[float, int, int, int, str]]:
    """Yield pairs that may be of one work: how sure that is, how many fields agree, the number, the place, and what
    tells so."""
    by_sign: defaultdict[str, list[int]] = defaultdict(list)
    for place, held in enumerate(library):
        for sign in _signs(held):
            by_sign[sign].append(place)
    for number, entry in cited.items():
        for place in {place for sign in _signs(entry) for place in by_sign.get(sign, ())}:
            sure, by = _likeness(entry, library[place])
            if by:
                agreeing = sum(_agree(field, entry, library[place]) for field in FIELDS)
                yield sure, agreeing, number, place, by


def _signs(entry: Entry) -> Iterator[str]:
    """Yield texts of which two entries of one work share one."""
    yield from (f"{name} {value}" for name in IDENTIFIERS if (value := _identifier(entry, name)))
    words = sorted(_words(entry.title), key=len)
    yield from words[-3:]
    if author := _first_author(entry):
        yield f"{author} {_year(entry)}"
    elif not words and (start := _start(entry)):  # a decision of a court, a file of an archive
        yield f"{start} {_year(entry)}"


def _likeness(entry: Entry, held: Entry) -> tuple[float, str]:
    """Return how sure it is that two entries are of one work, and what tells so; "" if they are not."""
    for name in IDENTIFIERS:
        ours, theirs = _identifier(entry, name), _identifier(held, name)
        if ours and ours == theirs:
            return SUREST, name
    titles = _words(entry.title), _words(held.title)
    total = sum(map(len, titles))
    share = 2 * len(titles[0] & titles[1]) / total if total else 0.0
    has_author = _first_author(entry) == _first_author(held) != ""
    has_year = _year(entry) == _year(held) != ""
    if share >= ALIKE and (has_author or has_year or not (_first_author(entry) and _first_author(held))):
        return share + has_author + has_year, "title"
    if (share >= SOMEWHAT_ALIKE or _is_cut(entry.title, held.title)) and has_author and has_year:
        return share, "title, author and year"
    if not all(titles) and has_author and has_year and all(_agree(name, entry, held) for name in PLACE):
        return LEAST_SURE, "authors, year and pages"
    is_named = any(titles) or _first_author(entry) or _first_author(held)
    if not is_named and has_year and _start(entry) and all(_agree(name, entry, held) for name in ISSUE):
        return LEAST_SURE, "journal, year and pages"
    return 0.0, ""


def _is_cut(ours: str, theirs: str) -> bool:
    """Whether one title begins the other, which has a subtitle."""
    short, full = sorted((WORD.findall(_fold(ours)), WORD.findall(_fold(theirs))), key=len)
    return bool(short) and full[: len(short)] == short


def _identifier(entry: Entry, name: str) -> str:
    value = str(getattr(entry, name)).casefold()
    return VERSION.sub("", value) if name == "arxiv" else value  # a DOI may end in a volume


@lru_cache(maxsize=MOST_FOLDED)
def _fold(text: str) -> str:
    """Return a text without case and accents, formulas as printed; strokes and ligatures count as plain letters."""
    text = FORMULA.sub(lambda found: MARKS.sub("", COMMAND.sub(_print_command, found[1])), text)
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(LETTERS.get(char, char) for char in parts if not unicodedata.combining(char))


def _print_command(found: re.Match[str]) -> str:
    """The letters that a command of a formula prints; a space for signs."""
    name = found[1]
    if STYLES.fullmatch(name):
        return ""
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return name if name in FUNCTIONS else " "


def _words(text: str) -> set[str]:
    return set(WORD.findall(_fold(text)))


def _first_author(entry: Entry) -> str:
    names = (entry.authors or entry.editors).names
    return _fold(names[0].family) if names else ""


def _start(entry: Entry) -> str:
    """The first page of a work, or else its number or volume."""
    return next(iter(WORD.findall(_fold(entry.pages or entry.number or entry.volume))), "")


def _year(entry: Entry) -> str:
    return "" if entry.date is None else str(entry.date.first.year)


def _agree(field: str, entry: Entry, held: Entry) -> bool:
    """Whether a field says the same, in whatever way."""
    ours, theirs = getattr(entry, field), getattr(held, field)
    return ours == theirs or AGREEMENTS.get(field, _agree_in_letters)(ours, theirs)


def _agree_in_letters(ours: str, theirs: str) -> bool:
    return WORD.findall(_fold(ours)) == WORD.findall(_fold(theirs))


def _agree_if_shortened(ours: str, theirs: str) -> bool:
    """Whether the words of one begin those of the other, of which small words may be missing."""
    short, full = sorted(
        (WORD.findall(_fold(ours)), WORD.findall(_fold(theirs))), key=lambda words: sum(map(len, words))
    )
    if not short:
        return not full
    rest = deque(full)
    for begin in short:
        while rest and SMALL.fullmatch(rest[0]) and not rest[0].startswith(begin):
            rest.popleft()
        if not (rest and rest.popleft().startswith(begin)):
            return False
    return not rest


def _agree_in_pages(ours: str, theirs: str) -> bool:
    return _agree_in_letters(*(CUT_RANGE.sub(_complete, pages) for pages in (ours, theirs)))


def _complete(found: re.Match[str]) -> str:
    """Return a range with all figures of its end: 1359-1362 for 1359-62, and S12-S15 for S12-5."""
    letter, first, last = found.groups()
    return f"{letter}{first}-{letter}{first[: max(len(first) - len(last), 0)]}{last}"


def _agree_in_names(ours: Names, theirs: Names) -> bool:
    """Whether names are the same as far as both are printed: with "et al." the first ones count."""
    short, full = sorted((ours, theirs), key=lambda names: len(names.names))
    is_cut = len(short.names) < len(full.names)
    if (is_cut and not (short.others and short.names)) or (not is_cut and short.others != full.others):
        return False
    return all(map(_are_alike, short.names, full.names))


def _are_alike(ours: Name, theirs: Name) -> bool:
    given = zip(*(_given_names(name.given) for name in (ours, theirs)))
    is_given_alike = all(one.startswith(other) or other.startswith(one) for one, other in given)
    return is_given_alike and _agree_in_letters(*(f"{name.particle} {name.family}" for name in (ours, theirs)))


def _given_names(text: str) -> list[str]:
    """Return given names and initials, of "GH" two."""
    apart = INITIALS.sub(lambda found: " ".join(found[0]) if found[0].isupper() else found[0], text)
    return WORD.findall(_fold(apart))


def _agree_in_dates(ours: Date | None, theirs: Date | None) -> bool:
    """Whether dates are the same as far as both are known."""
    if ours is None or theirs is None:
        return ours is theirs
    days = [(ours.first, theirs.first)]
    if ours.last is not None and theirs.last is not None:
        days.append((ours.last, theirs.last))
    return all(known == other for pair in days for known, other in zip(*(day.parts for day in pair)))


def _agree_in_editions(ours: str, theirs: str) -> bool:
    """Whether editions are the same: "2nd", "2.", "Second edition" and "zweite Auflage" are the 2 of biblatex."""
    return _agree_in_letters(*(ORDINAL.sub(_figure, _fold(bare_edition(edition))) for edition in (ours, theirs)))


def _figure(found: re.Match[str]) -> str:
    return found[1] or str(_ordinals().get(found[0], found[0]))


@cache
def _ordinals() -> dict[str, int]:
    """Values of ordinal numbers by their words, without accents."""
    return {_fold(form): value for form, value in ORDINALS.items()}


def _agree_in_signs(ours: str, theirs: str) -> bool:
    return ours.casefold() == theirs.casefold()


def _agree_in_figures(ours: str, theirs: str) -> bool:
    """Whether numbers are the same, in whatever groups they are printed."""
    return _figures(ours) == _figures(theirs)


def _agree_in_books(ours: str, theirs: str) -> bool:
    """Whether ISBNs are of one book: each of ten figures has one of thirteen, with 978 and another check digit."""
    old, new = sorted((_figures(ours), _figures(theirs)), key=len)
    return old == new or (len(old) == 10 and new[:-1] == f"978{old[:-1]}")


def _figures(text: str) -> str:
    return "".join(WORD.findall(text)).casefold()


AGREEMENTS: dict[str, Callable[..., bool]] = {
    "authors": _agree_in_names,
    "editors": _agree_in_names,
    "date": _agree_in_dates,
    "pages": _agree_in_pages,
    "container": _agree_if_shortened,
    "edition": _agree_in_editions,
    **dict.fromkeys(IDENTIFIERS, _agree_in_signs),
    "isbn": _agree_in_books,
    "issn": _agree_in_figures,
}


def _name(entry: Entry) -> str:
    """Return what a person knows a work by."""
    parts = (print_value(entry.authors or entry.editors), _year(entry), entry.title or entry.container)
    return ", ".join(filter(None, parts))
