"""Units of a batch of documents as arrays, and values that they may have; the texts of all of them are read once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ...core.arrays import Bools, Indices, Segments
from ..segment import Kind, LayoutUnit
from .text import Phrases

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

    def __init__(self, documents: Iterable[tuple[str, Sequence[LayoutUnit]]], phrases: Phrases | None = None):
        documents = list(documents)
        self.units = [unit for _, own in documents for unit in own]
        self.runs = Segments.of(own for _, own in documents)
        self.document, self.firsts = self.runs.owners, self.runs.firsts[self.runs.owners]
        texts = FeatureValues.of_strings(text[unit.start : unit.end].strip() for text, own in documents for unit in own)
        lines = [begins for text, own in documents for begins in _line_starts(text, own)]
        self.begins_line = np.array(lines, dtype=np.bool_)
        self.text_numbers, self.distinct = texts.codes, texts.names
        self.kinds = FeatureValues.of_strings(unit.kind for unit in self.units)
        self.is_blank, self.is_number = self.kinds.among(Kind.NEWLINE), self.kinds.among(Kind.NUMBER)
        self.is_text = ~self.kinds.among(Kind.NEWLINE, Kind.NUMBER, Kind.MARK, Kind.QUOTE)
        self.previous, self.following = self.before(~self.is_blank), self.after(~self.is_blank)
        self.text_before, self.text_after = self.before(self.is_text), self.after(self.is_text)
        self._relations = (phrases or Phrases()).relations
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
