"""Families about single units: the first and the last one, boundaries beside marks, units with known or equal labels;
and rules over what a sequence holds, begins and ends with.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from typing import Any, ClassVar

import numpy as np

from ..arrays import Bools, Indices
from ..errors import CoreErrors, CRFError
from .family import Conjunction, Constraint, Disjunction, LabelledSequences, LabelSets, Predicate
from .labelling import NOTHING, Indicators, Inequalities, Labelling, Labels, Monitor, Occurrences, State, Term

CLAUSES = 64  # a rule may have so many when it is multiplied out


@dataclass(frozen=True)
class AtEdge(Constraint):
    """One edge of a sequence is an A."""

    is_local = True
    edge: ClassVar[int]
    a: Labels

    def occurrences(self, seen: Labelling) -> Occurrences:
        return Occurrences(1, seen.labels[self.edge] not in seen.fields.numbers(self.a))

    def rows(self, on: Indicators) -> list[Inequalities]:
        return [on.forbid(~on.node(self.a), on.units[[self.edge]])]

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        yield from map(cls, data.sets(Counter(run[cls.edge] for run in data.runs)))


@dataclass(frozen=True)
class StartsWith(AtEdge):
    """The first segment is an A."""

    kind = "starts_with"
    edge = 0

    def monitor(self, on: Indicators) -> Monitor:
        label, a = on.fields.of_tag, on.fields.numbers(self.a)
        return Monitor(0, lambda state, symbol, before, tag: (state, int(before == NOTHING and label[tag] not in a)))


@dataclass(frozen=True)
class EndsWith(AtEdge):
    """The last segment is an A."""

    kind = "ends_with"
    edge = -1

    def monitor(self, on: Indicators) -> Monitor:
        label, a = on.fields.of_tag, on.fields.numbers(self.a)
        return Monitor(0, lambda state, *edge: (state, 0), lambda state, tag: int(label[tag] not in a))


@dataclass(frozen=True)
class Boundary(Constraint):
    """Segments of A (of any label if none is given) begin and end only beside units where a predicate holds.

    at (str): the predicate; it must hold at the unit before the boundary.
    opening (bool): at the unit after the boundary instead.
    """

    kind = "boundary"
    on_edges = True
    asks = "named"
    at: str
    a: Labels = ()
    opening: bool = False

    def closed(self, named: Mapping[str, Bools]) -> Indices:
        """Units, from the second on, before which there may be no boundary."""
        fails = ~named[self.at].astype(bool)
        return np.flatnonzero(fails[1:] if self.opening else fails[:-1]) + 1

    def occurrences(self, seen: Labelling) -> Occurrences:
        segments, own = seen.segments(self.level), seen.fields.numbers(self.a)
        sides = zip(segments, segments[1:])
        beside = [after.first for before, after in sides if not own or {before.label, after.label} & own]
        return Occurrences(len(beside), len(set(beside) & set(self.closed(seen.predicates.named).tolist())))

    def monitor(self, on: Indicators) -> Monitor:
        label, begins, a = on.fields.of_tag, on.fields.begin_rows[self.level], on.fields.numbers(self.a)
        closed = set(self.closed(on.predicates.named).tolist())

        def step(state: State, is_closed: Any, before: int, tag: int) -> tuple[State, int]:
            beside = is_closed and begins[before][tag] and (not a or label[before] in a or label[tag] in a)
            return state, int(beside)

        return Monitor(0, step, symbols=[unit in closed for unit in range(on.predicates.n_units)])

    def rows(self, on: Indicators) -> list[Inequalities]:
        wrong = on.begin(self.a) | on.end(self.a) if self.a else on.fields.begins[self.level]
        return [on.forbid(wrong, self.closed(on.predicates.named))]


@dataclass(frozen=True)
class SameSurface(Constraint):
    """Units of a sequence with the same surface have the same label (words in lower case; marks have no surface).
    Violations are changes from one to the next."""

    kind = "same_surface"
    asks = "surfaces"

    def occurrences(self, seen: Labelling) -> Occurrences:
        pairs = seen.predicates.repeats
        return Occurrences(len(pairs), sum(seen.labels[first] != seen.labels[then] for first, then in pairs))

    def monitor(self, on: Indicators) -> Monitor:
        """States: the labels that repeated surfaces had, as far as a later unit will be compared with them.

        Symbols: the earlier unit that a unit is compared with, and the unit itself if a later one is; None for neither.
        """
        label, earlier = on.fields.of_tag, {then: first for first, then in on.predicates.repeats}
        own = {first: first for first in earlier.values()}
        pairs = ((earlier.get(unit), own.get(unit)) for unit in range(on.predicates.n_units))

        def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            if symbol is None:
                return state, 0
            first, own = symbol
            wrong = first is not None and (first, label[tag]) not in state
            kept = {pair for pair in state if pair[0] != first}
            return frozenset(kept if own is None else kept | {(own, label[tag])}), int(wrong)

        symbols = [None if pair == (None, None) else pair for pair in pairs]

        return Monitor(frozenset(), step, symbols=symbols)

    def rows(self, on: Indicators) -> list[Inequalities]:
        firsts, thens = np.array(on.predicates.repeats, dtype=np.intp).reshape(-1, 2).T
        masks, pairs = [on.node((label,)) for label in on.fields.names], np.arange(len(firsts))
        return [Inequalities((on.at(1, mask, firsts), on.at(-1, mask, thens)), 0, pairs) for mask in masks]


@dataclass(frozen=True)
class Fixed(Constraint):
    """Units have the labels that are given with the sequence. Violations are units with another one."""

    kind = "fixed"
    on_edges = True
    asks = "fixed"

    def occurrences(self, seen: Labelling) -> Occurrences:
        fixed = [] if seen.predicates.fixed is None else seen.predicates.fixed.tolist()
        pairs = [(given, tag) for given, tag in zip(fixed, seen.tags) if given != NOTHING]
        return Occurrences(len(pairs), sum(given != tag for given, tag in pairs))

    def monitor(self, on: Indicators) -> Monitor:
        def step(state: State, given: Any, before: int, tag: int) -> tuple[State, int]:
            return state, int(given not in (NOTHING, tag))

        return Monitor(0, step, symbols=[] if on.predicates.fixed is None else on.predicates.fixed.tolist())

    def rows(self, on: Indicators) -> list[Inequalities]:
        fixed = np.full(len(on.units), NOTHING) if on.predicates.fixed is None else on.predicates.fixed
        n_tags = len(on.fields.of_tag)
        others = {tag: np.tile(np.arange(n_tags) != tag, (n_tags + 1, 1)) for tag in np.unique(fixed).tolist()}
        return [on.forbid(mask, np.flatnonzero(fixed == tag)) for tag, mask in others.items() if tag != NOTHING]


@dataclass(frozen=True)
class Implication(Constraint):
    """If all of some predicates hold, so does a disjunction of conjunctions of predicates. Broken once or not at all.

    condition (tuple of Predicate): may be empty: then the disjunction always holds.
    then (tuple of tuples of Predicate): the disjunctive normal form.
    """

    kind = "rule"
    mark = " -> "
    form = "has A & not has B -> first C & has D | last E"
    condition: Conjunction
    then: Disjunction

    @property
    def label_sets(self) -> LabelSets:
        return tuple((one.label,) for one in chain(self.condition, *self.then))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("then", self.then and all(self.then), "one or more conjunctions")
        n_clauses = math.prod(len(conjunction) for conjunction in self.then)
        if n_clauses > CLAUSES:
            raise CRFError(CoreErrors.CRF908.format(constraint=self.kind, found=n_clauses, most=CLAUSES))

    def occurrences(self, seen: Labelling) -> Occurrences:
        if not all(predicate.holds(seen) for predicate in self.condition):
            return Occurrences(0, 0)
        return Occurrences(1, not any(all(predicate.holds(seen) for predicate in part) for part in self.then))

    def monitor(self, on: Indicators) -> Monitor:
        """States: the first label, and the labels so far, as far as the rule asks for them."""
        label, numbers, parts = on.fields.of_tag, on.fields.numbers, (self.condition, *self.then)
        asked: dict[str, set[int]] = {"has": set(), "first": set(), "last": set()}
        for one in chain(*parts):
            asked[one.what] |= numbers((one.label,))

        def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            first, found = state
            if before == NOTHING:
                first = label[tag] if label[tag] in asked["first"] else NOTHING
            return (first, found | {label[tag]} if label[tag] in asked["has"] else found), 0

        def finish(state: State, tag: int) -> int:
            held = {"first": {state[0]}, "has": state[1], "last": {label[tag]}}
            condition, *then = (
                all((numbers((one.label,)) <= held[one.what]) != one.negated for one in part) for part in parts
            )
            return int(condition and not any(then))

        return Monitor((NOTHING, frozenset()), step, finish)

    def rows(self, on: Indicators) -> list[Inequalities]:
        """A row for each clause of the conjunctive normal form: not all of its predicates are false."""
        denied = [replace(one, negated=not one.negated) for one in self.condition]
        blocks = []
        for choice in product(*self.then):
            clause = dict.fromkeys([*denied, *choice])
            constant = 1 - sum(one.negated for one in clause)  # 1 - (true predicates): a negated one is 1 - indicator
            blocks.append(Inequalities(tuple(_falsity(one, on) for one in clause), constant, on.first))
        return blocks

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterator[Constraint]:
        """Rules "if there is the label, then .. or ..", by greedy set cover.

        (Cecchini & Fersini learn their formulas with a minimum-satisfiability solver, which this does not need.)
        """
        has = {label: np.array([label in run for run in data.runs]) for label in data.labels}
        for label in has:
            chosen: Disjunction = ()
            for names in _cover(label, has, data.max_terms, data.min_support):
                chosen = (*chosen, tuple(Predicate("has", name) for name in names))
                yield cls((Predicate("has", label),), chosen)


def _falsity(predicate: Predicate, on: Indicators) -> Term:
    """What a predicate of a clause adds to its row."""
    indicator = on.node((predicate.label,))
    if predicate.what == "has":
        return on.over(1, indicator, reaches=1) if predicate.negated else on.over(-1, indicator)
    return on.at(1 if predicate.negated else -1, indicator, on.first if predicate.what == "first" else on.last)


def _cover(label: str, has: dict[str, Bools], max_terms: int, min_support: int) -> Iterator[Labels]:
    """Yield the one or two labels that best tell sequences with a label, not yet covered, from those without it."""
    worth = np.where(has[label], 1, -1)  # of telling each sequence; 0 once it is covered
    others: dict[Labels, Bools] = {(other,): found for other, found in has.items() if other != label}
    others |= {(a, b): has[a] & has[b] for a, b in combinations([name for name in has if name != label], 2)}
    for _ in range(max_terms):
        gains = {names: int(worth @ found) for names, found in others.items()}
        best = max(gains, key=lambda names: gains[names], default=None)
        if best is None or gains[best] < min_support:
            return
        yield best
        worth = np.where(others[best], 0, worth)
