"""Epochs of stochastic gradient descent over small batches."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Doubles, Floats
from ..threads import single_threaded_blas
from .batches import TrainingBatch


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

    def epoch(self, batches: Sequence[TrainingBatch], eta: float, taken: int = 0) -> float:
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

    def loss(self, batches: Sequence[TrainingBatch]) -> float:
        """Losses of batches and their share of the penalties at the weights."""
        total = sum(self._loss_and_gradient(batch, 1.0)[0] for batch in batches)
        return total + sum(len(batch.sequences) for batch in batches) / self.n_sequences * self._penalty()

    def _step(self, batch: TrainingBatch, factor: float, step: float) -> float:
        """Go against the gradient of a batch, taken where the weights are those at hand times a factor."""
        loss, gradient = self._loss_and_gradient(batch, factor)
        self.flat[batch.weights] -= step / factor * gradient
        return loss

    def _loss_and_gradient(self, batch: TrainingBatch, factor: float) -> tuple[float, Floats]:
        """In single precision, which is as exact as a stochastic gradient needs to be."""
        return batch.loss_and_gradient((self.flat[batch.weights] * factor).astype(np.float32))

    def _penalty(self) -> float:
        return float(self.c1 * np.abs(self.flat).sum() + self.c2 * (self.flat @ self.flat))
