"""Weights of a linear-chain CRF: which ones exist, all of them as one value, and dense work arrays.

Only the weights of a layout are learned and stored: attribute-label pairs (and label pairs) seen in training unless
asked otherwise, as in CRFsuite. Everything else is 0, or -inf where a mask forbids it.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from .arrays import Bools, Floats, Indices, Ints, cached_property
from .sparse import SparseRows
from .trigrams import Trigrams, TrigramWeights, moved_cells, refuse_second_order

NONE = np.zeros(0, dtype=np.intp)


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

    @classmethod
    def empty(cls, n_labels: int, boundary: bool, n_features: int = 0, n_edge_features: int = 0) -> Self:
        """Begin with no weights but those of starts and ends, and with nothing forbidden."""
        # views of one value: files may name any number of labels, which is compared with those that there are
        allowed, at_edges = (np.broadcast_to(np.True_, shape) for shape in ((n_labels, n_labels), (n_labels,)))
        return cls(n_features, n_labels, n_edge_features, NONE, NONE, NONE, boundary, allowed, at_edges, at_edges)

    @property
    def cells(self) -> list[Indices]:
        """Of each section of the flat vector its cells in the dense array: state, transitions, edges, start, end."""
        at_edges = np.arange(self.n_labels if self.boundary else 0)
        return [self.state_cells, self.transition_cells, self.edge_cells, at_edges, at_edges]

    @cached_property
    def bounds(self) -> list[int]:
        """Ends of the sections of the flat vector."""
        return list(np.cumsum([len(cells) for cells in self.cells]).tolist())

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.bounds[-1]

    def split(self, flat: Floats) -> list[Floats]:
        """Return views of the sections of a flat vector."""
        return np.split(flat, self.bounds[:-1])

    @property
    def allows_all(self) -> bool:
        """Whether no transition, start or end is forbidden."""
        return bool(self.allowed.all() and self.allowed_start.all() and self.allowed_end.all())

    def with_masks(self, transitions: Bools, starts: Bools, ends: Bools) -> Self:
        """Forbid what is not allowed: transitions ((L, L)), starts ((L,)), ends ((L,))."""
        return replace(self, allowed=transitions, allowed_start=starts, allowed_end=ends)

    def with_labels(self, n_labels: int) -> Self:
        """Make room for labels behind the present ones; nothing is forbidden any more."""
        before = self.n_labels
        return replace(
            self.empty(n_labels, self.boundary, self.n_features, self.n_edge_features),
            state_cells=moved_cells(self.state_cells, (self.n_features, before), n_labels),
            transition_cells=moved_cells(self.transition_cells, (before, before), n_labels),
            edge_cells=moved_cells(self.edge_cells, (self.n_edge_features, before, before), n_labels),
        )


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
        shapes = (layout.n_features, n), (n, n), (layout.n_edge_features, n * n), (n,), (n,)
        return cls(*(np.zeros(shape, dtype) for shape in shapes))

    def sections(self) -> list[Floats]:
        return [self.state, self.transitions, self.edges, self.start, self.end]

    def clear(self) -> None:
        for section in self.sections():
            section[...] = 0


def scatter(layout: Layout, flat: Floats, out: DenseWeights) -> None:
    """Write a flat vector ((layout.size,)) into dense arrays; cells without a weight are left as they are."""
    for dense, cells, weights in zip(out.sections(), layout.cells, layout.split(flat)):
        dense.reshape(-1)[cells] = weights


def gather(layout: Layout, dense: DenseWeights, out: Floats) -> None:
    """Read the layout's cells of dense arrays into a flat vector."""
    for section, cells, weights in zip(dense.sections(), layout.cells, layout.split(out)):
        weights[:] = section.reshape(-1)[cells]


@dataclass(frozen=True)
class ChainWeights:
    """All weights of a chain.

    layout (Layout): which there are, and what is forbidden. flat ((layout.size,)): in the order of its sections.
    vectors ((W, L) | None): what the components of a unit's vector score; None for chains that see no vectors.
    trigrams (TrigramWeights | None): of three labels in a row; None for chains of order 1.
    """

    layout: Layout
    flat: Floats
    vectors: Floats | None = None
    trigrams: TrigramWeights | None = None

    @classmethod
    def zeros(cls, layout: Layout, dtype: type[np.floating] = np.float32) -> Self:
        """Begin with weights of 0, without vectors and trigrams."""
        return cls(layout, np.zeros(layout.size, dtype))

    @property
    def order(self) -> int:
        """How many labels before a unit its own depends on."""
        return 1 if self.trigrams is None else 2

    def require_first_order(self, name: str, what: str) -> None:
        """Raise a coded error for a chain of order 2. See `refuse_second_order`."""
        if self.order > 1:
            refuse_second_order(name, what)

    @cached_property
    def dense(self) -> DenseWeights:
        """The weights of the layout as dense arrays, in their precision."""
        dense = DenseWeights.zeros(self.layout, self.flat.dtype.type)
        scatter(self.layout, self.flat, dense)
        return dense

    @property
    def state_rows(self) -> SparseRows:
        """(F rows of L): the weights of the state features alone, which are few beside all cells."""
        n, weights = self.layout.n_labels, self.layout.split(self.flat)[0]
        order = np.argsort(self.layout.state_cells, kind="stable")  # weights added later come behind the others
        features, labels = np.divmod(self.layout.state_cells[order], n)
        bounds = np.searchsorted(features, np.arange(self.layout.n_features + 1)).astype(np.int32)
        return SparseRows(bounds, labels.astype(np.int32), weights[order], n)

    def without_state(self) -> Self:
        """Leave out the weights of state features, and the features."""
        layout = replace(self.layout, n_features=0, state_cells=NONE)
        return replace(self, layout=layout, flat=self.flat[len(self.layout.state_cells) :])

    @property
    def n_active(self) -> int:
        """How many weights are not 0, those of vectors left aside."""
        of_trigrams = 0 if self.trigrams is None else np.count_nonzero(self.trigrams.values)
        return int(np.count_nonzero(self.flat) + of_trigrams)

    def map(self, function: Callable[[Floats], Floats]) -> Self:
        """Apply a function to each array of weights."""
        return replace(
            self,
            flat=function(self.flat),
            vectors=None if self.vectors is None else function(self.vectors),
            trigrams=self.trigrams and replace(self.trigrams, values=function(self.trigrams.values)),
        )

    def astype(self, dtype: type[np.floating]) -> Self:
        """Return the same weights in another precision."""
        return self.map(lambda values: values.astype(dtype, copy=False))

    def with_labels(self, n_labels: int) -> Self:
        """Make room for labels behind the present ones, whose weights are 0; nothing is forbidden any more."""
        added = n_labels - self.layout.n_labels
        *weights, start, end = self.layout.split(self.flat)
        edges = [np.pad(section, (0, added)) for section in (start, end)] if self.layout.boundary else []
        return replace(
            self,
            layout=self.layout.with_labels(n_labels),
            flat=np.concatenate([*weights, *edges]),
            vectors=None if self.vectors is None else np.pad(self.vectors, ((0, 0), (0, added))),
            trigrams=self.trigrams and self.trigrams.with_labels(n_labels),
        )

    def with_boundary(self, boundary: bool) -> Self:
        """Add weights of 0 for starts and ends, or leave out those that there are."""
        *weights, start, _ = self.layout.split(self.flat)
        if boundary == self.layout.boundary:
            return self
        edges = [np.zeros(2 * self.layout.n_labels, dtype=start.dtype)] if boundary else []
        return replace(self, layout=replace(self.layout, boundary=boundary), flat=np.concatenate([*weights, *edges]))

    def with_trigrams(self, trigrams: Trigrams) -> Self:
        """Give some trigrams weights of 0, in a chain of order 2."""
        assert self.trigrams is not None
        zeros = np.zeros(len(trigrams), dtype=self.flat.dtype)
        return replace(self, trigrams=replace(self.trigrams, trigrams=trigrams, values=zeros))

    def extended(
        self,
        n_features: int,
        n_edge_features: int,
        state_cells: Indices = NONE,
        transition_cells: Indices = NONE,
        edge_cells: Indices = NONE,
    ) -> Self:
        """Add features, and weights of 0 for cells that have none, behind the present ones of each section."""
        added = [state_cells, transition_cells, edge_cells, NONE, NONE]
        sections = [np.pad(section, (0, len(more))) for section, more in zip(self.layout.split(self.flat), added)]
        state, transitions, edges = (np.append(own, more) for own, more in zip(self.layout.cells[:3], added))
        counted = replace(self.layout, n_features=n_features, n_edge_features=n_edge_features)
        layout = replace(counted, state_cells=state, transition_cells=transitions, edge_cells=edges)
        return replace(self, layout=layout, flat=np.concatenate(sections))

    def pruned(self) -> "Pruned":
        """Leave out weights of 0, but for those of starts and ends, and features without others. Scores stay."""
        layout, (*weights, start, end) = self.layout, self.layout.split(self.flat)
        state, transitions, edges = (cells[section != 0] for cells, section in zip(layout.cells, weights))
        state, features = _renumbered(state, layout.n_features, layout.n_labels)
        edges, others = _renumbered(edges, layout.n_edge_features, layout.n_labels**2)
        counted = replace(layout, n_features=int(features.sum()), n_edge_features=int(others.sum()))
        kept = replace(counted, state_cells=state, transition_cells=transitions, edge_cells=edges)
        flat = np.concatenate([*(section[section != 0] for section in weights), start, end])
        trigrams = self.trigrams and self.trigrams.without_zeros()
        return Pruned(replace(self, layout=kept, flat=flat, trigrams=trigrams), features, others)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made when it is missing: dense arrays, and what the layout remembers."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"layout": replace(self.layout)}


@dataclass(frozen=True)
class Pruned:
    """Weights without those of 0, features numbered without gaps, and which of these ((F,)) and ((E,)) are left."""

    weights: ChainWeights
    features: Bools
    edge_features: Bools


def _renumbered(cells: Indices, n_rows: int, width: int) -> tuple[Indices, Bools]:
    """Cells `row * width + column` for rows counted without those that have no cell, and which rows are left."""
    used = np.zeros(n_rows, dtype=bool)
    used[cells // width] = True
    return with_rows(cells, np.cumsum(used) - 1, width), used


def masked(scores: Floats, allowed: Bools) -> Floats:
    """Scores with -inf where not allowed."""
    return np.where(allowed, scores, np.array(-np.inf, dtype=scores.dtype))


def cells(rows: Indices, columns: Indices | Ints, n_columns: int) -> Indices:
    """Flat positions of (row, column) pairs, ascending and without repetition."""
    return np.unique(rows.astype(np.intp) * n_columns + columns)


def with_rows(cells: Indices, numbers: Ints, width: int) -> Indices:
    """Cells `row * width + column` with other numbers for their rows."""
    row, column = np.divmod(cells, width)
    return numbers.astype(np.intp)[row] * width + column
