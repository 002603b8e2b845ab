"""Distances of documents against scipy, and as a metric."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from spacy_crf.lab.documents import count_grams, jensen_shannon

documents = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1).map(Counter), min_size=3, max_size=3
)


@given(documents)
def test_distances_are_those_of_scipy_and_a_metric(counts: list[Counter[str]]) -> None:
    found = jensen_shannon(counts)
    rows = np.array([[each[gram] for gram in "abcdef"] for each in counts], dtype=float)
    for i in range(3):
        for j in range(3):
            expected = 0.0 if i == j else np.nan_to_num(jensenshannon(rows[i], rows[j], base=2))
            assert found[i, j] == pytest.approx(expected, abs=1e-7)
    assert np.array_equal(found, found.T) and ((found >= 0) & (found <= 1)).all()
    assert found[0, 2] <= found[0, 1] + found[1, 2] + 1e-9


def test_documents_that_share_nothing_and_empty_ones() -> None:
    found = jensen_shannon([Counter("aab"), Counter("aab"), Counter("cc"), Counter()])
    assert found.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]


@pytest.mark.parametrize("more", range(1, 9))
def test_documents_that_hardly_differ_are_near(more: int) -> None:
    (_, found), _ = jensen_shannon([Counter(a=10**9, b=3 * 10**9, c=7), Counter(a=10**9 + more, b=3 * 10**9, c=7)])
    assert found < 1e-6


def test_grams() -> None:
    assert count_grams(["Vnde", "vnde"]) == {" vn": 2, "vnd": 2, "nde": 2, "de ": 2}
    assert count_grams(["o"]) == {" o ": 1} and count_grams(["o"], size=5) == {" o ": 1}
    assert count_grams(["Vnde", "he"], "words") == {"vnde": 1, "he": 1}
