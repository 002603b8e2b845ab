"""How probable labelled spans and rules are, over all trees of a document."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles
from ..errors import CoreErrors, CRFError
from .binary import MARKER, BinaryGrammar
from .chart import Chart
from .inside import LogSum, inside
from .outside import above, outside
from .scores import ParseScores


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
        known = self.grammar.symbols[: self.grammar.first_marker]
        if label not in known:
            expected = f"a symbol of the grammar: {', '.join(known)}"
            raise CRFError(CoreErrors.CRF950.format(setting="label", value=repr(label), expected=expected))
        symbol = known.index(label)
        return np.asarray(self.nodes[symbol] / self.repeats[symbol])

    def terminals(self) -> Doubles:
        """((N, V)): the probability of each terminal at each unit."""
        return np.diagonal(self.nodes[: self.grammar.n_terminals], axis1=1, axis2=2).T


def marginals(grammar: BinaryGrammar, scores: ParseScores) -> Marginals:
    """Inside and outside, and what they say about nodes and rules. O(N^3 Q) exponentials.

    grammar (BinaryGrammar), scores (ParseScores): of the document.
    RAISES: as `inside`.
    """
    chart = inside(grammar, scores)
    around = outside(grammar, chart)
    log_z = chart.root(grammar)
    n = chart.n_units
    # cells of by_start are [first, length]: those of [first, last] are taken from the place last - first + 1
    first = np.arange(n)[:, None]
    lengths = np.maximum(np.arange(n) - first + 1, 0)
    nodes = np.exp(chart.by_start + around - log_z)[:, first, lengths]
    repeats = _repeats(grammar, chart)[:, first, lengths]
    return Marginals(grammar, log_z, nodes, repeats, _expected_rules(grammar, chart, around, log_z))


def _repeats(grammar: BinaryGrammar, chart: Chart) -> Doubles:
    """((S, N, N + 1)): [symbol, first unit, length], the sum over all ways from a node back to itself; 1 for none."""
    repeats = np.ones_like(chart.by_start)
    semiring = LogSum(grammar)
    for number, block in enumerate(grammar.blocks):
        for length in range(1, chart.n_units + 1) if block.is_cyclic else ():
            star = semiring.star(number, chart.spans.of_length(length, grammar.n_symbols))
            back = np.exp(np.diagonal(star, axis1=1, axis2=2)).T
            repeats[block.symbols, : chart.n_units - length + 1, length] = back
    return repeats


def _expected_rules(grammar: BinaryGrammar, chart: Chart, around: Doubles, log_z: float) -> Doubles:
    """((R,)): expected counts; rules of markers are part of those that they were cut from."""
    counts = np.zeros(len(grammar.grammar.rules))
    for length in range(1, chart.n_units + 1):
        n_spans = chart.n_units - length + 1
        values = around[:, :n_spans, length] - log_z
        own = chart.spans.of_length(length, grammar.n_symbols)
        below = chart.joined[grammar.pair_of, :n_spans, length]
        unary_below = chart.by_start[grammar.unary.children[:, 0], :n_spans, length]
        for rules, inner in ((grammar.binary, below), (grammar.unary, unary_below)):
            whole = rules.sources != MARKER
            made = np.exp(above(rules, values, own) + inner).sum(axis=1)
            np.add.at(counts, rules.sources[whole], made[whole])
    return counts
