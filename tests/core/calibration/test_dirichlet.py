"""The Dirichlet map: what it leaves alone, that the fit is the optimum, and what it does to dependent units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax

from spacy_crf.core.batch import pack
from spacy_crf.core.calibration.bins import classwise_errors
from spacy_crf.core.calibration.dirichlet import LEAST, PRIOR, DirichletMap, fit_dirichlet
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import sample
from spacy_crf.core.chain.potentials import ChainPotentials


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
