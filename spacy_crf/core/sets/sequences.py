"""Sets of whole label sequences, from the exact k best: the smallest with a given mass, or the one of greatest utility.

Token sets multiply out to sequences that were never probable together; here each member is a whole reading with its
exact probability. Heid (section 5.1) names such sets and leaves them open. As for single labels, a best set of s
sequences is the s best ones. There are L^T, of which at most `cap` are looked at: what that leaves open is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Doubles, Ints
from ..chain.forward import log_partition
from ..chain.nbest import NBest, nbest
from ..chain.potentials import ChainPotentials
from ..errors import CoreErrors, CRFError
from .utility import check_values

# relative, as utilities of long sequences are tiny: what differs by less is equal, and the smaller set is taken
TIE = 1e-9
FIRST, GROWTH = 4, 4  # paths asked for at first, and how many times as many after that


@dataclass(frozen=True)
class SequenceSet:
    """The readings of one sequence, distinct, best first.

    paths ((K, T)): label indices. probabilities ((K,)): of these paths.
    mass (float): their sum: the probability that the true sequence is among them.
    complete (bool): True where the set is the one asked for, whatever paths were not looked at. False where they were
        too few: for a level, `mass` is below it; for a utility, a larger set may be worth more.
    """

    paths: Ints
    probabilities: Doubles
    mass: float
    complete: bool


# from paths, log probabilities, and whether these are all paths of the sequence
Choice: TypeAlias = Callable[[Ints, Doubles, bool], SequenceSet]


def smallest_set(paths: Ints, log_probabilities: Doubles, level: float, exhausted: bool = False) -> SequenceSet:
    """The fewest paths with a mass of at least a level, all of those given if their mass is below it.

    paths ((K, T)): the best paths of a sequence, best first. log_probabilities ((K,)): theirs.
    level (float): in (0, 1]. exhausted (bool): whether the sequence has no other paths.
    RETURNS (SequenceSet): complete if it reaches the level, or has all paths.
    RAISES (ValueError): for another level, or lists that are not as described.
    """
    if not 0 < level <= 1:
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in (0, 1]"))
    masses = _masses(paths, log_probabilities)
    reached = masses >= level * (1 - TIE)
    size = int(reached.argmax()) + 1 if reached[-1] else len(paths)
    return _first(paths, log_probabilities, size, bool(reached[-1]) or exhausted)


def optimal_set(paths: Ints, log_probabilities: Doubles, g: Doubles, exhausted: bool = False) -> SequenceSet:
    """The best paths whose set has the greatest expected utility, mass times g(size), out of the K that are given.

    It is complete if no larger set could be worth more. Each further path has at most the probability p of the last
    one, and all paths together no more than 1, so that a set of s > K is worth at most min(1, m + (s - K) p) g(s),
    where m is the mass of the K; one of more than M is worth at most g(M), as g is taken not to rise beyond its values.

    paths ((K, T)): the best paths of a sequence, best first. log_probabilities ((K,)): theirs.
    g ((M,)): g(1) to g(M), M >= K. exhausted (bool): whether the sequence has no other paths.
    RETURNS (SequenceSet): the smaller set on ties.
    RAISES (ValueError): for lists or a g that are not as described.
    """
    masses = _masses(paths, log_probabilities)
    k = len(masses)
    check_values(g, max(k, len(g)))
    values = masses * g[:k]
    best = values.max()
    size = int((values >= best * (1 - TIE)).argmax()) + 1
    last = np.exp(log_probabilities[-1])
    bounds = np.minimum(1.0, masses[-1] + np.arange(1, len(g) - k + 1) * last) * g[k:]
    certified = max(bounds.max(initial=0.0), g[-1]) <= best * (1 + TIE)
    return _first(paths, log_probabilities, size, bool(certified) or exhausted)


def _masses(paths: Ints, log_probabilities: Doubles) -> Doubles:
    """((K,)): cumulative probabilities; a coded error for lists that do not fit."""
    n_paths, found = len(paths), len(log_probabilities)
    problem = "which must be as many"
    if n_paths == found > 0:
        if (np.diff(log_probabilities) <= 0).all() and np.isfinite(log_probabilities).all():
            masses: Doubles = np.minimum(1.0, np.cumsum(np.exp(log_probabilities)))
            return masses
        problem = "which must be finite and descend"
    raise CRFError(CoreErrors.CRF811.format(paths=n_paths, found=found, problem=problem))


def _first(paths: Ints, log_probabilities: Doubles, size: int, complete: bool) -> SequenceSet:
    probabilities = np.exp(log_probabilities[:size])
    return SequenceSet(paths[:size], probabilities, min(1.0, float(probabilities.sum())), complete)


def smallest_sequence_sets(potentials: ChainPotentials, level: float, cap: int = 256) -> list[SequenceSet]:
    """`smallest_set` for each chain of a batch, from as many best paths as it takes.

    potentials (ChainPotentials): B chains. level (float): in (0, 1].
    cap (int): greatest number of paths; a set is not complete where their mass is below the level.
    RETURNS (list): B sets, in the order the sequences were given. An empty sequence has one path, of probability 1.
    RAISES (ValueError): for another level or cap, and for potentials as in `nbest`.
    """
    if not 0 < level <= 1:  # of an empty batch, too
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in (0, 1]"))
    return _grow(potentials, cap, lambda paths, logs, exhausted: smallest_set(paths, logs, level, exhausted))


def optimal_sequence_sets(potentials: ChainPotentials, g: Doubles, cap: int = 256) -> list[SequenceSet]:
    """`optimal_set` for each chain of a batch, from as many best paths as it takes to be certain.

    potentials (ChainPotentials): B chains.
    g ((M,)): g(1) to g(M), M >= cap, such as `Utility.values(M)`; a g with L in its formula has M in its place.
    cap (int): greatest number of paths; a set is not complete where a larger one may be worth more.
    RETURNS (list): B sets, in the order the sequences were given.
    RAISES (ValueError): for another g or cap, and for potentials as in `nbest`.
    """
    check_values(g, max(cap, len(g)))
    return _grow(potentials, cap, lambda paths, logs, exhausted: optimal_set(paths, logs, g, exhausted))


def _grow(potentials: ChainPotentials, cap: int, choose: Choice) -> list[SequenceSet]:
    """Ask for more and more paths, up to the cap, and only of the sequences whose set is not complete yet."""
    if cap < 1:
        raise CRFError(CoreErrors.CRF108.format(name="cap", least=1, value=cap))
    potentials = potentials.astype(np.float64)
    log_z = log_partition(potentials)
    found: dict[int, SequenceSet] = {}
    pending, k = np.arange(len(log_z)), min(FIRST, cap)
    while len(pending):
        part, _ = potentials.select(pending)
        for sequence, chosen in zip(pending.tolist(), _choose_all(part, nbest(part, k), log_z[pending], choose)):
            found[sequence] = chosen
        pending = np.array([b for b in pending.tolist() if not found[b].complete and k < cap], dtype=np.intp)
        k = min(GROWTH * k, cap)
    return [found[sequence] for sequence in range(len(log_z))]


def _choose_all(potentials: ChainPotentials, best: NBest, log_z: Doubles, choose: Choice) -> list[SequenceSet]:
    batch, k = potentials.batch, len(best.labels)
    labels = np.split(best.labels[:, batch.rows], np.cumsum(batch.lengths)[:-1], axis=1)
    logs = best.scores - log_z[:, None]
    counts = best.counts.tolist()
    return [choose(labels[b][:count], logs[b, :count], count < k) for b, count in enumerate(counts)]
