"""Training data of a locally normalised model: each unit with each label that may be before it is one example."""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Indices
from ...core.errors import CRFError
from ...core.gold import Gold
from ...core.sparse import SparseRows
from ...core.weights import cells
from ...pipe.dictionary.counts import Shares, gold_shares
from ...pipe.errors import PipeErrors
from ..errors import LabErrors
from .ngrams import join


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
    """The examples that gold gives. O(nnz) where one label is right.

    Sets and distributions count by their shares, a pair of labels by the product of both. A unit that is unknown, or
    comes after one that is, gives no example.

    lengths ((B,)): of the sequences. features (SparseRows): N rows, one sequence after the other.
    gold (Gold): of the units.
    RAISES (ValueError): for rows that do not fit the lengths, or gold that gives no example.
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
    """For each unit the labels before it; `none` at first units."""
    ends = np.cumsum(lengths)[lengths > 0]
    firsts = ends - lengths[lengths > 0]
    inside = np.ones(int(lengths.sum()), dtype=bool)
    inside[ends - 1] = False
    going_on = shares.where(inside[shares.units]).shifted()
    units = np.concatenate([firsts, going_on.units])
    labels = np.concatenate([np.full(len(firsts), none, dtype=np.intp), going_on.labels])
    order = np.argsort(units, kind="stable")
    return Shares(units[order], labels[order], np.concatenate([np.ones(len(firsts)), going_on.weights])[order])


def _with_column(rows: SparseRows, columns: Indices, n_columns: int) -> SparseRows:
    """The same rows with one more column of value 1 in each."""
    ends = rows.indptr[1:]
    values = None if rows.values is None else np.insert(rows.values, ends, 1)
    indptr = (rows.indptr + np.arange(len(rows.indptr))).astype(np.int32)
    return SparseRows(indptr, np.insert(rows.indices, ends, columns.astype(np.int32)), values, n_columns)
