"""Weights that score single cells (unit, label) of the emissions: those of rare features, and merged singletons.

For each block of a corpus they form a sparse matrix with a column for each weight. Its cells and its weights both fit a
cache, unlike the rows of all features, and only weights that exist are touched.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Floats, Indices, Ints, Segments
from ..sparse import SparseRows, add_product
from .basis import Basis
from .blocks import Block


@dataclass(frozen=True)
class CellWeights:
    """The cell weights that a block meets.

    weights ((m,)): their numbers, ascending.
    indptr ((m + 1,)), cells ((nnz,)), amounts ((nnz,)): weight j adds `amounts[i]` times itself to the packed cell
        `cells[i] = row * L + label`, for i in `indptr[j]:indptr[j + 1]`.
    """

    weights: Indices
    indptr: Ints
    cells: Ints
    amounts: Floats

    def add_scores(self, values: Doubles, emissions: Floats) -> None:
        """Add what the weights score to the emissions (n, L) of the block. O(nnz).

        values ((C,)): all cell weights.
        """
        own = values[self.weights].astype(emissions.dtype)
        add_product(self.indptr, self.cells, self.amounts, own, emissions.reshape(-1), transposed=True)

    def add_counts(self, nodes: Floats, out: Floats) -> None:
        """Add the gradient by the weights to an accumulator. O(nnz).

        nodes ((n, L)): gradient by the emissions, in packed order. out ((C,)): of all cell weights.
        """
        counts = np.zeros(len(self.weights), dtype=self.amounts.dtype)
        flat = np.ascontiguousarray(nodes, dtype=self.amounts.dtype).reshape(-1)
        add_product(self.indptr, self.cells, self.amounts, flat, counts)
        out[self.weights] += counts


def cell_weights(
    basis: Basis, features: SparseRows, blocks: Sequence[Block], dtype: type[np.floating]
) -> Iterator[CellWeights]:
    """The cell weights of each block.

    features (SparseRows): N rows of the whole corpus, features numbered as in the layout.
    dtype (type): precision of the amounts.
    """
    n_labels = basis.layout.n_labels
    feature, labels = np.divmod(basis.layout.state_cells[basis.rare], n_labels)
    by_feature = Segments(np.bincount(feature, minlength=basis.layout.n_features))
    pairs = np.flatnonzero(by_feature.lengths[features.indices])
    rare = features.select(pairs, features.indices[pairs], features.n_columns)
    merged = _merged_by_block(basis, features.n_rows, blocks)
    for block, (which, rows) in zip(blocks, merged):
        found = rare.take(block.units)
        weights, sizes = by_feature.units(found.indices), by_feature.lengths[found.indices]
        cells = np.repeat(found.row_numbers(), sizes) * n_labels + labels[weights]
        amounts = np.ones(len(found.indices)) if found.values is None else found.values
        yield _by_weight(
            np.concatenate([weights, len(basis.rare) + which]),
            np.concatenate([cells, rows * n_labels + basis.singletons.labels[which]]),
            np.concatenate([np.repeat(amounts, sizes), basis.singletons.scales[which]]).astype(dtype),
        )


def _by_weight(weights: Indices, cells: Indices, amounts: Floats) -> CellWeights:
    order = np.argsort(weights, kind="stable")
    ordered = weights[order]
    firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
    indptr = np.append(firsts, len(ordered)).astype(np.int32)
    return CellWeights(ordered[firsts], indptr, cells[order].astype(np.int32), amounts[order])


def _merged_by_block(basis: Basis, n_units: int, blocks: Sequence[Block]) -> Iterator[tuple[Indices, Indices]]:
    """For each block the merged singletons of its units, and their packed rows."""
    block_of, row_of = np.zeros(n_units, dtype=np.intp), np.zeros(n_units, dtype=np.intp)
    for number, block in enumerate(blocks):
        block_of[block.units], row_of[block.units] = number, np.arange(len(block.units))
    units = basis.singletons.units
    order = np.argsort(block_of[units], kind="stable")
    ends = np.searchsorted(block_of[units[order]], np.arange(1, len(blocks)))
    for which in np.split(order, ends):
        yield which, row_of[units[which]]
