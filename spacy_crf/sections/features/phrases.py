"""Word lists: the classes of phrases that a unit is, opens with, ends with or has inside.

The lists are data (lists/*.tsv): `phrase<TAB>class`, a phrase in as many classes as one likes. Phrases are compared
without capitals, accents, marks and leading article.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.resources import files
from itertools import product

from ...features.resources import WordList
from .batch import UnitBatch, unit_feature
from .text import is_spaced

LANGUAGES = ("en", "nl")
CLASSES = (
    *("article", "court", "head", "link", "month", "numeral", "quote_intro", "role", "sentence", "signature", "title"),
    *("verb", "weak_title", "you_and_i"),
)
RELATIONS = ("is", "opens", "ends", "has")
Entries = Iterable[tuple[tuple[str, ...], str]]

_WORD = re.compile(r"[^\W_]+")
_HEAD, _TAIL = 120, 60
_LONGEST = 8  # words at the end of a unit that a phrase may be
_INSIDE = 14  # words of a unit that are looked through


def normalise(text: str) -> list[str]:
    """Words without capitals, accents and marks; spaced letters are joined to one word."""
    plain = text.lower()
    if not plain.isascii():
        split = unicodedata.normalize("NFKD", plain)
        plain = "".join(character for character in split if not unicodedata.combining(character))
    words = _WORD.findall(plain)
    return ["".join(words)] if is_spaced(text) else words


class Phrases:
    """Phrases by class.

    entries (Entries): words of each phrase, and its class.
    """

    def __init__(self, entries: Entries):
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
        words = normalise(text[:_HEAD])
        last = len(words) if len(text) <= _HEAD else -1  # the end of the text
        bare = int(len(words) > 1 and words[0] in self._articles)
        found: set[str] = set()
        for start, end, name in self._matches(words[:_INSIDE]):
            found.add(f"has {name}")
            if start in (0, bare):
                found.add(f"opens {name}")
                if end == last:
                    found.add(f"is {name}")
        tail = words if last >= 0 else normalise(text[-_TAIL:])
        for _, end, name in self._matches(tail[-_LONGEST:]):
            if end == min(len(tail), _LONGEST):
                found.add(f"ends {name}")
        return frozenset(found)

    def _matches(self, words: list[str]) -> Iterator[tuple[int, int, str]]:
        """Start, end and class of all phrases in a text."""
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                for name in self._classes.get(tuple(words[start : start + length]), ()):
                    yield start, start + length, name


for _relation, _class in product(RELATIONS, CLASSES):
    _name = f"{_relation} {_class}"
    unit_feature(_name, "text_before", "text_after")(partial(UnitBatch.related, relation=_name))


def parse_list(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Entries of a list in the form of the files.

    RAISES (ValueError): with the number of a line that is none.
    """
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        phrase, _, name = line.partition("\t")
        words = tuple(normalise(phrase))
        if not words or not name.strip():
            raise ValueError(number, line)
        entries.append((words, name.strip()))
    return entries


def built_in(language: str) -> list[tuple[tuple[str, ...], str]]:
    """Entries of one of LANGUAGES."""
    return parse_list((files(__package__) / "lists" / f"{language}.tsv").read_text(encoding="utf8"))
