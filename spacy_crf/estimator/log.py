"""What a training run tells about itself, under the names that python-crfsuite's log parser uses."""

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..core.arrays import Doubles, Indices, Ints, Segments

logger = logging.getLogger("spacy_crf")
Scores = dict[str, Any]


class LabelScore(NamedTuple):
    """How often a label was right (match), predicted (model) and wanted (ref); None where a share is undefined."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass
class TrainingLog:
    """The iterations of a run.

    featgen_num_features (int): number of weights.
    iterations (list[dict]): for each its `num`, `loss` (for lbfgs and l2sgd the objective), `feature_norm` (length of
        the weights), `error_norm` (of the gradient), `active_features` (weights that are not 0), `linesearch_trials`,
        `time` in seconds, as far as the algorithm has them; with dev data also `item_accuracy`, `instance_accuracy`,
        `avg_precision`, `avg_recall`, `avg_f1` and `scores` by label.
    training_seconds (float): of the whole run. reason (str): why it ended.
    objective (float | None): the loss with its penalties at the end, for algorithms that minimise one.
    evaluate (Callable | None): scores of weights on dev data. verbose (bool): show messages on standard output.
    """

    featgen_num_features: int
    evaluate: Callable[[Doubles], Scores] | None = field(default=None, repr=False)
    iterations: list[dict[str, Any]] = field(default_factory=list)
    training_seconds: float = 0.0
    reason: str = ""
    objective: float | None = None
    verbose: bool = False

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        return self.iterations[-1] if self.iterations else None

    def add(self, flat: Doubles, **facts: Any) -> None:
        """Add an iteration: the weights after it, and what is known of it."""
        norm = float(np.linalg.norm(flat))
        entry = {"num": len(self.iterations) + 1, **facts, "feature_norm": norm, "scores": {}}
        entry["active_features"] = int(np.count_nonzero(flat))
        if self.evaluate is not None:
            entry.update(self.evaluate(flat))
        self.iterations.append(entry)
        shown = {name: value for name, value in entry.items() if isinstance(value, int | float)}
        self.tell("  ".join(f"{name} {value:g}" for name, value in shown.items()))

    def tell(self, message: str) -> None:
        """Log a message. What is shown goes by the run alone: other threads share handlers and levels of loggers."""
        logger.info("%s", message)
        if self.verbose:
            sys.stdout.write(f"{message}\n")
            sys.stdout.flush()

    def __getstate__(self) -> dict[str, Any]:
        """Without the dev data."""
        return {**self.__dict__, "evaluate": None}


def score_labels(gold: Ints, predicted: Ints, lengths: Indices, labels: list[str]) -> Scores:
    """Scores of label numbers on held-out data as CRFsuite reports them."""
    right = gold == predicted
    wrong_in = np.add.reduceat(~right, Segments(lengths).openings) if len(gold) else np.zeros(0)
    n, names = len(labels), ("precision", "recall", "f1")
    counts = [np.bincount(part[part >= 0], minlength=n).tolist() for part in (gold[right], predicted, gold)]
    scores = {label: _label_score(*numbers) for label, *numbers in zip(labels, *counts)}
    items = Fraction(int(right.sum()), max(1, len(gold)))
    instances = Fraction(int((wrong_in == 0).sum() + (lengths == 0).sum()), max(1, len(lengths)))
    return {
        "scores": scores,
        **{f"avg_{name}": sum(getattr(score, name) or 0.0 for score in scores.values()) / n for name in names},
        "item_accuracy": items,
        "item_accuracy_float": float(items),
        "instance_accuracy": instances,
        "instance_accuracy_float": float(instances),
    }


def _label_score(match: int, model: int, ref: int) -> LabelScore:
    if not model and not ref:
        return LabelScore(0, 0, 0, None, None, None)
    precision, recall = match / max(1, model), match / max(1, ref)
    total = precision + recall
    return LabelScore(match, model, ref, precision, recall, 2 * precision * recall / total if total else 0.0)
