"""The variables that full-batch training works on: the layout's weights in another order, singletons merged.

Features that come with many labels keep dense rows of L scores, the most frequent ones first, so that these share cache
lines. Weights of the others score cells of the emissions one by one: their rows would be mostly zeros, and
fetching them takes longer than all arithmetic. The objective is the same function, seen from a rotated basis.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, Segments, cached_property
from ..sparse import SparseRows, add_product
from ..weights import Layout
from .blocks import Block

FEW_LABELS = 1 / 5  # share of the labels up to which the weights of a feature are scored one by one


@dataclass(frozen=True)
class Singletons:
    """Attributes that occur in one unit only, merged into one weight per unit. Exact, not an approximation.

    Attributes a_1..a_m that occur only in unit n, with one weight each for the same label, have equal gradients; under
    L2 from equal starts their weights stay equal. With u = sqrt(m) w their score m w is sqrt(m) u and their penalty
    m w^2 is u^2: the same problem in one variable. Under L1, m |w| is sqrt(m) |u|: each merged weight has an L1 penalty
    of its own. On CoNLL-2000 two thirds of the attributes are such.

    features ((F,)): which features are merged away.
    members ((S,)): positions of their weights among the layout's state weights.
    groups ((S,)): the merged weight of each.
    units ((M,)), labels ((M,)): the unit and label that each merged weight scores, ascending by unit.
    scales ((M,)): sqrt(m).
    """

    features: Bools
    members: Indices
    groups: Indices
    units: Indices
    labels: Ints
    scales: Floats

    def merge(self, state: Floats) -> Floats:
        """Merged weights (M,) from state weights (P,): the projection on equal weights."""
        sums = np.bincount(self.groups, weights=state[self.members], minlength=len(self.units))
        return np.asarray(sums / self.scales)

    def unmerge(self, merged: Floats, state: Floats) -> None:
        """Write merged weights (M,) back to state weights (P,)."""
        state[self.members] = (merged / self.scales)[self.groups]


@dataclass(frozen=True)
class Basis:
    """Where each weight of a layout went.

    layout (Layout): the weights as users know them. inner (Layout): without features scored cell by cell.
    ranked ((F',)): features with dense rows, most frequent first: column j of the inner layout is `ranked[j]`.
    dense ((P',)), rare ((R,)): positions of their state weights, and of those scored cell by cell, in the layout; both
        ascending by cell.
    singletons (Singletons): features that occur once, merged.
    """

    layout: Layout
    inner: Layout
    ranked: Indices
    dense: Indices
    rare: Indices
    singletons: Singletons

    @property
    def size(self) -> int:
        return self.inner.size + self.n_cell_weights

    @property
    def n_cell_weights(self) -> int:
        """R rare weights and M merged ones."""
        return len(self.rare) + len(self.singletons.units)

    @cached_property
    def sections(self) -> list[int]:
        """Ends of the dense state weights and of the cell weights; transitions, edges and boundaries follow."""
        return [len(self.dense), len(self.dense) + self.n_cell_weights]

    @property
    def l1_scales(self) -> Doubles:
        """((size,)): |w|_1 of the layout's weights is the sum of |x_i| times this."""
        scales = np.ones(self.size)
        scales[self.sections[0] + len(self.rare) : self.sections[1]] = self.singletons.scales
        return scales

    def start(self, flat: Floats) -> Doubles:
        """The variables for the layout's flat weights."""
        state, *others = self.layout.split(np.asarray(flat, dtype=np.float64))
        return np.concatenate([state[self.dense], state[self.rare], self.singletons.merge(state), *others])

    def finish(self, x: Doubles) -> Doubles:
        """The layout's flat weights for the variables."""
        flat = np.empty(self.layout.size)
        n_state = len(self.layout.state_cells)
        ends = [len(self.dense), len(self.dense) + len(self.rare), self.sections[1]]
        flat[:n_state][self.dense], flat[:n_state][self.rare], merged, flat[n_state:] = np.split(x, ends)
        self.singletons.unmerge(merged, flat[:n_state])
        return flat

    def split(self, x: Doubles) -> tuple[Doubles, Doubles]:
        """Weights of the inner layout, and cell weights."""
        dense, cells, others = np.split(x, self.sections)
        return np.concatenate([dense, others]), cells

    def join(self, inner: Doubles, cells: Floats) -> Doubles:
        """The inverse of `split`."""
        dense, others = np.split(inner, self.sections[:1])
        return np.concatenate([dense, cells, others])

    def dense_features(self, features: SparseRows) -> SparseRows:
        """The pairs of features with dense rows, numbered as in the inner layout."""
        column = _inverse(self.ranked, self.layout.n_features)
        pairs = np.flatnonzero(column[features.indices] >= 0)
        return features.select(pairs, column[features.indices[pairs]], len(self.ranked))


def choose_basis(layout: Layout, features: SparseRows) -> Basis:
    """Decide how each weight of a layout is scored, from the rows of the whole corpus."""
    singletons = find_singletons(layout, features)
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    n_weights = np.bincount(feature, minlength=layout.n_features)
    is_dense = ~singletons.features & (n_weights > FEW_LABELS * layout.n_labels)
    ranked = np.argsort(-np.bincount(features.indices, minlength=len(is_dense)), kind="stable")
    ranked = ranked[is_dense[ranked]]
    column, kept = _inverse(ranked, layout.n_features), np.flatnonzero(is_dense[feature])
    cells = column[feature[kept]].astype(np.intp) * layout.n_labels + label[kept]
    order = np.argsort(cells)
    inner = replace(layout, n_features=len(ranked), state_cells=cells[order])
    rare = np.flatnonzero(~is_dense[feature] & ~singletons.features[feature])
    rare = rare[np.argsort(layout.state_cells[rare], kind="stable")]  # weights added later come behind the others
    return Basis(layout, inner, ranked, kept[order], rare, singletons)


def _inverse(ranked: Indices, size: int) -> Ints:
    """((size,)): rank of each feature, -1 for those without."""
    ranks = np.full(size, -1, dtype=np.int32)
    ranks[ranked] = np.arange(len(ranked))
    return ranks


def find_singletons(layout: Layout, features: SparseRows) -> Singletons:
    """The features with one occurrence, of value 1, and one weight, from the rows of the whole corpus."""
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    once = np.bincount(features.indices, minlength=layout.n_features) == 1
    once &= np.bincount(feature, minlength=layout.n_features) == 1
    if features.values is not None:
        once[features.indices[features.values != 1]] = False
    unit_of = np.zeros(layout.n_features, dtype=np.intp)
    chosen = once[features.indices]
    unit_of[features.indices[chosen]] = features.row_numbers()[chosen]
    members = np.flatnonzero(once[feature])
    keys = unit_of[feature[members]] * layout.n_labels + label[members]
    distinct, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    units, labels = np.divmod(distinct, layout.n_labels)
    return Singletons(once, members, groups, units, labels.astype(np.int32), np.sqrt(sizes))


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
        """Add what the weights score to the emissions (n, L) of the block. O(nnz). values ((C,)): all cell weights."""
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
