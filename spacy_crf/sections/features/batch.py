"""Units of a batch of documents as arrays, values that they may have, and relations of the units to each other.

Texts of all of them are read once. Relations are sequences of numberings, of which all readings count, and likes in how
lines are set. Links are looked for within a document, in one pass over its candidates for each direction, so the whole
is linear in the number of candidates.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...core.arrays import Bools, Indices, Segments, distinct
from ...core.grammar.numbering import ALONE, BLANK, Reading, is_first, readings
from ...core.grammar.numerals import ARABIC, ROMAN_UPPER
from ..segment import Kind, LayoutUnit
from . import text

PRESENT = "1"
T = TypeVar("T")


@dataclass(frozen=True)
class FeatureValues:
    """One value for each unit. codes ((N,)): numbers into names. names (list[str]): "" stands for no value."""

    codes: Indices
    names: list[str]

    @classmethod
    def flags(cls, flags: Bools) -> "FeatureValues":
        """A value where a flag is set."""
        return cls(flags.astype(np.intp), ["", PRESENT])

    @classmethod
    def of_strings(cls, strings: Iterable[str]) -> "FeatureValues":
        """A string for each unit."""
        names, codes = distinct(strings)
        return cls(codes, names)

    @classmethod
    def bins(cls, numbers: Indices, bounds: Sequence[int], chosen: Bools | None = None) -> "FeatureValues":
        """Ranges of whole numbers: with the bounds 1, 2, 5 the values "<", "1", "2", "5".

        bounds (Sequence[int]): lowest numbers of all ranges but the first, ascending.
        chosen ((N,) | None): units that have a value; None for all.
        """
        codes = np.searchsorted(np.asarray(bounds), numbers, side="right") + 1
        return cls(np.where(True if chosen is None else chosen, codes, 0), ["", "<", *map(str, bounds)])

    def among(self, *names: str) -> Bools:
        """((N,)): units that have one of some values."""
        return np.array([name in names for name in self.names], dtype=np.bool_)[self.codes]

    def where(self, chosen: Bools) -> "FeatureValues":
        """No value but for chosen units (N,)."""
        return FeatureValues(np.where(chosen, self.codes + 1, 0), ["", *self.names])

    def take(self, units: Indices) -> "FeatureValues":
        """Values of other units (N,), none where a number is negative."""
        codes = np.where(units < 0, 0, self.codes[units] + 1) if len(units) else units
        return FeatureValues(codes, ["", *self.names])


class UnitBatch:
    """Units of D documents, N in all.

    documents (Iterable): text and units of each. phrases (Phrases | None): word lists.
    runs (Segments): units of the documents. document, firsts ((N,)): of each unit, and the document's first unit.
    text_numbers ((N,)): of each unit's text among the `distinct` ones, which have no white space at their ends.
    is_blank, is_number, is_text ((N,)): blank lines, numbering candidates, and what is none, no list mark and no quote.
    begins_line ((N,)): units that are the first of their line.
    previous, following ((N,)): the nearest unit of the document that is no blank line, or -1.
    text_before, text_after ((N,)): the nearest text of the document, or -1.
    """

    def __init__(self, documents: Iterable[tuple[str, Sequence[LayoutUnit]]], phrases: text.Phrases | None = None):
        documents = list(documents)
        self.units = [unit for _, own in documents for unit in own]
        self.runs = Segments.of(own for _, own in documents)
        self.document, self.firsts = self.runs.owners, self.runs.firsts[self.runs.owners]
        texts = FeatureValues.of_strings(
            text[unit.start : unit.end].strip(BLANK) for text, own in documents for unit in own
        )
        lines = [begins for text, own in documents for begins in _line_starts(text, own)]
        self.begins_line = np.array(lines, dtype=np.bool_)
        self.text_numbers, self.distinct = texts.codes, texts.names
        self.kinds = FeatureValues.of_strings(unit.kind for unit in self.units)
        self.is_blank, self.is_number = self.kinds.among(Kind.NEWLINE), self.kinds.among(Kind.NUMBER)
        self.is_text = ~self.kinds.among(Kind.NEWLINE, Kind.NUMBER, Kind.MARK, Kind.QUOTE)
        self.previous, self.following = self.before(~self.is_blank), self.after(~self.is_blank)
        self.text_before, self.text_after = self.before(self.is_text), self.after(self.is_text)
        self._relations = (phrases or text.Phrases()).relations
        self._of_texts: dict[Callable[[str], Any], list[Any]] = {}
        self._shared: dict[Callable[[UnitBatch], Any], Any] = {}

    def __len__(self) -> int:
        return len(self.units)

    def before(self, chosen: Bools) -> Indices:
        """((N,)): the nearest chosen unit before each unit in its document; -1 where there is none. O(N)."""
        here = np.append(-1, np.where(chosen, np.arange(len(self)), -1))
        found = np.maximum.accumulate(here)[:-1]
        return np.where(found >= self.firsts, found, -1)

    def after(self, chosen: Bools) -> Indices:
        """((N,)): the nearest chosen unit behind each unit in its document; -1 where there is none. O(N)."""
        count = len(self)
        here = np.append(np.where(chosen, np.arange(count), count), count)
        found = np.minimum.accumulate(here[::-1])[::-1][1:]
        return np.where(found < self.runs.ends[self.document], found, -1)

    def right_behind(self, chosen: Bools) -> Bools:
        """((N,)): units right behind a chosen one of their document."""
        return np.append(False, chosen)[:-1] & (np.arange(len(self)) > self.firsts)

    def of_number_before(self, values: FeatureValues) -> Indices:
        """((N,)): for each unit right behind a number, 1 and the code of a value of that; 0 for others."""
        return np.where(self.right_behind(self.is_number), 1 + np.append(0, values.codes)[:-1], 0)

    def of_texts(self, function: Callable[[str], T]) -> list[T]:
        """A function of each distinct text; called again with the same function, what it was."""
        known: list[T] | None = self._of_texts.get(function)
        if known is None:
            known = self._of_texts[function] = [function(text) for text in self.distinct]
        return known

    def by_text(self, function: Callable[[str], str]) -> FeatureValues:
        """Values that depend on the text alone."""
        return FeatureValues(self.text_numbers, self.of_texts(function))

    def count_by_text(self, function: Callable[[str], int]) -> Indices:
        """((N,)): whole numbers that depend on the text alone."""
        return np.array(self.of_texts(function), dtype=np.intp)[self.text_numbers]

    def flag_by_text(self, function: Callable[[str], object]) -> Bools:
        """((N,)): conditions that depend on the text alone."""
        return np.array(list(map(bool, self.of_texts(function))), dtype=np.bool_)[self.text_numbers]

    def having(self, name: str, function: Callable[[str], Collection[str]]) -> Bools:
        """((N,)): units whose text has a name among those that a function finds in it."""
        return np.array([name in found for found in self.of_texts(function)], dtype=np.bool_)[self.text_numbers]

    def related(self, relation: str) -> Bools:
        """((N,)): units whose text has a relation to a class of phrases, such as "is title"."""
        return self.having(relation, self._relations)

    def shared(self, make: "Callable[[UnitBatch], T]") -> T:
        """Make what several features need of the units, when it is first asked for."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made


def _line_starts(text: str, units: Sequence[LayoutUnit]) -> Iterator[bool]:
    """Whether each unit is the first of its line."""
    end = 0
    for unit in units:
        yield end == 0 or text[end - 1] == "\n" or "\n" in text[end : unit.start]
        end = unit.end


# -- what stands around a unit -------------------------------------------------------------------------------

_WIDTH = 3  # parts of a number that are told apart
_LONGEST = 80  # characters of what is read as a number
_Key = tuple[object, ...]


def of_readings(batch: UnitBatch, describe: Callable[[tuple[Reading, ...]], str]) -> FeatureValues:
    """Values of numbering candidates, from all readings of their texts."""
    found = [describe(readings(own)) if len(own) < _LONGEST else "" for own in batch.distinct]
    return FeatureValues(batch.text_numbers, found).where(batch.is_number)


def greatest_part(own: str) -> int:
    """Greatest value of a part of the likeliest reading of a text; 0 for none."""
    found = readings(own) if len(own) < _LONGEST else ()
    return max(found[0].values) if found else 0


def family(batch: UnitBatch) -> FeatureValues:
    """Kinds of numeral of the parts, of each reading: 1, 11, a/i .."""
    return of_readings(batch, lambda found: "/".join(sorted({reading.family[:_WIDTH] for reading in found})) or "none")


def signs(batch: UnitBatch) -> FeatureValues:
    """Signs and keyword around the number: #., (#), artikel #."""
    return of_readings(batch, lambda found: found[0].format if found else "none")


def blanks(batch: UnitBatch, step: int) -> FeatureValues:
    """The number of blank lines before a unit (-1) or behind it (1): 0, 1, 2, 3 and more; none at the edge."""
    other = batch.previous if step < 0 else batch.following
    return FeatureValues.bins(step * (other - np.arange(len(batch))) - 1, (1, 2, 3), other >= 0)


def styles(batch: UnitBatch) -> FeatureValues:
    """All styles of the unit as one value."""
    return FeatureValues.of_strings("+".join(sorted(unit.styles)) for unit in batch.units)


def is_heading(style: str) -> bool:
    """Whether mark-up calls what has a style a heading or a title."""
    return style.startswith(("heading", "title"))


@dataclass(frozen=True)
class Links:
    """Links of the M candidates of all documents in one direction, each to its nearest neighbour in the sequence."""

    steps: Indices  # ((M,)): candidates of the same document that lie between; -1 where there is no neighbour
    lengths: Indices  # ((M,)): members of the sequence in that direction, itself included


class NumberSequences:
    """Sequences that the numbering candidates of a batch may belong to.

    units ((M,)): the candidates. before, behind (Links): predecessors and successors, whatever stands around the
    numbers. before_alike, behind_alike (Links): those of the same format; lengths_alike ((M,)): their members.
    plausible ((M,)): candidates that begin a sequence, or follow or precede another one. has_parent ((M,)): some number
    before is its beginning (3 of 3.1). rows, row_lengths, row_places, row_tainted ((M,)): the row of each candidate,
    which are those with nothing between them, how many it has, how many are before each, and whether some candidate of
    it is not plausible.
    """

    def __init__(self, batch: UnitBatch):
        self.batch = batch
        self.units = np.flatnonzero(batch.is_number)
        self._readings = [readings(batch.distinct[k]) for k in batch.text_numbers[self.units].tolist()]
        self._words = [own[0].keyword if own else "" for own in self._readings]
        documents = batch.document[self.units]
        self._documents = documents.tolist()
        forwards, backwards = range(len(self.units)), range(len(self.units) - 1, -1, -1)
        self.before, self.behind = self._link(forwards, -1, _loose), self._link(backwards, 1, _loose)
        self.before_alike, self.behind_alike = self._link(forwards, -1, _strict), self._link(backwards, 1, _strict)
        self.lengths_alike = self.before_alike.lengths + self.behind_alike.lengths - 1
        self.has_parent = self._find_parents()
        self.plausible = (self.before.steps >= 0) | (self.behind.steps >= 0) | self.has_parent
        opens = np.append(True, (np.diff(self.units) > 1) | (np.diff(documents) > 0))
        self.rows = np.cumsum(opens[: len(self.units)]) - 1
        self.row_lengths = np.bincount(self.rows)[self.rows]
        self.row_places = np.arange(len(self.rows)) - np.searchsorted(self.rows, self.rows)
        self.row_tainted = np.bincount(self.rows, weights=~self.plausible)[self.rows] > 0

    def _find_parents(self) -> Bools:
        found = np.zeros(len(self.units), dtype=np.bool_)
        seen: set[_Key] = set()
        for k, (document, own) in enumerate(zip(self._documents, self._readings)):
            found[k] = any((document, r.kinds[:-1], r.values[:-1]) in seen for r in own if len(r.values) > 1)
            seen.update((document, r.kinds, r.values) for r in own)
            # 2.01 below ARTICLE II, as `is_prefix` has it
            seen.update((document, ARABIC, r.values) for r in own if r.keyword and r.kinds == ROMAN_UPPER)
        return found

    def find_beginnings(self) -> Bools:
        """((M,)): candidates that are the first of a word whose numbers make a sequence in their document, such as the
        only chapter of a second part, or behind a blank line of a word that also heads sections without a number, or
        that stands between outer and inner ones, such as the only chapter between titles and articles."""
        words = list(zip(self._documents, self._words))
        counted = {word for word, is_plausible in zip(words, self.plausible.tolist()) if is_plausible and word[1]}
        firsts = np.array([any(map(is_first, own)) for own in self._readings], dtype=np.bool_)
        known, alone = np.array([(word in counted, word[1] in ALONE) for word in words], dtype=bool).reshape(-1, 2).T
        apart = np.append(True, self.batch.is_blank)[self.units] | (self.units == self.batch.firsts[self.units])
        return firsts & (known | (apart & (alone | self._stand_between())))

    def _stand_between(self) -> Bools:
        """((M,)): candidates between two that make sequences, the first of an outer word and the second of an inner."""
        ranks = np.array([-1 if not own or own[0].rank is None else own[0].rank for own in self._readings], dtype=int)
        sure = np.concatenate([[-1], np.where(self.plausible, ranks, -1), [-1]])
        documents = self.batch.document[self.units]
        before = np.where(documents == np.append(-1, documents[:-1]), sure[:-2], -1)
        behind = np.where(documents == np.append(documents[1:], -1), sure[2:], -1)
        return (before >= 0) & (before < ranks) & (ranks < behind)

    def find_initials(self, least: int) -> Bools:
        """((M,)): candidates in a row of so many, but for headings such as PART I, Chapter 1, Article 1: their word is
        not that of the candidates beside them."""
        beside = zip(self._words, ["", *self._words], [*self._words[1:], ""])
        is_heading = np.array([bool(word) and word not in (a, b) for word, a, b in beside], dtype=np.bool_)
        return (self.row_lengths >= least) & ~is_heading

    def spread(self, values: Indices | Bools, missing: int = 0) -> Indices:
        """((N,)): values ((M,)) of the candidates, and another one for the other units."""
        out = np.full(len(self.batch), missing, dtype=np.intp)
        out[self.units] = values
        return out

    def _link(self, order: Iterable[int], step: int, key: Callable[[int, Reading, int], _Key]) -> Links:
        count = len(self.units)
        steps, lengths = np.full(count, -1, dtype=np.intp), np.ones(count, dtype=np.intp)
        latest: dict[_Key, tuple[int, int]] = {}  # candidate, and the length of the sequence up to it
        for k in order:
            document = self._documents[k]
            for reading in self._readings[k]:
                found, reached = latest.get(key(document, reading, step), (-1, 0))
                if reached >= lengths[k]:
                    steps[k], lengths[k] = abs(k - found) - 1, 1 + reached
                latest[key(document, reading, 0)] = k, 1 + reached
        return Links(steps, lengths)


def _loose(document: int, reading: Reading, step: int) -> _Key:
    return (document, reading.family, reading.values[:-1], reading.values[-1] + step)


def _strict(document: int, reading: Reading, step: int) -> _Key:
    return (reading.format, *_loose(document, reading, step))


class Profiles:
    """Profiles of the units of a batch: what a reader sees of a text before reading it.

    That is styles, capitals, numbering before it, whether it is short, stands alone, ends in a full stop. A writer sets
    all headings of a level in one way: a profile that known titles of the document have, or that few but other short
    lines have, tells headings whose words no list knows.

    short ((N,)): texts that may be headings. alike ((N,)): how many other units have the profile of each.
    known ((N,)): how many of these are titles by their words.
    """

    def __init__(self, batch: UnitBatch):
        words = batch.count_by_text(text.count_words)
        self.short = batch.is_text & (words > 0) & (words < text.SHORT)
        parts = [
            *(batch.document, self.short),
            batch.flag_by_text(lambda own: own.endswith((".", ";", ",", ":"))),
            batch.by_text(text.case).among("upper", "spaced", "short upper"),
            batch.by_text(text.opening).among("lower"),
            styles(batch).codes,
            *(batch.of_number_before(each(batch)) for each in (family, signs)),
            *(blanks(batch, step).codes > 1 for step in (-1, 1)),
        ]
        numbers = number_combinations(parts)
        titles = batch.related("is title") & self.short
        self.known = np.bincount(numbers, weights=titles).astype(np.intp)[numbers] - titles
        self.alike = np.bincount(numbers)[numbers] - 1


def number_combinations(parts: Iterable[Any]) -> Indices:
    """((N,)): the same number for units that have the same values of all parts ((N,)), whole numbers or flags."""
    numbers: Indices = np.zeros(1, dtype=np.intp)
    for part in (np.asarray(part, dtype=np.intp) for part in parts):
        numbers = numbers * (int(np.max(part, initial=0)) + 1) + part
        numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    return numbers
