"""Scorers of the components."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.scorer import PRFScore, Scorer, get_ner_prf
from spacy.tokens import Span
from spacy.training import Example
from spacy.util import registry

from ..annotation.gold import aligned_tokens, partial_gold, partial_tags, same_tokens
from ..annotation.target import token_target
from ..annotation.white_space import is_white_space
from ..core.errors import CRFWarning
from .errors import PipeWarnings


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
    if target == "ent":
        return _with_headline(get_ner_prf(examples), "ents_f")
    if target == "spans":
        examples = list(examples)
        known = _known_spans(examples, spans_key)
        scores = Scorer.score_spans(
            examples,
            f"spans_{spans_key}",
            getter=lambda doc, _: known.get(id(doc), doc.spans.get(spans_key, [])),
            has_annotation=lambda doc: spans_key in doc.spans,
            allow_overlap=True,
        )
        return _with_headline(scores, f"spans_{spans_key}_f")
    return _with_headline({f"{target}_acc": token_accuracy(examples, target)}, f"{target}_acc")


def token_accuracy(examples: Iterable[Example], target: str) -> float | None:
    """Share of tokens with gold that have the right label; F where tokens differ; None where there is nothing to judge.

    spaCy's scorer passes over predicted white space, but not over gold, so that its labels count as missed even where
    they are right. Here white space counts as words do, unless it was left out, without a label.
    """
    score, where = PRFScore(), token_target(target)
    for example in examples:
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
    return score.fscore if len(score) else None


def target_scores(target: str, spans_key: str = "sc") -> tuple[str, ...]:
    """Names of what `tagger_score` measures for a target, apart from the headline."""
    prefixes = {"ent": "ents", "spans": f"spans_{spans_key}"}
    if target in prefixes:
        return tuple(f"{prefixes[target]}_{name}" for name in ("p", "r", "f", "per_type"))
    return (f"{target}_acc",)


def report_scores(nlp: Language | None, name: str, scores: Iterable[str]) -> None:
    """Have scores of a component told of a trained pipeline, in its meta data, beside those that have a weight; and
    warn where one with a weight is that of this component alone, as an earlier one, which is trained too, has it by the
    same name.

    The default weights of a factory cannot depend on settings, and what they name without being measured is told as 0.
    """
    if nlp is None:
        return
    weights, known = nlp.config["training"]["score_weights"], nlp.component_names
    weights.update((score, None) for score in scores if score not in weights)
    own = [score for score in _chosen_by(nlp, name) if weights.get(score)] if name in known else []
    frozen = nlp.config["training"]["frozen_components"]
    for other in (other for other in known[: known.index(name)] if other not in frozen) if own else ():
        if shared := [score for score in _chosen_by(nlp, other) if score in own]:
            message = PipeWarnings.CRFW419.format(name=name, other=other, scores=", ".join(shared))
            warnings.warn(message, CRFWarning, stacklevel=3)


def _chosen_by(nlp: Language, name: str) -> list[str]:
    """Scores by which models are chosen by default where there is but this component."""
    return [score for score, weight in (nlp.get_pipe_meta(name).default_score_weights or {}).items() if weight]


def _with_headline(scores: dict[str, Any], key: str) -> dict[str, Any]:
    return {**scores, "crf_score": scores.get(key)}


def _known_spans(examples: Iterable[Example], key: str) -> dict[int, list[Span]]:
    """Spans, by the ids of Docs, that gold known in part can judge: none that have, or end before, an unknown token."""
    chosen: dict[int, list[Span]] = {}
    for example in examples:
        sides = (partial_tags(example.reference, "spans", key), partial_gold(example, "spans", key))
        for doc, tags in zip((example.reference, example.predicted), sides):
            if tags is not None and "" in tags:
                chosen[id(doc)] = [span for span in doc.spans.get(key, []) if "" not in tags[span.start : span.end + 1]]
    return chosen
