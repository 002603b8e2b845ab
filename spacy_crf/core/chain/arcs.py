"""Marginals and best paths over chains in which few labels may follow each other: a step takes A operations, not L^2.

For state spaces, such as pairs of labels, whose A allowed transitions are a small part of all. Steps run over whole
rows of sequences, as in `viterbi`.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..arrays import Doubles, Floats, chunks
from ..sparse import SparseRows
from .potentials import ChainPotentials, NoPathError
from .viterbi import Decoded, trace

CHUNK = 1 << 20  # arrivals that are compared at a time


@dataclass(frozen=True)
class Arcs:
    """The transitions of a chain that are not forbidden, by the label they lead to and by the one they come from.

    into (SparseRows): [to, from], factors. out_of (SparseRows): [from, to], factors.
    scores ((A,)): logarithms of the factors of `into`.
    """

    into: SparseRows
    out_of: SparseRows
    scores: Doubles

    @classmethod
    def of_transitions(cls, transitions: Doubles) -> Self:
        """The arcs of a matrix. transitions ((L, L)): [from, to], log scores, -inf where forbidden; none above 700."""
        into, scores = _sparse(transitions.T)
        return cls(into, _sparse(transitions)[0], scores)


def arc_marginals(potentials: ChainPotentials, arcs: Arcs) -> Doubles:
    """((N, L)): p(label) at each unit, as `node_marginals` gives it, in double precision, without edges. O(N (A + L)).

    Scaled at each step, without a fallback: from any label there must be a step to one that is not hopelessly
    improbable, as where all transitions are smoothed. Otherwise `NoPathError` may be raised where there is a path.
    """
    batch, emissions = potentials.batch, potentials.emissions
    with np.errstate(invalid="ignore"):  # a unit without any label is told of below
        factors: Doubles = np.exp(emissions - emissions.max(axis=1, keepdims=True)).astype(np.float64)
    forward = _forward(potentials, arcs, factors)
    into_ends, marginals = np.exp(potentials.end - potentials.end.max()), np.empty_like(factors)
    later = np.zeros((potentials.n_labels, 0))
    for low, n, reached in zip(reversed(batch.starts), reversed(batch.alive), reversed(forward)):
        ahead = np.repeat(into_ends[:, None], n, axis=1)
        ahead[:, : later.shape[1]] = _product(arcs.out_of, later)
        ahead /= ahead.max(axis=0)
        found = reached * ahead
        marginals[low : low + n] = (found / found.sum(axis=0)).T
        later = ahead * factors[low : low + n].T
    return marginals


def arc_viterbi(potentials: ChainPotentials, arcs: Arcs) -> Decoded:
    """The highest-scoring label sequence of each chain without edges, as `viterbi` gives it. O(N (A + L))."""
    batch = potentials.batch
    steps: list[Floats] = []
    for low, n in zip(batch.starts, batch.alive):
        emissions = potentials.emissions[low : low + n].T
        steps.append(emissions + (_arrivals(arcs, steps[-1][:, :n]) if steps else potentials.start[:, None]))
    return trace(potentials, steps)


def _forward(potentials: ChainPotentials, arcs: Arcs, factors: Doubles) -> list[Doubles]:
    """For each step, p(label | units so far) of each sequence alive: (L, n)."""
    batch = potentials.batch
    start = np.exp(potentials.start - potentials.start.max())[:, None]
    steps: list[Doubles] = []
    for low, n in zip(batch.starts, batch.alive):
        reached = factors[low : low + n].T * (_product(arcs.into, steps[-1][:, :n]) if steps else start)
        sums = reached.sum(axis=0)
        if not (sums > 0).all():
            raise NoPathError(batch.order[np.flatnonzero(~(sums > 0))].tolist())
        steps.append(reached / sums)
    return steps


def _product(arcs: SparseRows, values: Doubles) -> Doubles:
    """((L, n)): arcs @ values."""
    out = np.zeros((arcs.n_rows, values.shape[1]))
    arcs.times(np.ascontiguousarray(values), out)
    return out


def _arrivals(arcs: Arcs, scores: Floats) -> Floats:
    """((L, n)): the best score with which each label is reached, -inf where none leads to it, from those before."""
    into, out = arcs.into, np.full(scores.shape, -np.inf)
    reached = np.flatnonzero(np.diff(into.indptr))
    if len(reached):
        for part in chunks(slice(0, scores.shape[1]), len(into.indices), CHUNK):
            arrivals = scores[into.indices, part] + arcs.scores[:, None]
            out[reached, part] = np.maximum.reduceat(arrivals, into.indptr[reached], axis=0)
    return out


def _sparse(scores: Doubles) -> tuple[SparseRows, Doubles]:
    """Rows of the factors that are not 0, and their logarithms."""
    is_arc = np.isfinite(scores)
    indptr = np.append(0, np.cumsum(is_arc.sum(axis=1))).astype(np.int32)
    found = scores[is_arc]
    return SparseRows(indptr, np.nonzero(is_arc)[1].astype(np.int32), np.exp(found), scores.shape[1]), found
