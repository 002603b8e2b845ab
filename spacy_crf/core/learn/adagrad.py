"""Mini-batch AdaGrad (Duchi, Hazan & Singer 2011) on the log-likelihood, touching only the weights that a batch shows.

Two things make a few epochs enough. The accumulated squares begin at `damping` instead of 0, so that weights of rare
features move by about the same rate rather than jump at their first gradient; and the mean of the weights over time,
not the last ones, is the result.
"""

import numpy as np

from ..chain.objective import loss_and_gradient
from ..chain.potentials import numbered
from ..observations import observe
from ..params import Layout
from ..types import Bools, Floats, Indices, Ints
from .blocks import Corpus
from .online import OnlineLearner, require_positive


class AdaGrad(OnlineLearner):
    """Stochastic gradient steps, each weight at a rate of its own. There is no penalty: few epochs regularise.

    learn_rate (float): of a weight that has not moved much.
    damping (float): where the sums of squared gradients begin.
    averaging (bool): predict with the mean of the weights.
    batch_size (int): sequences whose gradients are summed up to one step.
    """

    def __init__(
        self,
        learn_rate: float = 0.5,
        damping: float = 1.0,
        averaging: bool = True,
        batch_size: int = 32,
        dtype: type[np.floating] = np.float32,
    ):
        require_positive(learn_rate=learn_rate, damping=damping)
        super().__init__(averaging, batch_size, dtype)
        self.learn_rate, self.damping = learn_rate, damping

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._squares: Floats = np.full(self.weights.n_slots, self.damping, dtype=self.dtype)
        self._make_work()

    def grow(self, layout: Layout) -> None:
        super().grow(layout)
        n_new = self.weights.n_slots - len(self._squares)
        if n_new:
            self._squares = np.append(self._squares, np.full(n_new, self.damping, dtype=self.dtype))
        if len(self._gradient) != len(self.weights.values):
            self._make_work()
        else:
            self._counts = self.weights.view(self._gradient)

    def _make_work(self) -> None:
        """An accumulator of gradients, zero between batches, and a flag for each feature."""
        self._gradient: Floats = np.zeros_like(self.weights.values)
        self._counts = self.weights.view(self._gradient)
        self._is_touched: Bools = np.zeros(len(self._gradient) // self.weights.layout.n_labels + 1, dtype=bool)

    def learn_batch(self, part: Corpus, numbers: Indices) -> float:
        observations = observe(part.lengths, part.features, part.edges)
        gold = part.gold.take(observations.batch.units)
        features, edge_features = self._distinct(part)
        cells = self.weights.touched(features, edge_features)
        try:
            with numbered(numbers):
                loss = loss_and_gradient(observations, gold, self.weights.dense, self.weights.layout, self._counts)
            gradient = self._gradient[cells]
        finally:
            self._clear(features, edge_features)
        self.weights.time += len(numbers) - 1
        self.weights.add(cells, self._step(cells, gradient))
        self.weights.time += 1
        return loss

    def _distinct(self, part: Corpus) -> tuple[Indices, Indices | Ints]:
        """The features and edge features of some sequences: flags are quicker than sorting."""
        self._is_touched[part.features.indices] = True
        features = np.flatnonzero(self._is_touched)
        self._is_touched[features] = False
        if part.edges is None:
            return features, np.zeros(0, dtype=np.intp)
        return features, np.unique(part.edges.features.indices)

    def _clear(self, features: Indices, edge_features: Indices | Ints) -> None:
        """Zero the gradient again, where it may have been changed."""
        counts = self._counts
        counts.state[features], counts.edges[edge_features] = 0, 0
        for section in (counts.transitions, counts.start, counts.end):
            section[...] = 0

    def _step(self, cells: Indices, gradient: Floats) -> Floats:
        slots = self.weights.slots[cells]
        squares = self._squares[slots]
        squares += gradient * gradient
        self._squares[slots] = squares
        return -self.learn_rate * gradient / np.sqrt(squares)
