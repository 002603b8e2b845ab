"""Labelled sequences as constraints see them: labels by number, segments, and predicates of units."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, permutations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Bools, Indices, Ints
from ..errors import CoreErrors, CRFError
from ..labels import TagSet

Labels: TypeAlias = tuple[str, ...]
Level: TypeAlias = Literal["segment", "unit"]
NOTHING = -1  # before the first unit; a surface or a fixed tag that is not given


class Segment(NamedTuple):
    """Units first..end-1, all with one label (by number)."""

    label: int
    first: int
    end: int


@dataclass(frozen=True)
class Fields:
    """The labels of a tag set, by number: those of its spans, and each tag that is no part of a span.

    tags (TagSet): of the chain.
    """

    tags: TagSet
    _numbers: dict[Labels, frozenset[int]] = field(default_factory=dict, compare=False, repr=False)
    _masks: dict[Labels, Bools] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def of_tag(self) -> list[int]:
        """Number of the label of each tag."""
        return [self.names.index(name) for name in self._name_of_tag]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Labels by number."""
        return tuple(dict.fromkeys(self._name_of_tag))

    @cached_property
    def _name_of_tag(self) -> list[str]:
        names = list(self.tags.tags)
        for label in self.tags.span_labels:
            for tag in np.flatnonzero(self.tags.members(label)):
                names[tag] = label
        return names

    @cached_property
    def begins(self) -> dict[Level, Bools]:
        """((L + 1, L)): whether a segment begins, by the tag before (the last row: none) and the tag. By level."""
        numbers = np.array(self.of_tag)
        segment = (numbers[:, None] != numbers[None, :]) | self.tags.begins()[None, :]
        start = np.ones((1, len(numbers)), dtype=bool)
        everywhere = np.ones((len(numbers) + 1, len(numbers)), dtype=bool)
        return {"segment": np.vstack([segment, start]), "unit": everywhere}

    @cached_property
    def begin_rows(self) -> dict[Level, list[list[bool]]]:
        """`begins` as lists, which are faster one cell at a time; row NOTHING is the last."""
        return {level: table.tolist() for level, table in self.begins.items()}

    def numbers(self, labels: Labels) -> frozenset[int]:
        """Numbers of labels that are known to be there."""
        found = self._numbers.get(labels)
        if found is None:
            found = self._numbers[labels] = frozenset(map(self.names.index, labels))
        return found

    def tags_of(self, labels: Labels) -> Bools:
        """((L,)): the tags of some labels."""
        found = self._masks.get(labels)
        if found is None:
            numbers = self.numbers(labels)
            found = self._masks[labels] = np.array([number in numbers for number in self.of_tag])
        return found

    def segments(self, labels: list[int], tags: list[int], level: Level) -> list[Segment]:
        """The segments of a labelling, given by labels and by tags. O(T)."""
        begins = self.begin_rows[level]
        previous, starts = NOTHING, []
        for unit, tag in enumerate(tags):
            if begins[previous][tag]:
                starts.append(unit)
            previous = tag
        return [Segment(labels[first], first, end) for first, end in pairwise([*starts, len(tags)])]


@dataclass(frozen=True)
class UnitPredicates:
    """What constraints may ask about units beside their labels, for a batch in packed order or for one sequence.

    n_units (int): how many there are. named (mapping): whether each predicate holds, (N,), by its name.
    surfaces ((N,)): a number for each surface, NOTHING where a unit is to be left alone.
    fixed ((N,)): tag that is known, NOTHING where there is none.
    RAISES (ValueError): for arrays of another length.
    """

    n_units: int
    named: Mapping[str, Bools] = field(default_factory=dict)
    surfaces: Indices | None = None
    fixed: Ints | None = None

    def __post_init__(self) -> None:
        given = {**self.named, "surfaces": self.surfaces, "fixed": self.fixed}
        for name, values in given.items():
            if values is not None and len(values) != self.n_units:
                raise CRFError(CoreErrors.CRF927.format(name=name, expected=self.n_units, actual=len(values)))

    def at(self, rows: Indices) -> "UnitPredicates":
        """Those of some of the units, such as the ones of a sequence."""
        return replace(
            self,
            n_units=len(rows),
            named={name: values[rows] for name, values in self.named.items()},
            surfaces=None if self.surfaces is None else self.surfaces[rows],
            fixed=None if self.fixed is None else self.fixed[rows],
        )

    @cached_property
    def repeats(self) -> list[tuple[int, int]]:
        """Pairs of units of one sequence with the same surface, one the next occurrence after the other. O(T)."""
        pairs, latest = [], dict[int, int]()
        for unit, surface in enumerate([] if self.surfaces is None else self.surfaces.tolist()):
            if surface != NOTHING:
                if surface in latest:
                    pairs.append((latest[surface], unit))
                latest[surface] = unit
        return pairs

    def marks(self, name: str, gap: bool = False) -> Indices:
        """Units of one sequence at which a predicate holds, with a unit before and (unless in a gap) one after them."""
        held = np.flatnonzero(self.named[name])
        last = self.n_units - 1 if gap else self.n_units - 2
        return held[(held >= 1) & (held <= last)]


@dataclass(frozen=True)
class Labelling:
    """One labelled sequence.

    tags (list of int): tag of each unit. fields (Fields): of the chain. predicates (UnitPredicates): of the units.
    """

    tags: list[int]
    fields: Fields
    predicates: UnitPredicates
    _positions: dict[tuple[Level, Labels], list[int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def labels(self) -> list[int]:
        """Number of the label of each unit."""
        of_tag = self.fields.of_tag
        return [of_tag[tag] for tag in self.tags]

    @cached_property
    def _segments(self) -> list[Segment]:
        return self.fields.segments(self.labels, self.tags, "segment")

    @cached_property
    def _units(self) -> list[Segment]:
        return self.fields.segments(self.labels, self.tags, "unit")

    def segments(self, level: Level) -> list[Segment]:
        """The segments, or the units as segments of their own."""
        return self._segments if level == "segment" else self._units

    def positions(self, level: Level, labels: Labels) -> list[int]:
        """Places, in the order of the segments, of those with one of the labels; remembered."""
        found = self._positions.get((level, labels))
        if found is None:
            numbers = self.fields.numbers(labels)
            segments = enumerate(self.segments(level))
            found = self._positions[level, labels] = [place for place, one in segments if one.label in numbers]
        return found


@dataclass(frozen=True)
class Observations:
    """Labelled sequences that suggest constraints to the families.

    seen (sequence of Labelling): of sequences that are not empty. gaps (collection of str): predicates of the gap
        before a unit; all others are of the unit itself.
    max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): what occurs in fewer sequences suggests nothing.
    """

    seen: Sequence[Labelling]
    max_terms: int
    min_support: int
    gaps: Collection[str] = ()

    @cached_property
    def runs(self) -> list[list[str]]:
        """Labels of the segments of each sequence."""
        return [[one.fields.names[segment.label] for segment in one.segments("segment")] for one in self.seen]

    @cached_property
    def counts(self) -> Counter[str]:
        """Sequences with each label."""
        return Counter(label for run in self.runs for label in dict.fromkeys(run))

    @cached_property
    def labels(self) -> list[str]:
        """Labels that occur often enough."""
        return [label for label, count in self.counts.items() if count >= self.min_support]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of different labels that occur often enough."""
        return list(permutations(self.labels, 2))

    def sets(self, counts: Counter[str]) -> Iterator[Labels]:
        """Yield for each size the set of labels that explains most of what was counted."""
        best = tuple(label for label, _ in counts.most_common(self.max_terms))
        yield from (best[:size] for size in range(1, len(best) + 1))
