"""Pages, volumes, editions, reports, dates and identifiers as they are printed."""

import re
from dataclasses import replace
from urllib.parse import quote

from .entry import Date, Day, EntryType

PAGES_WORD = re.compile(
    r"^(?:pages?\b|pag\.|pgs?\.|pp?\b\.?|pp?(?=\d)|S\.|s\.|Sp\.|blz\.?|cols?\b\.?)\s*(?=\S)", re.IGNORECASE
)
CHAPTER = re.compile(r"^(?:chap(?:ter)?|ch|kap(?:itel)?)\b\.?\s*(?P<number>[\dIVXLivxl]+)[\s,.;]*", re.IGNORECASE)
TOTAL = re.compile(
    r"^(?P<total>(?:[\[\]\divxlc]+,\s*)*\[?\d+\]?)"
    r"(?:(?P<leaves>\s*(?:leaves|fols?|Bl))|\s*(?:pages|pp|p|S|Seiten|blz))\b\.?(?:\s*[;,]\s*(?P<rest>.*))?$"
)
RANGE = re.compile(r"\s*[-–—‐]{1,3}\s*")
VOLUMES = re.compile(r"^\d+\s+(?:vols?|volumes|Bde|Bände|t|tomes|dln)\b\.?$", re.IGNORECASE)
VOLUME_WORD = re.compile(r"^(?:volume|vol|Bd|Band|dl|deel|tome|t)\b\.?\s*|^vol(?=\d)", re.IGNORECASE)
NUMBER_WORD = re.compile(
    r"^(?:number|no|nr|n|n°|nº|№|Heft|H|issue|iss)\b\.?\s*(?=[\dIVXL])|^(?:n°|nº|№|no(?=\d))\s*", re.IGNORECASE
)
BRACKETED_NUMBER = re.compile(r"(?P<volume>.*?)[\s,]*\((?P<number>[^()]+)\)")
SPELT_NUMBER = re.compile(
    r"(?P<volume>.+?)[\s,]+(?P<number>(?:number|no|nr|n|Heft|H|issue)\b\.?\s*[\dIVXL].*|(?:n°|nº|№)\s*\d.*|no\d.*)",
    re.IGNORECASE,
)
SHORT_NUMBER = re.compile(r"(?P<volume>\w+)(?:\.|,\s*)(?P<number>[\w\-–/]+)")
PART = re.compile(r"(?P<volume>\d+)\s+(?P<number>(?:Suppl|Pt|Part|Spec)\b.*)", re.IGNORECASE)
EDITION = re.compile(
    r"(?P<edition>(?:\d+\s?(?:st|nd|rd|th|d|e|ème)?\.?,?\s*)?"
    r"(?:first|second|third|fourth|fifth|sixth|revised|rev\.|enlarged|enl\.|expanded|verb\.|erw\.|neubearb\.|überarb\.|"
    r"new|and|&|\s|,)*)\s*(?:edition|edit|edn|ed|Auflage|Aufl|éd)\b",
    re.IGNORECASE,
)
REPORT_NUMBER = re.compile(
    r"(?P<genre>.*?)[\s,]*(?:\b(?:no|nr|number|n°)\b\.?\s*:?\s*)?"
    r"(?P<number>\d+(?:[,\s]+\d{3,4})+|(?=\S*\d)[^\s,]+)",
    re.IGNORECASE,
)
THESIS = re.compile(r"\bthes[ei]s\b|dissertation|\bdiss\b|thèse|arbeit$|tesis|proefschrift", re.IGNORECASE)
MASTERS = re.compile(
    r"master|\bM\.?\s?(?:S|A|Sc|Phil|Eng)\b|\bLL\.?\s?M\b|magister|diplom|bachelor|\bB\.?\s?(?:A|Sc)\b|licen",
    re.IGNORECASE,
)
UNPUBLISHED = re.compile(
    r"\bunpublished\b|\bmanuscript\b|personal communication|private communication|typescript|in preparation|submitted|"
    r"\bdraft\b",
    re.IGNORECASE,
)
# words of meetings, or an acronym, alone or with a year
PROCEEDINGS = re.compile(
    r"(?i:\bproc\b|proceedings|\bconf|sympos|\bsymp\b|workshop|meeting|congress|colloqui|tagung|assembly|kongress|"
    r"forum|school\b|presented at)|\b[A-Z]{3,}[- ]?[’']?\d{2,4}\b|[’']\d\d\b|^[A-Z]{3,}(?:\W|$)"
)
SHORT = re.compile(
    r"\b(?:[^\W\d_]\.[^\W\d_]+|[A-Z]|Lett|Rev|Sci|Proc|Conf|Symp|Res|Phys|Inc|Ltd|Co|Corp|Univ|"
    r"[Rr]ept?|[Dd]iss|phil)\.$"
)
QUOTES = {"“": "”", "‘": "’", "„": "“", "«": "»", '"': '"', "'": "'", "``": "''"}


def clean(text: str) -> str:
    """A field without the punctuation that ends it, and without brackets and quotation marks at its ends."""
    text = " ".join(text.split())
    previous = None
    while text != previous:
        previous = text
        text = text.strip(" ,;:/–—=").removesuffix(" -")
        # the full stop of an abbreviation or initial stays
        text = _unwrapped(text if SHORT.search(text) else text.rstrip("."))
    return text


def parse_pages(text: str) -> dict[str, str]:
    """Some of `pages` (ranges with a hyphen), `page_total`, `chapter` and `note` of "pp. 12--34", "xii, 88 p." etc."""
    text, found = clean(text), {}
    if chapter := CHAPTER.match(text):
        found["chapter"], text = chapter["number"], text[chapter.end() :]
    if total := TOTAL.match(text):
        rest = {"note": clean(total["rest"])} if total["rest"] else {}
        return {**found, "page_total": total["total"] + (total["leaves"] or ""), **rest}
    pages = RANGE.sub("-", PAGES_WORD.sub("", text)).strip(" -")
    return {**found, "pages": pages} if pages else found


def parse_volume(text: str) -> dict[str, str]:
    """Some of `volume`, `number` and, for how many volumes there are, `note` of "12(3)", "Bd. 1", "Heft 3/4" etc."""
    bare = clean(text)
    if re.fullmatch(r"\([^()]+\)", text.strip(" ,;:.")):
        return {"number": RANGE.sub("-", bare)}
    if VOLUMES.match(bare):
        return {"note": text.strip(" ,;:()")}
    if alone := NUMBER_WORD.match(bare):
        return {"number": RANGE.sub("-", bare[alone.end() :])}
    volume, number = VOLUME_WORD.sub("", bare), ""
    for pattern in (BRACKETED_NUMBER, SPELT_NUMBER, SHORT_NUMBER, PART):
        if match := pattern.fullmatch(volume):
            volume, number = match["volume"], NUMBER_WORD.sub("", match["number"])
            break
    found = {"volume": RANGE.sub("-", volume.strip(" ,")), "number": RANGE.sub("-", number.strip(" ,"))}
    return {name: value for name, value in found.items() if value}


def parse_edition(text: str) -> str:
    """The edition, such as "2nd" of "(2nd ed.)"; empty if the text is about something else."""
    match = EDITION.fullmatch(clean(text))
    return match["edition"].strip(" ,") if match else ""


def parse_report(text: str) -> dict[str, str]:
    """Some of `genre` and `number` of "Technical Report CS-94-08", "[Master's thesis", "U.S. Patent 99,214,077" etc."""
    text = clean(text)
    match = REPORT_NUMBER.fullmatch(text)
    found = {"genre": clean(match["genre"]), "number": match["number"]} if match else {"genre": text}
    return {name: value for name, value in found.items() if value}


def report_type(genre: str) -> EntryType:
    """The type of an entry by what a report is called; thesis before manuscript before report."""
    if THESIS.search(genre):
        return EntryType.MASTERSTHESIS if MASTERS.search(genre) else EntryType.PHDTHESIS
    if UNPUBLISHED.search(genre):
        return EntryType.UNPUBLISHED
    return EntryType.MISC if "patent" in genre.lower() else EntryType.TECHREPORT


def _unwrapped(text: str) -> str:
    """Without a pair of marks around the text, and without a mark at its ends that has no partner."""
    for opening, closing in QUOTES.items():
        if text.startswith(opening) and text.endswith(closing) and len(text) > len(opening):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and (closing not in inner or closing in "'’"):
                return inner
    if len(text) > 1 and text.count('"') == 1 and '"' in (text[0], text[-1]):
        return text.strip('"')
    for opening, closing in ("()", "[]", "“”", "«»"):
        if text.startswith(opening) and text.endswith(closing) and text.count(opening) == text.count(closing) == 1:
            return text[1:-1]
        if text.startswith(opening) and closing not in text:
            return text[1:]
        if text.endswith(closing) and opening not in text:
            return text[:-1]
    return text


# -- dates ---------------------------------------------------------------------------------------------------

# Names of the months in English, German, French, Dutch, Spanish and Italian; three letters are enough of each.
MONTHS = (
    ("january", "januar", "jänner", "janvier", "januari", "enero", "gennaio"),
    ("february", "februar", "février", "fevrier", "februari", "febrero", "febbraio"),
    ("march", "märz", "maerz", "mars", "maart", "mrz", "marzo"),
    ("april", "avril", "abril", "aprile"),
    ("may", "mai", "mei", "mayo", "maggio"),
    ("june", "juni", "juin", "junio", "giugno"),
    ("july", "juli", "juillet", "julio", "luglio"),
    ("august", "août", "aout", "augustus", "agosto"),
    ("september", "septembre", "septiembre", "settembre"),
    ("october", "oktober", "octobre", "octubre", "ottobre"),
    ("november", "novembre", "noviembre"),
    ("december", "dezember", "décembre", "decembre", "diciembre", "dicembre"),
)
DASH = r"\s*[-–—]+\s*"
ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
YEAR = re.compile(r"(?<!\d)(1[4-9]\d\d|20\d\d)(?:\s*(?:[-–—]+|/)\s*(\d{4}|\d{2})(?!\d))?([a-z](?!\w))?")
DAYS = re.compile(rf"(?<!\w)(\d{{1,2}})(?:{DASH}(\d{{1,2}}))?(?:st|nd|rd|th)?(?!\w)")
WORD = re.compile(r"[^\W\d_]{3,}\.?")
MISREAD = re.compile(r"(?<!\w)[\dlIO]{4}(?!\w)")
FIGURES = str.maketrans("lIO", "110")


def parse_date(text: str) -> tuple[Date | None, str]:
    """A date, and the words that are no part of it, without punctuation; None without a year.

    Understood are years, months by name and days, in any order, ranges of each, ISO 8601 and "12.03.2014". Figures that
    a scan turned into letters ("l898") are read as figures.
    """
    text = MISREAD.sub(lambda match: match[0].translate(FIGURES), text)
    if numeric := ISO.search(text) or DOTTED.search(text):
        parts = [int(part) for part in numeric.groups()]
        year, month, day = parts if numeric.re is ISO else parts[::-1]
        if 1 <= month <= 12 and 1 <= day <= 31:
            return Date(Day(year, month, day)), _rest(text[: numeric.start()] + text[numeric.end() :])
    years = YEAR.search(text)
    if years is None:
        return None, _rest(text)
    text = f"{text[: years.start()]} , {text[years.end() :]}"
    bounds = _year_range(years)
    months, text = _take_months(text)
    days, text = _take_days(text) if months else ([], text)
    first, last = (Day(bounds[k], *(part[k] if part else None for part in (months, days))) for k in (0, -1))
    return Date(first, None if last == first else last, years[3] or ""), _rest(text)


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
    """The number of a month, from 1, of its name in any of six languages, or its first three letters or more."""
    word = word.rstrip(".").lower()
    if len(word) < 3:
        return None
    return next((at for at, names in enumerate(MONTHS, 1) if any(name.startswith(word) for name in names)), None)


def _year_range(match: re.Match[str]) -> list[int]:
    """One year or two: "1926-28" and "2008/09" are ranges."""
    first = int(match[1])
    if match[2] is None:
        return [first]
    last = int(match[2]) if len(match[2]) == 4 else first // 100 * 100 + int(match[2])
    return [first, last] if last > first else [first]


def _take_months(text: str) -> tuple[list[int], str]:
    months: list[int] = []
    for match in list(WORD.finditer(text))[::-1]:
        month = month_of(match[0])
        if month is not None and len(months) < 2:
            months.insert(0, month)
            text = f"{text[: match.start()]} {text[match.end() :]}"
    return months, text


def _take_days(text: str) -> tuple[list[int], str]:
    match = DAYS.search(text)
    days = [int(day) for day in match.groups() if day] if match else []
    if match is None or not all(1 <= day <= 31 for day in days):
        return [], text
    return days, f"{text[: match.start()]} {text[match.end() :]}"


def _rest(text: str) -> str:
    """Words that are left; punctuation alone is nothing."""
    return " ".join(word.strip(".,;:()[]?–—-") for word in text.split() if re.search(r"\w", word))


# -- identifiers ---------------------------------------------------------------------------------------------

DOI = re.compile(
    r"(?:\bdoi\s*:?\s*)?(?:https?://(?:dx\.)?doi\.org/|\bdoi\s*:\s*)?(?P<found>\b10\.\d{4,9}/\S+)", re.IGNORECASE
)
# The month is any two digits: numbers are checked by the archive, not here.
ARXIV = re.compile(
    r"(?:\barxiv\s+(?:e-?print|preprint)?[\s,]*)?(?:\bCoRR\b[\s,]*)?"
    r"(?:https?://arxiv\.org/(?:abs|pdf)/|\barxiv\s*:\s*|\babs/)"
    r"(?P<found>\d{4}\.\d{4,5}(?:v\d+)?|[a-z\-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)",
    re.IGNORECASE,
)
ISBN = re.compile(r"\bISBN(?:-1[03])?:?\s*(?P<found>(?:97[89][- ]?)?\d[\d\- ]{8,14}[\dXx])\b")
URL = re.compile(r"(?P<found>(?:https?|ftp)://[^\s<>]+|\bwww\.[^\s<>]+)", re.IGNORECASE)
PATTERNS = {"doi": DOI, "arxiv": ARXIV, "isbn": ISBN, "url": URL}
# Words that announce an address; nothing is lost with them.
BEFORE_ADDRESS = re.compile(
    r"[\s,(\[<]*(?:\[online\]\.?\s*)?(?:(?:retrieved|available|accessible)(?:\s+(?:from|at|online|via|on))*\s*:?"
    r"|available:|\[?online\]?:|URL:?|from:?)?[\s,(\[<]*$",
    re.IGNORECASE,
)
ACCESSED = re.compile(
    r"[\s(\[,;]*\b(?:retrieved|accessed|viewed|cited|visited|zugriff|abgerufen)(?:\s+(?:on|am))?:?\s+"
    r"(?P<date>[^()\[\]]*?\d{4}(?:\s+[A-Z][a-z]{2,}\.?\s+\d{1,2})?)[\s)\],;.]*",
    re.IGNORECASE,
)
PAIRS = {")": "(", "]": "[", "}": "{"}


def take_identifiers(text: str) -> tuple[dict[str, str], str]:
    """The first identifier of each kind in a text by its kind, and what is left without them and what announces them.

    Spaces and braces in an address, which BibTeX could not hold, are percent-encoded.
    """
    found: dict[str, str] = {}
    for kind, pattern in PATTERNS.items():
        if match := pattern.search(text):
            value = _trim(match["found"])
            before = BEFORE_ADDRESS.sub(" ", text[: match.start()])
            text = f"{before}{text[match.start('found') + len(value) :]}"
            found[kind] = re.sub(r"[\s\-]", "", value) if kind == "isbn" else quote_braces(value)
    return found, " ".join(text.split())


def take_accessed(text: str) -> tuple[Date | None, str]:
    """When an address was looked up, such as "Accessed 3 May 2019", and what is left without it."""
    match = ACCESSED.search(text)
    date, rest = parse_date(match["date"]) if match else (None, "")
    if match is None or date is None or rest:
        return None, text
    return date, " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())


def quote_braces(address: str) -> str:
    """An address without what ends a field of BibTeX, or escapes its end."""
    return re.sub(r"[{}\\\s]", lambda match: quote(match[0]), address)


def _trim(value: str) -> str:
    """Without the punctuation of the sentence; a closing bracket stays if it was opened."""
    while value and (
        value[-1] in ".,;:'\"”’»>" or (value[-1] in PAIRS and value.count(PAIRS[value[-1]]) < value.count(value[-1]))
    ):
        value = value[:-1]
    return value
