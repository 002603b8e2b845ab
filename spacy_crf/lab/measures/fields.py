"""Measures of labels of tokens where a document is a sequence of fields, such as a bibliographic reference.

The figures of Cecchini & Fersini, section 4.1, each under a name that says what it is: see `core.measures.counts`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .sequences import LabelSequences

NOTE = "NOTE"  # the field that annotators disagree about most, which papers leave out of some means
WORDS = "_words"  # behind the names of measures of all tokens but punctuation marks


class LabelledToken(NamedTuple):
    """A token with its gold label, None where there is none, its predicted label, and whether it is no mere mark."""

    gold: str | None
    predicted: str
    is_word: bool


def score_fields(documents: Iterable[Sequence[LabelledToken]], prefix: str) -> dict[str, float]:
    """Measures of all tokens, and of those that are not punctuation marks; tokens without gold count for nothing.

    documents (Iterable[Sequence[LabelledToken]]): the tokens of each document. prefix (str): of the names.
    RETURNS (dict[str, float]): `{prefix}_micro_f` (of tokens: accuracy), `_macro_f` over the labels that occur,
        `_macro_f_without_NOTE` if this is one of them, `_weighted_f` by support, `_segment_f` (micro, segments are
        runs of one label) and `_whole` (share of documents with every token right), and the same with "_words". Empty
        where no token has gold.
    """
    known = [[token for token in document if token.gold is not None] for document in documents]
    tokens = [token for document in known for token in document]
    if not tokens:
        return {}
    labels = sorted({label for token in tokens for label in (str(token.gold), token.predicted)})
    number = {label: index for index, label in enumerate(labels)}
    gold = np.array([number[str(token.gold)] for token in tokens], dtype=np.intp)
    predicted = np.array([number[token.predicted] for token in tokens], dtype=np.intp)
    sequences = LabelSequences(gold, predicted, np.array([len(document) for document in known], dtype=np.intp))
    words = np.array([token.is_word for token in tokens], dtype=np.bool_)
    scores = _score(sequences, labels)
    if words.any():
        scores |= {f"{name}{WORDS}": value for name, value in _score(sequences.keep_units(words), labels).items()}
    return {f"{prefix}_{name}": value for name, value in scores.items()}


def _score(sequences: LabelSequences, labels: Sequence[str]) -> dict[str, float]:
    tokens, (right, total) = sequences.tokens(len(labels)), sequences.whole()
    scores = {"micro_f": tokens.micro_f, "macro_f": tokens.macro_f()}
    if NOTE in labels:
        scores[f"macro_f_without_{NOTE}"] = tokens.macro_f(np.array(labels) != NOTE)
    segments = sequences.segments(len(labels))
    return {**scores, "weighted_f": tokens.weighted_f, "segment_f": segments.micro_f, "whole": right / total}
