"""Products of the automata of constraints, built lazily: states are numbered as they are met, moves remembered."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .families import Constraint
from .monitors import Monitor, watch
from .predicates import Fields, UnitFacts
from .problem import Problem

MEMORY = 1 << 18  # moves that are kept
PRODUCTS = 256  # that are kept


@dataclass
class Product:
    """The product of the automata of some constraints: states are numbered as they are met, moves remembered.

    costs (list of float), monitors (list of Monitor): of the constraints.
    """

    costs: list[float]
    monitors: list[Monitor]
    _states: list[tuple[Any, ...]] = field(default_factory=list)
    _numbers: dict[tuple[Any, ...], int] = field(default_factory=dict)
    _moves: dict[tuple[int, int, int, int], tuple[int, float]] = field(default_factory=dict)

    @property
    def start(self) -> int:
        return self._number(tuple(monitor.start for monitor in self.monitors))

    def _number(self, state: tuple[Hashable, ...]) -> int:
        number = self._numbers.get(state)
        if number is None:
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
        return number

    def symbols(self, n_units: int) -> list[tuple[int, tuple[Any, ...]]]:
        """For each unit, the symbols of all automata and a number that stands for them."""
        columns = [monitor.symbols or [None] * n_units for monitor in self.monitors]
        numbers: dict[tuple[Any, ...], int] = {}
        rows = zip(*columns) if columns else ((),) * n_units
        return [(numbers.setdefault(row, len(numbers)), row) for row in rows]

    def move(self, state: int, symbol: tuple[int, tuple[Any, ...]], before: int, tag: int) -> tuple[int, float]:
        """The next state, and the cost of what is violated on the way (infinite for what is hard)."""
        key = (state, symbol[0], before, tag)
        found = self._moves.get(key)
        if found is None:
            if len(self._moves) > MEMORY:
                self._moves.clear()
            found = self._moves[key] = self._compute(state, symbol[1], before, tag)
        return found

    def _compute(self, state: int, symbols: tuple[Any, ...], before: int, tag: int) -> tuple[int, float]:
        following, total = [], 0.0
        for own, symbol, monitor, cost in zip(self._states[state], symbols, self.monitors, self.costs):
            after, times = monitor.step(own, symbol, before, tag)
            following.append(after)
            total += times * cost if times else 0.0
        return self._number(tuple(following)), total

    def finish(self, state: int, tag: int) -> float:
        """The cost of what the end of the sequence violates."""
        states = zip(self._states[state], self.monitors, self.costs)
        times = ((monitor.finish(own, tag), cost) for own, monitor, cost in states)
        return sum((number * cost for number, cost in times if number), 0.0)


def product_of(constraints: Sequence[Constraint], fields: Fields, facts: UnitFacts) -> Product:
    """The product for one sequence.

    fields (Fields): of the chain. facts (UnitFacts): of the sequence.
    """
    monitors = [watch(constraint, fields, facts) for constraint in constraints]
    return Product([constraint.cost for constraint in constraints], monitors)


class Products:
    """Products by their constraints: one serves all sequences where it does not depend on facts about their units."""

    def __init__(self) -> None:
        self._made: dict[tuple[Constraint, ...], Product] = {}

    def of(self, problem: Problem, indices: Sequence[int]) -> Product:
        """The product of some constraints of a problem."""
        constraints = tuple(problem.constraints[index] for index in indices)
        if any(constraint.asks_for_facts for constraint in constraints):
            return product_of(constraints, problem.fields, problem.facts)
        if constraints not in self._made:
            if len(self._made) >= PRODUCTS:
                self._made.clear()
            self._made[constraints] = product_of(constraints, problem.fields, problem.facts)
        return self._made[constraints]
