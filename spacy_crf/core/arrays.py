"""The dimension legend and the array aliases of the whole library, runs of adjacent units, numbers of items,
and packed batches.

B  sequences of a batch          T  length of a sequence        N  units of a packed batch (sum of lengths)
L  labels                        F  features (attributes)       P  state weights (attribute-label pairs)
G  distinct edge matrices of a batch                            E  edge features
K  n-best                        R  constraints; rules          S  symbols of a grammar, with its markers
V  terminals of a grammar        Q  right sides of binary rules

`emissions (N, L)`, `transitions (L, L) [from, to]`, `start (L,)`, `end (L,)` are unnormalised log potentials;
`log_z (B,)`, `node_marginals (N, L)`, `edge_marginals (L, L)`. What is forbidden is a true -inf.
"""

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from .errors import CoreErrors, CRFError

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Doubles: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.intp]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Bools: TypeAlias = npt.NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)
Value = TypeVar("Value")
Item = TypeVar("Item", bound=Hashable)


if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(Generic[Value]):
        """That of functools without its lock, which lets one thread at a time compute what any instance has."""

        def __init__(self, function: Callable[[Any], Value]):
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        @overload
        def __get__(self, instance: None, owner: type) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type) -> Value: ...
        def __get__(self, instance: object | None, owner: type) -> Self | Value:
            if instance is None:
                return self
            value = vars(instance)[self._name] = self._function(instance)
            return value


@dataclass(frozen=True)
class Segments:
    """Runs of adjacent units, one after the other: the sequences of a corpus, the tokens of documents.

    lengths ((B,)): units of each run; 0 for an empty one.
    """

    lengths: Indices

    @classmethod
    def of(cls, runs: Iterable[Sized]) -> Self:
        """Take the lengths of anything that has one, such as Docs."""
        return cls(np.fromiter(map(len, runs), dtype=np.intp))

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def bounds(self) -> Indices:
        """((B + 1,)): run b has the units `bounds[b]:bounds[b + 1]`."""
        bounds = np.zeros(len(self.lengths) + 1, dtype=np.intp)
        np.cumsum(self.lengths, out=bounds[1:])
        return bounds

    @property
    def firsts(self) -> Indices:
        """((B,)): first unit of each run."""
        return self.bounds[:-1]

    @property
    def ends(self) -> Indices:
        """((B,)): unit behind the last one of each run."""
        return self.bounds[1:]

    @property
    def n_units(self) -> int:
        """N: units of all runs."""
        return int(self.bounds[-1])

    @cached_property
    def owners(self) -> Indices:
        """((N,)): run of each unit."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def positions(self) -> Indices:
        """((N,)): place of each unit within its run."""
        return self.at(np.zeros(len(self.lengths), dtype=np.intp))

    @property
    def openings(self) -> Indices:
        """((b,)): first units of the runs that are not empty."""
        return self.firsts[self.lengths > 0]

    def slices(self) -> list[slice]:
        """Return the units of each run as a slice."""
        return list(map(slice, self.firsts.tolist(), self.ends.tolist()))

    def split(self, values: npt.NDArray[Scalar]) -> list[npt.NDArray[Scalar]]:
        """Cut an array with a row for each unit into views, one for each run."""
        return [values[units] for units in self.slices()]

    def at(self, firsts: Indices) -> Indices:
        """((N,)): units of runs of these lengths that begin elsewhere, at `firsts` ((B,))."""
        units: Indices = np.repeat(firsts - self.firsts, self.lengths)
        units += np.arange(self.n_units)  # in place: a new array of many megabytes costs more than the sum
        return units

    def units(self, chosen: Indices | Ints) -> Indices:
        """((n,)): units of some runs, in the order in which the runs are given."""
        return Segments(self.lengths[chosen]).at(self.firsts[chosen])

    def within(self, outer: "Segments") -> "Segments":
        """Group these runs by the longer ones that they make up, such as sequences by documents: runs of runs.

        outer (Segments): of the same units; each of its bounds is one of these.
        """
        return Segments(np.diff(np.searchsorted(self.firsts, outer.firsts), append=len(self)))


def check_shape(name: str, array: npt.NDArray[np.generic], expected: tuple[int, ...]) -> None:
    """Refuse an array of another shape."""
    if array.shape != expected:
        raise CRFError(CoreErrors.CRF101.format(name=name, expected=expected, actual=array.shape))


def check_finite(name: str, values: Floats) -> None:
    """Refuse NaN and infinite numbers."""
    if not np.isfinite(values).all():
        raise CRFError(CoreErrors.CRF102.format(name=name))


def row_sums(values: Floats) -> Floats:
    """((N,)): the sum of each row ((N, L)), NaN where it is none. O(N L).

    A product is several times faster than a sum over short rows. But the kernels of BLAS also compute in lanes that no
    result is taken from: what lies there may raise the flag of an invalid operation, of which NumPy then warns
    (numpy/numpy#24067).
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(values @ np.ones(values.shape[1], dtype=values.dtype))


def narrowed(numbers: Ints | Indices) -> npt.NDArray[np.integer[Any]]:
    """Return numbers in the smallest type that holds them."""
    ends = (np.min_scalar_type(int(one)) for one in (numbers.min(initial=0), numbers.max(initial=0)))
    return numbers.astype(np.result_type(*ends))


def chunks(rows: slice, size: int, most: int) -> Iterator[slice]:
    """Cut a run of rows into parts whose work arrays have at most so many cells, with `size` cells for a row."""
    length = max(1, most // max(1, size))
    for low in range(rows.start, rows.stop, length):
        yield slice(low, min(rows.stop, low + length))


class Step(NamedTuple):
    """The rows at one position of their sequences.

    going (slice): of units that others follow. following (slice): of those. ending (slice): of last units.
    """

    going: slice
    following: slice
    ending: slice


class Numbered(list[Item]):
    """Distinct items in the order in which they are met; the place of each is its number."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        super().__init__()
        self._numbers: dict[Item, int] = {}
        for item in items:
            self.number(item)

    def number(self, item: Item) -> int:
        """The number of an item, which is a new one if it was not met before. O(1)."""
        found = self._numbers.setdefault(item, len(self))
        if found == len(self):
            self.append(item)
        return found


def distinct(items: Iterable[Item]) -> tuple[list[Item], Indices]:
    """Return items without repetition, in the order of their first occurrence, and for each item given its place."""
    found = Numbered[Item]()
    places = [found.number(item) for item in items]
    return list(found), np.array(places, dtype=np.intp)


def dense_rows(rows: Sequence[Mapping[Any, float]], number: Mapping[Any, int]) -> Doubles:
    """((n, m)): the values of n mappings, by the columns of their m keys; 0 for keys that one lacks. O(n m)."""
    dense: Doubles = np.zeros((len(rows), len(number)))
    for row, own in zip(dense, rows):
        row[[number[key] for key in own]] = list(own.values())
    return dense


def sum_by_cell(cells: Indices, weights: Floats) -> tuple[Indices, Doubles]:
    """Return the cells that occur, ascending, and for each the sum of its weights. O(n log n)."""
    found, owners = np.unique(cells, return_inverse=True)
    sums = np.bincount(owners, weights=weights, minlength=len(found))
    return found, sums.astype(np.float64, copy=False)  # bincount of nothing is integer


@dataclass(frozen=True)
class PackedBatch:
    """How B sequences of any lengths (0 included) are laid out in N rows.

    lengths ((B,)): lengths of the sequences, in the order given.
    order ((B,)): `order[k]` is the given index of the k-th longest sequence; equal lengths keep their order.
    offsets ((T + 1,)): rows of step t are `offsets[t]:offsets[t + 1]`; T is the greatest length.
    """

    lengths: Indices
    order: Indices
    offsets: Indices

    @property
    def n_sequences(self) -> int:
        return len(self.lengths)

    @property
    def n_units(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def rows(self) -> Indices:
        """((N,)): for each unit of the concatenated sequences in the order given, its packed row."""
        return self.offsets[self.times] + np.repeat(_inverse(self.order), self.lengths)

    @cached_property
    def units(self) -> Indices:
        """((N,)): for each packed row, its unit in the concatenated sequences: the inverse of `rows`."""
        return _inverse(self.rows)

    @cached_property
    def segments(self) -> Segments:
        """The sequences as runs of the concatenated units."""
        return Segments(self.lengths)

    @property
    def times(self) -> Indices:
        """((N,)): for each unit of the concatenated sequences, its position in its sequence."""
        return self.segments.positions

    @cached_property
    def row_sequences(self) -> Indices:
        """((N,)): for each packed row, the given index of its sequence."""
        return self.order[np.arange(self.n_units) - np.repeat(self.offsets[:-1], np.diff(self.offsets))]

    @cached_property
    def alive(self) -> list[int]:
        """Number of sequences alive at each step."""
        return list(np.diff(self.offsets).tolist())

    @cached_property
    def starts(self) -> list[int]:
        """First row of each step, as Python integers for the loops."""
        return list(self.offsets[:-1].tolist())

    @cached_property
    def links(self) -> list[tuple[slice, slice]]:
        """For each step but the first: rows of the units before, and rows of the step."""
        parts = zip(self.starts, self.starts[1:], self.alive[1:])
        return [(slice(before, before + n), slice(low, low + n)) for before, low, n in parts]

    def steps_back(self) -> Iterator[Step]:
        """Steps, the last one first."""
        n_after = after = 0
        for low, n in zip(reversed(self.starts), reversed(self.alive)):
            yield Step(slice(low, low + n_after), slice(after, after + n_after), slice(low + n_after, low + n))
            n_after, after = n, low

    @cached_property
    def first_rows(self) -> Indices:
        """((B',)): rows of the first units of the sequences that are not empty, in packed order."""
        return np.arange(self.alive[0] if self.alive else 0)

    @cached_property
    def last_rows(self) -> Indices:
        """((B',)): rows of the last units of the sequences that are not empty, in packed order."""
        lengths = self.lengths[self.order[: len(self.first_rows)]]
        return self.offsets[lengths - 1] + np.arange(len(lengths))

    @cached_property
    def before(self) -> Indices:
        """((N,)): for each packed row, that of the unit before; 0 for first units."""
        alive = np.diff(self.offsets)
        steps_back = np.concatenate([np.arange(len(self.first_rows)), np.repeat(alive[:-1], alive[1:])])
        before: Indices = np.arange(self.n_units) - steps_back
        return before

    def sequence_sums(self, values: Floats) -> Doubles:
        """((B,)): sums of (N,) packed values by sequence, in the order given."""
        sums = np.bincount(self.row_sequences, weights=values, minlength=self.n_sequences)
        return sums.astype(np.float64)  # bincount of nothing is integer

    def select(self, sequences: Indices) -> tuple["PackedBatch", Indices]:
        """Lay out some of the sequences ((B',)) anew; with it, for each of its rows, the row in this one."""
        part = pack(self.lengths[sequences])
        rank = _inverse(self.order)[sequences][part.row_sequences]
        return part, self.offsets[np.repeat(np.arange(len(part.alive)), part.alive)] + rank


def pack(lengths: Indices) -> PackedBatch:
    """Lay out sequences of the given lengths ((B,)). O(N + B log B)."""
    lengths = np.asarray(lengths, dtype=np.intp)
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max(initial=0))
    # sequences alive at step t = sequences longer than t
    ending = np.bincount(lengths, minlength=longest + 1)
    alive = len(lengths) - np.cumsum(ending)[:longest]
    offsets = np.concatenate([[0], np.cumsum(alive)]).astype(np.intp)
    return PackedBatch(lengths, order, offsets)


def _inverse(order: Indices) -> Indices:
    """Return the place of each number in a permutation."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
