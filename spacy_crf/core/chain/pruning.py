"""Viterbi over the labels that can be on a best path: exact, and much faster where emissions are decisive.

Label j at a unit is dominated by label k if, whatever the neighbouring labels, k scores more in its place:
emission[k] - emission[j] > max_i (T[i, j] - T[i, k]) + max_i (T[j, i] - T[k, i]). No best path has a dominated label
(dead-end elimination, Desmet et al. 1992, for side chains of proteins). Taking for k the label of the best emission
leaves about four of fifty part-of-speech tags. The chain then has few arcs, which are laid out flat.
"""

import numpy as np

from ..arrays import Bools, Floats
from .lattice import Lattice
from .potentials import ChainPotentials

SLACK = 1e-3  # far above rounding: a label that is nearly dominated stays
WORTH = 8  # the flat arcs must be this many times fewer than the L^2 of each unit
MOST_LABELS = 512  # margins take O(L^3), in memory too: a gigabyte for so many
SAMPLE = 256  # units that tell whether it is worth looking at all of them


def prune(potentials: ChainPotentials) -> Lattice | None:
    """The lattice of labels that are not dominated; None where it would not be much smaller. O(N L)."""
    batch, n_labels = potentials.batch, potentials.n_labels
    inner = np.arange(len(batch.first_rows), batch.n_units)
    if potentials.edges is not None or not len(inner) or n_labels > MOST_LABELS:
        return None
    margins = _margins(potentials)
    some = _undominated(potentials.emissions[:: 1 + batch.n_units // SAMPLE], margins)
    if some is None or WORTH * some.sum(axis=1).mean() ** 2 > n_labels**2:
        return None
    alive = _undominated(potentials.emissions, margins)
    if alive is None:
        return None
    sizes = alive.sum(axis=1)
    before = np.zeros(batch.n_units, dtype=np.intp)
    before[inner] = batch.previous_rows(inner)
    if WORTH * int(sizes[inner] @ sizes[before[inner]]) > len(inner) * n_labels**2:
        return None
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.flatnonzero(alive)
    rows = np.repeat(np.arange(batch.n_units), sizes)
    labels = cells - rows * n_labels
    scores = potentials.emissions.reshape(-1).take(cells)
    first_states = slice(0, bounds[len(batch.first_rows)])
    scores[first_states] += potentials.start[labels[first_states]]
    last = np.zeros(batch.n_units, dtype=bool)
    last[batch.last_rows] = True
    last_states = np.flatnonzero(last[rows])
    scores[last_states] += potentials.end[labels[last_states]]
    counts = np.where(rows < len(batch.first_rows), 0, sizes[before[rows]])
    entries = np.concatenate([[0], np.cumsum(counts)])
    origins = np.arange(entries[-1]) + np.repeat(bounds[before[rows]] - entries[:-1], counts)
    pairs = (labels * n_labels).take(origins) + np.repeat(labels, counts)
    weights = potentials.transitions.reshape(-1)[pairs]
    return Lattice(batch, labels.astype(np.int32), scores, bounds, origins, weights, entries)


def _undominated(emissions: Floats, margins: Floats) -> Bools | None:
    """((N, L)): labels that the label of the best emission does not dominate; None where a unit has no label."""
    top = emissions.argmax(axis=1)
    best = np.take_along_axis(emissions, top[:, None], axis=1)
    if not np.isfinite(best).all():
        return None
    return np.asarray(best - emissions <= margins[top])


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
