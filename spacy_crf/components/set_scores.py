"""Scorer of `set_valued_tagger`: measures of tags and tag sets against weighted gold."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from spacy.scorer import Scorer
from spacy.training import Example
from spacy.util import registry

from ..core.sets.metrics import ml_acc, normalise, set_measures
from ..core.sets.utility import make_utility
from .set_gold import Weights, gold_weights


@registry.scorers("spacy_crf.set_tagger_scorer.v1")
def make_set_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Scores of `set_valued_tagger`.

    RETURNS (Callable): the scorer.
    """
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

    RETURNS (dict): ml_acc, ml_util, set_coverage, set_size, set_singletons (share of sets with one tag), tag_acc.
    """
    examples = list(examples)
    known = list(labels)
    g = make_utility(utility, alpha, beta).values(len(known))
    number = {tag: k for k, tag in enumerate(known)}
    gold: list[Weights] = []
    best: list[str] = []
    sets: list[list[str]] = []
    for example in examples:
        doc = example.predicted
        gold += gold_weights(example, target, gold_tags)
        best += [token.tag_ if target == "tag" else token.pos_ for token in doc]
        sets += doc._.get(tag_set) or [[tag] for tag in best[len(best) - len(doc) :]]
    for tag in (tag for tags in (best, *gold, *sets) for tag in tags):
        number.setdefault(tag, len(number))
    scores = Scorer.score_token_attr(examples, target)
    if not any(gold):
        return {**dict.fromkeys(("ml_acc", "ml_util", "set_coverage", "set_size", "set_singletons")), **scores}
    weights, members = np.zeros((2, len(gold), len(number)))
    for token, (row, chosen) in enumerate(zip(gold, sets)):
        for tag, weight in row.items():
            weights[token, number[tag]] = weight
        members[token, [number[tag] for tag in chosen]] = 1
    weights = normalise(weights)
    found = set_measures(weights, members.astype(bool), np.append(g, np.zeros(len(number) - len(g))))
    return {
        "ml_acc": float(ml_acc(weights, np.array([number[tag] for tag in best])).mean()),
        "ml_util": found.ml_util,
        "set_coverage": found.coverage,
        "set_size": found.size,
        "set_singletons": found.singletons,
        **scores,
    }
