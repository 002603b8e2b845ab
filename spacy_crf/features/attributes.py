"""Attributes that templates can ask for, by where their values come from.

A value is the 64-bit id that spaCy gives its string; 0 means that the unit has no such attribute (a word shorter than
the affix, a flag that is off), so that templates with it yield nothing there.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np
from spacy.lexeme import Lexeme
from spacy.strings import get_string_id

from ..core.arrays import Hashes
from ..core.errors import CRFError
from .errors import FeatureErrors
from .lexicon import NOTHING, Lexicon
from .spelling import Speller
from .word_classes import classify

# Read from the lexeme: strings by their id, flags where they are on
LEXEME_STRINGS = ("ORTH", "LOWER", "SHAPE")
LEXEME_FLAGS = (
    "IS_ALPHA",
    "IS_ASCII",
    "IS_BRACKET",
    "IS_CURRENCY",
    "IS_DIGIT",
    "IS_LEFT_PUNCT",
    "IS_LOWER",
    "IS_OOV",
    "IS_PUNCT",
    "IS_QUOTE",
    "IS_RIGHT_PUNCT",
    "IS_SPACE",
    "IS_STOP",
    "IS_TITLE",
    "IS_UPPER",
    "LIKE_EMAIL",
    "LIKE_NUM",
    "LIKE_URL",
)
# Annotation of the token, read with Doc.to_array
TOKEN_ATTRIBUTES = (
    "DEP",
    "ENT_ID",
    "ENT_IOB",
    "ENT_KB_ID",
    "ENT_TYPE",
    "LEMMA",
    "MORPH",
    "NORM",
    "POS",
    "SPACY",
    "TAG",
)
# Made by the component in training: the set of tags that its dictionary allows, as one value
VALID_TAGS = "VALID_TAGS"
FITTED = (VALID_TAGS,)
# The place in the sequence
POSITIONAL = ("BIAS", "BOS", "EOS", "POSITION")
# What the tokens of the sequence together say of each, see `structure`: flags, counts of a class of words, and what
# there is to know of a part and its neighbours
FLAGS = ("IN_QUOTES", "IN_BRACKETS")
COUNTS = ("BEFORE", "AFTER")
PARTS = ("CLAUSE", "SENTENCE")
PART_ATTRIBUTES = ("back", "classes", "first", "last", "length", "number", "opening", "place")
HAS = "has "
# What is known of a layout element, where units are such instead of tokens: see `features.units`
OF_UNITS = "UNIT"


class _Kinds(dict[int, str]):
    """Kinds of characters for `str.translate`, each found out once."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isalpha():
            kind = "X" if character.isupper() else "x"
        else:
            kind = "d" if character.isdigit() else character
        return self.setdefault(code, kind)


_KINDS = _Kinds()
_REPEATED = re.compile(r"(.)(?=\1)", re.DOTALL)
_DIGIT = re.compile(r"\d")


class WordForms:
    """Lexemes whose attributes are asked for, with their texts, each read once.

    lexemes (list[Lexeme]): of one vocabulary.
    lexicon (Lexicon): what is known of them beyond their letters.
    """

    def __init__(self, lexemes: Sequence[Lexeme], lexicon: Lexicon = NOTHING):
        self.lexemes, self._lexicon = lexemes, lexicon

    @cached_property
    def texts(self) -> list[str]:
        """Their letters."""
        return [lexeme.orth_ for lexeme in self.lexemes]

    @cached_property
    def rewritten(self) -> list[str]:
        """The words after the rewrite rules."""
        return [self._spell().rewrite(text) for text in self.texts]

    @cached_property
    def normal(self) -> list[str]:
        """Their normal forms."""
        return [self._spell().normalise(text) for text in self.texts]

    def _spell(self) -> Speller:
        if self._lexicon.speller is None:
            raise CRFError(FeatureErrors.CRF324)
        return self._lexicon.speller

    def classes(self, size: int) -> list[str]:
        """Their induced classes among so many."""
        if self._lexicon.classes is None:
            raise CRFError(FeatureErrors.CRF978)
        return self._lexicon.classes.classify(self.texts, size)

    def common(self, threshold: int) -> list[bool]:
        """Whether each occurred so often in training."""
        counts = self._lexicon.counts
        if counts is None:
            raise CRFError(FeatureErrors.CRF325)
        return [counts.at_least(text, threshold) for text in self.texts]


# Computed from the text and a number, once per lexeme
COMPUTED: dict[str, Callable[[list[str], int], list[str]]] = {
    "PREFIX": lambda texts, n: [text[:n] if len(text) >= n else "" for text in texts],
    "SUFFIX": lambda texts, n: [text[-n:] if len(text) >= n else "" for text in texts],
    "LPREFIX": lambda texts, n: [text[:n].lower() if len(text) >= n else "" for text in texts],
    "LSUFFIX": lambda texts, n: [text[-n:].lower() if len(text) >= n else "" for text in texts],
    "COLLAPSED": lambda texts, _: [_REPEATED.sub("", text.translate(_KINDS)) for text in texts],
    "LENGTH": lambda texts, _: [str(len(text)) for text in texts],
    "HAS_DIGIT": lambda texts, _: ["1" if _DIGIT.search(text) else "" for text in texts],
    "HAS_HYPHEN": lambda texts, _: ["1" if "-" in text else "" for text in texts],
    "HAS_UPPER": lambda texts, _: ["1" if text != text.lower() else "" for text in texts],
    "DIGITS": lambda texts, _: [_DIGIT.sub("0", text) if _DIGIT.search(text) else "" for text in texts],
    "WORD_CLASS": lambda texts, _: classify(texts),
}
# Computed from normal forms and a number
SPELT: dict[str, Callable[[WordForms, int], list[str]]] = {
    "REWRITTEN": lambda words, _: words.rewritten,
    "RPREFIX": lambda words, n: COMPUTED["PREFIX"](words.rewritten, n),
    "RSUFFIX": lambda words, n: COMPUTED["SUFFIX"](words.rewritten, n),
    "NORMAL": lambda words, _: words.normal,
}
# Known from the training corpus and a number
COUNTED: dict[str, Callable[[list[bool]], list[str]]] = {
    "COMMON": lambda common: ["1" if is_common else "" for is_common in common],
    "RARE": lambda common: ["" if is_common else "1" for is_common in common],
}
# Induced from the training corpus, and how many of them there are
INDUCED = "CLASS"
NUMBERED = (*COUNTED, INDUCED, "PREFIX", "SUFFIX", "LPREFIX", "LSUFFIX", "RPREFIX", "RSUFFIX", "POSITION")


@dataclass(frozen=True)
class Attribute:
    """One attribute of a unit.

    name (str): a name of the tables above, "_" for an extension, "LIST" for a word list, "UNIT" for layout elements.
    number (int): length of an affix, number of parts for POSITION, length of a list value's prefix (0: whole), offset
        of a clause or sentence.
    key (str): name of the extension or the list, the class of words to count, what to know of a clause or sentence, or
        of a layout element.
    """

    name: str
    number: int = 0
    key: str = ""

    def __str__(self) -> str:
        if self.name == "_":
            return f"_.{self.key}"
        if self.name == "LIST":
            return f"LIST({self.key},{self.number})" if self.number else f"LIST({self.key})"
        if self.key:
            return f"{self.name}({self.key},{self.number:+d})" if self.number else f"{self.name}({self.key})"
        return f"{self.name}{self.number}" if self.number else self.name

    @property
    def is_lexical(self) -> bool:
        """Whether the value depends on the word form alone, so that it is computed once per lexeme."""
        known = (*LEXEME_STRINGS, *LEXEME_FLAGS, *COMPUTED)
        return self.name in known or self.is_spelt or self.is_counted or self.is_induced

    @property
    def is_spelt(self) -> bool:
        """Whether the value is made of the normal form of the word."""
        return self.name in SPELT

    @property
    def is_structural(self) -> bool:
        """Whether the value depends on the words and spaces of the whole sequence."""
        return self.name in (*FLAGS, *COUNTS, *PARTS)

    @property
    def is_counted(self) -> bool:
        """Whether the value depends on how often the word occurred in training."""
        return self.name in COUNTED

    @property
    def is_induced(self) -> bool:
        """Whether the value is a class that was induced from the training corpus."""
        return self.name == INDUCED

    @property
    def is_annotation(self) -> bool:
        """Whether other components can change the value."""
        return self.name in TOKEN_ATTRIBUTES or self.name == "_"

    @property
    def is_fitted(self) -> bool:
        """Whether the component knows the value, which cannot be read from Docs."""
        return self.name in FITTED

    @property
    def is_of_units(self) -> bool:
        """Whether the value is one of a layout element; tokens have none."""
        return self.name == OF_UNITS

    def lexical_strings(self, words: WordForms) -> list[str]:
        """Values for word forms; empty where they have none."""
        if self.name in LEXEME_STRINGS:
            return list(map(attrgetter(f"{self.name.lower()}_"), words.lexemes))
        if self.name in LEXEME_FLAGS:
            return ["1" if flag else "" for flag in map(attrgetter(self.name.lower()), words.lexemes)]
        if self.is_spelt:
            return SPELT[self.name](words, self.number)
        if self.is_counted:
            return COUNTED[self.name](words.common(self.number))
        if self.is_induced:
            return words.classes(self.number)
        return COMPUTED[self.name](words.texts, self.number)

    def lexical_hashes(self, words: WordForms) -> Hashes:
        """((N,)): hashes of the values for word forms; 0 where they have none."""
        if self.name in LEXEME_STRINGS:
            ids = map(attrgetter(self.name.lower()), words.lexemes)
            return np.fromiter(ids, dtype=np.uint64, count=len(words.lexemes))
        return string_hashes(self.lexical_strings(words))


def string_hash(value: str) -> int:
    """The id of a string in every StringStore; 0 for the empty one.

    Symbols of spaCy (NOUN, but also the word "mark") have small ids of their own, not the hash of their letters.
    """
    return get_string_id(value)


def string_hashes(values: Sequence[str]) -> Hashes:
    """((N,)): ids of strings, many of which may be the same."""
    known = {value: get_string_id(value) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=np.uint64, count=len(values))
