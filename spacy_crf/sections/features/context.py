"""Relations of the units of a batch to each other: sequences of numberings, and likes in how lines are set.

All readings of a numbering count. Links are looked for within a document, in one pass over its candidates for each
direction, so the whole is linear in the number of candidates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ...core.arrays import Bools, Indices
from ...core.grammar.numbering import Reading, readings
from . import text
from .batch import FeatureValues, UnitBatch

_WIDTH = 3  # parts of a number that are told apart
_LONGEST = 80  # characters of what is read as a number
_SHORT = 9  # words of what may be a heading
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
        return found

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
        self.short = batch.is_text & (words > 0) & (words < _SHORT)
        parts = [
            *(batch.document, self.short),
            batch.flag_by_text(lambda own: own.endswith((".", ";", ",", ":"))),
            batch.by_text(text.case).among("upper", "spaced", "short upper"),
            batch.by_text(text.opening).among("lower"),
            *(styles(batch).codes, _number_before(batch)),
            *(blanks(batch, step).codes > 1 for step in (-1, 1)),
        ]
        numbers: Indices = np.zeros(len(batch), dtype=np.intp)
        for part in (np.asarray(part, dtype=np.intp) for part in parts):
            numbers = numbers * (int(np.max(part, initial=0)) + 1) + part
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
        titles = batch.related("is title") & self.short
        self.known = np.bincount(numbers, weights=titles).astype(np.intp)[numbers] - titles
        self.alike = np.bincount(numbers)[numbers] - 1


def _number_before(batch: UnitBatch) -> Indices:
    """Code of the family and signs of the number right before each unit; 0 for none."""
    families, around = family(batch), signs(batch)
    code = families.codes * (len(around.names) + 1) + around.codes
    before = np.arange(len(batch)) - 1
    return np.where(before >= batch.firsts, (code + 1)[before] * batch.is_number[before], 0)
