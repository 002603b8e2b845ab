"""The exchange algorithm against its objective, counted anew."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_crf.features.induced import Bigrams, _Exchange, exchange_classes

texts = st.lists(st.integers(0, 7), min_size=2, max_size=60)


def count(words: list[int]) -> Bigrams:
    pairs, counts = np.unique(np.stack([words[:-1], words[1:]]), axis=1, return_counts=True)
    return Bigrams(max(words) + 1, pairs[0].astype(np.intp), pairs[1].astype(np.intp), counts.astype(np.float64))


def class_log_likelihood(bigrams: Bigrams, classes: np.ndarray) -> float:
    """The part of the log likelihood of a text under the class bigram model that depends on the classes."""
    n_classes = int(classes.max(initial=0)) + 1
    pairs = np.zeros((n_classes, n_classes))
    np.add.at(pairs, (classes[bigrams.first], classes[bigrams.second]), bigrams.counts)
    return entropy(pairs) - entropy(pairs.sum(axis=1)) - entropy(pairs.sum(axis=0))


def entropy(counts: np.ndarray) -> float:
    return sum(count * np.log(count) for count in counts.ravel() if count > 0)


@given(texts, st.integers(1, 4), st.data())
def test_gains_are_differences_of_the_likelihood(words: list[int], n_classes: int, data: st.DataObject) -> None:
    bigrams = count(words)
    classes = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=8, max_size=8)))[: bigrams.n_words]
    word = data.draw(st.integers(0, bigrams.n_words - 1))
    state = _Exchange(bigrams, classes.copy(), n_classes)
    sides = [rows.neighbours(word, classes, n_classes) for rows in (state._right, state._left)]
    state._move(int(classes[word]), sides, -1)
    gains = state._gains(sides)
    expected = []
    for other in range(n_classes):
        moved = classes.copy()
        moved[word] = other
        expected.append(class_log_likelihood(bigrams, moved))
    np.testing.assert_allclose(gains - gains[0], np.array(expected) - expected[0], atol=1e-8)


@given(texts, st.integers(1, 4))
def test_no_single_move_is_better_in_the_end(words: list[int], n_classes: int) -> None:
    bigrams = count(words)
    classes = exchange_classes(bigrams, n_classes, max_rounds=100)
    best = class_log_likelihood(bigrams, classes)
    for word in range(bigrams.n_words):
        for other in range(n_classes):
            moved = classes.copy()
            moved[word] = other
            assert class_log_likelihood(bigrams, moved) <= best + 1e-6


@pytest.mark.parametrize("n_classes", [1, 3, 10])
def test_more_classes_than_words(n_classes: int) -> None:
    classes = exchange_classes(count([0, 1, 2, 0, 1]), n_classes)
    assert len(classes) == 3 and classes.max() < n_classes
