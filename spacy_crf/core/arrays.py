"""The dimension legend and the array aliases of the whole library, and runs of adjacent units.

B  sequences of a batch          T  length of a sequence        N  units of a packed batch (sum of lengths)
L  labels                        F  features (attributes)       P  state weights (attribute-label pairs)
G  distinct edge matrices of a batch                            E  edge features
K  n-best                        R  constraints; rules          S  symbols of a grammar, with its markers
V  terminals of a grammar        Q  right sides of binary rules

`emissions (N, L)`, `transitions (L, L) [from, to]`, `start (L,)`, `end (L,)` are unnormalised log potentials;
`log_z (B,)`, `node_marginals (N, L)`, `edge_marginals (L, L)`. What is forbidden is a true -inf.
"""

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Doubles: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.intp]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Bools: TypeAlias = npt.NDArray[np.bool_]

Scalar = TypeVar("Scalar", bound=np.generic)


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
        return np.arange(self.n_units) + np.repeat(firsts - self.firsts, self.lengths)

    def units(self, chosen: Indices | Ints) -> Indices:
        """((n,)): units of some runs, in the order in which the runs are given."""
        return Segments(self.lengths[chosen]).at(self.firsts[chosen])

    def within(self, outer: "Segments") -> "Segments":
        """Group these runs by the longer ones that they make up, such as sequences by documents: runs of runs.

        outer (Segments): of the same units; each of its bounds is one of these.
        """
        return Segments(np.diff(np.searchsorted(self.firsts, outer.firsts), append=len(self)))


def chunks(rows: slice, size: int, most: int) -> Iterator[slice]:
    """Cut a run of rows into parts whose work arrays have at most so many cells, with `size` cells for a row."""
    length = max(1, most // max(1, size))
    for low in range(rows.start, rows.stop, length):
        yield slice(low, min(rows.stop, low + length))
