"""Features that others imply, scored once for each distinct feature instead of once for each unit. Exact.

A trigram of tags implies its bigrams and its tags; a word implies its affixes and its shape. Where feature a implies b,
a unit with a need not add up b's weights: they are added to a's once per evaluation, and a's gradient is passed on to
b. Most pairs of unit and feature disappear from the two sparse products that dominate training.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Ints, Segments
from ..sparse import SparseRows

GLANCES = (64, 4096, None)  # units that rule out most pairs of templates, and then all
UNSEEN = -2


@dataclass(frozen=True)
class Implied:
    """Which templates determine others, and what their features imply.

    slots ((F,)): template of each feature; a unit has at most one feature of each.
    parents ((A,)): for each template one that determines it, which no other one determines, or -1.
    rows (SparseRows): F rows with the features that each implies. No feature is on both sides, so that both can be done
        in place: adding to weights those of what is implied, and passing gradients on.
    """

    slots: Ints
    parents: Ints
    rows: SparseRows

    def remaining(self, features: SparseRows) -> SparseRows:
        """Leave out of each unit the features that another of its features implies. O(nnz)."""
        rows, slots = features.row_numbers(), self.slots[features.indices]
        present = np.zeros((len(self.parents), features.n_rows), dtype=bool)
        present[slots, rows] = True
        parents = self.parents[slots]
        kept = np.flatnonzero((parents < 0) | ~present[parents, rows])
        return features.select(kept, features.indices[kept], features.n_columns)


def find_implied(parts: Iterable[SparseRows], slots: Ints) -> Implied:
    """Find out what features imply in a corpus. O(N A^2) at worst, for A templates.

    parts (Iterable[SparseRows]): the rows of all units, without real values. slots ((F,)): template of each feature.
    """
    n = int(slots.max(initial=-1)) + 1
    together: Ints = np.full((n, len(slots)), UNSEEN, dtype=np.int32)  # the feature of a template beside a feature
    determined = ~np.eye(n, dtype=bool)  # [parent, child]
    counts = np.zeros((n, n), dtype=np.intp)
    for part in parts:
        table = _by_template(part, slots, n)
        for parent, column in enumerate(table):
            units = np.flatnonzero(column >= 0)
            for glance in GLANCES:
                some = units[:glance]
                for child in np.flatnonzero(determined[parent]).tolist():
                    determined[parent, child] = _agrees(together[child], column[some], table[child][some])
            children = np.flatnonzero(determined[parent])
            counts[parent, children] += (table[np.ix_(children, units)] >= 0).sum(axis=1)
    n_met = np.bincount(slots[(together != UNSEEN).any(axis=0)], minlength=n)
    parents = _choose_parents(determined, counts - n_met[:, None])
    return Implied(slots, parents, _implied_rows(together, slots, parents))


def _by_template(features: SparseRows, slots: Ints, n_templates: int) -> Ints:
    """((A, N)): feature of each template at each unit, -1 where there is none."""
    table = np.full((n_templates, features.n_rows), -1, dtype=np.int32)
    table[slots[features.indices], features.row_numbers()] = features.indices
    return table


def _agrees(known: Ints, features: Ints, children: Ints) -> bool:
    """Whether units with the same feature have the same child; what is new is noted in `known` ((F,))."""
    fresh = known[features] == UNSEEN
    known[features[fresh]] = children[fresh]
    return bool(np.array_equal(known[features], children))


def _choose_parents(determined: Bools, savings: Ints) -> Ints:
    """((A,)): for each template that another one determines, the one that saves most; parents have no parents."""
    parents = np.full(len(determined), -1, dtype=np.int32)
    pairs = [(int(savings[parent, child]), parent, child) for parent, child in np.argwhere(determined).tolist()]
    for saved, parent, child in sorted(pairs, reverse=True):
        if saved > 0 and parents[parent] < 0 and parents[child] < 0 and child not in parents:
            parents[child] = parent
    return parents


def _implied_rows(together: Ints, slots: Ints, parents: Ints) -> SparseRows:
    """F rows of what each feature implies."""
    sources, targets = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.int32)]
    for child in np.flatnonzero(parents >= 0).tolist():
        own = np.flatnonzero((slots == parents[child]) & (together[child] >= 0))
        sources.append(own)
        targets.append(together[child][own])
    by_source = np.concatenate(sources)
    order = np.argsort(by_source, kind="stable")
    runs = Segments(np.bincount(by_source, minlength=len(slots)))
    return SparseRows(runs.bounds.astype(np.int32), np.concatenate(targets)[order], None, len(slots))
