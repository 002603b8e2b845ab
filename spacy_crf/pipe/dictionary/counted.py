"""The texts that a tag dictionary has counted, and what the valid tags of their own words do without."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...core.arrays import Bools, Hashes, Indices, Segments
from ...core.labels import UNKNOWN, Gold
from ...core.stored import stored_integers
from ...features.hashing import mix, string_hashes
from .counts import CountTable, Data, Shares, known_shares

MOST, PART = 0.2, 0.1  # of all that is counted: documents with more than the first are left out in parts of the second
MOST_UNITS = 1 << 62


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

    texts ((D,)): hashes of the Docs, ascending. parts (Parts | None): what is left out together; None: each unit alone.
    """

    texts: Hashes
    parts: "Parts | None" = None

    @classmethod
    def of(cls, words: Words, shares: Shares, n_labels: int, documents: Indices | None, first: int = 0) -> Self:
        """Count words, by parts if the documents ((D,) | None) of the Docs are given, by their numbers. first (int):
        number of the first part."""
        texts, chosen = np.unique(words.texts(), return_index=True)
        if documents is None:
            return cls(texts)
        parts = Parts.of(words, shares, n_labels, documents, first)
        return cls(texts, Parts(parts.spots[chosen], parts.words))

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
        return cls(texts, Parts(spots, CountTable.from_data(data["parts"])))


@dataclass(frozen=True)
class Parts:
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
