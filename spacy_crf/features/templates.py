"""The template language: which attributes of which positions make a feature.

LOWER[0]                  the lower-cased word
LOWER[-2..2]              five templates, one for each position of the window
LOWER[-1]|LOWER[0]        a conjunction: the two words together
SUFFIX3                   no position means [0]
LIST(cities)[1]           the next word's value in a word list; LIST(brown,4) its first four characters
CLASS50[-1..1]            the word's class among fifty that were induced from the training text; see `induced`
COMMON4, RARE6            whether the word occurred at least four, less than six times in training; in conjunctions they
                          confine a template: SUFFIX3|RARE6 is a feature of rare words alone
VALID_TAGS[-1..1]         the tags that the component's dictionary allows, all of them as one value
WORD_CLASS                the kind of word in a reference: year, number2, initial, month, publisher, a mark itself ..
IN_QUOTES, IN_BRACKETS    whether the token is inside
BEFORE(year)              how many years come before the token in the sequence; AFTER(year): behind it
CLAUSE(first)             the first word of its clause; CLAUSE(opening,+1): how the next clause begins; see
                          `sequence_attributes`
SENTENCE(has publisher)   whether its sentence has a word of that class
UNIT(kind)[-1..1]         an attribute of a layout element, in components over such
_.pause                   a custom extension of the token
U:LOWER[0]                the same as LOWER[0] (CRF++ "U")
B:TAG[0]                  an edge template (CRF++ "B"): a weight for each pair of adjacent labels and each TAG
@tagging                  a ready-made set (presets.py)
"""

import difflib
import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.errors import CRFError
from .attributes import COUNTS, HAS, NUMBERED, OF_UNITS, PART_ATTRIBUTES, PLAIN, Attribute
from .errors import FeatureErrors
from .presets import PRESETS
from .word_classes import class_names

MAX_OFFSET = 100
_ATOM = re.compile(r"(?P<attribute>[^\[\]]+?)\s*(\[\s*(?P<first>[+-]?\d+)\s*(\.\.\s*(?P<last>[+-]?\d+)\s*)?\])?$")
_PLAIN = re.compile(r"(?P<name>[A-Z_]+?)(?P<number>\d+)?$")
_OF_SEQUENCE = re.compile(
    r"(?P<name>CLAUSE|SENTENCE|BEFORE|AFTER)\(\s*(?P<key>[a-z0-9]+( [a-z0-9]+)?)\s*(,\s*(?P<number>[+-]?\d+)\s*)?\)$"
)
_UNIT = re.compile(r"UNIT\(\s*(?P<key>[^()|]+?)\s*\)$")
_LIST = re.compile(r"LIST\(\s*(?P<key>[^,()\s]+)\s*(,\s*(?P<number>\d+)\s*)?\)$")
_BRACKETED = ("LIST(name)", "CLAUSE(first)", "SENTENCE(first)", "BEFORE(year)", "AFTER(year)", "UNIT(kind)", "_.name")


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


def parse_templates(texts: Iterable[str]) -> list[Template]:
    """Return the templates behind their spelling, ranges and presets expanded, repetitions dropped.

    RAISES (ValueError): names the template at fault.
    """
    return list(dict.fromkeys(template for text in texts for template in _expand(text.strip())))


def _expand(text: str) -> list[Template]:
    if text.startswith("@"):
        if text[1:] not in PRESETS:
            raise CRFError(FeatureErrors.CRF303.format(preset=text, known=", ".join(f"@{name}" for name in PRESETS)))
        return parse_templates(PRESETS[text[1:]])
    is_edge = text.startswith("B:")
    body = text[2:] if is_edge or text.startswith("U:") else text
    atoms = [_expand_atom(part.strip(), text) for part in body.split("|")]
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
    """Return the attribute behind its spelling, such as LOWER, SUFFIX3, LIST(brown,4), CLAUSE(first,-1) or _.pause.

    RAISES (ValueError): for an unknown name (with the nearest known ones) or a missing or needless number.
    """
    if len(text) > 2 and text.startswith("_."):
        return Attribute("_", key=text[2:])
    if found := _LIST.match(text):
        return Attribute("LIST", int(found["number"] or 0), found["key"])
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
