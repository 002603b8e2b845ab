"""Log-linear pools of chains: several conditional random fields over the same labels as one.

The pool of p_1 .. p_K with exponents a_1 .. a_K is p(y | x), proportional to the product of p_k(y | x)^a_k (Smith, Cohn
& Osborne, "Logarithmic opinion pools for conditional random fields", ACL 2005). The product of linear chains is one
whose weights are the sums of a_k times theirs: it costs no more to decode, and its probabilities are exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Ints, sum_by_cell
from .weights import ChainWeights, with_rows


@dataclass(frozen=True)
class Member:
    """One chain of a pool, of order 1.

    weights (ChainWeights): its weights. exponent (float): how much it counts.
    features ((F,)), edge_features ((E,)): the pool's number of each of its features.
    """

    weights: ChainWeights
    exponent: float
    features: Ints
    edge_features: Ints


def pool_weights(members: Sequence[Member], n_features: int, n_edge_features: int) -> ChainWeights:
    """Make one chain, in single precision, of some with the same labels. O(weights log weights).

    What one of them forbids has the probability 0 in the pool. One of them at most has weights of vectors.
    """
    layouts = [m.weights.layout for m in members]
    sections = [[m.exponent * part for part in m.weights.layout.split(m.weights.flat)] for m in members]
    n = layouts[0].n_labels
    cells = [
        (
            with_rows(layout.state_cells, member.features, n),
            layout.transition_cells,
            with_rows(layout.edge_cells, member.edge_features, n * n),
        )
        for layout, member in zip(layouts, members)
    ]
    (state_cells, state), (transition_cells, transitions), (edge_cells, edges) = (
        sum_by_cell(np.concatenate([own[k] for own in cells]), np.concatenate([weights[k] for weights in sections]))
        for k in range(3)
    )
    bounded = [weights for layout, weights in zip(layouts, sections) if layout.boundary]
    boundary = [np.sum([weights[k] for weights in bounded], axis=0) for k in (3, 4) if bounded]
    masks = zip(*((layout.allowed, layout.allowed_start, layout.allowed_end) for layout in layouts))
    layout = replace(
        layouts[0].with_masks(*map(np.logical_and.reduce, masks)),
        n_features=n_features,
        n_edge_features=n_edge_features,
        state_cells=state_cells,
        transition_cells=transition_cells,
        edge_cells=edge_cells,
        boundary=bool(bounded),
    )
    vectors = [m.weights.vectors * np.float32(m.exponent) for m in members if m.weights.vectors is not None]
    flat = np.concatenate([state, transitions, edges, *boundary]).astype(np.float32)
    return ChainWeights(layout, flat, vectors[0] if vectors else None)
