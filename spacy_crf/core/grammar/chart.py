"""The chart of a document: values of all symbols over all spans, shortest first, in a semiring of choice.

Cocke, Kasami and Younger's algorithm with unary rules. All spans of a length, all splits and many rules are one call of
numpy; the loop is over lengths only. O(N^3 Q) for Q right sides of binary rules, O(N^2 S) memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Indices, check_shape
from ..errors import CoreErrors, CRFError, require
from .rules import BinaryGrammar

CELLS = 1 << 16  # of a work array: it stays in the cache
MOST_CELLS = 1 << 28  # of a chart, each of eight bytes
MOST_JOINS = 2 * 10**10  # of two parts to a right side, over all spans and splits
MOST_ROUNDS = 10**6  # of blocks of unary rules over all lengths


class NoParseError(CRFError):
    """Raised for a document that the grammar has no tree for."""


class DivergedLoopError(CRFError):
    """Raised where unary rules that lead back to a symbol make its value infinite."""


@dataclass(frozen=True)
class ParseScores:
    """Log scores of one document of N units. A tree scores the sum of its log rule weights and of these.

    terminals ((N, V)): for each unit to be each terminal of the grammar; -inf for what it cannot be. Log probabilities
        of a tagger make parsing and labelling one decision.
    spans (mapping of str to (N, N)): for some nonterminals the score of every node with that label, as
        [first unit, last unit]; -inf forbids one. Cells below the diagonal are not looked at.
    name (str): of the document, for messages.
    RAISES (ValueError): for other shapes, or for NaN or +inf.
    """

    terminals: Doubles
    spans: Mapping[str, Doubles] = field(default_factory=dict)
    name: str = "The document"

    def __post_init__(self) -> None:
        if self.terminals.ndim != 2:
            raise CRFError(CoreErrors.CRF101.format(name="terminals", expected="(N, V)", actual=self.terminals.shape))
        square = (self.n_units, self.n_units)
        for label, matrix in self.spans.items():
            check_shape(f"spans[{label!r}]", matrix, square)
        for label, matrix in {"terminals": self.terminals, **self.spans}.items():
            if not bool((matrix < np.inf).all()):  # NaN compares false
                raise CRFError(CoreErrors.CRF102.format(name=f"scores of {label!r}"))

    @property
    def n_units(self) -> int:
        return len(self.terminals)


class SpanTable:
    """Scores ((s, N, N)) of spans, [first, last unit], by the numbers of symbols, checked to belong to a grammar."""

    def __init__(self, grammar: BinaryGrammar, scores: ParseScores):
        check_shape("terminals", scores.terminals, (scores.n_units, grammar.n_terminals))
        names = grammar.symbols[grammar.n_terminals : grammar.first_marker]
        for label in scores.spans:
            expected = f"a nonterminal of the grammar: {', '.join(names)}"
            require(CoreErrors.CRF950, "spans", repr(label), label in names, expected)
        self.n_symbols = grammar.n_symbols
        self.symbols = np.array([grammar.n_terminals + names.index(label) for label in scores.spans], dtype=np.intp)
        matrices = np.array(list(scores.spans.values()), dtype=float)
        self.matrices = matrices.reshape(len(self.symbols), scores.n_units, scores.n_units)

    def of_length(self, length: int) -> Doubles | None:
        """((S, n)): scores of the n spans of a length; None if no symbol has any."""
        if not len(self.symbols):
            return None
        spans = np.diagonal(self.matrices, length - 1, axis1=1, axis2=2)
        table = np.zeros((self.n_symbols, spans.shape[1]))
        table[self.symbols] = spans
        return table

    def at(self, symbol: int, start: int, end: int) -> float:
        """The score of one labelled span, end exclusive."""
        place = np.flatnonzero(self.symbols == symbol)
        return float(self.matrices[place[0], start, end - 1]) if len(place) else 0.0


class Semiring(ABC):
    """Makes one value of those of alternatives: their maximum, or the logarithm of their sum."""

    def __init__(self, grammar: BinaryGrammar):
        self._grammar = grammar

    @abstractmethod
    def over_last(self, values: Doubles) -> Doubles:
        """((.., m)) to ((..)): over the last axis. The argument may be overwritten."""

    @abstractmethod
    def over_runs(self, values: Doubles, firsts: Indices) -> Doubles:
        """((r, n)) to ((p, n)): over runs of rows, each from one index of `firsts` up to the next."""

    @abstractmethod
    def both(self, first: Doubles, second: Doubles) -> Doubles:
        """Of two arrays, cell by cell."""

    @abstractmethod
    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        """Let the inner rules of a cyclic block work on values ((S, n)), in place; or raise DivergedLoopError."""

    def diverged(self, block: int, quantity: str, consequence: str) -> DivergedLoopError:
        names = ", ".join(self._grammar.symbols[symbol] for symbol in self._grammar.blocks[block].symbols)
        return DivergedLoopError(CoreErrors.CRF948.format(symbols=names, quantity=quantity, consequence=consequence))


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

    @classmethod
    def empty(cls, n_symbols: int, n_units: int, n_pairs: int, spans: SpanTable) -> "Chart":
        """A chart of -inf."""
        shapes = (n_symbols, n_units), (n_symbols, n_units + 1), (n_pairs, n_units)
        by_start, by_end, joined = (np.full((*shape, n_units + 1), -np.inf) for shape in shapes)
        return cls(by_start, by_end, np.zeros(n_symbols, dtype=np.intp), spans, joined)

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


def fill(grammar: BinaryGrammar, scores: ParseScores, semiring: Semiring, keep_joined: bool = False) -> Chart:
    """Compute the values of all labelled spans; those of right sides are kept on request.

    RAISES (NoParseError): if there is no tree. RAISES (ValueError): for scores that do not belong to the grammar, and
    for a grammar that is too large for so long a document.
    RAISES (DivergedLoopError): for unary rules whose loops have no finite value.
    """
    _check_size(grammar, scores)
    n_pairs = len(grammar.pairs) if keep_joined else 0
    chart = Chart.empty(grammar.n_symbols, scores.n_units, n_pairs, SpanTable(grammar, scores))
    for length in range(1, scores.n_units + 1):
        values = np.full((grammar.n_symbols, scores.n_units - length + 1), -np.inf)
        if length == 1:
            values[: grammar.n_terminals] = scores.terminals.T
        elif len(grammar.pairs):
            _join(grammar, chart, length, values, semiring)
        own = chart.spans.of_length(length)
        if own is not None:
            values += own
        for number, block in enumerate(grammar.blocks):
            entering = block.entering
            if len(entering.parents):
                parents = entering.parents[entering.firsts]
                above = semiring.over_runs(entering.upwards(values, own), entering.firsts)
                values[parents] = semiring.both(values[parents], above)
            if block.is_cyclic:
                semiring.close(values, number, own)
        chart.put(length, values)
    if chart.root(grammar) == -np.inf:
        raise NoParseError(_why_none(grammar, scores))
    return chart


def _check_size(grammar: BinaryGrammar, scores: ParseScores) -> None:
    """Refuse what would take gigabytes of memory, or hours."""
    n_units = scores.n_units
    cells = (2 * grammar.n_symbols + len(grammar.pairs)) * n_units * (n_units + 1)
    joins, rounds = len(grammar.pairs) * n_units**3 // 6, len(grammar.blocks) * n_units
    if cells > MOST_CELLS or joins > MOST_JOINS or rounds > MOST_ROUNDS:
        found = {"symbols": grammar.n_symbols, "rules": grammar.n_rules, "units": n_units}
        raise CRFError(CoreErrors.CRF940.format(name=scores.name, **found))


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
    values[rules.parents[rules.firsts]] = semiring.over_runs(weighted, rules.firsts)


def some(values: Doubles, symbols: Indices) -> Doubles:
    """Rows of some symbols; a view if there is only one, as long rows are dear to copy."""
    return values[symbols[0] : symbols[0] + 1] if len(symbols) == 1 else values[symbols]


def _why_none(grammar: BinaryGrammar, scores: ParseScores) -> str:
    """The message for a document without a tree."""
    mute = np.flatnonzero(~np.isfinite(scores.terminals).any(axis=1))
    if not scores.n_units:
        reason = "it has no units, and right sides are never empty"
    elif len(mute):
        reason = f"its unit {mute[0]} can be no terminal"
    else:
        best = [grammar.symbols[column] for column in scores.terminals[:12].argmax(axis=1)]
        reason = f"no rules lead to its units, which begin {' '.join(best)}"
    return CoreErrors.CRF947.format(name=scores.name, start=grammar.symbols[grammar.start], reason=reason)
