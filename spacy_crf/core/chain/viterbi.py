"""Viterbi decoding over packed chains: a max-only pass, then back-pointers recomputed along the best path.

Storing an argmax for every cell costs about five times the pass without; the path needs one row per unit only.
"""

from dataclasses import dataclass

import numpy as np

from ..types import Doubles, Floats, Ints
from .logspace import transition_matrices
from .potentials import ChainPotentials, NoPathError

CHUNK = 1 << 16  # cells of the (rows, L, L) work array: it stays in the cache


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
    batch = potentials.batch
    best = _max_forward(potentials)
    last = batch.last_rows
    finals = best[last] + potentials.end
    scores = np.zeros(batch.n_sequences)
    labels = np.zeros(batch.n_units, dtype=np.int32)
    if batch.n_units:
        labels[last] = finals.argmax(axis=1)
        scores[batch.order[: len(last)]] = finals.max(axis=1)
    hopeless = np.flatnonzero(np.isneginf(scores))
    if len(hopeless):
        raise NoPathError(hopeless.tolist())
    _trace(potentials, best, labels)
    return Decoded(labels, scores)


def _max_forward(potentials: ChainPotentials) -> Floats:
    """((N, L)): score of the best path that ends in each cell."""
    batch = potentials.batch
    best = np.empty_like(potentials.emissions)
    for step, (low, n) in enumerate(zip(batch.starts, batch.alive)):
        rows = slice(low, low + n)
        if step == 0:
            np.add(potentials.emissions[rows], potentials.start, out=best[rows])
        else:
            before = batch.starts[step - 1]
            _max_product(best[before : before + n], potentials, rows, out=best[rows])
            best[rows] += potentials.emissions[rows]
    return best


def _max_product(previous: Floats, potentials: ChainPotentials, rows: slice, out: Floats) -> None:
    """out[n, to] = max over from of previous[n, from] + transition[from, to], in chunks that stay in the cache."""
    n, n_labels = previous.shape
    size = max(1, CHUNK // (n_labels * n_labels))
    for low in range(0, n, size):
        part = slice(low, min(n, low + size))
        matrices = transition_matrices(potentials, slice(rows.start + part.start, rows.start + part.stop))
        # [from, to] plane after plane: the reduction runs over the middle axis, in whole vectors of labels
        np.max(previous[part, :, None] + matrices, axis=1, out=out[part])


def _trace(potentials: ChainPotentials, best: Floats, labels: Ints) -> None:
    """Walk back from the last labels, recomputing for each unit the best label before it."""
    batch = potentials.batch
    arrivals = np.ascontiguousarray(potentials.transitions.T)
    for step in range(batch.n_steps - 1, 0, -1):
        low, n, before = batch.starts[step], batch.alive[step], batch.starts[step - 1]
        following = labels[low : low + n]
        if potentials.edges is None:
            into = arrivals[following]
        else:
            into = potentials.edges.matrices[potentials.edges.groups[low : low + n], :, following]
        labels[before : before + n] = (best[before : before + n] + into).argmax(axis=1)
