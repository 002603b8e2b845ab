"""How templates are spelt as attribute strings, and back: "ORTH[-1]|ORTH[0]" as "w[-1]|w[0]={}|{}"."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..core.errors import CRFError
from ..features.templates import LEXEME_FLAGS, Attribute, Template, parse_templates
from .errors import EstimatorErrors

GAP = "{}"
FLAGS = (*LEXEME_FLAGS, "HAS_DIGIT", "HAS_HYPHEN", "HAS_UPPER", "BIAS", "BOS", "EOS", "SPACY")
ON = "1"  # the value of a flag


@dataclass(frozen=True)
class Spelling:
    """One template and the form of its attribute strings.

    template (Template): state template. form (str): with a gap {} for the value of each atom that is not a flag.
    """

    template: Template
    form: str

    @cached_property
    def literals(self) -> list[str]:
        """What stands before, between and behind the gaps."""
        return self.form.split(GAP)

    def values(self, attribute: str) -> Iterator[tuple[str, ...]]:
        """Values of the template's atoms that are spelt like an attribute.

        There are several where the text between two gaps occurs in a value: all of them are spelt alike.
        """
        for found in _fill(attribute, self.literals):
            gaps = iter(found)
            yield tuple(ON if is_flag(atom.attribute) else next(gaps) for atom in self.template.atoms)


def is_flag(attribute: Attribute) -> bool:
    """Whether an attribute is on or off, so that its spelling has no value."""
    return attribute.name in FLAGS


def parse_spellings(spellings: Mapping[str, str]) -> list[Spelling]:
    """Spellings by template.

    spellings (Mapping): for each state template the form of its strings.
    RAISES (ValueError): for an edge template, a range of templates, or a form with too few or too many gaps.
    """
    parsed = []
    for text, form in spellings.items():
        templates = parse_templates([text])
        if len(templates) != 1 or templates[0].is_edge:
            raise CRFError(EstimatorErrors.CRF722.format(template=text))
        gaps = sum(not is_flag(atom.attribute) for atom in templates[0].atoms)
        if form.count(GAP) != gaps:
            raise CRFError(
                EstimatorErrors.CRF723.format(template=text, form=form, expected=gaps, found=form.count(GAP))
            )
        parsed.append(Spelling(templates[0], form))
    return parsed


def _fill(text: str, literals: list[str]) -> Iterator[tuple[str, ...]]:
    """All ways to read a text as literals with something between each two."""
    first, *rest = literals
    if not text.startswith(first):
        return
    text = text[len(first) :]
    if not rest:
        if not text:
            yield ()
        return
    if len(rest) == 1:  # the last gap takes everything up to the last literal
        value = text.removesuffix(rest[0])
        if value and len(value) == len(text) - len(rest[0]):
            yield (value,)
        return
    end = text.find(rest[0], 1)
    while end > 0:
        for others in _fill(text[end:], rest):
            yield (text[:end], *others)
        end = text.find(rest[0], end + 1)
