"""Results by the places of tokens, when a Doc gets other tokens: each token has its own, or it is refused."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.tagged import clean_docs, train
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Token

from spacy_crf.annotation.extensions import read_result, register_by_token, write_result
from spacy_crf.core.errors import CRFError, CRFWarning
from spacy_crf.punctuation.docs import register_punctuation, write_gold

NAME = "crf_test_result"
register_by_token(NAME)
VOCAB = spacy.blank("xx").vocab
WORDS = st.lists(st.sampled_from(["the", "old", "mill", "."]), min_size=1, max_size=8)


def blank_doc(words: list[str]) -> Doc:
    doc = Doc(VOCAB, words=words)
    doc._.set(NAME, [f"{token.i}:{token.text}" for token in doc])
    return doc


def own_results(doc: Doc) -> list[str | None]:
    """The result of each token; None where it is refused."""
    found: list[str | None] = []
    for token in doc:
        try:
            found.append(token._.get(NAME))
        except CRFError as error:
            assert error.code == "CRF528"
            found.append(None)
    return found


@settings(deadline=None)
@given(WORDS, st.data())
def test_tokens_that_stay_keep_their_results_and_new_ones_are_refused(words: list[str], data: st.DataObject) -> None:
    doc = blank_doc(words)
    by_place = {(token.idx, len(token)): token._.get(NAME) for token in doc}
    cuts = sorted(data.draw(st.sets(st.integers(0, len(words)), min_size=2, max_size=4)) if len(words) > 1 else [0, 1])
    with doc.retokenize() as retokenizer:
        for start, end in zip(cuts[::2], cuts[1::2]):
            retokenizer.merge(doc[start:end])
        for token in doc:
            if len(token) == 4 and not any(start <= token.i < end for start, end in zip(cuts[::2], cuts[1::2])):
                retokenizer.split(token, ["mi", "ll"], heads=[token, token])
    expected = [by_place.get((token.idx, len(token))) for token in doc]
    assert own_results(doc) == expected
    if None in expected:
        with pytest.raises(CRFError, match="CRF528.*crf_test_result"):
            doc._.get(NAME)
    else:
        assert doc._.get(NAME) == expected


def test_as_many_tokens_as_before_are_no_proof_that_they_are_the_same() -> None:
    doc = blank_doc(["the", "old", "mill", "."])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.split(doc[2], ["mi", "ll"], heads=[doc[2], doc[2]])
    assert own_results(doc) == [None, None, None, "3:."]


def test_parts_and_joined_docs_have_their_own_results_or_none() -> None:
    doc = blank_doc(["the", "the", "the", "mill"])
    assert own_results(doc[1:3].as_doc(copy_user_data=True)) == [None, None]
    with pytest.warns(UserWarning, match="W101"):
        joined = Doc.from_docs([doc, blank_doc(["old", "mill"])])
    assert own_results(joined) == [None] * 6
    assert own_results(doc.copy()) == own_results(doc)


@pytest.mark.parametrize(
    "through",
    [
        lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
        lambda doc: pickle.loads(pickle.dumps(doc)),
        lambda doc: next(iter(DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab))),
    ],
    ids=["bytes", "pickle", "DocBin"],
)
def test_which_tokens_they_were_is_stored(through: Callable[[Doc], Doc]) -> None:
    doc = through(blank_doc(["the", "old", "mill"]))
    assert own_results(doc) == ["0:the", "1:old", "2:mill"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert own_results(doc) == [None, "2:mill"]


def merged(nlp: Language, doc: Doc) -> Doc:
    """A Doc that the pipeline has processed, whose first two tokens were merged then."""
    doc = nlp(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    return doc


def test_probabilities_entropies_and_n_best_of_a_tagger() -> None:
    nlp = train(marginals="crf_test_probs", entropy="crf_test_entropy", n_best=2, n_best_key="crf_test_best")
    whole, doc = nlp(clean_docs(nlp)[0]), merged(nlp, clean_docs(nlp)[0])
    assert [token._.crf_test_probs for token in doc[1:]] == [token._.crf_test_probs for token in whole[2:]]
    for read in (
        lambda: doc[0]._.crf_test_probs,
        lambda: doc._.crf_test_probs,
        lambda: doc._.crf_test_entropy,
        lambda: doc._.crf_test_best,
    ):
        with pytest.raises(CRFError, match="CRF528"):
            read()


def test_marks_of_words() -> None:
    register_punctuation()
    doc = Doc(VOCAB, words=["New", "Delft", "is", "old"])
    write_gold(doc, ["", "COMMA", "", "PERIOD"])
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert [token._.punct_after for token in doc[1:]] == ["", "PERIOD"]
    with pytest.raises(CRFError, match=r"CRF528.*'New Delft'"):
        doc[0]._.punct_after  # noqa: B018


def test_results_can_be_read_where_nobody_has_registered_them() -> None:
    doc = blank_doc(["the", "mill"])
    write_result(doc, "crf_test_unknown", [1, 2])
    assert read_result(doc, "crf_test_unknown") == [1, 2] and read_result(doc, "crf_test_nothing") is None


@pytest.mark.parametrize(
    "setting, known",
    [
        ("marginals", {"default": None}),
        ("marginals", {"getter": lambda token: ""}),
        ("marginals", {"getter": lambda token: "", "setter": lambda token, value: None}),
        ("target", {"getter": lambda token: ""}),
    ],
)
def test_an_attribute_of_somebody_else_that_hides_what_is_told_is_named(setting: str, known: dict[str, Any]) -> None:
    name = "crf_test_own"
    Token.set_extension(name, **known)
    with pytest.warns(CRFWarning, match="CRFW529.*`token._.crf_test_own`"):
        spacy.blank("xx").add_pipe("crf_tagger", config={setting: name})
    Token.remove_extension(name)
    for _ in range(2):
        spacy.blank("xx").add_pipe("crf_tagger", config={setting: name})
    Token.remove_extension(name)
    if setting == "marginals":
        Doc.remove_extension(name)


def test_what_only_shows_results_refuses_to_be_assigned() -> None:
    """spaCy keeps a value that is assigned to what has no setter, and goes on to show the computed one."""
    nlp = train(marginals="crf_test_probs")
    doc = nlp(clean_docs(nlp)[0])
    before = doc[0]._.crf_test_probs
    with pytest.raises(CRFError, match=r"CRF556.*`token\._\.crf_test_probs`"):
        doc[0]._.crf_test_probs = {"A": 1.0}
    assert doc[0]._.crf_test_probs == before
    doc._.crf_test_probs = {"tags": ["A"], "values": [[1.0] for _ in doc]}
    assert doc[0]._.crf_test_probs == {"A": 1.0}
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    doc = nlp("1. Scope\nAll ferries.\n\n2. Term\nA year.\n")
    for assign in (
        lambda: doc._.set("section_tree", None),
        lambda: doc._.set("cross_references", []),
        lambda: doc.spans["sections"][0]._.set("section", None),
    ):
        with pytest.raises(CRFError, match="CRF556"):
            assign()
    with pytest.warns(CRFWarning, match="CRFW529.*`token._.crf_test_probs`"):
        spacy.blank("xx").add_pipe("crf_tagger", config={"target": "crf_test_probs"})


def test_a_neighbour_that_cannot_be_written_does_not_make_an_answer_its_own_evidence() -> None:
    name = "crf_test_failing"
    nlp = train(target="ent", given=True, marginals=name)
    docs = clean_docs(nlp)[:5]
    expected = [nlp.get_pipe("crf_tagger").token_probabilities([doc])[0] for doc in docs]
    stored: dict[int, Any] = {}

    def write(doc: Doc, value: Any) -> None:
        if doc is docs[3]:
            raise RuntimeError("no room")
        stored[docs.index(doc)] = value["values"]

    Doc.set_extension(name, getter=lambda doc: None, setter=write, force=True)
    told: list[str] = []
    nlp.set_error_handler(lambda name, pipe, failed, error: told.append(str(error)))
    assert len(list(nlp.pipe(docs))) == 4 and told == ["no room"]
    assert sorted(stored) == [0, 1, 2, 4]
    for number, values in stored.items():
        assert np.allclose(values, expected[number], atol=1e-6)
    Doc.remove_extension(name)


def test_sections_of_a_part_are_not_those_of_the_whole() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    doc = nlp("1. Scope\nAll ferries.\n\n2. Term\nA year.\n")
    assert doc._.section_tree is not None
    assert doc[4:].as_doc(copy_user_data=True)._.section_tree is None
    with pytest.warns(UserWarning, match="W101"):
        joined = Doc.from_docs([doc, nlp("1. Other\nText.\n")])
    assert [span._.section for span in joined.spans["sections"]] == [None] * 3
    doc.spans["sections"] = doc.spans["sections"] + doc.spans["elements"]
    assert all(span._.section is None for span in doc.spans["sections"])  # attrs of one group speak of its spans alone
