"""Features that others imply, scored once for each distinct feature instead of once for each unit. Exact.

A trigram of tags implies its bigrams and its tags; a word implies its affixes and its shape. Where feature a implies b,
a unit with a need not add up b's weights: they are added to a's once per evaluation, and a's gradient is passed on to
b. Most pairs of unit and feature disappear from the two sparse products that dominate training.
"""

import numpy as np

from ..arrays import Indices, Ints, Segments
from ..sparse import SparseRows

GLANCES = (64, 4096)  # units that rule out most pairs of templates


def factor(features: SparseRows, slots: Ints) -> tuple[SparseRows, SparseRows]:
    """Leave out of each unit the features that another of its features implies. O(N A^2) at worst, for A templates.

    features (SparseRows): N rows, without real values.
    slots ((F,)): template of each feature; a unit has at most one feature of each.
    RETURNS (tuple): the rows that remain, and F rows with the features that each implies. No feature is on both sides,
        so that both can be done in place: adding to weights those of what is implied, and passing gradients on.
    """
    table = _by_template(features, slots)
    parents = _choose_parents(table, features.n_columns)
    explained = np.zeros(table.shape, dtype=bool)
    sources, targets = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.int32)]
    for child, parent in parents.items():
        explained[child] = (table[parent] >= 0) & (table[child] >= 0)
        distinct, firsts = np.unique(table[parent][explained[child]], return_index=True)
        sources.append(distinct)
        targets.append(table[child][explained[child]][firsts])
    rows, slot_of_pair = features.row_numbers(), slots[features.indices]
    kept = np.flatnonzero(~explained[slot_of_pair, rows])
    remaining = features.select(kept, features.indices[kept], features.n_columns)
    by_source = np.concatenate(sources)
    order = np.argsort(by_source, kind="stable")
    runs = Segments(np.bincount(by_source, minlength=features.n_columns))
    implied = np.concatenate(targets)[order].astype(np.int32)
    return remaining, SparseRows(runs.bounds.astype(np.int32), implied, None, features.n_columns)


def _by_template(features: SparseRows, slots: Ints) -> Ints:
    """((A, N)): feature of each template at each unit, -1 where there is none."""
    table = np.full((int(slots.max(initial=-1)) + 1, features.n_rows), -1, dtype=np.int32)
    table[slots[features.indices], features.row_numbers()] = features.indices
    return table


def _choose_parents(table: Ints, n_features: int) -> dict[int, int]:
    """For each template that another one determines, the one that saves most; parents have no parents."""
    savings: list[tuple[int, int, int]] = []
    twins = np.empty(n_features, dtype=np.intp)
    for parent, column in enumerate(table):
        present = np.flatnonzero(column >= 0)
        distinct = len(np.unique(column))
        for child in _determined(table, parent, present, twins):
            savings.append((int((table[child][present] >= 0).sum()) - distinct, parent, child))
    parents: dict[int, int] = {}
    for saved, parent, child in sorted(savings, reverse=True):
        if saved > 0 and parent not in parents and child not in parents and child not in parents.values():
            parents[child] = parent
    return parents


def _determined(table: Ints, parent: int, present: Indices, twins: Indices) -> list[int]:
    """Templates whose feature is the same wherever that of the parent is. twins ((F,)): a work array."""

    def compared(units: Indices) -> tuple[Indices, Indices]:
        """Units, and for each one unit with the same feature of the parent."""
        features = table[parent][units]
        twins[features] = units
        return units, twins[features]

    children = np.delete(np.arange(len(table)), parent)
    for glance in GLANCES:
        units, others = compared(present[:glance])
        is_same = table[np.ix_(children, units)] == table[np.ix_(children, others)]
        children = children[is_same.all(axis=1)]
    units, others = compared(present)
    return [child for child in children.tolist() if np.array_equal(table[child][units], table[child][others])]
