"""Features that others imply, scored once for each distinct feature instead of once for each unit. Exact.

A trigram of tags implies its bigrams and its tags; a word implies its affixes and its shape. Where feature a implies b,
a unit with a need not add up b's weights: they are added to a's once per evaluation, and a's gradient is passed on to
b. Most pairs of unit and feature disappear from the two sparse products that dominate training.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Indices, Ints
from ..sparse import SparseRows

GLANCE = 4096  # units that rule out most pairs of templates


@dataclass(frozen=True)
class Implications:
    """Which features imply which. No feature is on both sides, so that both updates can be done in place.

    implied (SparseRows): F rows; row a has the features that a implies.
    """

    implied: SparseRows

    def spread_weights(self, state: Floats) -> None:
        """Add to each implying feature's row (F, L) the rows of what it implies. O(pairs L)."""
        self.implied.times(state, out=state)

    def collect_gradient(self, state: Floats) -> None:
        """Add to each implied feature's row (F, L) the rows of what implies it. O(pairs L)."""
        self.implied.add_transposed(state, out=state)


def factor(features: SparseRows, slots: Ints) -> tuple[SparseRows, Implications]:
    """Leave out of each unit the features that another of its features implies.

    features (SparseRows): N rows, without real values.
    slots ((F,)): template of each feature; a unit has at most one feature of each.
    RETURNS (tuple): the rows that remain, and the implications. O(N A^2) at worst, for A templates.
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
    return remaining, Implications(_rows(np.concatenate(sources), np.concatenate(targets), features.n_columns))


def _by_template(features: SparseRows, slots: Ints) -> Ints:
    """((A, N)): feature of each template at each unit, -1 where there is none."""
    table = np.full((int(slots.max(initial=-1)) + 1, features.n_rows), -1, dtype=np.int32)
    table[slots[features.indices], features.row_numbers()] = features.indices
    return table


def _choose_parents(table: Ints, n_features: int) -> dict[int, int]:
    """For each template that another one determines, the one that saves most; parents have no parents."""
    savings: list[tuple[int, int, int]] = []
    image = np.empty(n_features, dtype=np.int32)
    for parent, column in enumerate(table):
        present = np.flatnonzero(column >= 0)
        distinct = len(np.unique(column))
        for child, values in enumerate(table):
            if child != parent and _determines(column, values, present, image):
                savings.append((int((values[present] >= 0).sum()) - distinct, parent, child))
    parents: dict[int, int] = {}
    for saved, parent, child in sorted(savings, reverse=True):
        if saved > 0 and parent not in parents and child not in parents and child not in parents.values():
            parents[child] = parent
    return parents


def _determines(column: Ints, values: Ints, present: Indices, image: Ints) -> bool:
    """Whether equal features in one column always come with equal features in the other."""
    for units in (present[:GLANCE], present):
        image[column[units]] = values[units]
        if not np.array_equal(image[column[units]], values[units]):
            return False
    return True


def _rows(sources: Indices, targets: Ints, n_features: int) -> SparseRows:
    order = np.argsort(sources, kind="stable")
    counts = np.bincount(sources, minlength=n_features)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return SparseRows(indptr, targets[order].astype(np.int32), None, n_features)
