"""Weights of a linear-chain CRF: which ones exist, as one flat vector and as dense work arrays.

Only the weights of a layout are learned and stored: attribute-label pairs (and label pairs) seen in training unless
asked otherwise, as in CRFsuite. Everything else is 0, or -inf where a mask forbids it.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .arrays import Bools, Floats, Indices, Ints


@dataclass(frozen=True)
class Layout:
    """Which weights exist.

    n_features (int): F. n_labels (int): L. n_edge_features (int): E.
    state_cells ((P,)): `feature * L + label` of each state weight, ascending.
    transition_cells ((Q,)): `from * L + to` of each transition weight, ascending.
    edge_cells ((R,)): `(edge feature * L + from) * L + to` of each edge weight, ascending.
    boundary (bool): whether labels have start and end weights (CRFsuite has none).
    allowed ((L, L)): transitions that the scheme and the user allow; the rest is -inf everywhere.
    allowed_start ((L,)), allowed_end ((L,)): labels that may begin and end a sequence.
    """

    n_features: int
    n_labels: int
    n_edge_features: int
    state_cells: Indices
    transition_cells: Indices
    edge_cells: Indices
    boundary: bool
    allowed: Bools
    allowed_start: Bools
    allowed_end: Bools

    @cached_property
    def bounds(self) -> list[int]:
        """Ends of the sections of the flat vector: state, transitions, edges, start, end."""
        boundary = self.n_labels if self.boundary else 0
        sizes = [len(self.state_cells), len(self.transition_cells), len(self.edge_cells), boundary, boundary]
        ends: list[int] = np.cumsum(sizes).tolist()
        return ends

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.bounds[-1]

    def split(self, flat: Floats) -> list[Floats]:
        """Views of the sections of a flat vector."""
        return np.split(flat, self.bounds[:-1])


@dataclass
class DenseWeights:
    """Weights, expected counts or gradients as dense arrays.

    state ((F, L)), transitions ((L, L)), edges ((E, L * L)), start ((L,)), end ((L,)).
    """

    state: Floats
    transitions: Floats
    edges: Floats
    start: Floats
    end: Floats

    @classmethod
    def zeros(cls, layout: Layout, dtype: type[np.floating] = np.float32) -> "DenseWeights":
        n = layout.n_labels
        return cls(
            np.zeros((layout.n_features, n), dtype),
            np.zeros((n, n), dtype),
            np.zeros((layout.n_edge_features, n * n), dtype),
            np.zeros(n, dtype),
            np.zeros(n, dtype),
        )

    def sections(self) -> list[Floats]:
        return [self.state, self.transitions, self.edges, self.start, self.end]

    def clear(self) -> None:
        for section in self.sections():
            section[...] = 0


def scatter(layout: Layout, flat: Floats, out: DenseWeights) -> None:
    """Write a flat vector into dense arrays; cells without a weight are left as they are.

    flat ((layout.size,)): weights in the order of the layout's sections.
    """
    state, transitions, edges, start, end = layout.split(flat)
    out.state.reshape(-1)[layout.state_cells] = state
    out.transitions.reshape(-1)[layout.transition_cells] = transitions
    out.edges.reshape(-1)[layout.edge_cells] = edges
    if layout.boundary:
        out.start[:], out.end[:] = start, end


def gather(layout: Layout, dense: DenseWeights, out: Floats) -> None:
    """Read the layout's cells of dense arrays into a flat vector."""
    state, transitions, edges, start, end = layout.split(out)
    state[:] = dense.state.reshape(-1)[layout.state_cells]
    transitions[:] = dense.transitions.reshape(-1)[layout.transition_cells]
    edges[:] = dense.edges.reshape(-1)[layout.edge_cells]
    if layout.boundary:
        start[:], end[:] = dense.start, dense.end


@dataclass(frozen=True)
class Pruned:
    """Weights without those of 0, and without features that have no others. Scores are the same.

    layout (Layout), flat ((layout.size,)): the weights left, features numbered without gaps.
    features ((F,)), edge_features ((E,)): which features are left.
    """

    layout: Layout
    flat: Floats
    features: Bools
    edge_features: Bools


def prune(layout: Layout, flat: Floats) -> Pruned:
    """Leave out weights of 0, but for those of starts and ends.

    flat ((layout.size,)): all weights.
    """
    state, transitions, edges, *boundary = layout.split(flat)
    state_cells, features = _renumbered(layout.state_cells[state != 0], layout.n_features, layout.n_labels)
    edge_cells, edge_features = _renumbered(layout.edge_cells[edges != 0], layout.n_edge_features, layout.n_labels**2)
    kept = replace(
        layout,
        n_features=int(features.sum()),
        n_edge_features=int(edge_features.sum()),
        state_cells=state_cells,
        transition_cells=layout.transition_cells[transitions != 0],
        edge_cells=edge_cells,
    )
    left = [section[section != 0] for section in (state, transitions, edges)]
    return Pruned(kept, np.concatenate([*left, *boundary]), features, edge_features)


def count_active(layout: Layout, flat: Floats) -> tuple[int, int]:
    """How many weights are not 0, and how many features, edge features included, have such a weight."""
    pruned = prune(layout, flat)
    return int(np.count_nonzero(flat)), pruned.layout.n_features + pruned.layout.n_edge_features


def _renumbered(cells: Indices, n_rows: int, width: int) -> tuple[Indices, Bools]:
    """Cells `row * width + column` for rows counted without those that have no cell, and which rows are left."""
    row, column = np.divmod(cells, width)
    used = np.zeros(n_rows, dtype=bool)
    used[row] = True
    return (np.cumsum(used) - 1)[row] * width + column, used


def masked(scores: Floats, allowed: Bools) -> Floats:
    """Scores with -inf where not allowed."""
    return np.where(allowed, scores, np.array(-np.inf, dtype=scores.dtype))


def cells(rows: Indices, columns: Indices | Ints, n_columns: int) -> Indices:
    """Flat positions of (row, column) pairs, ascending and without repetition."""
    return np.unique(rows.astype(np.intp) * n_columns + columns)
