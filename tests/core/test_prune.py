"""Pruned weights score like all of them."""

import numpy as np
import pytest

from spacy_crf.core.weights import ChainWeights, DenseWeights, scatter


def dense(layout, flat):
    out = DenseWeights.zeros(layout, np.float64)
    scatter(layout, flat, out)
    return out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("edges, boundary", [(False, True), (True, False)])
def test_rows_that_are_left_are_those_with_weights_and_the_others_are_zero(make_problem, seed, edges, boundary):
    problem = make_problem(seed, edges=edges, boundary=boundary, masks=True)
    rng = np.random.default_rng(seed)
    layout, flat = problem.layout, problem.flat * (rng.random(problem.layout.size) < 0.3)
    pruned, whole = ChainWeights(layout, flat).pruned(), dense(layout, flat)
    left, small = pruned.weights, pruned.weights.dense
    np.testing.assert_array_equal(pruned.features, whole.state.any(axis=1))
    np.testing.assert_array_equal(pruned.edge_features, whole.edges.any(axis=1))
    np.testing.assert_array_equal(small.state, whole.state[pruned.features])
    np.testing.assert_array_equal(small.edges, whole.edges[pruned.edge_features])
    for ours, theirs in zip(small.sections(), whole.sections()):
        assert np.count_nonzero(ours) == np.count_nonzero(theirs)
    np.testing.assert_array_equal(small.transitions, whole.transitions)
    assert left.layout.size == len(left.flat) < layout.size and left.layout.allowed is layout.allowed
    assert left.layout.n_features == pruned.features.sum()
    assert left.layout.n_edge_features == pruned.edge_features.sum()
    assert ChainWeights(layout, flat).n_active == np.count_nonzero(flat)
    again = left.pruned()
    np.testing.assert_array_equal(again.weights.flat, left.flat)
    assert again.features.all() and again.edge_features.all()
