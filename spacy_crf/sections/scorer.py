"""Scores of labelled elements, and of section trees by PARSEVAL.

PARSEVAL is due to Abney et al. (1991); labelled precision and recall follow Collins (1999). Trompper (2016) counts all
non-terminals of the parse and the root: give those as constituents to have the thesis's variant.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from spacy.training import Example
from spacy.util import registry

from ..core.arrays import Bools
from ..core.scores import LabelCounts
from .layout import units_of
from .segment import Kind, LayoutUnit, bounds_of
from .spans import SECTION, get_tree, labels_of_units, read_elements
from .tree import SectionTree

F05 = 0.25  # beta squared: recall counts a quarter of precision
Constituent: TypeAlias = tuple[str, int, int]
"""Label and interval of units, the end not included."""


@registry.scorers("spacy_crf.section_parser_scorer.v1")
def make_section_parser_scorer() -> Callable[..., dict[str, Any]]:
    """Scores of `section_parser`: elements by label, and trees by PARSEVAL."""
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


def confuse(example: Example, key: str, newline: str) -> Iterator[tuple[str, str]]:
    """Gold and predicted label of each unit of the predicted Doc that has gold, which is in `doc.spans[key]`."""
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
    """Scores from counts of gold and predicted labels; {} without any. newline (str): the label of blank lines."""
    labels = sorted({label for pair in confusions for label in pair if label})
    if not labels:
        return {}
    right = np.array([confusions[label, label] for label in labels])
    gold, predicted = (
        np.array([sum(count for pair, count in confusions.items() if pair[side] == label) for label in labels])
        for side in (0, 1)
    )
    counts = LabelCounts(right, predicted, gold)
    inner = {pair: count for pair, count in confusions.items() if newline not in pair}
    total = sum(inner.values())
    by_label = {
        label: {"p": p, "r": r, "f": f, "f05": (1 + F05) * p * r / (F05 * p + r) if p or r else 0.0}
        for label, p, r, f in zip(labels, counts.precision.tolist(), counts.recall.tolist(), counts.f.tolist())
    }
    return {
        "elements_acc": sum(count for (gold, found), count in inner.items() if gold == found) / total if total else 1.0,
        "elements_macro_f": counts.macro_f(np.array(labels) != newline),
        "elements_f_per_type": by_label,
    }


@dataclass(frozen=True)
class BracketCounts:
    """Constituents of one or more documents: those that are in both, and all of them."""

    right: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        """right / predicted; with none predicted 1 if there is no gold either, else 0."""
        return self.right / self.predicted if self.predicted else float(not self.gold)

    @property
    def recall(self) -> float:
        """right / gold; with no gold 1 if none is predicted either, else 0."""
        return self.right / self.gold if self.gold else float(not self.predicted)

    @property
    def f(self) -> float:
        """Harmonic mean of both; 1 for empty against empty."""
        total = self.predicted + self.gold
        return 2 * self.right / total if total else 1.0

    def __add__(self, other: "BracketCounts") -> "BracketCounts":
        return BracketCounts(self.right + other.right, self.predicted + other.predicted, self.gold + other.gold)


def score_trees(examples: Iterable[Example]) -> dict[str, float]:
    """PARSEVAL of the examples with a gold tree, pooled; {} without any."""
    counted = [counts for example in examples if (counts := count_brackets(example)) is not None]
    if not counted:
        return {}
    total = sum(counted, BracketCounts())
    return {"parseval_p": total.precision, "parseval_r": total.recall, "parseval_f": total.f}


def count_brackets(example: Example) -> BracketCounts | None:
    """PARSEVAL counts of one example: intervals of units that are no blank lines; None without a gold tree.

    Virtual sections are left out unless the gold tree has some.
    """
    gold, found = get_tree(example.reference), get_tree(example.predicted)
    if gold is None:
        return None
    units = units_of(example.predicted)
    virtual = any(node.virtual for node in gold.walk())
    predicted = [] if found is None else constituents(found, units, virtual)
    return parseval(predicted, constituents(gold, units, virtual))


def constituents(tree: SectionTree, units: Sequence[LayoutUnit], virtual: bool) -> list[Constituent]:
    """Sections as intervals of the units that are no blank lines. virtual (bool): with implied sections."""
    starts, ends = (bounds.tolist() for bounds in bounds_of(units))
    blank = np.array([unit.kind is Kind.NEWLINE for unit in units], dtype=np.bool_)
    found = [
        (SECTION, bisect_right(ends, node.start_char), bisect_left(starts, node.end_char))
        for node in tree.walk()
        if virtual or not node.virtual
    ]
    return without(found, blank)


def without(found: Iterable[Constituent], dropped: Bools) -> list[Constituent]:
    """Constituents counted over the units that are not dropped ((N,)); those of nothing else are left out."""
    before = np.append(0, np.cumsum(~dropped)).tolist()
    moved = [(label, before[start], before[end]) for label, start, end in found]
    return [(label, start, end) for label, start, end in moved if start < end]


def parseval(predicted: Iterable[Constituent], gold: Iterable[Constituent]) -> BracketCounts:
    """Counts of one document; constituents are a multiset: two sections over the same units are two."""
    left, right = Counter(predicted), Counter(gold)
    return BracketCounts((left & right).total(), left.total(), right.total())
