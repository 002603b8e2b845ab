"""Log-linear pools of chains: several conditional random fields over the same labels as one.

The pool of p_1 .. p_K with exponents a_1 .. a_K is p(y | x), proportional to the product of p_k(y | x)^a_k (Smith, Cohn
& Osborne, "Logarithmic opinion pools for conditional random fields", ACL 2005). The product of linear chains is a
linear chain: its weights are the sums of a_k times theirs. So a pool costs no more to decode than one chain that has
all of their features, and its probabilities are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Floats, Indices, Ints
from .weights import Layout


@dataclass(frozen=True)
class Member:
    """One chain of a pool.

    layout (Layout), flat ((layout.size,)): its weights. exponent (float): how much it counts.
    features ((F,)), edge_features ((E,)): the pool's number of each of its features.
    """

    layout: Layout
    flat: Floats
    exponent: float
    features: Ints
    edge_features: Ints


def pool(members: Sequence[Member], n_features: int, n_edge_features: int) -> tuple[Layout, Floats]:
    """The chain that is the pool of some chains with the same labels. O(weights log weights).

    What one of them forbids has the probability 0 in the pool.

    n_features (int), n_edge_features (int): of the pool.
    RETURNS (tuple): its layout, and its weights in the order of this.
    """
    n = members[0].layout.n_labels
    square = n * n
    state = [(_renumbered(m.layout.state_cells, m.features, n), *_section(m, 0)) for m in members]
    transitions = [(m.layout.transition_cells, *_section(m, 1)) for m in members]
    edges = [(_renumbered(m.layout.edge_cells, m.edge_features, square), *_section(m, 2)) for m in members]
    (state_cells, *flat), (transition_cells, *own), (edge_cells, *edge) = map(_sum_cells, (state, transitions, edges))
    bounded = [m for m in members if m.layout.boundary]
    boundary = [np.sum([m.exponent * m.layout.split(m.flat)[k] for m in bounded], axis=0) for k in (3, 4) if bounded]
    layout = replace(
        members[0].layout,
        n_features=n_features,
        n_edge_features=n_edge_features,
        state_cells=state_cells,
        transition_cells=transition_cells,
        edge_cells=edge_cells,
        boundary=bool(bounded),
        allowed=np.logical_and.reduce([m.layout.allowed for m in members]),
        allowed_start=np.logical_and.reduce([m.layout.allowed_start for m in members]),
        allowed_end=np.logical_and.reduce([m.layout.allowed_end for m in members]),
    )
    return layout, np.concatenate([*flat, *own, *edge, *boundary]).astype(np.float32)


def _section(member: Member, number: int) -> tuple[Floats]:
    return (member.exponent * member.layout.split(member.flat)[number],)


def _renumbered(cells: Indices, numbers: Ints, width: int) -> Indices:
    """Cells `row * width + column` with other numbers for their rows."""
    row, column = np.divmod(cells, width)
    return numbers.astype(np.intp)[row] * width + column


def _sum_cells(parts: Sequence[tuple[Indices, Floats]]) -> tuple[Indices, Floats]:
    """Cells that any part has, ascending, and the sums of their weights."""
    cells, owners = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    sums: Floats = np.zeros(len(cells))
    np.add.at(sums, owners, np.concatenate([part[1] for part in parts]))
    return cells, sums
