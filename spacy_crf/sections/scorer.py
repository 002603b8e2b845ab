"""Scores of labelled elements and of section trees (see `measures`)."""

import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from spacy.training import Example
from spacy.util import registry

from ..core.errors import CRFWarning, excerpt
from ..core.scores import LabelCounts
from .errors import SectionWarnings
from .layout import units_of, warn_of_formatting
from .measures import (
    BracketCounts,
    Constituent,
    LevelCounts,
    crossing,
    level_accuracy,
    levels_of,
    parseval,
    similarity,
    tree_of,
    without,
)
from .segment import Kind, LayoutUnit, bounds_of
from .spans import ELEMENTS, SECTION, SECTIONS, get_tree, gold_tree, labels_of_units, read_elements
from .tree import SectionTree

MOST_NODES = 1000  # of a tree whose edit distance is measured: the time is quadratic in them


@registry.scorers("spacy_crf.section_parser_scorer.v1")
def make_section_parser_scorer() -> Callable[..., dict[str, Any]]:
    """Scores of `section_parser`: elements by label, and trees by PARSEVAL."""
    return section_score


def section_score(examples: Iterable[Example], **cfg: Any) -> dict[str, Any]:
    """Scores of the examples that have gold, and how many trees are proved to be the best.

    examples (Iterable[Example]): annotation in `predicted`, gold in `reference`. cfg: settings of the component.
    RETURNS (dict): "elements_acc", share of right labels of elements that are no blank lines in gold (these are
        decided by their form); "elements_macro_p", "_r" and "_f", means over all labels but that of blank lines, and
        "elements_weighted_p", "_r" and "_f", these weighted by gold; "elements_f_per_type", p, r, f and f05 of each
        label; "elements_confusions", counts by gold label and predicted label, "" where there is none.
        Of trees "headings_p", "headings_r", "headings_f", sections by the unit that they begin with, wherever they
        end; "parseval_p", "parseval_r", "parseval_f"; "parseval_mean_f", the mean of F over documents;
        "parseval_crossing", the share of predicted sections that cross a gold one; "sections_level_acc", the share of
        headings of both trees with the same level; "sections_steds", the mean similarity of trees by edits.
        "sections_certified", the share of Docs, with gold or without, of whose tree it is certain that none scores
        higher.
    """
    examples = list(examples)
    warn_of_formatting(examples)
    key, newline = cfg.get("elements_key", ELEMENTS), cfg.get("newline_label", "NEWLINE")
    confusions: Counter[tuple[str, str]] = Counter()
    for example in examples:
        confusions.update(confuse(example, key, newline))
    return {
        **score_elements(confusions, newline),
        **score_trees(examples, cfg.get("sections_key", SECTIONS)),
        **_proofs(examples),
    }


def _proofs(examples: Iterable[Example]) -> dict[str, float]:
    """The share of trees that are certain to be the best; {} without a tree."""
    certain = [tree.exact for example in examples if (tree := get_tree(example.predicted)) is not None]
    return {"sections_certified": float(np.mean(certain))} if certain else {}


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
    matrix = np.array([[confusions[gold, found] for found in ("", *labels)] for gold in ("", *labels)])
    counts = LabelCounts(np.diag(matrix)[1:], matrix.sum(axis=0)[1:], matrix.sum(axis=1)[1:])
    inner = {pair: count for pair, count in confusions.items() if pair[0] != newline}
    total = sum(inner.values())
    rows = zip(*(values.tolist() for values in (counts.precision, counts.recall, counts.f, counts.f05)))
    by_label = {label: dict(zip(("p", "r", "f", "f05"), row)) for label, row in zip(labels, rows)}
    counted = np.array(labels) != newline
    means = {"macro": counts.macro(counted), "weighted": counts.means(np.where(counted, counts.gold, 0))}
    return {
        "elements_acc": sum(count for (gold, found), count in inner.items() if gold == found) / total if total else 1.0,
        **{f"elements_{mean}_{name}": value for mean, own in means.items() for name, value in zip("prf", own)},
        "elements_f_per_type": by_label,
        "elements_confusions": {
            gold: dict(zip(("", *labels), row.tolist())) for gold, row in zip(labels, matrix[1:]) if row.any()
        },
    }


@dataclass(frozen=True)
class JudgedTree:
    """A tree against its gold.

    brackets, headings (BracketCounts): sections by where they begin and end, and by where they begin. crossed (int):
    sections that cross one of the gold. steds (float | None): similarity.
    """

    brackets: BracketCounts
    headings: BracketCounts
    crossed: int
    levels: LevelCounts
    steds: float | None

    @property
    def counts(self) -> dict[str, float]:
        """What adds up over documents."""
        brackets, levels = self.brackets, self.levels
        return {
            "documents": 1,
            **{"right": brackets.right, "predicted": brackets.predicted, "gold": brackets.gold, "f": brackets.f},
            "begun": self.headings.right,
            **{"same": levels.same, "headings": levels.total, "crossed": self.crossed},
            **({} if self.steds is None else {"steds": self.steds, "compared": 1}),
        }


def score_trees(examples: Iterable[Example], key: str = SECTIONS) -> dict[str, float]:
    """Scores of the examples with a gold tree, pooled where it is not said otherwise; {} without any.

    key (str): of doc.spans for sections.
    """
    total: Counter[str] = Counter()
    for example in examples:
        judged = judge_tree(example, key)
        total.update({} if judged is None else judged.counts)
    return tree_scores(total)


def tree_scores(counts: Mapping[str, float]) -> dict[str, float]:
    """Scores from sums of `JudgedTree.counts`; {} without any."""
    found = Counter(counts)
    if not found["documents"]:
        return {}
    brackets = BracketCounts(*(round(found[name]) for name in ("right", "predicted", "gold")))
    levels = LevelCounts(*(round(found[name]) for name in ("same", "headings")))
    headings = replace(brackets, right=round(found["begun"]))
    return {
        "headings_p": headings.precision,
        "headings_r": headings.recall,
        "headings_f": headings.f,
        "parseval_p": brackets.precision,
        "parseval_r": brackets.recall,
        "parseval_f": brackets.f,
        "parseval_mean_f": found["f"] / found["documents"],
        "parseval_crossing": found["crossed"] / max(1, brackets.predicted),
        "sections_level_acc": levels.accuracy,
        **({"sections_steds": found["steds"] / found["compared"]} if found["compared"] else {}),
    }


def judge_tree(example: Example, key: str = SECTIONS) -> JudgedTree | None:
    """Judge one example by intervals of units that are no blank lines; None without a gold tree.

    Virtual sections are left out unless the gold tree has some. Trees of more than 1,000 sections have no STEDS, with a
    warning. key (str): of doc.spans for sections.
    """
    gold, found = gold_tree(example.reference, key), get_tree(example.predicted)
    if gold is None:
        return None
    units = units_of(example.predicted)
    virtual = any(node.virtual for node in gold.walk())
    right = constituents(gold, units, virtual)
    predicted = [] if found is None else constituents(found, units, virtual)
    steds = None
    if max(len(right), len(predicted)) < MOST_NODES:
        steds = similarity(tree_of(predicted), tree_of(right))
    else:
        message = SectionWarnings.CRFW967.format(document=excerpt(example.reference.text), most=MOST_NODES)
        warnings.warn(message, CRFWarning, stacklevel=2)
    levels = level_accuracy(levels_of(predicted), levels_of(right))
    begun = (((label, start, start) for label, start, _ in found) for found in (predicted, right))
    return JudgedTree(parseval(predicted, right), parseval(*begun), crossing(predicted, right), levels, steds)


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
