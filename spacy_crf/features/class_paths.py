"""Word classes as paths in a tree: made of vectors, or of raw text without any annotation.

Words that are alike share a class, and classes that are alike share the beginning of their paths, which are strings of
0 and 1. As a word list, LIST(classes,4) is one of at most sixteen groups, and LIST(classes) the class itself.

Classes of text are those of the exchange algorithm (see `induced`) for words that are frequent. A rarer word goes to
the class that tells best of its neighbours and of its last letters (after Clark, "Combining distributional and
morphological information for part of speech induction", EACL 2003).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.arrays import Doubles, Floats, Indices
from .induced import Bigrams, Texts, count_forms, count_pairs, exchange_classes, folded, rank_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ENDING = 3  # letters that tell of the class of a rare word
SMOOTHING = 1.0  # occurrences of the average word, or word of the average ending, in each class
SAMPLE = 4096  # vectors of a batch
CHUNK = 4096  # rare words at a time


def vector_paths(words: Sequence[str], vectors: Floats, n_classes: int, seed: int = 0) -> dict[str, str]:
    """Return the paths of W words by the direction of their vectors ((W, D)). Needs scikit-learn."""
    from sklearn.cluster import MiniBatchKMeans

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    places = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    means = MiniBatchKMeans(n_classes, batch_size=SAMPLE, n_init=1, random_state=seed).fit(places)
    paths = tree_paths(means.cluster_centers_)
    return {word: paths[number] for word, number in zip(words, means.predict(places).tolist())}


def text_paths(
    texts: Texts, n_classes: int, min_count: int = 10, max_words: int = 50_000, rounds: int = 8
) -> dict[str, str]:
    """Return the paths of the words of raw texts, in lower case, that occur at least twice; those that differ in their
    digits alone are one word to classes, but each of them has the path, as word lists look words up with their digits.

    n_classes (int): K. min_count, max_words (int): what makes a word frequent. rounds (int): of the exchange, at most.
    Where no word is frequent, there are no classes, and no paths.
    The texts are read twice; memory grows with the distinct words and pairs of words.
    """
    forms = count_forms(texts)
    counts = rank_words(forms, 2)
    words = list(counts)
    n_frequent = min(max_words, sum(number >= min_count for number in counts.values()))
    n_classes = min(n_classes, n_frequent)
    if not n_classes:
        return {}
    pairs = count_pairs(texts, words, n_frequent)
    classes = exchange_classes(_among(pairs, n_frequent), n_classes, rounds)
    neighbours = _neighbours(pairs, classes, n_classes)
    surroundings = _surroundings(neighbours, classes, n_classes)
    paths = tree_paths(np.sqrt(surroundings / surroundings.sum(axis=1, keepdims=True)))
    rare = _RareWords(words, classes, surroundings).place(neighbours[n_frequent:])
    found = dict(zip(words, np.concatenate([classes, rare]).tolist()))
    return {word: paths[found[folded(word)]] for word in rank_words(forms, 2, str.lower)}


def tree_paths(places: Doubles) -> list[str]:
    """Return the path of each of K places ((K, D)) in the tree that Ward's method makes of them. O(K^2 D)."""
    from scipy.cluster.hierarchy import linkage

    if len(places) < 2:
        return ["0"] * len(places)
    merged = linkage(places, "ward")[:, :2].astype(np.intp).tolist()
    paths = [""] * (2 * len(places) - 1)
    for number, children in reversed(list(enumerate(merged, len(places)))):
        for bit, child in enumerate(children):
            paths[child] = f"{paths[number]}{bit}"
    return paths[: len(places)]


def _among(pairs: Bigrams, n_words: int) -> Bigrams:
    """Return the pairs of two of the first words."""
    both = np.maximum(pairs.first, pairs.second) < n_words
    return Bigrams(n_words, pairs.first[both], pairs.second[both], pairs.counts[both])


def _neighbours(pairs: Bigrams, classes: Indices, n_classes: int) -> "csr_array":
    """((W, 2 K)): how often each word has a neighbour of each class behind it (K), and before it (K)."""
    behind, before = pairs.second < len(classes), pairs.first < len(classes)
    words = np.concatenate([pairs.first[behind], pairs.second[before]])
    columns = np.concatenate([classes[pairs.second[behind]], n_classes + classes[pairs.first[before]]])
    counts = np.concatenate([pairs.counts[behind], pairs.counts[before]])
    return _table(counts, words, columns, (pairs.n_words, 2 * n_classes))


def _surroundings(neighbours: "csr_array", classes: Indices, n_classes: int) -> Doubles:
    """((K, 2 K)): neighbours of the words of each class, smoothed."""
    return _smoothed(_members(classes, n_classes) @ neighbours[: len(classes)])


def _members(classes: Indices, n_classes: int) -> "csr_array":
    """((K, W)): 1 where a word belongs to a class."""
    return _table(np.ones(len(classes)), classes, np.arange(len(classes)), (n_classes, len(classes)))


def _table(counts: Doubles, rows: Indices, columns: Indices, shape: tuple[int, int]) -> "csr_array":
    """Sum counts by their row and column."""
    from scipy.sparse import csr_array

    return csr_array((counts, (rows, columns)), shape=shape)


def _smoothed(counts: "csr_array") -> Doubles:
    """((K, D)): counts with what all classes have together, as if it had been seen so many times."""
    dense = counts.toarray()
    return np.asarray(dense + SMOOTHING * (dense.sum(axis=0) + 1) / (dense.sum() + dense.shape[1]))


class _RareWords:
    """The classes of words that are too rare for the exchange, given those of the W frequent ones before them."""

    def __init__(self, words: Sequence[str], classes: Indices, surroundings: Doubles):
        n_classes = len(surroundings)
        endings, self._endings = np.unique([word[-ENDING:] for word in words], return_inverse=True)
        of_frequent = self._endings[: len(classes)]
        shape = len(classes), len(endings)
        ones = _table(np.ones(len(classes)), np.arange(len(classes)), of_frequent, shape)
        self._by_ending = _log_shares(_smoothed(_members(classes, n_classes) @ ones))
        self._by_neighbour = _log_shares(surroundings)
        self._prior = np.log(surroundings.sum(axis=1))
        self._first = len(classes)

    def place(self, neighbours: "csr_array") -> Indices:
        """((R,)): the most probable class of each rare word, by its neighbours ((R, 2 K)), its ending, and how large
        the class is."""
        found = [np.zeros(0, dtype=np.intp)]
        for start in range(0, neighbours.shape[0], CHUNK):
            part = neighbours[start : start + CHUNK]
            endings = self._endings[self._first + start :][: part.shape[0]]
            scores = part @ self._by_neighbour.T + self._by_ending.T[endings] + self._prior
            found.append(scores.argmax(axis=1))
        return np.concatenate(found)


def _log_shares(counts: Doubles) -> Doubles:
    return np.asarray(np.log(counts / counts.sum(axis=1, keepdims=True)))
