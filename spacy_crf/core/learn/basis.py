"""The variables that full-batch training works on: the layout's weights in another order, singletons merged.

Features that come with many labels keep dense rows of L scores, the most frequent ones first, so that these share cache
lines. Weights of the others score cells of the emissions one by one: their rows would be mostly zeros, and
fetching them takes longer than all arithmetic. The objective is the same function, seen from a rotated basis.
"""

from collections.abc import Iterable
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
        return features.renumber(self._columns, len(self.ranked))

    @cached_property
    def _columns(self) -> Ints:
        return ranks(self.ranked, self.layout.n_features)


@dataclass(frozen=True)
class FeatureOccurrences:
    """Where a corpus has its features.

    counts ((F,)): how often each occurs. units ((F,)): a unit that has it. are_ones ((F,)): whether its values are 1.
    """

    counts: Indices
    units: Indices
    are_ones: Bools

    @classmethod
    def of(cls, rows: Iterable[SparseRows], n_features: int) -> "FeatureOccurrences":
        """Look at the rows of a corpus, part by part."""
        found = cls(np.zeros(n_features, dtype=np.intp), np.zeros(n_features, dtype=np.intp), np.ones(n_features, bool))
        n_units = 0
        for part in rows:
            found.counts[:] += np.bincount(part.indices, minlength=n_features)
            found.units[part.indices] = part.row_numbers() + n_units
            if part.values is not None:
                found.are_ones[part.indices[part.values != 1]] = False
            n_units += part.n_rows
        return found


def choose_basis(layout: Layout, seen: FeatureOccurrences) -> Basis:
    """Decide how each weight of a layout is scored, from what the whole corpus shows."""
    singletons = find_singletons(layout, seen)
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    n_weights = np.bincount(feature, minlength=layout.n_features)
    is_dense = ~singletons.features & (n_weights > FEW_LABELS * layout.n_labels)
    ranked = np.argsort(-seen.counts, kind="stable")
    ranked = ranked[is_dense[ranked]]
    column, kept = ranks(ranked, layout.n_features), np.flatnonzero(is_dense[feature])
    cells = column[feature[kept]].astype(np.intp) * layout.n_labels + label[kept]
    order = np.argsort(cells)
    inner = replace(layout, n_features=len(ranked), state_cells=cells[order])
    rare = np.flatnonzero(~is_dense[feature] & ~singletons.features[feature])
    rare = rare[np.argsort(layout.state_cells[rare], kind="stable")]  # weights added later come behind the others
    return Basis(layout, inner, ranked, kept[order], rare, singletons)


def ranks(ranked: Indices, size: int) -> Ints:
    """((size,)): rank of each feature, -1 for those without."""
    ranks = np.full(size, -1, dtype=np.int32)
    ranks[ranked] = np.arange(len(ranked))
    return ranks


def find_singletons(layout: Layout, seen: FeatureOccurrences) -> Singletons:
    """The features with one occurrence, of value 1, and one weight, from what the whole corpus shows."""
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    once = (seen.counts == 1) & seen.are_ones
    once &= np.bincount(feature, minlength=layout.n_features) == 1
    members = np.flatnonzero(once[feature])
    keys = seen.units[feature[members]] * layout.n_labels + label[members]
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


class CellFinder:
    """Finds the cell weights of blocks. dtype (type): precision of the amounts."""

    def __init__(self, basis: Basis, dtype: type[np.floating]):
        self._basis, self._dtype = basis, dtype
        feature, self._labels = np.divmod(basis.layout.state_cells[basis.rare], basis.layout.n_labels)
        self._by_feature = Segments(np.bincount(feature, minlength=basis.layout.n_features))

    def find(self, block: Block) -> CellWeights:
        """The cell weights of a block whose features are numbered as in the layout."""
        features, by_feature, singletons = block.observations.features, self._by_feature, self._basis.singletons
        n_labels, n_rare = self._basis.layout.n_labels, len(self._basis.rare)
        pairs = np.flatnonzero(by_feature.lengths[features.indices])
        met = features.select(pairs, features.indices[pairs], features.n_columns)
        weights, sizes = by_feature.units(met.indices), by_feature.lengths[met.indices]
        amounts = np.ones(len(pairs)) if met.values is None else met.values
        low, high = (np.searchsorted(singletons.units, block.units, side) for side in ("left", "right"))
        merged = Segments(high - low)
        which = merged.at(low)
        return _by_weight(
            np.concatenate([weights, n_rare + which]),
            np.concatenate(
                [
                    np.repeat(met.row_numbers(), sizes) * n_labels + self._labels[weights],
                    merged.owners * n_labels + singletons.labels[which],
                ]
            ),
            np.concatenate([np.repeat(amounts, sizes), singletons.scales[which]]).astype(self._dtype),
        )


def _by_weight(weights: Indices, cells: Indices, amounts: Floats) -> CellWeights:
    order = np.argsort(weights, kind="stable")
    ordered = weights[order]
    firsts = np.flatnonzero(np.diff(ordered, prepend=-1))
    indptr = np.append(firsts, len(ordered)).astype(np.int32)
    return CellWeights(ordered[firsts], indptr, cells[order].astype(np.int32), amounts[order])
