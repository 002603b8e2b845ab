"""Measures of fields: of the labels of tokens, of runs of one label, and of whole documents."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.arrays import Bools, Doubles, Indices
from ..core.scores import LabelCounts, Labels, Scores, count_labels
from .statistics import Tally

NOTE = "NOTE"  # the field that annotators disagree about most, which papers leave out of some means
WORDS = "_words"  # behind the names of measures of all tokens but punctuation marks


class LabelledToken(NamedTuple):
    """A token with its gold label, None where there is none, its predicted label, and whether it is no mere mark."""

    gold: str | None
    predicted: str
    is_word: bool


def count_pairs(document: Sequence[LabelledToken]) -> Counter[tuple[str, str]]:
    """Count the tokens with gold by gold and predicted label."""
    return Counter((token.gold, token.predicted) for token in document if token.gold is not None)


def score_fields(documents: Iterable[Sequence[LabelledToken]], prefix: str) -> dict[str, float]:
    """Measure all tokens, and those that are not punctuation marks; tokens without gold count for nothing.

    The figures of Cecchini & Fersini, section 4.1, each under a name that says what it is: see `core.scores`.

    prefix (str): of the names.
    RETURNS (dict[str, float]): `{prefix}_micro_f` (of tokens: accuracy), `_macro_p`, `_macro_r` and `_macro_f` over the
        labels that occur, `_macro_f_without_NOTE` if this is one of them, `_weighted_p`, `_weighted_r` and
        `_weighted_f` by support, `_segment_f` (micro, segments are runs of one label) and `_whole` (share of documents
        with every token right), and the same with "_words". Empty where no token has gold.
    """
    return dict(tally_fields(documents, prefix).total())


def tally_fields(documents: Iterable[Sequence[LabelledToken]], prefix: str) -> Tally:
    """Count what `score_fields` measures, document by document."""
    known = [[token for token in document if token.gold is not None] for document in documents]
    labels = sorted({label for document in known for token in document for label in (str(token.gold), token.predicted)})
    number = {label: index for index, label in enumerate(labels)}
    rows = [_count(document, number) for document in known]
    # right, predicted and gold, by label, of tokens and of segments; right documents, and all of them
    width = 2 * 3 * len(labels) + 2
    counts = np.array(rows, dtype=np.float64).reshape(len(known), 2 * width)  # of all tokens, and of words
    return Tally(counts, partial(_scores, labels=tuple(labels), prefix=prefix))


def _count(document: Sequence[LabelledToken], number: Mapping[str, int]) -> Indices:
    """((K,)): counts of tokens, of segments and of whole documents, of all tokens and of those that are words."""
    gold = np.array([number[str(token.gold)] for token in document], dtype=np.intp)
    predicted = np.array([number[token.predicted] for token in document], dtype=np.intp)
    words = np.array([token.is_word for token in document], dtype=np.bool_)
    parts: list[Indices] = []
    for chosen in (np.ones(len(document), dtype=np.bool_), words):
        pair = gold[chosen], predicted[chosen]
        for counts in (token_counts(*pair, len(number)), segment_counts(*pair, len(number))):
            parts += [counts.right, counts.predicted, counts.gold]
        parts.append(np.array([chosen.any() and np.array_equal(*pair), chosen.any()], dtype=np.intp))
    return np.concatenate(parts)


def _scores(sums: Doubles, labels: Sequence[str], prefix: str) -> dict[str, float]:
    """Make scores of sums of `_count`."""
    scores: dict[str, float] = {}
    for suffix, own in zip(("", WORDS), np.split(sums, 2)):
        if own[-1]:
            found = _by_name(own, labels)
            scores |= {f"{prefix}_{name}{suffix}": value for name, value in found.items()}
    return scores


def _by_name(sums: Doubles, labels: Sequence[str]) -> dict[str, float]:
    by_label, (right, total) = sums[:-2].reshape(2, 3, len(labels)).astype(np.intp), sums[-2:].tolist()
    tokens, segments = (LabelCounts(*counts) for counts in by_label)
    scores = {"micro_f": tokens.micro_f, **_named("macro", tokens.macro()), **_named("weighted", tokens.weighted)}
    if NOTE in labels:
        scores[f"macro_f_without_{NOTE}"] = tokens.macro(np.array(labels) != NOTE).f
    return {**scores, "segment_f": segments.micro_f, "whole": right / total}


def _named(mean: str, scores: Scores) -> dict[str, float]:
    return {f"{mean}_p": scores.precision, f"{mean}_r": scores.recall, f"{mean}_f": scores.f}


def token_counts(gold: Labels, predicted: Labels, n_labels: int) -> LabelCounts:
    """Count the tokens of a document by label. O(N + L)."""
    return count_labels(gold[gold == predicted], predicted, gold, n_labels)


def segment_counts(gold: Labels, predicted: Labels, n_labels: int) -> LabelCounts:
    """Count the maximal runs of one label; one is right where both have a run with its borders and label. O(N + L)."""
    gold_starts, predicted_starts = _starts(gold), _starts(predicted)
    shared = np.flatnonzero(gold_starts & predicted_starts & (gold == predicted))
    ends = [_ends(starts)[shared] for starts in (gold_starts, predicted_starts)]
    right = gold[shared[ends[0] == ends[1]]]
    return count_labels(right, predicted[predicted_starts], gold[gold_starts], n_labels)


def _starts(labels: Labels) -> Bools:
    """Tell ((N,)) which tokens begin a segment."""
    return np.append(True, labels[1:] != labels[:-1])[: len(labels)]


def _ends(starts: Bools) -> Indices:
    """Return ((N,)) the token behind the segment of each token."""
    borders = np.flatnonzero(np.append(starts, True))
    return np.repeat(borders[1:], np.diff(borders))
