"""Gold that is known, unknown, a set or a distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import UNKNOWN, Gold

ROWS = np.array([[0, 1, 0], [1, 1, 1], [0.25, 0.75, 0], [1, 0, 1], [0.2, 0.3, 0.5]])


def test_known_labels_and_unknown_ones():
    gold = Gold.known(np.array([2, UNKNOWN, 0]), 3)
    assert gold.labels.tolist() == [2, UNKNOWN, 0]
    assert gold.rows.tolist() == [1]
    assert gold.dense().tolist() == [[0, 0, 1], [1, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize("label", [-2, 3])
def test_known_names_a_label_that_does_not_exist(label):
    with pytest.raises(ValueError, match=rf"CRF107.*Unit 1 has the gold label {label}.*0 to 2"):
        Gold.known(np.array([0, label, UNKNOWN]), 3)


def test_weighted_rows_with_one_label_become_that_label():
    gold = Gold.weighted(ROWS)
    assert gold.labels.tolist() == [1, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
    assert gold.rows.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(gold.dense(), ROWS, rtol=1e-6)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.5])
def test_weighted_refuses_weights_that_are_no_weights(wrong):
    with pytest.raises(ValueError, match="CRF104"):
        Gold.weighted(np.array([[1.0, 0.0], [1.0, wrong]]))


def test_weighted_names_the_unit_without_a_label():
    with pytest.raises(ValueError, match=r"CRF105.*Unit 2"):
        Gold.weighted(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))


@given(st.lists(st.integers(0, len(ROWS) - 1), max_size=8))
def test_take_gives_the_rows_asked_for(picks):
    taken = Gold.weighted(ROWS).take(np.array(picks, dtype=np.intp))
    expected = Gold.weighted(ROWS[picks].reshape(-1, 3))
    np.testing.assert_array_equal(taken.labels, expected.labels)
    np.testing.assert_array_equal(taken.rows, expected.rows)
    np.testing.assert_array_equal(taken.weights, expected.weights)


def test_log_weights_are_zero_for_allowed_labels():
    logs = Gold.weighted(ROWS).log_weights()
    np.testing.assert_array_equal(np.isneginf(logs), ROWS == 0)
    assert logs[0, 1] == logs[1, 2] == logs[3, 0] == 0
    np.testing.assert_allclose(np.exp(logs[4]), ROWS[4], rtol=1e-6)


def test_only_sets_make_a_sequence_latent():
    gold = Gold.weighted(ROWS)
    sequences = np.array([0, 1, 2, 3, 4])
    assert gold.latent_sequences(sequences, 6).tolist() == [False, True, False, True, False, False]
    assert gold.latent_sequences(np.zeros(5, dtype=int), 1).tolist() == [True]


def test_one_label_is_never_latent():
    assert not Gold.known(np.array([UNKNOWN, 0]), 1).latent_sequences(np.zeros(2, dtype=int), 1).any()


def test_seen_pairs_leave_out_unknown_units_only():
    units, labels = Gold.weighted(ROWS).seen_pairs()
    pairs = {(0, 1), (2, 0), (2, 1), (3, 0), (3, 2), (4, 0), (4, 1), (4, 2)}
    assert set(zip(units.tolist(), labels.tolist())) == pairs
    assert len(units) == len(pairs)
