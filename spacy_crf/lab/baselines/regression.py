"""Logistic regression of a label on the features of its unit and on the label before it, which needs no inference."""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Doubles, Indices, Segments
from ...core.errors import CRFError
from ...core.labels import Gold
from ...core.sparse import SparseRows
from ...core.weights import cells
from ...pipe.dictionary.counts import Shares, gold_shares
from ...pipe.errors import PipeErrors
from ..errors import LabErrors
from .grams import join

ROWS = 4096  # of a block of the regression: its scores stay in the cache


@dataclass(frozen=True)
class LocalProblem:
    """Examples of p(y_t | y_{t-1}, x_t).

    rows (SparseRows): M rows over the F features and L + 1 columns more, for the label before, or none.
    targets (SparseRows): M rows of gold shares over L labels, weighted by the share of the label before.
    cells ((P + (L + 1) L,)): `column * L + label` of each weight: those of features for the pairs that the examples
        show, those of labels before all.
    """

    rows: SparseRows
    targets: SparseRows
    cells: Indices

    @property
    def n_labels(self) -> int:
        return self.targets.n_columns

    @property
    def n_features(self) -> int:
        return self.rows.n_columns - self.n_labels - 1


def local_problem(lengths: Indices, features: SparseRows, gold: Gold) -> LocalProblem:
    """Return the examples that the gold of sequences gives. O(nnz) where one label is right.

    Sets and distributions count by their shares, a pair of labels by the product of both. A unit that is unknown, or
    comes after one that is, gives no example; there must be one.
    """
    check_rows(lengths, features.n_rows, "features")
    check_rows(lengths, len(gold.labels), "gold")
    n_labels = gold.weights.shape[1]
    shares = gold_shares(gold)
    pairs = join(_before(shares, lengths, n_labels), shares, n_labels)
    if not len(pairs.units):
        raise CRFError(PipeErrors.CRF831)
    before, labels = np.divmod(pairs.labels, n_labels)
    examples, owners = np.unique(pairs.units * (n_labels + 1) + before, return_inverse=True)
    units, before = np.divmod(examples, n_labels + 1)
    rows = _with_column(features.take(units), features.n_columns + before, features.n_columns + n_labels + 1)
    ends = np.searchsorted(owners, np.arange(len(examples) + 1)).astype(np.int32)
    targets = SparseRows(ends, labels.astype(np.int32), pairs.weights, n_labels)
    shown = features.take(pairs.units)
    state = cells(shown.indices.astype(np.intp), labels[shown.row_numbers()], n_labels)
    first = features.n_columns * n_labels
    return LocalProblem(rows, targets, np.concatenate([state, np.arange(first, first + (n_labels + 1) * n_labels)]))


def check_rows(lengths: Indices, n_rows: int, name: str) -> None:
    """Raise a coded error where the rows of something are not as many as the units."""
    if int(lengths.sum()) != n_rows:
        raise CRFError(LabErrors.CRF836.format(lengths=int(lengths.sum()), rows=n_rows, name=name))


def _before(shares: Shares, lengths: Indices, none: int) -> Shares:
    """Return for each unit the labels before it; `none` at first units."""
    firsts = Segments(lengths).openings
    behind = shares.shifted()
    going_on = behind.where(~np.isin(behind.units, np.append(firsts, lengths.sum())))
    units = np.concatenate([firsts, going_on.units])
    labels = np.concatenate([np.full(len(firsts), none, dtype=np.intp), going_on.labels])
    order = np.argsort(units, kind="stable")
    return Shares(units[order], labels[order], np.concatenate([np.ones(len(firsts)), going_on.weights])[order])


def _with_column(rows: SparseRows, columns: Indices, n_columns: int) -> SparseRows:
    """Return the same rows with one more column of value 1 in each."""
    ends = rows.indptr[1:]
    values = None if rows.values is None else np.insert(rows.values, ends, 1)
    indptr = (rows.indptr + np.arange(len(rows.indptr))).astype(np.int32)
    return SparseRows(indptr, np.insert(rows.indices, ends, columns.astype(np.int32)), values, n_columns)


class SoftmaxObjective:
    """The regression: sum over rows of -sum_j target_j log p(j | row) + c2 |w|^2, and its gradient.

    rows (SparseRows), targets (SparseRows), cells ((P,)): see `LocalProblem`; other weights are 0.
    dtype (type): precision of scores; losses are summed in float64 in any case.
    """

    def __init__(
        self, rows: SparseRows, targets: SparseRows, cells: Indices, c2: float, dtype: type[np.floating] = np.float32
    ):
        self.rows, self.targets, self.cells, self.c2 = rows, targets, cells, c2
        self._weights, self._gradient = np.zeros((2, rows.n_columns, targets.n_columns), dtype)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Return value and gradient at x ((P,)). O(nnz L)."""
        self._weights.reshape(-1)[self.cells] = x
        self._gradient[...] = 0
        value = self.c2 * float(x @ x)
        for low in range(0, self.rows.n_rows, ROWS):
            value += self._add(low, min(low + ROWS, self.rows.n_rows))
        return value, self._gradient.reshape(-1)[self.cells] + 2 * self.c2 * x

    def _add(self, low: int, high: int) -> float:
        """Return the loss of the rows low:high, and add to their gradient."""
        part = self.rows.slice(low, high)
        targets = np.zeros((high - low, self.targets.n_columns), self._weights.dtype)
        self.targets.slice(low, high).times(np.eye(targets.shape[1], dtype=targets.dtype), targets)
        scores = np.zeros_like(targets)
        part.times(self._weights, scores)
        scores -= scores.max(axis=1, keepdims=True)
        factors = np.exp(scores)
        norms = factors.sum(axis=1, keepdims=True)
        masses = targets.sum(axis=1, keepdims=True)
        factors *= masses / norms
        factors -= targets
        part.add_transposed(factors, self._gradient)
        loss = (masses * np.log(norms)).sum(dtype=np.float64) - (targets * scores).sum(dtype=np.float64)
        return float(loss)
