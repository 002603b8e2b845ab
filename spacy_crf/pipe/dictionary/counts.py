"""Counts of gold labels, shared out where more than one may be right; how similar words make labels; and the texts
that a dictionary has counted, with what the valid tags of their own words do without."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from ...core.arrays import Bools, Doubles, Hashes, Indices, Segments, cached_property, distinct, sum_by_cell
from ...core.errors import CRFError
from ...core.labels import UNKNOWN, Gold
from ...core.stored import stored_floats, stored_integers, stored_size, stored_strings
from ...features.hashing import mix, string_hashes
from ..errors import PipeErrors

Data = dict[str, Any]  # arrays, lists, strings and numbers, or dicts of them
MOST, PART = 0.2, 0.1  # of all that is counted: documents with more than the first are left out in parts of the second
MOST_UNITS = 1 << 62


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


# -- what was counted ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Words:
    """The words of D Docs: n distinct ones, and for each unit ((N,)) the place of its own among them."""

    distinct: list[str]
    places: Indices
    docs: Segments

    @property
    def by_unit(self) -> list[str]:
        """The word of each unit."""
        return [self.distinct[place] for place in self.places.tolist()]

    def texts(self) -> Hashes:
        """((D,)): hashes of the Docs. Case does not matter, as copies that are made for training may differ in it."""
        hashes = string_hashes([word.lower() for word in self.distinct])
        by_unit = mix(hashes[self.places], self.docs.positions.astype(np.uint64))
        sums = np.append(np.uint64(0), np.cumsum(by_unit, dtype=np.uint64))  # modulo 2^64
        return np.asarray(sums[self.docs.ends] - sums[self.docs.firsts])


@dataclass(frozen=True)
class Counted:
    """What a dictionary has counted.

    texts ((D,)): hashes of the Docs, ascending. parts (CountedParts | None): what is left out together; None for each
        unit alone.
    """

    texts: Hashes
    parts: "CountedParts | None" = None

    @classmethod
    def of(cls, words: Words, shares: Shares, n_labels: int, documents: Indices | None, first: int = 0) -> Self:
        """Count words, by parts if the documents ((D,) | None) of the Docs are given, by their numbers. first (int):
        number of the first part."""
        texts, chosen = np.unique(words.texts(), return_index=True)
        if documents is None:
            return cls(texts)
        parts = CountedParts.of(words, shares, n_labels, documents, first)
        return cls(texts, CountedParts(parts.spots[chosen], parts.words))

    def joined(self, newer: Self) -> Self:
        """Return what both have counted; they have parts, or neither has. Texts of both count as those of the first."""
        every, chosen = np.unique(np.concatenate([self.texts, newer.texts]), return_index=True)
        if self.parts is None or newer.parts is None:
            return type(self)(every)
        return type(self)(every, self.parts.joined(newer.parts, chosen))

    @property
    def end(self) -> int:
        """The number behind that of the last part."""
        return 0 if self.parts is None else self.parts.end

    def _find(self, words: Words) -> Indices:
        """((D,)): number of each text, -1 for those that were not counted."""
        texts = words.texts()
        return np.where(np.isin(texts, self.texts), np.searchsorted(self.texts, texts), UNKNOWN)

    def are_new(self, words: Words) -> Bools:
        """((N,)): whether a unit is in a text that was not counted."""
        return np.asarray((self._find(words) == UNKNOWN)[words.docs.owners])

    def all_are_in(self, words: Words) -> bool:
        """Whether all texts that were counted are among others."""
        return bool(np.isin(self.texts, words.texts()).all())

    def left_out(self, words: Words, gold: Gold) -> Shares:
        """What the valid tags of each unit do without: nothing in Docs that were not counted, which are new."""
        if self.parts is not None:
            return self.parts.left_out(words, self._find(words))
        own = known_shares(gold)
        return own.where(~self.are_new(words)[own.units])

    def to_data(self) -> Data:
        parts = {} if self.parts is None else {"spots": self.parts.spots, "parts": self.parts.words.to_data()}
        return {"texts": self.texts, **parts}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        texts = stored_integers("texts", data["texts"], (None,), 1 << 64).astype(np.uint64, copy=False)
        if "parts" not in data:
            return cls(texts)
        spots = stored_integers("spots", data["spots"], (len(texts), 4), MOST_UNITS).astype(np.intp, copy=False)
        return cls(texts, CountedParts(spots, CountTable.from_data(data["parts"])))


@dataclass(frozen=True)
class CountedParts:
    """Counts by the documents of training data, or by parts of long ones: were a document that is the whole corpus left
    out, every word would be unknown.

    spots ((D, 4)): for each Doc, the number of the first part of its document, how many parts and how many units that
        has, and how many of these are before the Doc. Parts of a document have the same number of units.
    words (CountTable): how often each word, behind the number of a part, was seen with each label.
    """

    spots: Indices
    words: CountTable

    @classmethod
    def of(cls, words: Words, shares: Shares, n_labels: int, documents: Indices, first: int) -> Self:
        """Count by the documents ((D,)) that the Docs belong to. Arguments as for `Counted.of`."""
        lengths, of_documents = words.docs.lengths, Segments(np.bincount(documents))
        sizes = np.bincount(documents, weights=lengths).astype(np.intp)
        shares_of_all = sizes / max(sizes.sum(), 1)
        n_parts = Segments(np.where(shares_of_all > MOST, np.rint(shares_of_all / PART), 1).astype(np.intp))
        order = np.argsort(documents, kind="stable")
        before = np.cumsum(lengths[order]) - lengths[order]
        before -= np.repeat(before[of_documents.firsts], of_documents.lengths)
        of_each = np.stack([first + n_parts.firsts, n_parts.lengths, sizes], axis=1)[documents]
        spots = np.concatenate([of_each[order], before[:, None]], axis=1)[np.argsort(order)]
        keys = _keys(words, spots, np.arange(len(words.places)))
        return cls(spots, CountTable.build([keys[u] for u in shares.units], shares.labels, shares.weights, n_labels))

    @property
    def end(self) -> int:
        """The number behind that of the last part."""
        return int((self.spots[:, 0] + self.spots[:, 1]).max(initial=0))

    def joined(self, newer: Self, chosen: Indices) -> Self:
        """Return the counts of both, with the spots of some of the Docs of both."""
        return type(self)(
            np.concatenate([self.spots, newer.spots])[chosen], CountTable.merged([newer.words, self.words])
        )

    def left_out(self, words: Words, numbers: Indices) -> Shares:
        """What was counted in the part of each unit. numbers ((D,)): of the Docs, -1 for new ones."""
        units = np.flatnonzero(numbers[words.docs.owners] != UNKNOWN)
        rows = self.words.find(_keys(words, self.spots[numbers], units))
        units, rows = units[rows != UNKNOWN], rows[rows != UNKNOWN]
        found = self.words.pairs(rows)
        return Shares(units[found.units], found.labels, found.weights)


def _keys(words: Words, spots: Indices, units: Indices) -> list[str]:
    """Return what units are counted by: their part and their word. spots ((D, 4)): of the Docs."""
    firsts, n_parts, sizes, before = spots[words.docs.owners[units]].T
    parts = firsts + (before + words.docs.positions[units]) * n_parts // sizes
    return [f"{part} {words.distinct[place]}" for part, place in zip(parts.tolist(), words.places[units].tolist())]
