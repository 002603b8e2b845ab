"""Chooses labels by the probabilities of marks, against a threshold for each mark."""

from collections.abc import Mapping

import numpy as np

from ...core.types import Floats, Ints
from ...punctuation.labels import LabelTable
from ...punctuation.marks import NONE


def choose(marginals: Floats, table: LabelTable, thresholds: Mapping[str, float]) -> Ints:
    """The label of each word: among the marks that reach their threshold the one that exceeds it most, as a ratio; the
    label without a mark where none does.

    A low threshold finds more of the marks, a high one makes fewer mistakes: with right probabilities, at least the
    share t of the marks that are set at threshold t is right.

    marginals ((n, L)): probabilities of the labels. table (LabelTable): of the labels.
    thresholds (Mapping[str, float]): above 0, by mark.
    RETURNS ((n,)): the most probable label with the mark that was chosen.
    """
    sums = table.mark_probabilities(marginals)
    limits = np.array([thresholds.get(mark, np.inf) for mark in table.marks])
    ratios = np.where(limits < np.inf, sums / limits, 0.0)
    best = ratios.argmax(axis=1)
    none = table.marks.index(NONE) if NONE in table.marks else int(sums.sum(axis=0).argmax())
    chosen = np.where(ratios.max(axis=1, initial=0.0) >= 1, best, none)
    within = np.where(table.mark_of[None, :] == chosen[:, None], marginals, -1.0)
    return within.argmax(axis=1).astype(np.int32)
