"""The chart of a document: values of all symbols over all spans, shortest first, in a semiring of choice.

Cocke, Kasami and Younger's algorithm with unary rules. All spans of a length, all splits and many rules are one call of
numpy; the loop is over lengths only. O(N^3 Q) for Q right sides of binary rules, O(N^2 S) memory.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors
from .binary import BinaryGrammar, Rules
from .scores import ParseScores, SpanTable, span_table

CELLS = 1 << 16  # of a work array: it stays in the cache


class NoParseError(ValueError):
    """Raised for a document that the grammar has no tree for."""


class DivergedLoopError(ValueError):
    """Raised where unary rules that lead back to a symbol make its value infinite."""


class Semiring(Protocol):
    """How values of alternatives become one: their maximum, or the logarithm of their sum."""

    def over_last(self, values: Doubles) -> Doubles:
        """((.., m)) to ((..)): over the last axis. The argument may be overwritten."""

    def by_parent(self, values: Doubles, firsts: Indices) -> Doubles:
        """((r, n)) to ((p, n)): over runs of rows, each from one index of `firsts` up to the next."""

    def both(self, first: Doubles, second: Doubles) -> Doubles:
        """Of two arrays, cell by cell."""

    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        """Let the inner rules of a cyclic block work on values ((S, n)), in place.

        block (int): which. own ((S, n) | None): scores of the spans as nodes.
        RAISES (DivergedLoopError): where that has no end.
        """


@dataclass(frozen=True)
class Chart:
    """Values of S symbols over all spans of N units; -inf for what is none.

    by_start ((S, N, N + 1)): [symbol, first unit, length]. by_end ((S, N + 1, N + 1)): [symbol, end, length]; the same
        values, so that the splits of a span are slices of both.
    longest ((S,)): of the spans over which each symbol has a value, 0 for none. spans (SpanTable): scores that went in.
    joined ((Q, N, N + 1)): values of right sides of binary rules, over all splits; without cells where none was kept.
    """

    by_start: Doubles
    by_end: Doubles
    longest: Indices
    spans: SpanTable
    joined: Doubles

    @property
    def n_units(self) -> int:
        return int(self.by_start.shape[1])

    def put(self, length: int, values: Doubles) -> None:
        """Write the values ((S, n)) of all spans of a length."""
        self.by_start[:, : values.shape[1], length] = values
        self.by_end[:, length:, length] = values
        self.longest[(values > -np.inf).any(axis=1)] = length

    def root(self, grammar: BinaryGrammar) -> float:
        """The value of the start symbol over the whole document; -inf if there are no units."""
        return float(self.by_start[grammar.start, 0, -1]) if self.n_units else -np.inf


def _empty(n_symbols: int, n_units: int, n_pairs: int, spans: SpanTable) -> Chart:
    """A chart of -inf."""
    by_start = np.full((n_symbols, n_units, n_units + 1), -np.inf)
    by_end = np.full((n_symbols, n_units + 1, n_units + 1), -np.inf)
    joined = np.full((n_pairs, n_units, n_units + 1), -np.inf)
    return Chart(by_start, by_end, np.zeros(n_symbols, dtype=np.intp), spans, joined)


def fill(grammar: BinaryGrammar, scores: ParseScores, semiring: Semiring, keep_joined: bool = False) -> Chart:
    """Compute the values of all labelled spans.

    keep_joined (bool): whether to keep those of right sides.
    RAISES (ValueError): for scores that do not belong to the grammar.
    RAISES (DivergedLoopError): for unary rules whose loops have no finite value.
    """
    n_pairs = len(grammar.pairs) if keep_joined else 0
    chart = _empty(grammar.n_symbols, scores.n_units, n_pairs, span_table(grammar, scores))
    for length in range(1, scores.n_units + 1):
        values = np.full((grammar.n_symbols, scores.n_units - length + 1), -np.inf)
        if length == 1:
            values[: grammar.n_terminals] = scores.terminals.T
        elif len(grammar.pairs):
            _join(grammar, chart, length, values, semiring)
        own = chart.spans.of_length(length, grammar.n_symbols)
        if own is not None:
            values += own
        apply_unary(grammar, values, own, semiring)
        chart.put(length, values)
    return chart


def _join(grammar: BinaryGrammar, chart: Chart, length: int, values: Doubles, semiring: Semiring) -> None:
    """Apply the binary rules to all spans of a length."""
    n_spans = values.shape[1]
    joined = np.full((len(grammar.pairs), n_spans), -np.inf)
    lefts, rights = chart.longest[grammar.pairs].T
    pairs = np.flatnonzero((lefts > 0) & (rights > 0) & (lefts + rights >= length))
    size = max(1, CELLS // (n_spans * (length - 1)))
    for low in range(0, len(pairs), size):
        chosen = pairs[low : low + size]
        # lengths of the left part for which both parts can be there
        least, most = max(1, length - int(rights[chosen].max())), min(length - 1, int(lefts[chosen].max()))
        left, right = grammar.pairs[chosen].T
        work = some(chart.by_start[:, :n_spans, least : most + 1], left)
        work = work + some(chart.by_end[:, length:, length - least : length - most - 1 : -1], right)
        joined[chosen] = semiring.over_last(work)
    if len(chart.joined):
        chart.joined[:, :n_spans, length] = joined
    rules = grammar.binary
    weighted = joined[grammar.pair_of] + rules.log_weights[:, None]
    values[rules.parents[rules.firsts]] = semiring.by_parent(weighted, rules.firsts)


def some(values: Doubles, symbols: Indices) -> Doubles:
    """Rows of some symbols; a view if there is only one, as long rows are dear to copy."""
    return values[symbols[0] : symbols[0] + 1] if len(symbols) == 1 else values[symbols]


def apply_unary(grammar: BinaryGrammar, values: Doubles, own: Doubles | None, semiring: Semiring) -> None:
    """Apply the unary rules to the values ((S, n)) of some spans, in place.

    own ((S, n) | None): scores of the spans as nodes, which are in the values already.
    """
    for number, (entering, _) in enumerate(grammar.block_rules):
        if len(entering.parents):
            parents = entering.parents[entering.firsts]
            above = semiring.by_parent(unary_values(entering, values, own), entering.firsts)
            values[parents] = semiring.both(values[parents], above)
        if grammar.blocks[number].is_cyclic:
            semiring.close(values, number, own)


def unary_values(rules: Rules, values: Doubles, own: Doubles | None) -> Doubles:
    """((r, n)): what unary rules make of the values of their children."""
    made = values[rules.children[:, 0]] + rules.log_weights[:, None]
    return made if own is None else made + own[rules.parents]


def require_parse(grammar: BinaryGrammar, scores: ParseScores, chart: Chart) -> None:
    """Raise a coded error that says why a document has no tree, if it has none.

    RAISES (NoParseError): in that case.
    """
    if chart.root(grammar) > -np.inf:
        return
    mute = np.flatnonzero(~np.isfinite(scores.terminals).any(axis=1))
    if not scores.n_units:
        reason = "it has no units, and right sides are never empty"
    elif len(mute):
        reason = f"its unit {mute[0]} can be no terminal"
    else:
        best = [grammar.symbols[column] for column in scores.terminals[:12].argmax(axis=1)]
        reason = f"no rules lead to its units, which begin {' '.join(best)}"
    raise NoParseError(CoreErrors.CRF947.format(name=scores.name, start=grammar.grammar.start, reason=reason))
