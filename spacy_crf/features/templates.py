"""The template language: which attributes of which positions make a feature. The guide to features has the attributes.

LOWER[0], LOWER           an attribute of the unit itself
LOWER[-2..2]              five templates, one for each position of the window
LOWER[-1]|LOWER[0]        a conjunction: the two words together
SUFFIX3, TAG(2)           attributes with a number: the last three letters, the first two characters of an annotation
LIST(cities)[1], _.pause  the next word's value in a word list; a custom extension of the token
UNIT(kind)[-1..1]         an attribute of a layout element, in components over such
B:TAG[0]                  an edge template (CRF++ "B"): a weight for each pair of adjacent labels and each TAG
@tagging                  a ready-made set (presets.py)

The value of an attribute is the 64-bit id that spaCy gives its string; 0 means that the unit has no such attribute (a
word shorter than the affix, a flag that is off), so that templates with it yield nothing there.
"""

import difflib
import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.arrays import cached_property
from ..core.errors import CRFError, excerpt
from .errors import FeatureErrors
from .hashing import string_hash
from .presets import PRESETS
from .word_classes import COUNTS, HAS, PART_ATTRIBUTES, PARTS, class_names

# Read from the lexeme: strings by their id, flags where they are on
LEXEME_STRINGS = ("ORTH", "LOWER", "SHAPE")
LEXEME_FLAGS = (
    *("IS_ALPHA", "IS_ASCII", "IS_BRACKET", "IS_CURRENCY", "IS_DIGIT", "IS_LEFT_PUNCT", "IS_LOWER", "IS_OOV"),
    *("IS_PUNCT", "IS_QUOTE", "IS_RIGHT_PUNCT", "IS_SPACE", "IS_STOP", "IS_TITLE", "IS_UPPER"),
    *("LIKE_EMAIL", "LIKE_NUM", "LIKE_URL"),
)
# Parts of the word: none of a shorter word, or all of it
SLICES = ("PREFIX", "SUFFIX", "LPREFIX", "LSUFFIX", "START", "END", "LSTART", "LEND")
# Computed from the letters of the word
COMPUTED = (
    *(*SLICES, "COLLAPSED", "LENGTH"),
    *("HAS_DIGIT", "HAS_HYPHEN", "HAS_UPPER", "DIGITS", "WORD_CLASS"),
)
# Flags of the word alone, and what is on where one of them is off
WORD_FLAGS = (*LEXEME_FLAGS, "HAS_DIGIT", "HAS_HYPHEN", "HAS_UPPER")
NOT = "NOT"
# Computed from its normal form
SPELT = ("REWRITTEN", "RPREFIX", "RSUFFIX", "NORMAL")
# Known from its frequency in training
COUNTED = ("COMMON", "RARE")
# Its class among so many that were induced from the training corpus
INDUCED = "CLASS"
# The beginning of its path in a tree of clusters, from the lookups of the vocabulary
CLUSTER = "CLUSTER"
_LEXICAL = (*LEXEME_STRINGS, *LEXEME_FLAGS, *COMPUTED, *SPELT, *COUNTED, INDUCED, CLUSTER)
# Annotation of the token, read with Doc.to_array
ANNOTATION = ("DEP", "ENT_ID", "ENT_IOB", "ENT_KB_ID", "ENT_TYPE", "LEMMA", "MORPH", "NORM", "POS", "SPACY", "TAG")
# of which templates may ask for the first characters
CUT = ("DEP", "ENT_TYPE", "LEMMA", "MORPH", "NORM", "POS", "TAG")
# Made by the component in training: the set of tags that its dictionary allows, as one value
VALID_TAGS = "VALID_TAGS"
FITTED = (VALID_TAGS,)
# The place in the sequence
POSITIONAL = ("BIAS", "BOS", "EOS", "POSITION")
# Known from the tokens of the sequence together, see `sequence_attributes`
FLAGS = ("IN_QUOTES", "IN_BRACKETS")
OF_SEQUENCE = (*FLAGS, *COUNTS, *PARTS)
# Known of a layout element, where units are such instead of tokens
OF_UNITS = "UNIT"
NUMBERED = (*COUNTED, INDUCED, CLUSTER, *SLICES, "RPREFIX", "RSUFFIX", "POSITION")
PLAIN = (*_LEXICAL, *ANNOTATION, *POSITIONAL, *FITTED, *FLAGS)  # spelt without brackets

MAX_OFFSET = 100
LONGEST = 1000  # characters of a template
MOST_TEMPLATES = 10_000  # that ranges of one template stand for
_NUMBER = r"[+-]?\d{1,9}"
_ATOM = re.compile(rf"(?P<attribute>[^\[\]]+?)\s*(\[\s*(?P<first>{_NUMBER})\s*(\.\.\s*(?P<last>{_NUMBER})\s*)?\])?$")
_PLAIN = re.compile(r"(?P<name>[A-Z_]+?)(?P<number>\d{1,9})?$")
_OF_SEQUENCE = re.compile(
    r"(?P<name>CLAUSE|SENTENCE|BEFORE|AFTER)\("
    rf"\s*(?P<key>[a-z0-9]+( [a-z0-9]+)?)\s*(,\s*(?P<number>{_NUMBER})\s*)?\)$"
)
_NOT = re.compile(r"NOT\(\s*(?P<key>[A-Z_]+)\s*\)$")
_CUT = re.compile(rf"(?P<name>{'|'.join(CUT)})\(\s*(?P<number>[1-9]\d{{0,3}})\s*\)$")
_UNIT = re.compile(r"UNIT\(\s*(?P<key>[^()|]+?)\s*\)$")
_LIST = re.compile(r"LIST\(\s*(?P<key>[^,()\s]+)\s*(,\s*(?P<number>\d{1,9})\s*)?\)$")
_BRACKETED = (
    *("LIST(name)", "NOT(IS_UPPER)", "TAG(2)", "CLAUSE(first)", "SENTENCE(first)", "BEFORE(year)", "AFTER(year)"),
    *("UNIT(kind)", "_.name"),
)


@dataclass(frozen=True)
class Attribute:
    """One attribute of a unit.

    name (str): a name of the tables above, "_" for an extension, "LIST" for a word list, "UNIT" for layout elements.
    number (int): length of an affix, number of parts for POSITION, length of the prefix of annotation or of a list's
        value (0: whole), offset of a clause or sentence.
    key (str): what stands in brackets, if not a number alone, or the name of the extension.
    """

    name: str
    number: int = 0
    key: str = ""

    def __str__(self) -> str:
        if self.name == "_":
            return f"_.{self.key}"
        if self.name in CUT:
            return f"{self.name}({self.number})" if self.number else self.name
        if not self.key:
            return f"{self.name}{self.number}" if self.number else self.name
        sign = "" if self.name == "LIST" else "+"
        return f"{self.name}({self.key},{self.number:{sign}d})" if self.number else f"{self.name}({self.key})"

    @property
    def is_lexical(self) -> bool:
        """Whether the value depends on the word form alone, so that it is computed once per lexeme."""
        return self.name in _LEXICAL or self.name == NOT

    @property
    def is_of_sequence(self) -> bool:
        """Whether the value depends on the words and spaces of the whole sequence."""
        return self.name in OF_SEQUENCE

    @property
    def is_annotation(self) -> bool:
        """Whether other components can change the value."""
        return self.name in ANNOTATION or self.name == "_"

    @property
    def is_of_units(self) -> bool:
        """Whether the value is one of a layout element; tokens have none."""
        return self.name == OF_UNITS


@dataclass(frozen=True)
class Atom:
    """An attribute at a position relative to the unit."""

    attribute: Attribute
    offset: int

    def __str__(self) -> str:
        return f"{self.attribute}[{self.offset}]"


@dataclass(frozen=True)
class Template:
    """A conjunction of atoms; an edge template where it conditions the transition into the unit."""

    atoms: tuple[Atom, ...]
    is_edge: bool

    def __str__(self) -> str:
        return ("B:" if self.is_edge else "") + "|".join(map(str, self.atoms))

    @cached_property
    def key(self) -> int:
        """What hashes of its features begin with."""
        return string_hash(str(self))


def parse_templates(texts: Iterable[str]) -> list[Template]:
    """Return the templates behind their spelling, ranges and presets expanded, repetitions dropped."""
    return list(dict.fromkeys(template for text in texts for template in _expand(text.strip())))


def _expand(text: str) -> list[Template]:
    if text.startswith("@"):
        if text[1:] not in PRESETS:
            raise CRFError(FeatureErrors.CRF303.format(preset=text, known=", ".join(f"@{name}" for name in PRESETS)))
        return parse_templates(PRESETS[text[1:]])
    if len(text) > LONGEST:
        raise CRFError(FeatureErrors.CRF304.format(template=excerpt(text), part=excerpt(text)))
    is_edge = text.startswith("B:")
    body = text[2:] if is_edge or text.startswith("U:") else text
    atoms = [_expand_atom(part.strip(), text) for part in body.split("|")]
    number = math.prod(map(len, atoms))
    if number > MOST_TEMPLATES:
        raise CRFError(FeatureErrors.CRF333.format(template=text, number=number, most=MOST_TEMPLATES))
    return [Template(chosen, is_edge) for chosen in itertools.product(*atoms)]


def _expand_atom(text: str, template: str) -> list[Atom]:
    found = _ATOM.match(text)
    if not found:
        raise CRFError(FeatureErrors.CRF304.format(template=template, part=text))
    attribute = parse_attribute(found["attribute"])
    first = int(found["first"] or 0)
    last = int(found["last"]) if found["last"] else first
    if last < first or max(abs(first), abs(last)) > MAX_OFFSET:
        raise CRFError(FeatureErrors.CRF304.format(template=template, part=text))
    return [Atom(attribute, offset) for offset in range(first, last + 1)]


def parse_attribute(text: str) -> Attribute:
    """Return the attribute behind its spelling, such as LOWER, SUFFIX3, LIST(brown,4), CLAUSE(first,-1) or _.pause."""
    if len(text) > 2 and text.startswith("_."):
        return Attribute("_", key=text[2:])
    if found := _LIST.match(text):
        return Attribute("LIST", int(found["number"] or 0), found["key"])
    if (found := _NOT.match(text)) and found["key"] in WORD_FLAGS:
        return Attribute(NOT, key=found["key"])
    if found := _CUT.match(text):
        return Attribute(found["name"], int(found["number"]))
    if found := _UNIT.match(text):
        return Attribute(OF_UNITS, key=found["key"])
    if found := _OF_SEQUENCE.match(text):
        return _of_sequence(text, found["name"], found["key"], int(found["number"] or 0))
    found = _PLAIN.match(text)
    if not found or found["name"] not in PLAIN:
        raise CRFError(FeatureErrors.CRF301.format(attribute=text, near=_nearest(text)))
    name, number = found["name"], int(found["number"] or 0)
    if (name in NUMBERED) != bool(found["number"]) or (name in NUMBERED and not number):
        raise CRFError(FeatureErrors.CRF302.format(attribute=text))
    return Attribute(name, number)


def _of_sequence(text: str, name: str, key: str, number: int) -> Attribute:
    counted = key if name in COUNTS else key.removeprefix(HAS) if key.startswith(HAS) else None
    if counted is None and key not in PART_ATTRIBUTES:
        known = ", ".join((*PART_ATTRIBUTES, "has CLASS"))
        raise CRFError(FeatureErrors.CRF330.format(attribute=text, key=key, known=known))
    if counted is not None and counted not in class_names():
        raise CRFError(FeatureErrors.CRF331.format(attribute=text, name=counted, known=", ".join(class_names())))
    if number and (name in COUNTS or key == "place"):
        raise CRFError(FeatureErrors.CRF332.format(attribute=text))
    return Attribute(name, number, key)


def _nearest(text: str) -> str:
    """Return the known attributes that a misspelt one may mean, or all of them."""
    stem = re.sub(r"\d+$", "", text.upper())
    return ", ".join(difflib.get_close_matches(stem, PLAIN, n=3, cutoff=0.6) or [*PLAIN, *_BRACKETED])
