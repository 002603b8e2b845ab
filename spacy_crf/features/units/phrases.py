"""Word lists: which classes of phrases a unit is, opens with, ends with or has inside.

The lists are data (lists/*.tsv): `phrase<TAB>class`, a phrase in as many classes as one likes. Phrases are compared
without capitals, accents, marks and leading article.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property
from importlib.resources import files

from .letters import case
from .view import PRESENT, UnitView, Values

LANGUAGES = ("en", "nl")
CLASSES = (
    *("article", "court", "head", "link", "month", "numeral", "quote_intro", "role", "sentence", "signature", "title"),
    *("verb", "weak_title", "you_and_i"),
)
RELATIONS = ("is", "opens", "ends", "has")
Entries = Iterable[tuple[tuple[str, ...], str]]

_WORD = re.compile(r"[^\W_]+")
_HEAD, _TAIL = 160, 60
_LONGEST = 6  # words of a phrase
_INSIDE = 14  # words of a unit that are looked through


def normalise(text: str) -> list[str]:
    """Words without capitals, accents and marks; spaced letters are joined to one word."""
    plain = unicodedata.normalize("NFKD", text.lower())
    words = _WORD.findall("".join(character for character in plain if not unicodedata.combining(character)))
    return ["".join(words)] if case(text) == "spaced" else words


class Phrases:
    """Phrases by class.

    entries (Entries): words of each phrase, and its class.
    """

    def __init__(self, entries: Entries):
        self.entries = sorted(set(entries))
        self._classes: dict[tuple[str, ...], set[str]] = {}
        for words, name in self.entries:
            self._classes.setdefault(words, set()).add(name)
        self._articles = {words[0] for words, name in self.entries if name == "article" and len(words) == 1}

    def facts(self, text: str) -> frozenset[str]:
        """What a text has to do with the phrases: "is title", "opens head", "ends role", "has verb"."""
        words = normalise(text[:_HEAD])
        bare = words[1:] if len(words) > 1 and words[0] in self._articles else words
        found: set[str] = set()
        if len(text) < _HEAD:
            self._add(found, "is", (tuple(words), tuple(bare)))
        self._add(found, "opens", (tuple(part[:k]) for part in (words, bare) for k in range(1, _LONGEST + 1)))
        last = words if len(text) < _HEAD else normalise(text[-_TAIL:])
        self._add(found, "ends", (tuple(last[-k:]) for k in range(1, _LONGEST + 1)))
        inside = words[:_INSIDE]
        spans = ((i, j) for i in range(len(inside)) for j in range(i + 1, min(i + _LONGEST, len(inside)) + 1))
        self._add(found, "has", (tuple(inside[i:j]) for i, j in spans))
        return frozenset(found)

    def _add(self, found: set[str], relation: str, candidates: Iterable[tuple[str, ...]]) -> None:
        for words in candidates:
            for name in self._classes.get(words, ()):
                found.add(f"{relation} {name}")


class PhraseView:
    """What is known of the phrases in the units of a view; each distinct text is looked through once."""

    def __init__(self, view: UnitView, phrases: Phrases):
        self.view, self.phrases = view, phrases

    @cached_property
    def _facts(self) -> list[frozenset[str]]:
        return [self.phrases.facts(text) for text in self.view.distinct]

    def fact(self, name: str) -> Values:
        """Units of which a fact holds. name (str): such as "is title"."""
        return Values(self.view.text_numbers, [PRESENT if name in facts else "" for facts in self._facts])


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
