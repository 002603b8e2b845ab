"""What a batch of chains shows to the model: its units' features, and the potentials that weights give them."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Indices
from ..batch import PackedBatch, pack
from ..sparse import SparseRows
from ..weights import DenseWeights, Layout, masked
from .edges import EdgeColumns, EdgePotentials
from .potentials import ChainPotentials


@dataclass(frozen=True)
class EdgeObservations:
    """Edge features, shared by units that have the same ones.

    features (SparseRows): G rows of edge features, one for each distinct combination.
    groups ((N,)): for each unit the row that conditions the transition into it.
    """

    features: SparseRows
    groups: Indices

    def take(self, units: Indices) -> "EdgeObservations":
        """The given units in the given order, with no rows of features but theirs."""
        used, groups = np.unique(self.groups[units], return_inverse=True)
        return EdgeObservations(self.features.take(used), groups)


@dataclass(frozen=True)
class Observations:
    """Features of a batch in packed order.

    batch (PackedBatch): layout of the rows.
    features (SparseRows): N rows of state features.
    edges (EdgeObservations | None): edge features, if the model has any.
    scores ((N, L) | None): what each label scores besides, from vectors of the units.
    """

    batch: PackedBatch
    features: SparseRows
    edges: EdgeObservations | None = None
    scores: Floats | None = None

    def add_scores(self, scores: Floats | None) -> "Observations":
        """The same with more scores ((N, L) | None), one sequence after the other."""
        packed = None if scores is None else scores[self.batch.units]
        return replace(self, scores=sum_scores(self.scores, packed))

    def select(self, sequences: Indices) -> tuple["Observations", Indices]:
        """Pack some of the sequences ((B',)) anew, as `PackedBatch.select` does."""
        part, rows = self.batch.select(sequences)
        scores = None if self.scores is None else self.scores[rows]
        return Observations(part, self.features.take(rows), self.edges and self.edges.take(rows), scores), rows


def sum_scores(first: Floats | None, second: Floats | None) -> Floats | None:
    """((N, L) | None): both together; None for neither."""
    if first is None or second is None:
        return second if first is None else first
    return np.asarray(first + second)


def observe(
    lengths: Indices, features: SparseRows, edges: EdgeObservations | None = None, scores: Floats | None = None
) -> Observations:
    """Pack sequences of some lengths ((B,)) whose features and scores come one sequence after the other."""
    batch = pack(lengths)
    packed = None if scores is None else scores[batch.units]
    return Observations(batch, features.take(batch.units), edges and edges.take(batch.units), packed)


def potentials(observations: Observations, weights: DenseWeights, layout: Layout) -> ChainPotentials:
    """Log potentials of a batch under dense weights, in the weights' precision. O(nnz L + G L^2)."""
    shape, dtype = (observations.batch.n_units, layout.n_labels), weights.state.dtype
    emissions = np.zeros(shape, dtype) if observations.scores is None else observations.scores.astype(dtype)
    observations.features.times(weights.state, out=emissions)
    return chain_potentials(observations.batch, emissions, observations.edges, weights, layout)


def chain_potentials(
    batch: PackedBatch,
    emissions: Floats,
    edges: EdgeObservations | EdgeColumns | None,
    weights: DenseWeights,
    layout: Layout,
) -> ChainPotentials:
    """Log potentials of a batch whose emissions ((N, L)) are known, like the edges in packed order."""
    transitions = masked(weights.transitions, layout.allowed)
    start, end = masked(weights.start, layout.allowed_start), masked(weights.end, layout.allowed_end)
    if isinstance(edges, EdgeObservations):
        matrices: Floats = np.tile(weights.transitions.reshape(-1), (edges.features.n_rows, 1))
        edges.features.times(weights.edges, out=matrices)
        by_group = masked(matrices.reshape(-1, *transitions.shape), layout.allowed)
        return ChainPotentials(batch, emissions, transitions, start, end, EdgePotentials(by_group, edges.groups))
    return ChainPotentials(batch, emissions, transitions, start, end, edges)
