"""Scorer of `set_valued_tagger`: measures of tags and tag sets against weighted gold."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.training import Example
from spacy.util import registry

from ..core.sets.measures import ml_acc, set_measures
from ..core.sets.predict import make_utility
from ..pipe.scorer import token_accuracy
from .gold import set_table


@registry.scorers("spacy_crf.set_tagger_scorer.v1")
def make_set_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Return the scorer of `set_valued_tagger`."""
    return set_tagger_score


def set_tagger_score(
    examples: Iterable[Example],
    *,
    target: str,
    labels: Iterable[str],
    tag_set: str,
    gold_tags: str,
    utility: str,
    alpha: float,
    beta: float,
    **kwargs: Any,
) -> dict[str, Any]:
    """ml_acc of the best tag; ml_util, coverage and mean size of the sets; all are means over tokens with gold.

    Gold tags that the component does not know count as missed. g is that of the component's utility, for the number of
    its labels, so that ml_util and sizes compare only for equal numbers.
    """
    examples = list(examples)
    known = list(labels)
    g = make_utility(utility, alpha, beta).values(len(known))
    table = set_table(examples, known, target, tag_set, gold_tags)
    scores = {f"{target}_acc": token_accuracy(examples, target)}
    if not table.weights.any():
        return {**dict.fromkeys(("ml_acc", "ml_util", "set_coverage", "set_size", "set_singletons")), **scores}
    found = set_measures(table.weights, table.members, g)
    return {
        "ml_acc": float(ml_acc(table.weights, table.best).mean()),
        "ml_util": found.ml_util,
        "set_coverage": found.coverage,
        "set_size": found.size,
        "set_singletons": found.singletons,
        **scores,
    }
