"""Probabilities of labelled spans and rules over all trees of a document: inside, then outside, longest spans first."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Indices, cached_property
from ..errors import CoreErrors, require
from .chart import CELLS, Chart, ParseScores, Semiring, fill, some
from .rules import MARKER, BinaryGrammar

MARGIN = 1e-9  # a spectral radius this near to 1 cannot be told from 1


class LogSum(Semiring):
    """The semiring of log sums: the inside algorithm.

    Lari & Young, "The estimation of stochastic context-free grammars using the inside-outside algorithm", Computer
    Speech and Language 4, 1990; here with unary rules, loops of them, and scores of spans, all in log space.
    """

    def over_last(self, values: Doubles) -> Doubles:
        top = values.max(axis=-1)
        shift = np.where(np.isfinite(top), top, 0.0)
        np.subtract(values, shift[..., None], out=values)
        np.exp(values, out=values)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(values.sum(axis=-1)) + shift)

    def over_runs(self, values: Doubles, firsts: Indices) -> Doubles:
        top = np.maximum.reduceat(values, firsts, axis=0)
        shift = np.where(np.isfinite(top), top, 0.0)
        made = np.exp(values - np.repeat(shift, np.diff(firsts, append=len(values)), axis=0))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.add.reduceat(made, firsts, axis=0)) + shift)

    def both(self, first: Doubles, second: Doubles) -> Doubles:
        return np.logaddexp(first, second)

    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        symbols = self._grammar.blocks[block].symbols
        values[symbols] = self.over_last(self.star(block, own).transpose(1, 0, 2) + values[symbols].T)

    def star(self, block: int, own: Doubles | None) -> Doubles:
        """((n, s, s) or (1, s, s)): log weight of all ways from each of a block's s symbols down to each other one.

        With the weights U of the inner rules it is (I - U)^-1 = I + U + U^2 + .., finite if and only if the spectral
        radius of U is below 1 (Stolcke, "An efficient probabilistic context-free parsing algorithm", Computational
        Linguistics 21, 1995, section 4.5). A way has the score of each node on it but the last; without such scores,
        `own` ((S, n)), ways are equal for all spans. RAISES (DivergedLoopError): for an infinite sum.
        """
        return self._constant_stars[block] if own is None else self._star(block, own)

    @cached_property
    def _constant_stars(self) -> dict[int, Doubles]:
        cyclic = [number for number, block in enumerate(self._grammar.blocks) if block.is_cyclic]
        return {number: self._star(number, None) for number in cyclic}

    def _star(self, number: int, own: Doubles | None) -> Doubles:
        symbols, inner = self._grammar.blocks[number].symbols, self._grammar.blocks[number].inner
        weights = inner.log_weights[:, None] if own is None else inner.log_weights[:, None] + own[inner.parents]
        above, below = (np.searchsorted(symbols, each) for each in (inner.parents, inner.children[:, 0]))
        steps = np.zeros((weights.shape[1], len(symbols), len(symbols)))
        with np.errstate(over="ignore"):
            steps[:, above, below] = np.exp(weights).T
        radius = np.full(len(steps), np.inf)
        sound = np.isfinite(steps).all(axis=(1, 2))
        radius[sound] = np.abs(np.linalg.eigvals(steps[sound])).max(axis=1, initial=0.0)
        if (radius >= 1 - MARGIN).any():
            quantity = f"a spectral radius of {radius.max():.4g}, not below 1"
            raise self.diverged(number, quantity, "the sum over trees is infinite")
        star = np.linalg.inv(np.eye(len(symbols)) - steps)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(star, 0.0)))


@dataclass(frozen=True)
class ForestMarginals:
    """Expectations over the trees of one document of N units.

    grammar (BinaryGrammar): that made them. log_z (float): log of the sum over all trees.
    nodes ((S, N, N)): [symbol, first unit, last unit], how often a node is expected. Where unary rules lead in a
        circle, a tree may have the same node several times.
    repeats ((S, N, N)): how often a node is there in trees that have it; 1 but in circles.
    rules ((R,)): how often each rule of the grammar is expected.
    """

    grammar: BinaryGrammar
    log_z: float
    nodes: Doubles
    repeats: Doubles
    rules: Doubles

    def spans(self, label: str) -> Doubles:
        """((N, N)): the probability that a tree has the label over the units from a first to a last one."""
        symbol = self._symbol(label)
        return np.asarray(self.nodes[symbol] / self.repeats[symbol])

    def counts(self, label: str) -> Doubles:
        """((N, N)): how often a node with the label is expected."""
        return np.asarray(self.nodes[self._symbol(label)])

    def terminals(self) -> Doubles:
        """((N, V)): the probability of each terminal at each unit."""
        return np.diagonal(self.nodes[: self.grammar.n_terminals], axis1=1, axis2=2).T

    def _symbol(self, label: str) -> int:
        known = self.grammar.symbols[: self.grammar.first_marker]
        expected = f"a symbol of the grammar: {', '.join(known)}"
        require(CoreErrors.CRF950, "label", repr(label), label in known, expected)
        return known.index(label)


def marginals(grammar: BinaryGrammar, scores: ParseScores) -> ForestMarginals:
    """Sum over all trees. O(N^3 Q) exponentials, O(N^2 (S + Q)) memory. RAISES: as `fill`."""
    semiring = LogSum(grammar)
    chart = fill(grammar, scores, semiring, keep_joined=True)
    around = _OutsidePass(grammar, chart, semiring).run()
    log_z, n = chart.root(grammar), chart.n_units
    # cells of by_start are [first, length]: those of [first, last] are taken from the place last - first + 1
    first = np.arange(n)[:, None]
    lengths = np.maximum(np.arange(n) - first + 1, 0)
    nodes = np.exp(chart.by_start + around - log_z)[:, first, lengths]
    repeats = _repeats(grammar, chart, semiring)[:, first, lengths]
    return ForestMarginals(grammar, log_z, nodes, repeats, _expected_rules(grammar, chart, around, log_z))


def _repeats(grammar: BinaryGrammar, chart: Chart, semiring: LogSum) -> Doubles:
    """((S, N, N + 1)): [symbol, first unit, length], the sum over all ways from a node back to itself; 1 for none."""
    repeats = np.ones_like(chart.by_start)
    for number, block in enumerate(grammar.blocks):
        for length in range(1, chart.n_units + 1) if block.is_cyclic else ():
            star = semiring.star(number, chart.spans.of_length(length))
            back = np.exp(np.diagonal(star, axis1=1, axis2=2)).T
            repeats[block.symbols, : chart.n_units - length + 1, length] = back
    return repeats


def _expected_rules(grammar: BinaryGrammar, chart: Chart, around: Doubles, log_z: float) -> Doubles:
    """((R,)): expected counts; rules of markers are part of those that they were cut from."""
    counts = np.zeros(grammar.n_rules)
    for length in range(1, chart.n_units + 1):
        n_spans = chart.n_units - length + 1
        values, own = around[:, :n_spans, length] - log_z, chart.spans.of_length(length)
        below = chart.joined[grammar.pair_of, :n_spans, length]
        unary_below = chart.by_start[grammar.unary.children[:, 0], :n_spans, length]
        for rules, inner in ((grammar.binary, below), (grammar.unary, unary_below)):
            whole = rules.sources != MARKER
            made = np.exp(rules.downwards(values, own) + inner).sum(axis=1)
            np.add.at(counts, rules.sources[whole], made[whole])
    return counts


class _Grouped(NamedTuple):
    """Rows brought together by a key. order ((r,)): that does it. keys ((g,)), firsts ((g,)): and where each begins."""

    order: Indices
    firsts: Indices
    keys: Indices

    @classmethod
    def by(cls, keys: Indices) -> "_Grouped":
        order = np.argsort(keys, kind="stable")
        firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        return cls(order, firsts, keys[order][firsts])


class _OutsidePass:
    """One pass over the lengths: log sums of all that can be around labelled spans."""

    def __init__(self, grammar: BinaryGrammar, chart: Chart, semiring: LogSum):
        self._grammar, self._chart, self._semiring = grammar, chart, semiring
        n_pairs, n = len(grammar.pairs), chart.n_units
        # of what is around a node with each right side of binary rules, its rule included
        self._by_start, self._by_end = (np.full((n_pairs, size, n + 1), -np.inf) for size in (n, n + 1))
        self._sides = [_Grouped.by(grammar.pairs[:, side]) for side in (0, 1)]
        self._rules_of_pair = _Grouped.by(grammar.pair_of)
        self._entering_by_child = [_Grouped.by(block.entering.children[:, 0]) for block in grammar.blocks]

    def run(self) -> Doubles:
        """((S, N, N + 1)): [symbol, first unit, length]. O(N^3 Q) exponentials.

        With the inside value it is the log sum over trees, each as often as it has the node.
        """
        grammar, n = self._grammar, self._chart.n_units
        found = np.full((grammar.n_symbols, n, n + 1), -np.inf)
        for length in range(n, 0, -1):
            values = np.full((grammar.n_symbols, n - length + 1), -np.inf)
            if length == n:
                values[grammar.start] = 0.0
            elif len(grammar.pairs):
                self._gather(length, values)
            own = self._chart.spans.of_length(length)
            self._descend(values, own)
            found[:, : values.shape[1], length] = values
            if length > 1 and len(grammar.pairs):
                made = self._sum(grammar.binary.downwards(values, own), self._rules_of_pair)
                self._by_start[self._rules_of_pair.keys, : made.shape[1], length] = made
                self._by_end[self._rules_of_pair.keys, length:, length] = made
        return found

    def _sum(self, rows: Doubles, grouped: _Grouped) -> Doubles:
        return self._semiring.over_runs(rows[grouped.order], grouped.firsts)

    def _gather(self, length: int, values: Doubles) -> None:
        """Take up what is around longer spans of which spans of a length are the left or the right part."""
        n, chart = self._chart.n_units, self._chart
        for side, grouped in enumerate(self._sides):
            if side == 0:
                around, sibling = self._by_start[:, : n - length, length + 1 :], chart.by_start[:, length:, 1:]
            else:
                around, sibling = self._by_end[:, length + 1 :, length + 1 :], chart.by_end[:, 1 : n - length + 1, 1:]
            sums = self._beside(around, sibling[:, :, : n - length], self._grammar.pairs[:, 1 - side])
            spans = slice(side, n - length + side)
            values[grouped.keys, spans] = np.logaddexp(values[grouped.keys, spans], self._sum(sums, grouped))

    def _beside(self, around: Doubles, sibling: Doubles, symbols: Indices) -> Doubles:
        """((Q, n)): for each right side the log sum over all spans that hold it.

        around ((Q, n, m)): of right sides. sibling ((S, n, m)): inside values of the other part, by symbol ((Q,)).
        """
        sums = np.full(around.shape[:2], -np.inf)
        pairs = np.flatnonzero(self._chart.longest[self._grammar.pairs].all(axis=1))
        size = max(1, CELLS // (around.shape[1] * around.shape[2]))
        for low in range(0, len(pairs), size):
            chosen = pairs[low : low + size]
            most = int(self._chart.longest[symbols[chosen]].max())
            work = some(around[:, :, :most], chosen) + some(sibling[:, :, :most], symbols[chosen])
            sums[chosen] = self._semiring.over_last(work)
        return sums

    def _descend(self, values: Doubles, own: Doubles | None) -> None:
        """Apply the unary rules from parents to children, in place."""
        for number, (block, grouped) in reversed(list(enumerate(zip(self._grammar.blocks, self._entering_by_child)))):
            if block.is_cyclic:
                star = self._semiring.star(number, own).transpose(2, 0, 1)
                values[block.symbols] = self._semiring.over_last(star + values[block.symbols].T)
            if len(block.entering.parents):
                made = self._sum(block.entering.downwards(values, own), grouped)
                values[grouped.keys] = np.logaddexp(values[grouped.keys], made)
