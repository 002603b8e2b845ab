"""Transitions that depend on the observation, where few of them differ from those that all observations share.

A weight of an edge feature is one cell of a matrix, and training sees few cells with most features. So most columns of
the matrix of an observation, the scores of the transitions into one label, are those of the shared matrix. A step of
a recursion is then the product with the shared matrix, as without edge features, and the columns of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..sparse import SparseRows
from ..types import Floats, Indices, Ints


@dataclass(frozen=True)
class OwnColumns:
    """Columns that units do not share, ordered by unit.

    units ((m,)): rows of the units, counted from the first one asked for. labels ((m,)): what the columns lead into.
    columns ((m, L)): by the label before.
    """

    units: Indices
    labels: Indices
    columns: Floats


@dataclass(frozen=True)
class EdgeColumns:
    """Transitions f(x_t, y_{t-1}, y_t) as columns.

    columns ((C, L)): log potentials of the transitions into one label, by the label before; the first L of them are
        those of the matrix that all share, by label.
    numbers ((G, L)): for each distinct observation, which column leads into each label.
    groups ((N,)): in packed order, the observation that conditions the transition into a row's unit.
    """

    columns: Floats
    numbers: Indices
    groups: Indices

    @cached_property
    def matrices(self) -> Floats:
        """((G, L, L)): the same as matrices [from, to]."""
        return np.ascontiguousarray(np.swapaxes(self.columns[self.numbers], 1, 2))

    @property
    def scores(self) -> Floats:
        """All potentials, in one array."""
        return self.columns

    @property
    def shared(self) -> Floats:
        """((L, L)): the matrix that all share, [to, from]."""
        return self.columns[: self.numbers.shape[1]]

    def map(self, function: Callable[[Floats], Floats]) -> "EdgeColumns":
        """The same with a function of each score in its place."""
        return replace(self, columns=function(self.columns))

    def take(self, rows: Indices) -> "EdgeColumns":
        """Those of some packed rows."""
        return replace(self, groups=self.groups[rows])

    def into(self, rows: slice | Indices) -> Floats:
        """((n, L, L)): matrices [from, to] of some rows."""
        return np.swapaxes(self.columns[self.numbers[self.groups[rows]]], 1, 2)

    def into_labels(self, rows: slice, labels: Ints) -> Floats:
        """((n, L)): scores of the transitions into one label of each of a run of rows, by the label before."""
        return self.columns[self.numbers[self.groups[rows], labels]]

    def own(self, rows: slice) -> OwnColumns:
        """Columns of a run of rows that are not shared."""
        units, labels, columns, bounds = self._owned
        part = slice(bounds[rows.start], bounds[rows.stop])
        return OwnColumns(units[part] - rows.start, labels[part], self.columns[columns[part]])

    @cached_property
    def _owned(self) -> tuple[Indices, Indices, Indices, list[int]]:
        """Rows, labels and columns of all that is not shared, and for each row where its own begin."""
        n_labels = self.numbers.shape[1]
        counts = (self.numbers >= n_labels).sum(axis=1)
        groups, labels = np.nonzero(self.numbers >= n_labels)
        firsts, sizes = np.cumsum(counts) - counts, counts[self.groups]
        ends = np.cumsum(sizes)
        units = np.repeat(np.arange(len(self.groups)), sizes)
        cells = np.arange(len(units)) + np.repeat(firsts[self.groups] - ends + sizes, sizes)
        labels, groups = labels[cells], groups[cells]
        return units, labels, self.numbers[groups, labels], [0, *ends.tolist()]

    def product(self, before: Floats, rows: slice, out: Floats) -> None:
        """out ((n, L)) = before ((n, L)) times the matrix of each row."""
        np.matmul(before, self.shared.T, out=out)
        own = self.own(rows)
        out[own.units, own.labels] = np.einsum("ml,ml->m", before[own.units], own.columns)

    def product_back(self, after: Floats, rows: slice, out: Floats) -> None:
        """out ((n, L)) = the matrix of each row times after ((n, L))."""
        own = self.own(rows)
        parts = after[own.units, own.labels][:, None] * own.columns
        shared = after.copy()
        shared[own.units, own.labels] = 0
        np.matmul(shared, self.shared, out=out)
        if len(parts):
            firsts = np.flatnonzero(np.diff(own.units, prepend=-1))
            out[own.units[firsts]] += np.add.reduceat(parts, firsts, axis=0)

    def greatest(self, before: Floats, rows: slice, shared: Floats) -> Floats:
        """((L, n)): max over from of before[from, n] + the transition of each row.

        before ((L, n)): scores by label. shared ((L, n)): the same max under the shared matrix, written over.
        """
        own = self.own(rows)
        shared[own.labels, own.units] = (before[:, own.units].T + own.columns).max(axis=1, initial=-np.inf)
        return shared


def edge_columns(features: SparseRows, groups: Indices, weights: SparseRows, transitions: Floats) -> EdgeColumns:
    """Columns of the observations of a batch. O(G L, plus L for each column with a weight).

    features (SparseRows): G rows of edge features. groups ((N,)): of each unit.
    weights (SparseRows): of each edge feature, those that are not 0, by cell `from * L + to`.
    transitions ((L, L)): the matrix that all share, [from, to].
    """
    n_labels = len(transitions)
    found = weights.take(features.indices.astype(np.intp))
    sizes, values = np.diff(found.indptr), found.data(transitions)
    owners, (origins, labels) = np.repeat(features.row_numbers(), sizes), np.divmod(found.indices, n_labels)
    if features.values is not None:
        values = values * np.repeat(features.values, sizes)
    has_own = np.zeros((features.n_rows, n_labels), dtype=bool)
    has_own[owners, labels] = True
    own = np.flatnonzero(has_own)
    numbers = np.tile(np.arange(n_labels), (features.n_rows, 1))
    numbers.reshape(-1)[own] = n_labels + np.arange(len(own))
    columns = np.concatenate([transitions.T, transitions.T[own % n_labels]])
    np.add.at(columns.reshape(-1), numbers[owners, labels] * n_labels + origins, values)
    return EdgeColumns(columns, numbers, groups)
