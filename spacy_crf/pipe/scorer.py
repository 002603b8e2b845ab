"""Scorers of the components."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from spacy.language import Language
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, SpanGroup, Token
from spacy.training import Example
from spacy.util import registry


@registry.scorers("spacy_crf.tagger_scorer.v1")
def make_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """Return the scorer of `crf_tagger` and the taggers that are compared with it, by their target."""
    return tagger_score


def tagger_score(examples: Iterable[Example], *, target: str, spans_key: str = "sc", **kwargs: Any) -> dict[str, Any]:
    """Accuracy of tokens, or precision, recall and F of spans.

    target (str): of the component: gives the keys tag_acc, pos_acc, {extension}_acc, ents_*, or spans_{key}_*.
    RETURNS (dict): these, and the headline of the target as "crf_score". Where a pipeline has several such components,
        "crf_score" is that of the last one: let [training.score_weights] name the keys of the targets instead.
    """
    if target == "ent":
        return _with_headline(get_ner_prf(examples), "ents_f")
    if target == "spans":
        scores = Scorer.score_spans(
            examples,
            f"spans_{spans_key}",
            getter=partial(_spans, key=spans_key),
            has_annotation=partial(_has_spans, key=spans_key),
            allow_overlap=True,
        )
        return _with_headline(scores, f"spans_{spans_key}_f")
    if target in ("tag", "pos"):
        return _with_headline(Scorer.score_token_attr(examples, target), f"{target}_acc")
    scores = Scorer.score_token_attr(examples, target, getter=_extension, missing_values={"", None})
    return _with_headline(scores, f"{target}_acc")


def target_scores(target: str, spans_key: str = "sc") -> tuple[str, ...]:
    """Names of what `tagger_score` measures for a target, apart from the headline."""
    prefixes = {"ent": "ents", "spans": f"spans_{spans_key}"}
    if target in prefixes:
        return tuple(f"{prefixes[target]}_{name}" for name in ("p", "r", "f", "per_type"))
    return (f"{target}_acc",)


def report_scores(nlp: Language | None, names: Iterable[str]) -> None:
    """Have scores told of a trained pipeline, in its meta data, beside those that have a weight.

    The default weights of a factory cannot depend on settings, and what they name without being measured is told as 0.
    """
    if nlp is not None:
        weights = nlp.config["training"]["score_weights"]
        weights.update((name, None) for name in names if name not in weights)


def _with_headline(scores: dict[str, Any], key: str) -> dict[str, Any]:
    return {**scores, "crf_score": scores.get(key)}


def _extension(token: Token, name: str) -> Any:
    return token._.get(name)


def _spans(doc: Doc, _: str, key: str) -> SpanGroup | list[Any]:
    """Spans of a group, for any name that the scorer gives them."""
    return doc.spans.get(key, [])


def _has_spans(doc: Doc, key: str) -> bool:
    return key in doc.spans
