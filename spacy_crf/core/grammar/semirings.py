"""The two semirings of charts: the best tree, and the sum over all trees, with what loops of unary rules add up to."""

from functools import cached_property

import numpy as np

from ..arrays import Doubles, Indices
from ..errors import CoreErrors, CRFError
from .binary import BinaryGrammar

TOLERANCE = 1e-9  # a loop that gains less is taken to gain nothing: rounding may bring as much
MARGIN = 1e-9  # a spectral radius this near to 1 cannot be told from 1


class DivergedLoopError(CRFError):
    """Raised where unary rules that lead back to a symbol make its value infinite."""


def _diverged(grammar: BinaryGrammar, block: int, quantity: str, consequence: str) -> DivergedLoopError:
    names = ", ".join(grammar.symbols[symbol] for symbol in grammar.blocks[block].symbols)
    return DivergedLoopError(CoreErrors.CRF948.format(symbols=names, quantity=quantity, consequence=consequence))


class Maximum:
    """The semiring of best values.

    Trompper's text (2016, "CYK Algorithm") applies unary rules while they bring "at least as much", which would go
    round in loops of weight 1 for ever: strictly more is meant.
    """

    def __init__(self, grammar: BinaryGrammar):
        self._grammar = grammar

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
                raise _diverged(self._grammar, block, "a weight above 1", "no tree is the best")
            values[parents] = np.maximum(values[parents], made)


class LogSum:
    """The semiring of log sums: the inside algorithm.

    Lari & Young, "The estimation of stochastic context-free grammars using the inside-outside algorithm", Computer
    Speech and Language 4, 1990; here with unary rules, loops of them, and scores of spans, all in log space.
    """

    def __init__(self, grammar: BinaryGrammar):
        self._grammar = grammar

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
        Linguistics 21, 1995, section 4.5). A way has the score of each node on it but the last.

        block (int): its number. own ((S, n) | None): scores of the spans as nodes; without any, ways are equal for all.
        RAISES (DivergedLoopError): where the sum is infinite.
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
            raise _diverged(self._grammar, number, quantity, "the sum over trees is infinite")
        star = np.linalg.inv(np.eye(len(symbols)) - steps)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(star, 0.0)))
