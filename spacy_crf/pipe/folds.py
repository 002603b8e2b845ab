"""The trainer of models that are trained on parts of the training data, to see what the others look like to them."""

import copy

from ..learning.block import LBFGSTrainer, Trainer, make_lbfgs


def fold_trainer(trainer: Trainer, iterations: int) -> LBFGSTrainer:
    """L-BFGS for the model of a fold, in two steps: with the settings of a component's trainer if it is L-BFGS."""
    own = copy.copy(trainer) if isinstance(trainer, LBFGSTrainer) else make_lbfgs()
    own.iterations_per_step = max(1, (iterations + 1) // 2)
    return own
