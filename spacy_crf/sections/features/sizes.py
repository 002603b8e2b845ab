"""How long a unit is, in words and in letters."""

import re

from .view import UnitView, Values

_LETTER = re.compile(r"[^\W\d_]")
_BRACKET = re.compile(r"[\[({]")
_HEAD = 240  # characters that are counted: whoever has more is long
WORD_BOUNDS = (1, 2, 3, 4, 5, 6, 8, 11, 16, 31)
LETTER_BOUNDS = (1, 5, 10, 20, 30, 50, 75, 150)


def count_words(text: str) -> int:
    """Pieces between white space that have a letter."""
    return sum(piece.isalpha() or any(map(str.isalpha, piece)) for piece in text[:_HEAD].split())


def count_letters(text: str) -> int:
    """Letters."""
    return len(_LETTER.findall(text[:_HEAD]))


def words(view: UnitView) -> Values:
    """Number of words, in ranges."""
    return Values.bins(view.count_by_text(count_words), WORD_BOUNDS)


def words_before_bracket(view: UnitView) -> Values:
    """Number of words before the last opening bracket, in ranges; none where there is no bracket."""
    bounds = {text: [found.start() for found in _BRACKET.finditer(text[:_HEAD])] for text in view.distinct}
    counts = view.count_by_text(lambda text: count_words(text[: bounds[text][-1]]) if bounds[text] else 0)
    return Values.bins(counts, WORD_BOUNDS, view.flag_by_text(bounds.__getitem__))


def letters(view: UnitView) -> Values:
    """Number of letters, in ranges."""
    return Values.bins(view.count_by_text(count_letters), LETTER_BOUNDS)


def words_after(view: UnitView) -> Values:
    """Number of words of the next text."""
    return words(view).take(view.after(view.is_text))


def words_before(view: UnitView) -> Values:
    """Number of words of the text before."""
    return words(view).take(view.before(view.is_text))


def is_longer_after(view: UnitView) -> Values:
    """The next text is a sentence or more: twelve words at least."""
    follows = view.after(view.is_text)
    return Values.flags((follows >= 0) & (view.count_by_text(count_words)[follows] >= 12))
