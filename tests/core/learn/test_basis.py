"""Merging attributes that occur once is exact."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.learn.basis import FeatureOccurrences, find_singletons
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import Layout, cells


def layout_of(pairs, n_features, n_labels=2) -> Layout:
    features, labels = np.array(pairs).T
    return Layout(
        n_features,
        n_labels,
        0,
        cells(features, labels, n_labels),
        np.arange(4),
        np.zeros(0, np.intp),
        True,
        np.ones((2, 2), bool),
        np.ones(2, bool),
        np.ones(2, bool),
    )


def test_which_features_are_merged():
    # 0 and 1 occur once, in the same unit with the same label; 2 occurs twice; 3 once with two labels;
    # 4 once with a value that is not 1; 5 once alone; 6 never
    columns = np.array([[0, 1, 2], [2, 3, 5], [4, -1, -1]], dtype=np.int32)
    values = np.ones(columns.shape)
    values[2, 0] = 0.5
    layout = layout_of([(0, 1), (1, 1), (2, 0), (3, 0), (3, 1), (4, 0), (5, 0), (6, 1)], 7)
    found = find_singletons(layout, FeatureOccurrences.of([from_columns(columns, 7, values)], 7))
    assert np.flatnonzero(found.features).tolist() == [0, 1, 5]
    assert found.members.tolist() == [0, 1, 6]
    assert found.groups.tolist() == [0, 0, 1]
    assert list(zip(found.units.tolist(), found.labels.tolist())) == [(0, 1), (1, 0)]
    np.testing.assert_allclose(found.scales, np.sqrt([2, 1]))


def test_a_feature_twice_in_one_unit_is_no_singleton():
    rows = from_columns(np.array([[0, 0, 1]], dtype=np.int32), 2)
    found = find_singletons(layout_of([(0, 0), (1, 0)], 2), FeatureOccurrences.of([rows], 2))
    assert found.features.tolist() == [False, True]


def test_without_singletons_nothing_is_merged():
    rows = from_columns(np.array([[0], [0]], dtype=np.int32), 1)
    found = find_singletons(layout_of([(0, 0)], 1), FeatureOccurrences.of([rows], 1))
    assert len(found.members) == len(found.units) == 0
    assert found.merge(np.array([3.0])).shape == (0,)


@given(st.integers(0, 2**32 - 1))
def test_scores_and_penalty_are_those_of_the_merged_weights(seed):
    rng = np.random.default_rng(seed)
    columns = rng.permutation(40).reshape(8, 5).astype(np.int32) % 25
    layout = layout_of([(f, rng.integers(2)) for f in range(25)], 25)
    features = from_columns(columns, 25)
    found = find_singletons(layout, FeatureOccurrences.of([features.slice(0, 3), features.slice(3, 8)], 25))
    merged, state = rng.normal(size=len(found.units)), np.zeros(len(layout.state_cells))
    found.unmerge(merged, state)
    np.testing.assert_allclose(found.merge(state), merged, rtol=1e-12)
    np.testing.assert_allclose(state @ state, merged @ merged, rtol=1e-12)
    weights = np.zeros((25, 2))
    weights.flat[layout.state_cells] = state
    scores, expected = np.zeros((8, 2)), np.zeros((8, 2))
    features.times(weights, out=scores)
    expected[found.units, found.labels] = found.scales * merged
    np.testing.assert_allclose(scores, expected, atol=1e-12)
