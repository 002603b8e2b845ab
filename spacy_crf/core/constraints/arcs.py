"""One chain as a lattice of arcs: what constraints add to scores, and what methods of inference search.

Emissions, start and end scores are folded into the arcs, so that a cost for any edge at any unit is one addition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints
from ..batch import pack
from ..chain.logspace import transition_matrices
from ..chain.potentials import ChainPotentials, EdgePotentials
from ..chain.viterbi import Decoded, viterbi


@dataclass(frozen=True)
class Arcs:
    """The scores of one sequence of T > 0 units.

    first ((L,)): of the tag of the first unit. inner ((T - 1, L, L)): of the tags of each two adjacent units
        [unit, from, to].
    """

    first: Doubles
    inner: Doubles

    @property
    def n_units(self) -> int:
        return len(self.inner) + 1

    @property
    def n_arcs(self) -> int:
        return int(self.first.size + self.inner.size)

    def score(self, path: Ints) -> float:
        """Score of a labelling of T tags."""
        return float(self.first[path[0]] + self.inner[np.arange(len(self.inner)), path[:-1], path[1:]].sum())

    @cached_property
    def completions(self) -> Doubles:
        """((T, L)): score of the best way on from each tag to the end, without what came before. O(T L^2)."""
        best = np.zeros((self.n_units, len(self.first)))
        for unit in range(self.n_units - 2, -1, -1):
            np.max(self.inner[unit] + best[unit + 1], axis=1, out=best[unit])
        return best

    @property
    def bound(self) -> float:
        """Score of the best labelling without constraints."""
        return float((self.first + self.completions[0]).max())

    @property
    def floor(self) -> float:
        """A number that no labelling that the chain allows scores less than."""
        low = np.where(self.first > -np.inf, self.first, np.inf).min()
        rest = np.where(self.inner > -np.inf, self.inner, np.inf).min(axis=(1, 2)).sum()
        return float(low + rest)

    def copy(self) -> "Arcs":
        return Arcs(self.first.copy(), self.inner.copy())

    def subtract(self, cost: float, mask: Bools, low: int, high: int) -> None:
        """Charge a cost for edges of units low..high-1, in place.

        mask ((L + 1, L)): edges [tag before, tag]; the last row is for the first unit.
        """
        if low == 0 and high > 0:
            self.first[mask[-1]] -= cost
        if high > max(low, 1):
            self.inner[max(low, 1) - 1 : high - 1][:, mask[:-1]] -= cost


def arcs_of(potentials: ChainPotentials, rows: Indices) -> Arcs:
    """The arcs of one sequence that is not empty, in float64.

    rows ((T,)): its packed rows.
    """
    emissions = potentials.emissions[rows].astype(np.float64)
    first = emissions[0] + potentials.start
    inner = transition_matrices(potentials, rows[1:]) + emissions[1:, None, :]
    (inner[-1] if len(inner) else first)[...] += potentials.end
    return Arcs(first, inner)


def best_paths(lattices: Sequence[Arcs]) -> tuple[list[Ints], Doubles]:
    """The best labelling of each lattice, by one Viterbi pass over all. O(N L^2).

    RETURNS (tuple): tags of each, and their scores (B,).
    RAISES (NoPathError): for lattices without a path.
    """
    lengths = np.array([arcs.n_units for arcs in lattices])
    batch = pack(lengths)
    n_labels = len(lattices[0].first)
    ends = np.cumsum(lengths)
    matrices = np.zeros((batch.n_units, n_labels, n_labels))
    emissions = np.zeros((batch.n_units, n_labels))
    for arcs, end in zip(lattices, ends.tolist()):
        own = batch.rows[end - arcs.n_units : end]
        emissions[own[0]], matrices[own[1:]] = arcs.first, arcs.inner
    edges = EdgePotentials(matrices, np.arange(batch.n_units))
    nothing = np.zeros(n_labels)
    found: Decoded = viterbi(ChainPotentials(batch, emissions, matrices[0] * 0, nothing, nothing, edges))
    return np.split(found.labels[batch.rows], ends[:-1]), found.scores
