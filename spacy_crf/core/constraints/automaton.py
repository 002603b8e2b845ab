"""Exact dynamic programming over the product of a chain and the automata of its constraints.

The product is built lazily: a state is made only if a path through it may still be as good as a threshold, by its score
and costs so far and the best completion without further costs (Viterbi backwards, an exact bound as in A* search).
Without a labelling of known score the threshold is lowered until one is found; what was searched in vain is an upper
bound. States that agree in their tag and in all automata are one state.

A constraint joins the product when the best labelling without it breaks it: with a hundred constraints the few that
matter decide about the size of the product.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Doubles, Indices, Ints
from .arcs import Arcs
from .predicates import NOTHING
from .problem import Problem
from .product import Product, Products

MARGIN = 1e-9  # relative slack, so that rounding does not cut off the best path
WIDTHS = (2.0, 8.0, 32.0, math.inf)  # how far below the bound to search, in turn


@dataclass(frozen=True)
class Search:
    """What a search found.

    path ((T,) | None): the best labelling, or the best that was met; None without one.
    objective (float): its score minus costs; -inf without one.
    bound (float): no labelling has a greater one.
    finished (bool): the search was not stopped by its size: path is the best one, or there is none.
    n_states (int): states of the product that were made.
    grounds (frozenset of int): constraints that were in the product.
    """

    path: Ints | None
    objective: float
    bound: float
    finished: bool
    n_states: int
    grounds: frozenset[int] = frozenset()


def best_labelling(
    problem: Problem, known: Sequence[Ints] = (), max_states: int = 400_000, products: Products | None = None
) -> Search:
    """The labelling of a problem with the greatest score minus costs; exact if the search is finished.

    problem (Problem): of a sequence that is not empty.
    known (sequence of (T,)): labellings that are known; what they break is looked at from the beginning.
    max_states (int): of all products together. products (Products | None): those made so far.
    """
    products, left = products or Products(), set(problem.left)
    values = [problem.value(path) for path in known]
    active = left.intersection(index for value in values for index in value.violated)
    best, objective = max(
        zip(known, (value.objective for value in values)), key=lambda pair: pair[1], default=(None, -math.inf)
    )
    bound, total = math.inf, 0
    while True:
        product = products.of(problem, sorted(active))
        found = best_in_product(problem.charged, product, objective, max_states - total)
        total, bound = total + found.n_states, min(bound, found.bound)
        if found.path is None:
            objective = -math.inf if bound == -math.inf else objective
            path = best if objective > -math.inf else None
            return Search(path, objective, bound, found.finished, total, frozenset(active))
        value = problem.value(found.path)
        if value.objective >= objective:
            best, objective = found.path, value.objective
        more = left.intersection(value.violated) - active
        if not more:
            return Search(found.path, value.objective, bound, True, total, frozenset(active))
        active |= more


def best_in_product(arcs: Arcs, product: Product, known: float = -math.inf, max_states: int = 400_000) -> Search:
    """The labelling of the greatest score minus costs. O(states L) time.

    arcs (Arcs): scores. product (Product): of the constraints.
    known (float): score minus costs of a labelling that is known: nothing worse is looked at.
    max_states (int): stop where the product would have more.
    """
    top, total = arcs.bound, 0
    if top == -math.inf:
        return Search(None, -math.inf, -math.inf, True, 0)
    bound, margin = top, MARGIN * max(1.0, abs(top))
    for width in WIDTHS:
        threshold = max(known, top - width)
        layers, n_states = _layers(arcs, product, threshold - margin, max_states - total)
        total += n_states
        if layers is None:
            return Search(None, -math.inf, bound, False, total)
        path, objective = _best_end(layers, product)
        if path is not None and objective >= threshold - margin:
            return Search(path, objective, objective, True, total)
        known = max(known, objective)
        bound = threshold  # nothing is as good as that
    return Search(None, -math.inf, -math.inf, True, total)


@dataclass(frozen=True)
class _Layer:
    """The product states of one unit: tag, state of the automata, score, and the state before in its layer."""

    tags: Indices
    states: list[int]
    scores: Doubles
    origins: list[int]


def _layers(arcs: Arcs, product: Product, threshold: float, max_states: int) -> tuple[list[_Layer] | None, int]:
    """The states of each unit that may be on a path of at least the threshold; None if there are too many."""
    symbols = product.symbols(arcs.n_units)
    begin = _Layer(np.zeros(1, dtype=np.intp), [product.start], np.zeros(1), [NOTHING])
    layers: list[_Layer] = []
    n_states, layer = 0, begin
    for unit in range(arcs.n_units):
        scores = arcs.first[None, :] if unit == 0 else layer.scores[:, None] + arcs.inner[unit - 1][layer.tags]
        slack = _room(scores + arcs.completions[unit], threshold)
        before = [NOTHING] if unit == 0 else layer.tags.tolist()
        layer = _advance(layer.states, before, scores, slack, symbols[unit], product)
        n_states += len(layer.states)
        layers.append(layer)
        if n_states > max_states:
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
    tags: list[int] = []
    following: list[int] = []
    best: list[float] = []
    origins: list[int] = []
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
    if not np.any(values > -np.inf):
        return None, -math.inf
    place = int(values.argmax())
    path = np.empty(len(layers), dtype=np.int32)
    objective = float(values[place])
    for unit in range(len(layers) - 1, -1, -1):
        path[unit] = layers[unit].tags[place]
        place = layers[unit].origins[place]
    return path, objective
