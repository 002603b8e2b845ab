"""Small batches of a corpus, at the cost of the weights that each meets: features and weights are numbered anew."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats, Indices, Segments
from ..chain.objective import loss_and_gradient
from ..chain.potentials import EdgeObservations, Observations, numbered
from ..labels import Gold
from ..weights import DenseWeights, Layout, gather, scatter
from .blocks import Block, EncodedCorpus, cut
from .online import OnlineWeights


@dataclass(frozen=True)
class TrainingBatch:
    """Packed sequences with their gold and the weights that they meet, features and weights numbered anew.

    weights ((layout.size,)): for each weight of the batch's own layout the place where it is kept.
    sequences ((b,)): for each sequence its index in the corpus. units ((n,)): for each packed row its unit there.
    """

    observations: Observations
    gold: Gold
    layout: Layout
    weights: Indices
    sequences: Indices
    units: Indices

    def loss_and_gradient(self, values: Floats, by_emissions: Floats | None = None) -> tuple[float, Floats]:
        """Negative log-likelihood at the batch's weights, and its gradient by them, in their precision.

        by_emissions ((N, L) | None): takes the gradient by the emissions of the batch's units.
        RAISES (NoPathError, NonFiniteError): with the index of the sequence at fault in the corpus.
        """
        dtype = values.dtype.type
        weights, counts = DenseWeights.zeros(self.layout, dtype), DenseWeights.zeros(self.layout, dtype)
        scatter(self.layout, values, weights)
        with numbered(self.sequences):
            nodes = None if by_emissions is None else np.empty((len(self.units), self.layout.n_labels), dtype)
            loss = loss_and_gradient(self.observations, self.gold, weights, self.layout, counts, nodes)
        if by_emissions is not None:
            by_emissions[self.units] = nodes
        gradient = np.empty_like(values)
        gather(self.layout, counts, gradient)
        return loss, gradient


class FlatFinder:
    """Finds weights in a flat vector, for batches that are cut once: it sorts all weights by feature."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self._state = _Rows(layout.state_cells, layout.n_features, layout.n_labels)
        self._edges = _Rows(layout.edge_cells, layout.n_edge_features, layout.n_labels * layout.n_labels)

    def state(self, features: Indices) -> tuple[Indices, Indices]:
        """State weights of some features: cells, features being numbered as they are given, and places."""
        return self._state.take(features)

    def edges(self, features: Indices) -> tuple[Indices, Indices]:
        """Likewise, edge weights of some edge features."""
        cells, positions = self._edges.take(features)
        return cells, self.layout.bounds[1] + positions

    def shared(self) -> tuple[Indices, Indices]:
        """Places of the transitions, and of the starts and ends, that all batches have."""
        first, last, edges, *_ = self.layout.bounds
        return np.arange(first, last), np.arange(edges, self.layout.size)


def cut_batches(corpus: EncodedCorpus, finder: FlatFinder | OnlineWeights, units_per_batch: int) -> list[TrainingBatch]:
    """Batches of sequences of similar length, of about the given number of units."""
    return [_batch(block, finder) for block in cut(corpus, units_per_batch)]


class _Rows:
    """Weights by feature, from cells ((P,)) `feature * width + column` in any order."""

    def __init__(self, cells: Indices, n_features: int, width: int):
        feature, self._columns = np.divmod(cells, width)
        self._order, self._width = np.argsort(feature, kind="stable"), width
        self._runs = Segments(np.bincount(feature, minlength=n_features))

    def take(self, features: Indices) -> tuple[Indices, Indices]:
        """The weights of some features: cells, features being numbered as they are given, and positions."""
        positions = self._order[self._runs.units(features)]
        rows = np.repeat(np.arange(len(features)), self._runs.lengths[features])
        return rows * self._width + self._columns[positions], positions


def _batch(block: Block, finder: FlatFinder | OnlineWeights) -> TrainingBatch:
    features, used = block.observations.features.compacted()
    edges, used_edges = None, np.zeros(0, dtype=np.intp)
    if block.observations.edges is not None:
        edge_features, used_edges = block.observations.edges.features.compacted()
        edges = EdgeObservations(edge_features, block.observations.edges.groups)
    state_cells, state = finder.state(used)
    edge_cells, edge = finder.edges(used_edges)
    transitions, boundary = finder.shared()
    own = replace(finder.layout, n_features=len(used), state_cells=state_cells)
    own = replace(own, n_edge_features=len(used_edges), edge_cells=edge_cells)
    weights = np.concatenate([state, transitions, edge, boundary])
    observations = replace(block.observations, features=features, edges=edges)
    return TrainingBatch(observations, block.gold, own, weights, block.sequences, block.units)
