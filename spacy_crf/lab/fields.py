"""Measures of label sequences: by token, by segment, and by whole sequence, as of the fields of a reference.

A segment is a maximal run of one label within a sequence. The figures of Cecchini & Fersini, section 4.1, each under a
name that says what it is: see `core.scores`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.arrays import Bools, Indices
from ..core.scores import LabelCounts, Labels, count_labels

NOTE = "NOTE"  # the field that annotators disagree about most, which papers leave out of some means
WORDS = "_words"  # behind the names of measures of all tokens but punctuation marks


@dataclass(frozen=True)
class LabelSequences:
    """Gold and predicted labels of N units in B sequences, one after the other.

    gold ((N,)), predicted ((N,)): labels. lengths ((B,)): units of each sequence; 0 is allowed.
    """

    gold: Labels
    predicted: Labels
    lengths: Indices

    def keep_units(self, chosen: Bools) -> "LabelSequences":
        """Leave out some units, such as punctuation, or units without gold.

        What stood on both sides of a unit that is left out becomes neighbours; so two segments of one label may become
        one.

        chosen ((N,)): the units to keep.
        """
        sequences = np.repeat(np.arange(len(self.lengths)), self.lengths)
        lengths = np.bincount(sequences[chosen], minlength=len(self.lengths))
        return LabelSequences(self.gold[chosen], self.predicted[chosen], lengths)

    def tokens(self, n_labels: int) -> LabelCounts:
        """Count tokens by label. O(N + L)."""
        right = self.gold[self.gold == self.predicted]
        return count_labels(right, self.predicted, self.gold, n_labels)

    def segments(self, n_labels: int) -> LabelCounts:
        """Count segments by label; one is right where both have a segment with its borders and label. O(N + L)."""
        gold_starts, predicted_starts = self._starts(self.gold), self._starts(self.predicted)
        shared = np.flatnonzero(gold_starts & predicted_starts & (self.gold == self.predicted))
        ends = [_ends(starts)[shared] for starts in (gold_starts, predicted_starts)]
        right = self.gold[shared[ends[0] == ends[1]]]
        return count_labels(right, self.predicted[predicted_starts], self.gold[gold_starts], n_labels)

    def whole(self) -> tuple[int, int]:
        """Count sequences that have every unit right, and those that have a unit at all. O(N)."""
        sequences = np.repeat(np.arange(len(self.lengths)), self.lengths)
        wrong = np.bincount(sequences[self.gold != self.predicted], minlength=len(self.lengths))
        present = self.lengths > 0
        return int((present & (wrong == 0)).sum()), int(present.sum())

    def _starts(self, labels: Labels) -> Bools:
        """Tell ((N,)) which units begin a segment."""
        starts = np.ones(len(labels), dtype=np.bool_)
        starts[1:] = labels[1:] != labels[:-1]
        first_units = (np.cumsum(self.lengths) - self.lengths)[self.lengths > 0]
        starts[first_units] = True
        return starts


def _ends(starts: Bools) -> Indices:
    """Return ((N,)) the unit behind the segment of each unit."""
    borders = np.flatnonzero(np.append(starts, True))
    ends: Indices = np.repeat(borders[1:], np.diff(borders))
    return ends


class LabelledToken(NamedTuple):
    """A token with its gold label, None where there is none, its predicted label, and whether it is no mere mark."""

    gold: str | None
    predicted: str
    is_word: bool


def score_fields(documents: Iterable[Sequence[LabelledToken]], prefix: str) -> dict[str, float]:
    """Measure all tokens, and those that are not punctuation marks; tokens without gold count for nothing.

    prefix (str): of the names.
    RETURNS (dict[str, float]): `{prefix}_micro_f` (of tokens: accuracy), `_macro_f` over the labels that occur,
        `_macro_f_without_NOTE` if this is one of them, `_weighted_f` by support, `_segment_f` (micro, segments are
        runs of one label) and `_whole` (share of documents with every token right), and the same with "_words". Empty
        where no token has gold.
    """
    known = [[token for token in document if token.gold is not None] for document in documents]
    tokens = [token for document in known for token in document]
    if not tokens:
        return {}
    labels = sorted({label for token in tokens for label in (str(token.gold), token.predicted)})
    number = {label: index for index, label in enumerate(labels)}
    gold = np.array([number[str(token.gold)] for token in tokens], dtype=np.intp)
    predicted = np.array([number[token.predicted] for token in tokens], dtype=np.intp)
    sequences = LabelSequences(gold, predicted, np.array([len(document) for document in known], dtype=np.intp))
    words = np.array([token.is_word for token in tokens], dtype=np.bool_)
    scores = _score(sequences, labels)
    if words.any():
        scores |= {f"{name}{WORDS}": value for name, value in _score(sequences.keep_units(words), labels).items()}
    return {f"{prefix}_{name}": value for name, value in scores.items()}


def _score(sequences: LabelSequences, labels: Sequence[str]) -> dict[str, float]:
    tokens, (right, total) = sequences.tokens(len(labels)), sequences.whole()
    scores = {"micro_f": tokens.micro_f, "macro_f": tokens.macro_f()}
    if NOTE in labels:
        scores[f"macro_f_without_{NOTE}"] = tokens.macro_f(np.array(labels) != NOTE)
    segments = sequences.segments(len(labels))
    return {**scores, "weighted_f": tokens.weighted_f, "segment_f": segments.micro_f, "whole": right / total}
