"""Numberings, list marks and quotation marks at the start of an element, told by their form alone.

What is found is a candidate: whether "2010" or "A." numbers anything is for the labels to say.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.grammar.numbering import ALONE, KEYWORDS, NUMBER_WORDS, numerals

CLOSING = r"[.:)\]°º]"
ROMAN = r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"  # above 399 stand words and units: di, cm, mix
PART = rf"(?:\d{{1,4}}|{ROMAN}|[a-z])"
MONTHS = (
    *("jan", "feb", "mrt", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "okt", "oct", "nov", "dec", "dez"),
    *("januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november"),
    *("december", "january", "february", "march", "may", "june", "july", "august", "october", "januar", "februar"),
    *("märz", "mai", "dezember", "janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre"),
    *("octobre", "novembre", "décembre"),
)
END = r"(?=\s|$)"
KEYWORD = re.compile(
    rf"(?:(?:{'|'.join(KEYWORDS)})\.?|[§¶]{{1,2}})[ \t\u00a0]*"
    rf"(?<=[\s.§¶])(?:\d{{1,4}}[a-z]?|{ROMAN}[a-z]?|[a-z]|(?<=\s)(?:{'|'.join(NUMBER_WORDS)}))"
    rf"(?:[.:-]{PART})*(?:\([a-z\d]{{1,4}}\))*"
    rf"(?:{CLOSING}{{1,2}}{END}|{END}|(?=[–—]))",
    re.IGNORECASE,
)
WITHOUT_NUMBER = re.compile(rf"(?:{'|'.join(sorted(ALONE))})(?:[:.](?=\s|$)|(?=\s*$|\s(?-i:[A-Z])))", re.IGNORECASE)
BEFORE_WORD = r"(?=\s|$|[^\W\d_]|[\"'“‘„(\[])"
BRACKETED = re.compile(rf"[(\[] ?{PART}(?:[.-]{PART}){{0,9}}[a-z]? ?[)\]][.:]?{BEFORE_WORD}", re.IGNORECASE)
CLOSED = re.compile(
    rf"(?:\d{{1,4}}[a-z]?|[a-z]\d{{1,3}}|{ROMAN}|[a-z])(?:[.-](?:\d{{1,3}}[a-z]?|{ROMAN}|[a-z])){{0,9}}"
    rf"(?:{CLOSING}{{1,2}}|\.-){BEFORE_WORD}",
    re.IGNORECASE,
)
DOTTED = re.compile(r"(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:\.(?:\d{1,3}[a-z]?|[a-z])){1,9}(?=\s|$|[A-Z\"“‘„(])")
BARE_ARABIC = re.compile(rf"\d{{1,3}}(?:[a-z]|bis|ter|[A-Z](?=\s+[A-Z]|\s*$))?{END}(?!\s*[%€$])")
BARE_CAPITAL = re.compile(r"(?:[IVXLC]{1,7}|[A-Z])(?=\s+[A-Z\"“‘„(]|\s*$|\t| {2})")
BARE_SMALL = re.compile(rf"(?:(?=[ivx]+\b){ROMAN}|[a-z])(?=\t| {{2,}}|\s*$)")
WEAK = re.compile(rf"(?:(?=[ivx]+\b){ROMAN}|(?=[IVX]+\b){ROMAN.upper()}|[A-Za-z])(?= \S)")
AMOUNT = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?(?=\s|$)")
MONTH = rf"(?:{'|'.join(MONTHS)})\b"
DATE = re.compile(rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\d{{1,2}}(?:\s*{MONTH}|[.)]\s*{MONTH}\.?\s*\d{{4}})", re.IGNORECASE)
SPACED = re.compile(r"(?:[^\W\d_][ \u00a0]{1,4}){2,}[^\W\d_](?=\s|$)")
PARTICLES = "van|de|der|den|von|di|du|la|le|ten|ter|el|al"
INITIALS = re.compile(rf"(?:[A-Z][a-z]?\.\s?){{2,6}}(?:(?:{PARTICLES})\s)*[A-Z][\w’'-]+\s*$")
MARK = re.compile(r"[-–—*#•‣⁃·●○◦▪▫■□►▶➢✓➔→?+](?=\s)|[•‣⁃●○◦▪▫■□►▶➢✓➔](?=\S)")
MARKS = frozenset("-–—*#•‣⁃·●○◦▪▫■□►▶➢✓➔→?+_=.")
QUOTE = re.compile(r"[\"“„«‘‚‹`´]|['’](?=\S)(?![stnkmrd][\s-])")
SINGLE = (BRACKETED, DOTTED, CLOSED)
BARE = (BARE_ARABIC, BARE_CAPITAL, BARE_SMALL)
LONGEST = 200  # characters that are looked at: no numbering is longer
REACH = 50  # units between two members of a series


def find_numbering(text: str, start: int, end: int, first: bool = True) -> int:
    """Find the end of a numbering that an element begins with; `start` if there is none.

    text (str): the document. start (int), end (int): the element, or the rest of it, without white space at its ends.
    first (bool): nothing was split off before: behind another numbering, one needs a closing sign, a bracket or a dot.
    RETURNS (int): the place behind the numbering and its closing sign.
    """
    end = min(end, start + LONGEST)
    if not (text[start].isalnum() or text[start] in "([§¶"):
        return start
    head = text[start:end]
    if first and (match := KEYWORD.match(head) or WITHOUT_NUMBER.match(head)):
        return start + match.end()
    if DATE.match(head) or AMOUNT.match(head) or SPACED.match(head) or INITIALS.match(head):
        return start
    for pattern in SINGLE + BARE if first else SINGLE:
        if match := pattern.match(head):
            return start + match.end()
    return start


def find_letter(text: str, start: int, end: int) -> int:
    """Find the end of a letter or roman numeral that stands alone at the start of an element; `start` if there is none.

    It numbers the element only if others nearby do so too: "a" and "I" are words (see `find_series`).
    """
    match = WEAK.match(text, start, end)
    return start if match is None or SPACED.match(text, start, end) else match.end()


def find_mark(text: str, start: int, end: int) -> int:
    """Find the end of a list mark that an element begins with; `start` if there is none, or several in a row."""
    if text[start] not in MARKS or not MARK.match(text, start, end):
        return start
    rest = start + 1
    while rest < end and text[rest].isspace():
        rest += 1
    return start if rest >= end or text[rest] in MARKS else start + 1


def find_quote(text: str, start: int, end: int) -> int:
    """Find the end of an opening quotation mark that an element begins with; `start` if there is none."""
    return start + 1 if QUOTE.match(text, start, end) else start


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter or roman numeral without any sign, which may be a numbering.

    place (int): of the unit that it begins. end (int): where it ends in the text. text (str), indent (int): its own.
    """

    place: int
    end: int
    text: str
    indent: int


def find_series(letters: Sequence[Letter]) -> list[Letter]:
    """Those that have a predecessor or a successor nearby, of the same kind and with the same indentation.

    letters (list[Letter]): of a document, in order. RETURNS (list[Letter]): in order. O(letters).
    """
    last: dict[tuple[str, int, int], int] = {}
    kept: set[int] = set()
    for number, letter in enumerate(letters):
        for kind, value in numerals(letter.text):
            before = last.get((kind, value - 1, letter.indent))
            if before is not None and letter.place - letters[before].place <= REACH:
                kept.update((before, number))
            last[kind, value, letter.indent] = number
    return [letters[number] for number in sorted(kept)]
