"""Viterbi decoding over packed chains: a max-only pass, then back-pointers recomputed along the best path.

Storing an argmax for every cell costs about five times the pass without; the path needs one row per unit only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Floats, Ints
from .edges import EdgeColumns
from .lattice import best_path
from .logspace import transition_matrices
from .potentials import ChainPotentials, EdgePotentials, NoPathError
from .pruning import prune

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

    potentials (ChainPotentials): any floating precision.
    RETURNS (Decoded): labels and scores.
    RAISES (NonFiniteError): for NaN or +inf.
    RAISES (NoPathError): where a sequence has no allowed path.
    """
    potentials.check()
    lattice = prune(potentials)
    labels, scores = _full(potentials) if lattice is None else best_path(lattice)
    hopeless = np.flatnonzero(np.isneginf(scores))
    if len(hopeless):
        raise NoPathError(hopeless.tolist())
    return Decoded(labels, scores)


def _full(potentials: ChainPotentials) -> tuple[Ints, Doubles]:
    """Labels and scores from a pass over all labels."""
    return trace(potentials, max_forward(potentials))


def trace(potentials: ChainPotentials, steps: list[Floats]) -> tuple[Ints, Doubles]:
    """Labels ((N,), in packed order) and scores ((B,)) of the best paths; labels of 0 where one has none.

    steps (list[(L, n)]): see `max_forward`.
    """
    batch = potentials.batch
    scores = np.zeros(batch.n_sequences)
    labels = np.zeros(batch.n_units, dtype=np.int32)
    for step, best in enumerate(steps):
        # sequences that end here: those alive now but not at the next step
        ending = slice(batch.alive[step + 1] if step + 1 < batch.n_steps else 0, batch.alive[step])
        if ending.start == ending.stop:
            continue
        finals = best[:, ending] + potentials.end[:, None]
        labels[batch.starts[step] :][ending] = finals.argmax(axis=0)
        scores[batch.order[ending]] = finals.max(axis=0)
    if not np.isneginf(scores).any():
        _walk_back(potentials, steps, labels)
    return labels, scores


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
    if isinstance(potentials.edges, EdgePotentials):
        return _max_product_by_unit(previous, potentials, rows)
    n_labels, n = previous.shape
    out = np.empty((n_labels, n), dtype=previous.dtype)
    arrivals = potentials.transitions.T[:, :, None]
    size = max(1, CHUNK // (n_labels * n))
    work = np.empty((size, n_labels, n), dtype=previous.dtype)
    for low in range(0, n_labels, size):
        labels = slice(low, min(n_labels, low + size))
        scores = work[: labels.stop - low]
        np.add(previous, arrivals[labels], out=scores)
        np.max(scores, axis=1, out=out[labels])
    return potentials.edges.greatest(previous, rows, out) if isinstance(potentials.edges, EdgeColumns) else out


def _max_product_by_unit(previous: Floats, potentials: ChainPotentials, rows: slice) -> Floats:
    """The same with one matrix for each unit."""
    n_labels, n = previous.shape
    out = np.empty((n, n_labels), dtype=previous.dtype)
    size = max(1, CHUNK // (n_labels * n_labels))
    for low in range(0, n, size):
        part = slice(low, min(n, low + size))
        matrices = transition_matrices(potentials, slice(rows.start + part.start, rows.start + part.stop))
        np.max(previous.T[part, :, None] + matrices, axis=1, out=out[part])
    return np.ascontiguousarray(out.T)


def _few_forward(potentials: ChainPotentials, previous: Floats, first: int) -> Iterator[Floats]:
    """Steps of `max_forward` from one on, with few sequences alive: matrices are gathered for many steps at a time.

    previous ((L, n)): scores of the step before the first one.
    """
    batch, n_labels = potentials.batch, potentials.n_labels
    size, held = max(1, CHUNK // (n_labels * n_labels)), slice(0, 0)
    before = np.ascontiguousarray(previous.T)
    for low, n in zip(batch.starts[first:], batch.alive[first:]):
        if low + n > held.stop:
            held = slice(low, min(batch.n_units, low + max(n, size)))
            gathered = transition_matrices(potentials, held)
            matrices = np.broadcast_to(gathered, (held.stop - held.start, n_labels, n_labels))
        at = low - held.start
        before = (before[:n, :, None] + matrices[at : at + n]).max(axis=1)
        before += potentials.emissions[low : low + n]
        yield before.T


def _walk_back(potentials: ChainPotentials, steps: list[Floats], labels: Ints) -> None:
    """Walk back from the last labels, recomputing for each unit the best label before it."""
    batch = potentials.batch
    for step in range(batch.n_steps - 1, 0, -1):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        following = labels[low : low + n]
        if potentials.edges is None:
            into = potentials.transitions[:, following]
        elif isinstance(potentials.edges, EdgeColumns):
            into = potentials.edges.into_labels(slice(low, low + n), following).T
        else:
            into = potentials.edges.matrices[potentials.edges.groups[low : low + n], :, following].T
        labels[before : before + n] = (steps[step - 1][:, :n] + into).argmax(axis=0)
