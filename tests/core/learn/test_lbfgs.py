"""L-BFGS and its line search against scipy on convex problems."""

import math

import numpy as np
import pytest
from helpers.convex import TIGHT, softmax_regression
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from spacy_crf.core.learn.lbfgs import CURVATURE, DECREASE, LBFGS, DivergedError, LineSearchError, Point, wolfe


def quadratic(condition, n=20, seed=0):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(n, n)))
    hessian = basis @ np.diag(np.geomspace(1, condition, n)) @ basis.T
    centre = rng.normal(size=n)
    return (lambda x: (0.5 * (x - centre) @ hessian @ (x - centre) + 1.0, hessian @ (x - centre))), centre


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
def test_badly_conditioned_quadratics(condition):
    objective, centre = quadratic(condition)
    optimizer = LBFGS(objective, np.zeros(20), memory=10, **TIGHT)
    optimizer.run(3000)
    assert optimizer.value == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(optimizer.x, centre, atol=1e-5)
    assert "gradient" in optimizer.reason


@pytest.mark.parametrize("seed", range(2))
def test_softmax_regression_reaches_the_optimum_of_scipy(seed):
    objective, start = softmax_regression(seed)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-15})
    optimizer = LBFGS(objective, start, **TIGHT)
    while optimizer.value > best.fun * (1 + 1e-7):
        assert optimizer.run(1) == 1
    assert optimizer.evaluations < best.nfev
    optimizer.run(1000)
    assert optimizer.value == pytest.approx(best.fun, rel=1e-9)
    np.testing.assert_allclose(optimizer.x, best.x, atol=1e-4)
    assert optimizer.evaluations < 1.2 * optimizer.iterations + 5


def test_the_objective_falls_in_every_iteration():
    objective, start = softmax_regression()
    optimizer = LBFGS(objective, start)
    values = [optimizer.value]
    while optimizer.run(1):
        values.append(optimizer.value)
    assert len(values) == optimizer.iterations + 1 > 10
    assert (np.diff(values) < 0).all()
    assert optimizer.value == objective(optimizer.x)[0]


def test_steps_add_up_bit_for_bit():
    objective, start = softmax_regression()
    whole, parts = LBFGS(objective, start), LBFGS(objective, start)
    assert whole.run(15) == 15
    assert [parts.run(n) for n in (1, 1, 1, 5, 0, 7)] == [1, 1, 1, 5, 0, 7]
    np.testing.assert_array_equal(whole.x, parts.x)
    assert (whole.value, whole.evaluations, whole.iterations) == (parts.value, parts.evaluations, parts.iterations)


def test_the_start_is_left_alone():
    objective, start = softmax_regression()
    LBFGS(objective, start).run(3)
    assert not start.any()


def test_it_stops_for_lack_of_improvement_over_the_period():
    objective, start = softmax_regression()
    optimizer = LBFGS(objective, start, period=5, delta=0.01, epsilon=0.0)
    values = [optimizer.value]
    while optimizer.run(1):
        values.append(optimizer.value)
    assert "0.01 of its value over 5 iterations" in optimizer.reason
    gains = [(before - after) / after for before, after in zip(values, values[5:])]
    assert gains[-1] < 0.01 <= min(gains[:-1])


def test_it_stops_at_a_short_gradient_and_not_before():
    objective, start = softmax_regression()
    optimizer = LBFGS(objective, start, period=0, epsilon=1e-3)
    assert optimizer.run(500) == optimizer.iterations < 500
    assert "the gradient" in optimizer.reason
    assert optimizer.gradient_norm <= 1e-3 * max(1.0, float(np.linalg.norm(optimizer.x)))
    assert optimizer.run(5) == 0


@pytest.mark.parametrize("epsilon", [1e-6, 0.0])
def test_it_has_nothing_to_do_at_the_optimum(epsilon):
    optimizer = LBFGS(lambda x: (float(x @ x), 2 * x), np.zeros(3), epsilon=epsilon)
    assert optimizer.run(10) == optimizer.iterations == 0
    assert optimizer.evaluations == 1 and "gradient" in optimizer.reason


def test_without_any_stop_rule_it_ends_where_rounding_does():
    optimizer = LBFGS(quadratic(100.0)[0], np.zeros(20), delta=0.0, period=0, epsilon=0.0)
    taken = optimizer.run(500)
    assert taken == optimizer.iterations
    assert optimizer.value == pytest.approx(1.0, abs=1e-12)


def test_an_iteration_without_a_lower_point_does_not_count():
    """The gradient points the wrong way: no step along it can help."""
    optimizer = LBFGS(lambda x: (float(x @ x), -2 * x), np.ones(3))
    assert optimizer.run(5) == optimizer.iterations == 0
    assert "line search" in optimizer.reason
    np.testing.assert_array_equal(optimizer.x, np.ones(3))


@pytest.mark.parametrize("value,slope", [(np.nan, 1.0), (1.0, np.nan), (np.inf, 1.0)])
def test_divergence_is_an_error(value, slope):
    def objective(x):
        return (float(x @ x), 2 * x) if x[0] > 0.9 else (value, np.full(2, slope))

    with pytest.raises(DivergedError, match=r"CRF201.*iteration 0"):
        LBFGS(objective, np.zeros(2))
    optimizer = LBFGS(objective, np.ones(2))
    with pytest.raises(DivergedError, match="CRF201"):
        optimizer.run(3)


def on_a_line(function, derivative):
    def evaluate(step):
        return Point(step, function(step), derivative(step), np.array([step]), np.array([derivative(step)]))

    return evaluate


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(0.01, 10))
def test_the_point_meets_the_strong_wolfe_conditions(minimum, stiffness, first):
    evaluate = on_a_line(
        lambda s: stiffness * (math.cosh(min((s - minimum) / minimum, 300)) - 1),
        lambda s: stiffness / minimum * math.sinh(min((s - minimum) / minimum, 300)),
    )
    start = evaluate(0.0)
    point = wolfe(evaluate, start, first)
    assert point.value <= start.value + DECREASE * point.step * start.slope + 1e-6 * start.value
    assert abs(point.slope) <= CURVATURE * abs(start.slope)


def test_a_good_first_step_costs_one_evaluation():
    calls = []
    line = on_a_line(lambda s: (s - 1) ** 2, lambda s: 2 * (s - 1))
    wolfe(lambda s: calls.append(s) or line(s), line(0.0), 1.0)
    assert calls == [1.0]


def test_a_line_that_falls_forever_gives_its_last_point():
    calls = []
    line = on_a_line(lambda s: -s, lambda s: -1.0)
    point = wolfe(lambda s: calls.append(s) or line(s), line(0.0), 1.0)
    assert len(calls) == 20 and point.step == max(calls)


def test_a_kink_ends_with_a_lower_point():
    """No point near a kink is flat: the interval shrinks to nothing, and the best point is taken."""
    line = on_a_line(lambda s: max(1 - s, 1e3 * (s - 1)), lambda s: -1.0 if s < 1 else 1e3)
    assert 0 < wolfe(line, line(0.0), 4.0).value < 1


def test_a_line_that_only_rises_is_refused():
    line = on_a_line(lambda s: 1.0 + s, lambda s: -1.0)
    with pytest.raises(LineSearchError):
        wolfe(line, line(0.0), 1.0)


def test_a_wall_ends_with_the_point_before_it():
    """The interval shrinks by ten each time, until rounding leaves nothing between its ends."""
    line = on_a_line(lambda s: -s if s <= 1 else 1e12 * s, lambda s: -1.0 if s <= 1 else 1e12)
    assert wolfe(line, line(0.0), 1.0).step == 1.0
