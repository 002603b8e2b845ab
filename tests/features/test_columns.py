import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_crf.core.errors import excerpt
from spacy_crf.features.columns import ColumnReader
from spacy_crf.features.hashing import string_hash
from spacy_crf.features.resources import Resources, WordList
from spacy_crf.features.templates import parse_attribute


def read(docs, vocab, *spellings, sequence="auto", lists=None):
    attributes = [parse_attribute(spelling) for spelling in spellings]
    columns = ColumnReader(attributes, Resources(lists or {}), sequence).read(docs, vocab)
    return columns, [columns.by_attribute[attribute] for attribute in attributes]


def clued(vocab, *values):
    doc = Doc(vocab, words=[f"w{number}" for number in range(len(values))])
    for token, value in zip(doc, values):
        token._.clue = value
    return doc


def column(vocab, *values):
    return read([clued(vocab, *values)], vocab, "_.clue")[1][0]


def test_categories_have_no_numbers(vocab, clue):
    found = column(vocab, "a", 7, True, False, None, "")
    assert found.hashes.tolist() == [string_hash("a"), string_hash("7"), string_hash("1"), 0, 0, 0]
    assert found.numbers is None


def test_floats_are_values_and_categories_beside_them_count_once(vocab, clue):
    found = column(vocab, 0.5, -2.0, 0.0, "a", None)
    value = string_hash("value")
    assert found.hashes.tolist() == [value, value, 0, string_hash("a"), 0]
    assert found.numbers.tolist() == [0.5, -2.0, 0.0, 1.0, 1.0]


def test_numpy_scalars_are_what_they_hold(vocab, clue):
    found = column(vocab, np.float32(0.5), np.int64(7), np.bool_(True), np.str_("a"))
    plain = column(vocab, 0.5, 7, True, "a")
    assert found.hashes.tolist() == plain.hashes.tolist()
    assert found.numbers.tolist() == plain.numbers.tolist()


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), 1e300, np.float32("nan"), ["a"], {"a": 1}, ("a",), np.zeros(2), b"a"],
)
def test_impossible_values_name_token_and_document(vocab, clue, value):
    with pytest.raises(ValueError, match="CRF308") as error:
        read([clued(vocab, 1.0), clued(vocab, "a", value, "b")], vocab, "_.clue")
    assert "'clue'" in str(error.value)
    assert "token 1 ('w1') of document 'w0 w1 w2 '" in str(error.value)


def test_long_documents_are_named_by_their_beginning(vocab):
    assert excerpt(Doc(vocab, words=["ab"] * 3).text) == "ab ab ab "
    assert excerpt(Doc(vocab, words=["a\nb"] * 30).text) == "a b " * 9 + "a..."


def lengths(vocab, starts, sequence):
    doc = Doc(vocab, words=["w"] * len(starts), sent_starts=starts)
    return read([doc], vocab, "BIAS", sequence=sequence)[0].lengths.tolist()


@pytest.mark.parametrize(
    ("starts", "auto", "sents"),
    [
        ([], [], []),
        ([True], [1], [1]),
        ([None], [1], [1]),
        ([True, False, True], [2, 1], [2, 1]),
        ([False, False, True], [2, 1], [2, 1]),
        ([None, None, True], [2, 1], [2, 1]),
        ([True, True, True], [1, 1, 1], [1, 1, 1]),
        ([True, False, False], [3], [3]),
    ],
)
def test_sequences(vocab, starts, auto, sents):
    assert lengths(vocab, starts, "auto") == auto
    assert lengths(vocab, starts, "sents") == sents
    assert lengths(vocab, starts, "doc") == ([len(starts)] if starts else [])


def test_docs_without_boundaries_are_one_sequence_unless_boundaries_are_demanded(vocab):
    docs = [Doc(vocab, words=["a", "b"], sent_starts=[True, True]), Doc(vocab, words=["no", "ends"])]
    assert read(docs, vocab, "BIAS")[0].lengths.tolist() == [1, 1, 2]
    with pytest.raises(ValueError, match=r"CRF311.*'no ends '"):
        read(docs, vocab, "BIAS", sequence="sents")


@given(st.lists(st.integers(0, 7), max_size=12), st.integers(1, 6))
def test_parts_are_whole_docs_in_order(vocab, sizes, n_parts):
    docs = [
        Doc(vocab, words=[f"{number}.{i}" for i in range(size)], sent_starts=[i % 3 == 0 for i in range(size)])
        for number, size in enumerate(sizes)
    ]
    whole, _ = read(docs, vocab, "ORTH", "POSITION2", "BOS")
    parts = whole.split(n_parts)
    assert len(parts) <= n_parts
    assert [length for part in parts for length in part.doc_lengths.tolist()] == sizes
    assert [length for part in parts for length in part.lengths.tolist()] == whole.lengths.tolist()
    assert all(part.lengths.sum() == part.doc_lengths.sum() == len(part.orths) for part in parts)
    assert [orth for part in parts for orth in part.orths.tolist()] == whole.orths.tolist()
    for attribute, found in whole.by_attribute.items():
        assert [h for part in parts for h in part.by_attribute[attribute].hashes.tolist()] == found.hashes.tolist()


def test_parts_are_balanced(vocab):
    docs = [Doc(vocab, words=["w"] * size) for size in (11, 9, 5, 4, 6, 5)]
    whole, _ = read(docs, vocab, "ORTH")
    assert [len(part.orths) for part in whole.split(2)] == [20, 20]
    assert [len(part.orths) for part in whole.split(4)] == [11, 9, 9, 11]
    assert len(whole.split(9)) <= 6


def test_parts_keep_real_values(vocab, clue):
    whole, _ = read([clued(vocab, 0.5, 1.5), clued(vocab, 2.5), clued(vocab, "a")], vocab, "_.clue")
    parts = whole.split(2)
    assert len(parts) == 2
    assert [n for part in parts for n in part.by_attribute[parse_attribute("_.clue")].numbers] == [0.5, 1.5, 2.5, 1.0]


def test_word_lists_are_columns_with_strings(vocab):
    lists = {"class": WordList("class", [(("new", "york"), "0110"), (("mark",), "1011")])}
    doc = Doc(vocab, words=["Mark", "New", "York", "x"])
    _, (whole, cut) = read([doc], vocab, "LIST(class)", "LIST(class,2)", lists=lists)
    assert [whole.strings[key] for key in whole.hashes.tolist()] == ["1011", "0110", "I-0110", ""]
    assert [cut.strings[key] for key in cut.hashes.tolist()] == ["10", "01", "I-01", ""]
    assert whole.hashes.tolist() == [string_hash("1011"), string_hash("0110"), string_hash("I-0110"), 0]
