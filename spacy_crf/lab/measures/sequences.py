"""Measures of predicted label sequences: by token, by segment, and by whole sequence.

A segment is a maximal run of one label within a sequence. Labels are numbers from 0 to L - 1; units without gold are
to be left out before, see `keep_units`.
"""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Bools, Indices
from ...core.scores import LabelCounts, Labels, count_labels


@dataclass(frozen=True)
class LabelSequences:
    """Gold and predicted labels of N units in B sequences, one after the other.

    gold ((N,)), predicted ((N,)): labels. lengths ((B,)): units of each sequence; 0 is allowed.
    """

    gold: Labels
    predicted: Labels
    lengths: Indices

    def keep_units(self, chosen: Bools) -> "LabelSequences":
        """The sequences without some of their units, such as punctuation, or units without gold.

        What stood on both sides of a unit that is left out becomes neighbours; so two segments of one label may become
        one.

        chosen ((N,)): the units to keep.
        """
        sequences = np.repeat(np.arange(len(self.lengths)), self.lengths)
        lengths = np.bincount(sequences[chosen], minlength=len(self.lengths))
        return LabelSequences(self.gold[chosen], self.predicted[chosen], lengths)

    def tokens(self, n_labels: int) -> LabelCounts:
        """Counts of tokens by label. O(N + L)."""
        right = self.gold[self.gold == self.predicted]
        return count_labels(right, self.predicted, self.gold, n_labels)

    def segments(self, n_labels: int) -> LabelCounts:
        """Counts of segments by label; one is right where both have a segment with its borders and label. O(N + L)."""
        gold_starts, predicted_starts = self._starts(self.gold), self._starts(self.predicted)
        shared = np.flatnonzero(gold_starts & predicted_starts & (self.gold == self.predicted))
        ends = [_ends(starts)[shared] for starts in (gold_starts, predicted_starts)]
        right = self.gold[shared[ends[0] == ends[1]]]
        return count_labels(right, self.predicted[predicted_starts], self.gold[gold_starts], n_labels)

    def whole(self) -> tuple[int, int]:
        """How many sequences have every unit right, and how many have a unit at all. O(N)."""
        sequences = np.repeat(np.arange(len(self.lengths)), self.lengths)
        wrong = np.bincount(sequences[self.gold != self.predicted], minlength=len(self.lengths))
        present = self.lengths > 0
        return int((present & (wrong == 0)).sum()), int(present.sum())

    def _starts(self, labels: Labels) -> Bools:
        """((N,)): units that begin a segment."""
        starts = np.ones(len(labels), dtype=np.bool_)
        starts[1:] = labels[1:] != labels[:-1]
        first_units = (np.cumsum(self.lengths) - self.lengths)[self.lengths > 0]
        starts[first_units] = True
        return starts


def _ends(starts: Bools) -> Indices:
    """((N,)): the unit behind the segment of each unit."""
    borders = np.flatnonzero(np.append(starts, True))
    ends: Indices = np.repeat(borders[1:], np.diff(borders))
    return ends
