"""From labelled units to the tree: the input of the tree parsers, the labels by role, and what becomes of sections."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..core.arrays import Doubles, Floats, Indices, Ints
from ..core.errors import CRFError
from ..core.grammar.numbering import readings
from ..core.sections.features import NAMES
from ..core.sections.headings import HeadingLabels, ParserInput
from ..core.sections.learn import LearnSettings, TreeExample, learn_weights
from ..core.sections.parse import ParserSettings, Section, SectionParse, parse
from .errors import SectionErrors
from .features.rules import NUMBER, ROLES, TITLE
from .segment import Kind, LayoutUnit
from .tree import Element, SectionNode, SectionTree

DEFAULT_ROLES = dict(zip(ROLES, ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")))
LEAST_LOG = -30.0  # of the probability of a label: what is rarer is impossible, as it is in the chain


@dataclass(slots=True)
class SectionPrediction:
    """Units with their labels, and the tree.

    units (list[LayoutUnit]): N of them. tags ((N,)): numbers of labels. probabilities ((N, L)): of all labels.
    trace (list[str] | None): the rule that decided each unit, where rules did. tree (SectionTree): of sections.
    """

    units: list[LayoutUnit]
    tags: Ints
    probabilities: Floats
    trace: list[str] | None
    tree: SectionTree


class TreeParser(Protocol):
    """Builds trees of sections over labelled units: `StackParser`, or `GrammarParser` by a grammar."""

    def parse(self, document: ParserInput) -> SectionParse:
        """Find the best tree, with its probabilities and the labels that go with it."""

    def learn(self, examples: Sequence[TreeExample], c2: float) -> None:
        """Learn weights from gold trees. c2 (float): penalty on what they differ from those that come with it.

        RAISES (ValueError): for a gold tree that no parse can have.
        """

    def can_learn(self, example: TreeExample) -> None:
        """RAISES (ValueError): for a gold tree that no parse can have."""

    def reset(self) -> None:
        """Forget what was learned."""

    def to_bytes(self) -> bytes:
        """Write what was learned as JSON."""

    def from_bytes(self, data: bytes) -> None:
        """The inverse of `to_bytes`."""


@dataclass
class StackParser:
    """The dynamic programme over stacks of open sections.

    max_states (int | None): stacks kept at each heading. weights ((F,) | None): None for those set by hand.
    """

    max_states: int | None
    weights: Doubles | None = None

    def parse(self, document: ParserInput) -> SectionParse:
        return parse(document, self.weights, ParserSettings(max_states=self.max_states), probabilities=True)

    def learn(self, examples: Sequence[TreeExample], c2: float) -> None:
        self.weights = learn_weights(examples, settings=LearnSettings(c2=c2)) if examples else None

    def can_learn(self, example: TreeExample) -> None:
        learn_weights([example], settings=LearnSettings(rounds=1, iterations=0))

    def reset(self) -> None:
        self.weights = None

    def to_bytes(self) -> bytes:
        named = {} if self.weights is None else dict(zip(NAMES, self.weights.tolist()))
        return json.dumps(named, indent=1).encode("utf8")  # not with srsly, which rounds numbers

    def from_bytes(self, data: bytes) -> None:
        """Take over weights; a grammar that was stored is none of this parser."""
        named = dict(json.loads(data))
        self.weights = np.array([float(named[each]) for each in NAMES]) if named and "grammar" not in named else None


@dataclass(frozen=True)
class LabelRoles:
    """Labels by role: the rest of the parser knows roles, not names.

    names (dict[str, str]): a label for each of "number", "title", "text" and "newline". Labels of the training data
        beyond these count as text.
    """

    names: Mapping[str, str]

    @classmethod
    def parse(cls, name: str, given: Mapping[str, str]) -> "LabelRoles":
        """Roles of a config, the usual ones where it has none. name (str): of the component.

        RAISES (ValueError): for an unknown role, or one label in two roles.
        """
        merged = {**DEFAULT_ROLES, **given}
        if set(merged) != set(ROLES) or len(set(merged.values())) < len(ROLES):
            raise CRFError(SectionErrors.CRF969.format(name=name, value=dict(given), roles=", ".join(ROLES)))
        return cls(merged)

    @property
    def labels(self) -> list[str]:
        """Labels in the order of the roles."""
        return [self.names[role] for role in ROLES]

    @property
    def newline(self) -> str:
        """The label of blank lines."""
        return self.names["newline"]

    def order(self, found: Iterable[str]) -> list[str]:
        """Labels as a component keeps them: those with roles first, then the others by name."""
        return [*self.labels, *sorted(set(found) - set(self.labels))]

    def of_labels(self, labels: Sequence[str]) -> Indices:
        """((L,)): the role of each label."""
        number = {label: role for role, label in enumerate(self.labels)}
        return np.array([number.get(label, ROLES.index("text")) for label in labels], dtype=np.intp)

    def sum(self, probabilities: Doubles, labels: Sequence[str]) -> Doubles:
        """((N, 4)): probabilities of the roles. probabilities ((N, L)): of the labels."""
        summed: Doubles = np.zeros((len(probabilities), len(ROLES)))
        np.add.at(summed.T, self.of_labels(labels), probabilities.T)
        return summed


def parser_input(text: str, units: Sequence[LayoutUnit], probabilities: Doubles) -> ParserInput:
    """The document as a tree parser reads it.

    units (Sequence[LayoutUnit]): N of them. probabilities ((N, 4)): of the roles, 0 and 1 for labels that are given.
    """
    texts = [text[unit.start : unit.end] for unit in units]
    with np.errstate(divide="ignore"):
        scores = np.log(probabilities)
    likeliest = scores.max(axis=1, keepdims=True, initial=-np.inf)
    return ParserInput(
        label_scores=np.where(scores < likeliest + LEAST_LOG, -np.inf, scores),
        readings=[readings(own) if unit.kind is Kind.NUMBER else () for own, unit in zip(texts, units)],
        typography=np.array([typography(unit.styles, own) for own, unit in zip(texts, units)], dtype=np.intp),
        top_titles=np.array([is_first_level(own) for own in texts], dtype=np.bool_),
        newlines=np.array([unit.kind is Kind.NEWLINE for unit in units], dtype=np.bool_),
        labels=HeadingLabels(NUMBER, TITLE),
        name=text[:40].replace("\n", " "),
    )


_HEADING, _BOLD, _CAPITALS, _SPACED, _UNDERLINE, _ITALIC = 32, 16, 8, 4, 2, 1
_MIN_LETTERS, _CAPITAL_SHARE = 4, 0.9


def typography(styles: frozenset[str], text: str) -> int:
    """The typography of a unit as a number, greater for what is more prominent; capitals and spaced letters count.

    Siblings in one document share a class, whatever it is; a heading is seldom less prominent than what stands below.
    """
    level = min((int(style[-1]) for style in styles if style[:-1] == "heading" and style[-1] in "123456"), default=7)
    value = _HEADING * (7 if "title" in styles else 7 - level)
    for style, bit in (("bold", _BOLD), ("underline", _UNDERLINE), ("italic", _ITALIC)):
        value += bit * (style in styles)
    letters = [character for character in text if character.isalpha()]
    if len(letters) >= _MIN_LETTERS:
        value += _CAPITALS * (sum(letter.isupper() for letter in letters) >= _CAPITAL_SHARE * len(letters))
        words = text.split()
        value += _SPACED * (sum(len(word) == 1 for word in words) >= _CAPITAL_SHARE * len(words))
    return value


# Trompper (2016) wished for this: titles such as OVERWEGINGEN and CONCLUSIE nearly always stand on the first level
_FIRST_LEVEL = """
overwegingen|rechtsoverwegingen|de overwegingen|beslissing|de beslissing|uitspraak|de uitspraak|dictum|conclusie
procesverloop|het procesverloop|procesgang|de procedure|procedure|verloop van de procedure|het verloop van de procedure
de feiten|feiten|de vaststaande feiten|vaststaande feiten|het geschil|geschil|de beoordeling|beoordeling
het geding|het geding in hoger beroep|het geding in eerste aanleg|geding in cassatie|het geding in cassatie
ontstaan en loop van het geding|de vordering|de gronden van de beslissing|gronden|motivering|bewijsoverwegingen
proceskosten|de proceskosten|rechtsmiddel|inleiding|slotbepalingen|algemene bepalingen|considerans|partijen|bijlagen
introduction|background|facts|the facts|procedure|procedural history|issues|discussion|analysis|assessment|findings
conclusion|conclusions|decision|judgment|order|disposition|recommendations|summary|executive summary|abstract|scope
definitions|preamble|recitals|general provisions|final provisions|references|bibliography|appendices|acknowledgements
methods|results|parties|signatures|schedules
"""
FIRST_LEVEL = frozenset(_FIRST_LEVEL.strip().replace("\n", "|").split("|"))
_NO_LETTERS = re.compile(r"[\W\d_]+")
_LONGEST_TITLE = 80


def is_first_level(text: str) -> bool:
    """Whether a title belongs on the first level by its words. Case, punctuation and letter-spacing do not count."""
    if len(text) > _LONGEST_TITLE:
        return False
    words = _NO_LETTERS.sub(" ", text.lower()).split()
    spaced = len(words) > 1 and all(len(word) == 1 for word in words)
    return ("" if spaced else " ").join(words) in FIRST_LEVEL


def parse_units(
    text: str,
    units: Sequence[LayoutUnit],
    tags: Ints,
    probabilities: Doubles,
    names: Sequence[str],
    roles: LabelRoles,
    parser: TreeParser,
    label_weight: float | None,
) -> tuple[Ints, SectionTree]:
    """Build the tree over labelled units. RETURNS (tuple): the labels ((N,)) that go with it, and the tree.

    tags ((N,)), probabilities ((N, L)): labels. names (sequence of str): of the L labels. label_weight (float | None):
        of the log probabilities of labels, where these are decided with the tree; None for labels that stay.
    """
    own = roles.of_labels(names)
    if label_weight is None:
        found = parser.parse(parser_input(text, units, np.eye(len(ROLES))[own[tags]]))
    else:
        found = parser.parse(parser_input(text, units, roles.sum(probabilities, names) ** label_weight))
        # in the roles that the tree gives the units the own labels where these agree, else the likeliest
        likeliest = np.where(own[None, :] == found.labels[:, None], probabilities, -1.0).argmax(axis=1)
        tags = np.where(own[tags] == found.labels, tags, likeliest).astype(np.int32)
    chosen = probabilities[np.arange(len(units)), tags]
    return tags, to_tree(text, units, [names[tag] for tag in tags.tolist()], chosen, found)


def to_tree(
    text: str, units: Sequence[LayoutUnit], labels: Sequence[str], probabilities: Doubles | None, parse: SectionParse
) -> SectionTree:
    """The tree of a parse.

    text (str): of the document. units (Sequence[LayoutUnit]), labels (Sequence[str]): its N units with their labels.
    probabilities ((N,) | None): of these labels. parse (SectionParse): its sections.
    """
    values = [None] * len(units) if probabilities is None else probabilities.tolist()
    elements = [Element(u.start, u.end, label, p) for u, label, p in zip(units, labels, values)]
    # for each unit the last one up to it that is no blank line
    inked = [0 if unit.kind is Kind.NEWLINE else place for place, unit in enumerate(units)]
    ends: Indices = np.maximum.accumulate(np.array(inked, dtype=np.intp)) if inked else np.zeros(0, dtype=np.intp)
    nodes = [_node(text, units, section, ends) for section in parse.sections]
    tree = SectionTree([], elements, parse.exact, parse.dropped, parse.score)
    for section, node in zip(parse.sections, nodes):
        (tree.sections if section.parent < 0 else nodes[section.parent].children).append(node)
    return tree


def _node(text: str, units: Sequence[LayoutUnit], section: Section, ends: Indices) -> SectionNode:
    heading = list(section.heading)
    number, titles = "", heading
    if section.reading is not None and not section.virtual:
        number, titles = text[units[heading[0]].start : units[heading[0]].end], heading[1:]
    elif section.reading is not None:
        number = section.reading.number
    return SectionNode(
        start_char=units[section.start].start,
        end_char=units[int(ends[section.end - 1])].end,
        level=section.level,
        number=number,
        title=" ".join(text[units[k].start : units[k].end] for k in titles),
        probability=section.probability,
        virtual=section.virtual,
        heading=heading,
    )
