"""Sparse rows against dense matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core import sparse
from spacy_crf.core.sparse import SparseRows, add_product, from_columns, stack


@st.composite
def tables(draw, n_columns=None):
    """(SparseRows, the same as a dense matrix): repeated columns, empty rows, values or none."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows, width = draw(st.integers(0, 6)), draw(st.integers(0, 4))
    n_columns = n_columns or draw(st.integers(1, 5))
    columns = rng.integers(-1, n_columns, (n_rows, width))
    columns[rng.random(n_rows) < 0.3] = -1
    values = rng.choice([-1.5, 0.25, 1.0, 3.0], columns.shape) if draw(st.booleans()) else None
    return from_columns(columns.astype(np.int32), n_columns, values), dense(columns, n_columns, values)


def dense(columns, n_columns, values):
    out = np.zeros((len(columns), n_columns))
    for row, ids in enumerate(columns):
        for place, column in enumerate(ids):
            if column >= 0:
                out[row, column] += 1 if values is None else values[row, place]
    return out


def as_dense(rows: SparseRows) -> np.ndarray:
    out = np.zeros((rows.n_rows, rows.n_columns))
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    np.add.at(out, (rows.row_numbers(), rows.indices), values)
    return out


@given(tables())
def test_from_columns_keeps_order_and_skips_absent_features(case):
    rows, table = case
    np.testing.assert_array_equal(as_dense(rows), table)
    assert rows.indptr.dtype == rows.indices.dtype == np.int32


def test_from_columns_keeps_the_order_of_templates():
    rows = from_columns(np.array([[3, -1, 0], [-1, -1, -1], [2, 2, 1]], dtype=np.int32), 4)
    assert rows.indptr.tolist() == [0, 2, 2, 5]
    assert rows.indices.tolist() == [3, 0, 2, 2, 1]
    assert rows.values is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(tables(), st.integers(1, 4))
def test_products_add_to_what_is_there(dtype, case, n_labels):
    rows, table = case
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(rows.n_columns, n_labels)).astype(dtype)
    scores = rng.normal(size=(rows.n_rows, n_labels)).astype(dtype)
    out, back = np.full_like(scores, 2.0), np.full_like(weights, -1.0)
    rows.times(weights, out=out)
    rows.add_transposed(scores, out=back)
    tolerance = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(out, 2.0 + table @ weights, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(back, -1.0 + table.T @ scores, rtol=tolerance, atol=tolerance)
    assert out.dtype == back.dtype == dtype


@pytest.mark.parametrize("transposed", [False, True])
@given(tables(), st.sampled_from([(), (1,), (3,)]))
def test_products_without_the_kernels_are_the_same(transposed, case, more):
    rows, table = case
    matrix = table.T if transposed else table
    given_values = np.ones(len(rows.indices)) if rows.values is None else rows.values.astype(float)
    dense = np.random.default_rng(2).normal(size=(matrix.shape[1], *more))
    found = [np.full((len(matrix), *more), 0.5) for _ in range(2)]
    add_product(rows.indptr, rows.indices, given_values, dense, found[0], transposed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "_kernels", lambda: None)
        add_product(rows.indptr, rows.indices, given_values, dense, found[1], transposed)
    np.testing.assert_allclose(found, [0.5 + matrix @ dense] * 2, rtol=1e-13, atol=1e-13)


def test_products_refuse_arrays_that_are_too_short():
    rows = from_columns(np.array([[0], [4]], dtype=np.int32), 5)
    with pytest.raises(ValueError, match=r"CRF101.*dense.*\(5, 2\), got \(3, 2\)"):
        rows.times(np.ones((3, 2)), out=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"CRF101.*out.*\(5, 2\), got \(4, 2\)"):
        rows.add_transposed(np.ones((2, 2)), out=np.zeros((4, 2)))


@given(tables(), st.data())
def test_take_and_slice(case, data):
    rows, table = case
    picks = data.draw(st.lists(st.integers(0, rows.n_rows - 1), max_size=6)) if rows.n_rows else []
    taken = rows.take(np.array(picks, dtype=np.intp))
    np.testing.assert_array_equal(as_dense(taken), table[picks].reshape(len(picks), rows.n_columns))
    low = data.draw(st.integers(0, rows.n_rows))
    high = data.draw(st.integers(low, rows.n_rows))
    part = rows.slice(low, high)
    np.testing.assert_array_equal(as_dense(part), table[low:high])
    assert part.indptr[0] == 0
    assert part.indices.size == 0 or np.shares_memory(part.indices, rows.indices)


@given(tables(), st.data())
def test_select_keeps_pairs_and_renames_columns(case, data):
    rows, _ = case
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows.indices), max_size=len(rows.indices))), bool)
    keep = np.flatnonzero(mask)
    renamed = rows.n_columns - 1 - rows.indices[keep]
    expected = np.zeros((rows.n_rows, rows.n_columns + 2))
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    np.add.at(expected, (rows.row_numbers()[keep], renamed), values[keep])
    np.testing.assert_array_equal(as_dense(rows.select(keep, renamed, rows.n_columns + 2)), expected)


@given(st.lists(tables(n_columns=4), max_size=4))
def test_stack_mixes_rows_with_and_without_values(cases):
    stacked = stack((rows for rows, _ in cases), 4)
    expected = np.concatenate([np.zeros((0, 4)), *(table for _, table in cases)])
    np.testing.assert_array_equal(as_dense(stacked), expected)
    assert (stacked.values is None) == all(rows.values is None for rows, _ in cases)
