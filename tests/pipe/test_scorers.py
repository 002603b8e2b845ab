"""Scores against a count by hand."""

import pytest
import spacy
from helpers.tagged import EXTENSION, build, make_examples, train
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_crf.annotation.extensions import register_stored, write_known
from spacy_crf.pipe.scorer import make_tagger_scorer, tagger_score


def example(target: str) -> Example:
    """Four tokens, of which one has no gold and two of the others are right; or two gold spans, one found of three."""
    vocab = spacy.blank("xx").vocab
    gold, guess = (Doc(vocab, words=["a", "b", "c", "d"]) for _ in range(2))
    values = (["X", "NOUN", "NOUN", ""], ["X", "NOUN", "VERB", "VERB"])
    for doc, names in zip((gold, guess), values):
        for token, name in zip(doc, names):
            if target == EXTENSION:
                token._.set(EXTENSION, name)
            elif target in ("tag", "pos"):
                setattr(token, f"{target}_", name)
    places = ([(0, 1, "A"), (1, 3, "B")], [(0, 1, "A"), (1, 2, "B"), (2, 3, "B")])
    for doc, spans in zip((gold, guess), places):
        found = [Span(doc, start, end, label=label) for start, end, label in spans]
        if target == "ent":
            doc.set_ents(found)
        if target == "spans":
            doc.spans["np"] = found
    return Example(guess, gold)


@pytest.mark.parametrize("target, key", [("tag", "tag_acc"), ("pos", "pos_acc"), (EXTENSION, f"{EXTENSION}_acc")])
def test_accuracy_of_tokens(target: str, key: str) -> None:
    scores = tagger_score([example(target)], target=target, spans_key="np")
    assert scores[key] == scores["crf_score"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("target, prefix", [("ent", "ents"), ("spans", "spans_np")])
def test_precision_and_recall_of_spans(target: str, prefix: str) -> None:
    scores = tagger_score([example(target)], target=target, spans_key="np")
    assert scores[f"{prefix}_p"] == pytest.approx(1 / 3)
    assert scores[f"{prefix}_r"] == pytest.approx(1 / 2)
    assert scores[f"{prefix}_f"] == scores["crf_score"] == pytest.approx(2 / 5)
    assert set(scores[f"{prefix}_per_type"]) == {"A", "B"}


@pytest.mark.parametrize("target", ["tag", "pos", "ent", "spans", EXTENSION])
def test_data_without_annotation_have_no_score(target: str) -> None:
    doc = Doc(spacy.blank("xx").vocab, words=["a", "b"])
    scores = tagger_score([Example(doc.copy(), doc)], target=target, spans_key="np")
    assert scores["crf_score"] is None


def test_the_component_passes_its_settings_and_can_do_without_a_scorer() -> None:
    nlp = train(target="spans", spans_key="sc")
    assert nlp.evaluate(make_examples(nlp))["spans_sc_f"] == 1.0
    silent = build(scorer=None)
    silent.initialize(lambda: make_examples(silent))
    assert "crf_score" not in silent.evaluate(make_examples(silent))
    assert make_tagger_scorer() is tagger_score


@pytest.mark.parametrize("values", [[True, False], [3, 7]])
def test_values_that_are_no_texts_are_compared_as_labels(values: list) -> None:
    vocab = spacy.blank("xx").vocab
    gold, guess = (Doc(vocab, words=["a", "b", "c"]) for _ in range(2))
    for doc, given in ((gold, [*values, None]), (guess, [str(values[0]), str(values[0]), str(values[1])])):
        for token, value in zip(doc, given):
            token._.set(EXTENSION, value)
    assert tagger_score([Example(guess, gold)], target=EXTENSION)["crf_score"] == 0.5


def test_spans_are_not_judged_where_gold_is_unknown() -> None:
    vocab = spacy.blank("xx").vocab
    gold, guess = (Doc(vocab, words=["a", "b", "c", "d", "e", "f"]) for _ in range(2))
    gold.spans["np"] = [Span(gold, 0, 1, label="A"), Span(gold, 3, 4, label="A")]
    register_stored("crf_partial_spans_np")
    write_known(gold, "crf_partial_spans_np", ["B-A", "O", "O", "B-A", "", "B-A"])
    # the second gold span may go on, as may that which is found for it, and nobody knows of "e"
    guess.spans["np"] = [Span(guess, 0, 1, label="A"), Span(guess, 3, 4, label="A"), Span(guess, 4, 5, label="A")]
    scores = tagger_score([Example(guess, gold)], target="spans", spans_key="np")
    assert (scores["spans_np_p"], scores["spans_np_r"]) == (1, 1)
    guess.spans["np"] = [Span(guess, 1, 2, label="A")]
    scores = tagger_score([Example(guess, gold)], target="spans", spans_key="np")
    assert (scores["spans_np_p"], scores["spans_np_r"]) == (0, 0)


def test_labels_that_gold_cannot_judge_are_not_told() -> None:
    one = example("ent")
    one.reference.set_ents([Span(one.reference, 0, 1, label="A")], missing=[one.reference[1:3]])
    assert tagger_score([one], target="ent")["ents_per_type"] == {"A": {"p": 1.0, "r": 1.0, "f": 1.0}}
