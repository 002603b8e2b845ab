"""OWL-QN against closed forms, scipy and the conditions of an optimum."""

import numpy as np
import pytest
from helpers.convex import TIGHT, softmax_regression
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from spacy_crf.core.chain.objective import loss_and_gradient
from spacy_crf.core.chain.potentials import observe
from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective, new_optimizer
from spacy_crf.core.learn.lbfgs import (
    DECREASE,
    LBFGS,
    OWLQN,
    DivergedError,
    LineSearchError,
    Point,
    backtrack,
    pseudo_gradient,
)
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import DenseWeights, Layout, cells, gather, scatter


def check_optimal(x, gradient, c1, tolerance):
    """The subgradient conditions: slopes of -c1 sign(x) where x is not 0, and of at most c1 where it is."""
    active = x != 0
    np.testing.assert_allclose(gradient[active], -(c1 * np.sign(x))[active], atol=tolerance)
    assert (np.abs(gradient) <= c1 + tolerance)[~active].all()


@given(st.integers(0, 10_000))
def test_slopes_are_one_sided_differences(seed):
    rng = np.random.default_rng(seed)
    x, gradient, c1 = rng.normal(size=9) * rng.integers(0, 2, 9), rng.normal(size=9) * 2, rng.random(9) * 2

    def value(i, step):
        return gradient[i] * step + c1[i] * (abs(x[i] + step) - abs(x[i]))

    expected = []
    for i in range(9):
        right, left = value(i, 1e-7) / 1e-7, value(i, -1e-7) / -1e-7
        expected.append(right if right < 0 else left if left > 0 else 0.0)
    np.testing.assert_allclose(pseudo_gradient(x, gradient, c1), expected, atol=1e-6)


@given(st.integers(0, 10_000))
def test_separable_quadratics_end_at_the_soft_threshold(seed):
    rng = np.random.default_rng(seed)
    centre, stiffness, c1 = rng.normal(size=15) * 2, rng.uniform(0.1, 10, 15), rng.random(15) * 3

    def objective(x):
        return float(stiffness @ (x - centre) ** 2) / 2 + 1.0, stiffness * (x - centre)

    optimizer = OWLQN(objective, rng.normal(size=15), c1=c1, **TIGHT)
    optimizer.run(500)
    expected = np.sign(centre) * np.maximum(np.abs(centre) - c1 / stiffness, 0)
    np.testing.assert_allclose(optimizer.x, expected, atol=1e-6)
    assert ((optimizer.x == 0) == (expected == 0)).all()
    assert optimizer.value == pytest.approx(objective(expected)[0] + c1 @ np.abs(expected), rel=1e-7)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_it_reaches_the_optimum_of_scipy(seed, penalty):
    """Scipy minimises over positive and negative parts within bounds."""
    objective, start = softmax_regression(seed, penalty=penalty)
    c1 = np.random.default_rng(seed).uniform(0, 6, len(start))

    def split_objective(parts):
        positive, negative = np.split(parts, 2)
        value, gradient = objective(positive - negative)
        return value + c1 @ (positive + negative), np.concatenate([gradient + c1, c1 - gradient])

    bounds = [(0, None)] * (2 * len(start))
    options = {"gtol": 1e-10, "ftol": 1e-15, "maxiter": 10_000, "maxfun": 100_000}
    best = minimize(
        split_objective, np.zeros(2 * len(start)), jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    optimizer = OWLQN(objective, start, c1=c1, **TIGHT)
    optimizer.run(2000)
    assert optimizer.value == pytest.approx(best.fun, rel=1e-8)
    assert 5 < np.count_nonzero(optimizer.x) < len(start) - 5
    check_optimal(optimizer.x, optimizer.gradient, c1, 1e-4)


def test_without_a_penalty_it_ends_where_lbfgs_does():
    objective, start = softmax_regression()
    smooth, optimizer = LBFGS(objective, start, **TIGHT), OWLQN(objective, start, c1=np.zeros(len(start)), **TIGHT)
    smooth.run(500)
    optimizer.run(500)
    assert optimizer.value == pytest.approx(smooth.value, rel=1e-8)


def test_the_whole_function_falls_and_no_iteration_crosses_zero():
    objective, start = softmax_regression()
    optimizer = OWLQN(objective, start, c1=np.full(len(start), 2.0))
    before, value = optimizer.x, optimizer.value
    while optimizer.run(1):
        assert (before * optimizer.x >= 0).all()
        assert optimizer.value < value
        assert optimizer.value == pytest.approx(objective(optimizer.x)[0] + 2 * np.abs(optimizer.x).sum(), rel=1e-12)
        before, value = optimizer.x, optimizer.value
    assert optimizer.iterations > 10 and "of its value over 10 iterations" in optimizer.reason


def test_steps_add_up_bit_for_bit():
    objective, start = softmax_regression()
    c1 = np.full(len(start), 1.0)
    whole, parts = OWLQN(objective, start, c1=c1), OWLQN(objective, start, c1=c1)
    assert whole.run(15) == 15
    assert [parts.run(n) for n in (1, 1, 1, 5, 0, 7)] == [1, 1, 1, 5, 0, 7]
    np.testing.assert_array_equal(whole.x, parts.x)
    assert (whole.value, whole.evaluations) == (parts.value, parts.evaluations)


def test_a_great_penalty_leaves_nothing_to_do():
    objective, start = softmax_regression()
    optimizer = OWLQN(objective, start, c1=np.full(len(start), 1e4))
    assert optimizer.run(10) == 0 and "gradient" in optimizer.reason
    assert optimizer.gradient_norm == 0.0 < np.linalg.norm(optimizer.gradient)


@pytest.mark.parametrize("c1", [-0.1, np.nan])
def test_a_penalty_that_is_none_is_refused(c1):
    with pytest.raises(ValueError, match=r"CRF204.*c1.*at least 0"):
        OWLQN(lambda x: (float(x @ x), 2 * x), np.ones(2), c1=np.array([1.0, c1]))


def test_divergence_is_an_error():
    with pytest.raises(DivergedError, match="CRF201"):
        OWLQN(lambda x: (np.nan, x), np.zeros(2), c1=np.ones(2))


def test_backtracking_halves_the_step_until_the_value_falls_enough():
    calls = []

    def evaluate(step):
        calls.append(step)
        return Point(step, (step - 1) ** 2, 0.0, np.array([step]), np.array([2 * (step - 1)]))

    start = evaluate(0.0)
    point = backtrack(evaluate, start, 8.0)
    assert calls == [0.0, 8.0, 4.0, 2.0, 1.0] and point.step == 1.0
    assert point.value <= start.value + DECREASE * float(start.gradient @ point.x)
    with pytest.raises(LineSearchError):
        backtrack(lambda step: start._replace(value=2.0), start, 1.0)
    assert len(calls) == 5


def plain(problem, c2):
    """The smooth part over the layout's own flat vector: nothing merged, nothing cut into blocks."""
    corpus, layout = problem.corpus, problem.layout
    observations = observe(corpus.lengths, corpus.features, corpus.edges)
    gold = corpus.gold.take(observations.batch.units)

    def objective(flat):
        weights, out, gradient = (
            DenseWeights.zeros(layout, np.float64),
            DenseWeights.zeros(layout, np.float64),
            flat * 0,
        )
        scatter(layout, flat, weights)
        loss = loss_and_gradient(observations, gold, weights, layout, out)
        gather(layout, out, gradient)
        return loss + c2 * flat @ flat, gradient + 2 * c2 * flat

    return objective


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("c1, c2", [(0.3, 0.0), (0.3, 0.1), (0.05, 0.5)])
def test_merged_singletons_change_nothing_under_l1(make_problem, c1, c2, edges):
    problem = make_problem(1, ("known",), edges, lengths=(3, 1, 0, 4, 2, 3, 5, 2), density=0.4, own=4)
    start = np.zeros(problem.layout.size)
    whole = OWLQN(plain(problem, c2), start, c1=np.full(len(start), c1), **TIGHT)
    objective = FullBatchObjective(problem.corpus, problem.layout, c2, n_threads=1, dtype=np.float64)
    merged = OWLQN(objective, objective.basis.start(start), c1=c1 * objective.basis.l1_scales, **TIGHT)
    assert objective.basis.size < len(start) and objective.basis.l1_scales.max() > 1
    for _ in range(8):  # not only the optimum, but the way there is the same
        whole.run(1), merged.run(1)
        assert merged.value == pytest.approx(whole.value, rel=1e-7)
        np.testing.assert_allclose(objective.basis.finish(merged.x), whole.x, atol=1e-6)
    whole.run(2000)
    merged.run(2000)
    flat = objective.basis.finish(merged.x)
    assert merged.value == pytest.approx(whole.value, rel=1e-7)
    assert c1 * np.abs(flat).sum() == pytest.approx(merged.c1 @ np.abs(merged.x))
    assert 0 < np.count_nonzero(flat) < len(flat)
    check_optimal(flat, plain(problem, c2)(flat)[1], np.full(len(flat), c1), 1e-4)


def test_factored_implications_change_nothing_under_l1():
    rng = np.random.default_rng(3)
    words = rng.integers(0, 8, 40)
    table = np.stack([words, 8 + words // 3, 11 + rng.integers(0, 4, 40)], axis=1).astype(np.int32)
    slots = np.repeat(np.arange(3), [8, 3, 4]).astype(np.int32)
    features, labels = from_columns(table, 15), (words + rng.integers(0, 2, 40)) % 3
    seen = cells(features.indices, labels[features.row_numbers()], 3)
    masks = (np.ones((3, 3), bool), np.ones(3, bool), np.ones(3, bool))
    layout = Layout(15, 3, 0, seen, np.arange(9), np.zeros(0, np.intp), True, *masks)
    found = []
    for given_slots in (None, slots):
        corpus = EncodedCorpus(np.full(8, 5), features, Gold.known(labels, 3), None, given_slots)
        objective = FullBatchObjective(corpus, layout, 0.05, n_threads=1, dtype=np.float64)
        optimizer = new_optimizer(objective, np.zeros(layout.size), 0.5, **TIGHT)
        optimizer.run(2000)
        found.append((optimizer.value, objective.basis.finish(optimizer.x)))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-9)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=1e-6)
    assert ((found[0][1] == 0) == (found[1][1] == 0)).all() and (found[0][1] == 0).any()
