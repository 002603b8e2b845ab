"""Labelled sequences as constraints see them, and the three forms in which a constraint states what it means of them:
counts, an automaton, and linear inequalities.

An automaton reads a labelling edge by edge: the tag before (NOTHING before the first unit) and the tag, so that where
a segment begins need not be remembered; its states are made when they are reached. Inequalities are the rows H e <= s
of Cecchini & Fersini, section 3.1, over the edges of a path. An indicator is a set of edges (tag before, tag), written
as a mask; at each unit it is 1 if the path takes one of them.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Bools, Indices, Ints, cached_property
from ..errors import CoreErrors, CRFError
from ..labels import TagSet

Labels: TypeAlias = tuple[str, ...]
Level: TypeAlias = Literal["segment", "unit"]
State: TypeAlias = Any  # whatever can be hashed
# (state, label of the segment before, label) to the next state and violations
Reader: TypeAlias = Callable[[State, int, int], tuple[State, int]]
NOTHING = -1  # before the first unit; a surface or a fixed tag that is not given


class Segment(NamedTuple):
    """Units first..end-1, all with one label (by number)."""

    label: int
    first: int
    end: int


@dataclass(frozen=True)
class Fields:
    """The labels of the tag set of a chain, by number: those of its spans, and each tag that is no part of a span."""

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
        names = np.array(self.tags.tags, dtype=object)
        for label in self.tags.span_labels:
            names[self.tags.members(label)] = label
        return list(names)

    @cached_property
    def begins(self) -> dict[Level, Bools]:
        """((L + 1, L)): whether a segment begins, by the tag before (the last row: none) and the tag. By level."""
        numbers = np.array(self.of_tag)
        everywhere = np.ones((len(numbers) + 1, len(numbers)), dtype=bool)
        inside = (numbers[:, None] != numbers) | self.tags.begins()
        return {"segment": np.vstack([inside, everywhere[-1:]]), "unit": everywhere}

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
        if labels not in self._masks:
            numbers = self.numbers(labels)
            self._masks[labels] = np.array([number in numbers for number in self.of_tag])
        return self._masks[labels]


@dataclass(frozen=True)
class UnitPredicates:
    """What constraints may ask about units beside their labels, for a batch in packed order or for one sequence.

    named (mapping): whether each predicate holds, (N,), by its name. surfaces ((N,)): a number for each, NOTHING
        where a unit is to be left alone. fixed ((N,)): tag that is known, NOTHING where there is none.
    RAISES (ValueError): for arrays of another length.
    """

    n_units: int
    named: Mapping[str, Bools] = field(default_factory=dict)
    surfaces: Indices | None = None
    fixed: Ints | None = None

    def __post_init__(self) -> None:
        for name, values in {**self.named, "surfaces": self.surfaces, "fixed": self.fixed}.items():
            if values is not None and len(values) != self.n_units:
                raise CRFError(CoreErrors.CRF927.format(name=name, expected=self.n_units, actual=len(values)))

    def at(self, rows: Indices) -> "UnitPredicates":
        """The predicates of some of the units, such as those of a sequence."""
        named = {name: values[rows] for name, values in self.named.items()}
        surfaces = None if self.surfaces is None else self.surfaces[rows]
        return UnitPredicates(len(rows), named, surfaces, None if self.fixed is None else self.fixed[rows])

    @classmethod
    def join(cls, parts: Sequence["UnitPredicates"]) -> "UnitPredicates":
        """The predicates of several batches, one behind the other, which tell the same of their units."""
        named = {name: np.concatenate([part.named[name] for part in parts]) for name in parts[0].named}
        others = [
            None if getattr(parts[0], name) is None else np.concatenate([getattr(part, name) for part in parts])
            for name in ("surfaces", "fixed")
        ]
        return cls(sum(part.n_units for part in parts), named, *others)

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
        return np.flatnonzero(self.named[name][1 : None if gap else -1]) + 1


@dataclass(frozen=True)
class Labelling:
    """One labelled sequence, by the tags of its units."""

    tags: list[int]
    fields: Fields
    predicates: UnitPredicates
    _segments: dict[Level, list[Segment]] = field(default_factory=dict, compare=False, repr=False)
    _positions: dict[tuple[Level, Labels], list[int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def labels(self) -> list[int]:
        """Number of the label of each unit."""
        of_tag = self.fields.of_tag
        return [of_tag[tag] for tag in self.tags]

    def segments(self, level: Level) -> list[Segment]:
        """The segments, or the units as segments of their own; remembered. O(T)."""
        if level not in self._segments:
            begins, tags, labels = self.fields.begin_rows[level], self.tags, self.labels
            edges = zip([NOTHING, *tags], tags)
            starts = [unit for unit, (before, tag) in enumerate(edges) if begins[before][tag]]
            places = pairwise([*starts, len(tags)])
            self._segments[level] = [Segment(labels[first], first, end) for first, end in places]
        return self._segments[level]

    def positions(self, level: Level, labels: Labels) -> list[int]:
        """Places, in the order of the segments, of those with one of the labels; remembered."""
        found = self._positions.get((level, labels))
        if found is None:
            numbers, segments = self.fields.numbers(labels), enumerate(self.segments(level))
            found = self._positions[level, labels] = [place for place, one in segments if one.label in numbers]
        return found


# -- meaning -----------------------------------------------------------------------------------------------------------


class Occurrences(NamedTuple):
    """How often a constraint applied to a labelling (its antecedent held), and how often it was broken."""

    applied: int
    broken: int


@dataclass(frozen=True)
class Monitor:
    """A deterministic automaton that reports violations as they happen.

    step (callable): (state, symbol of the unit, tag before, tag) to the next state and the violations on the way.
    finish (callable): (state, last tag) to the violations that the end brings.
    symbols (list | None): what it reads of the units beside their tags; None for nothing.
    """

    start: Hashable
    step: Callable[[State, Any, int, int], tuple[State, int]]
    finish: Callable[[State, int], int] = lambda state, tag: 0
    symbols: list[Any] | None = None


def tags_before(path: Ints) -> Ints:
    """((T,)): the tag before each unit, NOTHING before the first, which stands for the last row of a mask."""
    return np.concatenate([[NOTHING], path[:-1]]).astype(np.int32)


@dataclass(frozen=True)
class Term:
    """One term of each of n inequalities: the sum of an indicator over units, or whether it reaches a number.

    sign (int): 1 or -1. mask ((L + 1, L)): edges [tag before, tag] of the indicator; the last row: at the first unit.
    lows ((n,)), highs ((n,)): the units lows..highs-1 of each row.
    reaches (int): 0 for the sum; else the term is 1 if the sum is at least that. Its sign is then 1.
    """

    sign: int
    mask: Bools
    lows: Indices
    highs: Indices
    reaches: int = 0

    def values(self, path: Ints) -> Indices:
        """((n,)): value of the term in each row. path ((T,)): tags."""
        sums = np.concatenate([[0], np.cumsum(self.mask[tags_before(path), path])])
        counts = sums[self.highs] - sums[self.lows]
        return np.asarray(counts >= self.reaches if self.reaches else counts, dtype=np.intp)


@dataclass(frozen=True)
class Inequalities:
    """n rows of the same form: a constant and the sum of the terms, at most 0 unless the constraint is broken.

    Rows of one group share a violation, of the size of the greatest; summed over groups these are all violations.
    largest (int): no row has a greater value.
    """

    terms: tuple[Term, ...]
    constant: int
    groups: Indices
    largest: int = 1

    def values(self, path: Ints) -> Indices:
        """((n,)): value of each row for a path of T tags. O(n + T)."""
        return sum((term.sign * term.values(path) for term in self.terms), np.full(len(self.groups), self.constant))


@dataclass(frozen=True)
class Indicators:
    """One sequence at the level of a constraint, with indicators and terms over its units."""

    fields: Fields
    level: Level
    predicates: UnitPredicates

    def node(self, labels: Labels) -> Bools:
        """The unit has one of the labels."""
        tags = self.fields.tags_of(labels)
        return np.ones((len(tags) + 1, 1), dtype=bool) & tags

    def begin(self, labels: Labels) -> Bools:
        """A segment of one of the labels begins."""
        return self.fields.begins[self.level] & self.node(labels)

    def end(self, labels: Labels) -> Bools:
        """A segment of one of the labels ended with the unit before."""
        before = np.append(self.fields.tags_of(labels), False)
        return np.asarray(self.fields.begins[self.level] & before[:, None])

    @property
    def units(self) -> Indices:
        return np.arange(self.predicates.n_units)

    @property
    def later(self) -> Indices:
        """All units but the first."""
        return self.units[1:]

    @property
    def first(self) -> Indices:
        """The first unit, or the only row."""
        return self.units[:1]

    @property
    def last(self) -> Indices:
        return self.units[-1:]

    def at(self, sign: int, mask: Bools, units: Indices) -> Term:
        """An indicator at one unit for each row."""
        return Term(sign, mask, units, units + 1)

    def over(self, sign: int, mask: Bools, n_rows: int = 1, reaches: int = 0) -> Term:
        """An indicator over the whole sequence, the same in all rows."""
        return Term(sign, mask, np.zeros(n_rows, dtype=np.intp), np.full(n_rows, self.predicates.n_units), reaches)

    def forbid(self, mask: Bools, units: Indices) -> Inequalities:
        """No edge of a mask at some units: a row for each."""
        return Inequalities((self.at(1, mask, units),), 0, units)

    def preceded(self, labels: Labels, earlier: Labels, first_group: int = 0) -> Inequalities:
        """No segment of some labels with one of others before it: a row for each unit but the first."""
        later = self.later
        found = Term(1, self.begin(earlier), np.zeros_like(later), later, reaches=1)
        return Inequalities((self.at(1, self.begin(labels), later), found), -1, first_group + later)

    def by_segments(self, read: Reader, finish: Callable[[State], int] = lambda state: 0) -> Monitor:
        """Return an automaton that begins in the state 0, and moves where a segment begins."""
        label, begins = [*self.fields.of_tag, NOTHING], self.fields.begin_rows[self.level]

        def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            return read(state, label[before], label[tag]) if begins[before][tag] else (state, 0)

        return Monitor(0, step, lambda state, tag: finish(state))
