"""Reliability tables and calibration errors against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.calibration.bins import calibration_error, classwise_errors, reliability

PREDICTIONS = st.lists(st.tuples(st.sampled_from(np.linspace(0, 1, 21).tolist()), st.booleans()), max_size=60)


def columns(predictions) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in predictions], dtype=float), np.array([right for _, right in predictions], dtype=bool)


@given(PREDICTIONS, st.integers(1, 12), st.booleans())
def test_bins_hold_what_lies_between_their_bounds(predictions, n_bins, equal_mass):
    confidences, right = columns(predictions)
    table = reliability(confidences, right, n_bins, equal_mass)
    assert table.counts.sum() == len(predictions)
    error = 0.0
    for number, (low, high) in enumerate(zip(table.lower, table.upper)):
        inside = (confidences > low) & (confidences <= high) | (number == 0) & (confidences == low)
        assert table.counts[number] == inside.sum()
        if inside.any():
            assert table.confidences[number] == pytest.approx(confidences[inside].mean())
            assert table.accuracies[number] == pytest.approx(right[inside].mean())
            error += inside.mean() * abs(confidences[inside].mean() - right[inside].mean())
    assert table.error == pytest.approx(error)
    assert calibration_error(confidences, right, n_bins, equal_mass) == table.error


def test_equal_width_and_equal_mass():
    confidences = np.array([0.05, 0.1, 0.11, 0.6, 0.9, 0.95, 0.99, 1.0])
    right = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=bool)
    wide = reliability(confidences, right, 2)
    assert wide.counts.tolist() == [3, 5] and wide.upper.tolist() == [0.5, 1.0]
    assert wide.accuracies.tolist() == [0, 1]
    even = reliability(confidences, right, 4, equal_mass=True)
    assert even.counts.tolist() == [2, 2, 2, 2]
    assert even.lower[0] == 0.05 and even.upper[-1] == 1.0


def test_equal_confidences_share_a_bin():
    table = reliability(np.array([0.5] * 9 + [0.7]), np.array([True] * 5 + [False] * 5), 5, equal_mass=True)
    assert table.counts.tolist() == [9, 1]
    same = reliability(np.full(4, 0.25), np.array([True, False, False, False]), 3, equal_mass=True)
    assert same.counts.tolist() == [4] and same.error == 0


def test_predictions_as_good_as_they_say_have_a_small_error():
    rng = np.random.default_rng(0)
    confidences = rng.random(20_000)
    honest = rng.random(20_000) < confidences
    boastful = rng.random(20_000) < confidences**2
    assert calibration_error(confidences, honest) < 0.02 < 0.1 < calibration_error(confidences, boastful)


def test_classwise_errors_look_at_every_label():
    """The predicted label is right as often as it should be, but the others are mixed up."""
    marginals = np.tile([0.5, 0.5, 0.0], (100, 1))
    labels = np.repeat([0, 2], 50)
    np.testing.assert_allclose(classwise_errors(marginals, labels), [0.0, 0.5, 0.5])


def test_nothing_to_count():
    for equal_mass in (False, True):
        table = reliability(np.zeros(0), np.zeros(0, dtype=bool), 3, equal_mass)
        assert table.error == 0 and table.counts.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="CRF108.*n_bins"):
        reliability(np.zeros(1), np.ones(1, dtype=bool), 0)
    with pytest.raises(ValueError, match="CRF102.*confidences"):
        reliability(np.array([np.nan]), np.ones(1, dtype=bool))
