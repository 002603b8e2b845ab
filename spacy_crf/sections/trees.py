"""From labelled units to the tree: what the parser of the core is given, and what becomes of its sections."""

from collections.abc import Sequence

import numpy as np

from ..core.arrays import Doubles, Indices
from ..core.grammar.numbering import readings
from ..core.sections.elements import Elements as ParserInput
from ..core.sections.elements import Roles as ParserRoles
from ..core.sections.headings import MAX_NEWLINES
from ..core.sections.parse import Parse
from ..core.sections.titles import is_first_level
from ..core.sections.tree import Section
from ..core.sections.typography import typography
from .features.rules import ROLES
from .units.tree import Element, SectionNode, SectionTree
from .units.unit import Kind, Unit

NUMBER, TITLE, NEWLINE = (ROLES.index(role) for role in ("number", "title", "newline"))
LEAST_LOG = -30.0  # of the probability of a label: what is rarer is impossible, as it is in the chain


def parser_input(text: str, units: Sequence[Unit], probabilities: Doubles) -> ParserInput:
    """What the parser reads.

    text (str): of the document. units (Sequence[Unit]): its N units. probabilities ((N, 4)): of the roles, in the order
        of `features.units.rules.ROLES`; 0 and 1 for labels that are given.
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
        roles=ParserRoles(NUMBER, TITLE),
    )


def headings_of(roles: Indices) -> list[tuple[int, ...]]:
    """Units of the headings that roles make: a number, some blank lines and titles; or one of both.

    roles ((N,)): of the units, as numbers of `features.units.rules.ROLES`.
    """
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


def to_tree(
    text: str, units: Sequence[Unit], labels: Sequence[str], probabilities: Doubles | None, parse: Parse
) -> SectionTree:
    """The tree of a parse.

    text (str): of the document. units (Sequence[Unit]), labels (Sequence[str]): its N units with their labels.
    probabilities ((N,) | None): of these labels. parse (Parse): its sections.
    """
    values = [None] * len(units) if probabilities is None else probabilities.tolist()
    elements = [Element(u.start, u.end, label, p) for u, label, p in zip(units, labels, values)]
    ends = _last_ink(units)
    nodes = [_node(text, units, section, ends) for section in parse.sections]
    tree = SectionTree([], elements, parse.exact, parse.dropped, parse.score)
    for section, node in zip(parse.sections, nodes):
        siblings = tree.sections if section.parent < 0 else nodes[section.parent].children
        siblings.append(node)
    return tree


def _last_ink(units: Sequence[Unit]) -> Indices:
    """((N,)): the last unit up to each one that is no blank line; 0 where there is none."""
    here = [0 if unit.kind is Kind.NEWLINE else place for place, unit in enumerate(units)]
    return np.maximum.accumulate(np.array(here, dtype=np.intp)) if here else np.zeros(0, dtype=np.intp)


def _node(text: str, units: Sequence[Unit], section: Section, ends: Indices) -> SectionNode:
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
