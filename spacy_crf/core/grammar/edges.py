"""The ways in which a symbol over a span comes about, best first, read back from a chart of maxima."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles
from .binary import BinaryGrammar, Rules
from .chart import Chart


class Place(NamedTuple):
    """A symbol over the units from start to end, end exclusive."""

    symbol: int
    start: int
    end: int


class Edge(NamedTuple):
    """A rule that makes a labelled span of smaller ones.

    children (tuple of Place): one or two.
    loss (float): by how much the best tree with this rule at its root is worse than the best of the labelled span.
    """

    children: tuple[Place, ...]
    loss: float


def edges_into(grammar: BinaryGrammar, chart: Chart, place: Place, component: frozenset[int]) -> Iterator[Edge]:
    """The edges that lead into a labelled span, best first; equal ones by rule, then by split, unary rules last.

    component (frozenset of int): symbols whose unary rules are left out, as they lead in a circle.
    """
    best = chart.by_start[place.symbol, place.start, place.end - place.start]
    own = chart.spans.at(*place)
    binary, unary = (_rules_of(rules, place.symbol) for rules in (grammar.binary, grammar.unary))
    splits = np.arange(place.start + 1, place.end)
    made = np.concatenate([_joined(chart, place, binary, own).reshape(-1), _lifted(chart, place, unary, own)])
    n_binary = len(made) - len(unary.parents)
    made[n_binary:][[child in component for child in unary.children[:, 0].tolist()]] = -np.inf
    for number, value in _ranked(made):
        if number < n_binary:
            rule, split = divmod(number, len(splits))
            left, right = binary.children[rule].tolist()
            middle = int(splits[split])
            children = (Place(left, place.start, middle), Place(right, middle, place.end))
            yield Edge(children, float(best - value))
        else:
            child = int(unary.children[number - n_binary, 0])
            yield Edge((Place(child, place.start, place.end),), float(best - value))


def circling_edges(grammar: BinaryGrammar, chart: Chart, place: Place) -> Iterator[tuple[int, Edge]]:
    """The inner rules of a cyclic block that have a labelled span as their child, each with its parent."""
    for _, inner in grammar.block_rules:
        for rule in np.flatnonzero(inner.children[:, 0] == place.symbol):
            parent = int(inner.parents[rule])
            above = Place(parent, place.start, place.end)
            value = _lifted(chart, above, inner.at(np.array([rule])), chart.spans.at(*above))[0]
            if value > -np.inf:
                best = chart.by_start[parent, place.start, place.end - place.start]
                yield parent, Edge((place,), float(best - value))


def _rules_of(rules: Rules, symbol: int) -> Rules:
    chosen = rules.of_parent.get(symbol, slice(0, 0))
    return rules.at(np.arange(chosen.start, chosen.stop))


def _joined(chart: Chart, place: Place, rules: Rules, own: float) -> Doubles:
    """((r, splits)): values of binary rules, summed in the order of the chart, so that they are equal to its."""
    left, right = rules.children.T
    length = place.end - place.start
    values = chart.by_start[left, place.start, 1:length] + chart.by_end[right, place.end, length - 1 : 0 : -1]
    made: Doubles = values + rules.log_weights[:, None] + own
    return made


def _lifted(chart: Chart, place: Place, rules: Rules, own: float) -> Doubles:
    """((r,)): values of unary rules, summed in the order of the chart."""
    made: Doubles = chart.by_start[rules.children[:, 0], place.start, place.end - place.start] + rules.log_weights + own
    return made


def _ranked(values: Doubles) -> Iterator[tuple[int, float]]:
    """Places and values, greatest first, without -inf. They are sorted only if the second one is asked for."""
    if not len(values):
        return
    first = int(values.argmax())
    if values[first] > -np.inf:
        yield first, float(values[first])
        for number in np.argsort(-values, kind="stable")[1:].tolist():
            if values[number] == -np.inf:
                return
            yield number, float(values[number])
