"""Sparse rows of features and their two products with dense label scores.

scipy's compiled kernels are called directly: unlike `@` they add to an array that is there already, so that a
gradient over many blocks needs one accumulator and no copies. They release the GIL.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .arrays import Floats, Indices, Ints
from .errors import CoreErrors, CRFError


@dataclass(frozen=True)
class SparseRows:
    """N rows of (column, value) pairs in compressed sparse row form.

    indptr ((N + 1,)): row n has the pairs `indptr[n]:indptr[n + 1]`.
    indices ((nnz,)): columns (feature ids).
    values ((nnz,) | None): feature values; None where all are 1.
    n_columns (int): F.
    """

    indptr: Ints
    indices: Ints
    values: Floats | None
    n_columns: int

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def times(self, dense: Floats, out: Floats) -> None:
        """out (N, L) += self (N, F) @ dense (F, L). O(nnz L).

        out (Floats): C-contiguous and of the same precision as `dense`.
        RAISES (ValueError): for shapes that do not fit.
        """
        from scipy.sparse import _sparsetools

        _check("dense", dense, self.n_columns)
        _check("out", out, self.n_rows)
        _sparsetools.csr_matvecs(
            self.n_rows,
            self.n_columns,
            dense.shape[1],
            self.indptr,
            self.indices,
            self.data(dense),
            dense.reshape(-1),
            out.reshape(-1),
        )

    def add_transposed(self, dense: Floats, out: Floats) -> None:
        """out (F, L) += self.T (F, N) @ dense (N, L). O(nnz L).

        out (Floats): C-contiguous and of the same precision as `dense`.
        RAISES (ValueError): for shapes that do not fit.
        """
        from scipy.sparse import _sparsetools

        _check("dense", dense, self.n_rows)
        _check("out", out, self.n_columns)
        _sparsetools.csc_matvecs(
            self.n_columns,
            self.n_rows,
            dense.shape[1],
            self.indptr,
            self.indices,
            self.data(dense),
            dense.reshape(-1),
            out.reshape(-1),
        )

    def data(self, dense: Floats) -> Floats:
        """((nnz,)): the values, in the precision of another array."""
        if self.values is None:
            return _ones(len(self.indices), dense.dtype)
        return self.values.astype(dense.dtype, copy=False)

    def row_numbers(self) -> Indices:
        """((nnz,)): the row of each pair."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def take(self, rows: Indices) -> "SparseRows":
        """The given rows in the given order. O(pairs taken)."""
        sizes = np.diff(self.indptr)[rows]
        indptr = np.zeros(len(rows) + 1, dtype=np.int32)
        np.cumsum(sizes, out=indptr[1:])
        pairs = np.repeat(self.indptr[:-1][rows] - indptr[:-1], sizes) + np.arange(indptr[-1])
        values = None if self.values is None else self.values[pairs]
        return SparseRows(indptr, self.indices[pairs], values, self.n_columns)

    def slice(self, low: int, high: int) -> "SparseRows":
        """Rows low:high, without copying the pairs."""
        first, last = int(self.indptr[low]), int(self.indptr[high])
        values = None if self.values is None else self.values[first:last]
        indptr = self.indptr[low : high + 1] - self.indptr[low]
        return SparseRows(indptr, self.indices[first:last], values, self.n_columns)

    def select(self, keep: Indices, columns: Ints, n_columns: int) -> "SparseRows":
        """Keep the pairs with the given positions and give each its new column.

        keep ((m,)): ascending positions of pairs.
        columns ((m,)): their new columns.
        """
        counts = np.bincount(self.row_numbers()[keep], minlength=self.n_rows)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        values = None if self.values is None else self.values[keep]
        return SparseRows(indptr, columns.astype(np.int32, copy=False), values, n_columns)


def from_columns(columns: Ints, n_columns: int, values: Floats | None = None) -> SparseRows:
    """Sparse rows from a table of feature ids, one column of the table for each template.

    columns ((N, A)): feature ids; negative where a template yields no feature.
    values ((N, A) | None): feature values.
    """
    present = columns >= 0
    indptr = np.zeros(len(columns) + 1, dtype=np.int32)
    np.cumsum(present.sum(axis=1), out=indptr[1:])
    kept = None if values is None else values[present].astype(np.float32)
    return SparseRows(indptr, columns[present].astype(np.int32, copy=False), kept, n_columns)


def stack(parts: Iterable[SparseRows], n_columns: int) -> SparseRows:
    """Sparse rows below each other."""
    parts = list(parts)
    if not parts:
        return SparseRows(np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32), None, n_columns)
    ends = np.cumsum([0] + [len(part.indices) for part in parts])
    indptr = [part.indptr[1:] + end for part, end in zip(parts, ends)]
    values = None
    if any(part.values is not None for part in parts):
        values = np.concatenate([part.data(np.zeros(0, np.float32)) for part in parts])
    return SparseRows(
        np.concatenate([np.zeros(1, dtype=np.int32), *indptr]).astype(np.int32),
        np.concatenate([part.indices for part in parts]),
        values,
        n_columns,
    )


def _check(name: str, values: Floats, n_rows: int) -> None:
    """The compiled kernels would read and write beyond the ends of arrays that are too short."""
    if len(values) != n_rows:
        raise CRFError(CoreErrors.CRF101.format(name=name, expected=(n_rows, *values.shape[1:]), actual=values.shape))


_ONES: dict[np.dtype[np.floating], Floats] = {}


def _ones(size: int, dtype: "np.dtype[np.floating]") -> Floats:
    """One shared array of ones for each precision, grown as needed."""
    known = _ONES.get(dtype)
    if known is None or len(known) < size:
        known = _ONES[dtype] = np.ones(max(size, 1 << 16), dtype=dtype)
    return known[:size]
