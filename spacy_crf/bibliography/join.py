"""Lines of a reference put together again: hyphens and addresses at line ends."""

import re
from collections.abc import Iterable

SOFT_HYPHEN = "\u00ad"
BROKEN_WORD = re.compile(r"(?P<first>[^\W\d_]+)[-\u2010]$")
WORD = re.compile(r"[^\W\d_]+")
ADDRESS = re.compile(r"(?:https?://|ftp://|www\.|doi\.org/|\b10\.\d{4,9}/)\S*$", re.IGNORECASE)
OPEN_END = re.compile(r"[/\-_=?&#%~:+]$")  # an address does not end so
OPEN_START = re.compile(r"[/._=?&#%~]\S")
# First and second parts of English compounds that are written with a hyphen. Such a hyphen stays at a line end.
FIRST_PARTS = re.compile(
    "low|high|long|short|self|non|well|half|full|real|large|small|cross|open|one|two|three|four|five|six|seven|eight|"
    "nine|ten|first|second|third|time|cost|case|data|mid|single|double|fine|hand"
)
SECOND_PARTS = re.compile(
    "based|driven|free|wise|dependent|oriented|specific|level|scale|like|aware|century|year|old|order|term|time"
)
# With these behind them, the first parts are parts of a word: "low-er", "part-ner".
SUFFIXES = re.compile(
    "e|er|est|ed|ly|ing|ity|ism|ist|i[sz]e|i[sz]ed|ish|ial|ially|ality|ners?|ness|ages?|al|tion|ting|ter|ways?|bases?|"
    "hand|e?s|en|able|ular|lines?"
)


def join_lines(lines: Iterable[str], words: frozenset[str] = frozenset()) -> str:
    """One line of several.

    A hyphen at a line end goes if the word was broken there. It stays before a capital or a digit, within an address,
    and in a compound. Whether a word is a compound is told by `words`, then by a short list of English ones.

    lines (Iterable[str]): of one reference. words (frozenset[str]): of the whole text, lower-cased: see `find_words`.
    RETURNS (str): the text, with single spaces.
    """
    text = ""
    for line in lines:
        line = " ".join(line.split())
        text = _join(text, line, words) if text and line else text or line
    return text.replace(SOFT_HYPHEN, "")


def find_words(text: str) -> frozenset[str]:
    """Words with and without hyphens that a text has within its lines, lower-cased."""
    return frozenset(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*(?!-?\n)", text.lower()))


def _join(text: str, line: str, words: frozenset[str]) -> str:
    if text.endswith(SOFT_HYPHEN):
        return text[:-1] + line
    last = text[text.rfind(" ") + 1 :]
    if _continues_address(last, line):
        return text + line
    broken, second = BROKEN_WORD.search(last), WORD.match(line)
    if broken and second:
        keep = _is_compound(broken["first"], second[0], words)
        return (text if keep else text[:-1]) + line
    is_range = re.search(r"\S[-\u2010\u2013]$", last) is not None
    return text + ("" if is_range else " ") + line


def _continues_address(last: str, line: str) -> bool:
    """Whether a line begins with the rest of the address that is the last word before it."""
    if not ADDRESS.search(last):
        return False
    if OPEN_END.search(last) or OPEN_START.match(line):
        return True
    return last.endswith(".") and re.match(r"[a-z\d]", line) is not None


def _is_compound(first: str, second: str, words: frozenset[str]) -> bool:
    if not second[0].islower():
        return True
    first, second = first.lower(), second.lower()
    if f"{first}-{second}" in words or first + second in words:
        return first + second not in words
    if FIRST_PARTS.fullmatch(first) and not SUFFIXES.fullmatch(second):
        return True
    return SECOND_PARTS.fullmatch(second) is not None and len(first) > 2
