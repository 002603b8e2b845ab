"""Attributes that templates can ask for, by where their values come from.

A value is the 64-bit id that spaCy gives its string; 0 means that the unit has no such attribute (a word shorter than
the affix, a flag that is off), so that templates with it yield nothing there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.strings import get_string_id

from ..core.arrays import Hashes

# Read from the lexeme: strings by their id, flags where they are on
LEXEME_STRINGS = ("ORTH", "LOWER", "SHAPE")
LEXEME_FLAGS = (
    *("IS_ALPHA", "IS_ASCII", "IS_BRACKET", "IS_CURRENCY", "IS_DIGIT", "IS_LEFT_PUNCT", "IS_LOWER", "IS_OOV"),
    *("IS_PUNCT", "IS_QUOTE", "IS_RIGHT_PUNCT", "IS_SPACE", "IS_STOP", "IS_TITLE", "IS_UPPER"),
    *("LIKE_EMAIL", "LIKE_NUM", "LIKE_URL"),
)
# Computed from the letters of the word
COMPUTED = (
    *("PREFIX", "SUFFIX", "LPREFIX", "LSUFFIX", "COLLAPSED", "LENGTH"),
    *("HAS_DIGIT", "HAS_HYPHEN", "HAS_UPPER", "DIGITS", "WORD_CLASS"),
)
# Computed from its normal form
SPELT = ("REWRITTEN", "RPREFIX", "RSUFFIX", "NORMAL")
# Known from its frequency in training
COUNTED = ("COMMON", "RARE")
# Its class among so many that were induced from the training corpus
INDUCED = "CLASS"
LEXICAL = (*LEXEME_STRINGS, *LEXEME_FLAGS, *COMPUTED, *SPELT, *COUNTED, INDUCED)
# Annotation of the token, read with Doc.to_array
ANNOTATION = ("DEP", "ENT_ID", "ENT_IOB", "ENT_KB_ID", "ENT_TYPE", "LEMMA", "MORPH", "NORM", "POS", "SPACY", "TAG")
# Made by the component in training: the set of tags that its dictionary allows, as one value
VALID_TAGS = "VALID_TAGS"
FITTED = (VALID_TAGS,)
# The place in the sequence
POSITIONAL = ("BIAS", "BOS", "EOS", "POSITION")
# Known from the tokens of the sequence together, see `sequence_attributes`: flags, counts of a class of words, and
# attributes of clauses and sentences
FLAGS = ("IN_QUOTES", "IN_BRACKETS")
COUNTS = ("BEFORE", "AFTER")
PARTS = ("CLAUSE", "SENTENCE")
PART_ATTRIBUTES = ("back", "classes", "first", "last", "length", "number", "opening", "place")
HAS = "has "
OF_SEQUENCE = (*FLAGS, *COUNTS, *PARTS)
# Known of a layout element, where units are such instead of tokens
OF_UNITS = "UNIT"
NUMBERED = (*COUNTED, INDUCED, "PREFIX", "SUFFIX", "LPREFIX", "LSUFFIX", "RPREFIX", "RSUFFIX", "POSITION")
PLAIN = (*LEXICAL, *ANNOTATION, *POSITIONAL, *FITTED, *FLAGS)  # spelt without brackets


@dataclass(frozen=True)
class Attribute:
    """One attribute of a unit.

    name (str): a name of the tables above, "_" for an extension, "LIST" for a word list, "UNIT" for layout elements.
    number (int): length of an affix, number of parts for POSITION, length of a list value's prefix (0: whole), offset
        of a clause or sentence.
    key (str): name of the extension or the list, class of words to count, attribute of a clause or sentence, or of a
        layout element.
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
        return self.name in LEXICAL

    @property
    def is_spelt(self) -> bool:
        """Whether the value is made of the normal form of the word."""
        return self.name in SPELT

    @property
    def is_induced(self) -> bool:
        """Whether the value is a class that was induced from the training corpus."""
        return self.name == INDUCED

    @property
    def is_of_sequence(self) -> bool:
        """Whether the value depends on the words and spaces of the whole sequence."""
        return self.name in OF_SEQUENCE

    @property
    def is_annotation(self) -> bool:
        """Whether other components can change the value."""
        return self.name in ANNOTATION or self.name == "_"

    @property
    def is_fitted(self) -> bool:
        """Whether the component knows the value, which cannot be read from Docs."""
        return self.name in FITTED

    @property
    def is_of_units(self) -> bool:
        """Whether the value is one of a layout element; tokens have none."""
        return self.name == OF_UNITS


def string_hash(value: str) -> int:
    """Return the id of a string in every StringStore; 0 for the empty one.

    Symbols of spaCy (NOUN, but also the word "mark") have small ids of their own, not the hash of their letters.
    """
    return get_string_id(value)


def string_hashes(values: Sequence[str]) -> Hashes:
    """((N,)): ids of strings, many of which may be the same."""
    known = {value: get_string_id(value) for value in set(values)}
    return np.fromiter(map(known.__getitem__, values), dtype=np.uint64, count=len(values))
