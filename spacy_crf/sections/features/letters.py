"""Capitals, spaced letters, and what a unit begins and ends with."""

import re

import numpy as np

from ...core.arrays import Bools
from .sizes import count_letters
from .view import UnitView, Values

_LONG = 120  # characters of running text, of which it matters only whether it is in capitals
_SPACED = re.compile(r"(?:[^\W\d_] +){3,}[^\W\d_]\W*$")
_DIGITS = re.compile(r"[\d\W]+$")
_CLOSING = ")]}"
_UPPER_SHARE = 0.9
_UPPER_LETTERS = 5  # fewer are initials or an abbreviation


def opening(text: str) -> str:
    """What the first character is: upper, lower, digit, bracket, other."""
    if not text:
        return ""
    first = text[0]
    if first.isalpha():
        return "upper" if first.isupper() else "lower"
    return "digit" if first.isdigit() else "bracket" if first in "([{" else "other"


def ending(text: str) -> str:
    """What the last character is: letter, digit, closing bracket, or itself."""
    if not text:
        return ""
    last = text[-1]
    if last.isalpha():
        return "letter"
    return "digit" if last.isdigit() else "bracket" if last in _CLOSING else last


def case(text: str) -> str:
    """How its letters are written: spaced (U I T), upper, title, sentence (one capital, at the start), mixed, lower.

    Text of more than 120 characters is "running", or upper.
    """
    if len(text) > _LONG:
        return "upper" if text[:_LONG].isupper() else "running"
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


def are_cased(view: UnitView, *cases_: str) -> Bools:
    """((N,)): units whose letters are written in one of some ways."""
    return np.array([found in cases_ for found in view.of_texts(case)], dtype=np.bool_)[view.text_numbers]


def opens(view: UnitView) -> Values:
    """First character; see `opening`."""
    return view.by_text(opening)


def ends(view: UnitView) -> Values:
    """Last character; see `ending`."""
    return view.by_text(ending)


def cases(view: UnitView) -> Values:
    """How the letters are written; see `case`."""
    return view.by_text(case)


def is_digits(view: UnitView) -> Values:
    """No letters, but digits."""
    return Values.flags(view.flag_by_text(lambda text: bool(_DIGITS.match(text)) and any(map(str.isdigit, text))))


def ends_before(view: UnitView) -> Values:
    """Last character of the text before."""
    return ends(view).take(view.before(view.is_text))


def opens_after(view: UnitView) -> Values:
    """First character of the next text."""
    return opens(view).take(view.after(view.is_text))


def case_before(view: UnitView) -> Values:
    """How the letters of the text before are written."""
    return cases(view).take(view.before(view.is_text))


def case_after(view: UnitView) -> Values:
    """How the letters of the next text are written."""
    return cases(view).take(view.after(view.is_text))
