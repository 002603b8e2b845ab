"""Whether a labelling breaks constraints, and how often: the meaning that all methods of inference share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import NamedTuple

from .families import (
    Adjacency,
    AtLeast,
    AtMost,
    BeginEnd,
    Boundary,
    Constraint,
    EndsWith,
    Exactly,
    Excludes,
    Fixed,
    Labels,
    Level,
    Order,
    Precedence,
    Predicate,
    PresencePrecedence,
    Requires,
    Rule,
    SameSurface,
    StartsWith,
    StateChange,
)
from .predicates import NOTHING, Fields, Segment, UnitFacts


class Occurrences(NamedTuple):
    """How often a constraint applied to a labelling (its antecedent held), and how often it was broken."""

    applied: int
    broken: int


@dataclass(frozen=True)
class Labelling:
    """One labelled sequence.

    tags (list of int): tag of each unit. fields (Fields): of the chain. facts (UnitFacts): about the units.
    """

    tags: list[int]
    fields: Fields
    facts: UnitFacts
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

    def positions(self, constraint: Constraint, labels: Labels) -> list[int]:
        """Places, in the order of the segments, of those with one of the labels; remembered."""
        key = constraint.level, labels
        found = self._positions.get(key)
        if found is None:
            numbers, segments = self.fields.numbers(labels), self.segments(constraint.level)
            found = self._positions[key] = [place for place, one in enumerate(segments) if one.label in numbers]
        return found


def broken(constraint: Constraint, labelling: Labelling) -> int:
    """How often a constraint is broken, in the way that its cost is paid: at most once unless `count` is "each"."""
    times = occurrences(constraint, labelling).broken if labelling.tags else 0
    return times if constraint.count == "each" else min(times, 1)


def violations(constraints: Sequence[Constraint], labelling: Labelling) -> dict[int, int]:
    """Indices of the constraints that are broken, and how often. O(R T)."""
    found = ((index, broken(constraint, labelling)) for index, constraint in enumerate(constraints))
    return {index: times for index, times in found if times}


def penalty(constraints: Sequence[Constraint], found: dict[int, int]) -> float:
    """The costs of violations; infinite for a hard constraint.

    found (dict): as `violations` returns it.
    """
    return sum((constraints[index].cost * times for index, times in found.items()), 0.0)


@singledispatch
def occurrences(constraint: Constraint, seen: Labelling) -> Occurrences:
    """How often a constraint applies to a labelling that is not empty, and how often it is broken there."""
    raise NotImplementedError(constraint.kind)


@occurrences.register
def _(constraint: Adjacency, seen: Labelling) -> Occurrences:
    segments, allowed = seen.segments(constraint.level), seen.fields.numbers(constraint.b)
    going = [place for place in seen.positions(constraint, constraint.a) if place + 1 < len(segments)]
    return Occurrences(len(going), sum(segments[place + 1].label not in allowed for place in going))


@occurrences.register
def _(constraint: Precedence, seen: Labelling) -> Occurrences:
    last = len(seen.segments(constraint.level)) - 1
    going = [place for place in seen.positions(constraint, constraint.a) if place < last]
    latest = max(seen.positions(constraint, constraint.b), default=-1)
    return Occurrences(len(going), sum(place >= latest for place in going))


@occurrences.register
def _(constraint: StateChange, seen: Labelling) -> Occurrences:
    a, b = seen.fields.numbers(constraint.a), seen.fields.numbers(constraint.b)
    marks = seen.facts.marks(constraint.at, constraint.gap).tolist()
    after = 0 if constraint.gap else 1
    around = [(seen.labels[mark - 1] in a, seen.labels[mark + after] in b) for mark in marks]
    if constraint.implied:
        around = [pair for pair in around if pair[0]]
    return Occurrences(len(around), sum(not all(pair) for pair in around))


@occurrences.register
def _(constraint: BeginEnd, seen: Labelling) -> Occurrences:
    applies = seen.labels[0] in seen.fields.numbers(constraint.a)
    return Occurrences(applies, applies and seen.labels[-1] not in seen.fields.numbers(constraint.b))


@occurrences.register
def _(constraint: PresencePrecedence, seen: Labelling) -> Occurrences:
    places = seen.positions(constraint, constraint.a)
    first = min(seen.positions(constraint, constraint.b), default=len(seen.tags))
    return Occurrences(len(places), sum(place > first for place in places))


@occurrences.register
def _(constraint: AtMost, seen: Labelling) -> Occurrences:
    found = len(seen.positions(constraint, constraint.a))
    return Occurrences(min(found, 1), max(0, found - constraint.k))


@occurrences.register
def _(constraint: AtLeast, seen: Labelling) -> Occurrences:
    return Occurrences(1, max(0, constraint.k - len(seen.positions(constraint, constraint.a))))


@occurrences.register
def _(constraint: Exactly, seen: Labelling) -> Occurrences:
    return Occurrences(1, abs(len(seen.positions(constraint, constraint.a)) - constraint.k))


@occurrences.register
def _(constraint: Requires, seen: Labelling) -> Occurrences:
    found = len(seen.positions(constraint, constraint.a))
    return Occurrences(found, 0 if seen.positions(constraint, constraint.b) else found)


@occurrences.register
def _(constraint: Excludes, seen: Labelling) -> Occurrences:
    found = len(seen.positions(constraint, constraint.a))
    return Occurrences(found, found if seen.positions(constraint, constraint.b) else 0)


@occurrences.register
def _(constraint: Order, seen: Labelling) -> Occurrences:
    ranks = {number: rank for rank, labels in enumerate(constraint.sets) for number in seen.fields.numbers(labels)}
    greatest = applied = wrong = 0
    for segment in seen.segments(constraint.level):
        rank = ranks.get(segment.label)
        if rank is not None:
            applied += 1
            wrong += rank < greatest
            greatest = max(greatest, rank)
    return Occurrences(applied, wrong)


@occurrences.register
def _(constraint: StartsWith, seen: Labelling) -> Occurrences:
    return Occurrences(1, seen.labels[0] not in seen.fields.numbers(constraint.a))


@occurrences.register
def _(constraint: EndsWith, seen: Labelling) -> Occurrences:
    return Occurrences(1, seen.labels[-1] not in seen.fields.numbers(constraint.a))


@occurrences.register
def _(constraint: Boundary, seen: Labelling) -> Occurrences:
    segments, own = seen.segments(constraint.level), seen.fields.numbers(constraint.a)
    sides = zip(segments, segments[1:])
    beside = [after.first for before, after in sides if not own or {before.label, after.label} & own]
    return Occurrences(len(beside), len(set(beside) & set(seen.facts.closed(constraint).tolist())))


@occurrences.register
def _(constraint: SameSurface, seen: Labelling) -> Occurrences:
    pairs = seen.facts.repeats
    return Occurrences(len(pairs), sum(seen.labels[first] != seen.labels[then] for first, then in pairs))


@occurrences.register
def _(constraint: Fixed, seen: Labelling) -> Occurrences:
    fixed = [] if seen.facts.fixed is None else seen.facts.fixed.tolist()
    pairs = [(given, tag) for given, tag in zip(fixed, seen.tags) if given != NOTHING]
    return Occurrences(len(pairs), sum(given != tag for given, tag in pairs))


@occurrences.register
def _(constraint: Rule, seen: Labelling) -> Occurrences:
    if not all(holds(predicate, seen) for predicate in constraint.condition):
        return Occurrences(0, 0)
    satisfied = any(all(holds(predicate, seen) for predicate in conjunction) for conjunction in constraint.then)
    return Occurrences(1, not satisfied)


def holds(predicate: Predicate, seen: Labelling) -> bool:
    """Whether a predicate of a rule holds in a labelling that is not empty."""
    (number,) = seen.fields.numbers((predicate.label,))
    units = {"has": slice(None), "first": slice(1), "last": slice(-1, None)}[predicate.what]
    return (number in seen.labels[units]) != predicate.negated
