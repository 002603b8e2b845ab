"""What tag sets save: how much an annotator need not look at, and how right that is."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from spacy.training import Example

from ..core.sets.metrics import has_gold, ml_acc, set_measures
from ..core.sets.reliability import StratifiedCoverage, coverage_by_size
from ..core.types import Bools
from .probabilities import GivesSets
from .set_rules import utility_values
from .set_table import set_table


@dataclass(frozen=True)
class SetReport:
    """Measures of sets over the tokens with gold of documents that the tagger has annotated.

    tokens (int): with gold. labels (int): that the tagger knows; sizes and ml-util compare only for equal numbers.
    unknown_words (float | None): share of tokens whose form the training data lack.
    ml_acc (float | None): of the best tags. ml_acc_known, ml_acc_unknown (float | None): of known and unknown words.
    ml_util, coverage, size (float): of the sets, by the tagger's utility.
    singletons (float): share of tokens with one tag. singletons_right (float | None): their ml-acc.
    by_size (StratifiedCoverage): coverage of the sets of each size.
    """

    tokens: int
    labels: int
    unknown_words: float | None
    ml_acc: float | None
    ml_acc_known: float | None
    ml_acc_unknown: float | None
    ml_util: float
    coverage: float
    size: float
    singletons: float
    singletons_right: float | None
    by_size: StratifiedCoverage


def report_sets(tagger: GivesSets, examples: Iterable[Example], words: Collection[str] = ()) -> SetReport:
    """Measure the sets of documents.

    tagger (GivesSets): the component.
    examples (Iterable[Example]): `predicted` as the tagger has annotated it.
    words (Collection[str]): forms of the training data; empty if they are not known.
    """
    examples, known = list(examples), list(tagger.labels)
    settings = tagger.cfg["tag_set"], tagger.cfg["gold_tags"]
    table = set_table(examples, known, tagger.target, *settings)
    with_gold = has_gold(table.weights)
    weights, chosen, best = table.weights[with_gold], table.members[with_gold], table.best[with_gold]
    is_known = np.array([token.text in words for eg in examples for token in eg.predicted], dtype=bool)[with_gold]
    right, single = ml_acc(weights, best), chosen.sum(axis=1) == 1
    g = np.pad(utility_values(tagger.cfg, len(known)), (0, weights.shape[1] - len(known)))
    measures = set_measures(weights, chosen, g)
    return SetReport(
        tokens=len(weights),
        labels=len(known),
        unknown_words=float((~is_known).mean()) if words else None,
        ml_acc=_mean(right, np.ones(len(right), dtype=bool)),
        ml_acc_known=_mean(right, is_known) if words else None,
        ml_acc_unknown=_mean(right, ~is_known) if words else None,
        ml_util=measures.ml_util,
        coverage=measures.coverage,
        size=measures.size,
        singletons=measures.singletons,
        singletons_right=_mean(right, single),
        by_size=coverage_by_size(weights, chosen),
    )


def _mean(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", chosen: Bools) -> float | None:
    return float(values[chosen].mean()) if chosen.any() else None
