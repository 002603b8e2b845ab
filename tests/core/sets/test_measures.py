"""Measures against numbers by hand and against their definitions unit by unit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sets.measures import covered, has_gold, ml_acc, ml_util, normalise, set_measures
from spacy_crf.core.sets.predict import make_utility

LABELS = ["DDS", "DRELS", "AVD", "DIS", "PTKG", "NE"]
G = make_utility("g").values(6)  # 1, .8, .6, .4, .2, 0
BOTH = {"DDS": 1.0, "DRELS": 1.0}
EVEN = {"AVD": 0.5, "DIS": 0.5}
UNEVEN = {"AVD": 0.66, "PTKG": 0.33}


def rows(*golds: dict[str, float]) -> np.ndarray:
    return normalise(np.array([[gold.get(label, 0.0) for label in LABELS] for gold in golds]))


def indices(*tags: str) -> np.ndarray:
    return np.array([LABELS.index(tag) for tag in tags])


def members(*sets: str) -> np.ndarray:
    return np.array([[label in tags.split() for label in LABELS] for tags in sets])


def test_ml_acc_of_the_examples_of_section_5_3():
    found = ml_acc(rows(BOTH, EVEN, UNEVEN, {"NE": 1}), indices("DDS", "AVD", "AVD", "NE"))
    np.testing.assert_allclose(found, [0.25, 0.5, 2 / 3, 1.0])
    assert ml_acc(rows(UNEVEN, BOTH), indices("PTKG", "NE")).tolist() == pytest.approx([1 / 3, 0])


def test_weights_that_were_cut_are_no_case_of_several_right_tags():
    """.33 + .66 is less than 1 and .34 + .67 more, but neither is A:1|B:1; as they come, only the sum decides."""
    raw = np.array([[0.33, 0.66], [0.34, 0.67], [1.0, 1.0]])
    best = np.array([1, 1, 1])
    assert ml_acc(raw, best).tolist() == pytest.approx([2 / 3, (0.67 / 1.01) ** 2, 0.25])
    assert ml_acc(normalise(raw), best).tolist() == pytest.approx([2 / 3, 0.67 / 1.01, 0.25])


@pytest.mark.parametrize(
    ("gold", "tags", "expected"),
    [
        (BOTH, "DDS DRELS", 1.0),  # two tags, but none is superfluous
        (BOTH, "DDS", 0.25),
        (BOTH, "DDS NE", 0.25 * 0.8),
        (BOTH, "DDS DRELS NE AVD", 0.6),
        (EVEN, "AVD", 0.5),
        (EVEN, "AVD DIS", 1.0),
        (EVEN, "AVD NE DDS", 0.5 * 0.6),
        (UNEVEN, "AVD", 2 / 3),
        (UNEVEN, "PTKG NE", 0.8 / 3),
        ({"NE": 1}, "NE", 1.0),
        ({"NE": 1}, "NE AVD", 0.8),
        ({"NE": 1}, "DDS DRELS AVD DIS PTKG NE", 0.0),
        ({"NE": 1}, "AVD", 0.0),
        ({"NE": 1}, "", 0.0),
    ],
)
def test_ml_util_by_hand(gold, tags, expected):
    assert ml_util(rows(gold), members(tags), G).tolist() == pytest.approx([expected])


@st.composite
def cases(draw):
    """Gold of all kinds, some units without, and any sets."""
    n_units, n_labels = draw(st.integers(0, 6)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.zeros((n_units, n_labels))
    for row in weights:
        kind, chosen = rng.integers(4), rng.permutation(n_labels)[: rng.integers(1, n_labels + 1)]
        if kind:
            row[chosen] = [1.0, rng.dirichlet(np.ones(len(chosen))), 1 / len(chosen)][kind - 1]
    return weights, rng.random((n_units, n_labels)) < 0.5


def by_definition(row: np.ndarray, tags: set[int], g: np.ndarray) -> dict[str, float]:
    gold = {label for label, weight in enumerate(row) if weight > 0}
    total = math.fsum(row)
    accuracy = (math.fsum(row[label] for label in gold & tags) / total) ** (2 if total > 1 + 1e-6 else 1)
    best = {label for label in gold if row[label] >= max(row) - 1e-6}
    return {
        "ml_util": accuracy * g[len(tags - gold)],
        "coverage": float(bool(best & tags)),
        "size": len(tags),
        "singletons": float(len(tags) == 1),
    }


@given(cases())
def test_measures_equal_their_definitions(case):
    weights, sets = case
    g = make_utility("u65").values(weights.shape[1])
    known = [unit for unit, row in enumerate(weights) if row.any()]
    expected = [by_definition(weights[unit], set(np.flatnonzero(sets[unit]).tolist()), g) for unit in known]
    assert np.flatnonzero(has_gold(weights)).tolist() == known
    np.testing.assert_allclose(ml_util(weights, sets, g), [row["ml_util"] for row in expected])
    assert covered(weights, sets).tolist() == [bool(row["coverage"]) for row in expected]
    measures = set_measures(weights, sets, g)
    for name in ("ml_util", "coverage", "size", "singletons"):
        mean = sum(row[name] for row in expected) / max(1, len(expected))
        assert getattr(measures, name) == pytest.approx(mean)


@given(cases())
def test_ml_acc_is_ml_util_of_one_tag_without_discount(case):
    weights, sets = case
    best = sets.argmax(axis=1)
    single = np.eye(weights.shape[1], dtype=bool)[best]
    np.testing.assert_allclose(ml_acc(weights, best), ml_util(weights, single, np.ones(weights.shape[1])))


def test_coverage_asks_for_the_best_gold_tag():
    weights = rows(UNEVEN, UNEVEN, EVEN, BOTH, {"NE": 1}, {})
    sets = members("AVD", "PTKG NE", "DIS", "DRELS", "AVD", "NE")
    assert covered(weights, sets).tolist() == [True, False, True, True, False]


def test_weights_are_read_and_made_to_sum_to_one():
    assert rows(UNEVEN)[0].tolist() == pytest.approx([0, 0, 2 / 3, 0, 1 / 3, 0])
    assert rows(BOTH)[0].tolist() == [1, 1, 0, 0, 0, 0]
    assert rows({"NE": 0.99})[0].tolist() == [0, 0, 0, 0, 0, 1]
    assert rows({})[0].tolist() == [0] * 6
    sixths = dict.fromkeys(LABELS, 0.17)
    np.testing.assert_allclose(rows(sixths)[0], 1 / 6)


@given(cases())
def test_normalised_gold_stays_as_it_is(case):
    weights, _ = case
    once = normalise(weights.astype(np.float32))
    np.testing.assert_allclose(once, weights, atol=1e-6)
    np.testing.assert_allclose(normalise(once), once, atol=1e-12)


@pytest.mark.parametrize(
    "row",
    [[0.5, 0.2], [1.0, 0.5], [0.7, 0.0], [2.0, 0.0], [1.5, -0.5], [np.nan, 1.0], [np.inf, 0.0], [0.6, 0.6]],
)
def test_other_weights_are_an_error(row):
    with pytest.raises(ValueError, match="CRF812.*Unit 1"):
        normalise(np.array([[1.0, 0.0], row]))


def test_nothing_to_measure():
    measures = set_measures(np.zeros((3, 6)), np.ones((3, 6), dtype=bool), G)
    assert measures.ml_util == 0 and measures.size == 0
    assert len(ml_acc(np.zeros((2, 6)), np.zeros(2, dtype=int))) == 0


def test_labels_that_only_gold_has_are_in_no_set() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.0, 0.5]])
    sets, g = np.array([[True, False], [True, True], [True, True]]), np.array([1.0, 0.6])
    assert ml_util(weights, sets, g).tolist() == [1.0, 0.0, 0.5 * 0.6]
    assert covered(weights, sets).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="CRF101"):
        ml_util(weights[:, :1], sets, g)
