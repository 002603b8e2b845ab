"""Precision, recall and F that probabilities promise without gold, and thresholds chosen by them.

Of items that are taken, the expected share that is right is the mean of their probabilities. Of all that are right, the
expected number that is taken is the sum of these probabilities, out of their sum over all items. Nothing asks items to
be independent: expected counts add up whatever the dependence.

The best threshold for F is half of the F that it reaches: Lipton, Elkan & Naryanaswamy, "Optimal thresholding of
classifiers to maximize F1 measure" (ECML 2014); here for the counts of several classes taken together.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Doubles, Floats


class Scores(NamedTuple):
    """Precision, recall and F, each 0 where it has no meaning."""

    precision: float
    recall: float
    f: float


def expected_scores(probabilities: Floats, taken: Bools) -> Scores:
    """Scores that are expected of a choice.

    probabilities ((n,)): of items to be right. taken ((n,)): which are taken.
    """
    return _scores(float(probabilities[taken].sum(dtype=np.float64)), taken, float(probabilities.sum(dtype=np.float64)))


def found_scores(right: Bools, taken: Bools) -> Scores:
    """Scores of a choice.

    right ((n,)): which items are right. taken ((n,)): which are taken.
    """
    return _scores(float((right & taken).sum()), taken, float(right.sum()))


def _scores(hits: float, taken: Bools, total: float) -> Scores:
    number = int(taken.sum())
    share = [
        part / whole if whole else 0.0 for part, whole in ((hits, number), (hits, total), (2 * hits, number + total))
    ]
    return Scores(*share)


def best_f_threshold(best: Floats, total: float) -> float:
    """The threshold of the greatest expected F, half of it. O(n log n).

    best ((n,)): of each unit, the probability of its most probable class; what is taken has at least the threshold.
    total (float): expected number of units with a class at all, summed over all classes.
    RETURNS (float): from 0 to 0.5.
    """
    falling: Doubles = np.sort(best.astype(np.float64))[::-1]
    scores = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + total)
    return float(scores.max(initial=0.0)) / 2


def precision_threshold(probabilities: Floats, precision: float) -> float | None:
    """The lowest threshold with an expected precision. O(n log n).

    probabilities ((n,)): of items to be right; what is taken has at least the threshold.
    precision (float): above 0, up to 1.
    RETURNS (float | None): None where no item is so probable.
    """
    falling: Doubles = np.sort(probabilities.astype(np.float64))[::-1]
    means = np.cumsum(falling) / np.arange(1, len(falling) + 1)
    is_last = np.append(falling[1:] < falling[:-1], True)[: len(falling)]  # of those that are equally probable
    enough = np.flatnonzero((means >= precision) & is_last)
    return float(falling[enough[-1]]) if len(enough) else None
