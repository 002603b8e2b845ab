"""Names that are made of others: blended family names, shortened journals, titles with capitals."""

import re
from functools import cache
from importlib.resources import files

from .phrases import capitalise

STOP = re.compile(
    r"a|an|the|of|on|in|and|&|for|to|with|by|der|die|das|für|und|zur|de|des|du|la|le|les|et|d'.*|l'.*|y|del|el|los|las"
)
SHORTENED = re.compile(
    r"^((?:[aeiouyäöüéAEIOUYÄÖÜÉ]|[^\W\d_aeiouyäöüé]+[aeiouyäöüé]+)[^\W\d_aeiouyäöüé]+)[aeiouyäöüéà]\w+$"
)
SYLLABLE = re.compile(r"[A-ZÄÖÜÁÉŞČŁ][^\W\d_aeiouyäöüáéíóú]{0,2}[aeiouyäöüáéíóú]+[^\W\d_aeiouyäöüáéíóú]?(?=[a-z])")
LAST_SYLLABLE = re.compile(r"(?<=[a-zäöü])[bcdfghjklmnpqrstvwxzčšžłñ]+[aeiouyäöüáéíóúą]+[a-zčšžłńñćá]*$")
LONG_WORD = 5  # letters, from which on words of journals are shortened


def blend(first: str, second: str) -> str:
    """Return a name that begins as one and ends as another, broken before a consonant: "Hofmeyer" of two."""
    start, end = SYLLABLE.match(first), LAST_SYLLABLE.search(second)
    return f"{start[0]}{end[0]}" if start and end else first


def shorten(journal: str, with_stops: bool) -> str:
    """Return the name of a journal with its long words shortened, as ISO 4 does it, and without small words."""
    words = [word for word in journal.split() if not STOP.fullmatch(word.lower())]
    if len(words) < 2:
        return journal
    return " ".join(_shorten_word(word, "." if with_stops else "") for word in words)


def _shorten_word(word: str, stop: str) -> str:
    known = _short_words().get(word)
    if known is not None:
        return known if known == word else known + stop
    found = SHORTENED.match(word) if len(word) > LONG_WORD else None
    return found[1] + stop if found else word


@cache
def _short_words() -> dict[str, str]:
    """Return the short forms of words that journals have most."""
    text = (files(__package__) / "words" / "short.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return dict(rows)


def headline(title: str) -> str:
    """Return a title with capitals at all words but small ones."""
    words = title.split(" ")
    return " ".join(word if STOP.fullmatch(word) and place else capitalise(word) for place, word in enumerate(words))
