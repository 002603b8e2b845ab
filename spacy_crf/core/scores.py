"""Precision, recall and F: of labels by gold, and those that probabilities promise without.

Averages are those that papers on citations report under one name or another: Cecchini & Fersini, Named entity
recognition using CRFs with non-local relational constraints, section 4.1. What they call micro-average is weighted by
support: `weighted`. The true micro-average of a task where each token has exactly one label, gold and predicted, is
accuracy.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .arrays import Bools, Doubles, Floats, Indices

Labels: TypeAlias = npt.NDArray[np.signedinteger[Any]]


class Scores(NamedTuple):
    """Precision, recall and F, each 0 where it has no meaning."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class LabelCounts:
    """How often each label is right, predicted and gold, for tokens or for segments.

    right ((L,)), predicted ((L,)), gold ((L,)): counts.
    """

    right: Indices
    predicted: Indices
    gold: Indices

    @property
    def precision(self) -> Doubles:
        """((L,)): right / predicted; 0 for a label that is never predicted."""
        return _ratio(self.right, self.predicted)

    @property
    def recall(self) -> Doubles:
        """((L,)): right / gold; 0 for a label without gold."""
        return _ratio(self.right, self.gold)

    @property
    def f(self) -> Doubles:
        """((L,)): harmonic mean of both: 2 right / (predicted + gold); 0 for a label that is never right."""
        return _ratio(2 * self.right, self.predicted + self.gold)

    @property
    def f05(self) -> Doubles:
        """((L,)): F0.5, in which recall counts a quarter of precision; 0 for a label that is never right."""
        return _ratio(5 * self.right, 4 * self.predicted + self.gold)

    @property
    def occurs(self) -> Bools:
        """((L,)): labels that are gold or predicted. Of the others there is nothing to be right or wrong about."""
        return np.asarray(self.predicted + self.gold > 0, dtype=np.bool_)

    def macro(self, chosen: Bools | None = None) -> Scores:
        """Means over the labels that occur, or over some ((L,)) of them, each counting the same."""
        return self.means(self.occurs if chosen is None else self.occurs & chosen)

    @property
    def weighted(self) -> Scores:
        """Means over labels, each weighted by its gold: the paper's "micro-average"."""
        return self.means(self.gold)

    def means(self, weights: Indices | Bools) -> Scores:
        """Means over labels by weights ((L,)); 0.0 where there are none."""
        if not weights.any():
            return Scores(0.0, 0.0, 0.0)
        return Scores(*(float(np.average(own, weights=weights)) for own in (self.precision, self.recall, self.f)))

    @property
    def micro_f(self) -> float:
        """F of all labels together; of tokens with one label each it is accuracy. 0.0 where there is nothing."""
        return float(_ratio(2 * self.right.sum(), self.predicted.sum() + self.gold.sum()))


def count_confusions(confusions: Counter[tuple[str, str]], labels: Sequence[str]) -> LabelCounts:
    """Count labels ((L,)) of units that are counted by gold and predicted label. O(pairs + L)."""
    gold, predicted = Counter[str](), Counter[str]()
    for (right, found), count in confusions.items():
        gold[right] += count
        predicted[found] += count
    rows = [(confusions[label, label], predicted[label], gold[label]) for label in labels]
    return LabelCounts(*np.array(rows, dtype=np.intp).reshape(-1, 3).T)


def count_labels(right: Labels, predicted: Labels, gold: Labels, n_labels: int) -> LabelCounts:
    """Count the labels of all units of each kind: of what is right, predicted and gold. O(n + L)."""
    return LabelCounts(*(np.bincount(labels, minlength=n_labels) for labels in (right, predicted, gold)))


def _ratio(part: Indices, whole: Indices) -> Doubles:
    values: Doubles = np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) > 0)
    return values


# -- without gold -----------------------------------------------------------------------------------------------------
#
# Of items that are taken, the expected share that is right is the mean of their probabilities. Of all that are right,
# the expected number that is taken is the sum of these probabilities, out of their sum over all items. Nothing asks
# items to be independent: expected counts add up whatever the dependence.
#
# The best threshold for F is half of the F that it reaches: Lipton, Elkan & Naryanaswamy, "Optimal thresholding of
# classifiers to maximize F1 measure" (ECML 2014); here for the counts of several classes taken together.


def choice_scores(right: Floats | Bools, taken: Bools) -> Scores:
    """Score the choice of some items ((n,)) that are right, or expect so by the probabilities ((n,)) that they are."""
    hits, found, total = (float(part.sum(dtype=np.float64)) for part in (right[taken], taken, right))
    parts = ((hits, found), (hits, total), (2 * hits, found + total))
    return Scores(*(part / whole if whole else 0.0 for part, whole in parts))


def best_f_threshold(best: Floats, total: float) -> float:
    """The threshold of the greatest expected F, half of it: from 0 to 0.5. O(n log n).

    best ((n,)): of each unit, the probability of its most probable class; what is taken has at least the threshold.
    total (float): expected number of units with a class at all, summed over all classes.
    """
    falling: Doubles = np.sort(best.astype(np.float64))[::-1]
    scores = 2 * np.cumsum(falling) / (np.arange(1, len(falling) + 1) + total)
    return float(scores.max(initial=0.0)) / 2


def precision_threshold(probabilities: Floats, precision: float) -> float | None:
    """The lowest threshold with an expected precision, None where no item is so probable. O(n log n).

    probabilities ((n,)): of items to be right; what is taken has at least the threshold.
    """
    falling: Doubles = np.sort(probabilities.astype(np.float64))[::-1]
    means = np.cumsum(falling) / np.arange(1, len(falling) + 1)
    is_last = np.append(falling[1:] < falling[:-1], True)[: len(falling)]  # of those that are equally probable
    enough = np.flatnonzero((means >= precision) & is_last)
    return float(falling[enough[-1]]) if len(enough) else None
