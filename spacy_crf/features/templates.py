"""The template language: which attributes of which positions make a feature.

LOWER[0]                  the lower-cased word
LOWER[-2..2]              five templates, one for each position of the window
LOWER[-1]|LOWER[0]        a conjunction: the two words together
SUFFIX3                   no position means [0]
LIST(cities)[1]           the next word's value in a word list; LIST(brown,4) its first four characters
CLASS50[-1..1]            the word's class among fifty that were induced from the training text; see `induced`
VALID_TAGS[-1..1]         the tags that the component's dictionary allows, all of them as one value
WORD_CLASS                the kind of word in a reference: year, number2, initial, month, publisher, a mark itself ..
IN_QUOTES, IN_BRACKETS    whether the token is inside
BEFORE(year)              how many years come before the token in the sequence; AFTER(year): behind it
CLAUSE(first)             the first word of its clause; CLAUSE(opening,+1): how the next clause begins; see `clauses`
SENTENCE(has publisher)   whether its sentence has a word of that class
UNIT(kind)[-1..1]         what is known of a layout element, in components over such; see `features.units`
_.pause                   a custom extension of the token
U:LOWER[0]                the same as LOWER[0] (CRF++ "U")
B:TAG[0]                  an edge template (CRF++ "B"): a weight for each pair of adjacent labels and each TAG
@tagging                  a ready-made set (presets.py)
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.errors import CRFError
from .attribute_names import parse_attribute
from .attributes import Attribute
from .errors import FeatureErrors
from .presets import PRESETS

MAX_OFFSET = 100


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


_ATOM = re.compile(r"(?P<attribute>[^\[\]]+?)\s*(\[\s*(?P<first>[+-]?\d+)\s*(\.\.\s*(?P<last>[+-]?\d+)\s*)?\])?$")


def parse_templates(texts: Iterable[str]) -> list[Template]:
    """Templates from their spelling, ranges and presets expanded, repetitions dropped.

    RAISES (ValueError): names the template at fault.
    """
    templates: dict[Template, None] = {}
    for text in texts:
        for template in _expand(text.strip()):
            templates[template] = None
    return list(templates)


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
