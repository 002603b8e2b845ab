"""One sequence to be decoded under constraints: the objective, and its simplest exact form.

Constraints whose violations are single edges, each paid for, are charged to the arcs once and for all: for them
Viterbi is exact. What is left needs more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..types import Ints
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

    @cached_property
    def rows(self) -> list[list[Rows]]:
        """The rows of each constraint."""
        return [rows_of(constraint, self.fields, self.facts) for constraint in self.constraints]

    @cached_property
    def left(self) -> list[int]:
        """Indices of the constraints that cannot be charged to arcs."""
        pairs = enumerate(zip(self.constraints, self.rows))
        return [index for index, (constraint, blocks) in pairs if not _is_local(constraint, blocks)]

    @cached_property
    def floor(self) -> float:
        """A number that the objective of no labelling is below that breaks no hard constraint."""
        soft = (index for index in self.left if not self.constraints[index].hard)
        costs = (self.constraints[i].cost * _most_violations(self.constraints[i], self.rows[i]) for i in soft)
        return self.charged.floor - sum(costs)

    @cached_property
    def charged(self) -> Arcs:
        """The arcs with the costs of all other constraints, and -inf for what a hard one forbids."""
        arcs, left = self.arcs.copy(), set(self.left)
        for index, (constraint, blocks) in enumerate(zip(self.constraints, self.rows)):
            if index not in left and constraint.cost > 0:
                _charge(arcs, constraint, blocks)
        return arcs


def _most_violations(constraint: Constraint, blocks: list[Rows]) -> int:
    """How often a constraint can be paid for."""
    return 1 if constraint.count == "once" else sum(block.largest * len(block.groups) for block in blocks)


def _is_local(constraint: Constraint, blocks: list[Rows]) -> bool:
    """Whether each violation is one edge that nothing else decides about."""
    groups = np.concatenate([block.groups for block in blocks]) if blocks else np.zeros(0)
    one_edge = all(
        len(block.terms) == 1
        and block.constant == 0
        and (block.terms[0].sign, block.terms[0].reaches) == (1, 0)
        and np.all(block.terms[0].highs - block.terms[0].lows == 1)
        for block in blocks
    )
    # a cost that is paid once can only be charged to a single row; what is hard may be charged to many
    apart = constraint.count == "each" and len(set(groups.tolist())) == len(groups)
    return one_edge and (constraint.hard or apart or len(groups) <= 1)


def _charge(arcs: Arcs, constraint: Constraint, blocks: list[Rows]) -> None:
    for block in blocks:
        (term,) = block.terms
        lows = term.lows
        if not len(lows):
            continue
        if lows[-1] - lows[0] == len(lows) - 1:
            arcs.subtract(constraint.cost, term.mask, int(lows[0]), int(lows[-1]) + 1)
        else:
            for low in lows.tolist():
                arcs.subtract(constraint.cost, term.mask, low, low + 1)
