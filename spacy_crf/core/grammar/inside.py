"""Sums over all trees of each labelled span: the inside algorithm.

Lari & Young, "The estimation of stochastic context-free grammars using the inside-outside algorithm", Computer Speech
and Language 4, 1990; here with unary rules, loops of them, and scores of spans, all in log space.
"""

from functools import cached_property

import numpy as np

from ..arrays import Doubles, Indices
from . import logsum
from .binary import BinaryGrammar
from .chart import Chart, fill, require_parse
from .loops import log_star
from .scores import ParseScores


class LogSum:
    """The semiring of log sums."""

    def __init__(self, grammar: BinaryGrammar):
        self._grammar = grammar

    def over_last(self, values: Doubles) -> Doubles:
        return logsum.over_last(values)

    def by_parent(self, values: Doubles, firsts: Indices) -> Doubles:
        return logsum.over_runs(values, firsts)

    def both(self, first: Doubles, second: Doubles) -> Doubles:
        return np.logaddexp(first, second)

    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        symbols = self._grammar.blocks[block].symbols
        values[symbols] = logsum.over_last(self.star(block, own).transpose(1, 0, 2) + values[symbols].T)

    def star(self, block: int, own: Doubles | None) -> Doubles:
        """((n, s, s) or (1, s, s)): see `log_star`."""
        return self._constant_stars[block] if own is None else log_star(self._grammar, block, own)

    @cached_property
    def _constant_stars(self) -> dict[int, Doubles]:
        """The stars of cyclic blocks where nodes have no scores of their own."""
        cyclic = [number for number, block in enumerate(self._grammar.blocks) if block.is_cyclic]
        return {number: log_star(self._grammar, number, None) for number in cyclic}


def inside(grammar: BinaryGrammar, scores: ParseScores) -> Chart:
    """The log sum over all trees of each symbol over each span; `Chart.root` is log Z. O(N^3 Q) exponentials.

    grammar (BinaryGrammar), scores (ParseScores): of the document.
    RETURNS (Chart): with sums of splits, O(N^2 (S + Q)) memory.
    RAISES (NoParseError): if there is no tree.
    RAISES (DivergedLoopError): for unary rules that lead in a circle with a spectral radius of 1 or more.
    RAISES (ValueError): for scores that do not belong to the grammar.
    """
    chart = fill(grammar, scores, LogSum(grammar), keep_joined=True)
    require_parse(grammar, scores, chart)
    return chart
