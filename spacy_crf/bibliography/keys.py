"""Keys to cite entries by."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

from .entry import Entry

LETTERS = {"ß": "ss", "ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
# Words that say nothing at the beginning of a title.
SKIPPED = re.compile("an?|the|on|of|in|to|for|and|der|die|das|eine?|l[ae]s?|une?|het|de|el|los|il")


def unique_keys(entries: Sequence[Entry]) -> list[str]:
    """Family name, year and first word of the title, such as "vanderkooij1993loading".

    Entries that would have the same key get letters, "a" to "z", then "aa" and so on, in their order.

    entries (list[Entry]): of a bibliography.
    RETURNS (list[str]): distinct, of small ASCII letters and figures.
    """
    plain = [plain_key(entry) for entry in entries]
    shared = {key for key, times in Counter(plain).items() if times > 1}
    taken = set(plain) - shared
    keys = []
    for key in plain:
        if key in shared:
            key = next(candidate for candidate in (key + ending for ending in _endings()) if candidate not in taken)
            taken.add(key)
        keys.append(key)
    return keys


def plain_key(entry: Entry) -> str:
    """The key of an entry that is alone."""
    names = (entry.authors or entry.editors).names
    family = _fold(f"{names[0].particle}{names[0].family}") if names else ""
    year = "" if entry.date is None else str(entry.date.first.year)
    words = [_fold(word) for word in re.split(r"[^\w'’]+", entry.title or entry.container)]
    word = next((word for word in words if word and not SKIPPED.fullmatch(word)), "")
    return f"{family}{year}{word}" or "reference"


def _fold(text: str) -> str:
    """Small ASCII letters and figures of a text; letters of other alphabets go."""
    text = "".join(LETTERS.get(char, char) for char in text.lower())
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKD", text))


def _endings() -> Iterator[str]:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for number in count():
        ending = ""
        while number >= 0:
            ending, number = alphabet[number % 26] + ending, number // 26 - 1
        yield ending
