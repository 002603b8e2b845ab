"""Families about the segments of a sequence: how many of a label there are, with which others, in which order."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, combinations
from typing import ClassVar

from .family import Constraint, LabelledSequences, LabelSets
from .labelling import Fields, Indicators, Inequalities, Labelling, Labels, Monitor, Occurrences, State
from .relations import Pairwise

SEEN = -1  # the state of an automaton from the first B on


@dataclass(frozen=True)
class CountOf(Constraint):
    """Numbers of segments (units) of A, compared with k. Violations are those beyond, those missing, or both."""

    beyond: ClassVar[bool] = False
    missing: ClassVar[bool] = False
    least_k: ClassVar[int] = 0
    a: Labels
    k: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        is_count = isinstance(self.k, int) and not isinstance(self.k, bool) and self.least_k <= self.k < 10**9
        self.require("k", is_count, f"a whole number {'above 0' if self.least_k else 'of at least 0'}")

    def most_violations(self, n_units: int, n_labels: int) -> int:
        return super().most_violations(n_units, n_labels) + (self.k if self.count == "each" else 0)

    def occurrences(self, seen: Labelling) -> Occurrences:
        found = len(seen.positions(self.level, self.a))
        wrong = max(0, found - self.k) * self.beyond + max(0, self.k - found) * self.missing
        return Occurrences(1 if self.missing else min(found, 1), wrong)

    def monitor(self, on: Indicators) -> Monitor:
        """States: the numbers of A segments so far, up to k."""
        a, k, beyond, missing = on.fields.numbers(self.a), self.k, int(self.beyond), int(self.missing)

        def read(found: State, before: int, label: int) -> tuple[State, int]:
            if label not in a:
                return found, 0
            return (found, beyond) if found == k else (found + 1, 0)

        return on.by_segments(read, lambda found: missing * (k - found))

    def rows(self, on: Indicators) -> list[Inequalities]:
        begin, k, n_units = on.begin(self.a), self.k, len(on.units)
        no_more = Inequalities((on.over(1, begin),), -k, on.first, max(1, n_units - k))
        if self.count == "once" and not self.hard:
            no_more = Inequalities((on.over(1, begin, reaches=k + 1),), 0, on.first)
        no_fewer = Inequalities((on.over(-1, begin),), k, on.first, max(1, k))
        return [no_more] * self.beyond + [no_fewer] * self.missing

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        """One of each label; exact numbers are not mined."""
        yield from (cls((label,), 1) for label in data.labels if cls.beyond != cls.missing)


@dataclass(frozen=True)
class AtMost(CountOf):
    """There are at most k segments (units) of A. Violations are those beyond."""

    kind = "at_most"
    beyond = True


@dataclass(frozen=True)
class AtLeast(CountOf):
    """There are at least k segments (units) of A. Violations are those missing."""

    kind = "at_least"
    missing = True
    least_k = 1


@dataclass(frozen=True)
class Exactly(CountOf):
    """There are exactly k segments (units) of A. Violations are those missing or beyond."""

    kind = "exactly"
    beyond = missing = True


@dataclass(frozen=True)
class Requires(Pairwise):
    """Where there is an A segment, there is a B segment. Violations are the A segments."""

    kind = "requires"

    def occurrences(self, seen: Labelling) -> Occurrences:
        found, others = self.positions(seen)
        return Occurrences(len(found), 0 if others else len(found))

    def monitor(self, on: Indicators) -> Monitor:
        """States: how many A segments wait for a B; SEEN from the first B on."""
        (a, b), most = self.numbers(on.fields), self.most_counted

        def read(waiting: State, before: int, label: int) -> tuple[State, int]:
            return (SEEN if waiting == SEEN or label in b else min(waiting + (label in a), most)), 0

        return on.by_segments(read, lambda waiting: max(0, waiting))

    def rows(self, on: Indicators) -> list[Inequalities]:
        found = on.over(-1, on.begin(self.b), len(on.units))
        return [Inequalities((on.at(1, on.begin(self.a), on.units), found), 0, on.units)]


@dataclass(frozen=True)
class Excludes(Pairwise):
    """A and B segments do not occur together. Violations are the A segments."""

    kind = "excludes"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_disjoint("b", (self.a, self.b))

    def occurrences(self, seen: Labelling) -> Occurrences:
        found, others = self.positions(seen)
        return Occurrences(len(found), len(found) if others else 0)

    def monitor(self, on: Indicators) -> Monitor:
        """States: how many A segments a B would break; SEEN from the first B on."""
        (a, b), most = self.numbers(on.fields), self.most_counted

        def read(found: State, before: int, label: int) -> tuple[State, int]:
            if found == SEEN:
                return SEEN, int(label in a)
            return (SEEN, found) if label in b else (min(found + (label in a), most), 0)

        return on.by_segments(read)

    def rows(self, on: Indicators) -> list[Inequalities]:
        found = on.over(1, on.begin(self.b), len(on.units), reaches=1)
        return [Inequalities((on.at(1, on.begin(self.a), on.units), found), -1, on.units)]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
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
        ranks = self.ranks(seen.fields)
        found = [ranks[segment.label] for segment in seen.segments(self.level) if segment.label in ranks]
        return Occurrences(len(found), sum(rank < most for rank, most in zip(found, accumulate(found, max))))

    def monitor(self, on: Indicators) -> Monitor:
        """States: the latest set of which a segment has begun."""
        ranks = self.ranks(on.fields)

        def read(greatest: State, before: int, label: int) -> tuple[State, int]:
            rank = ranks.get(label, greatest)
            return max(greatest, rank), int(rank < greatest)

        return on.by_segments(read)

    def rows(self, on: Indicators) -> list[Inequalities]:
        later = [tuple(chain(*self.sets[rank + 1 :])) for rank in range(len(self.sets) - 1)]
        return [on.preceded(self.sets[rank], labels, rank * len(on.units)) for rank, labels in enumerate(later)]
