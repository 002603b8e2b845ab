"""Facts about tokens that constraints ask for."""

import numpy as np
import pytest
import spacy
from spacy.attrs import ORTH
from spacy.tokens import Doc, Token

from spacy_crf.constraints.block import MARKS
from spacy_crf.constraints.token_predicates import BUILT_IN, TokenPredicates, surfaces

WORDS = ["Lund", ",", "ropes", "1999", "12", "(", "]", "–", '"', ":", ";", ".", "The", "the", " ", "5a"]
HOLDS = {
    "punctuation": {",", "(", "]", "–", '"', ":", ";", "."},
    "comma": {","},
    "period": {"."},
    "colon": {":"},
    "semicolon": {";"},
    "dash": {"–"},
    "quote": {'"'},
    "opening": {"("},
    "closing": {"]"},
    "word": {"Lund", "ropes", "1999", "12", "The", "the", "5a"},
    "number": {"1999", "12"},
    "year": {"1999"},
    "capitalised": {"Lund", "The"},
}


@pytest.fixture
def doc() -> Doc:
    return Doc(spacy.blank("xx").vocab, words=WORDS)


def test_built_in_predicates(doc: Doc) -> None:
    assert set(HOLDS) == set(BUILT_IN) and set(MARKS) < set(BUILT_IN)
    found = TokenPredicates({}, "x").read([doc], doc.to_array(ORTH), doc.vocab, list(HOLDS))
    for name, expected in HOLDS.items():
        assert {word for word, holds in zip(WORDS, found[name]) if holds} == expected, name


def test_predicates_of_words_and_custom_attributes(doc: Doc) -> None:
    Token.set_extension("crf_test_fact", default=False, force=True)
    doc[2]._.crf_test_fact = 1
    reader = TokenPredicates({"article": ["THE"], "marked": "_.crf_test_fact", "comma": ["lund"]}, "x")
    docs = [doc, Doc(doc.vocab), Doc(doc.vocab, words=["the"])]
    orths = np.concatenate([each.to_array(ORTH) for each in docs])
    found = reader.read(docs, orths, doc.vocab, ["article", "marked", "comma"])
    assert np.flatnonzero(found["article"]).tolist() == [12, 13, 16]
    assert np.flatnonzero(found["marked"]).tolist() == [2]
    assert np.flatnonzero(found["comma"]).tolist() == [0]  # own ones take the place of built-in ones
    assert list(found) == ["article", "comma", "marked"] and all(len(values) == 17 for values in found.values())
    Token.remove_extension("crf_test_fact")
    with pytest.raises(ValueError, match="CRF445.*crf_test_fact"):
        reader.read(docs, orths, doc.vocab, ["marked"])


def test_gaps_without_a_mark(doc: Doc) -> None:
    found = TokenPredicates({}, "x").read([doc], doc.to_array(ORTH), doc.vocab, ["unmarked"])["unmarked"]
    assert [WORDS[place] for place in np.flatnonzero(found[1:]) + 1] == ["1999", "12", "the", " ", "5a"]
    own = TokenPredicates({"unmarked": ["the"]}, "x").read([doc], doc.to_array(ORTH), doc.vocab, ["unmarked"])
    assert np.flatnonzero(own["unmarked"]).tolist() == [12, 13]


@pytest.mark.parametrize("what", ["word", "_.", [], [1], 3])
def test_what_is_no_predicate(what: object) -> None:
    with pytest.raises(ValueError, match="CRF444.*odd"):
        TokenPredicates({"odd": what}, "x")  # type: ignore[dict-item]


def test_surfaces(doc: Doc) -> None:
    found = surfaces(doc.to_array(ORTH), doc.vocab).tolist()
    assert found[12] == found[13] and found[1] == found[14] == -1
    assert len(set(found) - {-1}) == 6
    assert surfaces(np.zeros(0, dtype=np.uint64), doc.vocab).tolist() == []


def test_the_gap_before_a_document_has_no_mark() -> None:
    vocab = spacy.blank("xx").vocab
    docs = [Doc(vocab, words=words) for words in (["x", "."], [], ["u", "v", ",", "w"])]
    orths = np.concatenate([each.to_array(ORTH) for each in docs])
    found = TokenPredicates({}, "x").read(docs, orths, vocab, ["unmarked"])["unmarked"]
    assert found.tolist() == [True, False, True, True, False, False]
