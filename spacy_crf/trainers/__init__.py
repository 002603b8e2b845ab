"""Trainers: how a component turns examples into weights. Each is a config block of the component."""

from spacy.util import registry

from .base import MakeSample, Trainer
from .full_batch import LBFGSTrainer
from .minibatch import MinibatchTrainer

__all__ = ["LBFGSTrainer", "MakeSample", "MinibatchTrainer", "Trainer", "make_lbfgs", "make_minibatch"]


@registry.misc("spacy_crf.LBFGS.v1")
def make_lbfgs(
    c2: float = 1.0,
    iterations_per_step: int = 10,
    memory: int = 6,
    period: int = 10,
    delta: float = 1e-5,
    epsilon: float = 1e-5,
    n_threads: int = 0,
    unseen: float = 0.0,
) -> LBFGSTrainer:
    """Full-batch L-BFGS on the negative log-likelihood + c2 |w|^2, CRFsuite's objective.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1.

    c2 (float): L2 penalty.
    iterations_per_step (int): quasi-Newton iterations for each step of the training loop, hence for each evaluation.
    memory (int): past steps that shape the curvature.
    period (int), delta (float): stop when the objective improved by less than `delta` over `period` iterations.
    epsilon (float): stop when |gradient| < epsilon max(1, |w|).
    n_threads (int): 0 takes all CPUs that the process may use. The result does not depend on it.
    unseen (float): after the first step, give weights to pairs of feature and label as well that gold never shows but
        that the model expects more often than this in the whole corpus; 0: never. Features that occur once have none.
    RETURNS (Trainer): the trainer.
    """
    search = {"memory": memory, "period": period, "delta": delta, "epsilon": epsilon}
    return LBFGSTrainer(iterations_per_step, c2, n_threads, unseen, **search)


@registry.misc("spacy_crf.Minibatch.v1")
def make_minibatch() -> MinibatchTrainer:
    """Mini-batch training with the optimizer of the training block (Adam, SGD, ..), on mean gradients per sequence.

    RETURNS (Trainer): the trainer.
    """
    return MinibatchTrainer()
