"""Gold trees that tree parsers learn from, with labels as chains see them that were trained on other documents."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from spacy.training import Example

from ..core.arrays import Doubles, Indices
from ..core.errors import CRFWarning
from ..core.sections.headings import MAX_NEWLINES
from ..core.sections.learn import GoldSection, TreeExample
from .errors import SectionWarnings
from .features.rules import NEWLINE, NUMBER, ROLES, TITLE
from .layout import units_of
from .parsing import LabelRoles, TreeParser, parser_input
from .segment import LayoutUnit
from .spans import get_tree, labels_of_units, read_elements
from .tree import SectionTree

FOLDS = 4
# Share of the gold label in the probabilities that the tree is learned with: where the chain is sure of another one,
# the gold tree would be impossible.
GOLD = 0.02
HoldOut = Callable[[list[Example], list[Example]], list[Doubles]]


def learn_tree(
    parser: TreeParser, examples: Sequence[Example], hold_out: HoldOut, roles: LabelRoles, elements_key: str, c2: float
) -> None:
    """Learn the weights of a tree parser from examples; without a gold tree it keeps those that it has.

    A document whose gold tree no parse can have is left out, with a warning.

    hold_out (Callable): from some examples and others to the probabilities ((N, 4)) of the roles of the units of the
        others, by a chain trained on the first ones: of what it was trained on it is too sure.
    elements_key (str): of doc.spans. c2 (float): penalty on what the weights differ from those that the parser has.
    """
    examples = [example for example in examples if get_tree(example.reference) is not None]
    folds = [examples[k::FOLDS] for k in range(min(FOLDS, len(examples)))]
    found: list[TreeExample] = []
    for own in folds:
        others = [example for fold in folds if fold is not own for example in fold] or own
        made = (tree_example(*pair, roles, elements_key) for pair in zip(own, hold_out(others, own)))
        found += [example for example in made if example is not None and _is_possible(parser, example)]
    if found:
        parser.learn(found, c2)


def _is_possible(parser: TreeParser, example: TreeExample) -> bool:
    try:
        parser.can_learn(example)
    except ValueError as error:
        message = SectionWarnings.CRFW965.format(document=example.document.name, problem=error)
        warnings.warn(message, CRFWarning, stacklevel=2)
        return False
    return True


def tree_example(example: Example, probabilities: Doubles, roles: LabelRoles, key: str) -> TreeExample | None:
    """Labels and gold tree of an example; None where it has not both.

    probabilities ((N, 4)): of the roles of its units. key (str): of doc.spans for elements.
    """
    tree, elements = get_tree(example.reference), read_elements(example.reference, key)
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
    found: list[tuple[int, ...]] = []
    place, known = 0, roles.tolist()
    while place < len(known):
        heading: list[int] = []
        if known[place] == NUMBER:
            heading.append(place)
            place += 1
            after = place
            while after < len(known) and known[after] == NEWLINE and after - place < MAX_NEWLINES:
                after += 1
            place = after if after < len(known) and known[after] == TITLE else place
        while place < len(known) and known[place] == TITLE:
            heading.append(place)
            place += 1
        if heading:
            found.append(tuple(heading))
        else:
            place += 1
    return found


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
    bounds = np.array([(node.start_char, node.end_char) for node in nodes], dtype=np.intp).reshape(-1, 2)
    for heading in headings:
        if known.isdisjoint(heading):
            start = units[heading[0]].start
            around = int(((bounds[:, 0] <= start) & (start < bounds[:, 1])).sum())
            sections.append((heading[0], GoldSection(around + 1, heading, loose=True)))
    ordered = [*reversed(sections[: len(nodes)]), *sections[len(nodes) :]]
    return [section for _, section in sorted(ordered, key=lambda one: one[0])]
