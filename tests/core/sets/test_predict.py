"""Optimal, error-controlled and top-k sets against all 2^L - 1 sets."""

import itertools

import numpy as np
import pytest
from helpers.set_oracles import exact_weighted_sets, expected_ml_util
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_crf.core.sets.predict import (
    FEW,
    TIE,
    error_controlled_sets,
    make_utility,
    table_utility,
    top_k_sets,
    utility_optimal_sets,
)

UTILITIES = [
    *(make_utility("g", alpha, beta) for alpha, beta in itertools.product((0.3, 0.5, 1.0), (0.2, 1.0, 5.0))),
    *(make_utility("f", beta=beta) for beta in (0.5, 1.0, 3.0)),
    *(make_utility("reject", alpha) for alpha in (0.05, 0.3, 1.0)),
    *(make_utility(name) for name in ("precision", "recall", "u65", "u80")),
    table_utility(lambda size: float(size), "rising"),
    table_utility(lambda size: 0.1 + 0.9 * (size % 3 == 0), "jagged"),
    table_utility(lambda size: float(size == 2), "pairs"),
]


def all_sets(n_labels: int) -> list[tuple[int, ...]]:
    return [s for size in range(1, n_labels + 1) for s in itertools.combinations(range(n_labels), size)]


def best_by_enumeration(row: np.ndarray, g: np.ndarray) -> tuple[float, int]:
    """Greatest expected utility, and the smallest size that has it."""
    values = [(float(row[list(s)].sum() * g[len(s) - 1]), len(s)) for s in all_sets(len(row))]
    best = max(value for value, _ in values)
    return best, min(size for value, size in values if value >= best - TIE)


@st.composite
def marginal_rows(draw, max_labels=8):
    """Distributions, some of them with equal or zero probabilities, in either precision."""
    n_labels = draw(st.integers(1, max_labels))
    kind = draw(st.sampled_from(["flat", "peaked", "whole"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if kind == "whole":
        rows = rng.integers(0, 4, (6, n_labels)).astype(float)
        rows[:, rng.integers(n_labels)] += 1
    else:
        rows = rng.gamma(1.0 if kind == "flat" else 0.2, size=(6, n_labels)) + 1e-9
    rows /= rows.sum(axis=1, keepdims=True)
    return rows.astype(draw(st.sampled_from([np.float32, np.float64])))


def in_label_order(row: np.ndarray, size: int) -> np.ndarray:
    """The most probable labels of a row, equal ones in label order."""
    members = np.zeros(len(row), dtype=bool)
    members[np.argsort(-row, kind="stable")[:size]] = True
    return members


@pytest.mark.promise
@given(marginal_rows(), st.sampled_from(UTILITIES))
def test_optimal_sets_equal_enumeration(marginals, utility):
    g = utility.values(marginals.shape[1])
    sets = utility_optimal_sets(marginals, g)
    for row, members, size, value, mass in zip(
        marginals.astype(np.float64), sets.members, sets.sizes, sets.utilities, sets.masses
    ):
        best, smallest = best_by_enumeration(row, g)
        assert best - 2 * TIE <= value <= best + TIE
        assert size == smallest == members.sum()
        assert members.tolist() == in_label_order(row, size).tolist()
        assert mass == pytest.approx(row[members].sum()) and value == pytest.approx(mass * g[size - 1])


@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: utility.name)
def test_optimal_sets_equal_enumeration_of_ten_labels(utility):
    rng = np.random.default_rng(3)
    marginals = np.vstack([rng.dirichlet(np.full(10, shape)) for shape in (0.1, 0.4, 1.0, 3.0) for _ in range(15)])
    g = utility.values(10)
    members = np.array([np.isin(np.arange(10), s) for s in all_sets(10)])
    values = (marginals @ members.T) * g[members.sum(axis=1) - 1]
    sets = utility_optimal_sets(marginals, g)
    np.testing.assert_allclose(sets.utilities, values.max(axis=1), atol=TIE)
    tied = values >= values.max(axis=1, keepdims=True) - TIE
    assert sets.sizes.tolist() == np.where(tied, members.sum(axis=1), 99).min(axis=1).tolist()


@settings(max_examples=60)
@given(st.integers(FEW - 2, 40), st.sampled_from(UTILITIES), st.floats(0.02, 3), st.integers(0, 10_000))
def test_leaving_prefixes_out_changes_nothing(n_labels, utility, shape, seed):
    """With many labels most prefixes are never scored; here all are."""
    marginals = np.random.default_rng(seed).dirichlet(np.full(n_labels, shape), 20)
    g = utility.values(n_labels)
    values = np.cumsum(np.sort(marginals, axis=1)[:, ::-1], axis=1) * g
    sizes = (values >= values.max(axis=1, keepdims=True) - TIE).argmax(axis=1) + 1
    sets = utility_optimal_sets(marginals, g)
    assert sets.sizes.tolist() == sizes.tolist()
    np.testing.assert_allclose(sets.utilities, values.max(axis=1), atol=TIE)


def test_utility_that_rises_again_is_not_missed():
    """A search that stops where utility falls, as in Algorithm 5, would return one label."""
    marginals = np.array([[0.3, 0.14, 0.14, 0.14, 0.14, 0.14]])
    g = make_utility("g", alpha=0.5, beta=0.2).values(6)
    utilities = np.cumsum(marginals[0]) * g
    assert utilities[1] < utilities[0] < utilities[5]
    sets = utility_optimal_sets(marginals, g)
    assert sets.sizes[0] == 6 and sets.utilities[0] == pytest.approx(0.5)


def test_float32_noise_does_not_decide():
    """Worth the same but for rounding: .6 * 1 and (.6 + .2) * .75."""
    noise = np.random.default_rng(0).uniform(-2e-7, 2e-7, (200, 5))
    marginals = (np.array([0.6, 0.2, 0.1, 0.06, 0.04]) + noise).astype(np.float32)
    assert (utility_optimal_sets(marginals, make_utility("g").values(5)).sizes == 1).all()


def test_equal_probabilities_come_in_label_order():
    marginals = np.array([[0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.3, 0.3, 0.3, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0]])
    assert top_k_sets(marginals, 2).members.astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [1, 0, 1, 0, 0],
    ]
    precise = utility_optimal_sets(marginals, make_utility("precision").values(5))
    assert precise.members.argmax(axis=1).tolist() == [0, 1, 2] and (precise.sizes == 1).all()
    assert (precise.members.sum(axis=1) == 1).all()


@pytest.mark.promise
@given(marginal_rows(), st.integers(1, 10))
def test_top_k_sets_have_the_k_most_probable(marginals, k):
    sets = top_k_sets(marginals, k)
    size = min(k, marginals.shape[1])
    assert (sets.sizes == size).all()
    for row, members, mass, value in zip(marginals, sets.members, sets.masses, sets.utilities):
        assert members.tolist() == in_label_order(row, size).tolist()
        assert mass == value == pytest.approx(row[members].sum(dtype=np.float64))


@pytest.mark.promise
@given(marginal_rows(), st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5, 0.99]))
def test_error_controlled_sets_are_the_smallest_with_the_mass(marginals, level):
    sets = error_controlled_sets(marginals, level)
    for row, members, size in zip(marginals.astype(np.float64), sets.members, sets.sizes):
        smallest = min(len(s) for s in all_sets(len(row)) if row[list(s)].sum() >= 1 - level - TIE)
        assert size == smallest
        assert members.tolist() == in_label_order(row, size).tolist()


@given(st.integers(9, 30), st.integers(0, 10_000))
def test_error_controlled_sets_are_nested_in_the_level(n_labels, seed):
    marginals = np.random.default_rng(seed).dirichlet(np.full(n_labels, 0.5), 10)
    sets = [error_controlled_sets(marginals, level) for level in (0.3, 0.1, 0.01, 0.0)]
    for smaller, larger in itertools.pairwise(sets):
        assert (smaller.members <= larger.members).all()
    assert (sets[1].masses >= 0.9 - TIE).all() and (sets[-1].masses >= 1 - 2 * TIE).all()


@settings(max_examples=30)
@given(marginal_rows(6), st.sampled_from(UTILITIES))
def test_with_one_true_label_the_exact_search_is_the_optimal_set(marginals, utility):
    n_labels = marginals.shape[1]
    g = utility.values(n_labels)
    exact = exact_weighted_sets(marginals, np.eye(n_labels), g)
    fast = utility_optimal_sets(marginals, g)
    np.testing.assert_allclose(exact.utilities, fast.utilities, atol=2 * TIE)
    assert exact.sizes.tolist() == fast.sizes.tolist()
    np.testing.assert_allclose(exact.masses, fast.masses, atol=TIE)


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(1, 4), st.sampled_from(UTILITIES), st.integers(0, 10_000))
def test_weighted_gold_costs_optimal_sets_something_and_the_exact_search_nothing(n_labels, n_golds, utility, seed):
    rng = np.random.default_rng(seed)
    weights = np.zeros((n_golds, n_labels))
    for row in weights:
        chosen = rng.choice(n_labels, rng.integers(1, 3), replace=False)
        row[chosen] = rng.choice([1.0, 1 / len(chosen)])
    probabilities = rng.dirichlet(np.ones(n_golds), 5)
    g = utility.values(n_labels)
    exact = exact_weighted_sets(probabilities, weights, g)
    np.testing.assert_allclose(exact.utilities, expected_ml_util(exact.members, probabilities, weights, g))
    marginals = probabilities @ (weights / weights.sum(axis=1, keepdims=True))
    fast = utility_optimal_sets(marginals, g)
    assert (expected_ml_util(fast.members, probabilities, weights, g) <= exact.utilities + TIE).all()
    np.testing.assert_allclose(exact.masses, (marginals * exact.members).sum(axis=1))


def test_loss_of_optimal_sets_where_two_tags_are_right():
    """Gold {A:1|B:1} for sure: both tags are worth 1, one is worth .25; a single true tag would forbid two."""
    g = make_utility("precision").values(3)
    gold, certain = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0]])
    exact = exact_weighted_sets(certain, gold, g)
    assert exact.members.tolist() == [[True, True, False]] and exact.utilities[0] == 1
    fast = utility_optimal_sets(gold / 2, g)
    assert fast.members.tolist() == [[True, False, False]]
    assert expected_ml_util(fast.members, certain, gold, g).tolist() == [0.25]


def test_no_units():
    nothing = np.zeros((0, 4), dtype=np.float32)
    for sets in (
        utility_optimal_sets(nothing, make_utility("u65").values(4)),
        error_controlled_sets(nothing, 0.1),
        top_k_sets(nothing, 2),
    ):
        assert sets.members.shape == (0, 4) and len(sets.sizes) == len(sets.masses) == len(sets.utilities) == 0


FINE = np.array([[0.5, 0.5], [0.1, 0.9]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: utility_optimal_sets(FINE, np.ones(3)), "CRF803.*3 values"),
        (lambda: utility_optimal_sets(FINE, np.array([1, -1.0])), "CRF804.*sets of 2"),
        (lambda: utility_optimal_sets(FINE[0], np.ones(2)), "CRF101.*marginals"),
        (lambda: utility_optimal_sets(np.zeros((2, 0)), np.ones(0)), "CRF101.*marginals"),
        (lambda: top_k_sets(FINE * [[1], [0.9]], 1), r"CRF805.*Unit 1.*sum 0\.9"),
        (lambda: top_k_sets(np.array([[1, 0], [1.5, -0.5]]), 1), r"CRF805.*Unit 1.*least -0\.5"),
        (lambda: error_controlled_sets(np.array([[np.nan, 1.0]]), 0.1), "CRF805.*Unit 0.*sum nan"),
        (lambda: error_controlled_sets(FINE, 1.0), r"CRF806.*1\.0.*\[0, 1\)"),
        (lambda: error_controlled_sets(FINE, float("nan")), "CRF806"),
        (lambda: top_k_sets(FINE, 0), "CRF108.*k"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
