"""Runs of adjacent units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import Segments, row_sums

runs = st.lists(st.integers(0, 4), max_size=6)


@given(runs)
def test_bounds_owners_and_positions_are_those_of_each_unit(lengths):
    segments, units = Segments(np.array(lengths, dtype=np.intp)), np.arange(sum(lengths))
    expected = [(run, place) for run, length in enumerate(lengths) for place in range(length)]
    assert list(zip(segments.owners.tolist(), segments.positions.tolist())) == expected
    assert (len(segments), segments.n_units) == (len(lengths), len(units))
    assert np.array_equal(segments.firsts[segments.owners] + segments.positions, units)
    assert np.array_equal(segments.ends - segments.firsts, lengths)
    assert segments.openings.tolist() == [first for first, n in zip(segments.firsts.tolist(), lengths) if n]


@given(runs)
def test_split_gives_views_that_make_up_the_whole(lengths):
    segments, values = Segments.of([None] * length for length in lengths), np.zeros(sum(lengths))
    parts = segments.split(values)
    assert [len(part) for part in parts] == lengths
    for number, part in enumerate(parts):
        part[:] = number
    assert np.array_equal(values, segments.owners)


@given(runs, st.data())
def test_units_of_some_runs_and_of_runs_elsewhere(lengths, data):
    segments = Segments(np.array(lengths, dtype=np.intp))
    chosen = data.draw(st.lists(st.sampled_from(range(len(lengths))), max_size=5) if lengths else st.just([]))
    expected = [unit for run in chosen for unit in range(*segments.bounds[run : run + 2])]
    assert segments.units(np.array(chosen, dtype=np.intp)).tolist() == expected
    firsts = np.arange(len(lengths)) * 10
    assert segments.at(firsts).tolist() == [10 * run + place for run, n in enumerate(lengths) for place in range(n)]


@given(st.lists(st.lists(st.integers(1, 4), max_size=4), max_size=5))
def test_runs_within_longer_ones(documents):
    sequences = Segments(np.array([n for document in documents for n in document], dtype=np.intp))
    found = sequences.within(Segments(np.array(list(map(sum, documents)), dtype=np.intp)))
    assert found.lengths.tolist() == list(map(len, documents))
    assert found.owners.tolist() == [number for number, document in enumerate(documents) for _ in document]


@pytest.mark.parametrize("outer, expected", [([0, 3], [0, 3]), ([3, 0], [3, 0]), ([1, 2], [1, 2])])
def test_empty_runs_belong_to_one_of_the_longer_ones(outer, expected):
    assert Segments(np.array([1, 0, 2])).within(Segments(np.array(outer))).lengths.tolist() == expected


def test_sums_of_rows_warn_of_nothing():
    values = np.array([[0.25, 0.5, 0.25], [np.inf, -np.inf, 0], [np.inf, 1, 2]], dtype=np.float32)
    np.testing.assert_array_equal(row_sums(values), np.array([1, np.nan, np.inf], dtype=np.float32))
    assert row_sums(np.zeros((0, 3))).shape == (0,)
