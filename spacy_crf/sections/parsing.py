"""From labelled units to the tree: labels by role, the input of tree parsers, what becomes of it, and learning."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

import numpy as np
from spacy.training import Example

from ..core.arrays import Doubles, Indices, Ints
from ..core.errors import CRFError, CRFWarning
from ..core.grammar.numbering import BLANK, readings_of
from ..core.sections.features import FIRST
from ..core.sections.headings import MARKED, MAX_NEWLINES, MOST_LEVELS, HeadingLabels, ParserInput
from ..core.sections.learn import GoldSection, LearnSettings, TreeExample, check_learnable, learn_weights
from ..core.sections.parse import ParserSettings, Section, SectionParse, parse
from ..core.stored import stored_floats
from .errors import SectionErrors, SectionWarnings
from .features.rules import NUMBER, ROLES, TITLE
from .layout import units_of
from .markup import telling_styles
from .segment import HEADINGS, LARGE, Kind, LayoutUnit, join_units
from .series import preamble_end
from .spans import char_bounds, gold_tree, labels_of_units, read_elements
from .tree import USUAL, Element, SectionNode, SectionTree

GRAMMAR = ("source", "grammar", "terms")  # keys of what a parser by a grammar knows
LEAST_LOG = -30.0  # of the probability of a label: what is rarer is impossible, as it is in the chain


class TreeParser(Protocol):
    """Builds trees of sections over labelled units: `StackParser`, or `GrammarParser` by a grammar.

    Its `parse` finds the best tree, with probabilities and the labels that go with it, `learn` takes weights from gold
    trees, with a penalty c2 on what they differ from those that come with it, `can_learn` raises a ValueError for a
    gold tree that no parse can have, as `learn` does, `reset` forgets what was learned. `to_data` gives it as JSON data
    under keys of its own, and `from_data` takes it from those of both parsers.
    """

    def parse(self, document: ParserInput) -> SectionParse: ...
    def learn(self, examples: Sequence[TreeExample], c2: float) -> None: ...
    def can_learn(self, example: TreeExample) -> None: ...
    def reset(self) -> None: ...
    def to_data(self) -> dict[str, Any]: ...
    def from_data(self, data: Mapping[str, Any]) -> None: ...


@dataclass
class StackParser:
    """The dynamic programme over stacks of open sections. max_states (int | None): stacks kept at each heading."""

    max_states: int | None
    weights: dict[str, float] | None = None  # of features; None for those set by hand

    def parse(self, document: ParserInput) -> SectionParse:
        return parse(document, self.weights, ParserSettings(max_states=self.max_states), probabilities=True)

    def learn(self, examples: Sequence[TreeExample], c2: float) -> None:
        self.weights = learn_weights(examples, settings=LearnSettings(c2=c2)) if examples else None

    def can_learn(self, example: TreeExample) -> None:
        check_learnable(example)

    def reset(self) -> None:
        self.weights = None

    def to_data(self) -> dict[str, Any]:
        return dict(self.weights or {})

    def from_data(self, data: Mapping[str, Any]) -> None:
        weights = None
        if data.keys() - set(GRAMMAR):
            weights = {name: float(weight) for name, weight in data.items() if name not in GRAMMAR}
            if missing := set(FIRST).difference(weights):
                raise KeyError(min(missing))
            stored_floats("weights", np.array(list(weights.values())), (None,))
        self.weights = weights


@dataclass(frozen=True)
class LabelRoles:
    """Labels by role: the rest of the parser knows roles, not names. Labels beyond these count as text."""

    names: Mapping[str, str]

    @classmethod
    def parse(cls, name: str, given: Mapping[str, str]) -> "LabelRoles":
        """Roles of a config, the usual ones where it has none.

        name (str): of the component. RAISES (ValueError): for an unknown role, or one label in two roles.
        """
        merged = {**USUAL, **given}
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


def parser_input(
    text: str, units: Sequence[LayoutUnit], probabilities: Doubles, costs: Doubles | None = None
) -> ParserInput:
    """The document as a tree parser reads it.

    probabilities ((N, 4)): of the roles of units, 0 and 1 for labels that are given. costs: see `ParserInput`.
    """
    texts = [text[unit.start : unit.end].strip(BLANK) for unit in units]
    words = list(map(title_words, texts))
    with np.errstate(divide="ignore"):
        scores = np.log(probabilities)
    likeliest = scores.max(axis=1, keepdims=True, initial=-np.inf)
    numbers = readings_of([own if unit.kind is Kind.NUMBER else "" for own, unit in zip(texts, units)])
    is_matter = np.array([own in MATTER for own in words], dtype=np.bool_)
    is_matter[: preamble_end(numbers, texts)] = True
    return ParserInput(
        label_scores=np.where(scores < likeliest + LEAST_LOG, -np.inf, scores),
        readings=numbers,
        typography=np.array(list(map(typography, telling_styles(units, numbers), texts)), dtype=np.intp),
        top_titles=np.array([own in FIRST_LEVEL for own in words], dtype=np.bool_),
        matter=is_matter,
        words=words,
        newlines=np.array([unit.kind is Kind.NEWLINE for unit in units], dtype=np.bool_),
        labels=HeadingLabels(NUMBER, TITLE),
        name=text[:40].replace("\n", " "),
        costs=costs,
    )


_LARGER, _CAPITALS, _SPACED = 32, 8, 4
_STYLES = {"bold": 16, "underline": 2, "italic": 1}
_MIN_LETTERS, _CAPITAL_SHARE = 4, 0.9


def typography(styles: frozenset[str], text: str) -> int:
    """The typography of a unit as a number, greater for what is more prominent; capitals and spaced letters count.

    Siblings in one document share a class, whatever it is; a heading is seldom less prominent than what stands below.
    """
    top = MOST_LEVELS + 1
    level = min((HEADINGS[style] for style in styles if style in HEADINGS), default=top)
    value = MARKED * (top if "title" in styles else top - level)
    value += _LARGER * max((len(LARGE) - rank for rank, style in enumerate(LARGE) if style in styles), default=0)
    value += sum(bit for style, bit in _STYLES.items() if style in styles)
    letters = [character for character in text if character.isalpha()]
    if len(letters) >= _MIN_LETTERS:
        value += _CAPITALS * (sum(letter.isupper() for letter in letters) >= _CAPITAL_SHARE * len(letters))
        words = text.split()
        value += _SPACED * (sum(len(word) == 1 for word in words) >= _CAPITAL_SHARE * len(words))
    return value


# Trompper (2016) wished for this: titles such as OVERWEGINGEN and CONCLUSIE nearly always stand on the first level; and
# titles such as "Preface" and "References", of what stands beside numbered sections
FIRST_LEVEL, MATTER = (
    frozenset((files(__package__) / "features" / "lists" / name).read_text(encoding="utf8").splitlines())
    for name in ("first_level.tsv", "matter.tsv")
)
_NO_LETTERS = re.compile(r"[\W\d_]+")
_LONGEST_TITLE = 80


def title_words(text: str) -> str:
    """The words of a title, "" of a long one. Case, punctuation and letter-spacing do not count."""
    words = _NO_LETTERS.sub(" ", text.lower()).split() if len(text) <= _LONGEST_TITLE else []
    spaced = len(words) > 1 and all(len(word) == 1 for word in words)
    return ("" if spaced else " ").join(words)


def parse_units(
    text: str,
    units: Sequence[LayoutUnit],
    tags: Ints,
    probabilities: Doubles,
    names: Sequence[str],
    roles: LabelRoles,
    parser: TreeParser,
    label_weight: float | None,
    costs: Doubles | None = None,
) -> tuple[Ints, SectionTree]:
    """Build the tree over labelled units. RETURNS (tuple): the labels ((N,)) that go with it, and the tree.

    tags ((N,)), probabilities ((N, L)): labels. names (sequence of str): of the L labels. label_weight (float | None):
        of the log probabilities of labels, where these are decided with the tree; None for labels that stay.
    costs ((N,)): of headings that go on, see `ParserInput`.
    """
    own = roles.of_labels(names)
    if label_weight is None:
        found = parser.parse(parser_input(text, units, np.eye(len(ROLES))[own[tags]], costs))
    else:
        found = parser.parse(parser_input(text, units, roles.sum(probabilities, names) ** label_weight, costs))
        # in the roles that the tree gives the units the own labels where these agree, else the likeliest
        likeliest = np.where(own[None, :] == found.labels[:, None], probabilities, -1.0).argmax(axis=1)
        tags = np.where(own[tags] == found.labels, tags, likeliest).astype(np.int32)
    tree = _to_tree(text, units, elements_of(units, tags, probabilities, names), found)
    tree.roles = roles.names
    return tags, tree


def elements_of(units: Sequence[LayoutUnit], tags: Ints, probabilities: Doubles, names: Sequence[str]) -> list[Element]:
    """Elements with their labels and the probabilities of these. tags ((N,)), probabilities ((N, L)): of units."""
    chosen = probabilities[np.arange(len(units)), tags].tolist()
    return [Element(unit.start, unit.end, names[tag], p) for unit, tag, p in zip(units, tags.tolist(), chosen)]


def _to_tree(text: str, units: Sequence[LayoutUnit], elements: list[Element], parse: SectionParse) -> SectionTree:
    """The tree of a parse."""
    # for each unit the last one up to it that is no blank line, or one that a weak model takes for a heading
    headings = {section.start for section in parse.sections}
    inked = [0 if unit.kind is Kind.NEWLINE and at not in headings else at for at, unit in enumerate(units)]
    ends = np.maximum.accumulate(np.array(inked, dtype=np.intp)).tolist()
    nodes = [_node(text, units, section, units[ends[section.end - 1]].end) for section in parse.sections]
    tree = SectionTree([], elements, parse.exact, parse.dropped, parse.score)
    for section, node in zip(parse.sections, nodes):
        (tree.sections if section.parent < 0 else nodes[section.parent].children).append(node)
    return tree


def _node(text: str, units: Sequence[LayoutUnit], section: Section, end: int) -> SectionNode:
    own, number = [units[place] for place in section.heading], ""
    if section.reading is not None:
        number = section.reading.number if section.virtual else join_units(text, [own.pop(0)])
    heading = list(section.heading)
    start = units[heading[0] if heading else section.start].start  # grammars may have blank lines before a title
    facts = section.probability, section.virtual, heading
    return SectionNode(start, end, section.level, number, join_units(text, own), *facts)


# -- gold trees ---------------------------------------------------------------------------------------------

FOLDS = 4  # of learning
# Share of the gold label in the probabilities that the tree is learned with: where the chain is sure of another one,
# the gold tree would be impossible.
GOLD = 0.02
_HEADING_OF_ROLES = re.compile(rf"n(?:b{{0,{MAX_NEWLINES}}}t+)?|t+")
Keys = tuple[str, str]
HoldOut = Callable[[list[Example], list[Example]], list[Doubles]]


def learn_tree(
    parser: TreeParser, examples: Sequence[Example], hold_out: HoldOut, roles: LabelRoles, keys: Keys, c2: float
) -> None:
    """Learn the weights of a tree parser from examples; without a gold tree it keeps those that it has.

    A document whose gold tree no parse can have is left out, with a warning.

    hold_out (Callable): from some examples and others to the probabilities ((N, 4)) of the roles of the units of the
        others, by a chain trained on the first ones: of what it was trained on it is too sure.
    keys (tuple of str): of doc.spans, for elements and for sections. c2 (float): penalty on what the weights differ
        from those that the parser has.
    """
    examples = [example for example in examples if gold_tree(example.reference, keys[1]) is not None]
    folds = [examples[k::FOLDS] for k in range(min(FOLDS, len(examples)))]
    found: list[TreeExample] = []
    for own in folds:
        others = [example for fold in folds if fold is not own for example in fold] or own
        for pair in zip(own, hold_out(others, own)):
            example = tree_example(*pair, roles, keys)
            if example is None:
                continue
            try:
                parser.can_learn(example)
                found.append(example)
            except ValueError as error:
                message = SectionWarnings.CRFW965.format(document=example.document.name, problem=error)
                warnings.warn(message, CRFWarning, stacklevel=2)
    if found:
        parser.learn(found, c2)


def tree_example(example: Example, probabilities: Doubles, roles: LabelRoles, keys: Keys) -> TreeExample | None:
    """Labels and gold tree of an example; None where it has not both.

    probabilities ((N, 4)): of the roles of its units. keys (tuple of str): of doc.spans, for elements and for sections.
    """
    elements_key, sections_key = keys
    tree = gold_tree(example.reference, sections_key, elements_key, roles.names)
    elements = read_elements(example.reference, elements_key)
    if tree is None or elements is None:
        return None
    units = units_of(example.predicted)
    names = [label or roles.names["text"] for label in labels_of_units(units, elements, roles.newline)]
    own = roles.of_labels(names)
    headings = headings_of(own)
    if headings and not any(tree.walk()):
        return None  # a tree that nobody has drawn
    mixed = (1 - GOLD) * probabilities + GOLD * np.eye(len(ROLES))[own]
    document = parser_input(example.predicted.text, units, mixed)
    return TreeExample(document, gold_sections(tree, units, headings), own)


def headings_of(roles: Indices) -> list[tuple[int, ...]]:
    """Units of the headings that roles ((N,)) make: a number, some blank lines and titles; or one of both."""
    # a letter for each role, so that a heading is a match
    written = "".join("ntxb"[role] for role in roles.tolist())
    found = _HEADING_OF_ROLES.finditer(written)
    return [tuple(place for place in range(*match.span()) if written[place] != "b") for match in found]


def gold_sections(
    tree: SectionTree, units: Sequence[LayoutUnit], headings: Sequence[tuple[int, ...]] = ()
) -> list[GoldSection]:
    """Sections of a gold tree, their headings as units that may be others than the tree's elements.

    headings (sequence of tuple): that gold labels make. Those that lead no section, such as the items of lists in
        trees that leave lists out, stand anywhere below the section around them.
    """
    place = {unit.start: number for number, unit in enumerate(units)}
    starts = [element.start for element in tree.elements]
    nodes = list(tree.walk())
    found = [tuple(place[starts[k]] for k in node.heading if starts[k] in place) for node in nodes]
    sections: list[tuple[int, GoldSection]] = []
    position = len(units)
    for node, heading in zip(reversed(nodes), reversed(found)):
        position = heading[0] if heading else position  # an implied section begins where its first one does
        sections.append((position, GoldSection(node.level, heading)))
    known = {unit for heading in found for unit in heading}
    bounds = char_bounds(nodes)
    for heading in headings:
        if known.isdisjoint(heading):
            start = units[heading[0]].start
            around = int(((bounds[:, 0] <= start) & (start < bounds[:, 1])).sum())
            sections.append((heading[0], GoldSection(around + 1, heading, loose=True)))
    ordered = [*reversed(sections[: len(nodes)]), *sections[len(nodes) :]]
    return [section for _, section in sorted(ordered, key=lambda one: one[0])]
