"""Attributes from their spelling in templates."""

import difflib
import re

from ..core.errors import CRFError
from .attributes import (
    COMPUTED,
    COUNTED,
    COUNTS,
    FITTED,
    FLAGS,
    HAS,
    INDUCED,
    LEXEME_FLAGS,
    LEXEME_STRINGS,
    NUMBERED,
    OF_UNITS,
    PART_ATTRIBUTES,
    POSITIONAL,
    SPELT,
    TOKEN_ATTRIBUTES,
    Attribute,
)
from .errors import FeatureErrors
from .word_classes import class_names

_FORM = re.compile(r"(?P<name>[A-Z_]+?)(?P<number>\d+)?$")
_KNOWN = (
    *LEXEME_STRINGS,
    *LEXEME_FLAGS,
    *COMPUTED,
    *SPELT,
    *COUNTED,
    INDUCED,
    *TOKEN_ATTRIBUTES,
    *POSITIONAL,
    *FITTED,
    *FLAGS,
)
_STRUCTURE = re.compile(
    r"(?P<name>CLAUSE|SENTENCE|BEFORE|AFTER)\(\s*(?P<key>[a-z0-9]+( [a-z0-9]+)?)\s*(,\s*(?P<number>[+-]?\d+)\s*)?\)$"
)
_UNIT = re.compile(r"UNIT\(\s*(?P<key>[^()|]+?)\s*\)$")
_LIST = re.compile(r"LIST\(\s*(?P<key>[^,()\s]+)\s*(,\s*(?P<number>\d+)\s*)?\)$")


def parse_attribute(text: str) -> Attribute:
    """Attribute from its spelling, such as LOWER, SUFFIX3, POSITION4, LIST(cities), LIST(brown,4), CLAUSE(first,-1) or
    _.pause.

    RAISES (ValueError): for an unknown name (with the nearest known ones) or a missing or needless number.
    """
    if len(text) > 2 and text.startswith("_."):
        return Attribute("_", key=text[2:])
    if found := _LIST.match(text):
        return Attribute("LIST", int(found["number"] or 0), found["key"])
    if found := _UNIT.match(text):
        return Attribute(OF_UNITS, key=found["key"])
    if found := _STRUCTURE.match(text):
        return _structural(text, found["name"], found["key"], int(found["number"] or 0))
    found = _FORM.match(text)
    if not found or found["name"] not in _KNOWN:
        raise CRFError(FeatureErrors.CRF301.format(attribute=text, near=_nearest(text)))
    name, number = found["name"], int(found["number"] or 0)
    if (name in NUMBERED) != bool(found["number"]) or (name in NUMBERED and not number):
        raise CRFError(FeatureErrors.CRF302.format(attribute=text))
    return Attribute(name, number)


def _structural(text: str, name: str, key: str, number: int) -> Attribute:
    """An attribute of the structure of the sequence, if it is one."""
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
    """Known attributes that a misspelt one may mean, or all of them."""
    stem = re.sub(r"\d+$", "", text.upper())
    near = difflib.get_close_matches(stem, _KNOWN, n=3, cutoff=0.6)
    return ", ".join(
        near
        or [
            *_KNOWN,
            "LIST(name)",
            "CLAUSE(first)",
            "SENTENCE(first)",
            "BEFORE(year)",
            "AFTER(year)",
            "UNIT(kind)",
            "_.name",
        ]
    )
