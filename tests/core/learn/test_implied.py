"""Factoring implied features out changes nothing but the cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import Gold
from spacy_crf.core.learn.blocks import EncodedCorpus
from spacy_crf.core.learn.full_batch import FullBatchObjective
from spacy_crf.core.learn.implied import find_implied
from spacy_crf.core.sparse import from_columns
from spacy_crf.core.weights import Layout, cells


def columns_with_implications(seed, n_units=60):
    """Words, their first letters, pairs with the word before, the letter pair that those imply, and noise."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 9, n_units)
    letters = words // 3
    previous = np.roll(words, 1)
    noise = rng.integers(0, 4, n_units)
    noise[rng.random(n_units) < 0.3] = -1
    raw = [words, letters, previous * 9 + words, (previous // 3) * 3 + letters, noise]
    offset, table = 0, []
    for column in raw:
        values, numbers = np.unique(column[column >= 0], return_inverse=True)
        numbered = np.full(n_units, -1)
        numbered[column >= 0] = numbers + offset
        offset += len(values)
        table.append(numbered)
    slots = np.concatenate([np.full(len(np.unique(c[c >= 0])), a) for a, c in enumerate(raw)]).astype(np.int32)
    return np.array(table).T.astype(np.int32), slots


@given(st.integers(0, 10_000))
def test_products_are_those_of_the_whole_matrix(seed):
    table, slots = columns_with_implications(seed)
    features = from_columns(table, len(slots))
    found = find_implied([features.slice(0, 25), features.slice(25, len(table))], slots)
    remaining, implications = found.remaining(features), found.rows
    assert len(remaining.indices) < len(features.indices)
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(len(slots), 3))
    expected, ours = np.zeros((len(table), 3)), np.zeros((len(table), 3))
    features.times(weights, out=expected)
    spread = weights.copy()
    implications.times(spread, out=spread)
    remaining.times(spread, out=ours)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)
    counts = rng.normal(size=(len(table), 3))
    gradient, collected = np.zeros_like(weights), np.zeros_like(weights)
    features.add_transposed(counts, out=gradient)
    remaining.add_transposed(counts, out=collected)
    implications.add_transposed(collected, out=collected)
    np.testing.assert_allclose(collected, gradient, rtol=1e-12, atol=1e-12)


def test_templates_that_only_seem_to_determine_others_are_kept():
    # the second column follows the first for a long time, then breaks off
    first = np.zeros(5000, dtype=np.int32)
    second = np.ones(5000, dtype=np.int32)
    second[-1] = 2
    features = from_columns(np.array([first, second]).T, 3)
    found = find_implied([features], np.array([0, 1, 1], dtype=np.int32))
    remaining, implications = found.remaining(features), found.rows
    assert len(implications.indices) in (0, 2)  # the second determines the first, not the other way round
    out, expected = np.zeros((5000, 1)), np.zeros((5000, 1))
    weights = np.array([[1.0], [10.0], [100.0]])
    features.times(weights, out=expected)
    implications.times(weights, out=weights)
    remaining.times(weights, out=out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("seed", range(3))
def test_objective_with_slots_equals_objective_without(seed):
    table, slots = columns_with_implications(seed, n_units=90)
    features = from_columns(table, len(slots))
    rng = np.random.default_rng(seed)
    lengths, labels = np.array([40, 30, 20]), rng.integers(0, 3, 90).astype(np.int32)
    state = cells(features.indices.astype(np.intp), labels[features.row_numbers()], 3)
    square = np.ones((3, 3), dtype=bool)
    none = np.zeros(0, dtype=np.intp)
    layout = Layout(len(slots), 3, 0, state, np.arange(9), none, True, square, square[0], square[0])
    flat = rng.normal(size=layout.size)
    gold = Gold.known(labels, 3)
    plain = FullBatchObjective(EncodedCorpus(lengths, features, gold), layout, 0.5, dtype=np.float64)
    factored = FullBatchObjective(EncodedCorpus(lengths, features, gold, slots=slots), layout, 0.5, dtype=np.float64)
    for _ in range(2):  # the work arrays of the first evaluation must not leak into the second
        value, gradient = factored(factored.basis.start(flat))
        expected_value, expected_gradient = plain(plain.basis.start(flat))
        assert value == pytest.approx(expected_value, rel=1e-12)
        np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-9)


def test_expected_unseen_are_the_cells_whose_gradient_is_large():
    table, slots = columns_with_implications(5, n_units=90)
    features = from_columns(table, len(slots))
    rng = np.random.default_rng(5)
    lengths, labels = np.array([40, 30, 20]), rng.integers(0, 3, 90).astype(np.int32)
    seen = cells(features.indices.astype(np.intp), labels[features.row_numbers()], 3)
    square = np.ones((3, 3), dtype=bool)
    none = np.zeros(0, dtype=np.intp)
    corpus = EncodedCorpus(lengths, features, Gold.known(labels, 3), slots=slots)
    some = Layout(len(slots), 3, 0, seen, np.arange(9), none, True, square, square[0], square[0])
    full = Layout(len(slots), 3, 0, np.arange(3 * len(slots)), np.arange(9), none, True, square, square[0], square[0])
    flat = rng.normal(size=some.size)
    everywhere = np.zeros(full.size)
    everywhere[seen], everywhere[3 * len(slots) :] = flat[: len(seen)], flat[len(seen) :]
    reference = FullBatchObjective(corpus, full, 0.0, dtype=np.float64)
    gradient = reference(reference.basis.start(everywhere))[1]
    expected = reference.basis.finish(gradient)[: 3 * len(slots)]
    repeated = np.bincount(features.indices, minlength=len(slots)) > 1
    unseen = np.setdiff1d(np.flatnonzero(expected > 0.4), seen)
    objective = FullBatchObjective(corpus, some, 0.0, dtype=np.float64)
    found = objective.unseen(objective.basis.start(flat), corpus, 0.4)
    assert found.tolist() == unseen[repeated[unseen // 3]].tolist()
    assert len(found)
