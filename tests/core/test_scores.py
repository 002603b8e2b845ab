"""Expected scores and thresholds against counting and trying."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.arrays import pack
from spacy_crf.core.chain.forward import forward_backward
from spacy_crf.core.chain.marginals import node_marginals
from spacy_crf.core.chain.paths import sample
from spacy_crf.core.chain.potentials import ChainPotentials
from spacy_crf.core.scores import best_f_threshold, choice_scores, precision_threshold

PROBABILITIES = st.lists(st.floats(0.01, 1), min_size=1, max_size=12).map(np.array)


def test_scores_by_hand() -> None:
    probabilities, taken = np.array([0.9, 0.5, 0.2, 0.4]), np.array([True, True, False, False])
    assert choice_scores(probabilities, taken) == pytest.approx((0.7, 0.7, 0.7))
    assert choice_scores(np.array([True, False, True, True]), taken) == pytest.approx((1 / 2, 1 / 3, 2 / 5))
    assert choice_scores(probabilities, taken & False) == (0, 0, 0)
    assert choice_scores(taken & False, taken & False) == (0, 0, 0)


def test_a_true_chain_keeps_its_promise() -> None:
    """Precision and recall by threshold are those that exact marginals expect, within sampling error."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(20, 80, 1200)
    transitions = np.array([[1.5, 0.0, 0.0], [1.0, -2.0, -1.0], [1.0, -1.0, -2.0]])
    scores = rng.normal(0, 1.5, (lengths.sum(), 3))
    truth = ChainPotentials(pack(lengths), scores, transitions, *np.zeros((2, 3)))
    labels, marginals = sample(truth, 1, rng)[0], node_marginals(forward_backward(truth))
    for mark in (1, 2):
        for threshold in np.arange(1, 10) / 10:
            taken = marginals[:, mark] >= threshold
            expected, found = choice_scores(marginals[:, mark], taken), choice_scores(labels == mark, taken)
            chances = marginals[taken, mark]
            deviation = np.sqrt((chances * (1 - chances)).sum()) / len(chances)
            assert abs(expected.precision - found.precision) < 4 * deviation
            there = (labels == mark).sum()
            assert abs(expected.recall - found.recall) < 4 * np.sqrt(expected.recall / there)
            assert taken.sum() > 300  # or the test says nothing
    assert abs(expected.precision - choice_scores(marginals[:, mark] ** 2, taken).precision) > 4 * deviation


@given(PROBABILITIES, st.floats(0, 3))
def test_no_threshold_has_a_better_f(best: np.ndarray, more: float) -> None:
    """Some of what there is may be of classes that are never the most probable ones."""
    total = best.sum() + more
    threshold = best_f_threshold(best, total)
    tried = [2 * best[best >= low].sum() / ((best >= low).sum() + total) for low in best]
    assert threshold == pytest.approx(max(tried) / 2)
    ours = best[best >= threshold - 1e-12]
    assert 2 * ours.sum() / (len(ours) + total) == pytest.approx(max(tried))


@given(PROBABILITIES, st.floats(0.05, 1))
def test_the_lowest_threshold_with_a_precision(probabilities: np.ndarray, precision: float) -> None:
    def expected(low: float) -> float:
        return float(probabilities[probabilities >= low].mean())

    found = precision_threshold(probabilities, precision)
    enough = [low for low in probabilities.tolist() if expected(low) >= precision + 1e-9]
    if found is None:
        assert not enough
    else:
        assert expected(found) >= precision - 1e-9 and found <= min(enough, default=1) + 1e-9


def test_nothing_to_choose_from() -> None:
    assert best_f_threshold(np.zeros(0), 0.0) == 0 and precision_threshold(np.zeros(0), 0.5) is None
    assert best_f_threshold(np.zeros(3), 0.0) == 0
