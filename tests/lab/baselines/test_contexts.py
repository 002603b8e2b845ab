"""Examples of a locally normalised model against loops over units and labels."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import UNKNOWN, Gold
from spacy_crf.core.sparse import from_columns
from spacy_crf.lab.baselines.regression import local_problem


def features(seed: int, n_units: int, values: bool = False):
    """(SparseRows, the columns of each unit)"""
    rng = np.random.default_rng(seed)
    columns = rng.integers(-1, 5, (n_units, 2))
    columns[:, 1] = np.where(columns[:, 1] == columns[:, 0], -1, columns[:, 1])
    strengths = rng.choice([0.5, 2.0], columns.shape) if values else None
    return from_columns(columns.astype(np.int32), 5, strengths), columns


def examples_of(tagged, columns) -> Counter:
    """Weights of (columns of the unit, column of the label before, label)."""
    n_labels = tagged.n_labels
    found, unit = Counter(), 0
    for shares in tagged.shares():
        before = {n_labels: 1.0}
        for row in shares:
            own = tuple(column for column in columns[unit].tolist() if column >= 0)
            for context, share in before.items():
                for label, weight in row.items():
                    found[own, 5 + context, label] += share * weight
            before, unit = row, unit + 1
    return found


@given(st.integers(0, 10_000), st.booleans())
def test_examples_equal_those_of_loops(make_tagged, seed, values):
    tagged = make_tagged(seed)
    rows, columns = features(seed, len(tagged.weights), values)
    problem = local_problem(tagged.lengths, rows, tagged.gold)
    assert (problem.n_labels, problem.n_features, problem.rows.n_columns) == (3, 5, 9)
    found = Counter()
    for number in range(problem.rows.n_rows):
        one, targets = problem.rows.slice(number, number + 1), problem.targets.slice(number, number + 1)
        *own, context = one.indices.tolist()
        assert one.values is None or one.values[-1] == 1
        for label, weight in zip(targets.indices.tolist(), targets.values.tolist()):
            found[tuple(own), context, label] += weight
    expected = examples_of(tagged, columns)
    assert found == pytest.approx(dict(expected), rel=1e-6)
    state = {column * 3 + label for own, _, label in expected for column in own}
    assert problem.cells.tolist() == [*sorted(state), *range(15, 27)]


def test_a_known_unit_is_one_example():
    rows, _ = features(1, 5)
    problem = local_problem(np.array([2, 0, 3]), rows, Gold.known(np.array([2, 0, 1, 1, 0]), 3))
    contexts = problem.rows.indices[problem.rows.indptr[1:] - 1] - 5
    assert contexts.tolist() == [3, 2, 3, 1, 1]  # 3: none before
    assert problem.targets.indices.tolist() == [2, 0, 1, 1, 0]
    assert problem.targets.values.tolist() == [1.0] * 5


def test_units_that_are_unknown_or_behind_one_give_no_example():
    rows, _ = features(1, 4)
    problem = local_problem(np.array([4]), rows, Gold.known(np.array([0, UNKNOWN, 1, 2]), 3))
    assert problem.targets.indices.tolist() == [0, 2]


def test_errors_name_what_is_wrong():
    rows, _ = features(1, 4)
    gold = Gold.known(np.array([0, 1, 2, 0]), 3)
    with pytest.raises(ValueError, match="CRF836.*sum to 5.*4 rows of features"):
        local_problem(np.array([5]), rows, gold)
    with pytest.raises(ValueError, match="CRF836.*sum to 4.*3 rows of gold"):
        local_problem(np.array([4]), rows, gold.slice(0, 3))
    with pytest.raises(ValueError, match="CRF831"):  # known, but never behind something known
        local_problem(np.array([4]), rows, Gold.known(np.array([UNKNOWN, 1, UNKNOWN, 0]), 3))
