"""Sums over everything around a labelled span: the outside algorithm, longest spans first."""

from typing import NamedTuple

import numpy as np

from ..arrays import Doubles, Indices
from . import logsum
from .binary import BinaryGrammar, Rules
from .chart import CELLS, Chart, some
from .inside import LogSum


class _Grouped(NamedTuple):
    """Rows brought together by a key. order ((r,)): that does it. keys ((g,)), firsts ((g,)): and where each begins."""

    order: Indices
    firsts: Indices
    keys: Indices


def _group(keys: Indices) -> _Grouped:
    order = np.argsort(keys, kind="stable")
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return _Grouped(order, firsts, keys[order][firsts])


def outside(grammar: BinaryGrammar, chart: Chart) -> Doubles:
    """What surrounds the labelled spans of a document. O(N^3 Q) exponentials, O(N^2 (S + Q)) memory.

    grammar (BinaryGrammar), chart (Chart): of `inside`.
    RETURNS ((S, N, N + 1)): [symbol, first unit, length], log sums over all that can be around a node. With the value
        of the inside chart in the same cell it is the log sum over trees, each as often as it has the node.
    """
    return _OutsidePass(grammar, chart).run()


class _OutsidePass:
    """One pass over the lengths.

    by_start ((Q, N, N + 1)), by_end ((Q, N + 1, N + 1)): for each right side of binary rules the log sum of what is
        around a node with this right side, its rule included.
    """

    def __init__(self, grammar: BinaryGrammar, chart: Chart):
        self._grammar, self._chart, self._semiring = grammar, chart, LogSum(grammar)
        n_pairs, n = len(grammar.pairs), chart.n_units
        self._by_start = np.full((n_pairs, n, n + 1), -np.inf)
        self._by_end = np.full((n_pairs, n + 1, n + 1), -np.inf)
        self._lefts, self._rights = (_group(grammar.pairs[:, side]) for side in (0, 1))
        self._rules_of_pair = _group(grammar.pair_of)
        self._entering_by_child = [_group(entering.children[:, 0]) for entering, _ in grammar.block_rules]

    def run(self) -> Doubles:
        grammar, n = self._grammar, self._chart.n_units
        found = np.full((grammar.n_symbols, n, n + 1), -np.inf)
        for length in range(n, 0, -1):
            values = np.full((grammar.n_symbols, n - length + 1), -np.inf)
            if length == n:
                values[grammar.start] = 0.0
            elif len(grammar.pairs):
                self._gather(length, values)
            own = self._chart.spans.of_length(length, grammar.n_symbols)
            self._descend(values, own)
            found[:, : values.shape[1], length] = values
            if length > 1 and len(grammar.pairs):
                self._spread(length, values, own)
        return found

    def _gather(self, length: int, values: Doubles) -> None:
        """Take up what is around longer spans of which spans of a length are the left or the right part."""
        n, chart = self._chart.n_units, self._chart
        for side, grouped in enumerate((self._lefts, self._rights)):
            if side == 0:
                around, sibling = self._by_start[:, : n - length, length + 1 :], chart.by_start[:, length:, 1:]
            else:
                around, sibling = self._by_end[:, length + 1 :, length + 1 :], chart.by_end[:, 1 : n - length + 1, 1:]
            sums = self._sums(around, sibling[:, :, : n - length], self._grammar.pairs[:, 1 - side])
            spans = slice(0, n - length) if side == 0 else slice(1, n - length + 1)
            made = logsum.over_runs(sums[grouped.order], grouped.firsts)
            values[grouped.keys, spans] = np.logaddexp(values[grouped.keys, spans], made)

    def _sums(self, around: Doubles, sibling: Doubles, symbols: Indices) -> Doubles:
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
            sums[chosen] = logsum.over_last(work)
        return sums

    def _descend(self, values: Doubles, own: Doubles | None) -> None:
        """Apply the unary rules from parents to children, in place."""
        grammar = self._grammar
        for number in reversed(range(len(grammar.blocks))):
            if grammar.blocks[number].is_cyclic:
                symbols = grammar.blocks[number].symbols
                star = self._semiring.star(number, own).transpose(2, 0, 1)
                values[symbols] = logsum.over_last(star + values[symbols].T)
            entering, grouped = grammar.block_rules[number][0], self._entering_by_child[number]
            if len(entering.parents):
                made = logsum.over_runs(above(entering, values, own)[grouped.order], grouped.firsts)
                values[grouped.keys] = np.logaddexp(values[grouped.keys], made)

    def _spread(self, length: int, values: Doubles, own: Doubles | None) -> None:
        """Hand what is around spans of a length on to right sides."""
        grouped = self._rules_of_pair
        made = logsum.over_runs(above(self._grammar.binary, values, own)[grouped.order], grouped.firsts)
        self._by_start[grouped.keys, : made.shape[1], length] = made
        self._by_end[grouped.keys, length:, length] = made


def above(rules: Rules, values: Doubles, own: Doubles | None) -> Doubles:
    """((r, n)): what is around a node and, of its own, the rule and the score of its span."""
    made = values[rules.parents] + rules.log_weights[:, None]
    return made if own is None else made + own[rules.parents]
