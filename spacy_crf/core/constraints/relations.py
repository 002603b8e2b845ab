"""Families about two labels, one before the other: the relations of Cecchini & Fersini, "Named entity recognition
using CRFs with non-local relational constraints" (2014). Theirs are over tokens (`level="unit"`); where a field has
more than one token they cannot hold there.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from .family import Constraint
from .labelling import NOTHING, Fields, Labelling, Labels, Observations, UnitPredicates
from .meaning import FIRST, Indicators, Inequalities, Monitor, Occurrences, State, Term


@dataclass(frozen=True)
class Adjacency(Constraint):
    """The segment right after an A is a B. A last segment is exempt."""

    kind = "adjacency"
    on_edges = True
    a: Labels
    b: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        segments, allowed = seen.segments(self.level), seen.fields.numbers(self.b)
        going = [place for place in seen.positions(self.level, self.a) if place + 1 < len(segments)]
        return Occurrences(len(going), sum(segments[place + 1].label not in allowed for place in going))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        a, b = known.numbers(self.a), known.numbers(self.b)
        return self.by_segments(known, 0, lambda state, before, label: (state, int(before in a and label not in b)))

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [on.forbid(on.end(self.a) & ~on.node(self.b), on.later)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["Adjacency"]:
        for label in data.labels:
            followers = Counter(after for run in data.runs for a, after in zip(run, run[1:]) if a == label)
            yield from (cls((label,), own) for own in data.sets(followers))


@dataclass(frozen=True)
class Precedence(Constraint):
    """After each A segment that is not the last segment, some B segment comes later."""

    kind = "precedence"
    a: Labels
    b: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        last = len(seen.segments(self.level)) - 1
        going = [place for place in seen.positions(self.level, self.a) if place < last]
        latest = max(seen.positions(self.level, self.b), default=-1)
        return Occurrences(len(going), sum(place >= latest for place in going))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: how many A segments, not the last one, wait for a B."""
        a, b, most = known.numbers(self.a), known.numbers(self.b), self.most_counted

        def read(waiting: State, before: int, label: int) -> tuple[State, int]:
            return (0 if label in b else min(waiting + (before in a), most)), 0

        return self.by_segments(known, 0, read, lambda waiting: waiting)

    def rows(self, on: Indicators) -> list[Inequalities]:
        come = Term(-1, on.begin(self.b), on.later, np.full_like(on.later, len(on.units)))
        return [Inequalities((on.at(1, on.end(self.a), on.later), come), 0, on.later)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["Precedence"]:
        yield from (cls((a,), (b,)) for a, b in data.pairs)


@dataclass(frozen=True)
class StateChange(Constraint):
    """At a unit where a predicate holds, such as a mark, the label before it is A and the label after it is B.

    at (str): the predicate.
    gap (bool): the predicate is about the gap before its unit, where marks are no units: the label before is that of
        the unit before, the label after that of the unit itself.
    implied (bool): the label before is a condition: only where it is A, the label after must be B.
    """

    kind = "state_change"
    asks = "named"
    at: str
    a: Labels
    b: Labels
    gap: bool = False
    implied: bool = False

    @property
    def is_local(self) -> bool:
        return self.gap and (self.hard or self.count == "each")

    def occurrences(self, seen: Labelling) -> Occurrences:
        a, b = seen.fields.numbers(self.a), seen.fields.numbers(self.b)
        marks = seen.predicates.marks(self.at, self.gap).tolist()
        around = [(seen.labels[mark - 1] in a, seen.labels[mark + (not self.gap)] in b) for mark in marks]
        if self.implied:
            around = [pair for pair in around if pair[0]]
        return Occurrences(len(around), sum(not all(pair) for pair in around))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: what a mark found before it (None: the unit before was no mark)."""
        label, marked = known.of_tag, set(predicates.marks(self.at, self.gap).tolist())
        a, b, implied, gap = known.numbers(self.a), known.numbers(self.b), self.implied, self.gap

        def wrong(found: bool, tag: int) -> int:
            after = label[tag] in b
            return int(found and not after) if implied else int(not (found and after))

        def step(found: State, mark: Any, before: int, tag: int) -> tuple[State, int]:
            if gap:
                return None, wrong(label[before] in a, tag) if mark else 0
            times = 0 if found is None else wrong(found, tag)
            return (label[before] in a if mark else None), times

        return Monitor(None, step, symbols=[unit in marked for unit in range(predicates.n_units)])

    def rows(self, on: Indicators) -> list[Inequalities]:
        marks = on.predicates.marks(self.at, self.gap)
        if self.gap:
            before, after = np.append(on.fields.tags_of(self.a), False)[:, None], on.fields.tags_of(self.b)[None, :]
            return [on.forbid(before & ~after if self.implied else ~(before & after), marks)]
        is_a, is_b = on.node(self.a), on.node(self.b)
        if self.implied:
            return [Inequalities((on.at(1, is_a, marks - 1), on.at(1, ~is_b, marks + 1)), -1, marks)]
        return [
            Inequalities((on.at(1, ~is_a, marks - 1),), 0, marks),
            Inequalities((on.at(1, ~is_b, marks + 1),), 0, marks),
        ]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["StateChange"]:
        for name in data.seen[0].predicates.named if data.seen else ():
            gap, names = name in data.gaps, data.seen[0].fields.names
            around = [
                (one.labels[mark - 1], one.labels[mark + (not gap)])
                for one in data.seen
                for mark in one.predicates.marks(name, gap).tolist()
            ]
            for label in data.labels:
                after = Counter(names[b] for a, b in around if names[a] == label)
                yield from (cls(name, (label,), own, gap=gap, implied=True) for own in data.sets(after))


@dataclass(frozen=True)
class BeginEnd(Constraint):
    """If the first segment is an A, the last one is a B."""

    kind = "begin_end"
    a: Labels
    b: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        applies = seen.labels[0] in seen.fields.numbers(self.a)
        return Occurrences(applies, applies and seen.labels[-1] not in seen.fields.numbers(self.b))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: whether the first label was an A."""
        label, a, b = known.of_tag, known.numbers(self.a), known.numbers(self.b)

        def step(began: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            return (label[tag] in a if before == NOTHING else began), 0

        return Monitor(False, step, lambda began, tag: int(began and label[tag] not in b))

    def rows(self, on: Indicators) -> list[Inequalities]:
        terms = on.at(1, on.node(self.a), FIRST), on.at(1, ~on.node(self.b), on.last)
        return [Inequalities(terms, -1, FIRST)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["BeginEnd"]:
        for label in data.labels:
            ends = Counter(run[-1] for run in data.runs if run[0] == label)
            yield from (cls((label,), own) for own in data.sets(ends))


@dataclass(frozen=True)
class PresencePrecedence(Constraint):
    """No B segment comes before an A segment. Violations are the A segments with a B before them."""

    kind = "presence_precedence"
    a: Labels
    b: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        places = seen.positions(self.level, self.a)
        first = min(seen.positions(self.level, self.b), default=len(seen.tags))
        return Occurrences(len(places), sum(place > first for place in places))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: whether a B has begun."""
        a, b = known.numbers(self.a), known.numbers(self.b)
        return self.by_segments(
            known, False, lambda seen, before, label: (seen or label in b, int(seen and label in a))
        )

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [on.preceded(self.a, self.b)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["PresencePrecedence"]:
        together = Counter(pair for run in data.runs for pair in permutations(set(run), 2))
        yield from (cls((a,), (b,)) for a, b in data.pairs if together[a, b] >= data.min_support)
