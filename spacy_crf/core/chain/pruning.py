"""Viterbi over the labels that can be on a best path: exact, and much faster where emissions are decisive.

Label j at a unit is dominated by label k if, whatever the neighbouring labels, k scores more in its place:
emission[k] - emission[j] > max_i (T[i, j] - T[i, k]) + max_i (T[j, i] - T[k, i]). No best path has a dominated label
(dead-end elimination, Desmet et al. 1992, for side chains of proteins). Taking for k the label of the best emission
leaves about four of fifty part-of-speech tags. The chain then has few arcs, which are laid out flat.
"""

from dataclasses import dataclass

import numpy as np

from ..types import Bools, Doubles, Floats, Indices, Ints
from .potentials import ChainPotentials

SLACK = 1e-3  # far above rounding: a label that is nearly dominated stays
WORTH = 8  # the flat arcs must be this many times fewer than the L^2 of each unit


@dataclass(frozen=True)
class Lattice:
    """Candidate labels of a batch, and the arcs between those of adjacent units, step by step.

    labels ((S,)): label of each state; states are ordered by packed row, then by label.
    scores ((S,)): its emission, with the start and end scores of first and last units.
    bounds ((N + 1,)): row n has the states `bounds[n]:bounds[n + 1]`.
    origins ((A,)), weights ((A,)): state that an arc comes from, and its transition score; ordered by the state it
        goes to, then by origin.
    entries ((S + 1,)): state s has the arcs `entries[s]:entries[s + 1]`.
    """

    labels: Ints
    scores: Floats
    bounds: Indices
    origins: Indices
    weights: Floats
    entries: Indices


def prune(potentials: ChainPotentials) -> Lattice | None:
    """The lattice of labels that are not dominated; None where it would not be much smaller. O(N L)."""
    if potentials.edges is not None or not np.isfinite(potentials.emissions.max(axis=1)).all():
        return None
    alive = _undominated(potentials)
    sizes = alive.sum(axis=1)
    batch = potentials.batch
    inner = np.arange(len(batch.first_rows), batch.n_units)
    before = np.zeros(batch.n_units, dtype=np.intp)
    before[inner] = batch.previous_rows(inner)
    arcs = sizes[inner] * sizes[before[inner]]
    if WORTH * int(arcs.sum()) > len(inner) * potentials.n_labels**2 or not len(inner):
        return None
    rows, labels = np.nonzero(alive)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    scores = potentials.emissions[rows, labels]
    first_states = slice(0, bounds[len(batch.first_rows)])
    scores[first_states] += potentials.start[labels[first_states]]
    last = np.zeros(batch.n_units, dtype=bool)
    last[batch.last_rows] = True
    scores[last[rows]] += potentials.end[labels[last[rows]]]
    counts = np.where(rows < len(batch.first_rows), 0, sizes[before[rows]])
    entries = np.concatenate([[0], np.cumsum(counts)])
    shift = bounds[before[rows]] - entries[:-1]
    origins = np.arange(entries[-1]) + np.repeat(shift, counts)
    weights = potentials.transitions[labels[origins], np.repeat(labels, counts)]
    return Lattice(labels.astype(np.int32), scores, bounds, origins, weights, entries)


def best_path(potentials: ChainPotentials, lattice: Lattice) -> tuple[Ints, Doubles]:
    """Labels ((N,), in packed order) and scores ((B,)) of the best paths. O(S + arcs)."""
    batch = potentials.batch
    best = lattice.scores.copy()
    arrivals = np.empty(len(lattice.origins), dtype=best.dtype)
    for low, n in zip(batch.starts[1:], batch.alive[1:]):
        first, last = lattice.bounds[low], lattice.bounds[low + n]
        arcs = slice(lattice.entries[first], lattice.entries[last])
        np.add(best[lattice.origins[arcs]], lattice.weights[arcs], out=arrivals[arcs])
        best[first:last] += np.maximum.reduceat(arrivals[arcs], lattice.entries[first:last] - arcs.start)
    return _trace(potentials, lattice, best, _back_pointers(lattice, arrivals))


def _undominated(potentials: ChainPotentials) -> Bools:
    """((N, L)): labels that the label of the best emission does not dominate."""
    margin = _margins(potentials)
    top = potentials.emissions.argmax(axis=1)
    behind = np.take_along_axis(potentials.emissions, top[:, None], axis=1) - potentials.emissions
    return np.asarray(behind <= margin[top])


def _margins(potentials: ChainPotentials) -> Floats:
    """((L, L)): [k, j], the most by which neighbours can favour j over k; the ends of a chain count as neighbours."""
    into = np.vstack([potentials.transitions, potentials.start])
    out_of = np.vstack([potentials.transitions.T, potentials.end])
    with np.errstate(invalid="ignore"):
        favours = [m[:, None, :] - m[:, :, None] for m in (into, out_of)]
        # NaN: a neighbour that allows neither label favours none
        most = [np.where(np.isnan(favour), -np.inf, favour).max(axis=0) for favour in favours]
        total = most[0] + most[1]
    return np.asarray(np.where(np.isnan(total), np.inf, total) + SLACK)


def _back_pointers(lattice: Lattice, arrivals: Floats) -> Indices:
    """((S,)): the best state before each state; the first one, hence the smaller label, among equals."""
    reached = np.diff(lattice.entries) > 0
    pointers = np.zeros(len(reached), dtype=np.intp)
    pointers[reached] = lattice.origins[_first_best(arrivals, lattice.entries[:-1][reached])]
    return pointers


def _trace(potentials: ChainPotentials, lattice: Lattice, best: Floats, pointers: Indices) -> tuple[Ints, Doubles]:
    batch = potentials.batch
    path = np.zeros(batch.n_units, dtype=np.intp)
    scores = np.zeros(batch.n_sequences)
    for step in range(batch.n_steps - 1, -1, -1):
        low, n = batch.starts[step], batch.alive[step]
        going = batch.alive[step + 1] if step + 1 < batch.n_steps else 0
        if going:
            following = path[batch.starts[step + 1] :][:going]
            path[low : low + going] = pointers[following]
        first = lattice.bounds[low + going : low + n]
        if n > going:
            finals = best[first[0] : lattice.bounds[low + n]]
            scores[batch.order[going:n]] = np.maximum.reduceat(finals, first - first[0])
            path[low + going : low + n] = _first_best(finals, first - first[0]) + first[0]
    return lattice.labels[path], scores


def _first_best(values: Floats, firsts: Indices) -> Indices:
    """For each run of values, the position of its first maximum."""
    sizes = np.diff(np.append(firsts, len(values)))
    winning = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, firsts), sizes))
    runs = np.repeat(np.arange(len(firsts)), sizes)[winning]
    out = np.zeros(len(firsts), dtype=np.intp)
    out[runs[::-1]] = winning[::-1]
    return out
