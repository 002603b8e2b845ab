"""Weighted gold, best tags and tag sets of annotated documents as arrays: what all measures of sets start from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from spacy.training import Example

from ..core.arrays import Bools, Doubles, Indices
from ..core.sets.measures import normalise
from .gold import Weights, gold_weights


class SetTable(NamedTuple):
    """Tokens of documents, one document after the other; tags are numbered from the known ones on.

    weights ((N, L')): gold; a row of zeros where there is none. members ((N, L')): the sets. best ((N,)): the tag.
    """

    weights: Doubles
    members: Bools
    best: Indices


def set_table(examples: Iterable[Example], known: Sequence[str], target: str, tag_set: str, gold_tags: str) -> SetTable:
    """Read annotated documents.

    known (Sequence[str]): tags of the tagger. target (str): "tag" or "pos". tag_set (str), gold_tags (str): custom
        attributes. A Doc without sets has the tags of its tokens as such.
    RAISES (ValueError): for weights that are no gold.
    """
    gold: list[Weights] = []
    best: list[str] = []
    sets: list[list[str]] = []
    for example in examples:
        doc = example.predicted
        tags = [token.tag_ if target == "tag" else token.pos_ for token in doc]
        gold += gold_weights(example, target, gold_tags)
        best += tags
        sets += doc._.get(tag_set) or [[tag] for tag in tags]
    number: dict[str, int] = {}
    for tag in (tag for tags in (known, best, *gold, *sets) for tag in tags):
        number.setdefault(tag, len(number))
    weights, members = np.zeros((2, len(gold), len(number)))
    for token, (row, chosen) in enumerate(zip(gold, sets)):
        weights[token, [number[tag] for tag in row]] = list(row.values())
        members[token, [number[tag] for tag in chosen]] = 1
    return SetTable(normalise(weights), members.astype(bool), np.array([number[tag] for tag in best], dtype=np.intp))
