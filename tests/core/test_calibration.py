"""Calibration: reliability tables and errors against counting by hand, and the Dirichlet map.

Of the map: what it leaves alone, that the fit is the optimum, and what it does to dependent units.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax

from spacy_crf.core.arrays import pack
from spacy_crf.core.calibration import (
    LEAST,
    PRIOR,
    DirichletMap,
    classwise_errors,
    fit_dirichlet,
    reliability,
)
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import sample
from spacy_crf.core.chain.potentials import ChainPotentials

PREDICTIONS = st.lists(st.tuples(st.sampled_from(np.linspace(0, 1, 21).tolist()), st.booleans()), max_size=60)


def columns(predictions) -> tuple[np.ndarray, np.ndarray]:
    return np.array([p for p, _ in predictions], dtype=float), np.array([right for _, right in predictions], dtype=bool)


@given(PREDICTIONS, st.integers(1, 12))
def test_bins_hold_what_lies_between_their_bounds(predictions, n_bins):
    confidences, right = columns(predictions)
    table = reliability(confidences, right, n_bins)
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


def test_bins_of_equal_width():
    confidences = np.array([0.05, 0.1, 0.11, 0.6, 0.9, 0.95, 0.99, 1.0])
    right = np.array([0, 0, 0, 1, 1, 1, 1, 1], dtype=bool)
    wide = reliability(confidences, right, 2)
    assert wide.counts.tolist() == [3, 5] and wide.upper.tolist() == [0.5, 1.0]
    assert wide.accuracies.tolist() == [0, 1]


def test_predictions_as_good_as_they_say_have_a_small_error():
    rng = np.random.default_rng(0)
    confidences = rng.random(20_000)
    honest = rng.random(20_000) < confidences
    boastful = rng.random(20_000) < confidences**2
    assert reliability(confidences, honest).error < 0.02 < 0.1 < reliability(confidences, boastful).error


def test_classwise_errors_look_at_every_label():
    """The predicted label is right as often as it should be, but the others are mixed up."""
    marginals = np.tile([0.5, 0.5, 0.0], (100, 1))
    labels = np.repeat([0, 2], 50)
    np.testing.assert_allclose(classwise_errors(marginals, labels), [0.0, 0.5, 0.5])


def test_nothing_to_count():
    table = reliability(np.zeros(0), np.zeros(0, dtype=bool), 3)
    assert table.error == 0 and table.counts.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="CRF108.*n_bins"):
        reliability(np.zeros(1), np.ones(1, dtype=bool), 0)
    with pytest.raises(ValueError, match="CRF102.*confidences"):
        reliability(np.array([np.nan]), np.ones(1, dtype=bool))


# -- the Dirichlet map ------------------------------------------------------------------------------------------------


def rows(seed: int, n: int, n_classes: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet([2.0, *[0.4] * (n_classes - 1)], n)


def draw(probabilities: np.ndarray, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random(len(probabilities))
    return (probabilities.cumsum(axis=1) < points[:, None]).sum(axis=1).clip(max=probabilities.shape[1] - 1)


def negative_log_posterior(params: np.ndarray, probabilities: np.ndarray, labels: np.ndarray) -> float:
    n_classes = probabilities.shape[1]
    weights, bias = params[:-n_classes].reshape(n_classes, n_classes), params[-n_classes:]
    scores = log_softmax(np.log(np.maximum(probabilities, LEAST)) @ weights + bias, axis=1)
    prior = PRIOR / 2 * (((weights - np.eye(n_classes)) ** 2).sum() + (bias**2).sum())
    return float(prior - scores[np.arange(len(labels)), labels].sum())


@pytest.mark.parametrize("n", [3, 40, 400])
def test_the_fit_is_the_optimum_that_scipy_finds(n: int) -> None:
    probabilities = rows(0, n)
    labels = draw(probabilities**0.5 / (probabilities**0.5).sum(axis=1, keepdims=True), 1).astype(np.int32)
    fitted = fit_dirichlet(probabilities, labels)
    ours = np.concatenate([fitted.weights.ravel(), fitted.bias])
    start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    best = minimize(negative_log_posterior, start, args=(probabilities, labels), tol=1e-10)
    assert negative_log_posterior(ours, probabilities, labels) == pytest.approx(best.fun, rel=1e-7)
    np.testing.assert_allclose(ours, best.x, atol=2e-3)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_rows_stay_distributions_and_what_is_impossible_stays_so(seed: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    probabilities = rows(seed, 20, n_classes)
    probabilities[rng.random(probabilities.shape) < 0.3] = 0
    probabilities[np.arange(20), rng.integers(0, n_classes, 20)] += 0.1
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    mapped = DirichletMap(rng.normal(size=(n_classes, n_classes)), rng.normal(size=n_classes))(probabilities)
    np.testing.assert_allclose(mapped.sum(axis=1), 1)
    assert ((mapped == 0) == (probabilities == 0)).all()
    certain = np.eye(n_classes)
    np.testing.assert_array_equal(
        DirichletMap(rng.normal(size=(n_classes, n_classes)), np.zeros(n_classes))(certain), certain
    )


def test_the_map_that_changes_nothing() -> None:
    probabilities = np.maximum(rows(0, 50), 1e-4)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(DirichletMap(np.eye(3), np.zeros(3))(probabilities), probabilities)


def test_honest_probabilities_are_hardly_changed() -> None:
    probabilities = rows(2, 20_000)
    fitted = fit_dirichlet(probabilities, draw(probabilities, 3).astype(np.int32))
    assert np.abs(fitted(probabilities) - probabilities).max() < 0.05


def test_unknown_gold_counts_for_nothing() -> None:
    probabilities, labels = rows(4, 300), draw(rows(4, 300), 5).astype(np.int32)
    hidden = labels.copy()
    hidden[200:] = -1
    ours, expected = fit_dirichlet(probabilities, hidden), fit_dirichlet(probabilities[:200], labels[:200])
    np.testing.assert_allclose(ours.weights, expected.weights)
    with pytest.raises(ValueError, match="CRF111"):
        fit_dirichlet(probabilities, np.full(300, -1, dtype=np.int32))


def test_marginals_of_a_wrong_chain_come_right() -> None:
    """Labels that depend on each other, of a chain whose scores another one gets wrong label by label."""
    rng = np.random.default_rng(6)
    lengths = rng.integers(20, 60, 400)
    scores, transitions = rng.normal(0, 1.2, (lengths.sum(), 3)), rng.normal(0, 1, (3, 3))
    truth = ChainPotentials(pack(lengths), scores, transitions, *np.zeros((2, 3)))
    labels = sample(truth, 1, rng)[0]
    wrong = ChainPotentials(pack(lengths), scores * [3.0, 1.0, 2.0] + [0.0, 1.0, 0.0], transitions, *np.zeros((2, 3)))
    marginals = node_marginals(forward_backward(wrong))
    half = len(labels) // 2
    mapped = fit_dirichlet(marginals[:half], labels[:half])(marginals[half:])
    before, after = (classwise_errors(found, labels[half:]) for found in (marginals[half:], mapped))
    assert (after < 0.25 * before).all() and (after < 0.02).all()
