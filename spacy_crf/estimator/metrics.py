"""Scores of predicted labels, under the names of sklearn_crfsuite.metrics: scikit-learn's, over all items.

scikit-learn is imported when a score is asked for.

>>> from spacy_crf import metrics
>>> metrics.flat_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
0.6666666666666666
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import chain
from typing import Any

from ..core.errors import CRFError, required
from .errors import EstimatorErrors
from .preparation import label_lists

Labels = Iterable[Sequence[str]]


def flat_accuracy_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """Return the share of the items whose label is predicted."""
    return _flat("accuracy_score", y_true, y_pred, options)


def flat_precision_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """Return the precision over items. options: of sklearn.metrics.precision_score, such as `average`."""
    return _flat("precision_score", y_true, y_pred, options)


def flat_recall_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """Return the recall over items. options: of sklearn.metrics.recall_score, such as `average`."""
    return _flat("recall_score", y_true, y_pred, options)


def flat_f1_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """Return the F score over items. options: of sklearn.metrics.f1_score, such as `average`."""
    return _flat("f1_score", y_true, y_pred, options)


def flat_fbeta_score(y_true: Labels, y_pred: Labels, beta: float, **options: Any) -> Any:
    """Return the F score over items in which recall counts beta times. options: of sklearn.metrics.fbeta_score."""
    return _flat("fbeta_score", y_true, y_pred, {"beta": beta, **options})


def flat_classification_report(
    y_true: Labels, y_pred: Labels, labels: Sequence[str] | None = None, **options: Any
) -> Any:
    """Return precision, recall and F of each label as text. options: of sklearn.metrics.classification_report."""
    return _flat("classification_report", y_true, y_pred, {"labels": labels, **options})


def sequence_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """Return the share of the sequences whose labels are all predicted; 0 for none. Needs no scikit-learn."""
    pairs = _pairs(y_true, y_pred)
    return sum(true == predicted for true, predicted in pairs) / len(pairs) if pairs else 0.0


def _flat(name: str, y_true: Labels, y_pred: Labels, options: dict[str, Any]) -> Any:
    """Call a score of scikit-learn."""
    pairs = _pairs(y_true, y_pred)
    with required(EstimatorErrors.CRF713.format(name=name)):
        scores = import_module("sklearn.metrics")
    sides = (list(chain.from_iterable(pair[side] for pair in pairs)) for side in (0, 1))
    return getattr(scores, name)(*sides, **options)


def _pairs(y_true: Labels, y_pred: Labels) -> list[tuple[list[str], list[str]]]:
    """Labels of each sequence.

    RAISES (ValueError): where they are no sequences, or differ in number, so that items were compared with others.
    """
    true, predicted = label_lists("y_true", y_true), label_lists("y_pred", y_pred)
    if len(true) != len(predicted):
        raise CRFError(EstimatorErrors.CRF714.format(true=len(true), predicted=len(predicted)))
    for position, (one, other) in enumerate(zip(true, predicted)):
        if len(one) != len(other):
            raise CRFError(EstimatorErrors.CRF702.format(sequence=position, found=len(other), expected=len(one)))
    return list(zip(true, predicted))
