"""Word classes that are induced from the training text, without any annotation: the exchange algorithm.

Templates ask for them by their number: CLASS50 is the class of a word among fifty, CLASS200 among two hundred. Words
are in lower case, with a 0 for each digit; those that are rare in training, or unknown, have a class of their own.

Each word belongs to one class, so that the class bigram model p(w | v) = p(w | class(w)) p(class(w) | class(v)) fits
the text best. Words go one after the other to the class where the likelihood grows most, until none moves: a local
optimum (Kneser & Ney, "Improved clustering techniques for class-based statistical language modelling", Eurospeech 1993;
Martin, Liermann & Ney, "Algorithms for bigram and trigram word clustering", Speech Communication 24, 1998).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from ..core.arrays import Doubles, Indices, cached_property, sum_by_cell
from ..core.stored import stored_strings

Texts: TypeAlias = Callable[[], Iterable[Sequence[str]]]  # words of each text, as often as they are asked for

RARE = "rare"
MOST_WAITING = 1 << 23  # pairs that wait to be counted
_DIGIT = re.compile(r"\d")


def folded(form: str) -> str:
    """Return a word as classes know it."""
    return _DIGIT.sub("0", form.lower())


@dataclass(frozen=True)
class WordClasses:
    """Classes of W folded words: for each number of classes, the class of each word."""

    words: Sequence[str]
    classes: Mapping[int, Sequence[int]]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def classify(self, forms: Iterable[str], size: int) -> list[str]:
        """Return the classes of words among so many."""
        classes = self.classes[size]
        numbers = (self._numbers.get(folded(form)) for form in forms)
        return [RARE if number is None else str(classes[number]) for number in numbers]

    def to_data(self) -> dict[str, Any]:
        return {"words": list(self.words), "sizes": {str(size): list(found) for size, found in self.classes.items()}}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        words, sizes = (
            stored_strings("words", data["words"]),
            {int(size): found for size, found in data["sizes"].items()},
        )
        if any(len(found) != len(words) for found in sizes.values()):
            raise ValueError("words and their classes do not belong together")
        return cls(words, sizes)


@dataclass(frozen=True)
class Bigrams:
    """Counts ((P,)) of P distinct pairs of adjacent words, which are numbered by falling frequency."""

    n_words: int
    first: Indices
    second: Indices
    counts: Doubles


def count_bigrams(texts: Texts, min_count: int, max_words: int) -> tuple[list[str], Bigrams]:
    """Return W folded forms, the most frequent first, and how often they stand side by side; rare words part them."""
    words = list(rank_words(count_forms(texts), min_count))[:max_words]
    return words, count_pairs(texts, words, len(words))


def count_forms(texts: Texts) -> Counter[str]:
    """Count the forms of words as they stand in the texts."""
    return Counter(form for text in texts() for form in text)


def rank_words(forms: Counter[str], min_count: int, fold: Callable[[str], str] = folded) -> dict[str, int]:
    """Return the folded forms that are seen so often, and how often, the most frequent first."""
    counts: Counter[str] = Counter()
    for form, number in forms.items():
        counts[fold(form)] += number
    ranked = sorted((word for word, number in counts.items() if number >= min_count), key=lambda w: (-counts[w], w))
    return {word: counts[word] for word in ranked}


def count_pairs(texts: Texts, words: Sequence[str], n_frequent: int) -> Bigrams:
    """Count which of some words ((W,), folded) stand side by side, at least one of two being among the first ones.

    Memory grows with the distinct pairs, not with the text.
    """
    number = {word: k for k, word in enumerate(words)}
    numbers: dict[str, int] = {}  # of forms as they stand in the text
    keys, counts = np.zeros(0, dtype=np.intp), np.zeros(0)
    waiting: list[Indices] = []
    size = 0
    for text in texts():
        for form in text:
            if form not in numbers:
                numbers[form] = number.get(folded(form), -1)
        found = np.fromiter(map(numbers.__getitem__, text), dtype=np.intp, count=len(text))
        first, second = found[:-1], found[1:]
        held = (np.minimum(first, second) >= 0) & (np.minimum(first, second) < n_frequent)
        waiting.append(first[held] * len(words) + second[held])
        size += len(waiting[-1])
        if size > MOST_WAITING:
            keys, counts = _merged(keys, counts, waiting)
            waiting, size = [], 0
    keys, counts = _merged(keys, counts, waiting)
    first, second = np.divmod(keys, max(1, len(words)))
    return Bigrams(len(words), first, second, counts)


def _merged(keys: Indices, counts: Doubles, more: Sequence[Indices]) -> tuple[Indices, Doubles]:
    """Add occurrences of keys to the counts of distinct ones."""
    fresh, times = np.unique(np.concatenate([keys[:0], *more]), return_counts=True)
    return sum_by_cell(np.concatenate([keys, fresh]), np.concatenate([counts, times]))


def exchange_classes(bigrams: Bigrams, n_classes: int, max_rounds: int = 10) -> Indices:
    """((W,)): the class of each word, from 0. O(rounds (W K + P K)) for K classes; it depends on the counts alone."""
    n_classes = max(1, min(n_classes, bigrams.n_words))  # more would stay empty
    classes = np.minimum(np.arange(bigrams.n_words), n_classes - 1).astype(np.intp)
    classes[n_classes:] = np.arange(max(0, bigrams.n_words - n_classes)) % n_classes
    exchange = _Exchange(bigrams, classes, n_classes)
    for _ in range(max_rounds):
        if not exchange.round():
            break
    return exchange.classes


class _Neighbours(NamedTuple):
    """Neighbours of a word on one side: how often it is its own, and the classes of the others with their counts."""

    itself: float
    classes: Indices
    counts: Doubles


class _Exchange:
    """Classes of words ((W,)), counts of pairs of classes ((K, K)), and of classes ((K,))."""

    def __init__(self, bigrams: Bigrams, classes: Indices, n_classes: int):
        self.classes, self._n_classes = classes, n_classes
        self._right = _BigramRows(bigrams, bigrams.first, bigrams.second)
        self._left = _BigramRows(bigrams, bigrams.second, bigrams.first)
        self._pairs = np.zeros((n_classes, n_classes))
        np.add.at(self._pairs, (classes[bigrams.first], classes[bigrams.second]), bigrams.counts)
        # as first and as second word of pairs, which differ at the edges of texts
        self._totals = [self._pairs.sum(axis=1), self._pairs.sum(axis=0)]

    def round(self) -> int:
        """Give every word a chance to move, and return how many have moved."""
        return sum(self._place(word) for word in range(len(self.classes)))

    def _place(self, word: int) -> bool:
        """Take a word out of its class and put it where it fits best; a tie leaves it where it is."""
        before = int(self.classes[word])
        sides = [rows.neighbours(word, self.classes, self._n_classes) for rows in (self._right, self._left)]
        self._move(before, sides, -1)
        gains = self._gains(sides)
        best = int(gains.argmax())
        if gains[best] <= gains[before] + 1e-9 * abs(gains[before]):
            best = before
        self._move(best, sides, 1)
        self.classes[word] = best
        return best != before

    def _move(self, to: int, sides: list[_Neighbours], sign: int) -> None:
        """Count a word with a class (1), or no longer (-1)."""
        right, left = sides
        self._pairs[to, right.classes] += sign * right.counts
        self._pairs[left.classes, to] += sign * left.counts
        self._pairs[to, to] += sign * right.itself
        for total, side in zip(self._totals, sides):
            total[to] += sign * (side.counts.sum() + side.itself)

    def _gains(self, sides: list[_Neighbours]) -> Doubles:
        """((K,)): what the log likelihood gains if the word, now in no class, joins each class."""
        right, left = sides
        gains = np.zeros(self._n_classes)
        for table, side in ((self._pairs, right), (self._pairs.T, left)):
            cells = table[:, side.classes]
            gains += (_entropy(cells + side.counts) - _entropy(cells)).sum(axis=1)
        # the cell of a class with itself takes both sides at once
        diagonal = self._pairs.diagonal()
        both = [np.zeros(self._n_classes), np.zeros(self._n_classes)]
        for counts, side in zip(both, sides):
            counts[side.classes] = side.counts
            gains -= _entropy(diagonal + counts) - _entropy(diagonal)
        gains += _entropy(diagonal + both[0] + both[1] + right.itself) - _entropy(diagonal)
        for total, side in zip(self._totals, sides):
            gains -= _entropy(total + (side.counts.sum() + side.itself)) - _entropy(total)
        return gains


class _BigramRows:
    """Bigrams by one of their words. own ((P,)), other ((P,)): what they are sorted by, and those beside them."""

    def __init__(self, bigrams: Bigrams, own: Indices, other: Indices):
        order = np.argsort(own, kind="stable")
        self._other, self._counts = other[order], bigrams.counts[order]
        self._bounds = np.searchsorted(own[order], np.arange(bigrams.n_words + 1))

    def neighbours(self, word: int, classes: Indices, n_classes: int) -> _Neighbours:
        """Count the neighbours of a word on this side."""
        low, high = self._bounds[word], self._bounds[word + 1]
        others, counts = self._other[low:high], self._counts[low:high]
        same = others == word
        itself = float(counts[same].sum())
        sums = np.bincount(classes[others[~same]], weights=counts[~same], minlength=n_classes)
        held = np.flatnonzero(sums)
        return _Neighbours(itself, held, sums[held].astype(np.float64))


def _entropy(counts: Doubles) -> Doubles:
    """x log x, 0 at 0 and at what rounding leaves below."""
    positive = np.maximum(counts, 0.0)
    return positive * np.log(np.where(positive > 0, positive, 1.0))
