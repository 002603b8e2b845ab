"""The trainers that learn from one batch after the other and need none of them again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.training import Example
from thinc.api import Optimizer

from ..core.chain.observations import sum_scores
from .block import MakeSample, OnlineSettings
from .encoder import ChainLearner
from .model import PARAMS, VECTORS, get_layout, get_weights, set_weights
from .vectors import VectorGradients


class OnlineTrainer:
    """Perceptron, passive-aggressive, AROW, gradients: updates within each batch; features and weights grow as met.

    The model gets the weights to predict with, averaged ones as a rule, at the end of each step; training goes on from
    the raw ones, which stay here. A run that begins with weights, from a saved pipe or with labels added since, begins
    at these, and averages from there. The optimizer of the training block is used for vectors only, where the learner
    has a gradient for them.
    """

    learns_trigrams = False

    def __init__(self, settings: OnlineSettings):
        self.settings = settings
        self.reset()

    @property
    def learns_vectors(self) -> bool:
        return self._online.learns_vectors

    def reset(self) -> None:
        self._online = self.settings.learner()
        self._vectors = VectorGradients()
        self._rng = np.random.default_rng(self.settings.seed)
        self._present: list[Any] = []  # the model's arrays, as this trainer left them
        self._n_sequences = 0

    def __reduce__(self) -> tuple[type["OnlineTrainer"], tuple[OnlineSettings]]:
        """The settings: raw weights stay in the process that trains."""
        return OnlineTrainer, (self.settings,)

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        """Learn from a batch; the model follows in `apply`."""
        sample = make_sample(examples)
        is_ours = self._is_present(learner)
        learner.grow([sample])
        corpus = learner.encode(sample)
        learner.add_weights(corpus)
        layout = get_layout(learner.model)
        if is_ours:
            self._online.grow(layout)
        else:
            self._online.start(layout, get_weights(learner.model).flat)
        self._remember(learner)
        self._n_sequences += int((corpus.lengths > 0).sum())
        order = self._rng.permutation(len(corpus.lengths))
        scores = self._vectors.scores(learner, sample)
        if scores is None:
            return self._online.learn(corpus, order)
        by_emissions = np.zeros_like(scores)
        loss = self._online.learn(replace(corpus, scores=sum_scores(scores, corpus.scores)), order, by_emissions)
        self._vectors.take(learner, sample, by_emissions)
        return loss

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        """Give the model the weights to predict with, and take a step with the vectors."""
        if not self._n_sequences:
            return
        set_weights(learner.model, replace(get_weights(learner.model), flat=self._online.result))
        self._remember(learner)
        if sgd is None and learner.model.has_param(VECTORS):
            return  # the gradient of the vectors waits for an optimizer
        self._vectors.set(learner)
        if sgd is not None:
            learner.model.finish_update(sgd)
        self._n_sequences = 0

    def _remember(self, learner: ChainLearner) -> None:
        self._present = [learner.model.get_param(name) for name in PARAMS]

    def _is_present(self, learner: ChainLearner) -> bool:
        """Whether the model still has the weights that this trainer gave it."""
        now = [learner.model.get_param(name) for name in PARAMS]
        return bool(self._present) and all(old is new for old, new in zip(self._present, now))
