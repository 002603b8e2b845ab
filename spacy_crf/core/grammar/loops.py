"""What unary rules that lead in a circle add up to: the star of their matrix.

With the weights U of the rules between the symbols of a block, trees without them have the values b, and all trees
(I - U)^-1 b = (I + U + U^2 + ..) b, which is finite if and only if the spectral radius of U is below 1 (Stolcke,
"An efficient probabilistic context-free parsing algorithm", Computational Linguistics 21, 1995, section 4.5).
"""

import numpy as np

from ..arrays import Doubles
from ..errors import CoreErrors
from .binary import BinaryGrammar
from .chart import DivergedLoopError

MARGIN = 1e-9  # a radius this near to 1 cannot be told from 1


def log_star(grammar: BinaryGrammar, number: int, own: Doubles | None) -> Doubles:
    """((n, s, s)): for each of n spans the log weight of all ways from a symbol of a cyclic block down to another.

    number (int): of the block, with s symbols. own ((S, n) | None): scores of the spans as nodes; without them the ways
        are the same everywhere, and n is 1. A way has the score of each node on it but the last.
    RAISES (DivergedLoopError): where the sum is infinite.
    """
    block, (_, inner) = grammar.blocks[number], grammar.block_rules[number]
    symbols = block.symbols
    size = len(symbols)
    weights = inner.log_weights[:, None] if own is None else inner.log_weights[:, None] + own[inner.parents]
    above, below = (np.searchsorted(symbols, each) for each in (inner.parents, inner.children[:, 0]))
    steps = np.zeros((weights.shape[1], size, size))
    with np.errstate(over="ignore"):
        steps[:, above, below] = np.exp(weights).T
    radius = np.full(len(steps), np.inf)
    sound = np.isfinite(steps).all(axis=(1, 2))
    radius[sound] = np.abs(np.linalg.eigvals(steps[sound])).max(axis=1, initial=0.0)
    if (radius >= 1 - MARGIN).any():
        names = ", ".join(grammar.symbols[symbol] for symbol in symbols)
        quantity = f"a spectral radius of {radius.max():.4g}, not below 1"
        consequence = "the sum over trees is infinite"
        message = CoreErrors.CRF948.format(symbols=names, quantity=quantity, consequence=consequence)
        raise DivergedLoopError(message)
    star = np.linalg.inv(np.eye(size) - steps)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(star, 0.0)))
