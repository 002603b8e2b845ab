"""The best tree of a document: a chart of maxima, and the tree read back from it.

Trompper 2016, "CYK Algorithm", with unary rules that are applied while they bring strictly more. The "at least as much"
of the text would go round in loops of weight 1 for ever.
"""

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors
from .binary import BinaryGrammar
from .chart import Chart, DivergedLoopError, fill, unary_values
from .forest import Forest, Parse
from .scores import ParseScores

TOLERANCE = 1e-9  # a loop that gains less is taken to gain nothing: rounding may bring as much


class Maximum:
    """The semiring of best values."""

    def __init__(self, grammar: BinaryGrammar):
        self._grammar = grammar

    def over_last(self, values: Doubles) -> Doubles:
        best: Doubles = values.max(axis=-1)
        return best

    def by_parent(self, values: Doubles, firsts: Indices) -> Doubles:
        return np.maximum.reduceat(values, firsts, axis=0)

    def both(self, first: Doubles, second: Doubles) -> Doubles:
        return np.maximum(first, second)

    def close(self, values: Doubles, block: int, own: Doubles | None) -> None:
        """As many rounds as the longest way without a loop needs; what improves after them is in a loop that gains."""
        symbols, inner = self._grammar.blocks[block].symbols, self._grammar.block_rules[block][1]
        parents = inner.parents[inner.firsts]
        for left in reversed(range(len(symbols))):
            made = self.by_parent(unary_values(inner, values, own), inner.firsts)
            better = made > values[parents]
            if left == 0:  # a round too many
                better &= made - TOLERANCE * (1 + np.abs(made)) > values[parents]
            if not better.any():
                return
            if left == 0:
                names = ", ".join(self._grammar.symbols[symbol] for symbol in symbols)
                quantity, consequence = "a weight above 1", "no tree is the best"
                message = CoreErrors.CRF948.format(symbols=names, quantity=quantity, consequence=consequence)
                raise DivergedLoopError(message)
            values[parents] = np.maximum(values[parents], made)


def best_chart(grammar: BinaryGrammar, scores: ParseScores) -> Chart:
    """The score of the best tree for each symbol over each span. O(N^3 Q) time, O(N^2 S) memory.

    grammar (BinaryGrammar), scores (ParseScores): of the document.
    RAISES (ValueError): for scores that do not belong to the grammar.
    RAISES (DivergedLoopError): for unary rules that lead back to a symbol with a weight above 1.
    """
    return fill(grammar, scores, Maximum(grammar))


def viterbi(grammar: BinaryGrammar, scores: ParseScores) -> Parse:
    """The best tree of a document. O(N^3 Q) time, O(N^2 S) memory.

    Where ways to make a node have equal scores, rules of two or more symbols come before unary ones, each in the order
    of the grammar, then the earlier split. For documents of up to some hundred units.

    grammar (BinaryGrammar), scores (ParseScores): of the document.
    RETURNS (Parse): the tree and its log score.
    RAISES (NoParseError): if there is no tree; always so for a document without units.
    RAISES (ValueError), RAISES (DivergedLoopError): as `best_chart`.
    """
    return Forest(grammar, scores, best_chart(grammar, scores), 1).parses()[0]
