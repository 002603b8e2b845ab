"""Scorer of components that decode under constraints: tokens, documents, fields, segments, and what was proved.

The measures are those of Cecchini & Fersini (2014), section 4.1, each under its own name: their "micro-average" is
`weighted_f`; the true micro-average of one label a token is the accuracy.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from spacy.training import Example
from spacy.util import registry

from ..annotation.span_targets import target_of
from ..annotation.target import Target
from ..annotation.white_space import is_white_space
from ..core.arrays import Ints
from ..core.labels import OUTSIDE, UNKNOWN, TagSet
from ..core.scores import count_confusions
from ..pipe.block import SPAN_TARGETS
from ..pipe.scorer import SpanCounts, span_scores, tagger_score, target_scores

SEGMENTS = tuple(f"segments_{name}" for name in ("p", "r", "f", "per_type"))
MEANS = tuple(f"{mean}_{name}" for mean in ("macro", "weighted") for name in "prf")


@registry.scorers("spacy_crf.constrained_ner_scorer.v1")
def make_constrained_ner_scorer() -> Callable[..., dict[str, Any]]:
    """Construct the scorer of `constrained_ner` and `constraint_decoder`."""
    return constrained_ner_score


def constrained_ner_score(
    examples: Iterable[Example], *, target: str, spans_key: str, info: str, labels: Iterable[str] = (), **kwargs: Any
) -> dict[str, Any]:
    """Measures of labels against gold; tokens without gold are left out.

    target (str), spans_key (str), labels (Iterable[str]): of the component. info (str): where Docs tell how they were
        decoded.
    RETURNS (dict): tok_acc: share of tokens with the right label, O among them. whole_doc_acc: share of Docs with every
        token and every segment right. macro_p, macro_r, macro_f: mean precision, recall and F1 of tokens over all
        labels but O, 0 for one that is never right. weighted_p, weighted_r, weighted_f: the same means weighted by the
        gold tokens of each label. confusions: tokens by gold label and, within it, by predicted label, O among them.
        segments_p, segments_r, segments_f, segments_per_type: of segments with the right boundaries and label; for
        entities also as ents_p and so on, for spans as spans_KEY_p and so on, as spaCy calls them. certified: share of
        Docs whose labels are proved to be the best under the constraints. violations, violations_before: of constraints
        per Doc, by the labels and by those of Viterbi; a constraint that was relaxed counts once among the first.
    """
    examples, where, labels = list(examples), target_of(target, spans_key), set(labels)
    names, pairs = field_labels(examples, target, spans_key, labels)
    known = [(gold, own, eg) for (gold, own), eg in zip(pairs, examples) if (gold != UNKNOWN).any()]
    scores: dict[str, Any] = dict.fromkeys(("tok_acc", "whole_doc_acc", *MEANS, "confusions"))
    if known:
        gold, own = (np.concatenate([one[side] for one in known]) for side in (0, 1))
        gold, own = gold[gold != UNKNOWN], own[gold != UNKNOWN]
        told = (*names, "")  # UNKNOWN is the last one
        counts = Counter((names[right], told[found]) for right, found in zip(gold.tolist(), own.tolist()))
        rows = {name: {other: counts[name, other] for other in told if counts[name, other]} for name in names}
        scores |= token_scores(counts, labels) | {"confusions": {name: row for name, row in rows.items() if row}}
        scores["whole_doc_acc"] = float(np.mean([_is_whole(*one, where) for one in known]))
    tags = TagSet(names, "none")
    return {**scores, **_segment_scores(examples, pairs, target, spans_key, tags), **_proofs(examples, info)}


def field_labels(
    examples: Sequence[Example], target: str, spans_key: str, labels: Iterable[str] = ()
) -> tuple[tuple[str, ...], list[tuple[Ints, Ints]]]:
    """The gold and predicted labels of the tokens of each Doc, UNKNOWN without gold, and what these numbers stand for.

    target (str), spans_key (str), labels (Iterable[str]): of the component. O, for outside, comes first.
    """
    where = target_of(target, spans_key)
    found = where.labels(doc for eg in examples for doc in (eg.reference, eg.predicted))
    tags = TagSet(tuple(dict.fromkeys([OUTSIDE, *labels, *found])), "none")
    pairs = [(where.gold(eg, tags), where.gold(_itself(eg), tags)) for eg in examples]
    for (gold, own), eg in zip(pairs, examples):  # white space that was left out has no gold
        gold[(own == UNKNOWN) & is_white_space(eg.predicted)] = UNKNOWN
    return tags.tags, pairs


def _is_whole(gold: Ints, own: Ints, example: Example, where: Target) -> bool:
    """Whether all tokens with gold are right and, where spans of one label may touch, the spans as well."""
    if (gold != own)[gold != UNKNOWN].any():
        return False
    if not where.is_spans or (gold == UNKNOWN).any():
        return True
    bio = TagSet.of_spans(tuple(where.labels([example.reference, example.predicted])), "BIO")
    return bool((where.gold(example, bio) == where.gold(_itself(example), bio)).all())


def _itself(example: Example) -> Example:
    return Example(example.predicted, example.predicted)


def token_scores(counts: Counter[tuple[str, str]], labels: Iterable[str]) -> dict[str, float | None]:
    """Make `tok_acc` and the means over labels of tokens, counted by gold and predicted label ("" for none).

    labels (Iterable[str]): that the component knows, beside those that occur.
    """
    if not counts:
        return {}
    names = sorted({*labels, *(label for pair in counts for label in pair)} - {OUTSIDE, ""})
    by_label = count_confusions(counts, names)
    weights = np.ones(len(names), dtype=np.bool_), by_label.gold
    means = [value for one in weights for value in (by_label.means(one) if one.any() else [None] * 3)]
    n_right = sum(count for (right, found), count in counts.items() if right == found)
    return {"tok_acc": n_right / counts.total(), **dict(zip(MEANS, means))}


def _segment_scores(
    examples: Sequence[Example], pairs: Sequence[tuple[Ints, Ints]], target: str, spans_key: str, tags: TagSet
) -> dict[str, Any]:
    """Of spans as spaCy scores them; those of tokens are maximal runs. None where there is nothing to judge."""
    if target in SPAN_TARGETS:
        found, names = tagger_score(examples, target=target, spans_key=spans_key), target_scores(target, spans_key)
        values = [found.get(name) for name in names]
        return {**dict(zip(SEGMENTS, values)), **dict(zip(names, values))}
    counts = sum((count_segments(gold, own, tags) for gold, own in pairs), Counter())
    return span_scores(counts, "segments") if counts else dict.fromkeys(SEGMENTS)


def count_segments(gold: Ints, own: Ints, tags: TagSet) -> SpanCounts:
    """Count the runs of one label ((n,)) that are right, only predicted and only gold."""
    right, found = _runs(gold, gold, tags), _runs(own, gold, tags)
    kinds = {"tp": right & found, "fp": found - right, "fn": right - found}
    return Counter((label, kind) for kind, runs in kinds.items() for _, _, label in runs)


def _runs(labels: Ints, gold: Ints, tags: TagSet) -> set[tuple[int, int, str]]:
    """Maximal runs of one label, without those that have, or lie beside, a token whose gold is unknown."""
    starts, ends, found = tags.spans(labels, np.array([len(labels)]))
    runs = zip(starts.tolist(), ends.tolist(), found.tolist())
    unknown = gold == UNKNOWN
    judged = (run for run in runs if run[2] != UNKNOWN and not unknown[max(0, run[0] - 1) : run[1] + 1].any())
    return {(start, end, tags.tags[tag]) for start, end, tag in judged}


def _proofs(examples: Sequence[Example], info: str) -> dict[str, float | None]:
    """What the Docs tell of how they were decoded; None where none of them tells."""
    asked = (eg.predicted._.get(info) for eg in examples if eg.predicted.has_extension(info))
    told = [one for one in asked if one is not None]
    measures: dict[str, Callable[[Any], float]] = {
        "certified": lambda one: one["certified"],
        "violations": lambda one: sum(one["violated"].values()) + len(one["relaxed"]),
        "violations_before": lambda one: sum(one["viterbi_violated"].values()),
    }
    return {name: float(np.mean(list(map(of, told)))) if told else None for name, of in measures.items()}
