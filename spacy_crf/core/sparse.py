"""Sparse rows of numbered features, their two products with dense label scores, and the table that numbers them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np

from .arrays import Floats, Hashes, Indices, Ints
from .errors import CoreErrors, CRFError

ABSENT = np.uint64(0)  # the key of "no feature here"
FREE = 4  # slots for each key, at least
_CHUNK = 1 << 18  # keys added at a time: sorting them in search of repetitions is three times faster than all at once


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

    def times(self, dense: "Floats | SparseRows", out: Floats) -> None:
        """out (N, L) += self (N, F) @ dense (F, L). O(nnz L). See `add_product`.

        Where `dense` is sparse, the rows that are met are made dense first: slower, and the same to the bit.
        """
        if isinstance(dense, SparseRows):
            compact, met = self.compacted()
            return compact.times(dense.take(met).to_dense(), out)
        _check("dense", dense, self.n_columns)
        _check("out", out, self.n_rows)
        add_product(self.indptr, self.indices, self.data(dense), dense, out)

    def add_transposed(self, dense: Floats, out: Floats) -> None:
        """out (F, L) += self.T (F, N) @ dense (N, L). O(nnz L). See `add_product`."""
        _check("dense", dense, self.n_rows)
        _check("out", out, self.n_columns)
        add_product(self.indptr, self.indices, self.data(dense), dense, out, transposed=True)

    def data(self, dense: Floats) -> Floats:
        """((nnz,)): the values, in the precision of another array."""
        if self.values is None:
            return _ones(len(self.indices), dense.dtype)
        return self.values.astype(dense.dtype, copy=False)

    def to_dense(self) -> Floats:
        """((N, F)): all cells, those without a pair being 0. For rows with values, and no column twice in any."""
        assert self.values is not None
        dense: Floats = np.zeros((self.n_rows, self.n_columns), dtype=self.values.dtype)
        dense[self.row_numbers(), self.indices] = self.values
        return dense

    def row_numbers(self) -> Indices:
        """((nnz,)): the row of each pair."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.indptr))

    def take(self, rows: Indices) -> "SparseRows":
        """The given rows in the given order. O(pairs taken)."""
        firsts = self.indptr[rows]
        sizes = self.indptr[rows + 1] - firsts
        indptr = _bounds(sizes)
        pairs = np.repeat(firsts - indptr[:-1], sizes) + np.arange(indptr[-1])
        values = None if self.values is None else self.values[pairs]
        return SparseRows(indptr, self.indices[pairs], values, self.n_columns)

    def slice(self, low: int, high: int) -> "SparseRows":
        """Rows low:high, without copying the pairs."""
        first, last = int(self.indptr[low]), int(self.indptr[high])
        values = None if self.values is None else self.values[first:last]
        indptr = self.indptr[low : high + 1] - self.indptr[low]
        return SparseRows(indptr, self.indices[first:last], values, self.n_columns)

    def select(self, keep: Indices, columns: Ints, n_columns: int) -> "SparseRows":
        """Keep the pairs at some positions ((m,), ascending), and give each its new column ((m,))."""
        indptr = _bounds(np.bincount(self.row_numbers()[keep], minlength=self.n_rows))
        values = None if self.values is None else self.values[keep]
        return SparseRows(indptr, columns.astype(np.int32, copy=False), values, n_columns)

    def compacted(self) -> tuple["SparseRows", Indices]:
        """The same rows, their columns that occur numbered from 0, and the old numbers of these, ascending."""
        met, numbers = np.unique(self.indices, return_inverse=True)
        return SparseRows(self.indptr, numbers.astype(np.int32), self.values, len(met)), met.astype(np.intp)

    def renumber(self, numbers: Ints, n_columns: int) -> "SparseRows":
        """Keep the pairs whose column has a new number ((F,)), which is not negative."""
        found = numbers[self.indices]
        kept = np.flatnonzero(found >= 0)
        return self.select(kept, found[kept], n_columns)


def from_columns(columns: Ints, n_columns: int, values: Floats | None = None) -> SparseRows:
    """Sparse rows from a table of feature ids ((N, A)), a column for each template; negative where it yields none."""
    present = columns >= 0
    kept = None if values is None else values[present].astype(np.float32)
    indices = columns[present].astype(np.int32, copy=False)
    return SparseRows(_bounds(present.sum(axis=1)), indices, kept, n_columns)


def stack(parts: Iterable[SparseRows], n_columns: int) -> SparseRows:
    """Sparse rows below each other."""
    parts = list(parts)
    sizes = [np.zeros(0, dtype=np.intp), *(np.diff(part.indptr) for part in parts)]
    indices = [np.zeros(0, dtype=np.int32), *(part.indices for part in parts)]
    values = None
    if any(part.values is not None for part in parts):
        values = np.concatenate([part.data(np.zeros(0, np.float32)) for part in parts])
    return SparseRows(_bounds(np.concatenate(sizes)), np.concatenate(indices), values, n_columns)


def add_product(
    indptr: Ints, indices: Ints, values: Floats, dense: Floats, out: Floats, transposed: bool = False
) -> None:
    """out += A @ dense, or A.T @ dense, for a sparse matrix A. O(nnz L). Releases the GIL.

    indptr, indices, values: A in compressed rows. Indices are not checked: they must be rows of `dense` or of `out`.
    dense, out ((n, L) or (n,)): C-contiguous, and of the precision of the values.
    """
    kernels = _kernels()
    if kernels is None:
        from scipy.sparse import csr_array

        shape = (len(dense), len(out)) if transposed else (len(out), len(dense))
        matrix = csr_array((values, indices, indptr), shape=shape)
        out += (matrix.T if transposed else matrix) @ dense
        return
    name = f"{'csc' if transposed else 'csr'}_matvec{'s' if dense.ndim == 2 else ''}"
    sizes = (len(out), len(dense), *dense.shape[1:])
    getattr(kernels, name)(*sizes, indptr, indices, values, dense.reshape(-1), out.reshape(-1))


@cache
def _kernels() -> Any:
    """scipy's compiled products, or None in a scipy that has them no more.

    No public API, but `@` cannot add to an array that is there: it fills one of its own first. That takes no longer
    for 50,000 rows, but nine times as long for the gradient of 500 rows by 60,000 features, which is mostly 0, and 350
    times as long for that of 20.
    """
    try:
        from scipy.sparse import _sparsetools as kernels
    except ImportError:
        return None
    names = ("csr_matvec", "csr_matvecs", "csc_matvec", "csc_matvecs")
    return kernels if all(hasattr(kernels, name) for name in names) else None


def _bounds(sizes: Indices) -> Ints:
    """((N + 1,)): where rows of these sizes begin and end."""
    bounds = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=bounds[1:])
    return bounds


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


class HashTable:
    """Numbers the distinct keys it is given, in the order in which they come.

    Linear probing over a table at most a quarter full, all keys at once: a few rounds of array operations. Rounds cost
    more than slots: half full, a look-up takes a third longer.
    """

    def __init__(self, keys: Hashes | None = None):
        self._held: Hashes = np.zeros(1, dtype=np.uint64)  # ends in ABSENT: what number -1 holds
        self._allocate(1 << 10)
        if keys is not None:
            self.add(keys)

    @classmethod
    def of_distinct(cls, keys: Hashes) -> Self:
        """Number keys (F,) in less than half of the time that `add` takes, if they are distinct and none is absent."""
        table = cls()
        table._held = np.append(keys, ABSENT)
        table._allocate(1 << max(10, (FREE * len(keys)).bit_length()))
        table._insert(keys, 0)
        is_right = not (keys == ABSENT).any() and bool((table.find(keys) == np.arange(len(keys))).all())
        return table if is_right else cls(keys)

    def __len__(self) -> int:
        return len(self._held) - 1

    @property
    def keys(self) -> Hashes:
        """((F,)): the keys by number."""
        return self._held[:-1]

    def find(self, keys: Hashes) -> Ints:
        """Numbers (int32) of keys in any shape, -1 for unknown and absent ones. O(N) expected."""
        flat = keys.reshape(-1)
        # `take` with a mode is about three times faster than indexing, which checks the bounds of what is in range
        slots = (flat & self._mask).view(np.intp)
        numbers = self._numbers.take(slots, mode="clip")
        pending = self._elsewhere(numbers, flat)
        slots, wanted = slots.take(pending), flat.take(pending)
        while len(pending):
            slots += 1
            slots &= int(self._mask)
            found = self._numbers.take(slots, mode="clip")
            numbers[pending] = found
            going = self._elsewhere(found, wanted)
            pending, slots, wanted = pending.take(going), slots.take(going), wanted.take(going)
        return numbers.reshape(keys.shape)

    def _elsewhere(self, numbers: Ints, wanted: Hashes) -> Indices:
        """Positions where a slot holds another key than the one looked for."""
        return np.flatnonzero((self._held.take(numbers, mode="wrap") != wanted) & (numbers >= 0))

    def add(self, keys: Hashes) -> Indices:
        """Number the keys that are new, and return the positions, in the flattened keys, of their first occurrences."""
        flat = keys.reshape(-1)
        firsts = [low + self._add(flat[low : low + _CHUNK]) for low in range(0, len(flat), _CHUNK)]
        return np.concatenate([np.zeros(0, dtype=np.intp), *firsts])

    def _add(self, keys: Hashes) -> Indices:
        unknown = np.flatnonzero((self.find(keys) < 0) & (keys != ABSENT))
        firsts = unknown[np.sort(np.unique(keys[unknown], return_index=True)[1])]
        if not len(firsts):
            return firsts
        self._held = np.concatenate([self.keys, keys[firsts], self._held[-1:]])
        if FREE * len(self) > len(self._numbers):
            self._allocate(1 << (FREE * len(self)).bit_length())
            self._insert(self.keys, 0)
        else:
            self._insert(keys[firsts], len(self) - len(firsts))
        return firsts

    def _allocate(self, size: int) -> None:
        self._mask = np.uint64(size - 1)
        self._numbers: Ints = np.full(size, -1, dtype=np.int32)

    def _insert(self, keys: Hashes, first: int) -> None:
        """Place distinct new keys: in each round, the first claimant of each free slot gets it."""
        numbers = np.arange(first, first + len(keys), dtype=np.int32)
        slots = (keys & self._mask).astype(np.intp)
        while len(numbers):
            free = np.flatnonzero(self._numbers[slots] < 0)
            self._numbers[slots[free[::-1]]] = numbers[free[::-1]]  # the last write, hence the first claimant, stays
            left = self._numbers[slots] != numbers
            numbers, slots = numbers[left], (slots[left] + 1) & int(self._mask)
