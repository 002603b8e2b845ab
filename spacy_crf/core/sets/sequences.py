"""Sets of whole label sequences, from the exact k best: the smallest with a given mass.

Token sets multiply out to sequences that were never probable together; here each member is a whole reading with its
exact probability. Heid (section 5.1) names such sets and leaves them open. As for single labels, a best set of s
sequences is the s best ones. There are L^T, of which at most `cap` are looked at: what that leaves open is told.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Ints
from ..chain.distribution import Labellings
from ..chain.potentials import numbered
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


def smallest_set(paths: Ints, probabilities: Doubles, level: float, exhausted: bool = False) -> SequenceSet:
    """The fewest of the best paths of a sequence with a mass of at least a level, all if their mass is below it.

    exhausted (bool): whether the sequence has no other paths, so that all of them are complete.
    """
    _check_level(level)
    problem = ""
    if len(paths) != len(probabilities) or not len(paths):
        problem = "which must be as many"
    elif not ((np.diff(probabilities) <= 0).all() and (probabilities >= 0).all()):
        problem = "which must be numbers from 0 and descend"
    if problem:
        raise CRFError(CoreErrors.CRF811.format(paths=len(paths), found=len(probabilities), problem=problem))
    reached = np.minimum(1.0, np.cumsum(probabilities)) >= level * (1 - TIE)
    chosen = probabilities[: int(reached.argmax()) + 1] if reached[-1] else probabilities
    return SequenceSet(paths[: len(chosen)], chosen, min(1.0, float(chosen.sum())), bool(reached[-1]) or exhausted)


def smallest_sequence_sets(labellings: Labellings, level: float, cap: int = 256) -> list[SequenceSet]:
    """`smallest_set` for each sequence of a batch, from as many best paths as it takes, at most `cap`.

    An empty sequence has one path, of probability 1.
    """
    _check_level(level)  # of an empty batch, too
    if cap < 1:
        raise CRFError(CoreErrors.CRF108.format(name="cap", least=1, value=cap))
    found: dict[int, SequenceSet] = {}
    pending, k = np.arange(labellings.n_sequences), min(FIRST, cap)
    while len(pending):
        with numbered(pending):
            best = labellings.select(pending).n_best(k)
        for b, own in zip(pending.tolist(), best):
            found[b] = smallest_set(*own, level, exhausted=len(own.labels) < k)
        pending = np.array([b for b in pending.tolist() if not found[b].complete and k < cap], dtype=np.intp)
        k = min(GROWTH * k, cap)
    return [found[sequence] for sequence in range(labellings.n_sequences)]


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in (0, 1]"))
