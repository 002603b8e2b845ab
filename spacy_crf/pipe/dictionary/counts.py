"""Counts of gold labels, shared out where more than one may be right, and how similar the words make labels."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np

from ...core.arrays import Bools, Doubles, Indices, Segments, cached_property
from ...core.errors import CRFError
from ...core.labels import UNKNOWN, Gold
from ...core.stored import stored_floats, stored_integers, stored_size, stored_strings
from ..errors import PipeErrors

Key = TypeVar("Key", bound=Hashable)
Data = dict[str, Any]  # arrays, lists, strings and numbers, or dicts of them


@dataclass(frozen=True)
class Shares:
    """What gold says of N units, as n pairs of unit, ascending, and label, and their shares, which sum to 1 for each
    unit that is known; others have none."""

    units: Indices
    labels: Indices
    weights: Doubles

    def sums(self, n_labels: int) -> Doubles:
        """((L,)): how often each label occurs."""
        return np.bincount(self.labels, weights=self.weights, minlength=n_labels).astype(np.float64)

    def where(self, keep: Bools) -> "Shares":
        """Return some of the pairs. keep ((n,)): which."""
        return Shares(self.units[keep], self.labels[keep], self.weights[keep])

    def shifted(self) -> "Shares":
        """Return the same as what is before the next unit."""
        return Shares(self.units + 1, self.labels, self.weights)


def gold_shares(gold: Gold) -> Shares:
    """Return fractional counts as `known_shares` does, with a coded error where no unit is known."""
    shares = known_shares(gold)
    if not len(shares.units):
        raise CRFError(PipeErrors.CRF831)
    return shares


def known_shares(gold: Gold) -> Shares:
    """Return fractional counts of gold labels, one pair for each label that has a weight, divided by the sum of the
    unit's. A unit open to every label says nothing and is left out. O(N + M L)."""
    exact = np.flatnonzero(gold.labels != UNKNOWN)
    told = np.flatnonzero(~(gold.weights == 1).all(axis=1))
    weights = gold.weights[told].astype(np.float64)
    rows, labels = np.nonzero(weights)
    shares = (weights / weights.sum(axis=1, keepdims=True))[rows, labels]
    units = np.concatenate([exact, gold.rows[told[rows]]]).astype(np.intp)
    order = np.argsort(units, kind="stable")
    every_label = np.concatenate([gold.labels[exact], labels]).astype(np.intp)
    every_share = np.concatenate([np.ones(len(exact)), shares])
    return Shares(units[order], every_label[order], every_share[order])


def flatten(sequences: Sequence[Sequence[str]], gold: Gold | None = None) -> tuple[list[str], Indices]:
    """Return the words of all sequences, each with a unit of gold if there is any, and the lengths (B,) of these."""
    words = list(chain.from_iterable(sequences))
    if gold is not None and len(gold.labels) != len(words):
        raise CRFError(PipeErrors.CRF832.format(words=len(words), units=len(gold.labels)))
    return words, np.array([len(sequence) for sequence in sequences], dtype=np.intp)


def check_amount(name: str, value: float) -> None:
    """Raise a coded error for a setting that is negative or not finite."""
    if not 0 <= value < np.inf:
        raise CRFError(PipeErrors.CRF833.format(name=name, value=value))


def distinct(keys: Sequence[Key]) -> tuple[list[Key], Indices]:
    """Return keys without repetition, in the order of their first occurrence, and for each key given its place."""
    numbers: dict[Key, int] = {}
    places = [numbers.setdefault(key, len(numbers)) for key in keys]
    return list(numbers), np.array(places, dtype=np.intp)


def sum_by_cell(cells: Indices, weights: Doubles) -> tuple[Indices, Doubles]:
    """Return the cells that occur, ascending, and for each the sum of its weights. O(n log n)."""
    found, owners = np.unique(cells, return_inverse=True)
    return found, np.bincount(owners, weights=weights, minlength=len(found)).astype(np.float64)


@dataclass(frozen=True)
class CountTable:
    """How often each of V strings was seen with each label, as sparse rows.

    keys (list[str]): sorted. ends ((V + 1,)): string v has the pairs `ends[v]:ends[v + 1]`, at least one.
    labels ((n,)), counts ((n,)): the pairs, labels ascending.
    """

    keys: list[str]
    ends: Indices
    labels: Indices
    counts: Doubles
    n_labels: int

    @classmethod
    def build(cls, keys: Sequence[str], labels: Indices, weights: Doubles, n_labels: int) -> Self:
        """Sum the weights (n,) of n pairs of key and label. O(n log n)."""
        names, places = distinct(keys)
        order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.intp)
        rank = np.argsort(order)
        cells, sums = sum_by_cell(rank[places] * n_labels + labels, weights)
        ends = np.searchsorted(cells, np.arange(len(names) + 1) * n_labels)
        return cls([names[place] for place in order], ends, cells % n_labels, sums, n_labels)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {key: number for number, key in enumerate(self.keys)}

    def find(self, keys: Sequence[str]) -> Indices:
        """((n,)): row of each key, UNKNOWN where it was never seen."""
        return np.array([self._number.get(key, UNKNOWN) for key in keys], dtype=np.intp)

    @classmethod
    def merged(cls, tables: Sequence[Self]) -> Self:
        """Return the sum of tables of the same labels. O(n log n)."""
        keys = [key for table in tables for key, size in zip(table.keys, np.diff(table.ends)) for _ in range(size)]
        labels = np.concatenate([table.labels for table in tables])
        return cls.build(keys, labels, np.concatenate([table.counts for table in tables]), tables[0].n_labels)

    def pairs(self, rows: Indices) -> Shares:
        """Return the labels of the given rows and their counts; units are places in `rows`."""
        found = Segments(np.diff(self.ends)[rows])
        places = found.at(self.ends[rows])
        return Shares(found.owners, self.labels[places], self.counts[places])

    def dense(self, rows: Indices) -> Doubles:
        out = np.zeros((len(rows), self.n_labels))
        found = self.pairs(rows)
        out[found.units, found.labels] = found.weights
        return out

    def totals(self) -> Doubles:
        owners = Segments(np.diff(self.ends)).owners
        return np.bincount(owners, weights=self.counts, minlength=len(self.keys)).astype(np.float64)

    def to_data(self) -> Data:
        return {name: getattr(self, name) for name in ("keys", "ends", "labels", "counts", "n_labels")}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        keys, n_labels = stored_strings("words", data["keys"]), stored_size("n_labels", data["n_labels"])
        labels = stored_integers("labels of words", data["labels"], (None,), n_labels).astype(np.intp, copy=False)
        counts = stored_floats("counts of words", data["counts"], labels.shape, 0.0, np.inf).astype(
            np.float64, copy=False
        )
        ends = stored_integers("ends of words", data["ends"], (len(keys) + 1,), len(labels) + 1)
        if (np.diff(ends) < 1).any() or ends[0] != 0 or ends[-1] != len(labels) or len({*keys}) < len(keys):
            raise ValueError("words and their labels do not belong together")
        return cls(keys, ends.astype(np.intp), labels.astype(np.intp), counts.astype(np.float64), n_labels)


@dataclass(frozen=True)
class SimilarPair:
    """Two labels, `first` below `second`, and their similarity."""

    similarity: float
    first: int
    second: int


def ruzicka(words: CountTable) -> Doubles:
    """Compute the Ruzicka similarity of labels: sum_w min(f(w, s), f(w, t)) / sum_w max(f(w, s), f(w, t)).

    Equation 6.1 of Heid (2020): the weighted Jaccard similarity of the bags of words that labels were seen with. Words
    with a count of infinity, which somebody has entered, are left out. O(sum_w k_w^2) for words with k_w labels.

    RETURNS ((L, L)): symmetric, in [0, 1]; 1 on the diagonal, and 0 for labels that were not seen.
    """
    n, entries = words.n_labels, Segments(np.diff(words.ends))
    owners = entries.owners
    counts = np.where(np.isfinite(words.totals())[owners], words.counts, 0.0)
    # each pair of entries of the same word, both ways
    pairs = Segments(entries.lengths[owners])
    first, second = pairs.owners, pairs.at(words.ends[owners])
    cells = words.labels[first] * n + words.labels[second]
    shared = np.bincount(cells, np.minimum(counts[first], counts[second]), n * n).reshape(n, n)
    totals = np.diag(shared)
    either = totals[:, None] + totals - shared  # max(a, b) = a + b - min(a, b)
    return np.asarray(np.divide(shared, either, out=np.zeros((n, n)), where=either > 0))


def similar_pairs(words: CountTable, least: float = 0.0) -> list[SimilarPair]:
    """List pairs of labels that share words and are so similar, the most similar first, equal ones by their labels."""
    similarities = ruzicka(words)
    first, second = np.nonzero(np.triu((similarities >= least) & (similarities > 0), 1))
    values = similarities[first, second]
    order = np.lexsort((second, first, -values))
    return [SimilarPair(float(values[k]), int(first[k]), int(second[k])) for k in order]
