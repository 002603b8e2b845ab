"""Steps from the end of packed chains to their beginning, with several labels that follow each unit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..batch import PackedBatch
from .potentials import ChainPotentials

CHUNK = 1 << 17  # cells of a work array: it stays in the cache


@dataclass(frozen=True)
class Step:
    """The units at one position of their sequences.

    going (slice): rows of units that others follow. following (slice): the rows of those.
    ending (slice): rows of the last units of their sequences.
    """

    going: slice
    following: slice
    ending: slice


def steps_back(batch: PackedBatch) -> Iterator[Step]:
    """Positions of the longest sequence, the last one first."""
    n_after = after = 0
    for low, n in zip(reversed(batch.starts), reversed(batch.alive)):
        yield Step(slice(low, low + n_after), slice(after, after + n_after), slice(low + n_after, low + n))
        n_after, after = n, low


def chunks(rows: slice, size: int) -> Iterator[slice]:
    """Parts of a run of rows.

    size (int): cells that the work on one row needs.
    """
    length = max(1, CHUNK // max(1, size))
    for low in range(rows.start, rows.stop, length):
        yield slice(low, min(rows.stop, low + length))


def scores_into(potentials: ChainPotentials, rows: slice, labels: Ints) -> Floats:
    """Scores of the transitions from every label into K labels of each unit.

    rows (slice): packed rows of n units. labels ((n, K)): their labels.
    RETURNS ((n, K, L)): by the label before.
    """
    if potentials.edges is None:
        return np.ascontiguousarray(potentials.transitions.T)[labels]
    groups = potentials.edges.groups[rows]
    return potentials.edges.matrices[groups[:, None], :, labels]
