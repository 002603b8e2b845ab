"""The tag dictionary: which labels are valid for a word, given those it was seen with.

Section 5.4.1 and Algorithm 4 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020), after Stanford CoreNLP.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from ...core.errors import CRFError
from ...core.gold import Gold
from ..errors import PipeErrors
from .counts import CountTable, Data, known_shares, sum_by_cell
from .similarity import similar_pairs

Fold = Literal["none", "lower"]
FOLDS: dict[Fold, Callable[[str], str]] = {"none": str, "lower": str.lower}
TOLERANCE = 1e-6  # shares that were added and taken away again may leave as much
_CHUNK = 1 << 14  # rows of counts at a time


def expand(valid: Bools, rules: Bools) -> Bools:
    """Algorithm 4: each set takes in every rule that it shares a label with.

    Rules are compared with the set as it was given, so that their order does not matter and one does not lead to the
    next. Expanding twice may add more than expanding once; where no label is in two rules it does not.

    valid ((n, L)): sets of labels. rules ((R, L)): the sets of R.
    RETURNS ((n, L)): supersets of `valid`. O(n R L).
    """
    meets = (valid.astype(np.float32) @ rules.T.astype(np.float32)) > 0
    return np.asarray(valid | ((meets.astype(np.float32) @ rules.astype(np.float32)) > 0))


@dataclass(frozen=True)
class AmbiguityClasses:
    """The valid labels of n words, each distinct set once.

    members ((C, L)): the sets, none of them empty. numbers ((n,)): the set of each word.
    """

    members: Bools
    numbers: Indices

    @property
    def sets(self) -> Bools:
        """((n, L)): the valid labels of each word."""
        return np.asarray(self.members[self.numbers])

    @classmethod
    def of(cls, parts: Iterator[Bools], n_labels: int) -> Self:
        """From sets in parts, ((n_i, L)) each. O(n L log n)."""
        packed = [np.zeros((0, -(-n_labels // 8)), dtype=np.uint8), *(np.packbits(part, axis=1) for part in parts)]
        found, numbers = np.unique(np.concatenate(packed), axis=0, return_inverse=True)
        members = np.unpackbits(found, axis=1, count=n_labels).astype(bool)
        return cls(members, numbers.reshape(-1).astype(np.intp))


@dataclass(frozen=True)
class TagDictionary:
    """Valid labels of words.

    A word that was seen `min_count` times may have the labels that it was seen with. All others may have those of the
    open classes, and their own if they were seen at all: the thesis would forbid these, but they are there to be seen.
    Both are expanded by the rules. No set is empty.

    words (CountTable): how often each word, folded, was seen with each label. A count of infinity stands for a label
        that is valid whatever the settings.
    open_labels ((L,)): valid for words that are unknown or rare. rules ((R, L)): see `expand`.
    min_count (float): occurrences that make a word known. min_share (float): labels with a smaller share of a word's
        occurrences are taken for mistakes; its most frequent one stays. fold (str): "none", or "lower" for lower case.
    """

    words: CountTable
    open_labels: Bools
    rules: Bools
    min_count: float
    min_share: float
    fold: Fold

    @property
    def n_labels(self) -> int:
        return self.words.n_labels

    def find(self, words: Sequence[str]) -> Indices:
        """((n,)): row of each word in the table, -1 for unknown ones."""
        return self.words.find(list(map(FOLDS[self.fold], words)))

    @cached_property
    def _known(self) -> AmbiguityClasses:
        """The sets of all words of the table, and behind them that of an unknown word."""
        n_words = len(self.words.keys)
        parts = (self._sets(self.words.dense(rows)) for rows in _chunks(n_words))
        unknown = self._sets(np.zeros((1, self.n_labels)))
        return AmbiguityClasses.of(iter([*parts, unknown]), self.n_labels)

    def valid(self, words: Sequence[str]) -> AmbiguityClasses:
        """The valid labels of words. O(n); the sets are found out once, in O(V L).

        words (Sequence[str]): n words.
        RETURNS (AmbiguityClasses): `members` is the same array in each call.
        """
        return AmbiguityClasses(self._known.members, self._known.numbers[self.find(words)])

    def valid_elsewhere(self, words: Sequence[str], gold: Gold, groups: Indices | None = None) -> AmbiguityClasses:
        """The valid labels of training words, had their own occurrences not been counted. O(n L).

        A word without other occurrences is unknown here, as words of new text are. Which classes are open stays as it
        is: to take a label from them because one of its words is looked at would tell its gold.

        words (Sequence[str]), gold (Gold): n units that were counted; gold that was not takes away nothing.
        groups ((n,) | None): whose counts are left out together, such as the units of a document; None: each alone.
        """
        rows, n_rows = self.find(words), len(self.words.keys) + 1
        owners = np.arange(len(rows)) if groups is None else groups
        pairs, places = np.unique(owners * n_rows + rows + 1, return_inverse=True)
        shares = known_shares(gold)
        cells, amounts = sum_by_cell(places[shares.units] * self.n_labels + shares.labels, shares.weights)
        own = np.searchsorted(cells, np.arange(len(pairs) + 1) * self.n_labels)

        def parts() -> Iterator[Bools]:
            for chunk in _chunks(len(pairs)):
                found = pairs[chunk] % n_rows - 1
                counts = np.where((found >= 0)[:, None], self.words.dense(np.maximum(found, 0)), 0.0)
                part = slice(own[chunk[0]], own[chunk[-1] + 1])
                counts.reshape(-1)[cells[part] - chunk[0] * self.n_labels] -= amounts[part]
                yield self._sets(np.maximum(counts, 0.0))

        by_pair = AmbiguityClasses.of(parts(), self.n_labels)
        return AmbiguityClasses(by_pair.members, by_pair.numbers[places])

    def _sets(self, counts: Doubles) -> Bools:
        """((n, L)): valid labels of words that were seen so often, (n, L), with each."""
        totals = counts.sum(axis=1, keepdims=True)
        valid = counts > TOLERANCE
        if self.min_share:
            valid &= (counts >= self.min_share * totals) | (counts == counts.max(axis=1, keepdims=True))
        rare = totals < self.min_count - TOLERANCE
        return expand(valid | (rare & self.open_labels), self.rules)

    def to_data(self) -> Data:
        """Arrays, lists, strings and numbers that can be stored."""
        settings = {"min_count": self.min_count, "min_share": self.min_share, "fold": self.fold}
        return {"words": self.words.to_data(), "open": self.open_labels, "rules": self.rules, **settings}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """The inverse of `to_data`."""
        words, (open_labels, rules) = CountTable.from_data(data["words"]), (data["open"], data["rules"])
        return cls(words, open_labels, rules, float(data["min_count"]), float(data["min_share"]), data["fold"])


def _chunks(n: int) -> Iterator[Indices]:
    """The numbers below n, some at a time."""
    return (np.arange(low, min(n, low + _CHUNK)) for low in range(0, n, _CHUNK))


def count_words(words: Sequence[str], gold: Gold, fold: Fold = "none") -> CountTable:
    """How often each word has each label; sets and distributions count by their shares.

    words (Sequence[str]), gold (Gold): N units. fold (str): how words are folded.
    RAISES (ValueError): for another number of words than units.
    """
    if len(words) != len(gold.labels):
        raise CRFError(PipeErrors.CRF832.format(words=len(words), units=len(gold.labels)))
    shares = known_shares(gold)
    keys = [FOLDS[fold](words[unit]) for unit in shares.units]
    return CountTable.build(keys, shares.labels, shares.weights, gold.weights.shape[1])


def make_dictionary(
    words: CountTable,
    *,
    min_count: float = 1,
    min_share: float = 0.0,
    open_labels: Bools | None = None,
    open_types: int = 10,
    rules: Bools | None = None,
    similarity: float | None = None,
    fold: Fold = "none",
) -> TagDictionary:
    """A dictionary from counts of words and labels.

    words (CountTable): of folded words. min_count (float), min_share (float), fold (str): see `TagDictionary`.
    open_labels ((L,) | None): labels of the open classes; None: those that `open_types` distinct words were seen with,
        as in CoreNLP, since a class that has taken in many words will take in more; all, if there are none of these.
    rules ((R, L) | None): sets that expand others.
    similarity (float | None): makes a rule of each pair of labels that are at least as similar; see `similar_pairs`.
    RAISES (ValueError): for a setting out of its range.
    """
    shares = (min_share, similarity if similarity is not None else 1.0)
    _require("min_count", min_count, min_count >= 1, "at least 1")
    _require("open_types", open_types, open_types >= 1, "at least 1")
    _require("min_share", min_share, 0 <= shares[0] <= 1, "between 0 and 1")
    _require("similarity", similarity, 0 < shares[1] <= 1, "above 0 and at most 1, or null")
    _require("fold", fold, fold in FOLDS, f"one of {', '.join(FOLDS)}")
    if open_labels is None:
        open_labels = np.bincount(words.labels, minlength=words.n_labels) >= open_types
        open_labels |= not open_labels.any()
    _require("open_tags", [], bool(open_labels.any()), "null, or a list of at least one tag")
    all_rules = np.zeros((0, words.n_labels), dtype=bool) if rules is None else rules
    if similarity is not None:
        pairs = similar_pairs(words, similarity)
        found = np.zeros((len(pairs), words.n_labels), dtype=bool)
        for row, pair in zip(found, pairs):
            row[[pair.first, pair.second]] = True
        all_rules = np.concatenate([all_rules, found])
    return TagDictionary(words, open_labels, all_rules, float(min_count), float(min_share), fold)


def _require(name: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise CRFError(PipeErrors.CRF840.format(name=name, value=value, expected=expected))
