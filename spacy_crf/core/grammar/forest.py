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
from typing import NamedTuple

from .binary import BinaryGrammar
from .chart import Chart, require_parse
from .edges import Edge, Place, circling_edges, edges_into
from .scores import ParseScores
from .trees import ROOT, Node, Tree


@dataclass(frozen=True)
class Parse:
    """A tree of a document. score (float): the sum of log rule weights and of the document's scores."""

    tree: Tree
    score: float


class _Derivation(NamedTuple):
    """A tree of a labelled span: an edge and the ranks of the trees of its children; no edge for a terminal."""

    edge: Edge | None
    ranks: tuple[int, ...]
    loss: float


class _Need(NamedTuple):
    """A tree of a labelled span that has to be known first."""

    place: Place
    rank: int


class _Queue:
    """The trees of one span whose root is one symbol, or one of those that unary rules lead to in a circle.

    found (dict): by symbol, the trees known so far, best first.
    """

    def __init__(self, forest: "Forest", place: Place, component: frozenset[int]):
        self.found: dict[int, list[_Derivation]] = {symbol: [] for symbol in component}
        self._forest, self._circles = forest, len(component) > 1 or forest.loops(place.symbol)
        self._heap: list[tuple[float, int, int, Edge, tuple[int, ...]]] = []
        self._count = 0
        self._edges: dict[int, Iterator[Edge]] = {}
        self._waiting: list[tuple[int, Edge, tuple[int, ...]]] = []
        for symbol in sorted(component):
            inside = component if self._circles else frozenset[int]()
            self._edges[symbol] = edges_into(forest.grammar, forest.chart, place._replace(symbol=symbol), inside)
            self._next_edge(symbol)

    def is_settled(self, symbol: int, rank: int) -> bool:
        """Whether the tree of a rank is known, or known not to exist."""
        return len(self.found[symbol]) > rank or not (self._heap or self._waiting)

    def advance(self) -> _Need | None:
        """Take one step towards the next tree. RETURNS: what has to be known before, or None if the step was taken."""
        if not self._waiting:
            self._take()
            return None
        symbol, edge, ranks = self._waiting[-1]
        loss = edge.loss
        for place, rank in zip(edge.children, ranks):
            queue = self._forest.queue(place)
            if not queue.is_settled(place.symbol, rank):
                return _Need(place, rank)
            known = queue.found[place.symbol]
            loss += known[rank].loss if rank < len(known) else float("inf")
        self._waiting.pop()
        if loss < float("inf"):
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
        if self._circles:
            self._circle(place._replace(symbol=symbol, end=edge.children[-1].end), len(known) - 1)
        if self._circles and place.symbol in self.found and len(ranks) == 1:
            return  # a circling edge: its next tree comes when its child has one
        if not any(ranks):
            self._next_edge(symbol)
        # each pair of ranks is reached in one way only: first the left rank is raised, then the right one
        self._waiting.append((symbol, edge, (*ranks[:-1], ranks[-1] + 1)))
        if len(ranks) == 2 and not ranks[1]:
            self._waiting.append((symbol, edge, (ranks[0] + 1, 0)))

    def _circle(self, place: Place, rank: int) -> None:
        """A new tree becomes a child of the circling rules."""
        for parent, edge in circling_edges(self._forest.grammar, self._forest.chart, place):
            self._push(edge.loss + self.found[place.symbol][rank].loss, parent, edge, (rank,))

    def _next_edge(self, symbol: int) -> None:
        edge = next(self._edges[symbol], None)
        if edge is not None:
            self._push(edge.loss, symbol, edge, (0,) * len(edge.children))

    def _push(self, loss: float, symbol: int, edge: Edge, ranks: tuple[int, ...]) -> None:
        heappush(self._heap, (loss, self._count, symbol, edge, ranks))
        self._count += 1


class _Leaf(_Queue):
    """A terminal: one tree, which is complete."""

    def __init__(self, symbol: int):
        self.found = {symbol: [_Derivation(None, (), 0.0)]}
        self._heap, self._waiting = [], []


class Forest:
    """The best trees of a document.

    grammar (BinaryGrammar), scores (ParseScores): of the document. chart (Chart): of maxima.
    limit (int): trees that may be asked for.
    RAISES (NoParseError): if there is no tree.
    """

    def __init__(self, grammar: BinaryGrammar, scores: ParseScores, chart: Chart, limit: int):
        require_parse(grammar, scores, chart)
        self.grammar, self.chart, self.limit = grammar, chart, limit
        self._root = Place(grammar.start, 0, chart.n_units)
        self._queues: dict[Place, _Queue] = {}
        self._components = {
            symbol: frozenset(block.symbols.tolist())
            for block in grammar.blocks
            if block.is_cyclic
            for symbol in block.symbols.tolist()
        }

    def parses(self) -> list[Parse]:
        """The best trees, distinct, best first; fewer than the limit if there are no more."""
        best = self.chart.root(self.grammar)
        for rank in range(self.limit):
            self._settle(_Need(self._root, rank))
        known = self.queue(self._root).found[self._root.symbol]
        return [Parse(self._tree(rank), best - derivation.loss) for rank, derivation in enumerate(known)]

    def loops(self, symbol: int) -> bool:
        """Whether unary rules lead from a symbol back to it."""
        return symbol in self._components

    def queue(self, place: Place) -> _Queue:
        """The queue that a labelled span is in."""
        if place not in self._queues:
            component = self._components.get(place.symbol, frozenset([place.symbol]))
            if place.symbol < self.grammar.n_terminals:
                queue: _Queue = _Leaf(place.symbol)
            else:
                queue = _Queue(self, place, component)
            self._queues.update((place._replace(symbol=symbol), queue) for symbol in component)
        return self._queues[place]

    def _settle(self, need: _Need) -> None:
        """Find a tree, and before it the trees that it is made of."""
        needs = [need]
        while needs:
            place, rank = needs[-1]
            queue = self.queue(place)
            if queue.is_settled(place.symbol, rank):
                needs.pop()
                continue
            more = queue.advance()
            if more is not None:
                needs.append(more)

    def _tree(self, rank: int) -> Tree:
        """The tree of a rank, without markers."""
        nodes: list[Node] = []
        waiting = [(self._root, rank, ROOT)]
        while waiting:
            place, own_rank, parent = waiting.pop()
            if place.symbol < self.grammar.first_marker:
                nodes.append(Node(self.grammar.symbols[place.symbol], place.start, place.end, parent))
                parent = len(nodes) - 1
            # the best tree of a child may not have been asked for yet
            self._settle(_Need(place, own_rank))
            edge, ranks, _ = self.queue(place).found[place.symbol][own_rank]
            if edge is not None:
                waiting += [(child, each, parent) for child, each in reversed(list(zip(edge.children, ranks)))]
        return Tree(tuple(nodes))
