"""Which weights exist: those of the pairs that CRFsuite generates from the same data and settings."""

from dataclasses import replace

import numpy as np

from ..core.arrays import Doubles, Indices, Ints, Segments
from ..core.sparse import SparseRows
from ..core.weights import Layout


def seen_layout(
    lengths: Indices,
    features: SparseRows,
    labels: Ints,
    n_labels: int,
    min_freq: float = 0.0,
    all_states: bool = False,
    all_transitions: bool = False,
) -> Layout:
    """Weights of the pairs of attribute and label, and of adjacent labels, that occur. O(nnz + F L).

    labels ((N,)): gold.
    min_freq (float): pairs that occur less often have no weight; an attribute counts with its value.
    all_states (bool), all_transitions (bool): also the pairs that do not occur; their frequency is 0.
    """
    pairs = features.indices.astype(np.intp) * n_labels + labels[features.row_numbers()]
    inner = np.ones(len(labels), dtype=bool)
    inner[Segments(lengths).openings] = False
    after = np.flatnonzero(inner)
    steps = labels[after - 1].astype(np.intp) * n_labels + labels[after]
    values = None if features.values is None else features.values.astype(np.float64)
    return replace(
        Layout.empty(n_labels, boundary=False, n_features=features.n_columns),
        state_cells=_cells(pairs, values, features.n_columns * n_labels, min_freq, all_states),
        transition_cells=_cells(steps, None, n_labels * n_labels, min_freq, all_transitions),
    )


def _cells(pairs: Indices, values: Doubles | None, size: int, min_freq: float, everything: bool) -> Indices:
    """Cells that are frequent enough, ascending."""
    if min_freq > 0:
        return np.flatnonzero(np.bincount(pairs, weights=values, minlength=size) >= min_freq)
    if everything:
        return np.arange(size)
    seen = np.zeros(size, dtype=bool)
    seen[pairs] = True
    return np.flatnonzero(seen)
