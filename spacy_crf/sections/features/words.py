"""The words themselves: of short units all that counts, of long ones the first and the last."""

import re

from .sizes import count_words
from .view import UnitView, Values

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_HEAD, _TAIL = 120, 60
_SHORT = 8  # words of a unit that may be a title
_DIGIT = re.compile(r"\d")


def split(text: str) -> list[str]:
    """Lower-cased words with digits as 0."""
    return _WORD.findall(_DIGIT.sub("0", text.lower()))


def whole_text(text: str) -> str:
    """All words of a short text."""
    return " ".join(split(text)) if len(text) < _HEAD and count_words(text) <= _SHORT else ""


def first_word(text: str) -> str:
    """The first word."""
    found = _WORD.search(text, 0, _HEAD)
    return _DIGIT.sub("0", found[0].lower()) if found else ""


def first_words(text: str) -> str:
    """The first two words."""
    return " ".join(split(text[:_TAIL])[:2])


def last_word(text: str) -> str:
    """The last word."""
    return "".join(split(text[-_TAIL:])[-1:])


def whole(view: UnitView) -> Values:
    """All words of a short unit."""
    return view.by_text(whole_text)


def first(view: UnitView) -> Values:
    """First word."""
    return view.by_text(first_word)


def first_two(view: UnitView) -> Values:
    """First two words."""
    return view.by_text(first_words)


def last(view: UnitView) -> Values:
    """Last word."""
    return view.by_text(last_word)


def first_before(view: UnitView) -> Values:
    """First word of the text before."""
    return first(view).take(view.before(view.is_text))


def last_before(view: UnitView) -> Values:
    """Last word of the text before."""
    return last(view).take(view.before(view.is_text))


def first_after(view: UnitView) -> Values:
    """First word of the next text."""
    return first(view).take(view.after(view.is_text))
