"""Groups of tokens and reproducible random numbers, and promises that are made of them."""

import json

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.attrs import ORTH
from spacy.tokens import Doc

from spacy_crf.core.sets.conformal import Score
from spacy_crf.features.columns import Columns
from spacy_crf.tagsets.guarantee import (
    ConformalPromise,
    HeldOutTokens,
    SequenceLength,
    UnknownWords,
    conformal_sets,
    read_strata,
    text_uniforms,
)

NLP = spacy.blank("xx")
WORDS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "ē"]), max_size=5), max_size=5)


def tokens_of(texts: list[list[str]]) -> Columns:
    docs = [Doc(NLP.vocab, words=words) for words in texts]
    orths = np.concatenate([np.zeros(0, dtype=np.uint64), *(doc.to_array(ORTH) for doc in docs)])
    lengths = np.array([len(doc) for doc in docs], dtype=np.intp)
    return Columns(lengths, lengths[lengths > 0], orths, {})


@given(WORDS, st.sets(st.sampled_from(["a", "ē", "x"])))
def test_words_of_the_list_are_known(texts: list[list[str]], known: set[str]) -> None:
    strata = UnknownWords.of_words(known)
    expected = [int(word not in known) for words in texts for word in words]
    assert strata.groups(tokens_of(texts)).tolist() == expected
    assert read_strata(json.loads(json.dumps(strata.to_data()))) == strata


@given(WORDS, st.sets(st.integers(1, 6), min_size=1))
def test_sequences_are_told_by_their_length(texts: list[list[str]], edges: set[int]) -> None:
    strata = SequenceLength(tuple(sorted(edges)))
    expected = [sum(len(words) > edge for edge in edges) for words in texts for _ in words]
    assert strata.groups(tokens_of(texts)).tolist() == expected
    assert read_strata(json.loads(json.dumps(strata.to_data()))) == strata


def test_promises_that_hold_the_words_themselves_are_read() -> None:
    assert read_strata({"kind": "unknown", "words": ["a", "ē"]}) == UnknownWords.of_words(["ē", "a"])


def test_names_of_groups() -> None:
    assert [SequenceLength((3, 9)).describe(group) for group in range(3)] == [
        "sequences of 1 to 3",
        "sequences of 4 to 9",
        "sequences of 10 or more",
    ]
    assert [UnknownWords(()).describe(group) for group in (0, 1)] == ["known words", "unknown words"]


@pytest.mark.parametrize("edges", [(), (0, 3), (3, 3), (5, 2), (-1,)])
def test_edges_have_to_ascend(edges: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"CRF819.*edges"):
        SequenceLength(edges)


def test_other_strata_are_refused() -> None:
    with pytest.raises(KeyError):
        read_strata({"kind": "document"})


@given(WORDS, st.integers(-3, 3), st.randoms())
def test_numbers_depend_on_the_text_alone(texts: list[list[str]], seed: int, random) -> None:
    together = np.split(text_uniforms(tokens_of(texts), seed), np.cumsum([len(words) for words in texts])[:-1])
    order = list(range(len(texts)))
    random.shuffle(order)
    for number in order:
        assert together[number].tolist() == text_uniforms(tokens_of([texts[number]]), seed).tolist()


def test_numbers_are_uniform_and_differ() -> None:
    rng = np.random.default_rng(0)
    texts = [[f"w{number}" for number in rng.integers(0, 50, 10)] for _ in range(2000)]
    found = {seed: text_uniforms(tokens_of(texts), seed) for seed in (0, 1, -1)}
    for values in found.values():
        counts = np.bincount((values * 20).astype(int), minlength=20)
        # chi squared with 19 degrees of freedom: 43.8 at one in a thousand
        assert len(counts) == 20 and ((counts - 1000) ** 2 / 1000).sum() < 43.8
        assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.025
    assert abs(np.corrcoef(found[0], found[1])[0, 1]) < 0.025 and not np.array_equal(found[1], found[-1])
    there, back = (text_uniforms(tokens_of([words]), 0).tolist() for words in (["a", "b"], ["b", "a"]))
    assert not set(there) & set(back)


def test_promises_survive_json_and_old_ones_are_read() -> None:
    rng = np.random.default_rng(1)
    texts = [["a", f"b{number}", "a"][: 1 + number % 3] for number in range(300)]
    tokens = tokens_of(texts)
    marginals = rng.dirichlet(np.ones(4) / 2, len(tokens.orths)).astype(np.float32)
    gold = np.array([rng.choice(4, p=row / row.sum()) for row in marginals.astype(np.float64)])
    weights = np.eye(4)[gold]
    for by, score in ((UnknownWords.of_words(["a"]), Score("aps", randomised=True)), (SequenceLength((2,)), Score())):
        promise = conformal_sets(HeldOutTokens(marginals, weights, tokens), 0.2, score, "group", by=by, seed=5)
        again = ConformalPromise.from_data(json.loads(json.dumps(promise.to_data())))
        assert again == promise and (again.seed == 5) == score.randomised and again.level == 0.2
        sets = again.predict(marginals, tokens)
        assert (sets == promise.predict(marginals, tokens)).all()
        groups = by.groups(tokens)
        for group in (0, 1):
            inside = groups == group
            assert 0.8 <= sets[inside, gold[inside]].mean() < 0.8 + 1 / inside.sum() + 0.02
    plain = conformal_sets(HeldOutTokens(marginals, weights, tokens), 0.2)
    old = {name: value for name, value in plain.to_data().items() if name not in ("by", "seed")}
    assert ConformalPromise.from_data(old) == plain


def test_tokens_of_docs_that_another_component_has_tagged() -> None:
    docs = [
        Doc(NLP.vocab, words=["a", "b", "c"], sent_starts=[True, False, True]),
        Doc(NLP.vocab),
        Doc(NLP.vocab, words=["d", "e"]),
    ]
    nlp = spacy.blank("xx")
    found = nlp.add_pipe("set_valued_tagger", config={"source": "tagger"}).read_columns(docs)
    assert found.lengths.tolist() == [2, 1, 2] and found.doc_lengths.tolist() == [3, 0, 2]
    assert found.orths.tolist() == [NLP.vocab.strings[word] for word in "abcde"]
