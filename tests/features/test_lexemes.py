import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.errors import CRFError
from spacy_crf.features import lexemes
from spacy_crf.features.hashing import string_hash
from spacy_crf.features.lexemes import LexemeColumns, WordForms, lexical_strings
from spacy_crf.features.templates import parse_attribute

ATTRIBUTES = [parse_attribute(text) for text in ("ORTH", "LOWER", "SHAPE", "SUFFIX2", "IS_TITLE", "COLLAPSED")]
word = st.text(st.sampled_from("aBç1-"), min_size=1, max_size=3)


def orths(vocab, words):
    return np.array([vocab.strings.add(word) for word in words], dtype=np.uint64)


def expected(vocab, words):
    return {
        attribute: [vocab.strings.add(lexical_strings(attribute, WordForms([vocab[word]]))[0]) for word in words]
        for attribute in ATTRIBUTES
    }


def gathered(columns, vocab, words):
    return {attribute: hashes.tolist() for attribute, hashes in columns.gather(orths(vocab, words), vocab).items()}


@given(st.lists(st.lists(word, max_size=12), max_size=5))
def test_the_cache_gives_what_a_computation_gives(vocab, batches):
    columns = LexemeColumns(ATTRIBUTES)
    for words in batches:
        assert gathered(columns, vocab, words) == expected(vocab, words)


@given(st.lists(st.lists(word, max_size=12), max_size=8))
def test_starting_over_changes_nothing(vocab, batches):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexemes, "MAX_LEXEMES", 4)
        columns = LexemeColumns(ATTRIBUTES)
        for words in batches:
            assert gathered(columns, vocab, words) == expected(vocab, words)


def test_memory_stays_bounded(vocab, monkeypatch):
    monkeypatch.setattr(lexemes, "MAX_LEXEMES", 50)
    columns = LexemeColumns(ATTRIBUTES)
    for first in range(0, 1_000, 10):
        columns.gather(orths(vocab, [f"w{number}" for number in range(first, first + 10)]), vocab)
        assert len(columns) <= 60


def test_columns_grow(vocab):
    columns = LexemeColumns(ATTRIBUTES)
    words = [f"w{number}" for number in range(3_000)]
    for size in (1, 1_500, 3_000):
        assert gathered(columns, vocab, words[:size]) == expected(vocab, words[:size])
    assert len(columns) == 3_000


def test_words_are_computed_once(vocab, monkeypatch):
    computed = []
    original = lexemes.lexical_hashes

    def counted(attribute, found):
        computed.extend(lexeme.orth_ for lexeme in found.lexemes)
        return original(attribute, found)

    monkeypatch.setattr(lexemes, "lexical_hashes", counted)
    columns = LexemeColumns(ATTRIBUTES[:1])
    for words in (["a", "b", "a"], ["b", "c"], ["a"]):
        columns.gather(orths(vocab, words), vocab)
    assert sorted(computed) == ["a", "b", "c"]


def test_a_failure_leaves_no_trace(vocab):
    """Words of a foreign vocabulary must not have empty values when they come again."""
    columns = LexemeColumns(ATTRIBUTES)
    foreign = np.append(orths(vocab, ["a"]), np.uint64(string_hash("no string store knows this")))
    for _ in range(2):
        with pytest.raises(KeyError):
            columns.gather(foreign, vocab)
    assert gathered(columns, vocab, ["a", "b"]) == expected(vocab, ["a", "b"])


def test_no_attributes(vocab):
    assert LexemeColumns([]).gather(orths(vocab, ["a"]), vocab) == {}


def test_flags_are_those_of_the_vocabulary_of_the_batch() -> None:
    flag = [parse_attribute("IS_STOP")]
    columns = LexemeColumns(flag)
    english, german = (spacy.blank(code).vocab for code in ("en", "de"))
    found = [
        columns.gather(orths(vocab, ["die", "but"]), vocab)[flag[0]].astype(bool) for vocab in (german, english) * 2
    ]
    assert [row.tolist() for row in found] == [[True, False], [False, True]] * 2


def test_beginnings_of_paths_of_clusters():
    nlp = spacy.blank("en")
    four, twenty = parse_attribute("CLUSTER4"), parse_attribute("CLUSTER20")
    words = WordForms([nlp.vocab[word] for word in ("Paris", "paris", "London", "PARIS", "unheard")])
    with pytest.raises(CRFError, match="CRF986"):
        lexical_strings(four, words)
    # spaCy stores the path 01101 as the number 10110: its beginning are the low bits
    nlp.vocab.lookups.add_table("lexeme_cluster", {"paris": 0b10110, "London": 0b00110})
    shared, _, other, upper, none = lexical_strings(four, words)
    assert shared == other == upper and none == ""
    whole, _, other, *_ = lexical_strings(twenty, words)
    assert whole != other
    assert lexical_strings(four, WordForms([])) == []
