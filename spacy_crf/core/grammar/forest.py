"""The best trees of a document, as many as are asked for: lazy k-best.

Huang & Chiang, "Better k-best parsing" (IWPT 2005), algorithm 3, with two changes. What is ordered are losses against
the best tree of the same labelled span, which the chart knows: a loss never falls from child to parent even where
weights are above 1. And symbols whose unary rules lead in a circle share a queue, in which a tree has to exist before
it can be the child of another: so trees that run through loops are found in their order, and none is its own child.
No recursion: trees are as deep as runs of units are long.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import takewhile
from math import inf
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Indices
from .chart import Chart, ParseScores, Semiring, fill
from .rules import ROOT, BinaryGrammar, Node, ParseTree, RuleTable

TOLERANCE = 1e-9  # a loop that gains less is taken to gain nothing: rounding may bring as much


class Maximum(Semiring):
    """The semiring of best values.

    Trompper's text (2016, "CYK Algorithm") applies unary rules while they bring "at least as much", which would go
    round in loops of weight 1 for ever: strictly more is meant.
    """

    def over_last(self, values: Doubles) -> Doubles:
        best: Doubles = values.max(axis=-1)
        return best

    def over_runs(self, values: Doubles, firsts: Indices) -> Doubles:
        return np.maximum.reduceat(values, firsts, axis=0)

    def both(self, first: Doubles, second: Doubles) -> Doubles:
        return np.maximum(first, second)

    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        """As many rounds as the longest way without a loop needs; what improves after them is in a loop that gains."""
        symbols, inner = self._grammar.blocks[block].symbols, self._grammar.blocks[block].inner
        parents = inner.parents[inner.firsts]
        for left in reversed(range(len(symbols))):
            made = self.over_runs(inner.upwards(values, own), inner.firsts)
            better = made > values[parents]
            if left == 0:  # a round too many
                better &= made - TOLERANCE * (1 + np.abs(made)) > values[parents]
            if not better.any():
                return
            if left == 0:
                raise self.diverged(block, "a weight above 1", "no tree is the best")
            values[parents] = np.maximum(values[parents], made)


@dataclass(frozen=True)
class Parse:
    """A tree of a document. score (float): the sum of log rule weights and of the document's scores."""

    tree: ParseTree
    score: float


def best_parses(grammar: BinaryGrammar, scores: ParseScores, k: int) -> list[Parse]:
    """The k best trees, distinct, best first; fewer if there are no more. O(N^3 Q) time, O(N^2 S) memory for the chart.

    Where ways to make a node have equal scores, rules of two or more symbols come before unary ones, each in the order
    of the grammar, then the earlier split. RAISES: as `fill`.
    """
    return _Forest(grammar, fill(grammar, scores, Maximum(grammar)), k).parses()


class _Place(NamedTuple):
    """A symbol over the units from start to end, end exclusive."""

    symbol: int
    start: int
    end: int


class _Edge(NamedTuple):
    """A rule that makes a labelled span of one or two smaller ones, and what its best tree loses against the span's."""

    children: tuple[_Place, ...]
    loss: float


class _Derivation(NamedTuple):
    """A tree of a labelled span: an edge and the ranks of the trees of its children; no edge for a terminal."""

    edge: _Edge | None
    ranks: tuple[int, ...]
    loss: float


class _Edges:
    """The ways in which symbols over spans come about, read back from a chart of maxima and summed in its order."""

    def __init__(self, grammar: BinaryGrammar, chart: Chart):
        self._grammar, self._chart = grammar, chart

    def into(self, place: _Place, circle: frozenset[int]) -> Iterator[_Edge]:
        """Edges best first, without unary rules from a circle; equal ones by rule, then by split, unary rules last."""
        chart, best = self._chart, self._best(place)
        binary, unary = (self._rules(rules, place.symbol) for rules in (self._grammar.binary, self._grammar.unary))
        left, right = binary.children.T
        length = place.end - place.start
        joined = chart.by_start[left, place.start, 1:length] + chart.by_end[right, place.end, length - 1 : 0 : -1]
        joined = joined + binary.log_weights[:, None] + chart.spans.at(*place)
        made = np.concatenate([joined.reshape(-1), self._lifted(place, unary)])
        made[joined.size :][[child in circle for child in unary.children[:, 0].tolist()]] = -np.inf
        for number, value in _ranked(made):
            if number < joined.size:
                rule, split = divmod(number, length - 1)
                middle = place.start + 1 + split
                first, second = binary.children[rule].tolist()
                yield _Edge((_Place(first, place.start, middle), _Place(second, middle, place.end)), best - value)
            else:
                child = int(unary.children[number - joined.size, 0])
                yield _Edge((place._replace(symbol=child),), best - value)

    def circling(self, place: _Place) -> Iterator[tuple[int, _Edge]]:
        """The inner rules of a cyclic block that have a labelled span as their child, each with its parent."""
        for block in self._grammar.blocks:
            for rule in np.flatnonzero(block.inner.children[:, 0] == place.symbol):
                above = place._replace(symbol=int(block.inner.parents[rule]))
                value = float(self._lifted(above, block.inner.at(np.array([rule])))[0])
                if value > -inf:
                    yield above.symbol, _Edge((place,), self._best(above) - value)

    def _best(self, place: _Place) -> float:
        return float(self._chart.by_start[place.symbol, place.start, place.end - place.start])

    def _rules(self, rules: RuleTable, symbol: int) -> RuleTable:
        chosen = rules.of_parent.get(symbol, slice(0, 0))
        return rules.at(np.arange(chosen.start, chosen.stop))

    def _lifted(self, place: _Place, rules: RuleTable) -> Doubles:
        """((r,)): values of unary rules."""
        below = self._chart.by_start[rules.children[:, 0], place.start, place.end - place.start]
        made: Doubles = below + rules.log_weights + self._chart.spans.at(*place)
        return made


def _ranked(values: Doubles) -> Iterator[tuple[int, float]]:
    """Places and values, greatest first, without -inf. They are sorted only if the second one is asked for."""
    if not len(values):
        return
    first = int(values.argmax())
    if values[first] > -np.inf:
        yield first, float(values[first])
        ordered = np.argsort(-values, kind="stable")[1:].tolist()
        yield from takewhile(lambda pair: pair[1] > -np.inf, ((number, float(values[number])) for number in ordered))


class _Queue:
    """The trees of one span, known so far, whose root is a symbol, or one of those that unary rules circle through."""

    def __init__(self, forest: "_Forest", place: _Place, component: frozenset[int]):
        self.found: dict[int, list[_Derivation]] = {symbol: [] for symbol in component}
        self._forest, self._circles, self._count = forest, place.symbol in forest.components, 0
        self._heap: list[tuple[float, int, int, _Edge, tuple[int, ...]]] = []
        self._waiting: list[tuple[int, _Edge, tuple[int, ...]]] = []
        inside = component if self._circles else frozenset[int]()
        self._edges = {
            symbol: forest.edges.into(place._replace(symbol=symbol), inside)
            for symbol in sorted(component)
            if symbol >= forest.grammar.n_terminals
        }
        for symbol in self._edges:
            self._next_edge(symbol)
        if not self._edges:
            self.found[place.symbol].append(_Derivation(None, (), 0.0))

    def is_settled(self, symbol: int, rank: int) -> bool:
        """Whether the tree of a rank is known, or known not to exist."""
        return len(self.found[symbol]) > rank or not (self._heap or self._waiting)

    def advance(self) -> tuple[_Place, int] | None:
        """Take one step towards the next tree; or return the place and rank of a tree that has to be known before."""
        if not self._waiting:
            self._take()
            return None
        symbol, edge, ranks = self._waiting[-1]
        loss = edge.loss
        for place, rank in zip(edge.children, ranks):
            queue = self._forest.queue(place)
            if not queue.is_settled(place.symbol, rank):
                return place, rank
            known = queue.found[place.symbol]
            loss += known[rank].loss if rank < len(known) else inf
        self._waiting.pop()
        if loss < inf:
            self._push(loss, symbol, edge, ranks)
        return None

    def _take(self) -> None:
        """Move the best tree of the heap to those that are known, and see what may come next."""
        loss, _, symbol, edge, ranks = heappop(self._heap)
        known = self.found[symbol]
        if len(known) == self._forest.limit:
            return
        known.append(_Derivation(edge, ranks, loss))
        place = edge.children[0]
        if self._circles:  # the new tree becomes a child of the circling rules
            for parent, circling in self._forest.edges.circling(_Place(symbol, place.start, edge.children[-1].end)):
                self._push(circling.loss + loss, parent, circling, (len(known) - 1,))
            if place.symbol in self.found and len(ranks) == 1:
                return  # a circling edge: its next tree comes when its child has one
        if not any(ranks):
            self._next_edge(symbol)
        # each pair of ranks is reached in one way only: first the left rank is raised, then the right one
        self._waiting.append((symbol, edge, (*ranks[:-1], ranks[-1] + 1)))
        if len(ranks) == 2 and not ranks[1]:
            self._waiting.append((symbol, edge, (ranks[0] + 1, 0)))

    def _next_edge(self, symbol: int) -> None:
        edge = next(self._edges[symbol], None)
        if edge is not None:
            self._push(edge.loss, symbol, edge, (0,) * len(edge.children))

    def _push(self, loss: float, symbol: int, edge: _Edge, ranks: tuple[int, ...]) -> None:
        heappush(self._heap, (loss, self._count, symbol, edge, ranks))
        self._count += 1


class _Forest:
    """The best trees of a document. chart (Chart): of maxima. limit (int): trees that may be asked for."""

    def __init__(self, grammar: BinaryGrammar, chart: Chart, limit: int):
        self.grammar, self.chart, self.limit = grammar, chart, limit
        self.edges = _Edges(grammar, chart)
        self.components = {
            symbol: frozenset(block.symbols.tolist())
            for block in grammar.blocks
            if block.is_cyclic
            for symbol in block.symbols.tolist()
        }
        self._root = _Place(grammar.start, 0, chart.n_units)
        self._queues: dict[_Place, _Queue] = {}

    def parses(self) -> list[Parse]:
        """The best trees, best first."""
        best = self.chart.root(self.grammar)
        for rank in range(self.limit):
            self._settle(self._root, rank)
        known = self.queue(self._root).found[self._root.symbol]
        return [Parse(self._tree(rank), best - derivation.loss) for rank, derivation in enumerate(known)]

    def queue(self, place: _Place) -> _Queue:
        """The queue that a labelled span is in."""
        if place not in self._queues:
            component = self.components.get(place.symbol, frozenset([place.symbol]))
            queue = _Queue(self, place, component)
            self._queues.update((place._replace(symbol=symbol), queue) for symbol in component)
        return self._queues[place]

    def _settle(self, place: _Place, rank: int) -> None:
        """Find a tree, and before it the trees that it is made of."""
        needs = [(place, rank)]
        while needs:
            queue = self.queue(needs[-1][0])
            if queue.is_settled(needs[-1][0].symbol, needs[-1][1]):
                needs.pop()
            elif (more := queue.advance()) is not None:
                needs.append(more)

    def _tree(self, rank: int) -> ParseTree:
        """The tree of a rank, without markers."""
        nodes: list[Node] = []
        waiting = [(self._root, rank, ROOT)]
        while waiting:
            place, own_rank, parent = waiting.pop()
            if place.symbol < self.grammar.first_marker:
                nodes.append(Node(self.grammar.symbols[place.symbol], place.start, place.end, parent))
                parent = len(nodes) - 1
            # the best tree of a child may not have been asked for yet
            self._settle(place, own_rank)
            edge, ranks, _ = self.queue(place).found[place.symbol][own_rank]
            if edge is not None:
                waiting += [(child, each, parent) for child, each in reversed(list(zip(edge.children, ranks)))]
        return ParseTree(tuple(nodes))
