"""Plain stochastic gradient steps on the log-likelihood, one sequence at a time (Agrawal & Shah 2014, equation 8)."""

import numpy as np

from ..arrays import Floats, Indices
from ..chain.potentials import numbered
from ..threads import single_threaded_blas
from ..weights import Layout
from .batches import cut_batches
from .blocks import Corpus
from .online import OnlineLearner, require_positive
from .single_gradient import Gradient, single_gradient


class StochasticGradient(OnlineLearner):
    """Moves the weights of each sequence against the gradient of its loss, always at the same rate, without a penalty.

    learn_rate (float): how far. averaging (bool): predict with the mean of the weights over time.
    """

    def __init__(self, learn_rate: float = 0.01, averaging: bool = True, dtype: type[np.floating] = np.float32):
        require_positive(learn_rate=learn_rate)
        super().__init__(averaging, dtype)
        self.learn_rate = learn_rate

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._is_free = bool(layout.allowed.all() and layout.allowed_start.all() and layout.allowed_end.all())

    def learn(self, corpus: Corpus, order: Indices, by_emissions: Floats | None = None) -> float:
        order = order[corpus.lengths[order] > 0]
        firsts = corpus.segments.firsts[order]
        loss = 0.0
        with single_threaded_blas():
            for number, low, length in zip(order, firsts.tolist(), corpus.lengths[order].tolist()):
                with numbered(np.array([number])):
                    found = self._gradient(corpus.slice(low, low + length))
                self.weights.add(found.cells, -self.learn_rate * found.amounts)
                self.weights.time += 1
                loss += found.loss
        return loss

    def _gradient(self, sequence: Corpus) -> Gradient:
        found = single_gradient(sequence, self.weights) if self._is_free else None
        if found is not None:
            return found
        (batch,) = cut_batches(sequence, self.weights, len(sequence.gold.labels))
        loss, gradient = batch.loss_and_gradient(self.weights.values[batch.weights])
        return Gradient(loss, batch.weights, gradient.astype(np.float64))
