"""One sequence to be decoded under constraints: the objective, and its simplest exact form.

Constraints whose violations are single edges, each paid for, are charged to the arcs once and for all: for them
Viterbi is exact. What is left needs more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Ints
from .arcs import Arcs
from .check import Labelling, penalty, violations
from .families import Constraint
from .predicates import Fields, UnitFacts
from .rows import Rows, rows_of


class Value(NamedTuple):
    """A labelling: its score, its score minus costs (-inf if it breaks a hard constraint), and what it breaks."""

    score: float
    objective: float
    violated: dict[int, int]


@dataclass(frozen=True)
class Problem:
    """What is to be maximised over the labellings of one sequence: score minus the costs of what is violated.

    arcs (Arcs): scores. constraints (sequence of Constraint): hard and soft.
    fields (Fields): of the chain. facts (UnitFacts): about the units.
    """

    arcs: Arcs
    constraints: Sequence[Constraint]
    fields: Fields
    facts: UnitFacts
    _values: dict[bytes, Value] = field(default_factory=dict, compare=False, repr=False)
    _rows: dict[int, list[Rows]] = field(default_factory=dict, compare=False, repr=False)

    def value(self, path: Ints) -> Value:
        """Score, objective and violations of a labelling; remembered."""
        key = path.tobytes()
        found = self._values.get(key)
        if found is None:
            violated = violations(self.constraints, Labelling(path.tolist(), self.fields, self.facts))
            score = self.arcs.score(path)
            found = self._values[key] = Value(score, score - penalty(self.constraints, violated), violated)
        return found

    def with_constraints(self, constraints: Sequence[Constraint]) -> "Problem":
        """The same sequence under other constraints."""
        return Problem(self.arcs, constraints, self.fields, self.facts)

    def rows(self, index: int) -> list[Rows]:
        """The rows of a constraint; made when they are needed."""
        found = self._rows.get(index)
        if found is None:
            found = self._rows[index] = rows_of(self.constraints[index], self.fields, self.facts)
        return found

    @cached_property
    def left(self) -> list[int]:
        """Indices of the constraints that cannot be charged to arcs and may cost something."""
        return [index for index, one in enumerate(self.constraints) if one.cost > 0 and not one.is_local]

    @cached_property
    def floor(self) -> float:
        """A number that the objective of no labelling is below that breaks no hard constraint."""
        soft = [self.constraints[index] for index in self.left if not self.constraints[index].hard]
        units = self.arcs.n_units * len(self.fields.names)  # a bound on violations, but for those of a number
        most = (1 if one.count == "once" else units + getattr(one, "k", 0) for one in soft)
        return self.charged.floor - sum(one.cost * times for one, times in zip(soft, most))

    @cached_property
    def charged(self) -> Arcs:
        """The arcs with the costs of all other constraints, and -inf for what a hard one forbids."""
        local = [index for index, one in enumerate(self.constraints) if one.cost > 0 and one.is_local]
        arcs = self.arcs.copy() if local else self.arcs
        for index in local:
            _charge(arcs, self.constraints[index].cost, self.rows(index))
        return arcs


def _charge(arcs: Arcs, cost: float, blocks: list[Rows]) -> None:
    """Charge a cost to every edge that the rows, of one indicator each, are about."""
    for block in blocks:
        (term,) = block.terms
        for run in np.split(term.lows, np.flatnonzero(np.diff(term.lows) != 1) + 1):
            if len(run):
                arcs.subtract(cost, term.mask, int(run[0]), int(run[-1]) + 1)
