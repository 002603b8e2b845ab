"""Probabilities of labelled spans and rules over all trees of a document: inside, then outside, longest spans first."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors, CRFError
from .binary import MARKER, BinaryGrammar
from .chart import CELLS, Chart, ParseScores, fill, some
from .semirings import LogSum


@dataclass(frozen=True)
class Marginals:
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
        """((N, N)): the probability that a tree has the label over the units from a first to a last one.

        RAISES (ValueError): for a label that is no symbol of the grammar.
        """
        symbol = self._symbol(label)
        return np.asarray(self.nodes[symbol] / self.repeats[symbol])

    def counts(self, label: str) -> Doubles:
        """((N, N)): how often a node with the label is expected. RAISES (ValueError): as `spans`."""
        return np.asarray(self.nodes[self._symbol(label)])

    def terminals(self) -> Doubles:
        """((N, V)): the probability of each terminal at each unit."""
        return np.diagonal(self.nodes[: self.grammar.n_terminals], axis1=1, axis2=2).T

    def _symbol(self, label: str) -> int:
        known = self.grammar.symbols[: self.grammar.first_marker]
        if label not in known:
            expected = f"a symbol of the grammar: {', '.join(known)}"
            raise CRFError(CoreErrors.CRF950.format(setting="label", value=repr(label), expected=expected))
        return known.index(label)


def marginals(grammar: BinaryGrammar, scores: ParseScores) -> Marginals:
    """Sum over all trees. O(N^3 Q) exponentials, O(N^2 (S + Q)) memory.

    RAISES (NoParseError): if there is no tree. RAISES (ValueError): for scores that do not belong to the grammar.
    RAISES (DivergedLoopError): for unary rules that lead in a circle with a spectral radius of 1 or more.
    """
    semiring = LogSum(grammar)
    chart = fill(grammar, scores, semiring, keep_joined=True)
    around = _OutsidePass(grammar, chart, semiring).run()
    log_z, n = chart.root(grammar), chart.n_units
    # cells of by_start are [first, length]: those of [first, last] are taken from the place last - first + 1
    first = np.arange(n)[:, None]
    lengths = np.maximum(np.arange(n) - first + 1, 0)
    nodes = np.exp(chart.by_start + around - log_z)[:, first, lengths]
    repeats = _repeats(grammar, chart, semiring)[:, first, lengths]
    return Marginals(grammar, log_z, nodes, repeats, _expected_rules(grammar, chart, around, log_z))


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
    """One pass over the lengths: log sums of all that can be around labelled spans.

    by_start ((Q, N, N + 1)), by_end ((Q, N + 1, N + 1)): for each right side of binary rules the log sum of what is
        around a node with this right side, its rule included.
    """

    def __init__(self, grammar: BinaryGrammar, chart: Chart, semiring: LogSum):
        self._grammar, self._chart, self._semiring = grammar, chart, semiring
        n_pairs, n = len(grammar.pairs), chart.n_units
        self._by_start = np.full((n_pairs, n, n + 1), -np.inf)
        self._by_end = np.full((n_pairs, n + 1, n + 1), -np.inf)
        self._sides = [_Grouped.by(grammar.pairs[:, side]) for side in (0, 1)]
        self._rules_of_pair = _Grouped.by(grammar.pair_of)
        self._entering_by_child = [_Grouped.by(block.entering.children[:, 0]) for block in grammar.blocks]

    def run(self) -> Doubles:
        """((S, N, N + 1)): [symbol, first unit, length]. O(N^3 Q) exponentials.

        With the value of the inside chart in the same cell it is the log sum over trees, each as often as it has the
        node.
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

        around ((Q, n, m)): of right sides. sibling ((S, n, m)): inside values of the other part. symbols ((Q,)): of it.
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
