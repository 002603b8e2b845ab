"""Chooses labels by the probabilities of marks, against a threshold for each mark."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...core.types import Bools, Floats, Ints
from ...punctuation.labels import Label, LabelScheme, LabelTable
from ...punctuation.marks import NONE


@dataclass(frozen=True)
class Thresholds:
    """Where marks are set.

    any (float): probability that there is some mark, from which on the most probable one is set; 0: none is.
    own (Mapping[str, float]): by mark, its own probability from which on it may be set instead of that.
    """

    any: float = 0.0
    own: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.any or self.own)


def choose(marginals: Floats, table: LabelTable, thresholds: Thresholds) -> Ints:
    """The label of each word: that of the most probable mark that may be set, or else the one without a mark.

    A low threshold finds more of the marks, a high one makes fewer mistakes: with right probabilities, at least the
    share t of the marks whose own threshold is t is right.

    marginals ((n, L)): probabilities of the labels. table (LabelTable): of the labels.
    RETURNS ((n,)): the most probable label with the mark that was chosen.
    """
    sums = table.mark_probabilities(marginals)
    none = table.marks.index(NONE) if NONE in table.marks else -1
    own = np.array([thresholds.own.get(mark, np.nan) for mark in table.marks])
    some = np.ones(len(sums)) if none < 0 else 1 - sums[:, none]
    reached = np.where(np.isnan(own), (some >= (thresholds.any or np.inf))[:, None], sums >= own)
    if none >= 0:
        reached[:, none] = False
    best = np.where(reached, sums, -1.0).argmax(axis=1)
    chosen = np.where(reached.any(axis=1), best, none if none >= 0 else sums.argmax(axis=1))
    within = np.where(table.mark_of[None, :] == chosen[:, None], marginals, -1.0)
    return within.argmax(axis=1).astype(np.int32)


def labels_beside_marks(tags: Ints, table: LabelTable, scheme: LabelScheme) -> Bools:
    """Labels that words may have once their marks are settled: case and pairs are still open.

    tags ((n,)): labels with the marks of the words of one text. table (LabelTable): of the labels.
    scheme (LabelScheme): of the labels; the marks tell the kinds of the sentences.
    RETURNS ((n, L)): a row without any where training has never seen such a mark in such a sentence.
    """
    settled = scheme.tell_sentences([Label(table.parsed[tag].mark) for tag in tags.tolist()])
    rows = {told: [_agrees(label, told) for label in table.parsed] for told in set(settled)}
    return np.array([rows[told] for told in settled], dtype=bool).reshape(len(settled), len(table.parsed))


def _agrees(label: Label, told: Label) -> bool:
    return (label.mark, label.sentence) == (told.mark, told.sentence)
