"""Symbols in the order in which unary rules have to be applied, those that lead back to themselves together."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Indices


@dataclass(frozen=True)
class Block:
    """Symbols whose values over a span can be made final at once.

    symbols ((s,)): of the block; a cyclic one is a strongly connected component of the unary rules.
    entering ((u,)): unary rules whose parents are in the block and whose children are in blocks before it.
    inner ((v,)): unary rules between symbols of a cyclic block; none in others.
    """

    symbols: Indices
    entering: Indices
    inner: Indices

    @property
    def is_cyclic(self) -> bool:
        return len(self.inner) > 0


def find_blocks(n_symbols: int, parents: Indices, children: Indices) -> tuple[Block, ...]:
    """Order the symbols for unary rules. O(S^2 D) for chains of D rules.

    n_symbols (int): S. parents ((r,)), children ((r,)): of the unary rules.
    RETURNS (tuple of Block): each symbol that has a unary rule is in one block, after the blocks of its children. What
        is on no cycle shares a block with the others whose longest chain of rules has the same length.
    """
    reach = _reachable(n_symbols, parents, children)
    mutual = reach & reach.T
    component = np.where(mutual.any(axis=1), mutual.argmax(axis=1), np.arange(n_symbols))
    cyclic: Bools = np.asarray(mutual.any(axis=1))
    depth = _depths(component, reach, parents, children)
    blocks = []
    for level in np.unique(depth[parents]):
        here = np.unique(parents[depth[parents] == level])
        groups = [
            here[~cyclic[here]],
            *(here[component[here] == each] for each in np.unique(component[here[cyclic[here]]])),
        ]
        for symbols in groups:
            own = np.flatnonzero(np.isin(parents, symbols))
            inside = component[parents[own]] == component[children[own]]
            if len(symbols):
                blocks.append(Block(symbols, own[~inside], own[inside]))
    return tuple(blocks)


def _reachable(n_symbols: int, parents: Indices, children: Indices) -> Bools:
    """((S, S)): whether one or more unary rules lead from a symbol to another."""
    reach = np.zeros((n_symbols, n_symbols), dtype=np.bool_)
    reach[parents, children] = True
    for middle in np.unique(parents):
        reach |= reach[:, [middle]] & reach[[middle]]
    return reach


def _depths(component: Indices, reach: Bools, parents: Indices, children: Indices) -> Indices:
    """((S,)): for each symbol the longest chain of rules below its component; rules within a component do not count."""
    depth = np.zeros(len(component), dtype=np.intp)
    between = component[parents] != component[children]
    # what reaches fewer components comes first, so that children are final before their parents ask
    beyond = np.count_nonzero(reach & ~reach.T, axis=1)
    order = np.argsort(beyond[parents[between]], kind="stable")
    for rule in np.flatnonzero(between)[order]:
        members = component == component[parents[rule]]
        depth[members] = np.maximum(depth[members], depth[children[rule]] + 1)
    return depth
