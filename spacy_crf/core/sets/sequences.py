"""Sets of whole label sequences, from the exact k best: the smallest with a given mass.

Token sets multiply out to sequences that were never probable together; here each member is a whole reading with its
exact probability. Heid (section 5.1) names such sets and leaves them open. As for single labels, a best set of s
sequences is the s best ones. There are L^T, of which at most `cap` are looked at: what that leaves open is told.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Ints
from ..chain.forward import log_partition
from ..chain.paths import nbest
from ..chain.potentials import ChainPotentials
from ..errors import CoreErrors, CRFError

TIE = 1e-9  # relative: what a mass may be less than the level
FIRST, GROWTH = 4, 4  # paths asked for at first, and how many times as many after that


@dataclass(frozen=True)
class SequenceSet:
    """The readings of one sequence, distinct, best first.

    paths ((K, T)): label indices. probabilities ((K,)): of these paths.
    mass (float): their sum: the probability that the true sequence is among them.
    complete (bool): True where the set is the one asked for; False where the paths that were looked at were too few.
    """

    paths: Ints
    probabilities: Doubles
    mass: float
    complete: bool


def smallest_set(paths: Ints, log_probabilities: Doubles, level: float, exhausted: bool = False) -> SequenceSet:
    """The fewest of the best paths of a sequence with a mass of at least a level, all if their mass is below it.

    exhausted (bool): whether the sequence has no other paths, so that all of them are complete.
    """
    _check_level(level)
    problem = ""
    if len(paths) != len(log_probabilities) or not len(paths):
        problem = "which must be as many"
    elif not ((np.diff(log_probabilities) <= 0).all() and np.isfinite(log_probabilities).all()):
        problem = "which must be finite and descend"
    if problem:
        message = CoreErrors.CRF811.format(paths=len(paths), found=len(log_probabilities), problem=problem)
        raise CRFError(message)
    probabilities = np.exp(log_probabilities)
    reached = np.minimum(1.0, np.cumsum(probabilities)) >= level * (1 - TIE)
    chosen = probabilities[: int(reached.argmax()) + 1] if reached[-1] else probabilities
    return SequenceSet(paths[: len(chosen)], chosen, min(1.0, float(chosen.sum())), bool(reached[-1]) or exhausted)


def smallest_sequence_sets(potentials: ChainPotentials, level: float, cap: int = 256) -> list[SequenceSet]:
    """`smallest_set` for each sequence of a batch, from as many best paths as it takes, at most `cap`.

    An empty sequence has one path, of probability 1.
    """
    _check_level(level)  # of an empty batch, too
    if cap < 1:
        raise CRFError(CoreErrors.CRF108.format(name="cap", least=1, value=cap))
    potentials = potentials.astype(np.float64)
    log_z = log_partition(potentials)
    found: dict[int, SequenceSet] = {}
    pending, k = np.arange(len(log_z)), min(FIRST, cap)
    while len(pending):
        part, _ = potentials.select(pending)
        best = nbest(part, k)
        labels, logs = best.labels[:, part.batch.rows], best.scores - log_z[pending, None]
        for b, own, log, n in zip(pending.tolist(), part.batch.segments.slices(), logs, best.counts.tolist()):
            found[b] = smallest_set(labels[:n, own], log[:n], level, exhausted=n < k)
        pending = np.array([b for b in pending.tolist() if not found[b].complete and k < cap], dtype=np.intp)
        k = min(GROWTH * k, cap)
    return [found[sequence] for sequence in range(len(log_z))]


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in (0, 1]"))
