"""Epochs of stochastic gradient descent over small batches, at the cost of the weights that each batch meets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..chain.objective import loss_and_gradient
from ..chain.potentials import numbered
from ..gold import Gold
from ..observations import EdgeObservations, Observations
from ..params import DenseWeights, Layout, gather, scatter
from ..sparse import SparseRows
from ..threads import single_threaded_blas
from ..types import Doubles, Indices
from .blocks import Block, Corpus, cut


@dataclass(frozen=True)
class Batch:
    """Sequences with the weights that they meet, features and weights numbered anew.

    observations (Observations), gold (Gold): in packed order. layout (Layout): for the batch's own numbers.
    weights ((layout.size,)): for each weight of the batch its position in the flat vector of the corpus.
    sequences ((b,)): for each sequence its index in the corpus.
    """

    observations: Observations
    gold: Gold
    layout: Layout
    weights: Indices
    sequences: Indices


def cut_batches(corpus: Corpus, layout: Layout, units_per_batch: int) -> list[Batch]:
    """Batches of sequences of similar length, of about the given number of units."""
    state = _Rows(layout.state_cells, layout.n_features, layout.n_labels)
    edges = _Rows(layout.edge_cells, layout.n_edge_features, layout.n_labels * layout.n_labels)
    return [_batch(block, layout, state, edges) for block in cut(corpus, units_per_batch)]


class Descent:
    """Leads weights downhill, batch by batch, on -log p(gold | x) + c1 |w|_1 + c2 |w|^2 of a corpus.

    Each step shrinks all weights as L2 asks: they are kept divided by a common factor, made good at the end of an
    epoch. L1 is taken off at the end of the epoch, for all its steps at once (Duchi & Singer, JMLR 2009).

    flat ((layout.size,)): the weights. n_sequences (int): of the whole corpus; a batch has its share of the penalties.
    """

    def __init__(self, flat: Doubles, c1: float, c2: float, n_sequences: int):
        self.flat, self.c1, self.c2, self.n_sequences = flat, c1, c2, n_sequences

    def rate(self, eta: float, taken: int) -> float:
        """Step size after so many sequences, from a first one of `eta`."""
        return eta / (1 + 2 * self.c2 / self.n_sequences * eta * taken)

    def epoch(self, batches: Sequence[Batch], eta: float, taken: int = 0) -> float:
        """One step for each batch.

        eta (float): the first step size. taken (int): sequences before this epoch.
        RETURNS (float): losses as they were met, and the batches' share of the penalties at the end.
        """
        total, factor, stride, before = 0.0, 1.0, 0.0, taken
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):  # the loss tells
            for batch in batches:
                step = self.rate(eta, taken)
                taken += len(batch.sequences)
                factor *= self.rate(eta, taken) / step  # the shrinkages of as many single steps, multiplied out
                stride += step * len(batch.sequences)
                total += self._step(batch, factor, step)
        self.flat *= factor
        threshold = stride * self.c1 / self.n_sequences
        self.flat -= np.clip(self.flat, -threshold, threshold)
        return total + (taken - before) / self.n_sequences * self._penalty()

    def loss(self, batches: Sequence[Batch]) -> float:
        """Losses of batches and their share of the penalties at the weights."""
        total = sum(self._loss_and_gradient(batch, 1.0)[0] for batch in batches)
        return total + sum(len(batch.sequences) for batch in batches) / self.n_sequences * self._penalty()

    def _step(self, batch: Batch, factor: float, step: float) -> float:
        """Go against the gradient of a batch, taken where the weights are those at hand times a factor."""
        loss, gradient = self._loss_and_gradient(batch, factor)
        self.flat[batch.weights] -= step / factor * gradient
        return loss

    def _loss_and_gradient(self, batch: Batch, factor: float) -> tuple[float, Doubles]:
        weights, counts = DenseWeights.zeros(batch.layout), DenseWeights.zeros(batch.layout)
        scatter(batch.layout, self.flat[batch.weights] * factor, weights)
        with numbered(batch.sequences):
            loss = loss_and_gradient(batch.observations, batch.gold, weights, batch.layout, counts)
        gradient = np.empty(batch.layout.size)
        gather(batch.layout, counts, gradient)
        return loss, gradient

    def _penalty(self) -> float:
        return float(self.c1 * np.abs(self.flat).sum() + self.c2 * (self.flat @ self.flat))


class _Rows:
    """Weights by feature.

    cells ((P,)): `feature * width + column` of each weight, in any order.
    """

    def __init__(self, cells: Indices, n_features: int, width: int):
        feature, self._columns = np.divmod(cells, width)
        self._order, self._width = np.argsort(feature, kind="stable"), width
        self._counts = np.bincount(feature, minlength=n_features)
        self._firsts = np.cumsum(self._counts) - self._counts

    def take(self, features: Indices) -> tuple[Indices, Indices]:
        """The weights of some features.

        RETURNS (tuple): their cells, features being numbered as they are given, and their positions.
        """
        counts = self._counts[features]
        offsets = np.cumsum(counts) - counts
        positions = self._order[np.repeat(self._firsts[features] - offsets, counts) + np.arange(counts.sum())]
        return np.repeat(np.arange(len(features)), counts) * self._width + self._columns[positions], positions


def _batch(block: Block, layout: Layout, state: _Rows, edge: _Rows) -> Batch:
    features, used = _renumbered(block.observations.features)
    edges, used_edges = None, np.zeros(0, dtype=np.intp)
    if block.observations.edges is not None:
        edge_features, used_edges = _renumbered(block.observations.edges.features)
        edges = EdgeObservations(edge_features, block.observations.edges.groups)
    state_cells, state_weights = state.take(used)
    edge_cells, edge_weights = edge.take(used_edges)
    own = replace(
        layout,
        n_features=len(used),
        n_edge_features=len(used_edges),
        state_cells=state_cells,
        edge_cells=edge_cells,
    )
    _, transitions, all_edges, *boundary = np.split(np.arange(layout.size), layout.bounds[:-1])
    weights = np.concatenate([state_weights, transitions, all_edges[edge_weights], *boundary])
    return Batch(Observations(block.observations.batch, features, edges), block.gold, own, weights, block.sequences)


def _renumbered(features: SparseRows) -> tuple[SparseRows, Indices]:
    """The same rows with features numbered from 0, and the old numbers."""
    used, numbers = np.unique(features.indices, return_inverse=True)
    rows = SparseRows(features.indptr, numbers.astype(np.int32), features.values, len(used))
    return rows, used.astype(np.intp)
