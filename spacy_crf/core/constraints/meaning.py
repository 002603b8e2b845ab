"""The three forms in which a constraint states what it means: counts, an automaton, and linear inequalities.

An automaton reads a labelling edge by edge: the tag before (NOTHING before the first unit) and the tag, so that where
a segment begins need not be remembered; its states are made when they are reached. Inequalities are the rows H e <= s
of Cecchini & Fersini, section 3.1, over the edges of a path. An indicator is a set of edges (tag before, tag), written
as a mask; at each unit it is 1 if the path takes one of them.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Bools, Indices, Ints
from .labelling import NOTHING, Fields, Labels, Level, UnitPredicates

State: TypeAlias = Any  # whatever can be hashed
FIRST = np.zeros(1, dtype=np.intp)  # the first unit, or the only row


class Occurrences(NamedTuple):
    """How often a constraint applied to a labelling (its antecedent held), and how often it was broken."""

    applied: int
    broken: int


@dataclass(frozen=True)
class Monitor:
    """A deterministic automaton that reports violations as they happen.

    start (hashable): the state before the first unit.
    step (callable): (state, symbol of the unit, tag before, tag) to the next state and the violations on the way.
    finish (callable): (state, last tag) to the violations that the end brings.
    symbols (list | None): what it reads of the units beside their tags; None for nothing.
    """

    start: Hashable
    step: Callable[[State, Any, int, int], tuple[State, int]]
    finish: Callable[[State, int], int] = lambda state, tag: 0
    symbols: list[Any] | None = None


@dataclass(frozen=True)
class Term:
    """One term of each of n inequalities: the sum of an indicator over units, or whether it reaches a number.

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
class Inequalities:
    """n rows of the same form: a constant and the sum of the terms, at most 0 unless the constraint is broken.

    Rows of one group share a violation, of the size of the greatest; summed over groups these are all violations.

    groups ((n,)): of the rows, within the constraint. largest (int): no row has a greater value.
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
    """Indicators and terms over one sequence that is not empty, at the level of a constraint."""

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
