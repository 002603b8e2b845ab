"""Exact dynamic programming over the product of a chain and the automata of its constraints.

The product is built lazily: a state is made only if a path through it may still be as good as a threshold, by its score
and costs so far and the best completion without further costs (Viterbi backwards, an exact bound as in A* search).
Without a labelling of known score the threshold is lowered until one is found; what was searched in vain is an upper
bound. States that agree in their tag and in all automata are one state.

A constraint joins the product when the best labelling without it breaks it: with a hundred constraints the few that
matter decide about the size of the product.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..arrays import Doubles, Indices, Ints, Numbered
from .family import Constraint
from .labelling import NOTHING, Fields, Monitor, UnitPredicates
from .problem import Problem, Trellis

MARGIN = 1e-9  # relative slack, so that rounding does not cut off the best path
WIDTHS = (2.0, 8.0, 32.0, math.inf)  # how far below the bound to search, in turn
MEMORY = 1 << 18  # moves that are kept
PRODUCTS = 256  # that are kept
Products: TypeAlias = dict[tuple[Constraint, ...], "Product"]  # by their constraints


@dataclass
class Product:
    """The product of the automata of some constraints: states are numbered as they are met, moves remembered."""

    costs: list[float]
    monitors: list[Monitor]
    _states: Numbered[tuple[Any, ...]] = field(default_factory=Numbered)
    _moves: dict[tuple[int, int, int, int], tuple[int, float]] = field(default_factory=dict)

    @property
    def start(self) -> int:
        return self._states.number(tuple(monitor.start for monitor in self.monitors))

    def symbols(self, n_units: int) -> list[tuple[int, tuple[Any, ...]]]:
        """For each unit, the symbols of all automata and a number that stands for them."""
        columns = [monitor.symbols or [None] * n_units for monitor in self.monitors]
        numbers = Numbered[tuple[Any, ...]]()
        rows = zip(*columns) if columns else ((),) * n_units
        return [(numbers.number(row), row) for row in rows]

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
        return self._states.number(tuple(following)), total

    def finish(self, state: int, tag: int) -> float:
        """The cost of what the end of the sequence violates."""
        states = zip(self._states[state], self.monitors, self.costs)
        times = ((monitor.finish(own, tag), cost) for own, monitor, cost in states)
        return sum((number * cost for number, cost in times if number), 0.0)


def product_of(
    constraints: Sequence[Constraint], fields: Fields, predicates: UnitPredicates, made: Products | None = None
) -> Product:
    """The product for one sequence; it is kept, and serves all sequences, where it asks nothing of their units."""
    key, made = tuple(constraints), {} if made is None else made
    if key in made:
        return made[key]
    product = Product([one.cost for one in key], [one.watch(fields, predicates) for one in key])
    if all(one.asks is None for one in key):
        if len(made) >= PRODUCTS:
            made.clear()
        made[key] = product
    return product


@dataclass(frozen=True)
class ExactSearch:
    """What a search found: the best labelling, or the best that was met, with its score minus costs.

    bound (float): no labelling has a greater objective.
    finished (bool): the search was not stopped by its size: path is the best one, or there is none.
    n_states (int): of the product, that were made. grounds (frozenset of int): constraints that were in it.
    """

    path: Ints | None
    objective: float
    bound: float
    finished: bool
    n_states: int
    grounds: frozenset[int] = frozenset()


def best_labelling(
    problem: Problem,
    known: Sequence[Ints] = (),
    max_states: int = 400_000,
    products: Products | None = None,
    deadline: float = math.inf,
) -> ExactSearch:
    """The labelling of a problem with the greatest score minus costs; exact if the search is finished.

    What known labellings break is looked at from the beginning. max_states (int): of all products together.
    deadline (float): by `time.monotonic`, when the search ends.
    """
    products, left = {} if products is None else products, set(problem.left)
    active = left.intersection(index for path in known for index in problem.value(path).violated)
    best: Ints | None = max(known, key=lambda path: problem.value(path).objective, default=None)
    objective = -math.inf if best is None else problem.value(best).objective
    bound, total = math.inf, 0
    while True:
        chosen = [problem.constraints[index] for index in sorted(active)]
        product = product_of(chosen, problem.fields, problem.predicates, products)
        found = best_in_product(problem.charged, product, objective, max_states - total, deadline)
        total, bound = total + found.n_states, min(bound, found.bound)
        if found.path is None:
            objective = -math.inf if bound == -math.inf else objective
            path = best if objective > -math.inf else None
            return ExactSearch(path, objective, bound, found.finished, total, frozenset(active))
        value = problem.value(found.path)
        if value.objective >= objective:
            best, objective = found.path, value.objective
        more = left.intersection(value.violated) - active
        if not more:
            return ExactSearch(found.path, value.objective, bound, True, total, frozenset(active))
        active |= more


def best_in_product(
    trellis: Trellis,
    product: Product,
    known: float = -math.inf,
    max_states: int = 400_000,
    deadline: float = math.inf,
) -> ExactSearch:
    """The labelling of the greatest score minus costs, known to be no less than some value. O(states L) time."""
    top, total = trellis.bound, 0
    if top == -math.inf:
        return ExactSearch(None, -math.inf, -math.inf, True, 0)
    bound, margin = top, MARGIN * max(1.0, abs(top))
    for width in WIDTHS:
        threshold = max(known, top - width)
        layers, n_states = _layers(trellis, product, threshold - margin, max_states - total, deadline)
        total += n_states
        if layers is None:
            return ExactSearch(None, -math.inf, bound, False, total)
        path, objective = _best_end(layers, product)
        if path is not None and objective >= threshold - margin:
            return ExactSearch(path, objective, objective, True, total)
        known = max(known, objective)
        bound = threshold  # nothing is as good as that
    return ExactSearch(None, -math.inf, -math.inf, True, total)


@dataclass(frozen=True)
class _Layer:
    """The product states of one unit: tag, state of the automata, score, and the state before in its layer."""

    tags: Indices
    states: list[int]
    scores: Doubles
    origins: list[int]


def _layers(
    trellis: Trellis, product: Product, threshold: float, max_states: int, deadline: float
) -> tuple[list[_Layer] | None, int]:
    """The states of each unit that may be on a path of at least the threshold; None if there are too many."""
    symbols, layers, n_states = product.symbols(trellis.n_units), list[_Layer](), 0
    layer = _Layer(np.zeros(1, dtype=np.intp), [product.start], np.zeros(1), [NOTHING])
    for unit in range(trellis.n_units):
        scores = trellis.first[None, :] if unit == 0 else layer.scores[:, None] + trellis.inner[unit - 1][layer.tags]
        slack = _room(scores + trellis.completions[unit], threshold)
        before = [NOTHING] if unit == 0 else layer.tags.tolist()
        layer = _advance(layer.states, before, scores, slack, symbols[unit], product)
        n_states += len(layer.states)
        layers.append(layer)
        if n_states > max_states or time.monotonic() > deadline:
            return None, n_states
    return layers, n_states


def _room(reachable: Doubles, threshold: float) -> Doubles:
    """((n, L)): by how much the best score that can be reached is above a threshold, which may be -inf."""
    if threshold == -math.inf:
        return np.where(reachable > -np.inf, np.inf, -np.inf)
    return reachable - threshold


def _advance(
    states: list[int], before: list[int], scores: Doubles, slack: Doubles, symbol: Any, product: Product
) -> _Layer:
    """Move on from the states of a layer.

    scores ((n, L)): of each state with each tag after it. slack ((n, L)): how much of costs each may still take.
    """
    found: dict[tuple[int, int], int] = {}
    tags, following, best, origins = list[int](), list[int](), list[float](), list[int]()
    places, chosen = np.nonzero(slack >= 0)
    cells = zip(places.tolist(), chosen.tolist(), scores[places, chosen].tolist(), slack[places, chosen].tolist())
    for place, tag, score, room in cells:
        state, cost = product.move(states[place], symbol, before[place], tag)
        if cost > room or cost == math.inf:
            continue
        number = found.setdefault((tag, state), len(tags))
        if number == len(tags):
            tags.append(tag)
            following.append(state)
            best.append(score - cost)
            origins.append(place)
        elif score - cost > best[number]:
            best[number], origins[number] = score - cost, place
    return _Layer(np.array(tags, dtype=np.intp), following, np.array(best), origins)


def _best_end(layers: list[_Layer], product: Product) -> tuple[Ints | None, float]:
    """The best path through the layers, if its end is allowed."""
    last = layers[-1]
    costs = np.array([product.finish(state, tag) for state, tag in zip(last.states, last.tags.tolist())])
    values = last.scores - costs
    objective = float(values.max(initial=-np.inf))
    if objective == -math.inf:
        return None, objective
    place, path = int(values.argmax()), np.empty(len(layers), dtype=np.int32)
    for unit, layer in reversed(list(enumerate(layers))):
        path[unit], place = layer.tags[place], layer.origins[place]
    return path, objective
