"""Gold that no chain can produce: spans across sequences, and tags that the rules forbid next to each other."""

from typing import NamedTuple

import numpy as np

from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.gold import UNKNOWN
from ..core.labels import TagSet
from ..core.weights import Layout


class Violation(NamedTuple):
    """A pair of tags that the masks rule out.

    unit (int): where. before (int | None), after (int | None): tag indices; None for the edges of the sequence.
    """

    unit: int
    before: int | None
    after: int | None


def forget_crossing(labels: Ints, lengths: Indices, tags: TagSet) -> None:
    """Make spans unknown that cross from one sequence into the next.

    labels ((N,)): gold tags, changed in place. lengths ((B,)): of the sequences.
    """
    inside = _inside(labels, tags)
    firsts = Segments(lengths).openings
    for first in firsts[inside[firsts]].tolist():
        low, high = first - 1, first
        while low > 0 and inside[low]:
            low -= 1
        while high < len(labels) and inside[high]:
            high += 1
        labels[max(low, 0) : high] = UNKNOWN


def _inside(labels: Ints, tags: TagSet) -> Bools:
    """((N,)): units that go on with a span of the unit before."""
    return np.append(tags.continues(), False)[labels]  # an unknown label is -1


def find_violation(labels: Ints, lengths: Indices, layout: Layout) -> Violation | None:
    """The first place where gold breaks the rules, if there is one. O(N)."""
    sequences = Segments(lengths)
    firsts, lasts = sequences.openings, sequences.ends[lengths > 0] - 1
    inner = np.ones(len(labels), dtype=bool)
    inner[firsts] = False
    units = np.flatnonzero(inner)
    pairs = units[~_open(layout.allowed, labels[units - 1], labels[units])]
    if len(pairs):
        return Violation(int(pairs[0]), int(labels[pairs[0] - 1]), int(labels[pairs[0]]))
    starts = firsts[~np.append(layout.allowed_start, True)[labels[firsts]]]
    if len(starts):
        return Violation(int(starts[0]), None, int(labels[starts[0]]))
    ends = lasts[~np.append(layout.allowed_end, True)[labels[lasts]]]
    if len(ends):
        return Violation(int(ends[0]), int(labels[ends[0]]), None)
    return None


def _open(allowed: Bools, before: Ints, after: Ints) -> Bools:
    """((n,)): whether pairs are allowed; unknown labels always are."""
    return np.pad(allowed, (0, 1), constant_values=True)[before, after]
