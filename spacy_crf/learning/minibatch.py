"""The trainer for mini-batches: any thinc optimizer, features and weights growing as they are met."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from spacy.training import Example
from thinc.api import Optimizer
from thinc.types import Floats1d

from ..core.arrays import Floats
from ..core.chain.objective import loss_and_gradient
from ..core.chain.observations import observe, sum_scores
from ..core.learn.blocks import EncodedCorpus
from ..core.weights import DenseWeights, Layout, gather, scatter
from .block import MakeSample
from .encoder import ChainLearner, Sample
from .model import PARAMS, get_layout, get_weights
from .vectors import VectorGradients


class MinibatchTrainer:
    """Mini-batches with the pipeline's thinc optimizer; features and weights grow as they are met."""

    learns_vectors = True
    learns_trigrams = False

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._weights, self._counts = _WorkArrays(), _WorkArrays()
        self._end_step()

    def _end_step(self) -> None:
        self._gradient: list[Floats] = []
        self._vectors = VectorGradients()
        self._n_sequences = 0

    def __reduce__(self) -> tuple[type["MinibatchTrainer"], tuple[()]]:
        """Nothing: work arrays and gradients stay in the process that trains."""
        return MinibatchTrainer, ()

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        sample = make_sample(examples)
        learner.grow([sample])
        corpus = learner.encode(sample)
        learner.add_weights(corpus)
        if not len(corpus.gold.labels):
            return 0.0
        loss, gradient = self._loss_and_gradient(learner, corpus, sample)
        self._gradient = _sum_sections(self._gradient, get_layout(learner.model).split(gradient))
        self._n_sequences += int((corpus.lengths > 0).sum())
        return loss

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        if sgd is None or not self._n_sequences:
            return
        # mean per sequence, so that learning rates and clipping do not depend on the batch size
        for name, section in zip(PARAMS, self._gradient):
            if len(section):
                learner.model.set_grad(name, cast(Floats1d, section / np.float32(self._n_sequences)))
                _pad_state(sgd, (learner.model.id, name), len(section))
        self._vectors.set(learner)
        learner.model.finish_update(sgd)
        self._end_step()

    def _loss_and_gradient(self, learner: ChainLearner, corpus: EncodedCorpus, sample: Sample) -> tuple[float, Floats]:
        present = get_weights(learner.model)
        layout = present.layout
        weights, counts = self._weights.fit(layout), self._counts.fit(layout)
        scatter(layout, present.flat, weights)
        scores = self._vectors.scores(learner, sample)
        both = sum_scores(scores, corpus.scores)
        observations = observe(corpus.lengths, corpus.features, corpus.edges, both)
        gold = corpus.gold.take(observations.batch.units)
        gradient = np.empty(layout.size, dtype=np.float32)
        try:
            nodes = None if scores is None else np.empty_like(scores)
            loss = loss_and_gradient(observations, gold, weights, layout, counts, nodes)
            gather(layout, counts, gradient)
        finally:
            _clear(counts, corpus)
        if nodes is not None:
            self._vectors.take(learner, sample, nodes[observations.batch.rows])
        return loss, gradient


class _WorkArrays:
    """Dense arrays with room to grow, so that a batch with new features need not make them anew."""

    def __init__(self) -> None:
        self._room: DenseWeights | None = None

    def fit(self, layout: Layout) -> DenseWeights:
        """Views of the layout's size. What was written before is still there, unless they had to be made anew."""
        room = self._room
        if room is None or len(room.state) < layout.n_features or len(room.edges) < layout.n_edge_features:
            room = self._room = _zeros(layout.n_features * 5 // 4, layout.n_edge_features * 5 // 4, layout.n_labels)
        state, edges = room.state[: layout.n_features], room.edges[: layout.n_edge_features]
        return DenseWeights(state, room.transitions, edges, room.start, room.end)


def _zeros(n_features: int, n_edge_features: int, n_labels: int) -> DenseWeights:
    n = n_labels
    shapes = ((n_features, n), (n, n), (n_edge_features, n * n), (n,), (n,))
    return DenseWeights(*(np.zeros(shape, dtype=np.float32) for shape in shapes))


def _clear(counts: DenseWeights, corpus: EncodedCorpus) -> None:
    """Zero the counts again: only rows of features that the batch has."""
    counts.state[corpus.features.indices] = 0
    if corpus.edges is not None:
        counts.edges[corpus.edges.features.indices] = 0
    for section in (counts.transitions, counts.start, counts.end):
        section[...] = 0


def _sum_sections(old: list[Floats], new: list[Floats]) -> list[Floats]:
    """Section by section; new ones may be longer, as weights are added behind the present ones."""
    for total, section in zip(old, new):
        section[: len(total)] += total
    return new


def _pad_state(sgd: Any, key: tuple[int, str], size: int) -> None:
    """Lengthen an optimizer's moments and averages of a parameter that has grown."""
    for store in (getattr(sgd, "mom1", None), getattr(sgd, "mom2", None), getattr(sgd, "averages", None)):
        if store is not None and key in store and len(store[key]) < size:
            store[key] = np.pad(store[key], (0, size - len(store[key])))
