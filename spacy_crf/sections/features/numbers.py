"""Features of numbering candidates: their form, and the sequences that they may belong to.

All readings count. Links are looked for within a document, in one pass over its candidates for each direction, so the
whole is linear in the number of candidates.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.arrays import Bools, Indices
from ...core.grammar.numbering import Reading, readings
from .batch import FeatureValues, UnitBatch, unit_feature

_USUAL = ("", ".", "..", "-", ")", ".)", "°", ":")
_WIDTH = 3  # parts that are told apart
_LONGEST = 80  # characters of what is read as a number
VALUE_BOUNDS = (1, 2, 6, 11, 16, 21, 51, 76, 101)
_LENGTHS = (1, 2, 3, 4, 6, 10)
_GAPS = (0, 1, 2, 3, 5, 9)


@unit_feature("family", "following")
def family(batch: UnitBatch) -> FeatureValues:
    """Kinds of numeral of the parts, of each reading: 1, 11, a/i .."""
    return of_readings(batch, lambda found: "/".join(sorted({reading.family[:_WIDTH] for reading in found})) or "none")


@unit_feature("signs")
def signs(batch: UnitBatch) -> FeatureValues:
    """Signs and keyword around the number: #., (#), artikel #."""
    return of_readings(batch, lambda found: found[0].format if found else "none")


@unit_feature("is odd")
def is_odd(batch: UnitBatch) -> FeatureValues:
    """Closed by an unusual sign."""
    return of_readings(batch, lambda found: "1" if found and found[0].format.partition("#")[2] not in _USUAL else "")


@unit_feature("depth")
def depth(batch: UnitBatch) -> FeatureValues:
    """Number of parts."""
    return of_readings(batch, lambda found: str(min(len(found[0].values), 5)) if found else "")


@unit_feature("value")
def value(batch: UnitBatch) -> FeatureValues:
    """Greatest value of a part of the likeliest reading, in ranges."""
    return FeatureValues.bins(batch.count_by_text(_greatest), VALUE_BOUNDS, batch.is_number)


@unit_feature("is opening")
def is_opening(batch: UnitBatch) -> FeatureValues:
    """The last part is a first number in some reading: 1, a, i."""
    return of_readings(batch, lambda found: "1" if any(reading.values[-1] == 1 for reading in found) else "")


@unit_feature("leading zero")
def has_leading_zero(batch: UnitBatch) -> FeatureValues:
    """Begins with 0."""
    return FeatureValues.flags(batch.is_number & batch.flag_by_text(lambda text: text.lstrip("([")[:1] == "0"))


def of_readings(batch: UnitBatch, describe: Callable[[tuple[Reading, ...]], str]) -> FeatureValues:
    """Values of numbering candidates, from all readings of their texts."""
    found = [describe(readings(text)) if len(text) < _LONGEST else "" for text in batch.distinct]
    return FeatureValues(batch.text_numbers, found).where(batch.is_number)


def _greatest(text: str) -> int:
    found = readings(text) if len(text) < _LONGEST else ()
    return max(found[0].values) if found else 0


_Key = tuple[object, ...]


@dataclass(frozen=True)
class Links:
    """Links of the M candidates of all documents in one direction.

    steps ((M,)): candidates of the same document that lie between a number and its nearest neighbour in the sequence;
        -1 where it has none. lengths ((M,)): members of the sequence in that direction, itself included.
    """

    steps: Indices
    lengths: Indices


class NumberSequences:
    """Sequences that the numbering candidates of a batch may belong to.

    units ((M,)): the candidates. before, behind (Links): predecessors and successors, whatever stands around the
    numbers. before_alike, behind_alike (Links): those of the same format.
    """

    def __init__(self, batch: UnitBatch):
        self.batch = batch
        self.units = np.flatnonzero(batch.is_number)
        self._readings = [readings(batch.distinct[k]) for k in batch.text_numbers[self.units].tolist()]
        self._documents = batch.document[self.units].tolist()
        forwards, backwards = range(len(self.units)), range(len(self.units) - 1, -1, -1)
        self.before, self.behind = self._link(forwards, -1, _loose), self._link(backwards, 1, _loose)
        self.before_alike, self.behind_alike = self._link(forwards, -1, _strict), self._link(backwards, 1, _strict)

    @cached_property
    def has_parent(self) -> Bools:
        """((M,)): some number before is its beginning (3 of 3.1)."""
        found = np.zeros(len(self.units), dtype=np.bool_)
        seen: set[_Key] = set()
        for k, (document, own) in enumerate(zip(self._documents, self._readings)):
            found[k] = any((document, r.kinds[:-1], r.values[:-1]) in seen for r in own if len(r.values) > 1)
            seen.update((document, r.kinds, r.values) for r in own)
        return found

    @cached_property
    def plausible(self) -> Bools:
        """((M,)): candidates that begin a sequence, or follow or precede another one."""
        return (self.before.steps >= 0) | (self.behind.steps >= 0) | self.has_parent

    @cached_property
    def rows(self) -> Indices:
        """((M,)): the row of each candidate: those with nothing between them."""
        opens = np.append(True, (np.diff(self.units) > 1) | (np.diff(self.batch.document[self.units]) > 0))
        return np.cumsum(opens[: len(self.units)]) - 1

    @property
    def row_lengths(self) -> Indices:
        """((M,)): candidates in the row of each."""
        return np.bincount(self.rows)[self.rows]

    @property
    def row_places(self) -> Indices:
        """((M,)): how many candidates of its row are before each."""
        return np.arange(len(self.rows)) - np.searchsorted(self.rows, self.rows)

    @property
    def row_tainted(self) -> Bools:
        """((M,)): whether some candidate of the row is not plausible."""
        return np.asarray(np.bincount(self.rows, weights=~self.plausible)[self.rows] > 0)

    def spread(self, values: Indices | Bools, missing: int = 0) -> Indices:
        """((N,)): values ((M,)) of the candidates, and another one for the other units."""
        out = np.full(len(self.batch), missing, dtype=np.intp)
        out[self.units] = values
        return out

    def _link(self, order: Iterable[int], step: int, key: Callable[[int, Reading, int], _Key]) -> Links:
        count = len(self.units)
        steps, lengths = np.full(count, -1, dtype=np.intp), np.ones(count, dtype=np.intp)
        latest: dict[_Key, int] = {}
        reached: dict[_Key, int] = {}
        for k in order:
            document = self._documents[k]
            for reading in self._readings[k]:
                wanted, own = key(document, reading, step), key(document, reading, 0)
                found = latest.get(wanted)
                length = 1 + reached[wanted] if found is not None else 1
                if found is not None and length > lengths[k]:
                    steps[k], lengths[k] = abs(k - found) - 1, length
                latest[own], reached[own] = k, length
        return Links(steps, lengths)


def _loose(document: int, reading: Reading, step: int) -> _Key:
    return (document, reading.family, reading.values[:-1], reading.values[-1] + step)


def _strict(document: int, reading: Reading, step: int) -> _Key:
    return (document, reading.format, reading.family, reading.values[:-1], reading.values[-1] + step)


def _sequence_feature(
    name: str, values: Callable[[NumberSequences], Indices | Bools], bounds: tuple[int, ...] = (), missing: int = 0
) -> None:
    """Register a feature of candidates: numbers in ranges, or a flag where there are no bounds."""

    def feature(batch: UnitBatch) -> FeatureValues:
        sequences = batch.shared(NumberSequences)
        spread = sequences.spread(values(sequences), missing)
        return FeatureValues.bins(spread, bounds, batch.is_number) if bounds else FeatureValues.flags(spread > 0)

    unit_feature(name)(feature)


_sequence_feature("sequence before", lambda found: found.before.lengths, _LENGTHS)
_sequence_feature("sequence behind", lambda found: found.behind.lengths, _LENGTHS)
_sequence_feature("like sequence before", lambda found: found.before_alike.lengths, _LENGTHS)
_sequence_feature("like sequence behind", lambda found: found.behind_alike.lengths, _LENGTHS)
_sequence_feature(
    "sequence length", lambda found: found.before_alike.lengths + found.behind_alike.lengths - 1, _LENGTHS
)
_sequence_feature("predecessor gap", lambda found: found.before_alike.steps, _GAPS, missing=-1)
_sequence_feature("successor gap", lambda found: found.behind_alike.steps, _GAPS, missing=-1)
_sequence_feature("has parent", lambda found: found.has_parent)
_sequence_feature("is plausible", lambda found: found.plausible)
_sequence_feature("row length", lambda found: found.row_lengths, (2, 3, 5))
_sequence_feature("row place", lambda found: found.row_places, (1, 2))
_sequence_feature("row tainted", lambda found: found.row_tainted)
