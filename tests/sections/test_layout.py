"""Layouts become Docs whose tokens end where units end, and Docs carry them."""

import pytest
import spacy
from helpers.layouts import RUNS, TEXTS
from hypothesis import given
from spacy.tokens import Doc

from spacy_crf.sections.layout import LAYOUT, DocumentLayout, attach_layout, runs_of, to_doc, units_of
from spacy_crf.sections.segment import Kind

NLP = spacy.blank("nl")
ENCODABLE = TEXTS.map(lambda text: text.encode("utf8", "ignore").decode("utf8"))
SAFE_RUNS = RUNS.map(lambda runs: tuple((max(min(a, b), 0), max(a, b, 0), style) for a, b, style in runs))


@pytest.mark.promise
@given(ENCODABLE, SAFE_RUNS)
def test_a_doc_has_the_same_text_and_units(text, runs):
    layout = DocumentLayout(text, runs)
    doc = to_doc(NLP.vocab, layout)
    assert doc.text == text
    assert units_of(doc) == layout.units
    stored = Doc(NLP.vocab).from_bytes(doc.to_bytes())
    assert units_of(stored) == layout.units


@pytest.mark.promise
@given(ENCODABLE)
def test_units_do_not_split_tokens_of_other_tokenizers(text):
    doc = NLP(text)
    units = units_of(doc)
    starts = {token.idx for token in doc}
    assert all(unit.start in starts or unit.kind is Kind.NEWLINE or unit == units[0] for unit in units)
    covered = [i for unit in units for i in range(unit.start, unit.end)]
    assert len(covered) == len(set(covered))
    assert {i for i, character in enumerate(text) if not character.isspace()} <= set(covered)


def test_layouts_survive_other_processes():
    nlp = spacy.blank("en")
    docs = []
    for text in ("Title\n1. x", "b"):
        doc = nlp.make_doc(text)
        attach_layout(doc, [(0, 1, "bold")])
        docs.append(doc)
    nlp.add_pipe("sentencizer")
    assert [runs_of(doc) for doc in nlp.pipe(docs, n_process=2)] == [[(0, 1, "bold")]] * 2


def test_a_long_document_is_no_problem_for_the_limit_of_spacy():
    text = "word " * 250_000 + "\n1. End"
    assert len(text) > NLP.max_length
    doc = to_doc(NLP.vocab, DocumentLayout(text, name="long"))
    assert [str(unit.kind) for unit in units_of(doc)] == ["text", "number", "text"]


@pytest.mark.parametrize("run", [[0, 1], [2, 1, "bold"], ["0", 1, "bold"], [-1, 1, "bold"], 3])
def test_other_data_in_its_place_is_refused(run):
    doc = NLP("some text")
    doc.user_data[LAYOUT] = [run]
    with pytest.raises(ValueError, match=r"CRF951.*'some text'"):
        units_of(doc)
