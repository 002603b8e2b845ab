"""Numbers and addresses that name a work: DOI, arXiv, ISBN, ISSN, ECLI and URL, as they are printed."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from .dates import parse_date
from .entry import Date

# Behind a DOI, without a space before.
NEXT = r"[.,;]?\[?(?:PMID|PMC|PubMed|CrossRef|Google|doi[:\]]|pii\]|https?:|arXiv\s*:)"
_DOI = (
    r"(?:\bdoi\s*[:.]?\s*)?(?:(?:https?://)?(?:www\.|dx\.)?\bdoi\.org/(?:doi:)?|\bdoi\s*[:.]?\s*`?)?"
    rf"(?P<doi>(?<!\d)(?<!\d\.)10\.\d{{4,9}}(?:\.\d+)*/(?:(?!{NEXT})\S)+)"
)
_OLD_ARCHIVE = r"(?<![\w./-])(?=(?:astro|cond|gr|hep|math|nucl|quant)-(?:ph|mat|qc|ex|lat|th)/\d{7}(?!\d))"
_ARXIV_ADDRESS = r"(?:https?://|(?<![\w./-]))(?:www\.)?arxiv\.org/(?:abs|pdf|html)/"
_ARXIV_WORD = r"\barxiv(?:\s*:\s*`?|\s+(?:(?:e-?|pre)prints?,?\s+)?(?=\d{4}\.))"
_ARXIV = (
    r"(?:\barxiv\s+(?:e-?print|preprint)?[\s,]{0,3})?(?:\bCoRR\b[\s,]{0,3})?"
    rf"(?:{_OLD_ARCHIVE}|{_ARXIV_ADDRESS}|{_ARXIV_WORD}|\babs/)"
    r"(?P<arxiv>\d{4}\.\d{4,5}(?:v\d+)?|[a-z\-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)(?:\.pdf)?"
)
_BRACKETS = r"\([^()]{1,20}\)"  # "ISBN (hardback)"
ISBN_WORD = rf"\be?-?ISBN(?:[- ]1[03])?\s*(?:{_BRACKETS})?[\s:.]*"
ISBN_FIGURES = r"(?:97[89][-–‐‑ ]?(?:\d[-–‐‑ ]?){9}\d|(?:\d[-–‐‑ ]?){9}[\dXx])"
_ISBN = rf"{ISBN_WORD}(?P<isbn>{ISBN_FIGURES})(?![\d])"
_ISSN = rf"\b(?:[ep]-?)?ISSN\b(?:\s*{_BRACKETS})?[\s:.]*(?P<issn>\d{{4}}[-–‐‑]?\d{{3}}[\dXx])\b"
_ECLI = r"(?P<ecli>\bECLI:[A-Z]{2}:[A-Z\d]{1,7}:\d{4}:[A-Z\d][A-Z\d.]{0,24})"
# What was on the next line, where an address was broken behind a slash and the lines were joined: it ends in a file.
REST_OF_ADDRESS = r"(?:(?<=[^:/]/) (?![\w-]+\.[\w.-]+/)[\w%~./-]+\.(?:pdf|[sx]?html?|php|aspx?|docx?|txt)\b(?![/?#]))?"
_HOST = r"(?<![\w@./-])(?:[a-z\d-]{1,63}\.){1,4}(?:com|org|net|edu|gov|info|io|eu|uk|de|nl|fr|ch|at|be|it|es)"
_URL = rf"(?P<url>(?:(?:https?|ftp)://|\bwww\.)[^\s<>]+{REST_OF_ADDRESS}|{_HOST}/[^\s<>]*)"
_BARE_ISBN = r"(?<![\d-])(?P<bare>97[89](?:[-‑ ]?\d){10})(?![\d-])"
# At one place the first one counts. Numbers that cannot be right are found, too: `find_faults` tells of them.
IDENTIFIER = re.compile("|".join((_DOI, _ARXIV, _ISBN, _ISSN, _ECLI, _URL, _BARE_ISBN)), re.IGNORECASE)
# Words that announce an address; nothing is lost with them.
BEFORE_ADDRESS = re.compile(
    r"[\s,(\[<]*(?:\[online\]\.?\s*)?(?:(?:retrieved|available|accessible)(?:\s+(?:from|at|online|via|on))*\s*:?"
    r"|(?:verfügbar|abrufbar|online|disponi(?:ble|bile)|disponível|beschikbaar)\s+(?:unter|sur|à|en|in|su|em|op|via)\s*:?"
    r"|available:|\[?online\]?:|URL:?|from:?)?[\s,(\[<]*$",
    re.IGNORECASE,
)
MOST_BEFORE = 60  # characters of such words
LONGEST_ADDRESS = 300  # characters of an address that are looked at, where a day of access may stand behind it
_LOOKED_UP = (
    r"retrieved|accessed|viewed|cited|visited|zugriff|abgerufen|consult(?:ée?|ad[oa]|at[oa]|a)|accès|acces{1,2}o|acesso"
    r"|visitato|visto|geraadpleegd|hämtad|hentet|dostęp|(?<=\[)cit\.|дата\s+обращения"
)
# Behind a year: "2019-05-03", whose first sign is the second group of `ACCESSED`; "2019, May 3rd"
_DAY_BEHIND = (
    r"([-/.])\d{1,2}\2\d{1,2}(?!\d)"
    r"|,?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b\.?(?:\s+\d{1,2}(?!\d)(?:st|nd|rd|th)?)?"
)
ACCESSED = re.compile(
    rf"\b(?:(?:last|letzter|zuletzt|dernier|[uú]ltimo)\s+)?(?:{_LOOKED_UP})(?:\s+(?:on|am|le|el|il|em|op|en|den))?:?\s+"
    rf"(?P<date>[^()\[\]]{{0,40}}?\d{{4}}(?:{_DAY_BEHIND})?)[\s)\],;.]*",
    re.IGNORECASE,
)
# What is announced as an identifier and has not the form of one
MALFORMED = re.compile(
    r"\bdoi\s*[:.]?\s*(?P<doi>\d+(?:\.\d+)*(?:/\S*)?)"
    r"|\barxiv\s*:\s*(?P<arxiv>[a-z.-]*/?\d[\d.]*)"
    rf"|{ISBN_WORD}(?P<isbn>\d[\d–‐‑ -]{{2,20}}[\dXx])"
    rf"|\b[ep]?-?ISSN\b(?:\s*{_BRACKETS})?[\s:.]*(?P<issn>\d[\d–‐‑-]{{2,20}}[\dXx]?)",
    re.IGNORECASE,
)
FORMS = {
    "doi": "a DOI is 10., four to nine figures, a slash and more",
    "arxiv": "numbers at arXiv are archive/YYMMNNN until March 2007, then YYMM.NNNN, and YYMM.NNNNN from 2015",
    "isbn": "an ISBN has ten or thirteen figures, the last of ten may be X",
    "issn": "an ISSN has eight figures, the last of which may be X",
}
NEW_ARXIV = re.compile(r"(?P<month>\d{4})\.(?P<number>\d{4,5})(?:v\d+)?")
OLD_ARXIV = re.compile(r"[a-z-]+(?:\.[A-Z]{2})?/(?P<month>\d{4})\d{3}(?:v\d+)?")
FIRST_NEW, LAST_SHORT, FIRST_OLD = "0704", "1412", "9108"  # years and months at arXiv
PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}


@dataclass(frozen=True)
class Identifier:
    """An identifier in a text. kind (str): a field of entries, or "note" for one that they have no field for.

    start (int), end (int): characters of the text, with the words that announce it.
    """

    kind: str
    value: str
    start: int
    end: int


def find_identifiers(text: str) -> list[Identifier]:
    """All identifiers of a text, in its order.

    Braces in an address, which BibTeX could not hold, are percent-encoded. Thirteen figures without the word
    ISBN before them are one if their check digit is right.
    """
    return list(_find(text))


def _find(text: str) -> Iterator[Identifier]:
    place = 0
    while match := IDENTIFIER.search(text, place):
        kind = match.lastgroup or ""
        value = _trim(match[kind])
        end = match.start(kind) + len(value) if value != match[kind] else match.end()
        before = text[max(place, match.start() - MOST_BEFORE) : match.start()]
        announced = BEFORE_ADDRESS.search(before)
        place = max(end, match.start() + 1)
        if kind == "bare" and not is_isbn(value):
            continue
        start = match.start() - (len(before) - announced.start() if announced else 0)
        yield Identifier(*_field(kind, value), start, end)


def _field(kind: str, value: str) -> tuple[str, str]:
    """Name and text of a field."""
    if kind in ("isbn", "bare"):
        return "isbn", re.sub(r"[^\dXx]", "", value).upper()
    if kind == "issn":
        figures = re.sub(r"[^\dXx]", "", value).upper()
        return kind, f"{figures[:4]}-{figures[4:]}"
    return ("note", value) if kind == "ecli" else (kind, quote_braces(value.replace(" ", "")))


def is_isbn(text: str) -> bool:
    """Whether the check digit of an ISBN of ten or thirteen figures is right.

    >>> is_isbn("978-3-16-148410-0"), is_isbn("978-3-16-148410-1")
    (True, False)
    """
    bare = re.sub(r"[^\dXx]", "", text)
    if "X" in bare[:9].upper() or (len(bare) == 13 and not bare.isdigit()):
        return False
    figures = [10 if char in "Xx" else int(char) for char in bare]
    if len(figures) == 10:
        return sum(weight * figure for weight, figure in zip(range(10, 0, -1), figures)) % 11 == 0
    return len(figures) == 13 and sum(figures[::2], 3 * sum(figures[1::2])) % 10 == 0


def is_issn(text: str) -> bool:
    """Whether the check digit of an ISSN is right.

    >>> is_issn("0317-8471"), is_issn("0317-8472")
    (True, False)
    """
    bare = re.sub(r"[^\dXx]", "", text).upper()
    figures = [10 if char == "X" else int(char) for char in bare]
    total = sum(weight * figure for weight, figure in zip(range(8, 0, -1), figures))
    return len(figures) == 8 and "X" not in bare[:7] and total % 11 == 0


def is_arxiv(text: str) -> bool:
    """Whether arXiv could have given a number, by its year, month and length.

    >>> is_arxiv("0704.0001"), is_arxiv("hep-th/9901001v2"), is_arxiv("1913.04471")
    (True, True, False)
    """
    found = NEW_ARXIV.fullmatch(text) or OLD_ARXIV.fullmatch(text)
    if found is None or not "01" <= found["month"][2:] <= "12":
        return False
    if found.re is OLD_ARXIV:
        return found["month"] >= FIRST_OLD or found["month"] < FIRST_NEW
    return found["month"] >= FIRST_NEW and (len(found["number"]) == 4) == (found["month"] <= LAST_SHORT)


CHECKS = {"isbn": is_isbn, "issn": is_issn, "arxiv": is_arxiv}
CHECK_DIGIT = "its check digit is wrong"


@dataclass(frozen=True)
class Fault:
    """An identifier that cannot be right. kind (str): doi, arxiv, isbn or issn. reason (str): what is wrong with it."""

    kind: str
    value: str
    reason: str

    def __str__(self) -> str:
        return f"{self.kind} {self.value}: {self.reason}"


def find_faults(text: str) -> list[Fault]:
    """Return the identifiers of a text whose check digit or form is wrong, and what is called one and is none.

    >>> [str(fault) for fault in find_faults("Hull: Tollgate, 1998. ISBN 978-3-16-148410-1.")]
    ['isbn 9783161484101: its check digit is wrong']
    """
    faults, rest, place = [], [], 0
    for found in find_identifiers(text):
        if found.kind in CHECKS and not CHECKS[found.kind](found.value):
            reason = FORMS["arxiv"] if found.kind == "arxiv" else CHECK_DIGIT
            faults.append(Fault(found.kind, found.value, reason))
        rest.append(text[place : found.start])
        place = found.end
    for match in (match for piece in (*rest, text[place:]) for match in MALFORMED.finditer(piece)):
        kind = match.lastgroup or ""
        faults.append(Fault(kind, _trim(match[kind]), FORMS[kind]))
    return faults


def take_identifiers(text: str) -> tuple[dict[str, str], str]:
    """The first identifier of each kind in a text, and what is left without them and what announces them."""
    found: dict[str, str] = {}
    rest, place = [], 0
    for identifier in find_identifiers(text):
        if identifier.kind not in found:
            found[identifier.kind] = identifier.value
            rest.append(text[place : identifier.start])
            place = identifier.end
    return found, " ".join(" ".join([*rest, text[place:]]).split())


def bare(kind: str, text: str) -> str:
    """An identifier of a kind without what stands before it, such as "https://doi.org/"; any other text as it is.

    >>> bare("doi", "https://doi.org/10.1000/x"), bare("doi", "10.1000/x")
    ('10.1000/x', '10.1000/x')
    """
    found = [one for one in find_identifiers(text) if (one.kind, one.start, one.end) == (kind, 0, len(text))]
    return found[0].value if found else text


def looks_like_arxiv(text: str) -> bool:
    """Whether a text is an address at arXiv, or has the form of a number there; publishers have eprints as well."""
    number = re.sub(r"\s+\[[\w.-]+\]$", "", bare("arxiv", text))  # "1905.12345 [cs.CL]"
    return any(form.fullmatch(number) for form in (NEW_ARXIV, OLD_ARXIV))


def find_accessed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each day on which an address was looked up: behind a mark, or the address itself."""
    for match in ACCESSED.finditer(text):
        date, _ = take_accessed(match[0])
        before = text[max(match.start() - LONGEST_ADDRESS, 0) : match.start()].split()[-1:] or ["."]
        if date is not None and date.first.month is not None and re.search(r"/|[.,;:(\[]$", before[0]):
            yield match.span()


def take_accessed(text: str) -> tuple[Date | None, str]:
    """When an address was looked up, such as "Accessed 3 May 2019", and what is left without it."""
    match = ACCESSED.search(text)
    date, rest = parse_date(match["date"]) if match else (None, "")
    if match is None or date is None or rest:
        return None, text
    before = text[: match.start()].rstrip(" ([,;")
    return date, " ".join(f"{before} {text[match.end() :]}".split())


def quote_braces(address: str) -> str:
    """An identifier without what ends a field of BibTeX, or escapes its end; these signs are percent-encoded."""
    return re.sub(r"[{}\\]", lambda match: quote(match[0]), address)


def _trim(value: str) -> str:
    """Without the punctuation of the sentence, and without brackets whose other half is missing at its end."""
    counts = Counter(value)
    end = len(value)
    while end and (char := value[end - 1]):
        is_alone = char in PAIRS and counts[PAIRS[char]] < counts[char]
        if not is_alone and char not in ".,;:'`\"”’»([{<":
            break
        counts[char] -= 1
        end -= 1
    return value[:end]
