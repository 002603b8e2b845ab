"""The trainers that learn from one batch after the other, features and weights growing as they are met."""

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast
from weakref import WeakSet

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Optimizer
from thinc.types import Floats1d, Floats2d

from ..core.arrays import Floats, Hashes
from ..core.chain.objective import loss_and_gradient
from ..core.chain.potentials import observe, sum_scores
from ..core.learn.blocks import EncodedCorpus
from ..core.stored import stored_floats
from ..core.weights import DenseWeights, Layout, gather, scatter
from ..features.features import Features
from ..features.hashing import string_hash
from .block import OnlineSettings
from .cache import CachedCorpus, open_cache
from .encoder import ChainLearner, MakeSample, Sample, Trainer, release_memory
from .model import PARAMS, VECTORS, get_layout, get_weights, set_weights
from .resuming import generator_numbers, generator_of, give_moments, moments_of, stored_moments, stored_texts, usable


class GrowingTrainer(Trainer):
    """Features grow as they are met; for `min_count` a document counts once, however often it comes."""

    _features: Features | None = None
    _counted: WeakSet[Doc]
    _texts: list[int]  # hashes of the texts of all that was counted
    _before: Counter[int]  # those of a run that goes on, whose documents have not come again yet

    def grow(self, learner: ChainLearner, examples: Sequence[Example], sample: Sample) -> None:
        """Number the new features of a batch that are frequent enough."""
        features = learner.features
        if self._features is not features:
            self._count_on(features, [])
        if max(features.config.min_count, features.config.min_edge_count) == 1:
            learner.grow(sample)
            return
        fresh = np.array([self._is_new(example.reference) for example in examples], dtype=bool)
        learner.grow(sample, np.repeat(fresh, sample.columns.doc_lengths))

    def _is_new(self, reference: Doc) -> bool:
        if reference in self._counted:
            return False
        self._counted.add(reference)
        text = string_hash(reference.text)
        if self._before[text]:
            self._before[text] -= 1
            return False
        self._texts.append(text)
        return True

    def _count_on(self, features: Features, texts: list[int]) -> None:
        """Begin to count, or go on where documents with such texts were counted."""
        self._features, self._counted, self._texts, self._before = features, WeakSet(), texts, Counter(texts)

    def __getstate__(self) -> dict[str, Any]:
        """Without documents, which are known by their texts."""
        known = {} if self._features is None else {"_counted": WeakSet(), "_before": Counter(self._texts)}
        return {**self.__dict__, **known}

    @property
    def counted(self) -> Hashes:
        """((n,)): hashes of the texts that were counted."""
        return np.array(self._texts, dtype=np.uint64)


class OnlineTrainer(GrowingTrainer):
    """Perceptron, passive-aggressive, AROW, gradients: updates within each batch; features and weights grow as met.

    The model gets the weights to predict with, averaged ones as a rule, at the end of each step; training goes on from
    the raw ones, which stay here. A run that begins with weights, from a saved pipe or with labels added since, begins
    at these, and averages from there. The optimizer of the training block is used for vectors only, where the learner
    has a gradient for them.
    """

    settings: OnlineSettings

    def reset(self) -> None:
        self.stopped = None
        self._online = self.settings.learner()
        self.learns_vectors = self._online.learns_vectors
        self._vectors = VectorGradients()
        self._rng = np.random.default_rng(self.settings.seed)
        self._present: list[Any] = []  # the model's arrays, as this trainer left them
        self._n_sequences = 0
        self._corpus: CachedCorpus | None = None

    @property
    def is_running(self) -> bool:
        return bool(self._present)

    def state(self, learner: ChainLearner) -> dict[str, Any] | None:
        if not self._is_ours(learner):
            return self.stopped
        return {"learner": self._online.state(), "order": generator_numbers(self._rng), "counted": self.counted}

    def _go_on(self, learner: ChainLearner, state: dict[str, Any]) -> None:
        with usable(learner.name):
            self._online.go_on(get_layout(learner.model), state["learner"])
            self._rng = generator_of(state["order"])
            self._count_on(learner.features, stored_texts(state["counted"]))
        self._remember(learner)
        self.stopped = None

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        """Learn from a batch, or with a cache from the corpus, once for each step; the model follows in `apply`."""
        if self.settings.cache is not None:
            is_first = not self._n_sequences
            self._n_sequences += len(examples)
            return self._learn_epoch(learner) if is_first else 0.0
        sample = make_sample(examples)
        if self.stopped is not None:
            self._go_on(learner, self.stopped)
        is_ours = self._is_ours(learner)
        self.grow(learner, examples, sample)
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
        self._vectors.set(learner, sgd)
        if sgd is not None:
            learner.model.finish_update(sgd)
        self._n_sequences = 0

    def _learn_epoch(self, learner: ChainLearner) -> float:
        """Learn from the whole corpus on disk once, windows and the sequences within each in a new order.

        RETURNS (float): the loss of the epoch.
        """
        if self._corpus is None:
            self._corpus = open_cache(self, learner)
            learner.add_weights(self._corpus)
            self._online.start(get_layout(learner.model), get_weights(learner.model).flat)
        loss = 0.0
        for number in self._rng.permutation(len(self._corpus)).tolist():
            window = self._corpus.window(number)
            loss += self._online.learn(window, self._rng.permutation(len(window.lengths)))
        release_memory()
        return loss

    def _is_ours(self, learner: ChainLearner) -> bool:
        """Whether the model has the weights that this trainer left."""
        return bool(self._present) and all(map(operator.is_, self._present, _arrays(learner)))

    def _remember(self, learner: ChainLearner) -> None:
        self._present = _arrays(learner)


class MinibatchTrainer(GrowingTrainer):
    """Mini-batches with the pipeline's thinc optimizer; features and weights grow as they are met."""

    learns_vectors = True

    def reset(self) -> None:
        self.stopped = None
        self._weights, self._counts = _WorkArrays(), _WorkArrays()
        self._last: tuple[Optimizer, list[Any]] | None = None  # the optimizer, and the weights that it left
        self._moments: dict[str, Any] = {}  # of a run that goes on, until there is an optimizer to take them
        self._end_step()

    def state(self, learner: ChainLearner) -> dict[str, Any] | None:
        """Weights are those of training, also where averages are saved in their place."""
        if self._last is None:
            return self.stopped
        sgd, arrays = self._last
        return {"raw": np.concatenate(arrays), "moments": moments_of(sgd, learner.model.id), "counted": self.counted}

    def _go_on(self, learner: ChainLearner, state: dict[str, Any]) -> None:
        layout = get_layout(learner.model)
        with usable(learner.name):
            flat = stored_floats("raw", state["raw"], (layout.size,))
            self._moments = stored_moments(state["moments"], [len(cells) for cells in layout.cells])
            self._count_on(learner.features, stored_texts(state["counted"]))
        set_weights(learner.model, replace(get_weights(learner.model), flat=flat))
        self.stopped = None

    def _end_step(self) -> None:
        self._gradient: list[Floats] = []
        self._vectors = VectorGradients()
        self._n_sequences = 0

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        sample = make_sample(examples)
        if self.stopped is not None:
            self._go_on(learner, self.stopped)
        self.grow(learner, examples, sample)
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
        give_moments(sgd, learner.model.id, self._moments)
        self._moments = {}
        # mean per sequence, so that learning rates and clipping do not depend on the batch size
        for name, section in zip(PARAMS, self._gradient):
            if len(section):
                learner.model.set_grad(name, cast(Floats1d, section / np.float32(self._n_sequences)))
                _pad_state(sgd, (learner.model.id, name), section.shape)
        self._vectors.set(learner, sgd)
        learner.model.finish_update(sgd)
        if self.settings.resumable:
            self._last = sgd, _arrays(learner)
        self._end_step()

    def _loss_and_gradient(self, learner: ChainLearner, corpus: EncodedCorpus, sample: Sample) -> tuple[float, Floats]:
        present = get_weights(learner.model)
        layout = present.layout
        weights, counts = self._weights.fit(layout), self._counts.fit(layout)
        scatter(layout, present.flat, weights)
        scores = self._vectors.scores(learner, sample)
        observations = observe(corpus.lengths, corpus.features, corpus.edges, sum_scores(scores, corpus.scores))
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


class VectorGradients:
    """What the batches of a step have asked of the vectors' scores; the layer below the vectors is told at once.

    Gradients are means per sequence of a batch. Where a step accumulates several batches, those of the scores and of
    the layer are summed over these, as spaCy's own components do.
    """

    def __init__(self) -> None:
        self._by_scores: Floats | None = None

    def scores(self, learner: ChainLearner, sample: Sample) -> Floats | None:
        """((N, L)): what the vectors of a batch score; None for models without vectors."""
        vectors = sample.columns.vectors
        return None if vectors is None else vectors @ np.asarray(learner.model.get_param(VECTORS))

    def take(self, learner: ChainLearner, sample: Sample, by_emissions: Floats) -> None:
        """Pass on the gradient of the loss by the emissions ((N, L)) of the units in the order of the Docs."""
        vectors, weights = sample.columns.vectors, np.asarray(learner.model.get_param(VECTORS))
        assert vectors is not None and sample.backprop is not None
        means = by_emissions / np.float32((sample.columns.lengths > 0).sum())
        gradient = vectors.T @ means
        self._by_scores = gradient if self._by_scores is None else self._by_scores + gradient
        sample.backprop(means @ weights.T)

    def set(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        """Give the model the gradient, and forget it here."""
        if self._by_scores is not None:
            _pad_state(sgd, (learner.model.id, VECTORS), self._by_scores.shape)
            learner.model.set_grad(VECTORS, cast(Floats2d, self._by_scores))
        self._by_scores = None


def _arrays(learner: ChainLearner) -> list[Any]:
    return [learner.model.get_param(name) for name in PARAMS]


class _WorkArrays:
    """Dense arrays with room to grow, so that a batch with new features need not make them anew."""

    def __init__(self) -> None:
        self._room: DenseWeights | None = None

    def fit(self, layout: Layout) -> DenseWeights:
        """Views of the layout's size. What was written before is still there, unless they had to be made anew."""
        room = self._room
        if room is None or len(room.state) < layout.n_features or len(room.edges) < layout.n_edge_features:
            sizes = (layout.n_features * 5 // 4, layout.n_edge_features * 5 // 4)
            room = self._room = DenseWeights.zeros(Layout.empty(layout.n_labels, False, *sizes))
        state, edges = room.state[: layout.n_features], room.edges[: layout.n_edge_features]
        return DenseWeights(state, room.transitions, edges, room.start, room.end)


def _clear(counts: DenseWeights, corpus: EncodedCorpus) -> None:
    """Zero the counts again: only rows of features that the batch has."""
    counts.state[corpus.features.indices] = 0
    if corpus.edges is not None:
        counts.edges[corpus.edges.features.indices] = 0
    counts.transitions[...] = counts.start[...] = counts.end[...] = 0


def _sum_sections(old: list[Floats], new: list[Floats]) -> list[Floats]:
    """Section by section; new ones may be longer, as weights are added behind the present ones."""
    for total, section in zip(old, new):
        section[: len(total)] += total
    return new


def _pad_state(sgd: Any, key: tuple[int, str], shape: tuple[int, ...]) -> None:
    """Lengthen an optimizer's moments and averages of a parameter that has grown, in its last dimension."""
    for store in (getattr(sgd, "mom1", None), getattr(sgd, "mom2", None), getattr(sgd, "averages", None)):
        if store is not None and key in store and store[key].size < np.prod(shape):
            rows = store[key].reshape(*shape[:-1], -1)  # moments are flat, whatever the parameter
            grown = np.pad(rows, [*[(0, 0)] * (len(shape) - 1), (0, shape[-1] - rows.shape[-1])])
            store[key] = grown.reshape(shape if store[key].ndim > 1 else -1)
