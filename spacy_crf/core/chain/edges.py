"""Transitions that depend on the observation: as matrices, or as the columns in which these differ.

A weight of an edge feature is one cell of a matrix, and training sees few cells with most features. So most columns of
the matrix of a unit, the scores of the transitions into one label, are those of the matrix that all observations share.
A step of a recursion is then the product with the shared matrix, as without edge features, and the columns of the
unit's own. Those of single features are made once for all batches.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..arrays import Floats, Indices, Ints, cached_property
from ..sparse import SparseRows

FEW = 8  # rows whose whole matrices are gathered sooner than columns are told apart
PAYS = 4  # columns of all features for each that has a weight


@dataclass(frozen=True)
class EdgePotentials:
    """Transitions f(x_t, y_{t-1}, y_t) as matrices.

    matrices ((G, L, L)): complete log potentials [from, to], one matrix for each distinct observation.
    groups ((N,)): in packed order, the matrix of the transition into a row's unit (ignored at first units).
    """

    matrices: Floats
    groups: Indices

    @property
    def scores(self) -> Floats:
        """All potentials, in one array."""
        return self.matrices

    def map(self, function: Callable[[Floats], Floats]) -> "EdgePotentials":
        """The same with a function of each score in its place."""
        return replace(self, matrices=function(self.matrices))

    def take(self, rows: Indices) -> "EdgePotentials":
        """Those of some packed rows."""
        return replace(self, groups=self.groups[rows])

    def into(self, rows: slice | Indices) -> Floats:
        """((n, L, L)): matrices [from, to] of some rows."""
        return self.matrices[self.groups[rows]]

    def into_labels(self, rows: slice, labels: Ints) -> Floats:
        """((n, K, L)): scores of the transitions into labels ((n, K)) of a run of rows, by the label before."""
        return self.matrices[self.groups[rows, None], :, labels]

    def product(self, before: Floats, rows: slice, out: Floats) -> None:
        """out ((n, L)) = before ((n, L)) times the matrix of each row."""
        np.matmul(before[:, None, :], self.into(rows), out=out[:, None, :])

    def product_back(self, after: Floats, rows: slice, out: Floats) -> None:
        """out ((n, L)) = the matrix of each row times after ((n, L))."""
        np.matmul(after[:, None, :], self._transposed[self.groups[rows]], out=out[:, None, :])

    @cached_property
    def _transposed(self) -> Floats:
        return np.ascontiguousarray(np.swapaxes(self.matrices, 1, 2))


@dataclass(frozen=True)
class EdgeColumns:
    """Transitions f(x_t, y_{t-1}, y_t) as columns; methods as of `EdgePotentials`.

    columns ((C, L)): log potentials of the transitions into one label, by the label before; the first L of them are
        those of the matrix that all share, by label.
    numbers ((N, L)): in packed order, which column leads into each label of a row's unit.
    """

    columns: Floats
    numbers: Indices | Ints

    @cached_property
    def matrices(self) -> Floats:
        """((N, L, L)): [from, to], one for each row."""
        return np.ascontiguousarray(self.into(slice(None)))

    @property
    def groups(self) -> Indices:
        """((N,)): the matrix of each row."""
        return np.arange(len(self.numbers))

    @property
    def scores(self) -> Floats:
        return self.columns

    @property
    def shared(self) -> Floats:
        """((L, L)): the matrix that all share, [to, from]."""
        return self.columns[: self.numbers.shape[1]]

    def map(self, function: Callable[[Floats], Floats]) -> "EdgeColumns":
        return replace(self, columns=function(self.columns))

    def take(self, rows: Indices) -> "EdgeColumns":
        return replace(self, numbers=self.numbers[rows])

    def into(self, rows: slice | Indices) -> Floats:
        return np.swapaxes(self.columns[self.numbers[rows]], 1, 2)

    def into_labels(self, rows: slice, labels: Ints) -> Floats:
        return self.columns[self.numbers[np.arange(rows.start, rows.stop)[:, None], labels]]

    def own(self, rows: slice) -> tuple[Indices, Indices, Floats]:
        """Columns of a run of rows that are not shared, ordered by row.

        RETURNS (tuple): rows ((m,)), counted from the first one; labels ((m,)) that the columns lead into; and the
            columns ((m, L)), by the label before.
        """
        units, labels, numbers, bounds = self._owned
        part = slice(bounds[rows.start], bounds[rows.stop])
        return units[part] - rows.start, labels[part], self.columns.take(numbers[part], axis=0)

    @cached_property
    def _owned(self) -> tuple[Indices, Indices, Indices | Ints, list[int]]:
        """Rows, labels and numbers of the columns that are not shared, and for each row where its own begin."""
        is_own = self.numbers >= self.numbers.shape[1]
        units, labels = np.nonzero(is_own)
        bounds: list[int] = np.concatenate([[0], np.cumsum(is_own.sum(axis=1))]).tolist()
        return units, labels, self.numbers[is_own], bounds

    def product(self, before: Floats, rows: slice, out: Floats) -> None:
        if len(before) < FEW:
            np.matmul(before[:, None, :], self.into(rows), out=out[:, None, :])
            return
        np.matmul(before, self.shared.T, out=out)
        units, labels, columns = self.own(rows)
        out[units, labels] = np.einsum("ml,ml->m", before.take(units, axis=0), columns)

    def product_back(self, after: Floats, rows: slice, out: Floats) -> None:
        if len(after) < FEW:
            np.matmul(after[:, None, :], np.swapaxes(self.into(rows), 1, 2), out=out[:, None, :])
            return
        units, labels, columns = self.own(rows)
        shared = after.copy()
        shared[units, labels] = 0
        np.matmul(shared, self.shared, out=out)
        if len(units):
            firsts = np.flatnonzero(np.diff(units, prepend=-1))
            out[units[firsts]] += np.add.reduceat(after[units, labels][:, None] * columns, firsts, axis=0)

    def greatest(self, before: Floats, rows: slice, shared: Floats) -> Floats:
        """((L, n)): max over from of before[from, n] + the transition of each row; `shared`: of the shared matrix."""
        units, labels, columns = self.own(rows)
        arrivals = np.ascontiguousarray(before.T).take(units, axis=0)
        arrivals += columns
        shared[labels, units] = arrivals.max(axis=1, initial=-np.inf)
        return shared


Edges: TypeAlias = EdgePotentials | EdgeColumns


@dataclass(frozen=True)
class EdgeTable:
    """Columns of single edge features under weights that do not change.

    columns ((C, L)): those of the matrix that all share, and those into each label that a feature has a weight for.
    weights ((C, L)): what of these are the feature's own weights.
    numbers ((F + 1, L)): for each feature, which column leads into each label; the last row is that of no feature.
    """

    columns: Floats
    weights: Floats
    numbers: Ints

    @classmethod
    def of(cls, weights: Floats, transitions: Floats) -> "EdgeTable | None":
        """The table of dense weights; None where so many of them are not 0 that it would not pay. O(F L^2).

        weights ((F, L * L)): by cell `from * L + to`. transitions ((L, L)): the matrix that all share.
        """
        n_labels, cells = len(transitions), np.flatnonzero(weights)
        features, pairs = np.divmod(cells, n_labels * n_labels)
        origins, labels = np.divmod(pairs, n_labels)
        has_own = np.zeros((len(weights), n_labels), dtype=bool)
        has_own[features, labels] = True
        own = np.flatnonzero(has_own)
        if PAYS * len(own) > has_own.size:
            return None
        numbers = np.tile(np.arange(n_labels, dtype=np.int32), (len(weights) + 1, 1))
        numbers.reshape(-1)[own] = n_labels + np.arange(len(own))
        table: Floats = np.zeros((n_labels + len(own), n_labels), dtype=weights.dtype)
        table[numbers[features, labels], origins] = weights.reshape(-1)[cells]
        return cls(np.concatenate([transitions.T, transitions.T[own % n_labels]]) + table, table, numbers)

    def look_up(self, features: SparseRows) -> EdgeColumns:
        """Transitions of units, by edge features of value 1. O(N L, plus L for each column with weights of several)."""
        sizes, n_labels = np.diff(features.indptr), self.numbers.shape[1]
        padded = np.full((features.n_rows, int(sizes.max(initial=1))), len(self.numbers) - 1)
        padded[np.arange(padded.shape[1]) < sizes[:, None]] = features.indices
        parts = self.numbers[padded]
        numbers = parts.max(axis=1)
        rows, labels = np.nonzero((parts >= n_labels).sum(axis=1) > 1)
        joined = self.columns[labels]
        for part in parts[rows, :, labels].T:
            joined += self.weights[part]
        used = np.zeros(len(self.columns), dtype=bool)
        used[:n_labels] = used[numbers] = True
        kept, rank = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - 1
        numbers = rank[numbers]
        numbers[rows, labels] = len(kept) + np.arange(len(rows))
        return EdgeColumns(np.concatenate([self.columns[kept], joined]), numbers)
