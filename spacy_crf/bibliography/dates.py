"""Dates as they are printed."""

import re
from calendar import isleap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from unicodedata import normalize

from ..reading.files import read_shipped
from .entry import SEASONS, Date, Day

MONTHS = tuple(tuple(line.split()) for line in read_shipped(files(__package__) / "months.txt"))
# Letters that begin months, and are words or names as well, such as "des Jahres" and the journal Gene
WORDS = re.compile(
    r"ara|des|gene|haz|ian|led|lip|list?|lut|pro|sie|tem|(?:вер|сер)\.?|лип|лист?|тра|чер", re.IGNORECASE
)
BEHIND_DAY = re.compile(r"(?:(?<!\d)(?:[1-9]|[12]\d|3[01])\.?|[-–—/])\s*$")
# Between the two ends of a range.
TO = r"(?:\s*[-–—/&+]+\s*|\s+(?:to|and|bis(?:\s+zum)?|und|по|à|au|et|en|tot|y|al?|e|till|until)\s+)"
ISO = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{2})\2(\d{2})(?!\d)")
ISO_PARTS = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
# Without full stops, figures up to 12 may be the month as well.
DAY_FIRST = re.compile(r"(?<!\d)(?=\d{1,2}\.|1[3-9]|[23]\d)(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})(?!\d)")
# "3.-5.5.2004", "30.4.-2.5.2004", "3.5.2004 - 5.5.2004"
DAYS_IN_FIGURES = re.compile(
    r"(?<!\w)(?<!\d\.)(?P<day1>\d{1,2})\.\s?(?:(?P<month1>\d{1,2})\.\s?(?P<year1>\d{4})?)?\s?[-–—]\s?"
    r"(?P<day2>\d{1,2})\.\s?(?P<month2>\d{1,2})\.\s?(?P<year2>\d{4})(?!\d)"
)
MONTH_FIRST = re.compile(r"(?<!\d)(0?[1-9]|1[0-2])/(1[3-9]|2\d|3[01])/(\d{4})(?!\d)")  # the second one is no month
EASTERN = re.compile(r"(?<!\d)(\d{4})\s?[年년]\s?(?:(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日일])?)?")
NUMERIC = {ISO: (1, 3, 4), DAY_FIRST: (4, 3, 1), MONTH_FIRST: (3, 1, 2), EASTERN: (1, 2, 3)}  # year, month and day
_MONTH = "|".join(rf"{name[:3]}(?:{name[3:]}|\w?\w?)\b" for names in MONTHS for name in names)
# "1941 - 7 December" is a day
YEAR = re.compile(
    r"(?<!\d)(1[4-9]\d\d|20[0-4]\d)(?!\d{1,3}(?!\d)|\d{5})"  # not of "14882", but of "20031215"
    rf"(?:(?!\s*[-–—/]+\s*(?:[12]?\d|3[01])(?:st|nd|rd|th|er)?\.?\s+(?:de\s)?(?i:{_MONTH}))"
    r"\s*(?:[-–—]+|/)\s*(\d{4}|\d{1,2})(?![-/]?\d))?((?!(?<=0)s)[a-z](?!\w))?"
)
DAYS = re.compile(  # "1st", "1er", "1º de mayo", "1o de maio"
    rf"(?<!\w)(\d{{1,2}})(?:\s?(?:st|nd|rd|th)|\.?(?:er|º)|ero|o(?=\sde\s))?"
    rf"(?:\.?{TO}(\d{{1,2}})(?:\s?(?:st|nd|rd|th))?)?(?!\w)"
)
NO_DAY = re.compile(r"\s*(?:[^\W\d_]{2,}|\(\d|:\s*\d)")  # behind figures: "2nd printing", "12 pages", "12(3)"
ORIGINAL = re.compile(r"^\((\d{4})\)(?=\s+(?:1[4-9]|20)\d\d(?!\d))")  # of a reprint: "(1813) 2003"
WORD = re.compile(r"[^\W\d_]{3,}\.?")
BETWEEN_MONTHS = re.compile(rf"[\s\d,]*{TO}[\s\d,]*")
WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*", re.IGNORECASE)
FILLERS = frozenset(
    ("de", "del", "le", "den", "der", "am", "di", "do", "da", "of", "vom", "г", "r", "р")
)  # as in "5 de mayo de 1998"
BIBTEX_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
FOUR_FIGURES = re.compile(r"\W*(\d{4})\s*[-–—]{1,3}\s*(\d{4})\W*")
MONTH_AND_YEAR = re.compile(r"(0?[1-9]|1[0-2])[./-](\d{4})")
# Figures that are no year of the Gregorian calendar, but a number of arXiv, or of another count
NO_YEARS = re.compile(r"(?<!\d)\d{4}\.\d{4}|(?<!\d)(?:\d{5,7}|\d{9,})(?!\d)|\b(?:B\.?\s?C\b|BCE\b|v\.\s?Chr)")
YEAR_ALONE = re.compile(r"(\d{1,4})(?:(?:-{1,2}|[–/])(\d{1,4}))?([a-z]?)")
SEASON_MONTHS = {name.lower(): month for month, name in SEASONS.items()} | {"fall": 23}
COUNTED = re.compile(  # before figures
    r"\b(?:n[°º]|(?:n|n[or]s?|number|nummer|n[uú]m[eé]ro|vol(?:umen?)?|b(?:an)?d|t(?:om[eo])?|issue|heft|iss|part|pt)\b\.?)\s*$",
    re.IGNORECASE,
)
MISREAD = re.compile(r"(?<!\w)[\dlIO]{4}(?!\w)")
FIGURES = str.maketrans("lIO", "110")
# "14. März 1974", "14 de marzo de 1974", "Mar. 14, 1974"; not "no. 3 May 1974", "14, March 1974"
WHOLE = re.compile(
    rf"(?<![\w,/-])(?<!\d\.)\d{{1,2}}(?:\.|st|nd|rd|th|er|º)?\s(?:de\s)?(?i:{_MONTH})\.?,?\s(?:de\s)?\d{{4}}(?!\d)"
    rf"|(?<!\w)(?i:{_MONTH})\.?\s\d{{1,2}}(?:st|nd|rd|th)?,\s\d{{4}}(?!\d)|{DAY_FIRST.pattern}"
)
RAISED = re.compile("[¹²³⁴-⁹][⁰¹²³⁴-⁹]?")
ROUGH = re.compile(r"(?:circa|ca?|um|vers|about|approx|probably|wohl|rond|hacia|verso)\b\.?", re.IGNORECASE)
MOST_CHARACTERS = 300
LONGEST = 2  # years of a range that is a date, if it can be pages as well
LONGEST_WITH_SLASH = 10  # of a range; years further apart are those of a work and of its edition, as in "1781/1998"


def parse_date(text: str) -> tuple[Date | None, str]:
    """A date, and the words that are no part of it, without punctuation; None without a year.

    Understood are years, months by name and days, in any order, ranges of each, ISO 8601, "12.03.2014", "12/25/2014"
    and "2014年3月". Days are figures beside a month that count nothing else, as those of "2nd printing" and "12 pages"
    do. Figures behind a year are a later year ("2004-05"), or else its month ("2019-11"). The first of two months that
    go down is of the year before ("December/January 2004"). Figures that a scan turned into letters ("l898") are read
    as figures.
    A text of more than 300 characters is no date.
    """
    if len(text) > MOST_CHARACTERS:
        return None, _rest(text)
    exact = parse_iso(text.strip(" ().,"))
    if exact is not None and exact.last is not None and exact.first.month and exact.iso in text:
        return exact, ""
    text = MISREAD.sub(lambda match: match[0].translate(FIGURES), text)
    return _parse_range(text) or _parse_one(text)


def find_whole(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each day with its month and year."""
    for match in WHOLE.finditer(text):
        date, rest = parse_date(match[0])
        if date and date.first.day and not rest and not COUNTED.search(text, max(0, match.start() - 12), match.start()):
            yield match.span()


def part_rest(text: str, rest: str) -> tuple[str, str]:
    """An edition and a note: what is left of a date may be a raised figure, as in "³2003", or may call it rough.

    >>> part_rest("³2003", "³"), part_rest("[ca. 1750]", "ca")
    (('3', ''), ('', 'ca. 1750'))
    """
    if RAISED.fullmatch(rest):
        return normalize("NFKC", rest), ""
    return "", text.strip(" ()[].,;:") if ROUGH.fullmatch(rest) else rest


def parse_iso(text: str, letter: str = "") -> Date | None:
    """What the calendar has of a date, or a range of two, as in ISO 8601, such as "2003-05" and "2003-05/2003-07"."""
    found = [ISO_PARTS.fullmatch(part) for part in text.split("/")[:2]]
    days = [Day.of([part or "" for part in day.groups()]) if day else None for day in found]
    return Date.of(filter(None, days), letter) if days[0] is not None else None


def _parse_range(text: str) -> tuple[Date, str] | None:
    """A range with a month on each side, such as "Dec. 2003 - Jan. 2004", or of days in figures; the year may stand
    once, and so may a month in figures."""
    days = DAYS_IN_FIGURES.search(text)
    if days and not COUNTED.search(text, 0, days.start()) and (date := _date_of_days(days)):
        return date, _rest(text[: days.start()] + text[days.end() :])
    year = YEAR.search(text)
    for joint in re.finditer(TO, text) if year else ():
        sides = text[: joint.start()], text[joint.end() :]
        before, behind = ([word for word in WORD.findall(side) if not WEEKDAY.match(word)] for side in sides)
        if not (before and behind and month_of(before[-1]) and month_of(behind[0])):
            continue
        found = [_parse_one(side if YEAR.search(side) else f"{side} {year[0]}") for side in sides]  # type: ignore[index]
        (first, _), (last, _) = found
        if first and last and last.first.is_after(first.last or first.first):
            return Date(first.first, last.last or last.first, first.letter or last.letter), " ".join(
                rest for _, rest in found if rest
            )
    return None


def _date_of_days(found: re.Match[str]) -> Date | None:
    """A range of days, if the calendar has both, in this order."""
    first, last = (
        Day.of([found[f"year{n}"] or found["year2"], found[f"month{n}"] or found["month2"], found[f"day{n}"]])
        for n in "12"
    )
    is_range = first and last and first.day and last.day and last.is_after(first)
    return Date(first, last) if is_range and first else None


def _parse_one(text: str) -> tuple[Date | None, str]:
    if numeric := next(filter(None, (form.search(text) for form in NUMERIC)), None):
        order = NUMERIC[numeric.re]
        parts = [part or "" for part in numeric.group(*order)]
        day = Day.of(parts)
        if day is not None and len(day.parts) == len([part for part in parts if part]):
            return Date(day), _rest(text[: numeric.start()] + text[numeric.end() :])
    text = ORIGINAL.sub(r"[\1]", text)
    # one in brackets beside another is that of the original
    years = min(YEAR.finditer(text), key=lambda own: (is_long(own), text[: own.start()].endswith("[")), default=None)
    if years is None:
        return None, _rest(text)
    place = years.start()
    text = f"{text[:place]} , {text[years.end() :]}"
    bounds, behind = year_range(years[1], years[2] or "")
    if "/" in years[0] and bounds[-1] - bounds[0] > LONGEST_WITH_SLASH:
        bounds, behind = bounds[1:], years[1]
    elif "/" in years[0] and len(years[2]) == 1 and bounds[-1] - bounds[0] > 1:
        bounds, behind = bounds[:1], years[2]  # the number of a journal, as in "2010/3"
    months, text, place = _take_months(text, place)
    if len(months) == 2 and months[0] > months[1] and len(bounds) == 1:
        bounds = [bounds[0] - 1, bounds[0]]
    days, text = _take_days(text, place, bounds, months) if months else ([], text)
    if not months and re.fullmatch(r"0[1-9]|1[0-2]", behind):
        months, behind = [int(behind)], ""
    first, last = (Day(bounds[k], *(part[k] if part else None for part in (months, days))) for k in (0, -1))
    if len(bounds) == 2 and len(months) == 1 and len(days) < 2:
        last = Day(bounds[1])  # in which month is not said
    return Date(first, None if last == first else last, years[3] or ""), _rest(f"{behind} {text}")


def is_long(years: re.Match[str]) -> bool:
    """Whether a range of years is so long that it may be one of pages, as in "1735-1780"."""
    return years[2] is not None and len(years[2]) == 4 and int(years[2]) - int(years[1]) > LONGEST


def is_long_range(text: str) -> bool:
    """Whether a text is four figures, a dash, and four figures, and too long a time for a publication."""
    found = FOUR_FIGURES.fullmatch(text)
    return found is not None and int(found[2]) - int(found[1]) > LONGEST


def parse_years(text: str) -> tuple[Date | None, str]:
    """A year or a range of years, with its letter, and figures behind that are no later year; of any other text, such
    as "[1998]" and "in press, 1998", the date that it has, and the text."""
    if month := MONTH_AND_YEAR.fullmatch(text.strip()):
        return Date(Day(int(month[2]), int(month[1]))), ""
    years = YEAR_ALONE.fullmatch(text.strip())
    if years is None:
        return None if NO_YEARS.search(text) else parse_date(text)[0], text
    bounds, behind = year_range(years[1], years[2] or "")
    days = [day for day in (Day.of([str(year)]) for year in bounds) if day]
    return (Date.of(days, years[3]), behind) if days else (None, "")


def add_month(date: Date, month: str) -> Date:
    """A date with a month by its name or number, and a day if it has one, or a range of these; with one, it stays."""
    if date.first.month is not None:
        return date
    if month.lower() in SEASON_MONTHS:
        return replace(date, first=replace(date.first, month=SEASON_MONTHS[month.lower()]))
    if re.fullmatch(r"0?[1-9]|1[0-2]", month):
        return replace(date, first=replace(date.first, month=int(month)))
    found, rest = parse_date(f"{month} {2000 if isleap(date.first.year) else 2001}")
    if found is None or rest or found.first.month is None or (date.last and found.last):
        return date
    first, last = (day and replace(day, year=date.first.year) for day in (found.first, found.last))
    if first is None or (last is not None and first.is_after(last)):
        return date
    return Date(first, last or date.last, date.letter)


def date_fields(date: Date) -> Iterator[tuple[str, str]]:
    """Names and values of the fields of BibTeX for a date; a day or a range is in that of biblatex, too."""
    first, last = date.first, date.last
    until = f"--{last.year}" if last is not None and last.year != first.year else ""
    yield "year", f"{{{first.year}{until}{date.letter}}}"
    if first.month is not None:
        yield "month", f"{{{SEASONS[first.month]}}}" if first.month in SEASONS else BIBTEX_MONTHS[first.month - 1]
    if first.day is not None or first.month in SEASONS or last is not None:
        yield "date", f"{{{date.iso}}}"


def merge_dates(first: Date | None, second: Date | None) -> Date | None:
    """The more exact one of two dates that agree on the year. RAISES (ValueError): if they say different things."""
    if first is None or second is None:
        return first or second
    letter = first.letter or second.letter
    for exact, coarse in ((first, second), (second, first)):
        if coarse.last is None and coarse.first == Day(exact.first.year):
            return replace(exact, letter=letter)
    if first.first == second.first and first.last == second.last:
        return replace(first, letter=letter)
    raise ValueError


def month_of(word: str) -> int | None:
    """The number of a month, from 1, of its name in any of twenty languages, or its first three letters or more; None
    for letters that begin the names of two."""
    word = word.rstrip(".").lower()
    if len(word) < 3:
        return None
    found = [at for at, names in enumerate(MONTHS, 1) if any(name.startswith(word) for name in names)]
    whole = [at for at in found if word in MONTHS[at - 1]]  # "červen" begins "červenec"
    return (whole or found)[0] if whole or len(found) == 1 else None


def year_range(first: str, figures: str) -> tuple[list[int], str]:
    """One year or two, and figures behind that are no later year: "1926-28", "2008/09" and "1999-00" are ranges."""
    year = int(first)
    last = int(first[: max(0, len(first) - len(figures))] + figures)
    if figures == "00" and year % 100 == 99:
        last = year + 1
    return ([year, last], "") if last > year else ([year], figures)


def _take_months(text: str, place: int) -> tuple[list[int], str, int]:
    """The month nearest to the place of the year, and one that is joined to it, as in "May-June" and "May to June"; the
    text without them, and where they were."""
    others = list(YEAR.finditer(text))
    found = [match for match in WORD.finditer(text) if month_of(match[0]) and not _is_word(text, match)]
    found = [
        match for match in found if all(_gap(match, place, place + 3) <= _gap(match, *own.span()) for own in others)
    ]
    if not found:
        return [], text, place
    nearest = min(range(len(found)), key=lambda at: abs(found[at].start() - place))
    pairs: Iterator[tuple[re.Match[str], ...]] = pairwise(found[max(0, nearest - 1) : nearest + 2])
    if YEAR.search(text):
        pairs = iter(())  # the other month may be that of the other year
    chosen = next((pair for pair in pairs if BETWEEN_MONTHS.fullmatch(_between(text, pair))), (found[nearest],))
    between = re.sub(r"[^\W\d_]+", " ", _between(text, chosen))
    text = f"{text[: chosen[0].start()]} {between} {text[chosen[-1].end() :]}"
    return [month_of(match[0]) or 0 for match in chosen], text, chosen[0].start()


def _is_word(text: str, match: re.Match[str]) -> bool:
    """Whether what begins a month is a word of its own: neither shortened by a full stop nor behind a day or a dash."""
    return WORDS.fullmatch(match[0]) is not None and not BEHIND_DAY.search(
        text, max(0, match.start() - 5), match.start()
    )


def _gap(match: re.Match[str], start: int, end: int) -> int:
    """Characters between a match and a place."""
    return max(start - match.end(), match.start() - end)


def _between(text: str, matches: tuple[re.Match[str], ...]) -> str:
    return text[matches[0].end() : matches[-1].start()]


def _take_days(text: str, place: int, years: Sequence[int], months: Sequence[int]) -> tuple[list[int], str]:
    """Days that the calendar has in the years and months. place (int): of the months; no word stands in between."""
    match = next((found for found in DAYS.finditer(text) if _is_day(text, found, place)), None)
    days = [day for day in match.groups() if day] if match else []
    ends = [Day.of([str(years[k]), str(months[k]), days[k]]) for k in (0, -1) if days]
    goes_down = len(days) == 2 and ends[0] is not None and ends[1] is not None and ends[0].is_after(ends[1])
    if match is None or goes_down or not all(end and end.day for end in ends):
        return [], text
    return [int(day) for day in days], f"{text[: match.start()]} {text[match.end() :]}"


def _is_day(text: str, figures: re.Match[str], place: int) -> bool:
    """Whether no word is between figures and the month, and nothing behind them says what else they count."""
    gap = text[min(figures.end(), place) : max(figures.start(), place)]
    is_before = figures.end() <= place
    if is_before:
        return not WORD.search(gap) and "," not in gap and not COUNTED.search(text, 0, figures.start())
    return not WORD.search(gap) and ";" not in gap and not NO_DAY.match(text, figures.end())


def _rest(text: str) -> str:
    """Words that are left; punctuation alone is nothing."""
    found = (word for word in text.split() if re.search(r"\w", word))
    words = [word.strip(".,;:[]?–—-/" if "(" in word[1:] else ".,;:()[]?–—-/") for word in found]
    return "" if FILLERS.issuperset(words) else " ".join(words)
