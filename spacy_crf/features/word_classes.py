"""Classes of words in references: their class in a list of general words, or else a pattern of characters.

The lists are in `classes/references.tsv`: months, words such as "pp", "press" or "proceedings", places.
"""

import re
from functools import cache
from importlib.resources import files

from ..reading.files import read_shipped

_PATTERNS = (
    ("year", re.compile(r"(1[5-9]|20)\d\d[a-z]?")),
    ("number1", re.compile(r"\d")),
    ("number2", re.compile(r"\d\d")),
    ("number3", re.compile(r"\d{3}")),
    ("number4", re.compile(r"\d{4}")),
    ("number", re.compile(r"\d+")),
    ("ordinal", re.compile(r"\d+(st|nd|rd|th)", re.IGNORECASE)),
)
ABBREVIATION = "abbreviation"
# Attributes that are told from these classes, see `sequence_attributes`: counts of one, and of clauses and sentences
COUNTS = ("BEFORE", "AFTER")
PARTS = ("CLAUSE", "SENTENCE")
PART_ATTRIBUTES = ("back", "classes", "first", "last", "length", "number", "opening", "place")
HAS = "has "


@cache
def load_classes() -> dict[str, str]:
    """Return the class of each listed word: capital postal codes as they are, all others in lower case."""
    return {word: name for word, name in _read_rows() if name != ABBREVIATION}


@cache
def load_abbreviations() -> frozenset[str]:
    """Return words in lower case behind which a full stop ends nothing."""
    return frozenset(word for word, name in _read_rows() if name == ABBREVIATION)


@cache
def class_names() -> tuple[str, ...]:
    """Return the classes that are neither a mark nor a mere pattern of letters or digits, sorted: at most 64."""
    return tuple(sorted({*load_classes().values(), "initial", "year"}))


@cache
def word_classes() -> tuple[str, ...]:
    """Return all classes of words, so that every other one is a mark."""
    return (*class_names(), *(name for name, _ in _PATTERNS), "capitalised", "upper", "lower", "mixed")


def _read_rows() -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in read_shipped(files(__package__) / "classes" / "references.tsv")]
    return [(word, name) for name, words in rows for word in words.split()]


def classify(text: str) -> str:
    """Return the class of a word; that of a mark is the mark itself."""
    for name, pattern in _PATTERNS:
        if pattern.fullmatch(text):
            return name
    if len(text) == 1 and text.isupper():
        return "initial"
    classes = load_classes()
    listed = classes.get(text) or classes.get(text.lower())
    if listed:
        return listed
    if not text.isalpha():
        return "mixed" if any(map(str.isalnum, text)) else text
    if text[0].isupper():
        return "capitalised" if len(text) == 1 or not text.isupper() else "upper"
    return "lower"
