"""The variables that full-batch training works on: the layout's weights in another order, singletons merged.

Features that come with many labels keep dense rows of L scores, the most frequent ones first, so that these share cache
lines. Weights of the others score cells of the emissions one by one (`cells.py`): their rows would be mostly zeros, and
fetching them takes longer than all arithmetic. The objective is the same function, seen from a rotated basis.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices
from ..sparse import SparseRows
from ..weights import Layout
from .singletons import Singletons, find_singletons

FEW_LABELS = 1 / 5  # share of the labels up to which the weights of a feature are scored one by one


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
        """((size,)): |w|_1 of the layout's weights is the sum of |x_i| times this.

        Merging is exact under L1 as under L2: m weights w, merged to u = sqrt(m) w, have the norm m |w| = sqrt(m) |u|.
        """
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
        column = np.full(self.layout.n_features, -1, dtype=np.int32)
        column[self.ranked] = np.arange(len(self.ranked))
        pairs = np.flatnonzero(column[features.indices] >= 0)
        return features.select(pairs, column[features.indices[pairs]], len(self.ranked))


def choose_basis(layout: Layout, features: SparseRows) -> Basis:
    """Decide how each weight of a layout is scored.

    features (SparseRows): N rows of the whole corpus.
    """
    singletons = find_singletons(layout, features)
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    n_weights = np.bincount(feature, minlength=layout.n_features)
    is_dense = ~singletons.features & (n_weights > FEW_LABELS * layout.n_labels)
    ranked = _by_frequency(features, is_dense)
    column = np.full(layout.n_features, -1, dtype=np.int32)
    column[ranked] = np.arange(len(ranked))
    kept = np.flatnonzero(is_dense[feature])
    cells = column[feature[kept]].astype(np.intp) * layout.n_labels + label[kept]
    order = np.argsort(cells)
    inner = replace(layout, n_features=len(ranked), state_cells=cells[order])
    rare = np.flatnonzero(~is_dense[feature] & ~singletons.features[feature])
    rare = rare[np.argsort(layout.state_cells[rare], kind="stable")]  # weights added later come behind the others
    return Basis(layout, inner, ranked, kept[order], rare, singletons)


def _by_frequency(features: SparseRows, chosen: Bools) -> Indices:
    """The chosen features, most frequent first."""
    frequency = np.bincount(features.indices, minlength=len(chosen))
    ranked = np.argsort(-frequency, kind="stable")
    return ranked[chosen[ranked]]
