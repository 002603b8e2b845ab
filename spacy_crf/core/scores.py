"""Precision, recall and F by label, and the averages of them that papers on citations report under one name or another.

Cecchini & Fersini, Named entity recognition using CRFs with non-local relational constraints, section 4.1. What they
call micro-average is weighted by support: `weighted_f`. The true micro-average of a task where each token has exactly
one label, gold and predicted, is accuracy.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .arrays import Bools, Doubles, Indices

Labels: TypeAlias = npt.NDArray[np.signedinteger[Any]]


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
    def occurs(self) -> Bools:
        """((L,)): labels that are gold or predicted. Of the others there is nothing to be right or wrong about."""
        return np.asarray(self.predicted + self.gold > 0, dtype=np.bool_)

    def macro_f(self, chosen: Bools | None = None) -> float:
        """Mean F of labels, each counting the same: 0 for a label with gold that is never predicted.

        chosen ((L,) | None): labels to take, of those that occur; None for all of them. 0.0 if there is none.
        """
        taken = self.occurs if chosen is None else self.occurs & chosen
        return float(self.f[taken].mean()) if taken.any() else 0.0

    @property
    def weighted_f(self) -> float:
        """Mean F of labels, each weighted by its gold: the paper's "micro-average"; 0.0 without gold."""
        return float(np.average(self.f, weights=self.gold)) if self.gold.any() else 0.0

    @property
    def micro_f(self) -> float:
        """F of all labels together; of tokens with one label each it is accuracy. 0.0 where there is nothing."""
        return float(_ratio(2 * self.right.sum(), self.predicted.sum() + self.gold.sum()))


def count_labels(right: Labels, predicted: Labels, gold: Labels, n_labels: int) -> LabelCounts:
    """Counts from the labels of all units of each kind. O(n + L).

    right, predicted, gold ((n,) each, of different lengths): labels of what is right, predicted and gold.
    """
    return LabelCounts(*(np.bincount(labels, minlength=n_labels) for labels in (right, predicted, gold)))


def _ratio(part: Indices, whole: Indices) -> Doubles:
    values: Doubles = np.divide(part, whole, out=np.zeros(np.shape(whole)), where=np.asarray(whole) > 0)
    return values
