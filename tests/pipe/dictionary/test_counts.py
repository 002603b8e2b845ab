"""Fractional counts and tables of counts against dicts."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import distinct, sum_by_cell
from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.pipe.dictionary.counts import CountTable, Shares, flatten, gold_shares

PAIRS = st.lists(st.tuples(st.sampled_from(["b", "a", "ab", "", "Ä"]), st.integers(0, 2), st.sampled_from([0.25, 1.0])))


def build(pairs) -> CountTable:
    keys = [key for key, _, _ in pairs]
    labels = np.array([label for _, label, _ in pairs], dtype=np.intp)
    return CountTable.build(keys, labels, np.array([weight for _, _, weight in pairs], dtype=float), 3)


@given(st.integers(0, 10_000))
def test_shares_of_a_unit_are_its_weights_over_their_sum(make_tagged, seed):
    tagged = make_tagged(seed)
    shares = gold_shares(tagged.gold)
    expected = {
        (unit, label): share
        for unit, row in enumerate(row for rows in tagged.shares() for row in rows)
        for label, share in row.items()
    }
    found = dict(zip(zip(shares.units.tolist(), shares.labels.tolist()), shares.weights.tolist()))
    assert found == pytest.approx(expected, rel=1e-6)
    assert (np.diff(shares.units) >= 0).all()
    np.testing.assert_allclose(shares.sums(3).sum(), len(set(shares.units.tolist())), rtol=1e-6)


def test_labels_by_number_and_unknown_ones():
    shares = gold_shares(Gold.known(np.array([2, UNKNOWN, 0, 2]), 3))
    assert shares.units.tolist() == [0, 2, 3]
    assert shares.labels.tolist() == [2, 0, 2]
    assert shares.sums(3).tolist() == [1, 0, 2]


@pytest.mark.parametrize("labels", [[], [UNKNOWN, UNKNOWN]])
def test_gold_that_tells_nothing_is_refused(labels):
    with pytest.raises(ValueError, match="CRF831"):
        gold_shares(Gold.known(np.array(labels, dtype=int), 3))


def test_flatten_wants_gold_for_each_word():
    words, lengths = flatten([["a", "b"], [], ["a"]])
    assert words == ["a", "b", "a"] and lengths.tolist() == [2, 0, 1]
    with pytest.raises(ValueError, match="CRF832.*3 words.*2 units"):
        flatten([["a", "b"], [], ["a"]], Gold.known(np.array([0, 0]), 1))


def test_distinct_keeps_the_order_of_first_occurrence():
    keys, places = distinct(["b", "a", "b", "c"])
    assert keys == ["b", "a", "c"] and places.tolist() == [0, 1, 0, 2]


def test_sums_by_cell():
    cells, sums = sum_by_cell(np.array([5, 1, 5]), np.array([0.5, 1.0, 0.25]))
    assert cells.tolist() == [1, 5] and sums.tolist() == [1.0, 0.75]


def test_shares_move_to_the_next_unit():
    shares = Shares(np.array([0, 0, 2]), np.array([1, 2, 0]), np.array([0.5, 0.5, 1.0]))
    assert shares.shifted().units.tolist() == [1, 1, 3]
    assert shares.where(shares.units == 0).labels.tolist() == [1, 2]


@given(PAIRS, st.lists(st.sampled_from(["b", "a", "ab", "", "Ä", "never"])))
def test_a_table_counts_as_a_dict_does(stored, pairs, asked):
    expected = Counter()
    for key, label, weight in pairs:
        expected[key, label] += weight
    fitted = build(pairs)
    for table in (fitted, CountTable.from_data(stored(fitted.to_data()))):
        assert table.keys == sorted({key for key, _, _ in pairs})
        for key, total in zip(table.keys, table.totals()):
            assert total == sum(expected[key, label] for label in range(3))
        rows = table.find(asked)
        assert [row == UNKNOWN for row in rows] == [key not in table.keys for key in asked]
        known = [key for key in asked if key in table.keys]
        counts = table.dense(rows[rows != UNKNOWN])
        assert counts.tolist() == [[expected[key, label] for label in range(3)] for key in known]
        found = table.pairs(rows[rows != UNKNOWN])
        assert [(known[unit], label) for unit, label in zip(found.units, found.labels)] == [
            (key, label) for key in known for label in range(3) if expected[key, label]
        ]


def test_a_table_does_not_depend_on_the_order_of_counting():
    pairs = [("b", 0, 1.0), ("a", 2, 0.5), ("b", 1, 1.0), ("a", 2, 0.5)]
    first, second = build(pairs).to_data(), build(pairs[::-1]).to_data()
    assert {name: list(np.atleast_1d(value)) for name, value in first.items()} == {
        name: list(np.atleast_1d(value)) for name, value in second.items()
    }
