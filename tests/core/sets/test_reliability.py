"""Coverage by stratum and calibration errors against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.calibration import classwise_errors, reliability
from spacy_crf.core.sets.measures import (
    best_label_error,
    best_labels,
    classwise_error,
    coverage_by_group,
    coverage_by_label,
    coverage_by_size,
    covered,
)

WEIGHTS = np.array(
    [
        [1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.5, 0.5],  # left open: 1 or 2
        [0.0, 0.66, 0.33],  # 1 is best
        [0.0, 0.0, 0.0],  # no gold
    ]
)
SETS = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)


def table(found) -> list[tuple[int, int, float]]:
    return list(zip(found.strata.tolist(), found.counts.tolist(), found.coverages.tolist()))


def test_best_labels():
    assert best_labels(WEIGHTS).tolist() == [
        [True, False, False],
        [True, False, False],
        [False, True, False],
        [False, True, True],
        [False, True, False],
        [False, False, False],
    ]


def test_weights_that_differ_by_rounding_are_equally_good():
    weights = np.array([[0.7 - 0.2, 0.5, 0.0], [1e-9, 0.0, 0.0], [0.51, 0.49, 0.0]], dtype=np.float32)
    weights[0, 0] += 1e-7
    assert best_labels(weights).tolist() == [[True, True, False], [True, False, False], [True, False, False]]


def test_coverage_by_hand():
    assert table(coverage_by_size(WEIGHTS, SETS)) == [(1, 3, pytest.approx(2 / 3)), (2, 2, 0.5)]
    assert table(coverage_by_label(WEIGHTS, SETS)) == [(0, 2, 0.5), (1, 3, pytest.approx(2 / 3)), (2, 1, 1.0)]
    groups = np.array([7, 7, 7, -2, -2, 5])
    assert table(coverage_by_group(WEIGHTS, SETS, groups)) == [(-2, 2, 0.5), (7, 3, pytest.approx(2 / 3))]


def test_gap():
    found = coverage_by_label(WEIGHTS, SETS)
    assert found.gap(0.2) == pytest.approx((0.3 + (0.8 - 2 / 3) + 0.2) / 3)
    assert table(found.at_least(2)) == table(found)[:2]
    assert found.at_least(2).gap(0.5) == pytest.approx((2 / 3 - 0.5) / 2)


def test_nothing_to_cover():
    found = coverage_by_size(np.zeros((2, 3)), np.ones((2, 3), dtype=bool))
    assert table(found) == [] and np.isnan(found.gap(0.1))
    assert best_label_error(np.full((2, 3), 1 / 3), np.zeros((2, 3))) == 0
    assert classwise_error(np.full((2, 3), 1 / 3), np.zeros((2, 3))) == 0


@given(st.integers(0, 2**32 - 1))
def test_strata_agree_with_counting_one_by_one(seed):
    rng = np.random.default_rng(seed)
    n, n_labels = 30, 4
    weights = rng.choice([0.0, 0.0, 0.5, 1.0], (n, n_labels))
    sets = rng.random((n, n_labels)) < 0.5
    groups = rng.integers(0, 3, n)
    best = [{label for label in range(n_labels) if w[label] == max(w) > 0} for w in weights]
    hit = [any(sets[i, label] for label in best[i]) for i in range(n)]
    memberships = {
        coverage_by_size: [{int(sets[i].sum())} for i in range(n)],
        coverage_by_label: best,
        coverage_by_group: [{int(group)} for group in groups],
    }
    for measure, strata_of in memberships.items():
        extra = (groups,) if measure is coverage_by_group else ()
        expected = []
        for stratum in range(5):
            hits = [hit[i] for i in range(n) if best[i] and stratum in strata_of[i]]
            if hits:
                expected.append((stratum, len(hits), pytest.approx(sum(hits) / len(hits))))
        assert table(measure(weights, sets, *extra)) == expected
    by_size = coverage_by_size(weights, sets)
    total = (by_size.coverages * by_size.counts).sum()
    assert total == pytest.approx(covered(weights, sets).sum())


def test_calibration_errors_are_those_of_single_labels():
    rng = np.random.default_rng(0)
    marginals = rng.dirichlet(np.ones(3), 200)
    labels = rng.integers(0, 3, 200).astype(np.int32)
    weights = np.eye(3)[labels]
    right = marginals.argmax(axis=1) == labels
    assert best_label_error(marginals, weights) == pytest.approx(reliability(marginals.max(axis=1), right).error)
    assert classwise_error(marginals, weights) == pytest.approx(classwise_errors(marginals, labels).mean())


def test_calibration_errors_where_gold_is_open_or_missing():
    """Of .4 sure, 3 of 4 are right; the last has no gold, and classwise only the first and the third count."""
    marginals = np.tile([0.4, 0.3, 0.3], (5, 1))
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert best_label_error(marginals, weights) == pytest.approx(0.75 - 0.4)
    assert classwise_error(marginals, weights) == pytest.approx((0.1 + 0.2 + 0.3) / 3)


def test_wrong_shapes():
    with pytest.raises(ValueError, match="CRF101.*sets"):
        coverage_by_label(WEIGHTS, SETS[:3])
    with pytest.raises(ValueError, match="CRF101.*groups"):
        coverage_by_group(WEIGHTS, SETS, np.zeros(3, dtype=int))
    for measure in (best_label_error, classwise_error):
        with pytest.raises(ValueError, match="CRF101.*marginals"):
            measure(np.full((6, 2), 0.5), WEIGHTS)
