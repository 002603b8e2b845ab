"""Utilities against their formulas, by hand."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.sets.predict import make_utility, table_utility

NAMES = ("g", "precision", "recall", "f", "u65", "u80", "reject")


def values(name: str, n_labels: int, **settings: float) -> list[float]:
    return make_utility(name, **settings).values(n_labels).tolist()


@given(st.sampled_from(NAMES), st.floats(0.01, 1), st.floats(0.1, 5), st.integers(1, 100))
def test_one_label_is_worth_one_and_more_are_worth_no_more(name, alpha, beta, n_labels):
    g = make_utility(name, alpha, beta).values(n_labels)
    assert g.shape == (n_labels,) and g.dtype == np.float64
    assert g[0] == 1 and (g <= 1 + 1e-12).all() and (g >= 0).all()
    if name != "reject":
        assert (np.diff(g) <= 1e-12).all()


def test_formulas_by_hand():
    assert values("g", 5) == pytest.approx([1, 0.75, 0.5, 0.25, 0])
    assert values("g", 5, alpha=0.5, beta=2) == pytest.approx([1, 1 - 0.5 / 16, 1 - 0.5 / 4, 1 - 4.5 / 16, 0.5])
    assert values("precision", 4) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert values("recall", 3) == [1, 1, 1]
    assert values("f", 3) == pytest.approx([1, 2 / 3, 2 / 4])
    assert values("f", 3, beta=2) == pytest.approx([1, 5 / 6, 5 / 7])
    assert values("u65", 4)[1] == pytest.approx(0.65) and values("u80", 4)[1] == pytest.approx(0.80)
    assert values("u65", 3)[2] == pytest.approx(1.6 / 3 - 0.6 / 9)
    assert values("u80", 3)[2] == pytest.approx(2.2 / 3 - 1.2 / 9)
    assert values("reject", 4, alpha=0.3) == pytest.approx([1, 0, 0, 0.7])
    assert values("reject", 2, alpha=0.3) == pytest.approx([1, 0.7])


@given(st.integers(2, 60), st.floats(0.2, 5))
def test_f_beta_is_that_of_the_set_as_a_retrieval(n_labels, beta):
    sizes = np.arange(1, n_labels + 1)
    precision, recall = 1 / sizes, 1.0
    expected = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    np.testing.assert_allclose(make_utility("f", beta=beta).values(n_labels), expected)


def test_flat_utilities_have_no_ties_in_double_precision():
    g = make_utility("g", beta=5).values(71)
    assert len(set(g.tolist())) == 71 > len(set(g.astype(np.float32).tolist()))


def test_tables_and_functions_of_ones_own():
    assert table_utility([1, 0.9, 0.2]).values(3).tolist() == [1, 0.9, 0.2]
    assert table_utility(np.array([0.5])).values(1).tolist() == [0.5]
    assert table_utility(lambda size: 2.0 ** (1 - size)).values(4).tolist() == [1, 0.5, 0.25, 0.125]


@pytest.mark.parametrize("name", NAMES)
def test_utilities_can_be_copied_to_other_processes(name):
    utility = make_utility(name, 0.4, 2.0)
    assert pickle.loads(pickle.dumps(utility)).values(6).tolist() == utility.values(6).tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "f1"}, "CRF801.*'f1'.*precision, recall, f, u65"),
        ({"name": "g", "alpha": -0.1}, "CRF802.*alpha.*'g' is -0.1.*from 0 to 1"),
        ({"name": "reject", "alpha": 1.5}, "CRF802.*alpha.*'reject'"),
        ({"name": "g", "alpha": float("nan")}, "CRF802.*alpha"),
        ({"name": "f", "beta": -0.5}, "CRF802.*beta.*'f'.*0 or above"),
        ({"name": "g", "beta": float("inf")}, "CRF802.*beta"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        make_utility(**settings)


@pytest.mark.parametrize(
    ("table", "n_labels", "message"),
    [
        ([1, 0.5], 3, r"CRF803.*'mine' has 2 values.*from g\(1\) to g\(3\)"),
        ([1, 0.5, 0.2, 0.1], 3, "CRF803.*4 values"),
        ([1, -0.5, 0.2], 3, "CRF804.*'mine' is -0.5 for sets of 2"),
        (lambda size: float("nan") if size == 3 else 1.0, 3, "CRF804.*nan for sets of 3"),
        ([1], 0, "CRF108.*n_labels"),
    ],
)
def test_wrong_tables_are_named(table, n_labels, message):
    with pytest.raises(ValueError, match=message):
        table_utility(table, name="mine").values(n_labels)
