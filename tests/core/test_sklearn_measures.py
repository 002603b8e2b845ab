"""Measures against those of scikit-learn and MAPIE."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapie.metrics.calibration import expected_calibration_error
from sklearn import metrics
from sklearn.calibration import calibration_curve

from spacy_crf.core.arrays import pack
from spacy_crf.core.calibration import classwise_errors, reliability
from spacy_crf.core.chain.distribution import ChainDistribution
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.chain.temperature import HeldOut, token_loss
from spacy_crf.core.labels import UNKNOWN
from spacy_crf.core.scores import count_labels
from spacy_crf.core.sets.measures import best_label_error, covered, ml_acc

seeds = st.integers(0, 2**32 - 1)
N_LABELS = 5


def labels(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Gold and predicted labels, some of which do not occur."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, rng.integers(1, N_LABELS + 1), n)
    return gold, np.where(rng.random(n) < 0.6, gold, rng.integers(0, N_LABELS, n))


def mapie_error(right: np.ndarray, confidences: np.ndarray, n_bins: int) -> float:
    """MAPIE counts the ends of bins."""
    return expected_calibration_error(right, confidences, num_bins=n_bins + 1, split_strategy="uniform")


@given(seeds)
def test_precision_recall_and_f(seed):
    gold, predicted = labels(seed)
    counts = count_labels(gold[gold == predicted], predicted, gold, N_LABELS)
    each = metrics.precision_recall_fscore_support(gold, predicted, labels=range(N_LABELS), zero_division=0)
    for own, theirs in zip((counts.precision, counts.recall, counts.f), each):
        np.testing.assert_allclose(own, theirs, atol=1e-12)
    means = {"macro": counts.macro().f, "weighted": counts.weighted.f, "micro": counts.micro_f}
    for average, own in means.items():
        assert own == pytest.approx(metrics.f1_score(gold, predicted, average=average, zero_division=0))
    assert counts.micro_f == pytest.approx(metrics.accuracy_score(gold, predicted))


@given(seeds)
def test_the_loss_of_tokens_is_the_log_loss_of_their_marginals(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, 8)
    n, zeros = int(lengths.sum()), np.zeros(N_LABELS)
    emissions, transitions = rng.normal(0, 2, (n, N_LABELS)), rng.normal(0, 1, (N_LABELS, N_LABELS))
    found = ChainDistribution(ChainPotentials(pack(lengths), emissions, transitions, zeros, zeros))
    gold = rng.integers(0, N_LABELS, n).astype(np.int32)
    gold[1:][rng.random(n - 1) < 0.2] = UNKNOWN
    known = gold != UNKNOWN
    expected = metrics.log_loss(gold[known], found.marginals[known], normalize=False, labels=range(N_LABELS))
    assert token_loss(HeldOut(found, gold), 1.0) == pytest.approx(expected, rel=1e-9)


@given(seeds, st.integers(2, 15))
def test_reliability(seed, n_bins):
    rng = np.random.default_rng(seed)
    confidences = rng.random(80)
    right = rng.random(80) < confidences
    found = reliability(confidences, right, n_bins)
    shares, means = calibration_curve(right, confidences, n_bins=n_bins)
    np.testing.assert_allclose(found.accuracies[found.counts > 0], shares)
    np.testing.assert_allclose(found.confidences[found.counts > 0], means)
    assert found.error == pytest.approx(mapie_error(right, confidences, n_bins))


@given(seeds)
def test_calibration_errors_of_labels(seed):
    rng = np.random.default_rng(seed)
    marginals = rng.dirichlet(np.ones(N_LABELS), 80)
    gold = rng.integers(0, N_LABELS, 80)
    each = [mapie_error(gold == k, marginals[:, k], 10) for k in range(N_LABELS)]
    np.testing.assert_allclose(classwise_errors(marginals, gold.astype(np.int32)), each, atol=1e-9)
    best = marginals.argmax(axis=1) == gold
    expected = mapie_error(best, marginals.max(axis=1), 10)
    assert best_label_error(marginals, np.eye(N_LABELS)[gold]) == pytest.approx(expected)


@given(seeds)
def test_sets_of_labels(seed):
    rng = np.random.default_rng(seed)
    one = np.eye(N_LABELS)[rng.integers(0, N_LABELS, 50)]
    chosen = rng.integers(0, N_LABELS, 50)
    assert ml_acc(one, chosen).mean() == pytest.approx(metrics.accuracy_score(one.argmax(axis=1), chosen))
    k = int(rng.integers(1, N_LABELS))
    scores = rng.random((50, N_LABELS))
    top = np.argsort(np.argsort(-scores, axis=1), axis=1) < k
    expected = metrics.top_k_accuracy_score(one.argmax(axis=1), scores, k=k, labels=range(N_LABELS))
    assert covered(one, top).mean() == pytest.approx(expected)
