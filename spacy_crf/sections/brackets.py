"""Section trees as constituents over the units of a document."""

from bisect import bisect_left, bisect_right

import numpy as np
from spacy.training import Example

from ..core.arrays import Bools
from ..core.sections.measures import BracketCounts, Constituent, parseval, without
from .names import SECTION
from .spans import get_tree
from .units.layout import units_of
from .units.tree import SectionTree
from .units.unit import Kind, Unit


def count_brackets(example: Example) -> BracketCounts | None:
    """PARSEVAL counts of one example: intervals of units that are no blank lines; None without a gold tree.

    Virtual sections are left out unless the gold tree has some.
    """
    gold, found = get_tree(example.reference), get_tree(example.predicted)
    if gold is None:
        return None
    units = units_of(example.predicted)
    virtual = any(node.virtual for node in gold.walk())
    blank = np.array([unit.kind is Kind.NEWLINE for unit in units], dtype=np.bool_)
    predicted = [] if found is None else constituents(found, units, blank, virtual)
    return parseval(predicted, constituents(gold, units, blank, virtual))


def constituents(tree: SectionTree, units: list[Unit], blank: Bools, virtual: bool) -> list[Constituent]:
    """Sections as intervals of the units that are left without blank lines.

    units (list[Unit]): of the document. blank ((N,)): its blank lines. virtual (bool): with implied sections.
    """
    starts, ends = [unit.start for unit in units], [unit.end for unit in units]
    found = [
        (SECTION, bisect_right(ends, node.start_char), bisect_left(starts, node.end_char))
        for node in tree.walk()
        if virtual or not node.virtual
    ]
    return without(found, blank)
