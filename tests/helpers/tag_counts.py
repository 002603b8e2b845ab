"""Small tagged corpora, and label n-grams a second time, by plain loops."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import srsly

from spacy_crf.core.labels import Gold

BOUNDARY = -1
KINDS = ("known", "unknown", "set", "distribution")


@dataclass
class Tagged:
    """Words of sequences, and for each unit of all of them a row of gold weights."""

    sequences: list[list[str]]
    weights: np.ndarray

    @property
    def gold(self) -> Gold:
        return Gold.weighted(self.weights)

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(words) for words in self.sequences], dtype=np.intp)

    @property
    def n_labels(self) -> int:
        return self.weights.shape[1]

    def shares(self) -> list[list[dict[int, float]]]:
        """For each unit of each sequence the share of each label; nothing where all are open."""
        rows = [{} if (row == 1).all() else {t: w / row.sum() for t, w in enumerate(row) if w} for row in self.weights]
        ends = np.cumsum(self.lengths)
        return [rows[end - length : end] for end, length in zip(ends, self.lengths)]


def random_tagged(
    seed: int, kinds: tuple[str, ...] = KINDS, n_labels: int = 3, lengths: tuple[int, ...] = (4, 1, 0, 5, 2, 3)
) -> Tagged:
    """Words over few letters, so that suffixes recur; the first unit is known in any case."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abAB"))
    sequences = [["".join(rng.choice(letters, rng.integers(1, 4))) for _ in range(length)] for length in lengths]
    rows = [_row(rng, "known" if number == 0 else rng.choice(kinds), n_labels) for number in range(sum(lengths))]
    return Tagged(sequences, np.array(rows))


def _row(rng: np.random.Generator, kind: str, n_labels: int) -> np.ndarray:
    # label 0 is common, so that contexts recur
    row = np.eye(n_labels)[min(int(rng.geometric(0.5)) - 1, n_labels - 1)]
    if kind == "unknown":
        return np.ones(n_labels)
    if kind == "set":
        row[rng.integers(n_labels)] = 1
    if kind == "distribution":
        row = row + rng.choice([0.0, 0.25, 0.5], n_labels)
        row /= row.sum()
    return row


class PlainGrams:
    """Interpolated n-gram probabilities, read off dicts of counts."""

    def __init__(self, tagged: Tagged, order: int, min_count: float = 1.0):
        self.order, self.min_count = order, min_count
        self.counts = [Counter() for _ in range(3)]
        for shares in tagged.shares():
            if shares:
                self._count([{BOUNDARY: 1.0}] * 2 + shares + [{BOUNDARY: 1.0}])
        self.weights = self._interpolate()

    def _count(self, padded: list[dict[int, float]]) -> None:
        for end in range(2, len(padded)):
            for n in (1, 2, 3):
                for gram in itertools.product(*(padded[end - n + 1 : end + 1])):
                    weight = np.prod([padded[end - n + 1 + place][t] for place, t in enumerate(gram)])
                    self.counts[n - 1][gram] += weight

    def total(self, context: tuple[int, ...]) -> float:
        return sum(count for gram, count in self.counts[len(context)].items() if gram[:-1] == context)

    def _interpolate(self) -> list[float]:
        votes = [0.0, 0.0, 0.0]
        for gram, count in self.counts[self.order - 1].items():
            ratios = []
            for n in range(1, self.order + 1):
                part = gram[len(gram) - n :]
                rest = self.total(part[:-1]) - 1
                ratios.append(max(0.0, self.counts[n - 1][part] - 1) / rest if rest > 0 else 0.0)
            votes[ratios.index(max(ratios))] += count
        votes[0] = max(votes[0], 1.0)
        return [vote / sum(votes) for vote in votes]

    def probability(self, gram: tuple[int, int, int]) -> float:
        """Of the last label, behind the two before it; BOUNDARY for the ends of a sequence."""
        relative = 0.0
        total = 0.0
        for n in (1, 2, 3):
            context = gram[3 - n : 2]
            seen = self.total(context)
            if seen > 0 and (n < 3 or seen >= self.min_count or context == (BOUNDARY, BOUNDARY)):
                relative = self.counts[n - 1][gram[3 - n :]] / seen
            total += self.weights[n - 1] * relative
        return total

    def path(self, labels: tuple[int, ...]) -> float:
        """Probability of a sequence of labels and of its end."""
        padded = (BOUNDARY, BOUNDARY, *labels, BOUNDARY)
        return float(np.prod([self.probability(padded[i - 2 : i + 1]) for i in range(2, len(padded))]))


@pytest.fixture(scope="session")
def make_tagged() -> Callable[..., Tagged]:
    return random_tagged


@pytest.fixture(scope="session")
def plain_grams() -> type[PlainGrams]:
    return PlainGrams


@pytest.fixture(scope="session")
def stored() -> Callable[[dict], dict]:
    """What comes back from the disk."""
    return lambda data: srsly.msgpack_loads(srsly.msgpack_dumps(data))
