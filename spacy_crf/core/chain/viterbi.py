"""Decoding over packed chains: the best sequences, and those with the most labels that are expected to be right.

Viterbi is a max-only pass, then back-pointers are recomputed along the best path: storing an argmax for every cell
costs about five times the pass without, and the path needs one row per unit only. Where emissions are decisive, only
labels that can be on a best path are looked at.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Doubles, Floats, Ints, Segments, chunks
from .edges import EdgeColumns, EdgePotentials
from .lattice import Lattice, best_path, is_long
from .potentials import ChainPotentials, require_paths

CHUNK = 1 << 17  # cells of a work array: it stays in the cache
FEW = 16  # sequences below which a row of sequences is too short to repay a call


@dataclass(frozen=True)
class Decoded:
    """Best label sequences.

    labels ((N,)): in packed order.
    scores ((B,)): unnormalised log scores of the paths, in the order the sequences were given (0 for empty ones).
    """

    labels: Ints
    scores: Doubles


def viterbi(potentials: ChainPotentials) -> Decoded:
    """The highest-scoring label sequence of each chain. O(N L^2) time, O(N L) memory.

    Among equal scores the smaller label index wins, counted from the end of the sequence.

    RAISES (NonFiniteError, NoPathError): for NaN or +inf, and where a sequence has no allowed path.
    """
    potentials.check()
    if is_long(potentials.batch):
        potentials = potentials.astype(np.float64)
    is_small = potentials.batch.n_units < UNITS_PER_LABEL * potentials.n_labels
    lattice = None if is_small else prune(potentials)
    if lattice is None:
        return trace(potentials, max_forward(potentials))
    labels, scores = best_path(lattice)
    require_paths(scores)
    return Decoded(labels, scores)


def posterior_decode(potentials: ChainPotentials, marginals: Floats) -> Decoded:
    """The allowed sequence with the greatest expected number of right labels, which is its score. O(N L^2).

    Viterbi over marginals ((N, L)) in the place of emissions, the transitions being either allowed or not. Summing
    logarithms of marginals instead would maximise the product, which nobody asks for.
    """
    masks = potentials.map(lambda scores: np.where(np.isneginf(scores), scores, np.zeros(1, dtype=scores.dtype)))
    return viterbi(replace(masks, emissions=marginals + masks.emissions))


def trace(potentials: ChainPotentials, steps: list[Floats]) -> Decoded:
    """The best paths, from the steps of `max_forward`; `NoPathError` where a sequence has none."""
    batch = potentials.batch
    scores = np.zeros(batch.n_sequences)
    labels = np.zeros(batch.n_units, dtype=np.int32)
    for (going, _, ending), best in zip(batch.steps_back(), reversed(steps)):
        if ending.start < ending.stop:
            own = slice(ending.start - going.start, ending.stop - going.start)
            finals = best[:, own] + potentials.end[:, None]
            labels[ending] = finals.argmax(axis=0)
            scores[batch.order[own]] = finals.max(axis=0)
    require_paths(scores)
    for (before, rows), best in zip(reversed(batch.links), reversed(steps[:-1])):
        following = labels[rows]
        if potentials.edges is None:
            into = potentials.transitions[:, following]
        else:
            into = potentials.edges.into_labels(rows, following[:, None])[:, 0].T
        labels[before] = (best[:, : len(following)] + into).argmax(axis=0)
    return Decoded(labels, scores)


def max_forward(potentials: ChainPotentials) -> list[Floats]:
    """For each step, the score (L, n) of the best path that ends in each label of each sequence alive.

    Sequences run along the last axis: a step is L additions and maxima over whole rows of sequences.
    """
    batch = potentials.batch
    steps: list[Floats] = []
    for step, (low, n) in enumerate(zip(batch.starts, batch.alive)):
        emissions = potentials.emissions[low : low + n].T
        if step == 0:
            steps.append(emissions + potentials.start[:, None])
        elif n < FEW:
            return [*steps, *_few_forward(potentials, steps[-1], step)]
        else:
            best = _max_product(steps[-1][:, :n], potentials, slice(low, low + n))
            best += emissions
            steps.append(best)
    return steps


def _max_product(previous: Floats, potentials: ChainPotentials, rows: slice) -> Floats:
    """((L, n)): max over from of previous[from, n] + transition[from, to]."""
    n_labels, n = previous.shape
    if isinstance(potentials.edges, EdgePotentials):
        by_unit = np.empty((n, n_labels), dtype=previous.dtype)
        for part in chunks(rows, n_labels * n_labels, CHUNK):
            own = slice(part.start - rows.start, part.stop - rows.start)
            np.max(previous.T[own, :, None] + potentials.into(part), axis=1, out=by_unit[own])
        return np.ascontiguousarray(by_unit.T)
    out = np.empty((n_labels, n), dtype=previous.dtype)
    arrivals = potentials.transitions.T[:, :, None]
    parts = list(chunks(slice(0, n_labels), n_labels * n, CHUNK))
    work = np.empty((parts[0].stop, n_labels, n), dtype=previous.dtype)
    for labels in parts:
        scores = np.add(previous, arrivals[labels], out=work[: labels.stop - labels.start])
        np.max(scores, axis=1, out=out[labels])
    return potentials.edges.greatest(previous, rows, out) if isinstance(potentials.edges, EdgeColumns) else out


def _few_forward(potentials: ChainPotentials, previous: Floats, first: int) -> Iterator[Floats]:
    """Steps of `max_forward` from one on, with few sequences alive: matrices are gathered for many steps at a time."""
    batch, n_labels = potentials.batch, potentials.n_labels
    size, held = max(1, CHUNK // (n_labels * n_labels)), slice(0, 0)
    before = np.ascontiguousarray(previous.T)
    for low, n in zip(batch.starts[first:], batch.alive[first:]):
        if low + n > held.stop:
            held = slice(low, min(batch.n_units, low + max(n, size)))
            matrices = np.broadcast_to(potentials.into(held), (held.stop - held.start, n_labels, n_labels))
        at = low - held.start
        before = (before[:n, :, None] + matrices[at : at + n]).max(axis=1)
        before += potentials.emissions[low : low + n]
        yield before.T


# -- labels that can be on a best path --------------------------------------------------------------------------------
#
# Label j at a unit is dominated by label k if, whatever the neighbouring labels, k scores more in its place:
# emission[k] - emission[j] > max_i (T[i, j] - T[i, k]) + max_i (T[j, i] - T[k, i]). No best path has a dominated label
# (dead-end elimination, Desmet et al. 1992, for side chains of proteins). Taking for k the label of the best emission
# leaves about four of fifty part-of-speech tags. The chain then has few arcs, which are laid out flat.

SLACK = 1e-3  # far above rounding: a label that is nearly dominated stays
WORTH = 8  # the flat arcs must be this many times fewer than the L^2 of each unit
MOST_LABELS = 512  # margins take O(L^3), in memory too: a gigabyte for so many
UNITS_PER_LABEL = 8  # with fewer, margins, about ten passes over L^3 cells, cost more than L^2 cells for each unit
SAMPLE = 256  # units that tell whether it is worth looking at all of them
# Where fewer long sequences go through a step, on average, arcs take as long as so many labels, and more memory.
ALONE, LABELS_ALONE = 2, 64


def prune(potentials: ChainPotentials) -> Lattice | None:
    """The lattice of labels that are not dominated; None where it would not be worth its while. O(N L)."""
    batch, n_labels = potentials.batch, potentials.n_labels
    inner = np.arange(len(batch.first_rows), batch.n_units)
    is_alone = is_long(batch) and batch.n_units < ALONE * len(batch.starts) and n_labels <= LABELS_ALONE
    if potentials.edges is not None or not len(inner) or n_labels > MOST_LABELS or is_alone:
        return None
    margins = _margins(potentials)
    some = _undominated(potentials.emissions[:: 1 + batch.n_units // SAMPLE], margins)
    if some is None or WORTH * some.sum(axis=1).mean() ** 2 > n_labels**2:
        return None
    alive = _undominated(potentials.emissions, margins)
    if alive is None:
        return None
    sizes = alive.sum(axis=1)
    if WORTH * int(sizes[inner] @ sizes[batch.before[inner]]) > len(inner) * n_labels**2:
        return None
    states = Segments(sizes)
    cells, rows = np.flatnonzero(alive), states.owners
    labels = cells - rows * n_labels
    scores = potentials.emissions.reshape(-1).take(cells)
    first_states = slice(0, states.bounds[len(batch.first_rows)])
    scores[first_states] += potentials.start[labels[first_states]]
    last_states = states.units(batch.last_rows)
    scores[last_states] += potentials.end[labels[last_states]]
    arcs = Segments(np.where(rows < len(batch.first_rows), 0, sizes[batch.before[rows]]))
    origins = arcs.at(states.firsts[batch.before[rows]])
    pairs = (labels * n_labels).take(origins) + np.repeat(labels, arcs.lengths)
    weights = potentials.transitions.reshape(-1)[pairs]
    return Lattice(batch, labels.astype(np.int32), scores, states.bounds, origins, weights, arcs.bounds)


def _undominated(emissions: Floats, margins: Floats) -> Bools | None:
    """((N, L)): labels that the label of the best emission does not dominate; None where a unit has no label."""
    top = emissions.argmax(axis=1)
    best = np.take_along_axis(emissions, top[:, None], axis=1)
    return np.asarray(best - emissions <= margins[top]) if np.isfinite(best).all() else None


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
