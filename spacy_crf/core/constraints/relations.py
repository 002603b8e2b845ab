"""Families about two labels, one before the other: the relations of Cecchini & Fersini, "Named entity recognition
using CRFs with non-local relational constraints" (2014). Theirs are over tokens (`level="unit"`); where a field has
more than one token they cannot hold there.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from .family import Constraint, LabelledSequences
from .labelling import NOTHING, Fields, Indicators, Inequalities, Labelling, Labels, Monitor, Occurrences, State, Term


@dataclass(frozen=True)
class Pairwise(Constraint):
    """Something about A and B segments."""

    a: Labels
    b: Labels

    def numbers(self, known: Fields) -> tuple[frozenset[int], frozenset[int]]:
        """Numbers of the labels in A, and of those in B."""
        return known.numbers(self.a), known.numbers(self.b)

    def positions(self, seen: Labelling) -> tuple[list[int], list[int]]:
        """Places of the A segments and of the B segments."""
        return seen.positions(self.level, self.a), seen.positions(self.level, self.b)

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        yield from (cls((a,), (b,)) for a, b in data.pairs)


@dataclass(frozen=True)
class Adjacency(Pairwise):
    """The segment right after an A is a B. A last segment is exempt."""

    kind = "adjacency"
    on_edges = True

    def occurrences(self, seen: Labelling) -> Occurrences:
        segments, allowed = seen.segments(self.level), seen.fields.numbers(self.b)
        behind = [segments[place + 1] for place in seen.positions(self.level, self.a) if place + 1 < len(segments)]
        return Occurrences(len(behind), sum(segment.label not in allowed for segment in behind))

    def monitor(self, on: Indicators) -> Monitor:
        a, b = self.numbers(on.fields)
        return on.by_segments(lambda state, before, label: (state, int(before in a and label not in b)))

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [on.forbid(on.end(self.a) & ~on.node(self.b), on.later)]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        pairs = [pair for run in data.runs for pair in pairwise(run)]
        yield from (cls((label,), behind) for label, behind in data.followed(pairs))


@dataclass(frozen=True)
class Precedence(Pairwise):
    """After each A segment that is not the last segment, some B segment comes later."""

    kind = "precedence"

    def occurrences(self, seen: Labelling) -> Occurrences:
        (places, others), last = self.positions(seen), len(seen.segments(self.level)) - 1
        going, latest = [place for place in places if place < last], max(others, default=-1)
        return Occurrences(len(going), sum(place >= latest for place in going))

    def monitor(self, on: Indicators) -> Monitor:
        """States: how many A segments, not the last one, wait for a B."""
        (a, b), most = self.numbers(on.fields), self.most_counted

        def read(waiting: State, before: int, label: int) -> tuple[State, int]:
            return (0 if label in b else min(waiting + (before in a), most)), 0

        return on.by_segments(read, lambda waiting: waiting)

    def rows(self, on: Indicators) -> list[Inequalities]:
        come = Term(-1, on.begin(self.b), on.later, np.full_like(on.later, len(on.units)))
        return [Inequalities((on.at(1, on.end(self.a), on.later), come), 0, on.later)]


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
        around = [(before in a, after in b) for before, after in self._around(seen, self.at, self.gap)]
        held = [pair for pair in around if pair[0] or not self.implied]
        return Occurrences(len(held), sum(not all(pair) for pair in held))

    @staticmethod
    def _around(seen: Labelling, at: str, gap: bool) -> list[tuple[int, int]]:
        """The labels before and after each mark."""
        marks = seen.predicates.marks(at, gap).tolist()
        return [(seen.labels[mark - 1], seen.labels[mark + (not gap)]) for mark in marks]

    def monitor(self, on: Indicators) -> Monitor:
        """States: what a mark found before it (None: the unit before was no mark)."""
        label, marked = on.fields.of_tag, set(on.predicates.marks(self.at, self.gap).tolist())
        a, b, implied, gap = on.fields.numbers(self.a), on.fields.numbers(self.b), self.implied, self.gap

        def wrong(found: bool, tag: int) -> int:
            return int((found or not implied) and not (found and label[tag] in b))

        def step(found: State, mark: Any, before: int, tag: int) -> tuple[State, int]:
            if gap:
                return None, wrong(label[before] in a, tag) if mark else 0
            times = 0 if found is None else wrong(found, tag)
            return (label[before] in a if mark else None), times

        return Monitor(None, step, symbols=[unit in marked for unit in range(on.predicates.n_units)])

    def rows(self, on: Indicators) -> list[Inequalities]:
        marks = on.predicates.marks(self.at, self.gap)
        if self.gap:
            before, after = np.append(on.fields.tags_of(self.a), False)[:, None], on.fields.tags_of(self.b)
            return [on.forbid(before & ~after if self.implied else ~(before & after), marks)]
        is_a, no_b = on.node(self.a), on.at(1, ~on.node(self.b), marks + 1)
        if self.implied:
            return [Inequalities((on.at(1, is_a, marks - 1), no_b), -1, marks)]
        return [Inequalities((term,), 0, marks) for term in (on.at(1, ~is_a, marks - 1), no_b)]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        for name in data.seen[0].predicates.named if data.seen else ():
            gap, names = name in data.gaps, data.seen[0].fields.names
            pairs = [(names[a], names[b]) for one in data.seen for a, b in cls._around(one, name, gap)]
            yield from (cls(name, (label,), own, gap=gap, implied=True) for label, own in data.followed(pairs))


@dataclass(frozen=True)
class BeginEnd(Pairwise):
    """If the first segment is an A, the last one is a B."""

    kind = "begin_end"

    def occurrences(self, seen: Labelling) -> Occurrences:
        a, b = self.numbers(seen.fields)
        applies = seen.labels[0] in a
        return Occurrences(applies, applies and seen.labels[-1] not in b)

    def monitor(self, on: Indicators) -> Monitor:
        """States: whether the first label was an A."""
        label, (a, b) = on.fields.of_tag, self.numbers(on.fields)

        def step(began: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            return (label[tag] in a if before == NOTHING else began), 0

        return Monitor(False, step, lambda began, tag: int(began and label[tag] not in b))

    def rows(self, on: Indicators) -> list[Inequalities]:
        terms = on.at(1, on.node(self.a), on.first), on.at(1, ~on.node(self.b), on.last)
        return [Inequalities(terms, -1, on.first)]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        pairs = [(run[0], run[-1]) for run in data.runs]
        yield from (cls((label,), end) for label, end in data.followed(pairs))


@dataclass(frozen=True)
class PresencePrecedence(Pairwise):
    """No B segment comes before an A segment. Violations are the A segments with a B before them."""

    kind = "presence_precedence"

    def occurrences(self, seen: Labelling) -> Occurrences:
        places, others = self.positions(seen)
        first = min(others, default=len(seen.tags))
        return Occurrences(len(places), sum(place > first for place in places))

    def monitor(self, on: Indicators) -> Monitor:
        """States: whether a B has begun."""
        a, b = self.numbers(on.fields)
        return on.by_segments(lambda seen, before, label: (seen or label in b, int(seen and label in a)))

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [on.preceded(self.a, self.b)]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        together = Counter(pair for run in data.runs for pair in permutations(set(run), 2))
        yield from (cls((a,), (b,)) for a, b in data.pairs if together[a, b] >= data.min_support)
