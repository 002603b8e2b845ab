"""Scores of labelled elements and of section trees."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from spacy.training import Example
from spacy.util import registry

from ..core.scores import LabelCounts
from ..core.sections.measures import pooled
from .brackets import count_brackets
from .elements import labels_of_units, read_elements
from .units.layout import units_of

F05 = 0.25  # beta squared: recall counts a quarter of precision


@registry.scorers("spacy_crf.section_parser_scorer.v1")
def make_section_parser_scorer() -> Callable[..., dict[str, Any]]:
    """Scores of `section_parser`: elements by label, and trees by PARSEVAL.

    RETURNS (Callable): the scorer.
    """
    return section_score


def section_score(examples: Iterable[Example], **cfg: Any) -> dict[str, Any]:
    """Scores of the examples that have gold.

    examples (Iterable[Example]): annotation in `predicted`, gold in `reference`. cfg: settings of the component.
    RETURNS (dict): "elements_acc", share of right labels of elements that are no blank lines (these are decided by
        their form); "elements_macro_f", the mean F of all labels but that of blank lines; "elements_f_per_type", p, r,
        f and f05 of each label; and of trees "parseval_p", "parseval_r", "parseval_f".
    """
    examples = list(examples)
    key, newline = cfg.get("elements_key", "elements"), cfg.get("newline_label", "NEWLINE")
    confusions: Counter[tuple[str, str]] = Counter()
    for example in examples:
        confusions.update(confuse(example, key, newline))
    return {**score_elements(confusions, newline), **score_trees(examples)}


def score_trees(examples: Iterable[Example]) -> dict[str, float]:
    """PARSEVAL of the examples with a gold tree, pooled; {} without any."""
    counted = [counts for example in examples if (counts := count_brackets(example)) is not None]
    if not counted:
        return {}
    total = pooled(counted)
    return {"parseval_p": total.precision, "parseval_r": total.recall, "parseval_f": total.f}


def confuse(example: Example, key: str, newline: str) -> Iterator[tuple[str, str]]:
    """Gold and predicted label of each unit of the predicted Doc that has gold.

    key (str): of doc.spans. newline (str): the label of blank lines.
    """
    gold, found = read_elements(example.reference, key), read_elements(example.predicted, key)
    if gold is None:
        return
    units = units_of(example.predicted)
    nothing: list[str | None] = [None] * len(units)
    predicted = nothing if found is None else labels_of_units(units, found, newline)
    for right, label in zip(labels_of_units(units, gold, newline), predicted):
        if right is not None:
            yield right, label or ""


def score_elements(confusions: Counter[tuple[str, str]], newline: str) -> dict[str, Any]:
    """Scores from counts of gold and predicted labels; {} without any.

    newline (str): the label of blank lines.
    """
    labels = sorted({label for pair in confusions for label in pair if label})
    if not labels:
        return {}
    counts = LabelCounts(
        *(np.array([_count(confusions, label, kind) for label in labels], dtype=np.intp) for kind in range(3))
    )
    inner = {pair: count for pair, count in confusions.items() if newline not in pair}
    total = sum(inner.values())
    by_label = {
        label: {"p": p, "r": r, "f": f, "f05": f_score(p, r, F05)}
        for label, p, r, f in zip(labels, counts.precision.tolist(), counts.recall.tolist(), counts.f.tolist())
    }
    chosen = np.array([label != newline for label in labels])
    return {
        "elements_acc": sum(count for (gold, found), count in inner.items() if gold == found) / total if total else 1.0,
        "elements_macro_f": counts.macro_f(chosen),
        "elements_f_per_type": by_label,
    }


def f_score(precision: float, recall: float, beta_squared: float = 1.0) -> float:
    """F of precision and recall; 0 where both are."""
    weighted = beta_squared * precision + recall
    return (1 + beta_squared) * precision * recall / weighted if weighted else 0.0


def _count(confusions: Counter[tuple[str, str]], label: str, kind: int) -> int:
    """How often a label is right (0), predicted (1), gold (2)."""
    return sum(
        count
        for (gold, found), count in confusions.items()
        if (gold == label or kind == 1) and (found == label or kind == 2)
    )
