"""Counts of documents that add up, the scores that sums of them make, and intervals by drawing documents anew."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..core.arrays import Doubles, Indices
from .statistics import Interval

DRAWS = 1000
CELLS = 1_000_000  # of weights in memory at once
LEVEL = 0.95

Scores: TypeAlias = Mapping[str, Any]
"""Figures by name; one that is a mapping itself has those of each label, or of precision and recall, within it."""
Names: TypeAlias = tuple[str, ...]
"""Of a figure, from the outermost one."""


@dataclass(frozen=True)
class Tally:
    """Counts of D documents, of K kinds.

    counts ((D, K)): they may be sums of shares too. scores (Callable): takes sums ((K,)), and returns the figures.
    """

    counts: Doubles
    scores: Callable[[Doubles], Scores]

    @classmethod
    def of(cls, documents: Iterable[Mapping[Any, float]], scores: Callable[[Counter[Any]], Scores]) -> "Tally":
        """Make a tally of counts by key. scores (Callable): takes sums of them."""
        rows = list(documents)
        keys = list(dict.fromkeys(key for row in rows for key in row))
        number = {key: k for k, key in enumerate(keys)}
        counts = np.zeros((len(rows), len(keys)))
        for row, own in zip(counts, rows):
            row[[number[key] for key in own]] = list(own.values())
        return cls(counts, partial(_from_keys, keys=keys, scores=scores))

    def total(self) -> Scores:
        """Return the figures of all documents together."""
        return self.scores(self.counts.sum(axis=0))


def _from_keys(sums: Doubles, keys: Sequence[Hashable], scores: Callable[[Counter[Any]], Scores]) -> Scores:
    return scores(Counter({key: count for key, count in zip(keys, sums.tolist()) if count}))


def flatten(scores: Scores, path: Names = ()) -> dict[Names, float]:
    """Return the figures that are numbers by their path."""
    found: dict[Names, float] = {}
    for name, value in scores.items():
        if isinstance(value, Mapping):
            found |= flatten(value, (*path, str(name)))
        elif isinstance(value, int | float):
            found[(*path, str(name))] = float(value)
    return found


def nest(figures: Mapping[Names, Any]) -> dict[str, Any]:
    """Return figures as they were before `flatten`."""
    found: dict[str, Any] = {}
    for (*outer, name), value in figures.items():
        inner = found
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[name] = value
    return found


def bootstrap_figures(
    tallies: Sequence[Tally], documents: Indices, draws: int = DRAWS, seed: int = 0
) -> dict[Names, Interval]:
    """Return the 95 % percentile interval of each figure, over documents that are drawn with replacement.

    Each draw makes the figure anew from the sums of its documents, so that this is the interval of the figure itself,
    such as F of all documents together, and not of a mean over documents. A figure that a draw lacks, as none of its
    documents has such a label, is taken from the others. None with fewer than two documents.

    documents ((n,)): number of the document that each row of the tallies belongs to.
    """
    n = int(documents.max(initial=-1)) + 1
    if n < 2:
        return {}
    drawn: dict[Names, list[float]] = {}
    rng, done = np.random.default_rng(seed), 0
    by_document = [(_sum_rows(tally.counts, documents, n), tally.scores) for tally in tallies]
    while done < draws:
        size = min(draws - done, max(1, CELLS // n))
        weights = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64)
        for counts, scores in by_document:
            for sums in weights @ counts:
                for path, value in flatten(scores(sums)).items():
                    drawn.setdefault(path, []).append(value)
        done += size
    low, high = 50 * (1 - LEVEL), 50 * (1 + LEVEL)
    means = {path: value for tally in tallies for path, value in flatten(tally.total()).items()}
    return {
        path: Interval(mean, float(np.percentile(drawn[path], low)), float(np.percentile(drawn[path], high)), n)
        for path, mean in means.items()
        if path in drawn
    }


def _sum_rows(counts: Doubles, documents: Indices, n: int) -> Doubles:
    sums = np.zeros((n, counts.shape[1]))
    np.add.at(sums, documents, counts)
    return sums
