"""The tag dictionary: which labels are valid for a word, given those it was seen with.

Section 5.4.1 and Algorithm 4 of Heid, Set-Valued Prediction for Part-of-Speech Tagging (2020), after Stanford CoreNLP.

A dictionary can be written as a table that people can edit: `word<TAB>tag<TAB>count` lines, sorted.
"""

import difflib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from ...core.arrays import Bools, Doubles, Indices, cached_property, sum_by_cell
from ...core.errors import CRFError
from ...core.labels import Gold, TagSet
from ...core.stored import stored_bools
from ...features.spelling import Speller
from ...reading.files import read_table_lines, says_nothing, write_whole
from ...reading.records import finite_number
from ..errors import PipeErrors
from .block import DictionarySettings, Fold
from .counts import CountTable, Data, Shares, known_shares, similar_pairs

FOLDS: dict[Fold, Callable[[str], str]] = {"none": str, "lower": str.lower}
TOLERANCE = 1e-6  # shares that were added and taken away again may leave as much
HEAD = "# word\ttag\tcount; without a count, the tag is valid whatever the settings"
DIGITS = 9
_CHUNK = 1 << 14  # rows of counts at a time


def expand(valid: Bools, rules: Bools) -> Bools:
    """Expand each set ((n, L)) by every rule ((R, L)) that it shares a label with (Algorithm 4). O(n R L).

    Rules are compared with the set as it was given, so that their order does not matter and one does not lead to the
    next. Expanding twice may add more than expanding once; where no label is in two rules it does not.
    """
    meets = (valid.astype(np.float32) @ rules.T.astype(np.float32)) > 0
    return np.asarray(valid | ((meets.astype(np.float32) @ rules.astype(np.float32)) > 0))


@dataclass(frozen=True)
class AmbiguityClasses:
    """The valid labels of n words: distinct sets ((C, L)), none of them empty, and the number ((n,)) of each word's."""

    members: Bools
    numbers: Indices

    @property
    def sets(self) -> Bools:
        return np.asarray(self.members[self.numbers])

    @classmethod
    def of(cls, parts: Iterator[Bools], n_labels: int) -> Self:
        """Find the distinct ones of sets in parts, ((n_i, L)) each. O(n L log n)."""
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

    words (CountTable): how often each word, folded, was seen with each label; infinity for one that is always valid.
    open_labels ((L,)): valid for words that are unknown or rare. rules ((R, L)): see `expand`.
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
        parts = (self._sets(self.words.dense(rows)) for rows in _chunks(len(self.words.keys)))
        unknown = self._sets(np.zeros((1, self.n_labels)))
        return AmbiguityClasses.of(iter([*parts, unknown]), self.n_labels)

    def valid(self, words: Sequence[str]) -> AmbiguityClasses:
        """Look up the valid labels of words, `members` always in the same array. O(n), once O(V L)."""
        return AmbiguityClasses(self._known.members, self._known.numbers[self.find(words)])

    def valid_elsewhere(self, words: Sequence[str], left_out: Shares) -> AmbiguityClasses:
        """Find the valid labels of training words, had some of their occurrences not been counted. O(n L).

        A word without other occurrences is unknown here, as words of new text are. Which classes are open stays as it
        is: to take a label from them because one of its words is looked at would tell its gold.

        words (Sequence[str]): of n units. left_out (Shares): what of the counts of its word each unit does without;
            units without any are looked up as they are.
        """
        rows = self.find(words)
        own = left_out.where(left_out.labels < self.n_labels)  # others are younger than the dictionary
        cells, amounts = sum_by_cell(own.units * self.n_labels + own.labels, own.weights)
        bounds = np.searchsorted(cells, np.arange(len(rows) + 1) * self.n_labels)

        def parts() -> Iterator[Bools]:
            for chunk in _chunks(len(rows)):
                counts = np.where((rows[chunk] >= 0)[:, None], self.words.dense(np.maximum(rows[chunk], 0)), 0.0)
                part = slice(bounds[chunk[0]], bounds[chunk[-1] + 1])
                counts.reshape(-1)[cells[part] - chunk[0] * self.n_labels] -= amounts[part]
                yield self._sets(np.maximum(counts, 0.0))

        return AmbiguityClasses.of(parts(), self.n_labels)

    def _sets(self, counts: Doubles) -> Bools:
        """((n, L)): valid labels of words that were seen so often, (n, L), with each."""
        totals = counts.sum(axis=1, keepdims=True)
        valid = counts > TOLERANCE
        if self.min_share:
            counted = np.where(np.isinf(counts), 0.0, counts)  # what somebody has entered says nothing of the others
            least = np.minimum(self.min_share * counted.sum(axis=1), counted.max(axis=1))
            valid &= counts >= least[:, None]
        return expand(valid | (self._are_rare(totals) & self.open_labels), self.rules)

    def _are_rare(self, totals: Doubles) -> Bools:
        """Tell of words by how often they were seen; shares that were added may miss a whole number."""
        return np.asarray(totals < self.min_count - TOLERANCE)

    def know(self, words: Sequence[str]) -> Bools:
        """((n,)): whether words were seen often enough."""
        totals = np.append(self.words.totals(), 0.0)[self.find(words)]
        return ~self._are_rare(totals)

    def to_data(self) -> Data:
        settings = {"min_count": self.min_count, "min_share": self.min_share, "fold": self.fold}
        return {"words": self.words.to_data(), "open": self.open_labels, "rules": self.rules, **settings}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        words = CountTable.from_data(data["words"])
        open_labels = stored_bools("open tags", data["open"], (words.n_labels,))
        rules, fold = stored_bools("rules", data["rules"], (None, words.n_labels)), data["fold"]
        if fold not in FOLDS:
            raise ValueError(f"words are folded by {fold!r}")
        return cls(words, open_labels, rules, float(data["min_count"]), float(data["min_share"]), fold)


def _chunks(n: int) -> Iterator[Indices]:
    """Yield the numbers below n, some at a time."""
    return (np.arange(low, min(n, low + _CHUNK)) for low in range(0, n, _CHUNK))


def count_words(words: Sequence[str], gold: Gold, fold: Fold = "none") -> CountTable:
    """Count how often each word, folded, has each label of its unit; sets and distributions count by their shares."""
    if len(words) != len(gold.labels):
        raise CRFError(PipeErrors.CRF832.format(words=len(words), units=len(gold.labels)))
    return count_shares(words, known_shares(gold), gold.weights.shape[1], fold)


def count_shares(words: Sequence[str], shares: Shares, n_labels: int, fold: Fold) -> CountTable:
    """Count the words, folded, of the units that have shares of labels."""
    keys = [FOLDS[fold](words[unit]) for unit in shares.units]
    return CountTable.build(keys, shares.labels, shares.weights, n_labels)


def make_dictionary(words: CountTable, settings: DictionarySettings, tags: TagSet, name: str) -> TagDictionary:
    """Make a dictionary from counts of folded words and tags of a component. Open tags that are not given are learned,
    as in CoreNLP: a class that has taken in many words will take in more."""
    if settings.open_tags is None:
        open_labels = np.bincount(words.labels, minlength=words.n_labels) >= settings.open_types
        open_labels |= not open_labels.any()
    else:
        open_labels = _tag_sets([settings.open_tags], tags, f"{name}, open_tags")[0]
    rules = _tag_sets(settings.rules or [], tags, f"{name}, rules")
    if settings.similarity is not None:
        pairs = similar_pairs(words, settings.similarity)
        found = np.zeros((len(pairs), words.n_labels), dtype=bool)
        for row, pair in zip(found, pairs):
            row[[pair.first, pair.second]] = True
        rules = np.concatenate([rules, found])
    return TagDictionary(words, open_labels, rules, float(settings.min_count), float(settings.min_share), settings.fold)


def _tag_sets(sets: Sequence[Sequence[str]], tags: TagSet, where: str) -> Bools:
    """((n, L)): sets of tags. where (str): of the config, for messages."""
    found = np.zeros((len(sets), len(tags)), dtype=bool)
    for row, members in zip(found, sets):
        row[_tag_numbers(members, tags, where)] = True
    return found


def _tag_numbers(names: Sequence[str], tags: TagSet, where: str) -> list[int]:
    for name in names:
        if name not in tags.number:
            near = ", ".join(difflib.get_close_matches(name, tags.tags, n=3, cutoff=0.0))
            raise CRFError(PipeErrors.CRF432.format(where=where, tag=name, near=near))
    return [tags.number[name] for name in names]


def read_dictionary(
    path: str, settings: DictionarySettings, tags: TagSet, name: str, speller: Speller | None = None
) -> TagDictionary:
    """Make the dictionary of a table. speller (Speller | None): see `DictionarySettings.key`; the rest as above."""
    words, names, counts = zip(*entries) if (entries := read_table(Path(path))) else ((), (), ())
    keys = [FOLDS[settings.fold](settings.key(word, speller)) for word in words]
    numbers = np.array(_tag_numbers(names, tags, f"{name}, {path}"), dtype=np.intp)
    return make_dictionary(CountTable.build(keys, numbers, np.array(counts), len(tags)), settings, tags, name)


def write_table(dictionary: TagDictionary, tags: Sequence[str], path: Path) -> None:
    """Write the counts of a dictionary, by the names of its labels; its settings belong into the config."""
    words = dictionary.words
    lines = [HEAD]
    for word, low, high in zip(words.keys, words.ends[:-1].tolist(), words.ends[1:].tolist()):
        for label, count in zip(words.labels[low:high].tolist(), words.counts[low:high].tolist()):
            if any(character in text for text in (word, tags[label]) for character in "\t\n\r"):
                raise CRFError(PipeErrors.CRF843.format(word=word, tag=tags[label]))
            lines.append("\t".join([word, tags[label], *([f"{count:.{DIGITS}g}"] if math.isfinite(count) else [])]))
    write_whole(path, "\n".join(lines) + "\n")


def read_table(path: Path) -> list[tuple[str, str, float]]:
    """Read word, tag and count (infinite where there is none). Empty lines, and comments without a tab, are skipped."""
    try:
        lines = read_table_lines(path)
    except (OSError, CRFError) as error:
        raise CRFError(PipeErrors.CRF842.format(path=path, error=error)) from error
    entries = []
    for number, line in enumerate(lines, 1):
        fields = line.split("\t")
        if line == HEAD or says_nothing(line):
            continue
        count = finite_number(fields[2]) if len(fields) == 3 and fields[2] else math.inf
        if len(fields) not in (2, 3) or not fields[0] or not fields[1] or count is None or count <= 0:
            raise CRFError(PipeErrors.CRF841.format(path=path, line=number, text=line))
        entries.append((fields[0], fields[1], count))
    return entries
