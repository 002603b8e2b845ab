"""Features of a unit's own text: its size, its letters, its first and last words, and what it holds."""

import re
from functools import partial

import numpy as np

from ...core.arrays import Bools
from .batch import PRESENT, FeatureValues, UnitBatch, text_feature, unit_feature

_HEAD, _TAIL, _FAR = 120, 60, 240  # characters that are looked at
WORD_BOUNDS = (1, 2, 3, 4, 5, 6, 8, 11, 16, 31)
LETTER_BOUNDS = (1, 5, 10, 20, 30, 50, 75, 150)
_LETTER = re.compile(r"[^\W\d_]")
_BRACKET = re.compile(r"[\[({]")


def count_words(text: str) -> int:
    """Pieces between white space that have a letter; whoever has more than 240 characters is long."""
    return sum(piece.isalpha() or any(map(str.isalpha, piece)) for piece in text[:_FAR].split())


def _count_letters(text: str) -> int:
    return len(_LETTER.findall(text[:_FAR]))


@unit_feature("words", "text_before", "text_after")
def words(batch: UnitBatch) -> FeatureValues:
    """Number of words, in ranges."""
    return FeatureValues.bins(batch.count_by_text(count_words), WORD_BOUNDS)


@unit_feature("words before bracket")
def words_before_bracket(batch: UnitBatch) -> FeatureValues:
    """Number of words before the last opening bracket, in ranges; none where there is no bracket."""
    bounds = {text: [found.start() for found in _BRACKET.finditer(text[:_FAR])] for text in batch.distinct}
    counts = batch.count_by_text(lambda text: count_words(text[: bounds[text][-1]]) if bounds[text] else 0)
    return FeatureValues.bins(counts, WORD_BOUNDS, batch.flag_by_text(bounds.__getitem__))


@unit_feature("letters")
def letters(batch: UnitBatch) -> FeatureValues:
    """Number of letters, in ranges."""
    return FeatureValues.bins(batch.count_by_text(_count_letters), LETTER_BOUNDS)


@unit_feature("is longer after")
def is_longer_after(batch: UnitBatch) -> FeatureValues:
    """The next text is a sentence or more: twelve words at least."""
    follows = batch.text_after
    return FeatureValues.flags((follows >= 0) & (batch.count_by_text(count_words)[follows] >= 12))


_SPACED = re.compile(r"(?:[^\W\d_] +){3,}[^\W\d_]\W*$")
_DIGITS = re.compile(r"[\d\W]+$")
_CLOSING = ")]}"
_UPPER_SHARE = 0.9
_UPPER_LETTERS = 5  # fewer are initials or an abbreviation


@text_feature("opens", "text_after")
def opening(text: str) -> str:
    """The class of the first character: upper, lower, digit, bracket, other."""
    if not text:
        return ""
    first = text[0]
    if first.isalpha():
        return "upper" if first.isupper() else "lower"
    return "digit" if first.isdigit() else "bracket" if first in "([{" else "other"


@text_feature("ends", "text_before")
def ending(text: str) -> str:
    """The class of the last character: letter, digit, closing bracket, or itself."""
    if not text:
        return ""
    last = text[-1]
    if last.isalpha():
        return "letter"
    return "digit" if last.isdigit() else "bracket" if last in _CLOSING else last


@text_feature("case", "text_before", "text_after")
def case(text: str) -> str:
    """The case of its letters: spaced (U I T), upper, title, sentence (one capital, at the start), mixed, lower.

    Text of more than 120 characters is "running", or upper.
    """
    if len(text) > _HEAD:
        return "upper" if text[:_HEAD].isupper() else "running"
    n_letters = _count_letters(text)
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


def are_cased(batch: UnitBatch, *cases: str) -> Bools:
    """((N,)): units whose letters are written in one of some ways."""
    return np.array([found in cases for found in batch.of_texts(case)], dtype=np.bool_)[batch.text_numbers]


@unit_feature("is digits")
def is_digits(batch: UnitBatch) -> FeatureValues:
    """No letters, but digits."""
    return FeatureValues.flags(batch.flag_by_text(lambda text: _DIGITS.match(text) and any(map(str.isdigit, text))))


_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_SHORT = 8  # words of a unit that may be a title
_DIGIT = re.compile(r"\d")


def _split(text: str) -> list[str]:
    """Lower-cased words with digits as 0."""
    return _WORD.findall(_DIGIT.sub("0", text.lower()))


@text_feature("whole")
def whole_text(text: str) -> str:
    """All words of a short text."""
    return " ".join(_split(text)) if len(text) < _HEAD and count_words(text) <= _SHORT else ""


@text_feature("first", "text_before", "text_after")
def first_word(text: str) -> str:
    """The first word."""
    found = _WORD.search(text, 0, _HEAD)
    return _DIGIT.sub("0", found[0].lower()) if found else ""


@text_feature("first two")
def first_words(text: str) -> str:
    """The first two words."""
    return " ".join(_split(text[:_TAIL])[:2])


@text_feature("last", "text_before")
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


def _holds(batch: UnitBatch, name: str) -> FeatureValues:
    return FeatureValues(batch.text_numbers, [PRESENT if name in found else "" for found in batch.of_texts(contents)])


for _name in CONTENTS:
    unit_feature(f"holds {_name}")(partial(_holds, name=_name))
