"""Which trigrams have a weight, and where."""

import itertools

import numpy as np
import pytest
from helpers.oracle import trigrams_of
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.core.labels import Gold
from spacy_crf.core.trigrams import EDGE, Pruning, Trigrams, seen_trigrams


def cell(trigram: tuple[int, int, int], n_labels: int) -> int:
    first, second, third = (label + 1 for label in trigram)
    return (first * (n_labels + 1) + second) * (n_labels + 1) + third


def place(trigrams: Trigrams, trigram: tuple[int, int, int]) -> int:
    first, second, third = (np.array([label]) for label in trigram)
    table = trigrams.table(1.0 + np.arange(len(trigrams)))
    return int(table[trigrams.contexts(first, second) + third][0]) - 1


@given(st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_each_trigram_is_found_at_its_place_and_no_other(n_labels, seed, density):
    rng = np.random.default_rng(seed)
    every = list(itertools.product(range(EDGE, n_labels), repeat=3))
    chosen = [every[k] for k in rng.permutation(len(every))[: int(density * len(every))]]
    trigrams = Trigrams(n_labels, np.array([cell(found, n_labels) for found in chosen], dtype=np.intp))
    for trigram in every:
        assert place(trigrams, trigram) == (chosen.index(trigram) if trigram in chosen else -1)


def test_more_labels_change_no_place():
    old = Trigrams(2, np.array([cell(found, 2) for found in [(0, 1, EDGE), (EDGE, EDGE, 1), (1, 1, 0)]]))
    new = old.resized(5)
    assert [place(new, found) for found in [(0, 1, EDGE), (EDGE, EDGE, 1), (1, 1, 0), (0, 1, 4)]] == [0, 1, 2, -1]


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.sampled_from(["known", "some unknown", "sets"]),
    st.integers(0, 2**32 - 1),
)
def test_seen_trigrams_are_those_of_all_paths_that_gold_allows(lengths, kind, seed):
    n_labels, rng = 3, np.random.default_rng(seed)
    rows = np.eye(n_labels)[rng.integers(0, n_labels, sum(lengths))]
    if kind == "sets":
        rows = np.maximum(rows, rng.random(rows.shape) < 0.3)
    unknown = rows.all(axis=1)
    if kind == "some unknown":
        unknown |= rng.random(len(rows)) < 0.3
        rows[unknown] = 1
    expected, ends = set(), np.cumsum(lengths)
    for low, high in zip(ends - lengths, ends):
        options = [[None] if unknown[t] else np.flatnonzero(rows[t]).tolist() for t in range(low, high)]
        for path in itertools.product(*options):
            expected |= {found for found in trigrams_of(path) if None not in found}
    cells = seen_trigrams(Gold.weighted(rows), np.array(lengths), n_labels)
    assert cells.tolist() == sorted(cell(found, n_labels) for found in expected)


@pytest.mark.parametrize("n_labels", [0, 3])
def test_no_trigrams_find_nothing(n_labels):
    none = Trigrams.none(n_labels)
    assert len(none) == 0
    assert place(none, (EDGE, EDGE, EDGE)) == -1


@given(st.integers(1, 5), st.integers(1, 6), st.sampled_from([0.0, 0.2, 0.5]), st.integers(0, 2**32 - 1))
def test_the_most_probable_labels_are_chosen_and_of_equals_the_first(n_labels, limit, threshold, seed):
    rows = np.random.default_rng(seed).choice([0.0, 0.1, 0.2, 0.7], (20, n_labels))
    order = np.argsort(-rows, axis=1, kind="stable")[:, :limit]
    expected = np.zeros(rows.shape, dtype=bool)
    np.put_along_axis(expected, order, True, axis=1)
    expected &= (rows >= threshold) & (rows > 0)
    assert Pruning(threshold, limit).probable(rows).tolist() == expected.tolist()
