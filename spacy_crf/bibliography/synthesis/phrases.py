"""Phrases from small grammars, drawn at random: the files in `words/`; and how titles and journals are spelt.

A rule is `symbol: alternative | alternative`, an alternative that counts n times begins with `n*`, and lines that are
indented go on with the rule above. In an alternative `{symbol}` stands for a phrase of that symbol, and `{Cap:symbol}`
for one with a capital.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from random import Random

from ...reading.files import read_shipped

SLOT = re.compile(r"\{(?P<capital>Cap:)?(?P<symbol>[\w-]+)\}")
WEIGHT = re.compile(r"(?P<times>\d+)\* ")
DEEPEST = 12  # expansions within each other
STOP = re.compile(
    r"a|an|the|of|on|in|and|&|for|to|with|by|der|die|das|für|und|zur|de|des|du|la|le|les|et|d'.*|l'.*|y|del|el|los|las"
)
SHORTENED = re.compile(
    r"^((?:[aeiouyäöüéAEIOUYÄÖÜÉ]|[^\W\d_aeiouyäöüé]+[aeiouyäöüé]+)[^\W\d_aeiouyäöüé]+)[aeiouyäöüéà]\w+$"
)
LONG_WORD = 5  # letters, from which on words of journals are shortened


class Phrasebook:
    """The rules of some files of `words/`; of a symbol that several have, those of the last one."""

    def __init__(self, rules: Mapping[str, Sequence[str]]):
        self.rules = rules

    @classmethod
    def load(cls, *names: str) -> "Phrasebook":
        """Return the rules of files by their names, without the suffix."""
        return cls({symbol: found for name in names for symbol, found in _read_rules(name).items()})

    def draw(self, symbol: str, rng: Random, depth: int = 0) -> str:
        """Return a phrase of a symbol."""
        chosen = rng.choice(self.rules[symbol])
        if depth > DEEPEST:
            return SLOT.sub("", chosen)
        return SLOT.sub(lambda slot: self._fill(slot, rng, depth), chosen)

    def _fill(self, slot: re.Match[str], rng: Random, depth: int) -> str:
        text = self.draw(slot["symbol"], rng, depth + 1)
        return capitalise(text) if slot["capital"] else text


def capitalise(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


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
    rows = [line.split() for line in read_shipped(files(__package__) / "words" / "short.txt")]
    return dict(rows)


def headline(title: str) -> str:
    """Return a title with capitals at all words but small ones."""
    words = title.split(" ")
    return " ".join(word if STOP.fullmatch(word) and place else capitalise(word) for place, word in enumerate(words))


@cache
def _read_rules(name: str) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    symbol = ""
    for line in filter(str.strip, read_shipped(files(__package__) / "words" / f"{name}.txt")):
        if not line.startswith(" "):
            symbol, _, line = line.partition(": ")
        for alternative in line.strip().split(" | "):
            weight = WEIGHT.match(alternative)
            times = int(weight["times"]) if weight else 1
            rules.setdefault(symbol, []).extend([alternative[weight.end() if weight else 0 :]] * times)
    return rules
