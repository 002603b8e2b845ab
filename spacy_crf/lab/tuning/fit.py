"""Trains the model of a fold under many penalties, as the component's trainer would."""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from ...core.learn.full_batch import FullBatchObjective, new_optimizer
from ...core.learn.sgd import sgd_epochs
from ...core.learn.unseen import expected_unseen
from ...core.weights import ChainWeights
from ...learning.trainers.full_batch import LBFGSTrainer
from .folds import Fold


@dataclass(frozen=True)
class Fitted:
    """weights (ChainWeights): what was learned. iterations (int): how many it took."""

    weights: ChainWeights
    iterations: int


class FoldTrainer:
    """Fits one fold again and again, always from the start: a result does not depend on what was fitted before.

    fold (Fold): with its training part. trainer (LBFGSTrainer): whose settings hold, but for the penalties.
    iterations (int): at most so many for each fit.
    """

    def __init__(self, fold: Fold, trainer: LBFGSTrainer, iterations: int):
        self._corpus, self._layout, self._trainer, self._iterations = fold.train, fold.layout, trainer, iterations
        self._objective = FullBatchObjective(fold.train, fold.layout, 0.0, trainer.n_threads)

    def fit(self, c1: float, c2: float) -> Fitted:
        """Train with the given penalties."""
        objective, unseen = self._objective, self._trainer.unseen
        objective.c2 = c2
        optimizer = new_optimizer(objective, self._start(c1, c2), c1, **self._trainer.settings)
        optimizer.run(min(self._iterations, self._trainer.iterations_per_step) if unseen else self._iterations)
        fitted = Fitted(objective.weights(optimizer.x), optimizer.iterations)
        left = self._iterations - optimizer.iterations
        if not unseen or not left:
            return fitted
        cells = expected_unseen(self._corpus, fitted.weights, unseen, self._trainer.n_threads)
        weights = fitted.weights.extended(self._layout.n_features, self._layout.n_edge_features, cells)
        objective = FullBatchObjective(self._corpus, weights.layout, c2, self._trainer.n_threads)
        second = new_optimizer(objective, weights.flat, c1, **self._trainer.settings)
        second.run(left)
        return Fitted(objective.weights(second.x), optimizer.iterations + second.iterations)

    def _start(self, c1: float, c2: float) -> Floats:
        """Zero, or what a warm-up makes of it."""
        zero, epochs = np.zeros(self._layout.size), self._trainer.warmup
        if not epochs:
            return zero
        return sgd_epochs(self._corpus, self._layout, zero, c2, epochs, self._trainer.seed, c1)
