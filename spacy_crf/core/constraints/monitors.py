"""Constraints as deterministic automata that read a labelling edge by edge and report violations as they happen.

The input is the tag before and the tag (NOTHING before the first unit), so that where a segment begins need not be
remembered: adjacency has one state, at_most k + 1. States are made when they are reached. A fact about units that an
automaton depends on comes in as the symbol of the unit.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, TypeAlias

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
    Order,
    Precedence,
    PresencePrecedence,
    Requires,
    Rule,
    SameSurface,
    StartsWith,
    StateChange,
)
from .predicates import NOTHING, Fields, UnitFacts

State: TypeAlias = Any  # whatever can be hashed
Step: TypeAlias = Callable[[State, Any, int, int], tuple[State, int]]
Finish: TypeAlias = Callable[[State, int], int]
PAID = "paid"  # the cost of a constraint that counts once has been paid: nothing more can happen
SEEN = -1


@dataclass(frozen=True)
class Monitor:
    """An automaton.

    start (hashable): the state before the first unit.
    step (callable): (state, symbol of the unit, tag before, tag) to the next state and the violations on the way.
    finish (callable): (state, last tag) to the violations that the end brings.
    symbols (list | None): of the units; None where it depends on tags only.
    """

    start: Hashable
    step: Step
    finish: Finish = lambda state, tag: 0
    symbols: list[Any] | None = None


def watch(constraint: Constraint, fields: Fields, facts: UnitFacts) -> Monitor:
    """The automaton of a constraint for one sequence, with violations as their cost is paid: once or each time.

    fields (Fields): of the chain. facts (UnitFacts): of the sequence.
    """
    own = monitor(constraint, fields, facts)
    if constraint.count == "each" and not constraint.hard:
        return own

    def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if state == PAID:
            return PAID, 0
        following, times = own.step(state, symbol, before, tag)
        return (PAID, 1) if times else (following, 0)

    def finish(state: State, tag: int) -> int:
        return 0 if state == PAID else min(1, own.finish(state, tag))

    return Monitor(own.start, step, finish, own.symbols)


def _most(constraint: Constraint) -> float:
    """How far violations that are still to come need to be counted."""
    return 1 if constraint.hard or constraint.count == "once" else float("inf")


@singledispatch
def monitor(constraint: Constraint, fields: Fields, facts: UnitFacts) -> Monitor:
    """The automaton of a constraint that reports every violation."""
    raise NotImplementedError(constraint.kind)


@monitor.register
def _(constraint: Adjacency, fields: Fields, facts: UnitFacts) -> Monitor:
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, b = fields.numbers(constraint.a), fields.numbers(constraint.b)

    def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        follows = before != NOTHING and begins[before][tag] and label[before] in a
        return state, int(follows and label[tag] not in b)

    return Monitor(0, step)


@monitor.register
def _(constraint: Precedence, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: how many A segments, not the last one, wait for a B."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, b = fields.numbers(constraint.a), fields.numbers(constraint.b)
    most = _most(constraint)

    def step(waiting: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if not begins[before][tag]:
            return waiting, 0
        if label[tag] in b:
            return 0, 0
        ended = before != NOTHING and label[before] in a
        return min(waiting + ended, most), 0

    return Monitor(0, step, lambda waiting, tag: waiting)


@monitor.register
def _(constraint: StateChange, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: what a mark found before it (None: the unit before was no mark)."""
    label, marked = fields.of_tag, set(facts.marks(constraint.at, constraint.gap).tolist())
    a, b, implied = fields.numbers(constraint.a), fields.numbers(constraint.b), constraint.implied

    def wrong(found: bool, tag: int) -> int:
        after = label[tag] in b
        return int(found and not after) if implied else int(not (found and after))

    def step(found: State, mark: Any, before: int, tag: int) -> tuple[State, int]:
        if constraint.gap:
            return None, wrong(label[before] in a, tag) if mark else 0
        times = 0 if found is None else wrong(found, tag)
        return (label[before] in a if mark else None), times

    return Monitor(None, step, symbols=[unit in marked for unit in range(facts.n_units)])


@monitor.register
def _(constraint: BeginEnd, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: whether the first label was an A."""
    label, a, b = fields.of_tag, fields.numbers(constraint.a), fields.numbers(constraint.b)

    def step(began: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        return (label[tag] in a if before == NOTHING else began), 0

    return Monitor(False, step, lambda began, tag: int(began and label[tag] not in b))


@monitor.register
def _(constraint: PresencePrecedence, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: whether a B has begun."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, b = fields.numbers(constraint.a), fields.numbers(constraint.b)

    def step(seen: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if not begins[before][tag]:
            return seen, 0
        return seen or label[tag] in b, int(seen and label[tag] in a)

    return Monitor(False, step)


def _counter(constraint: AtMost | AtLeast, fields: Fields, finish: Finish) -> Monitor:
    """States: the number of A segments so far, up to k; more than k are violations."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, k = fields.numbers(constraint.a), constraint.k

    def step(found: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if not (begins[before][tag] and label[tag] in a):
            return found, 0
        return (found, 1) if found == k else (found + 1, 0)

    return Monitor(0, step, finish)


@monitor.register
def _(constraint: AtMost, fields: Fields, facts: UnitFacts) -> Monitor:
    return _counter(constraint, fields, lambda found, tag: 0)


@monitor.register
def _(constraint: AtLeast, fields: Fields, facts: UnitFacts) -> Monitor:
    counter = _counter(constraint, fields, lambda found, tag: constraint.k - found)
    return Monitor(0, lambda *edge: (counter.step(*edge)[0], 0), counter.finish)


@monitor.register
def _(constraint: Exactly, fields: Fields, facts: UnitFacts) -> Monitor:
    return _counter(constraint, fields, lambda found, tag: constraint.k - found)


@monitor.register
def _(constraint: Requires, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: how many A segments wait for a B; SEEN from the first B on."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, b = fields.numbers(constraint.a), fields.numbers(constraint.b)
    most = _most(constraint)

    def step(waiting: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if waiting == SEEN or not begins[before][tag]:
            return waiting, 0
        return (SEEN if label[tag] in b else min(waiting + (label[tag] in a), most)), 0

    return Monitor(0, step, lambda waiting, tag: max(0, waiting))


@monitor.register
def _(constraint: Excludes, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: how many A segments a B would break; SEEN from the first B on."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    a, b = fields.numbers(constraint.a), fields.numbers(constraint.b)
    most = _most(constraint)

    def step(found: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if not begins[before][tag]:
            return found, 0
        if found == SEEN:
            return SEEN, int(label[tag] in a)
        return (SEEN, found) if label[tag] in b else (min(found + (label[tag] in a), most), 0)

    return Monitor(0, step)


@monitor.register
def _(constraint: Order, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: the latest set of which a segment has begun."""
    label, begins = fields.of_tag, fields.begin_rows[constraint.level]
    ranks = {number: rank for rank, labels in enumerate(constraint.sets) for number in fields.numbers(labels)}

    def step(greatest: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        rank = ranks.get(label[tag])
        if rank is None or not begins[before][tag]:
            return greatest, 0
        return max(greatest, rank), int(rank < greatest)

    return Monitor(0, step)


@monitor.register
def _(constraint: StartsWith, fields: Fields, facts: UnitFacts) -> Monitor:
    label, a = fields.of_tag, fields.numbers(constraint.a)
    return Monitor(0, lambda state, symbol, before, tag: (state, int(before == NOTHING and label[tag] not in a)))


@monitor.register
def _(constraint: EndsWith, fields: Fields, facts: UnitFacts) -> Monitor:
    label, a = fields.of_tag, fields.numbers(constraint.a)
    return Monitor(0, lambda state, *edge: (state, 0), lambda state, tag: int(label[tag] not in a))


@monitor.register
def _(constraint: Boundary, fields: Fields, facts: UnitFacts) -> Monitor:
    label, begins, a = fields.of_tag, fields.begin_rows[constraint.level], fields.numbers(constraint.a)
    closed = set(facts.closed(constraint).tolist())

    def step(state: State, no_boundary: Any, before: int, tag: int) -> tuple[State, int]:
        beside = no_boundary and begins[before][tag] and (not a or label[before] in a or label[tag] in a)
        return state, int(beside)

    return Monitor(0, step, symbols=[unit in closed for unit in range(facts.n_units)])


@monitor.register
def _(constraint: SameSurface, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: the labels that repeated surfaces had, as far as a later unit will be compared with them.

    Symbols: the earlier and the later unit that a unit is compared with.
    """
    label = fields.of_tag
    earlier = {then: first for first, then in facts.repeats}
    comes_back = set(earlier.values())
    symbols = [
        (earlier.get(unit), unit if unit in comes_back else None) if unit in earlier or unit in comes_back else None
        for unit in range(facts.n_units)
    ]

    def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        if symbol is None:
            return state, 0
        first, own = symbol
        wrong = first is not None and (first, label[tag]) not in state
        kept = {pair for pair in state if pair[0] != first}
        return frozenset(kept if own is None else kept | {(own, label[tag])}), int(wrong)

    return Monitor(frozenset(), step, symbols=symbols)


@monitor.register
def _(constraint: Fixed, fields: Fields, facts: UnitFacts) -> Monitor:
    def step(state: State, given: Any, before: int, tag: int) -> tuple[State, int]:
        return state, int(given not in (NOTHING, tag))

    return Monitor(0, step, symbols=[] if facts.fixed is None else facts.fixed.tolist())


@monitor.register
def _(constraint: Rule, fields: Fields, facts: UnitFacts) -> Monitor:
    """States: the first label, and the labels so far, as far as the rule asks for them."""
    label = fields.of_tag
    parts = (constraint.condition, *constraint.then)
    asked: dict[str, set[int]] = {"has": set(), "first": set(), "last": set()}
    for predicate in (predicate for part in parts for predicate in part):
        asked[predicate.what] |= fields.numbers((predicate.label,))

    def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
        first, found = state
        if before == NOTHING:
            first = label[tag] if label[tag] in asked["first"] else NOTHING
        return (first, found | {label[tag]} if label[tag] in asked["has"] else found), 0

    def finish(state: State, tag: int) -> int:
        known = {"first": {state[0]}, "has": state[1], "last": {label[tag]}}
        condition, *then = (
            all((fields.numbers((one.label,)) <= known[one.what]) != one.negated for one in part) for part in parts
        )
        return int(condition and not any(then))

    return Monitor((NOTHING, frozenset()), step, finish)
