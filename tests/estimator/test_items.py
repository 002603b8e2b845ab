"""Items become the attributes that python-crfsuite makes of them."""

import pickle
from collections import OrderedDict
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.estimator import items as items_module
from spacy_crf.estimator.items import UNKNOWN, Known, Numbering, encode_items
from spacy_crf.estimator.preparation import encode_labels

NAMES = st.text("ab:=é ", min_size=1, max_size=4)
LEAVES = st.one_of(NAMES, st.booleans(), st.integers(-3, 3), st.floats(-5, 5))
VALUES = st.one_of(
    LEAVES, st.lists(NAMES, max_size=3), st.sets(NAMES, max_size=3), st.dictionaries(NAMES, LEAVES, max_size=2)
)
ITEMS = st.one_of(st.dictionaries(NAMES, VALUES, max_size=4), st.lists(NAMES, max_size=4))


def decoded(X):
    """For each item, the sorted attributes with their values."""
    names = Numbering()
    items = encode_items(X, names)
    rows = items.features(len(names))
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    strings = list(names)
    pairs = [(strings[number], value) for number, value in zip(rows.indices.tolist(), values.tolist())]
    return [sorted(pairs[low:high]) for low, high in zip(rows.indptr, rows.indptr[1:])]


@given(st.lists(st.lists(ITEMS, max_size=3), max_size=3))
def test_attributes_are_those_of_python_crfsuite(X):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    # ItemSequence shows an attribute once, with the last of its values
    theirs = [sorted(item.items()) for sequence in X for item in pycrfsuite.ItemSequence(sequence).items()]
    assert [sorted(dict(item)) for item in decoded(X)] == [[name for name, _ in item] for item in theirs]
    for ours, item in zip(decoded(X), theirs):
        if len(dict(ours)) == len(ours):
            assert ours == item


def test_forms_of_items():
    X = [[{"w": "a", "n": 2.5, "t": True, "f": False, "s": {"x": "y", "z": [b"p"]}}], [["w:a", "b"], [("n", 2.5)]]]
    assert decoded(X) == [
        [("f", 0.0), ("n", 2.5), ("s:x:y", 1.0), ("s:z:p", 1.0), ("t", 1.0), ("w:a", 1.0)],
        [("b", 1.0), ("w:a", 1.0)],
        [("n", 2.5)],
    ]


def test_numbers_of_numpy_and_strings_of_numpy():
    item = {np.str_("w"): np.str_("a"), "n": np.int64(2), "b": np.bool_(True), "f": np.float16(0.5)}
    assert decoded([[item]]) == [[("b", 1.0), ("f", 0.5), ("n", 2.0), ("w:a", 1.0)]]


def test_repeated_attributes_count_as_often():
    assert decoded([[["a", "a"]]]) == [[("a", 1.0), ("a", 1.0)]]


def test_sequences_of_any_length_and_kind():
    names = Numbering()
    items = encode_items((iter(sequence) for sequence in ([], [["a"], []], (("b",),))), names)
    assert items.lengths.tolist() == [0, 2, 1] and items.indptr.tolist() == [0, 1, 1, 2]
    assert items.values is None


@pytest.mark.parametrize("form", [["a", "new", "b"], [("a", 1), ("new", 2.0), ("b", 0.5)]])
def test_unknown_attributes_are_left_out(form):
    items = encode_items([[form]], Known(a=0, b=1))
    assert items.indices.tolist() == [0, UNKNOWN, 1]
    assert items.features(2).indices.tolist() == [0, 1]


deep = reduce(lambda inner, _: {"k": inner}, range(5000), {"k": "v"})


@given(st.lists(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=4), max_size=4))
def test_plain_dicts_are_read_at_once_as_others_one_by_one(X):
    at_once, one_by_one = Numbering(), Numbering()
    found = encode_items(X, at_once)
    expected = encode_items([list(map(OrderedDict, sequence)) for sequence in X], one_by_one)
    assert list(at_once) == list(one_by_one)
    assert found.lengths.tolist() == expected.lengths.tolist() and found.indptr.tolist() == expected.indptr.tolist()
    assert found.indices.tolist() == expected.indices.tolist()
    assert (found.values is None) == (expected.values is None)
    assert found.values is None or found.values.tolist() == expected.values.tolist()


@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=8), st.integers(1, 3))
def test_many_dicts_are_looked_up_as_few_are(items: list[dict[Any, Any]], every: int) -> None:
    names = Numbering()
    encode_items([items[::every]], names)
    known = Known(names)
    few = encode_items([items], known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spacy_crf.estimator.items.MANY", 0)
        patch.setattr("spacy_crf.estimator.items.DICTS_AT_ONCE", 3)
        many = encode_items([items], known)
    assert many.indices.tolist() == few.indices.tolist() and many.indptr.tolist() == few.indptr.tolist()
    assert (many.values is None) == (few.values is None)
    assert few.values is None or many.values.tolist() == few.values.tolist()


def test_attributes_of_the_value_0_add_nothing():
    items = encode_items([[{"a": True, "b": False}, {"b": 2.0, "new": 0}]], Known(a=0, b=1))
    assert items.nonzero().features(2).indices.tolist() == [0, 1] and items.nonzero().values is not None
    items = encode_items([[{"a": True, "b": False}, {"b": 1.0, "new": 0.5}]], Known(a=0, b=1))
    assert items.nonzero().features(2).indices.tolist() == [0, 1] and items.nonzero().values is None


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[["a"]], ["ab"]], ["Sequence 1, item 0", "'ab'"]),
        ([[["a"], {"k": None}]], ["Sequence 0, item 1", "'k'", "None"]),
        ([[["a"]], [["b"], {"k": float("nan")}]], ["Sequence 1, item 1", "'k'", "finite"]),
        ([[["a"]], [["b"], {"k": {"x": float("inf")}}]], ["Sequence 1, item 1", "'x'", "finite"]),
        ([[["a"], {"k": 10**5000}]], ["Sequence 0, item 1", "'k'", "finite"]),
        ([[{"k": 1e300}]], ["Sequence 0, item 0", "'k'", "single precision"]),
        ([[{"k": np.complex64(1)}]], ["Sequence 0, item 0", "'k'"]),
        ([[{"k": {1, "a"}}]], ["Sequence 0, item 0", "attribute 1"]),
        ([[{"k": b"\xff"}]], ["Sequence 0, item 0", "xff"]),
        ([[{"a": "b"}, {"k": frozenset([1])}]], ["Sequence 0, item 1", "attribute 1"]),
        ([[{"k": deep}]], ["Sequence 0, item 0", "nested too deeply"]),
        ([[{1: "a"}]], ["Sequence 0, item 0", "1"]),
        ([[["a", 3]]], ["Sequence 0, item 0", "3"]),
        ([[["a", ["b"]]]], ["Sequence 0, item 0", "['b']"]),
        ([[7]], ["Sequence 0, item 0", "7"]),
        (["abc"], ["Sequence 0", "'abc'"]),
        ([{"w": "a"}], ["Sequence 0", "not a list of items"]),
    ],
)
def test_malformed_items_are_named(X, words):
    with pytest.raises(ValueError, match="CRF701") as error:
        encode_items(X, Numbering())
    assert all(word in str(error.value) for word in words)


def test_labels():
    names = Numbering()
    found = encode_labels([["B", "I"], [], np.array(["I"])], np.array([2, 0, 1]), names.__getitem__)
    assert found.tolist() == [0, 1, 1] and all(type(name) is str for name in names)
    wrong = [
        ([["B"]], "CRF704"),
        ([["B"], [], ["B"]], "CRF702"),
        ([["B", 3], [], ["B"]], "CRF703.*sequence 0 has 3"),
        ([["B", "B"], 5, ["B"]], "CRF703.*sequence 1 has 5"),
        ({1: 2}, "CRF703.*sequence 0 has 1"),
        (None, "CRF715.*y is None"),
    ]
    for y, code in wrong:
        with pytest.raises(ValueError, match=code):
            encode_labels(y, np.array([2, 0, 1]), names.__getitem__)


@pytest.mark.parametrize("X", [None, 3])
def test_what_is_no_list_of_sequences_is_refused(X):
    with pytest.raises(ValueError, match="CRF715.*X is"):
        encode_items(X, Numbering())


@given(st.lists(st.lists(st.lists(st.text(max_size=2), max_size=4), max_size=4), max_size=6))
def test_many_strings_are_numbered_as_few_are(X: list[list[list[str]]]) -> None:
    def encode(names: Numbering | Known, many: int) -> list[list[int]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(items_module, "MANY", many)
            found = [encode_items(X, names), encode_items([[*sequence, ["new"]] for sequence in X], names)]
        return [items.indices.tolist() for items in found]

    few, many = Numbering(), Numbering()
    assert encode(many, 0) == encode(few, 10**9) and list(many) == list(few)
    known = Known(zip(list(few)[::2], range(7, 10**6)))
    copied = pickle.loads(pickle.dumps(known))
    assert encode(known, 0) == encode(copied, 10**9) == encode(pickle.loads(pickle.dumps(known)), 0)


VALUES = st.one_of(st.text("ab", max_size=1), st.booleans(), st.sampled_from([-1, -2, 0, 1, 1.0, 2.5]))


@given(st.lists(st.lists(st.dictionaries(st.sampled_from("abc"), VALUES), max_size=4), max_size=5))
def test_many_dicts_are_numbered_as_few_are(X: list[list[dict[str, Any]]]) -> None:
    found = []
    for many in (0, 10**9):
        names = Numbering()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(items_module, "MANY", many)
            items = encode_items(X, names)
        values = None if items.values is None else items.values.tolist()
        found.append((list(names), items.indptr.tolist(), items.indices.tolist(), values))
    assert found[0] == found[1]


def test_another_thread_may_ask_while_the_table_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_module, "MANY", 1)
    asked: list[list[int]] = []

    class Interrupted(Known):
        def values(self):
            if not asked:
                asked.append([])
                asked.append(self.numbers(["b", "c"]).tolist())
            return super().values()

    assert Interrupted(a=0, b=1).numbers(["a", "b"]).tolist() == [0, 1] and asked[1] == [1, UNKNOWN]
