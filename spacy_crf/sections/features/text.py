"""Facts of a text by itself: its size, letters, first and last words, what it holds, and phrases of word lists.

The lists are data (lists/*.tsv): `phrase<TAB>class`, a phrase in as many classes as one likes. Phrases are compared
without capitals, accents, marks and leading article.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from ...core.errors import CRFError
from ...features.errors import FeatureErrors
from ...features.resources import WordList
from ..errors import SectionErrors

_HEAD, _TAIL, _FAR, _MOST = 120, 60, 240, 400  # characters that are looked at
_TECHNICAL = re.compile(
    r"[=<>{}\[\];\\|$@#*^~`_%]"
    r"|(?:^|\s)-{1,2}\w"  # an option
    r"|\w\(."  # a call
    r"|(?:^|\s)/\w|/\w*/"  # a path
    r"|[^\W\d_]\.[^\W\d_]"  # the name of a file, or an attribute
    r"|^\W+$"
    r"|:\S"
)
_PAGE = re.compile(r"\.{2,}.*$|[\s\d.…]+$")  # what a table of contents has behind a heading
_LETTER = re.compile(r"[^\W\d_]")
_SPACED = re.compile(r"(?:[^\W\d_] +){3,}[^\W\d_]\W*$")
_DIGITS = re.compile(r"[\d\W]+$")
_UPPER_SHARE = 0.9
_UPPER_LETTERS = 5  # fewer are initials or an abbreviation
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_DIGIT = re.compile(r"\d")
SHORT = 9  # a line with so many words is too long for a title that nothing but its looks tells


def count_words(text: str) -> int:
    """Pieces between white space that have a letter; whoever has more than 240 characters is long."""
    return sum(piece.isalpha() or any(map(str.isalpha, piece)) for piece in text[:_FAR].split())


def count_letters(text: str) -> int:
    """Letters; whoever has more than 240 characters has many."""
    return len(_LETTER.findall(text[:_FAR]))


def words_before_bracket(text: str) -> int:
    """Words before the last opening bracket; -1 where there is none."""
    place = max(text.rfind(bracket, 0, _FAR) for bracket in "[({")
    return count_words(text[:place]) if place >= 0 else -1


def opening(text: str) -> str:
    """The class of the first character: upper, lower, digit, bracket, other."""
    if not text:
        return ""
    first = text[0]
    if first.isalpha():
        return "upper" if first.isupper() else "lower"
    return "digit" if first.isdigit() else "bracket" if first in "([{" else "other"


def ending(text: str) -> str:
    """The class of the last character: letter, digit, closing bracket, or itself."""
    if not text:
        return ""
    last = text[-1]
    if last.isalpha():
        return "letter"
    return "digit" if last.isdigit() else "bracket" if last in ")]}" else last


def case(text: str) -> str:
    """The case of its letters: spaced (U I T), upper, title, sentence (one capital, at the start), mixed, lower.

    Text of more than 120 characters is "running", or upper.
    """
    if len(text) > _HEAD:
        return "upper" if text[:_HEAD].isupper() else "running"
    n_letters = count_letters(text)
    if not n_letters:
        return ""
    if is_spaced(text):
        return "spaced"
    n_upper = sum(map(str.isupper, text))
    if n_upper >= _UPPER_SHARE * n_letters:
        return "upper" if n_letters > _UPPER_LETTERS else "short upper"
    words = [word for word in text.split() if word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    if capitals == len(words) > 1:
        return "title"
    if n_upper == 0:
        return "lower"
    return "sentence" if n_upper == 1 and text.lstrip("([\"' ")[:1].isupper() else "mixed"


def is_spaced(text: str) -> bool:
    """Whether the letters stand apart, as in U I T S P R A A K."""
    return text[1:2] == " " and bool(_SPACED.match(text))


def is_technical(own: str) -> bool:
    """Whether a text has signs of code, paths and other names that are no words."""
    return bool(_TECHNICAL.search(own[:_MOST]))


def without_page(own: str) -> str:
    """A text without capitals, and without the dots and the page number at its end."""
    return _PAGE.sub("", own[:_MOST]).strip().lower()


def is_digits(text: str) -> bool:
    """Whether there are no letters, but digits."""
    return bool(_DIGITS.match(text)) and any(map(str.isdigit, text))


def has_leading_zero(text: str) -> bool:
    """Whether a numbering begins with 0."""
    return text.lstrip("([").startswith("0")


def _split(text: str) -> list[str]:
    """Lower-cased words with digits as 0."""
    return _WORD.findall(_DIGIT.sub("0", text.lower()))


def whole_text(text: str) -> str:
    """All words of a short text."""
    return " ".join(_split(text)) if len(text) < _HEAD and count_words(text) < SHORT else ""


def first_word(text: str) -> str:
    """The first word."""
    found = _WORD.search(text, 0, _HEAD)
    return _DIGIT.sub("0", found[0].lower()) if found else ""


def first_words(text: str) -> str:
    """The first two words."""
    return " ".join(_split(text[:_TAIL])[:2])


def last_word(text: str) -> str:
    """The last word."""
    return "".join(_split(text[-_TAIL:])[-1:])


_PATTERNS = {
    "square": r"\[",
    "bracketed": r"\[[^\]]*\]\W*$",
    "round": r"\(",
    "dots": r"\(\s*(?:\.{2,}|…)\s*\)|\[\s*(?:\.{2,}|…)\s*\]",
    "date": r"\b\d{1,2}[-./ ](?:\d{1,2}|[^\W\d_]{3,9})[-./ ]\d{4}\b|\b\d{4}-\d\d-\d\d\b|\b[A-Z][a-z]+ \d{1,2}, \d{4}\b",
    "docket": r"\b\d+\s?/\s?\d+|\b(?=\w*\d)(?=\w*[A-Z])[\w.]+[/-][\w./-]*\d|\b\d{2,}[.-]\d{3,}",
    "amount": r"[€$£]|\b(?:EUR|USD|GBP|f|fl)\.? ?\d",
    "year": r"\b(?:19|20)\d\d\b",
    "several quotes": r"[\"“”„‘’«»].*[\"“”„‘’«»]",
    "abbreviation": r"\b(?:[mM]r|[dD]rs?|[iI]r|[pP]rof|[mM]rs|[jJ]hr|[bB]\.?[vV]|[nN]\.?[vV]|Ltd|Inc|LLC|GmbH)\b\.?",
    "initials": r"\b(?:[A-Z]\. ?){1,4}(?:(?:van|de|der|den|von|ten|ter) ){0,3}[A-Z][a-z]+",
    "comma": r",",
    "leader": r"(?:\. ?|_|…){4,}\s*\w{0,5}$",
    "inner stop": r"[.;:?!]\s+\S",
    "statute": r"\bart(?:ikel|\.)?s? \d|\bsection \d|§ ?\d",
}
_COMPILED = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
# characters without one of which a pattern has no match: most texts need not be searched
_NEEDS = {
    **{"square": "[", "bracketed": "[", "round": "(", "dots": "([", "initials": ".", "comma": ",", "leader": "._…"},
    **dict.fromkeys(("date", "docket", "year", "statute"), "0123456789"),
    **{"inner stop": ".;:?!", "amount": "0123456789€$£", "several quotes": '"“”„‘’«»'},
}
CONTENTS = tuple(_PATTERNS)


def contents(text: str) -> frozenset[str]:
    """Find which of CONTENTS the beginning of a text holds."""
    head = text[:_HEAD]
    characters = frozenset(head)
    return frozenset(
        name
        for name, pattern in _COMPILED.items()
        if (name not in _NEEDS or not characters.isdisjoint(_NEEDS[name])) and pattern.search(head)
    )


# -- word lists ----------------------------------------------------------------------------------------------

LANGUAGES = ("de", "en", "es", "fr", "it", "nl")
CLASSES = (
    *("article", "court", "head", "link", "month", "numeral", "quote_intro", "role", "sentence", "signature", "title"),
    *("verb", "weak_title", "you_and_i"),
)
RELATIONS = ("is", "opens", "ends", "has")
Entries = Iterable[tuple[tuple[str, ...], str]]
_LETTERS = re.compile(r"[^\W_]+")
_LONGEST = 8  # words at the end of a unit that a phrase may be
_INSIDE = 14  # words of a unit that are looked through


def _normalise(text: str) -> list[str]:
    """Words without capitals, accents and marks; spaced letters are joined to one word."""
    plain = text.lower()
    if not plain.isascii():
        split = unicodedata.normalize("NFKD", plain)
        plain = "".join(character for character in split if not unicodedata.combining(character))
    words = _LETTERS.findall(plain)
    return ["".join(words)] if is_spaced(text) else words


class Phrases:
    """Phrases by class. entries (Entries): words of each phrase, and its class."""

    def __init__(self, entries: Entries = ()):
        self.entries = sorted(set(entries))
        self._classes: dict[tuple[str, ...], set[str]] = {}
        self._lengths: dict[str, set[int]] = {}  # of the phrases that begin with a word
        for words, name in self.entries:
            self._classes.setdefault(words, set()).add(name)
            self._lengths.setdefault(words[0], set()).add(len(words))
        self._articles = {words[0] for words, name in self.entries if name == "article" and len(words) == 1}

    @classmethod
    def of_lists(cls, lists: Iterable[WordList]) -> "Phrases":
        """The phrases of all word lists of a component."""
        return cls(entry for each in lists for entry in each.entries)

    def relations(self, text: str) -> frozenset[str]:
        """Relations of a text to the phrases: "is title", "opens head", "ends role", "has verb". O(words)."""
        words = _normalise(text[:_HEAD])
        last = len(words) if len(text) <= _HEAD else -1  # the end of the text
        bare = int(len(words) > 1 and words[0] in self._articles)
        found: set[str] = set()
        for start, end, name in self._matches(words[:_INSIDE]):
            found.add(f"has {name}")
            if start in (0, bare):
                found.add(f"opens {name}")
                if end == last:
                    found.add(f"is {name}")
        tail = words if last >= 0 else _normalise(text[-_TAIL:])
        ends = min(len(tail), _LONGEST)
        return frozenset(found.union(f"ends {name}" for _, end, name in self._matches(tail[-_LONGEST:]) if end == ends))

    def _matches(self, words: list[str]) -> Iterator[tuple[int, int, str]]:
        """Start, end and class of all phrases in a text."""
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                for name in self._classes.get(tuple(words[start : start + length]), ()):
                    yield start, start + length, name


def parse_list(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Entries of a list in the form of the files. RAISES (ValueError): with the number of a line that is none."""
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        phrase, _, name = line.partition("\t")
        words = tuple(_normalise(phrase))
        if not words or not name.strip():
            raise ValueError(number, line)
        entries.append((words, name.strip()))
    return entries


def built_in(language: str) -> list[tuple[tuple[str, ...], str]]:
    """Entries of one of LANGUAGES."""
    return parse_list((files(__package__) / "lists" / f"{language}.tsv").read_text(encoding="utf8"))


def read_list(name: str, path: Path) -> Entries:
    """Entries of a file. name (str): of the list. RAISES (ValueError): if it cannot be read, or a line is no entry."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(FeatureErrors.CRF307.format(name=name, path=path, error=error)) from error
    try:
        return parse_list(text)
    except ValueError as error:
        line, found = error.args
        raise CRFError(SectionErrors.CRF967.format(path=path, line=line, text=found)) from error


def by_class(lists: Mapping[str, Entries]) -> dict[str, WordList]:
    """A list for each class of each file, as a phrase may be in several classes."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name, entries in lists.items():
        for words, value in entries:
            found.setdefault(f"{name}.{value}", []).append((words, value))
    return {name: WordList(name, entries) for name, entries in found.items()}
