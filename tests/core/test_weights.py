"""The flat vector and its dense work arrays."""

import numpy as np
import pytest

from spacy_crf.core.weights import DenseWeights, Layout, cells, gather, masked, scatter


def layout(boundary: bool) -> Layout:
    return Layout(
        n_features=3,
        n_labels=2,
        n_edge_features=2,
        state_cells=np.array([0, 3, 4]),
        transition_cells=np.array([1, 2]),
        edge_cells=np.array([0, 5, 7]),
        boundary=boundary,
        allowed=np.ones((2, 2), bool),
        allowed_start=np.ones(2, bool),
        allowed_end=np.ones(2, bool),
    )


@pytest.mark.parametrize("boundary", [False, True])
def test_scatter_then_gather_gives_the_vector_back(boundary):
    plan = layout(boundary)
    flat = np.arange(1.0, plan.size + 1)
    dense, back = DenseWeights.zeros(plan, np.float64), np.zeros(plan.size)
    scatter(plan, flat, dense)
    gather(plan, dense, back)
    assert plan.size == 8 + 4 * boundary
    np.testing.assert_array_equal(back, flat)


def test_scatter_puts_each_section_in_its_place():
    plan = layout(boundary=True)
    dense = DenseWeights.zeros(plan)
    dense.state[0, 1] = 9
    scatter(plan, np.arange(1.0, 13.0), dense)
    assert dense.state.tolist() == [[1, 9], [0, 2], [3, 0]]
    assert dense.transitions.tolist() == [[0, 4], [5, 0]]
    assert dense.edges.tolist() == [[6, 0, 0, 0], [0, 7, 0, 8]]
    assert dense.start.tolist() == [9, 10]
    assert dense.end.tolist() == [11, 12]
    assert all(section.dtype == np.float32 for section in dense.sections())
    dense.clear()
    assert not any(section.any() for section in dense.sections())


def test_split_gives_views():
    plan = layout(boundary=False)
    flat = np.zeros(plan.size)
    sections = plan.split(flat)
    assert [len(section) for section in sections] == [3, 2, 3, 0, 0]
    sections[1][:] = 5
    assert flat.tolist() == [0, 0, 0, 5, 5, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masked_is_minus_infinity_in_the_same_precision(dtype):
    scores = np.zeros((2, 2, 2), dtype)
    result = masked(scores, np.array([[True, False], [True, True]]))
    assert result.dtype == dtype
    assert np.isneginf(result[:, 0, 1]).all()
    assert np.isfinite(result).sum() == 6


def test_cells_are_ascending_and_unique():
    assert cells(np.array([2, 0, 2]), np.array([1, 3, 1]), 4).tolist() == [3, 9]
