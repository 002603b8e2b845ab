"""Scores of components that decode under constraints, against counts by hand."""

from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.constraints.scorer import constrained_ner_score

SETTINGS: dict[str, Any] = {"spans_key": "sc", "info": "crf_test_info"}
LABELS = ["A", "B", "C"]


def example(gold: str, own: str, target: str = "ent", missing: int | None = None) -> Example:
    """Strings of one label a token; "-" is outside, and "|" before a token starts a new span."""
    vocab = spacy.blank("xx").vocab
    docs = []
    for side in (gold, own):
        labels = side.replace("|", "")
        doc = Doc(vocab, words=["w"] * len(labels))
        if target == "tag":
            for token, label in zip(doc, labels):
                token.tag_ = label
        else:
            spans = spans_of(doc, side)
            doc.spans["sc"] = spans
            doc.set_ents(spans, default="outside")
        docs.append(doc)
    if missing is not None:
        docs[0].set_ents(spans_of(docs[0], gold), missing=[docs[0][missing : missing + 1]], default="outside")
    return Example(docs[1], docs[0])


def spans_of(doc: Doc, side: str) -> list[Span]:
    found: list[list[Any]] = []
    place, opens = 0, True
    for mark in side:
        if mark == "|":
            opens = True
            continue
        if mark != "-":
            if opens or not found or found[-1][2] != mark or found[-1][1] != place:
                found.append([place, place, mark])
            found[-1][1] = place + 1
        place, opens = place + 1, False
    return [Span(doc, start, end, label=label) for start, end, label in found]


@pytest.mark.parametrize("target", ["ent", "spans", "tag"])
def test_measures_by_hand(target: str) -> None:
    examples = [example("AABBB", "AABBB", target), example("AAB", "ABB", target)]
    scores = constrained_ner_score(examples, target=target, labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == pytest.approx(7 / 8)
    assert scores["whole_doc_acc"] == 0.5
    # A: 3 of 4 found and no other; B: 4 found of 4, and one more; C never
    assert scores["macro_f"] == pytest.approx((2 * 3 / 7 + 2 * 4 / 9 + 0) / 3)
    assert scores["weighted_f"] == pytest.approx((4 * 2 * 3 / 7 + 4 * 2 * 4 / 9) / 8)
    assert (scores["ents_p"], scores["ents_r"], scores["ents_f"]) == (0.5, 0.5, 0.5)
    assert scores["ents_per_type"]["A"]["f"] == 0.5
    assert scores["certified"] is None and scores["violations"] is None


def test_outside_counts_as_a_label_of_tokens_but_not_of_fields() -> None:
    scores = constrained_ner_score([example("A--B", "A-BB")], target="ent", labels=["O", "A", "B"], **SETTINGS)
    assert scores["tok_acc"] == 0.75
    assert scores["macro_f"] == pytest.approx((1 + 2 / 3) / 2)


def test_a_document_is_not_right_where_spans_that_touch_are_one() -> None:
    scores = constrained_ner_score([example("AA|AB", "AAAB")], target="ent", labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == 1 and scores["whole_doc_acc"] == 0


def test_tokens_without_gold_do_not_count() -> None:
    scores = constrained_ner_score([example("A--", "AAB", missing=1)], target="ent", labels=LABELS, **SETTINGS)
    assert scores["tok_acc"] == 0.5
    assert constrained_ner_score([], target="ent", labels=LABELS, **SETTINGS)["tok_acc"] is None


def test_what_documents_tell_of_their_decoding() -> None:
    Doc.set_extension("crf_test_info", default=None, force=True)
    examples = [example("A", "A"), example("B", "B"), example("A", "A")]
    for eg, certified in zip(examples, (True, False)):
        broken = {"violated": {"x": 1}, "viterbi_violated": {"x": 2, "y": 3}}
        eg.predicted._.crf_test_info = {"certified": certified, **broken}
    scores = constrained_ner_score(examples, target="ent", labels=LABELS, **SETTINGS)
    assert (scores["certified"], scores["violations"], scores["violations_before"]) == (0.5, 1, 5)
    Doc.remove_extension("crf_test_info")
