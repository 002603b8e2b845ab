"""Weights as one value: what is made of it scores as it did."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from spacy_crf.core.pool import Member, pool_weights
from spacy_crf.core.trigrams import Pruning, Trigrams, TrigramWeights
from spacy_crf.core.weights import ChainWeights


@pytest.fixture(params=[False, True], ids=["no boundary", "boundary"])
def weights(make_problem, request) -> ChainWeights:
    problem = make_problem(0, edges=True, boundary=request.param, masks=True)
    trigrams = TrigramWeights(Trigrams(3, np.array([0, 21, 37, 63])), np.array([1.0, 0.0, -2.0, 3.0]), Pruning(0.1, 2))
    return replace(problem.weights, vectors=np.arange(6.0).reshape(2, 3), trigrams=trigrams)


def named_trigrams(weights):
    known, size = weights.trigrams.trigrams, weights.trigrams.trigrams.n_labels + 1
    parts = [(c // size**2 - 1, c // size % size - 1, c % size - 1) for c in known.cells.tolist()]
    return dict(zip(parts, weights.trigrams.values.tolist()))


def test_more_labels_leave_the_weights_of_the_others(weights):
    more, n = weights.with_labels(5), weights.layout.n_labels
    for ours, theirs in zip(
        (more.dense.state, more.dense.start, more.vectors), (weights.dense.state, weights.dense.start, weights.vectors)
    ):
        assert np.array_equal(ours[..., :n], theirs) and not ours[..., n:].any()
    square = more.dense.edges.reshape(-1, 5, 5)
    assert np.array_equal(square[:, :n, :n].reshape(len(square), -1), weights.dense.edges) and not square[:, n:].any()
    assert np.array_equal(more.dense.transitions[:n, :n], weights.dense.transitions)
    assert named_trigrams(more) == named_trigrams(weights)
    assert more.layout.allowed.all() and more.layout.allowed.shape == (5, 5)


def test_extended_weights_are_zero_and_behind_the_others(weights):
    layout = weights.layout
    free = np.setdiff1d(np.arange(layout.n_features * layout.n_labels), layout.state_cells)[:2]
    longer = weights.extended(layout.n_features + 1, layout.n_edge_features, free)
    assert longer.layout.size == layout.size + 2 and longer.layout.n_features == layout.n_features + 1
    assert longer.layout.state_cells[-2:].tolist() == free.tolist()
    assert np.array_equal(longer.dense.state[:-1], weights.dense.state) and not longer.dense.state[-1].any()
    assert np.array_equal(longer.dense.edges, weights.dense.edges)
    assert np.array_equal(longer.dense.start, weights.dense.start)


def test_starts_and_ends_come_and_go(weights):
    without = weights.with_boundary(False)
    assert not without.layout.boundary and not without.dense.start.any()
    again = without.with_boundary(True)
    assert again.layout.size == len(again.flat) == without.layout.size + 6 and not again.dense.end.any()
    assert weights.with_boundary(weights.layout.boundary) is weights


def test_pruning_takes_trigrams_along_and_leaves_vectors(weights):
    pruned = weights.pruned().weights
    assert named_trigrams(pruned) == {key: value for key, value in named_trigrams(weights).items() if value}
    assert np.array_equal(pruned.vectors, weights.vectors)
    assert weights.n_active == np.count_nonzero(weights.flat) + 3


def test_precision_is_that_of_all_parts(weights):
    single = weights.astype(np.float32)
    assert {part.dtype.name for part in (single.flat, single.vectors, single.trigrams.values, single.dense.state)} == {
        "float32"
    }


def test_order_2_is_refused_where_order_1_is_needed(weights):
    with pytest.raises(ValueError, match=r"\[CRF436\] Component 'tagger': this is"):
        weights.require_first_order("tagger", "this")
    replace(weights, trigrams=None).require_first_order("tagger", "this")
    assert (weights.order, replace(weights, trigrams=None).order) == (2, 1)


def test_a_copy_for_another_process_is_without_dense_arrays(weights):
    assert weights.dense is weights.dense
    copy = pickle.loads(pickle.dumps(weights))
    assert "dense" not in copy.__dict__ and np.array_equal(copy.dense.state, weights.dense.state)


def test_a_pool_sums_what_its_members_score(make_problem):
    problems = [make_problem(seed, edges=True, boundary=seed == 0) for seed in range(2)]
    n, n_edges = (problems[0].layout.n_features, problems[0].layout.n_edge_features)
    vectors = np.ones((4, 3), dtype=np.float32)
    first, second = problems[0].weights, replace(problems[1].weights, vectors=vectors)
    exponents, numbers = (0.25, 2.0), (np.arange(n), np.arange(n) + n)
    edges = np.arange(n_edges)
    members = [Member(w, a, own, edges) for w, a, own in zip((first, second), exponents, numbers)]
    found = pool_weights(members, 2 * n, n_edges)
    np.testing.assert_allclose(found.dense.state[:n], 0.25 * first.dense.state, rtol=1e-6)
    np.testing.assert_allclose(found.dense.state[n:], 2 * second.dense.state, rtol=1e-6)
    np.testing.assert_allclose(found.dense.edges, 0.25 * first.dense.edges + 2 * second.dense.edges, rtol=1e-6)
    np.testing.assert_allclose(found.dense.start, 0.25 * first.dense.start, rtol=1e-6)
    np.testing.assert_array_equal(found.vectors, 2 * vectors)
