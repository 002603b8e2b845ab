"""Scorers of the components."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from spacy.language import Language
from spacy.scorer import PRFScore
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import registry

from ..annotation.gold import aligned_tokens, partial_gold, partial_tags, same_tokens
from ..annotation.target import Place, token_target
from ..annotation.white_space import is_white_space
from ..core.errors import CRFWarning
from .block import SPAN_TARGETS
from .errors import PipeWarnings

KINDS = ("tp", "fp", "fn")
SpanCounts: TypeAlias = Counter[tuple[str, str]]
"""By label and kind."""


@registry.scorers("spacy_crf.tagger_scorer.v1")
def make_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Return the scorer of `crf_tagger` and the taggers that are compared with it, by their target."""
    return tagger_score


def tagger_score(examples: Iterable[Example], *, target: str, spans_key: str = "sc", **kwargs: Any) -> dict[str, Any]:
    """Accuracy of tokens, or precision, recall and F of spans; where gold is unknown, nothing is counted.

    target (str): of the component: gives the keys tag_acc, pos_acc, {extension}_acc, ents_*, or spans_{key}_*.
    RETURNS (dict): these, and the headline of the target as "crf_score". Where a pipeline has several such components,
        "crf_score" is that of the last one: let [training.score_weights] name the keys of the targets instead.
    """
    if target in SPAN_TARGETS:
        names = target_scores(target, spans_key)
        counts = sum((count_spans(example, target, spans_key) for example in examples), Counter())
        found = span_scores(counts, names[0].removesuffix("_p")) if counts else dict.fromkeys(names)
        return _with_headline(found, names[2])
    return _with_headline({f"{target}_acc": token_accuracy(examples, target)}, f"{target}_acc")


def token_accuracy(examples: Iterable[Example], target: str) -> float | None:
    """Share of tokens with gold that have the right label; F where tokens differ; None where there is nothing to judge.

    spaCy's scorer passes over predicted white space, but not over gold, so that its labels count as missed even where
    they are right. Here white space counts as words do, unless it was left out, without a label.
    """
    score = sum((count_tokens(example, target) for example in examples), PRFScore())
    return score.fscore if len(score) else None


def count_tokens(example: Example, target: str) -> PRFScore:
    """Count the tokens of an example that are right, only predicted and only gold; see `token_accuracy`."""
    score, where = PRFScore(), token_target(target)
    gold, own = (where.names(Example(doc, doc)) for doc in (example.reference, example.predicted))
    same, spaces = same_tokens(example), is_white_space(example.predicted).tolist()
    places = [[token] for token in range(len(own))] if same else aligned_tokens(example)
    right = {(token, label) for token, label in enumerate(gold) if label is not None}
    found = set[tuple[int, str | None]]()
    for place, label, is_space in zip(places, own, spaces):
        if len(place) != 1 or gold[place[0]] is None:
            continue
        if is_space and label is None:
            right.discard((place[0], gold[place[0]]))
        else:
            found.add((place[0], label))
    score.score_set(found, right)
    return score


def count_spans(example: Example, target: str, spans_key: str) -> SpanCounts:
    """Count spans by label and "tp", "fp" or "fn", as spaCy does; those on tokens whose gold is unknown are not judged,
    and a label that has no others is not told of."""
    gold, own = (_entities if target == "ent" else _grouped)(example, spans_key)
    found = Counter(own)
    kinds = {"tp": gold & found.keys(), "fn": gold - found.keys(), "fp": list((found - Counter(gold)).elements())}
    return Counter((label, kind) for kind, spans in kinds.items() for _, _, label in spans)


def _entities(example: Example, _: str) -> tuple[set[Place], list[Place]]:
    """Gold and predicted entities by tokens of the reference; two that are predicted may stand for one."""
    reference, own = example.reference, list[Place]()
    unknown = {token.i for token in reference if not token.ent_iob}
    for span in example.predicted.ents:
        tokens = example.alignment.x2y[span.start : span.end].tolist()
        if tokens and unknown.isdisjoint(range(tokens[0], tokens[-1] + 1)):
            own.append((tokens[0], tokens[-1] + 1, span.label_))
    return _places(reference.ents), own


def _grouped(example: Example, key: str) -> tuple[set[Place], set[Place]]:
    """Gold and predicted spans of a group by tokens of the reference; none where that lacks the group."""
    reference, predicted = example.reference, example.predicted
    if key not in reference.spans:
        return set(), set()
    gold = _known_spans(reference, key, partial_tags(reference, "spans", key))
    known = _known_spans(predicted, key, partial_gold(example, "spans", key))
    own = known if same_tokens(example) else example.get_aligned_spans_x2y(known, allow_overlap=True)
    return _places(gold), _places(own)


def _places(spans: Iterable[Span]) -> set[Place]:
    return {(span.start, span.end, span.label_) for span in spans}


def span_scores(counts: SpanCounts, prefix: str) -> dict[str, Any]:
    """Make precision, recall and F of all spans and of those of each label, of counts that may be sums."""
    by_label = {label: PRFScore(**{kind: counts[label, kind] for kind in KINDS}) for label, _ in counts}
    total = sum(by_label.values(), start=PRFScore())
    scores: dict[str, Any] = {f"{prefix}_{name}": value for name, value in total.to_dict().items()}
    return {**scores, f"{prefix}_per_type": {label: score.to_dict() for label, score in by_label.items()}}


def target_scores(target: str, spans_key: str = "sc") -> tuple[str, ...]:
    """Names of what `tagger_score` measures for a target, apart from the headline."""
    prefixes = {"ent": "ents", "spans": f"spans_{spans_key}"}
    if target in prefixes:
        return tuple(f"{prefixes[target]}_{name}" for name in ("p", "r", "f", "per_type"))
    return (f"{target}_acc",)


def report_scores(nlp: Language | None, name: str, scores: Iterable[str]) -> None:
    """Have scores of a component told of a trained pipeline, in its meta data, beside those that have a weight; and
    warn where one with a weight is that of one component alone: of this one, as an earlier one, which is trained too,
    has it by the same name, or of a later one that is not initialised, as it is frozen or taken from another pipeline.

    The default weights of a factory cannot depend on settings, and what they name without being measured is told as 0.
    """
    if nlp is None:
        return
    weights, known = nlp.config["training"]["score_weights"], nlp.component_names
    weights.update((score, None) for score in scores if score not in weights)
    own = [score for score in _chosen_by(nlp, name) if weights.get(score)] if name in known else []
    if not own:
        return
    place, frozen = known.index(name), nlp.config["training"]["frozen_components"]
    first_and_last = {other: (other, name) for other in known[:place] if other not in frozen}
    waiting = [other for other in known[place + 1 :] if other in frozen or other in nlp.disabled]
    first_and_last.update((other, (name, other)) for other in waiting)
    for other, (first, last) in first_and_last.items():
        if shared := [score for score in _chosen_by(nlp, other) if score in own]:
            message = PipeWarnings.CRFW419.format(name=last, other=first, scores=", ".join(shared))
            warnings.warn(message, CRFWarning, stacklevel=3)


def _chosen_by(nlp: Language, name: str) -> list[str]:
    """Scores by which models are chosen by default where there is but this component."""
    return [score for score, weight in (nlp.get_pipe_meta(name).default_score_weights or {}).items() if weight]


def _with_headline(scores: dict[str, Any], key: str) -> dict[str, Any]:
    return {**scores, "crf_score": scores.get(key)}


def _known_spans(doc: Doc, key: str, tags: Sequence[str] | None) -> list[Span]:
    """The spans that gold known in part can judge: none that have, or end before, an unknown token."""
    spans = doc.spans.get(key, [])
    return [span for span in spans if tags is None or "" not in tags[span.start : span.end + 1]]
