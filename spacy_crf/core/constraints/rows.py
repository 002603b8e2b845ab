"""Constraints as linear inequalities over the edges of a path: the rows H e <= s of Cecchini & Fersini, section 3.1.

An indicator is a set of edges (tag before, tag), written as a mask; at each unit it is 1 if the path takes one of them.
A term is the sum of an indicator over a range of units, or whether that sum reaches some number. A row is violated
where its value is above 0; rows of one group share a violation, of the size of the greatest. Summed over the groups,
these are the violations that `check.occurrences` counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import product

import numpy as np

from ..arrays import Bools, Indices, Ints
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
from .predicates import NOTHING, Fields, UnitFacts


@dataclass(frozen=True)
class Term:
    """One term of each of n rows.

    sign (int): its coefficient, 1 or -1.
    mask ((L + 1, L)): the edges of the indicator [tag before, tag]; the last row is for the first unit.
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
        before = np.concatenate([[NOTHING], path[:-1]])
        sums = np.concatenate([[0], np.cumsum(self.mask[before, path])])
        counts = sums[self.highs] - sums[self.lows]
        return np.asarray(counts >= self.reaches if self.reaches else counts, dtype=np.intp)


@dataclass(frozen=True)
class Rows:
    """n rows of the same form: a constant and the sum of the terms, at most 0 unless the constraint is broken.

    groups ((n,)): of the rows, within the constraint. largest (int): no row has a greater value.
    """

    terms: tuple[Term, ...]
    constant: int
    groups: Indices
    largest: int = 1

    def values(self, path: Ints) -> Indices:
        """((n,)): value of each row for a path of T tags. O(n + T)."""
        return sum((term.sign * term.values(path) for term in self.terms), np.full(len(self.groups), self.constant))


def broken_by_rows(blocks: Sequence[Rows], path: Ints) -> int:
    """Violations of a constraint according to its rows: the greatest value of each group, summed."""
    greatest: dict[int, int] = {}
    for block in blocks:
        for group, value in zip(block.groups.tolist(), block.values(path).tolist()):
            greatest[group] = max(value, greatest.get(group, 0))
    return sum(greatest.values())


@dataclass(frozen=True)
class _Masks:
    """Indicators at the level of a constraint, and ranges of units of one sequence."""

    fields: Fields
    constraint: Constraint
    n_units: int

    def node(self, labels: Labels) -> Bools:
        """The unit has one of the labels."""
        tags = self.fields.tags_of(labels)
        return np.ones((len(tags) + 1, 1), dtype=bool) & tags

    def begin(self, labels: Labels) -> Bools:
        """A segment of one of the labels begins."""
        return self.fields.begins[self.constraint.level] & self.node(labels)

    def end(self, labels: Labels) -> Bools:
        """A segment of one of the labels ended with the unit before."""
        before = np.append(self.fields.tags_of(labels), False)
        return np.asarray(self.fields.begins[self.constraint.level] & before[:, None])

    def at(self, sign: int, mask: Bools, units: Indices) -> Term:
        """An indicator at one unit for each row."""
        return Term(sign, mask, units, units + 1)

    def over(self, sign: int, mask: Bools, n_rows: int, low: int = 0, reaches: int = 0) -> Term:
        """An indicator from a unit to the end of the sequence, the same in all rows."""
        return Term(sign, mask, np.full(n_rows, low), np.full(n_rows, self.n_units), reaches)

    @property
    def units(self) -> Indices:
        return np.arange(self.n_units)

    @property
    def later(self) -> Indices:
        """All units but the first."""
        return np.arange(1, self.n_units)


FIRST = np.zeros(1, dtype=np.intp)


def rows_of(constraint: Constraint, fields: Fields, facts: UnitFacts) -> list[Rows]:
    """The rows of a constraint for one sequence that is not empty.

    fields (Fields): of the chain. facts (UnitFacts): of the sequence.
    """
    return rows(constraint, _Masks(fields, constraint, facts.n_units), facts)


@singledispatch
def rows(constraint: Constraint, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    """The rows of a constraint of this family."""
    raise NotImplementedError(constraint.kind)


@rows.register
def _(constraint: Adjacency, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    wrong = masks.end(constraint.a) & ~masks.node(constraint.b)
    return [Rows((masks.at(1, wrong, masks.later),), 0, masks.later)]


@rows.register
def _(constraint: Precedence, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    later = masks.later
    come = Term(-1, masks.begin(constraint.b), later, np.full_like(later, masks.n_units))
    return [Rows((masks.at(1, masks.end(constraint.a), later), come), 0, later)]


@rows.register
def _(constraint: StateChange, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    marks, a, b = (
        facts.marks(constraint.at, constraint.gap),
        masks.fields.tags_of(constraint.a),
        masks.fields.tags_of(constraint.b),
    )
    before, after = np.append(a, False)[:, None], b[None, :]
    if constraint.gap:
        wrong = before & ~after if constraint.implied else ~(before & after)
        return [Rows((masks.at(1, wrong, marks),), 0, marks)]
    is_a, is_b = masks.node(constraint.a), masks.node(constraint.b)
    if constraint.implied:
        return [Rows((masks.at(1, is_a, marks - 1), masks.at(1, ~is_b, marks + 1)), -1, marks)]
    return [Rows((masks.at(1, ~is_a, marks - 1),), 0, marks), Rows((masks.at(1, ~is_b, marks + 1),), 0, marks)]


@rows.register
def _(constraint: BeginEnd, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    began = masks.at(1, masks.node(constraint.a), FIRST)
    ended = masks.at(1, ~masks.node(constraint.b), FIRST + masks.n_units - 1)
    return [Rows((began, ended), -1, FIRST)]


def _before(masks: _Masks, labels: Labels, earlier: Labels, first_group: int) -> Rows:
    """A segment of some labels has one of others before it: a row for each unit but the first."""
    later = masks.later
    found = Term(1, masks.begin(earlier), np.zeros_like(later), later, reaches=1)
    return Rows((masks.at(1, masks.begin(labels), later), found), -1, first_group + later)


@rows.register
def _(constraint: PresencePrecedence, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    return [_before(masks, constraint.a, constraint.b, 0)]


@rows.register
def _(constraint: Order, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    blocks = []
    for rank, labels in enumerate(constraint.sets[:-1]):
        following = tuple(label for others in constraint.sets[rank + 1 :] for label in others)
        blocks.append(_before(masks, labels, following, rank * masks.n_units))
    return blocks


@rows.register
def _(constraint: AtMost, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    if constraint.count == "once" and not constraint.hard:
        return [Rows((masks.over(1, masks.begin(constraint.a), 1, reaches=constraint.k + 1),), 0, FIRST)]
    largest = max(1, masks.n_units - constraint.k)
    return [Rows((masks.over(1, masks.begin(constraint.a), 1),), -constraint.k, FIRST, largest)]


def _missing(constraint: AtLeast | Exactly, masks: _Masks) -> Rows:
    found = masks.over(-1, masks.begin(constraint.a), 1)
    return Rows((found,), constraint.k, FIRST, max(1, constraint.k))


@rows.register
def _(constraint: AtLeast, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    return [_missing(constraint, masks)]


@rows.register
def _(constraint: Exactly, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    return [*rows.dispatch(AtMost)(constraint, masks, facts), _missing(constraint, masks)]


@rows.register
def _(constraint: Requires, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    found = masks.over(-1, masks.begin(constraint.b), masks.n_units)
    return [Rows((masks.at(1, masks.begin(constraint.a), masks.units), found), 0, masks.units)]


@rows.register
def _(constraint: Excludes, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    found = masks.over(1, masks.begin(constraint.b), masks.n_units, reaches=1)
    return [Rows((masks.at(1, masks.begin(constraint.a), masks.units), found), -1, masks.units)]


@rows.register
def _(constraint: StartsWith, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    return [Rows((masks.at(1, ~masks.node(constraint.a), FIRST),), 0, FIRST)]


@rows.register
def _(constraint: EndsWith, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    return [Rows((masks.at(1, ~masks.node(constraint.a), FIRST + masks.n_units - 1),), 0, FIRST)]


@rows.register
def _(constraint: Boundary, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    units = facts.closed(constraint)
    wrong = masks.fields.begins[constraint.level]
    if constraint.a:
        wrong = masks.begin(constraint.a) | masks.end(constraint.a)
    return [Rows((masks.at(1, wrong, units),), 0, units)]


@rows.register
def _(constraint: SameSurface, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    firsts, thens = np.array(facts.repeats, dtype=np.intp).reshape(-1, 2).T
    pairs = np.arange(len(firsts))
    indicators = [masks.node((label,)) for label in masks.fields.names]
    return [Rows((masks.at(1, mask, firsts), masks.at(-1, mask, thens)), 0, pairs) for mask in indicators]


@rows.register
def _(constraint: Fixed, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    fixed = np.full(facts.n_units, NOTHING) if facts.fixed is None else facts.fixed
    blocks = []
    for tag in np.unique(fixed[fixed != NOTHING]).tolist():
        units = np.flatnonzero(fixed == tag)
        others = np.tile(np.arange(len(masks.fields.of_tag)) != tag, (len(masks.fields.of_tag) + 1, 1))
        blocks.append(Rows((masks.at(1, others, units),), 0, units))
    return blocks


@rows.register
def _(constraint: Rule, masks: _Masks, facts: UnitFacts) -> list[Rows]:
    """A row for each clause of the conjunctive normal form: not all of its predicates are false."""
    denied = [Predicate(one.what, one.label, not one.negated) for one in constraint.condition]
    blocks = []
    for choice in product(*constraint.then):
        clause = list(dict.fromkeys([*denied, *choice]))
        positive = sum(not predicate.negated for predicate in clause)
        terms = tuple(_falsity(predicate, masks) for predicate in clause)
        # 1 - (true predicates): a negated one is 1 - its indicator
        blocks.append(Rows(terms, 1 - (len(clause) - positive), FIRST))
    return blocks


def _falsity(predicate: Predicate, masks: _Masks) -> Term:
    """What a predicate of a clause adds to its row."""
    indicator = masks.node((predicate.label,))
    if predicate.what == "has":
        return masks.over(1, indicator, 1, reaches=1) if predicate.negated else masks.over(-1, indicator, 1)
    unit = FIRST if predicate.what == "first" else FIRST + masks.n_units - 1
    return masks.at(1 if predicate.negated else -1, indicator, unit)
