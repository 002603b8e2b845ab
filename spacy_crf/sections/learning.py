"""Weights of the tree parser, learned from the gold trees of training examples."""

import json
import warnings
from collections.abc import Sequence

import numpy as np
from spacy.training import Example

from ..core.arrays import Doubles
from ..core.errors import CRFWarning
from ..core.sections.features import NAMES
from ..core.sections.gold import GoldSection
from ..core.sections.learn import LearnSettings, TreeExample, learn_weights
from ..pipe.storage import readable
from .elements import labels_of_units, read_elements
from .errors import SectionWarnings
from .features.rules import ROLES
from .roles import Roles
from .spans import get_tree
from .trees import headings_of, parser_input
from .units.layout import units_of
from .units.tree import SectionTree
from .units.unit import Unit

FILE = "tree"  # of a stored component
# Share of the gold label in the probabilities that the tree is learned with: where the chain is sure of another one,
# the gold tree would be impossible.
GOLD = 0.02


def learn_tree_weights(
    examples: Sequence[Example], probabilities: Sequence[Doubles], roles: Roles, elements_key: str, c2: float
) -> Doubles | None:
    """Weights of the features of sections; None without a tree to learn from.

    A document whose gold tree no parse can have is left out, with a warning.

    probabilities (list of (N, 4)): of the roles of the units of each example, from a chain that was not trained on it:
        of what it was trained on it is too sure. roles (Roles): what labels stand for.
    elements_key (str): of doc.spans. c2 (float): penalty on what the weights differ from those set by hand.
    RETURNS ((F,)): in the order of the core's names.
    """
    found = [_to_example(example, own, roles, elements_key) for example, own in zip(examples, probabilities)]
    possible = [example for example in found if example is not None and _is_possible(example)]
    return learn_weights(possible, settings=LearnSettings(c2=c2)) if possible else None


def _to_example(example: Example, probabilities: Doubles, roles: Roles, key: str) -> TreeExample | None:
    """Labels and gold tree of an example; None where it has not both."""
    tree, elements = get_tree(example.reference), read_elements(example.reference, key)
    if tree is None or elements is None:
        return None
    units, text = units_of(example.predicted), example.predicted.text
    names = [label or roles.names["text"] for label in labels_of_units(units, elements, roles.newline)]
    own = roles.of_labels(names)
    headings = headings_of(own)
    if headings and not any(tree.walk()):
        return None  # a tree that nobody has drawn
    mixed = (1 - GOLD) * probabilities + GOLD * np.eye(len(ROLES))[own]
    name = text[:40].replace("\n", " ")
    return TreeExample(parser_input(text, units, mixed), gold_sections(tree, units, headings), name)


def gold_sections(
    tree: SectionTree, units: Sequence[Unit], headings: Sequence[tuple[int, ...]] = ()
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


def _is_possible(example: TreeExample) -> bool:
    try:
        learn_weights([example], settings=LearnSettings(rounds=1, iterations=0))
    except ValueError as error:
        warnings.warn(SectionWarnings.CRFW965.format(document=example.name, problem=error), CRFWarning, stacklevel=2)
        return False
    return True


def write_weights(weights: Doubles | None) -> bytes:
    """Weights by name as JSON; an empty object for those set by hand."""
    named = {} if weights is None else dict(zip(NAMES, weights.tolist()))
    return json.dumps(named, indent=1).encode("utf8")  # not with srsly, which rounds numbers


def read_weights(name: str, data: bytes, path: str) -> Doubles | None:
    """The inverse of `write_weights`. name (str), path (str): of the component and the file, for messages.

    RAISES (ValueError): for something else.
    """
    with readable(name, path):
        named = dict(json.loads(data))
        return np.array([float(named[each]) for each in NAMES]) if named else None
