"""Trainers: how a component turns examples into weights. Each is a config block of the component."""

from typing import Literal

from spacy.util import registry

from ..core.learn.adagrad import AdaGrad
from ..core.learn.arow import AROW
from ..core.learn.passive_aggressive import PassiveAggressive
from ..core.learn.perceptron import Perceptron
from ..core.learn.stochastic_gradient import StochasticGradient
from .trainers.base import MakeSample, Trainer
from .trainers.full_batch import LBFGSTrainer
from .trainers.minibatch import MinibatchTrainer
from .trainers.online import OnlineTrainer

__all__ = [
    "LBFGSTrainer",
    "MakeSample",
    "MinibatchTrainer",
    "OnlineTrainer",
    "Trainer",
    "make_adagrad",
    "make_arow",
    "make_lbfgs",
    "make_minibatch",
    "make_passive_aggressive",
    "make_perceptron",
    "make_stochastic_gradient",
]


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
    c1: float = 0.0,
    warmup: int = 0,
    seed: int = 0,
    first_order_steps: int = 10,
) -> LBFGSTrainer:
    """Full-batch L-BFGS on the negative log-likelihood + c1 |w|_1 + c2 |w|^2, CRFsuite's objective.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1.

    c2 (float): L2 penalty.
    iterations_per_step (int): quasi-Newton iterations for each step of the training loop, hence for each evaluation.
    memory (int): past steps that shape the curvature.
    period (int), delta (float): stop when the objective improved by less than `delta` over `period` iterations.
    epsilon (float): stop when |gradient| < epsilon max(1, |w|).
    n_threads (int): 0 takes all CPUs that the process may use. The result does not depend on it.
    unseen (float): after the first step, give weights to pairs of feature and label as well that gold never shows but
        that the model expects more often than this in the whole corpus; 0: never. Features that occur once have none.
    c1 (float): L1 penalty: most weights become 0 (OWL-QN) and are left out when the pipe is saved.
    warmup (int): epochs of stochastic gradient descent before the first iteration, where there are no weights yet.
    seed (int): of the order of the sequences in the warm-up.
    first_order_steps (int): for a model of order 2, steps for all other weights before those for the weights of
        trigrams alone, which take less time; fewer where the former have converged. Both need steps: see that
        `max_steps` and `patience` of the training block leave some for the trigrams.
    RETURNS (Trainer): the trainer.
    """
    search = {"memory": memory, "period": period, "delta": delta, "epsilon": epsilon}
    return LBFGSTrainer(iterations_per_step, c2, n_threads, unseen, c1, warmup, seed, first_order_steps, **search)


@registry.misc("spacy_crf.Minibatch.v1")
def make_minibatch() -> MinibatchTrainer:
    """Mini-batch training with the optimizer of the training block (Adam, SGD, ..), on mean gradients per sequence.

    With `use_averages` of the optimizer, evaluation and saving see averaged weights. thinc's optimizers are dense: a
    step costs as much as there are weights, however few the batch shows. spacy_crf.AdaGrad.v1 touches only those.

    RETURNS (Trainer): the trainer.
    """
    return MinibatchTrainer()


@registry.misc("spacy_crf.Perceptron.v1")
def make_perceptron(batch_size: int = 1, seed: int = 0, averaging: bool = True) -> OnlineTrainer:
    """Structured perceptron (Collins 2002).

    Like all online trainers: batches of any size, features grow as they are met, every epoch of the training loop is
    an epoch of the algorithm, and nothing is kept of the examples, so that corpora may be streamed.

    batch_size (int): sequences that are decoded with the same weights. 1 updates after each sequence; more make fewer
        and larger steps.
    seed (int): of the order of sequences within a batch.
    averaging (bool): predict with the mean of the weights over time.
    RETURNS (Trainer): the trainer.
    """
    return OnlineTrainer(Perceptron, seed, {"batch_size": batch_size, "averaging": averaging})


@registry.misc("spacy_crf.PassiveAggressive.v1")
def make_passive_aggressive(
    kind: Literal["PA", "PA-I", "PA-II"] = "PA-I",
    c: float = 1.0,
    error_sensitive: bool = True,
    averaging: bool = True,
    batch_size: int = 1,
    seed: int = 0,
) -> OnlineTrainer:
    """Passive-aggressive (Crammer et al. 2006): steps as long as it takes to put the gold path ahead.

    kind (str): "PA" goes all the way, "PA-I" at most c, "PA-II" is held back smoothly.
    c (float): aggressiveness.
    error_sensitive (bool): ask for a greater lead where more labels were wrong.
    averaging (bool): predict with the mean of the weights over time.
    batch_size (int), seed (int): as in spacy_crf.Perceptron.v1.
    RETURNS (Trainer): the trainer.
    """
    settings = {"kind": kind, "c": c, "error_sensitive": error_sensitive, "averaging": averaging}
    return OnlineTrainer(PassiveAggressive, seed, {**settings, "batch_size": batch_size})


@registry.misc("spacy_crf.AROW.v1")
def make_arow(variance: float = 1.0, gamma: float = 1.0, batch_size: int = 1, seed: int = 0) -> OnlineTrainer:
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009): weights often moved are moved less.

    variance (float): of each weight at the start.
    gamma (float): trade-off between correcting mistakes and staying where one is.
    batch_size (int), seed (int): as in spacy_crf.Perceptron.v1.
    RETURNS (Trainer): the trainer.
    """
    return OnlineTrainer(AROW, seed, {"variance": variance, "gamma": gamma, "batch_size": batch_size})


@registry.misc("spacy_crf.AdaGrad.v1")
def make_adagrad(
    learn_rate: float = 0.6, damping: float = 3.0, averaging: bool = True, units_per_batch: int = 2000, seed: int = 0
) -> OnlineTrainer:
    """Mini-batch AdaGrad on the log-likelihood: near the best F1 after two or three epochs, and real probabilities.

    learn_rate (float): of a weight that has not moved much.
    damping (float): where the sums of squared gradients begin; 0.000001 is AdaGrad as published, which lets rare
        features jump and needs more epochs.
    averaging (bool): predict with a mean of the weights over time in which later ones count more.
    units_per_batch (int): about so many tokens make a step, within each batch of the training loop.
    seed (int): of the order of sequences within a batch.
    RETURNS (Trainer): the trainer.
    """
    settings = {"learn_rate": learn_rate, "damping": damping, "averaging": averaging}
    return OnlineTrainer(AdaGrad, seed, {**settings, "units_per_batch": units_per_batch})


@registry.misc("spacy_crf.StochasticGradient.v1")
def make_stochastic_gradient(learn_rate: float = 0.01, averaging: bool = True, seed: int = 0) -> OnlineTrainer:
    """Plain gradient steps on the log-likelihood after each sequence, all at one rate (Agrawal & Shah 2014).

    What spacy_crf.Minibatch.v1 does with the optimizer SGD.v1 and batches of one example, at a fraction of the cost.

    learn_rate (float): how far.
    averaging (bool): predict with the mean of the weights over time.
    seed (int): of the order of sequences within a batch.
    RETURNS (Trainer): the trainer.
    """
    return OnlineTrainer(StochasticGradient, seed, {"learn_rate": learn_rate, "averaging": averaging})
