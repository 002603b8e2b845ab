"""What is written to Docs, and what is left alone."""

import numpy as np
import pytest
import spacy
from helpers.tagged import EXTENSION, build, fit, make_examples, read_target, train
from spacy.language import Language
from spacy.tokens import Doc, Span


def two_docs(overwrite: bool, target: str, **config: object) -> tuple[Language, Doc, Doc]:
    """A trained pipeline, a Doc of the corpus without annotation, and its gold."""
    nlp = train(target=target, overwrite=overwrite, **config)
    example = make_examples(nlp)[0]
    return nlp, example.predicted, example.reference


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("target, value", [("tag", "ZZ"), ("pos", "X"), (EXTENSION, "mine")])
def test_tokens_keep_what_they_have_unless_overwritten(target: str, value: str, overwrite: bool) -> None:
    nlp, doc, gold = two_docs(overwrite, target)
    if target == EXTENSION:
        doc[1]._.set(EXTENSION, value)
    else:
        setattr(doc[1], f"{target}_", value)
    doc = nlp(doc)
    read = (lambda token: token._.get(target)) if target == EXTENSION else (lambda token: getattr(token, f"{target}_"))
    expected = [read(token) for token in gold]
    if not overwrite:
        expected[1] = value
    assert [read(token) for token in doc] == expected


def entities(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_entities_that_are_there_stay_and_new_ones_do_not_touch_them() -> None:
    nlp, doc, _ = two_docs(False, "ent")
    doc.set_ents([Span(doc, 3, 5, label="EVENT", kb_id="Q1")])
    doc = nlp(doc)
    assert entities(doc) == [("Ada", "PER"), ("Bo", "PER"), ("in New", "EVENT")]
    assert doc.ents[2].kb_id_ == "Q1"
    assert all(token.ent_iob_ in "BIO" and token.ent_iob for token in doc)


def test_overwrite_replaces_entities() -> None:
    nlp, doc, gold = two_docs(True, "ent")
    doc.set_ents([Span(doc, 3, 5, label="EVENT")])
    assert entities(nlp(doc)) == entities(gold)


def test_blocked_tokens_stay_blocked() -> None:
    nlp, doc, _ = two_docs(False, "ent")
    doc.set_ents([], blocked=[doc[0:1]], default="missing")
    doc = nlp(doc)
    assert entities(doc) == [("Bo", "PER"), ("New Delft", "LOC")]
    assert (doc[0].ent_iob, doc[0].ent_type_) == (3, "")


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_span_group_is_replaced_only_on_demand(overwrite: bool) -> None:
    nlp, doc, gold = two_docs(overwrite, "spans")
    doc.spans["sc"] = [Span(doc, 3, 4, label="MINE")]
    doc.spans["others"] = [Span(doc, 1, 2, label="MINE")]
    doc = nlp(doc)
    mine = [(3, 4, "MINE")]
    expected = [(span.start, span.end, span.label_) for span in gold.spans["sc"]] if overwrite else mine
    assert [(span.start, span.end, span.label_) for span in doc.spans["sc"]] == expected
    assert len(doc.spans["others"]) == 1


def test_text_and_other_annotation_stay_as_they_are() -> None:
    nlp, doc, _ = two_docs(True, "tag")
    doc = Doc(nlp.vocab, words=[t.text for t in doc], lemmas=list("abcdefg"), sent_starts=[1, 0, 0, 1, 0, 0, 0])
    before = doc.to_json()
    after = nlp(doc).to_json()
    for token in after["tokens"]:
        assert token.pop("tag")
    for token in before["tokens"]:
        token.pop("tag", None)
    assert after == before


def test_marginals_on_doc_and_tokens() -> None:
    nlp = train(target="tag", marginals="crf_test_marginals")
    doc = nlp(make_examples(nlp)[0].predicted)
    stored = doc._.crf_test_marginals
    assert tuple(stored["tags"]) == nlp.get_pipe("crf_tagger").labels
    assert np.shape(stored["values"]) == (len(doc), len(stored["tags"]))
    assert np.sum(stored["values"], axis=1) == pytest.approx(np.ones(len(doc)), abs=1e-5)
    for token in doc:
        probabilities = token._.crf_test_marginals
        assert max(probabilities, key=probabilities.get) == token.tag_
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again[2]._.crf_test_marginals == pytest.approx(doc[2]._.crf_test_marginals)
    assert nlp.make_doc("none")[0]._.crf_test_marginals is None
    for owner in (Doc, spacy.tokens.Token):
        owner.remove_extension("crf_test_marginals")


def test_the_analysis_of_the_pipeline_knows_what_may_be_assigned() -> None:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger")
    assigned = nlp.analyze_pipes()["summary"]["crf_tagger"]["assigns"]
    assert {"token.tag", "token.pos", "doc.ents", "doc.spans"} <= set(assigned)


@pytest.mark.parametrize("setting, value", [("threshold", 0.5), ("scores", "crf_test_scores")])
def test_settings_for_spans_are_refused_for_tokens(setting: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"CRF408.*{setting}"):
        spacy.blank("xx").add_pipe("crf_tagger", config={"target": "tag", setting: value})


@pytest.mark.parametrize("target", ["ent", "spans"])
def test_spans_whose_tags_are_their_labels(target: str) -> None:
    nlp, doc, gold = two_docs(True, target, scheme="none")
    assert nlp.get_pipe("crf_tagger").labels == ("O", "LOC", "PER")
    assert read_target(nlp(doc), target) == read_target(gold, target) != []


def test_tokens_that_carry_a_scheme_are_kept_legal() -> None:
    nlp = build(target="tag", scheme="BIO")
    pipe = nlp.get_pipe("crf_tagger")
    examples = make_examples(nlp)
    names = [[f"{t.ent_iob_}-{t.ent_type_}".rstrip("-") for t in example.reference] for example in examples]
    for example, tags in zip(examples, names):
        for token, tag in zip(example.reference, tags):
            token.tag_ = tag
    fit(nlp, examples)
    assert [token.tag_ for token in nlp(examples[0].predicted)] == names[0]
    assert not pipe.model.attrs["layout"].allowed[pipe.tags.number["O"], pipe.tags.number["I-PER"]]
