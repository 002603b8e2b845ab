"""Units of a batch of documents as arrays, the texts of all of them read once, and features of them by name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from ...core.arrays import Bools, Indices
from ..segment import Kind, LayoutUnit

PRESENT = "1"
T = TypeVar("T")


@dataclass(frozen=True)
class FeatureValues:
    """One value for each unit.

    codes ((N,)): numbers into names. names (list[str]): the empty string stands for no value.
    """

    codes: Indices
    names: list[str]

    @classmethod
    def flags(cls, flags: Bools) -> "FeatureValues":
        """A value where a flag is set."""
        return cls(flags.astype(np.intp), ["", PRESENT])

    @classmethod
    def of_strings(cls, strings: Iterable[str]) -> "FeatureValues":
        """A string for each unit."""
        number: dict[str, int] = {}
        codes = [number.setdefault(string, len(number)) for string in strings]
        return cls(np.array(codes, dtype=np.intp), list(number))

    @classmethod
    def bins(cls, numbers: Indices, bounds: Sequence[int], chosen: Bools | None = None) -> "FeatureValues":
        """Ranges of whole numbers: with the bounds 1, 2, 5 the values "<", "1", "2", "5".

        bounds (Sequence[int]): lowest numbers of all ranges but the first, ascending.
        chosen ((N,) | None): units that have a value; None for all.
        """
        codes = np.searchsorted(np.asarray(bounds), numbers, side="right") + 1
        return cls(np.where(True if chosen is None else chosen, codes, 0), ["", "<", *map(str, bounds)])

    @property
    def present(self) -> Bools:
        """((N,)): units that have a value."""
        return np.array([bool(name) for name in self.names], dtype=np.bool_)[self.codes]

    def where(self, chosen: Bools) -> "FeatureValues":
        """No value but for chosen units (N,)."""
        return FeatureValues(np.where(chosen, self.codes + 1, 0), ["", *self.names])

    def take(self, units: Indices) -> "FeatureValues":
        """Values of other units (N,), none where a number is negative."""
        codes = np.where(units < 0, 0, self.codes[units] + 1) if len(units) else units
        return FeatureValues(codes, ["", *self.names])


class PhraseMatcher(Protocol):
    """Tells what a text has to do with the classes of word lists; `Phrases` does."""

    def relations(self, text: str) -> frozenset[str]:
        """Relations such as "is title"."""


class UnitBatch:
    """Units of D documents, N in all.

    documents (Iterable): text and units of each. phrases (PhraseMatcher | None): word lists.
    """

    def __init__(self, documents: Iterable[tuple[str, Sequence[LayoutUnit]]], phrases: PhraseMatcher | None = None):
        texts: list[str] = []
        units: list[LayoutUnit] = []
        lengths: list[int] = []
        for text, own in documents:
            texts += [text[unit.start : unit.end].strip() for unit in own]
            units += own
            lengths.append(len(own))
        self.units, self.lengths = units, np.array(lengths, dtype=np.intp)
        number: dict[str, int] = {}
        self.text_numbers = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.intp)
        self.distinct = list(number)
        self._phrases = phrases
        self._of_texts: dict[Callable[[str], Any], list[Any]] = {}
        self._shared: dict[Callable[[UnitBatch], Any], Any] = {}

    def __len__(self) -> int:
        return len(self.units)

    @cached_property
    def texts(self) -> list[str]:
        """Text of each unit, without white space around it."""
        return [self.distinct[number] for number in self.text_numbers.tolist()]

    @cached_property
    def kinds(self) -> FeatureValues:
        """Kind of each unit."""
        return FeatureValues.of_strings(unit.kind for unit in self.units)

    @cached_property
    def document(self) -> Indices:
        """((N,)): number of the document of each unit."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def firsts(self) -> Indices:
        """((N,)): the first unit of each unit's document."""
        return np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)

    def is_kind(self, *kinds: Kind) -> Bools:
        """((N,)): units of these kinds."""
        return np.isin(self.kinds.codes, [k for k, name in enumerate(self.kinds.names) if name in kinds])

    @cached_property
    def is_blank(self) -> Bools:
        """((N,)): blank lines."""
        return self.is_kind(Kind.NEWLINE)

    @cached_property
    def is_number(self) -> Bools:
        """((N,)): numbering candidates."""
        return self.is_kind(Kind.NUMBER)

    @cached_property
    def is_text(self) -> Bools:
        """((N,)): what is no blank line, numbering, list mark or quote."""
        return ~self.is_kind(Kind.NEWLINE, Kind.NUMBER, Kind.MARK, Kind.QUOTE)

    def before(self, chosen: Bools) -> Indices:
        """((N,)): the nearest chosen unit before each unit in its document; -1 where there is none. O(N)."""
        here = np.append(-1, np.where(chosen, np.arange(len(self)), -1))
        found = np.maximum.accumulate(here)[:-1]
        return np.where(found >= self.firsts, found, -1)

    def after(self, chosen: Bools) -> Indices:
        """((N,)): the nearest chosen unit behind each unit in its document; -1 where there is none. O(N)."""
        count = len(self)
        if not count:
            return np.zeros(0, dtype=np.intp)
        here = np.where(chosen, np.arange(count), count)
        found = np.append(np.minimum.accumulate(here[::-1])[::-1][1:], count)
        ends = self.firsts + np.repeat(self.lengths, self.lengths)
        return np.where(found < ends, found, -1)

    @cached_property
    def previous(self) -> Indices:
        """((N,)): the unit before each that is no blank line, or -1."""
        return self.before(~self.is_blank)

    @cached_property
    def following(self) -> Indices:
        """((N,)): the unit behind each that is no blank line, or -1."""
        return self.after(~self.is_blank)

    @cached_property
    def text_before(self) -> Indices:
        """((N,)): the text before each unit, or -1."""
        return self.before(self.is_text)

    @cached_property
    def text_after(self) -> Indices:
        """((N,)): the text behind each unit, or -1."""
        return self.after(self.is_text)

    def of_texts(self, function: Callable[[str], T]) -> list[T]:
        """A function of each distinct text; called again with the same function, what it was."""
        known: list[T] | None = self._of_texts.get(function)
        if known is None:
            known = self._of_texts[function] = [function(text) for text in self.distinct]
        return known

    def by_text(self, function: Callable[[str], str]) -> FeatureValues:
        """Values that depend on the text alone: computed once for each distinct text."""
        return FeatureValues(self.text_numbers, self.of_texts(function))

    def count_by_text(self, function: Callable[[str], int]) -> Indices:
        """((N,)): whole numbers that depend on the text alone."""
        return np.array(self.of_texts(function), dtype=np.intp)[self.text_numbers]

    def flag_by_text(self, function: Callable[[str], object]) -> Bools:
        """((N,)): conditions that depend on the text alone."""
        return np.array(list(map(bool, self.of_texts(function))), dtype=np.bool_)[self.text_numbers]

    def related(self, relation: str) -> FeatureValues:
        """Units whose text has a relation to a class of phrases, such as "is title"."""
        found = self.of_texts(self._phrases.relations) if self._phrases else [frozenset[str]()] * len(self.distinct)
        return FeatureValues(self.text_numbers, [PRESENT if relation in relations else "" for relations in found])

    def shared(self, make: "Callable[[UnitBatch], T]") -> T:
        """Make what several features need of the units, when it is first asked for."""
        if make not in self._shared:
            self._shared[make] = make(self)
        made: T = self._shared[make]
        return made


Feature = Callable[[UnitBatch], FeatureValues]
FEATURES: dict[str, Feature] = {}
SIDES = {"previous": "before", "text_before": "before", "following": "after", "text_after": "after"}


def unit_feature(name: str, *neighbours: str) -> Callable[[Feature], Feature]:
    """Register a feature.

    name (str): its name in templates, UNIT(name).
    neighbours (str): neighbours of a unit, named as in `SIDES`, whose values are features too: "words before".
    """

    def register(function: Feature) -> Feature:
        FEATURES[name] = function
        for neighbour in neighbours:
            FEATURES[f"{name} {SIDES[neighbour]}"] = _of_neighbour(function, neighbour)
        return function

    return register


def text_feature(name: str, *neighbours: str) -> Callable[[Callable[[str], str]], Callable[[str], str]]:
    """Register a function of the text of a unit as a feature; the arguments are those of `unit_feature`."""

    def register(function: Callable[[str], str]) -> Callable[[str], str]:
        unit_feature(name, *neighbours)(lambda batch: batch.by_text(function))
        return function

    return register


def _of_neighbour(function: Feature, neighbour: str) -> Feature:
    return lambda batch: function(batch).take(getattr(batch, neighbour))
