"""Families about the segments of a sequence: how many of a label there are, with which others, in which order."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from .family import Constraint, LabelSets
from .labelling import Fields, Labelling, Labels, Observations, UnitPredicates
from .meaning import FIRST, Indicators, Inequalities, Monitor, Occurrences, State

SEEN = -1  # the state of an automaton from the first B on


@dataclass(frozen=True)
class CountOf(Constraint):
    """Numbers of segments (units) of A, compared with k."""

    a: Labels
    k: int = 1
    least_k = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        is_count = isinstance(self.k, int) and not isinstance(self.k, bool) and self.k >= self.least_k
        self.require("k", is_count, f"a whole number {'above 0' if self.least_k else 'of at least 0'}")

    def found(self, seen: Labelling) -> int:
        """How many there are."""
        return len(seen.positions(self.level, self.a))

    def most_violations(self, n_units: int, n_labels: int) -> int:
        return super().most_violations(n_units, n_labels) + (self.k if self.count == "each" else 0)

    def counter(self, known: Fields, beyond: int, missing: int) -> Monitor:
        """An automaton whose states are the numbers of A segments so far, up to k.

        beyond (int), missing (int): violations for each segment that is more than k, or missing at the end.
        """
        a, k = known.numbers(self.a), self.k

        def read(found: State, before: int, label: int) -> tuple[State, int]:
            if label not in a:
                return found, 0
            return (found, beyond) if found == k else (found + 1, 0)

        return self.by_segments(known, 0, read, lambda found: missing * (k - found))

    def no_more(self, on: Indicators) -> Inequalities:
        """At most k."""
        begin = on.begin(self.a)
        if self.count == "once" and not self.hard:
            return Inequalities((on.over(1, begin, reaches=self.k + 1),), 0, FIRST)
        return Inequalities((on.over(1, begin),), -self.k, FIRST, max(1, len(on.units) - self.k))

    def no_fewer(self, on: Indicators) -> Inequalities:
        """At least k."""
        return Inequalities((on.over(-1, on.begin(self.a)),), self.k, FIRST, max(1, self.k))


@dataclass(frozen=True)
class AtMost(CountOf):
    """There are at most k segments (units) of A. Violations are those beyond."""

    kind = "at_most"

    def occurrences(self, seen: Labelling) -> Occurrences:
        found = self.found(seen)
        return Occurrences(min(found, 1), max(0, found - self.k))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        return self.counter(known, beyond=1, missing=0)

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [self.no_more(on)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["AtMost"]:
        yield from (cls((label,), 1) for label in data.labels)


@dataclass(frozen=True)
class AtLeast(CountOf):
    """There are at least k segments (units) of A. Violations are those missing."""

    kind = "at_least"
    least_k = 1

    def occurrences(self, seen: Labelling) -> Occurrences:
        return Occurrences(1, max(0, self.k - self.found(seen)))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        return self.counter(known, beyond=0, missing=1)

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [self.no_fewer(on)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["AtLeast"]:
        yield from (cls((label,), 1) for label in data.labels)


@dataclass(frozen=True)
class Exactly(CountOf):
    """There are exactly k segments (units) of A. Violations are those missing or beyond."""

    kind = "exactly"

    def occurrences(self, seen: Labelling) -> Occurrences:
        return Occurrences(1, abs(self.found(seen) - self.k))

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        return self.counter(known, beyond=1, missing=1)

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [self.no_more(on), self.no_fewer(on)]


@dataclass(frozen=True)
class Requires(Constraint):
    """Where there is an A segment, there is a B segment. Violations are the A segments."""

    kind = "requires"
    a: Labels
    b: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        found = len(seen.positions(self.level, self.a))
        return Occurrences(found, 0 if seen.positions(self.level, self.b) else found)

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: how many A segments wait for a B; SEEN from the first B on."""
        a, b, most = known.numbers(self.a), known.numbers(self.b), self.most_counted

        def read(waiting: State, before: int, label: int) -> tuple[State, int]:
            return (SEEN if waiting == SEEN or label in b else min(waiting + (label in a), most)), 0

        return self.by_segments(known, 0, read, lambda waiting: max(0, waiting))

    def rows(self, on: Indicators) -> list[Inequalities]:
        found = on.over(-1, on.begin(self.b), len(on.units))
        return [Inequalities((on.at(1, on.begin(self.a), on.units), found), 0, on.units)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["Requires"]:
        yield from (cls((a,), (b,)) for a, b in data.pairs)


@dataclass(frozen=True)
class Excludes(Constraint):
    """A and B segments do not occur together. Violations are the A segments."""

    kind = "excludes"
    a: Labels
    b: Labels

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_disjoint("b", (self.a, self.b))

    def occurrences(self, seen: Labelling) -> Occurrences:
        found = len(seen.positions(self.level, self.a))
        return Occurrences(found, found if seen.positions(self.level, self.b) else 0)

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: how many A segments a B would break; SEEN from the first B on."""
        a, b, most = known.numbers(self.a), known.numbers(self.b), self.most_counted

        def read(found: State, before: int, label: int) -> tuple[State, int]:
            if found == SEEN:
                return SEEN, int(label in a)
            return (SEEN, found) if label in b else (min(found + (label in a), most), 0)

        return self.by_segments(known, 0, read)

    def rows(self, on: Indicators) -> list[Inequalities]:
        found = on.over(1, on.begin(self.b), len(on.units), reaches=1)
        return [Inequalities((on.at(1, on.begin(self.a), on.units), found), -1, on.units)]

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["Excludes"]:
        """Pairs that would be expected together often enough if their labels were independent."""
        for a, b in combinations(data.labels, 2):
            if data.counts[a] * data.counts[b] / len(data.runs) >= data.min_support:
                yield cls((a,), (b,))


@dataclass(frozen=True)
class Order(Constraint):
    """Segments come in the order of their sets. Violations are segments with one of a later set before them."""

    kind = "order"
    form = "A, B, C|D, ..."
    sets: LabelSets

    @property
    def label_sets(self) -> LabelSets:
        return self.sets

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("sets", len(self.sets) > 1 and all(self.sets), "two or more sets of labels")
        self.require_disjoint("sets", self.sets)

    def ranks(self, known: Fields) -> dict[int, int]:
        """The place in the order of each label."""
        return {number: rank for rank, labels in enumerate(self.sets) for number in known.numbers(labels)}

    def occurrences(self, seen: Labelling) -> Occurrences:
        ranks, greatest, applied, wrong = self.ranks(seen.fields), 0, 0, 0
        for segment in seen.segments(self.level):
            rank = ranks.get(segment.label)
            if rank is not None:
                applied += 1
                wrong += rank < greatest
                greatest = max(greatest, rank)
        return Occurrences(applied, wrong)

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """States: the latest set of which a segment has begun."""
        ranks = self.ranks(known)

        def read(greatest: State, before: int, label: int) -> tuple[State, int]:
            rank = ranks.get(label, greatest)
            return max(greatest, rank), int(rank < greatest)

        return self.by_segments(known, 0, read)

    def rows(self, on: Indicators) -> list[Inequalities]:
        blocks = []
        for rank, labels in enumerate(self.sets[:-1]):
            following = tuple(label for others in self.sets[rank + 1 :] for label in others)
            blocks.append(on.preceded(labels, following, rank * len(on.units)))
        return blocks
