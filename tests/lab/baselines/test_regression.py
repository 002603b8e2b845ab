"""The softmax objective against a plain sum and central differences."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sparse import SparseRows, from_columns
from spacy_crf.lab.baselines.regression import SoftmaxObjective


def problem(seed: int, n_rows: int = 7):
    """(rows, targets, cells, x, dense rows, dense targets)"""
    rng = np.random.default_rng(seed)
    columns = rng.integers(-1, 4, (n_rows, 3)).astype(np.int32)
    rows = from_columns(columns, 4, rng.choice([0.5, 1.0, 2.0], columns.shape) if seed % 2 else None)
    dense = np.zeros((n_rows, 4))
    rows.times(np.eye(4), dense)
    table = rng.random((n_rows, 3)) * (rng.random((n_rows, 3)) < 0.6)
    owners, labels = np.nonzero(table)
    ends = np.searchsorted(owners, np.arange(n_rows + 1)).astype(np.int32)
    targets = SparseRows(ends, labels.astype(np.int32), table[owners, labels], 3)
    cells = np.flatnonzero(rng.random(12) < 0.8)
    return rows, targets, cells, rng.normal(0, 1, len(cells)), dense, table


def plain_loss(dense, table, cells, x, c2) -> float:
    weights = np.zeros(12)
    weights[cells] = x
    total = c2 * sum(value * value for value in x)
    for row, target in zip(dense @ weights.reshape(4, 3), table):
        log_norm = math.log(sum(math.exp(score) for score in row))
        total += sum(share * (log_norm - score) for share, score in zip(target, row))
    return total


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]))
def test_value_is_the_sum_of_losses_and_gradient_its_slope(seed, c2):
    rows, targets, cells, x, dense, table = problem(seed)
    objective = SoftmaxObjective(rows, targets, cells, c2, np.float64)
    value, gradient = objective(x)
    assert value == pytest.approx(plain_loss(dense, table, cells, x, c2), rel=1e-9, abs=1e-9)
    for number in range(len(x)):
        step = np.eye(len(x))[number] * 1e-6
        slope = (objective(x + step)[0] - objective(x - step)[0]) / 2e-6
        assert gradient[number] == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_blocks_add_up(monkeypatch):
    rows, targets, cells, x, *_ = problem(2, n_rows=11)
    whole = SoftmaxObjective(rows, targets, cells, 0.1, np.float64)(x)
    monkeypatch.setattr("spacy_crf.lab.baselines.regression.ROWS", 4)
    pieces = SoftmaxObjective(rows, targets, cells, 0.1, np.float64)(x)
    assert pieces[0] == pytest.approx(whole[0], rel=1e-12)
    np.testing.assert_allclose(pieces[1], whole[1], rtol=1e-9, atol=1e-12)


def test_single_precision_is_nearly_the_same():
    rows, targets, cells, x, *_ = problem(3)
    double, single = (SoftmaxObjective(rows, targets, cells, 0.1, dtype)(x) for dtype in (np.float64, np.float32))
    assert single[0] == pytest.approx(double[0], rel=1e-5)
    np.testing.assert_allclose(single[1], double[1], atol=1e-5)


def test_scores_of_any_size_leave_numbers():
    rows, targets, cells, x, *_ = problem(4)
    value, gradient = SoftmaxObjective(rows, targets, cells, 0.0, np.float64)(x * 1e5)
    assert np.isfinite(value) and np.isfinite(gradient).all()
