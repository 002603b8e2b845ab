"""Trainers: how a component turns examples into weights. Each is a config block of the component.

`accumulate` is called by the component's `update`, `apply` by its `finish_update`; accumulated sub-batches are one step.
"""

import weakref
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger, registry
from thinc.api import Optimizer

from .core.chain.objective import loss_and_gradient
from .core.gold import Gold
from .core.learn.blocks import Corpus
from .core.learn.full_batch import FullBatchObjective
from .core.learn.lbfgs import LBFGS
from .core.observations import EdgeObservations, observe
from .core.params import DenseWeights, gather, scatter
from .core.sparse import stack
from .errors import Errors
from .learner import ChainLearner, Sample
from .model import PARAMS, flat_weights, get_layout, set_flat_weights

MakeSample = Callable[[Sequence[Example]], Sample]


class Trainer(Protocol):
    """What a component asks of its trainer.

    sees_everything (bool): whether each step has the whole corpus.
    """

    sees_everything: bool

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        """Take in a batch. RETURNS (float): its loss at the present weights."""
        ...

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        """Take one step with everything taken in since the last one."""
        ...

    def reset(self) -> None:
        """Forget everything that belongs to a run."""
        ...


class LBFGSTrainer:
    """Full-batch L-BFGS: every step sees every example. See `make_lbfgs` for the settings."""

    sees_everything = True

    def __init__(self, iterations_per_step: int, c2: float, n_threads: int, **settings: Any):
        self.iterations_per_step, self.c2, self.n_threads, self.settings = iterations_per_step, c2, n_threads, settings
        self.reset()

    def reset(self) -> None:
        self._pending: list[Sample] = []
        self._references: dict[int, weakref.ref[Doc]] = {}
        self._arrived: set[int] = set()
        self._checksums: dict[int, int] = {}
        self._objective: FullBatchObjective | None = None
        self._optimizer: LBFGS | None = None
        self._n_units = 0

    def __getstate__(self) -> dict[str, Any]:
        """The settings: encodings and history stay in the process that trains."""
        return {
            "iterations_per_step": self.iterations_per_step,
            "c2": self.c2,
            "n_threads": self.n_threads,
            "settings": self.settings,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.reset()

    @property
    def optimizer(self) -> LBFGS | None:
        """The optimiser of the present run: its iterations, value and reason to stop."""
        return self._optimizer

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        new = {id(eg.reference): eg.reference for eg in examples}
        if self._arrived & new.keys():
            raise ValueError(Errors.CRF203)
        self._arrived |= new.keys()
        if self._optimizer is not None and not new.keys() <= self._references.keys():
            raise ValueError(Errors.CRF202)
        if self._optimizer is None or self._annotation_changed(learner, examples):
            return self._hold(learner, new, make_sample(examples))
        share = sum(len(eg.predicted) for eg in examples) / max(1, self._n_units)
        return self._optimizer.value * share

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        if not self._arrived:
            return
        if self._arrived != self._references.keys():
            raise ValueError(Errors.CRF202)
        if self._pending:
            self._start(learner)
        self._arrived = set()
        objective, optimizer = self._objective, self._optimizer
        if objective is None or optimizer is None or optimizer.reason is not None:
            return
        optimizer.run(self.iterations_per_step)
        set_flat_weights(learner.model, objective.finish(optimizer.x))
        if optimizer.reason is not None:
            logger.info("L-BFGS stopped after %d iterations: %s.", optimizer.iterations, optimizer.reason)

    def _hold(self, learner: ChainLearner, new: dict[int, Doc], sample: Sample) -> float:
        """Keep a sample until the step is complete; its loss is that of weights of zero."""
        for key, reference in new.items():
            # the run is over when its examples are gone: nothing encoded outlives them
            self._references[key] = weakref.ref(reference, _Forget(self))
        self._pending.append(sample)
        return len(sample.gold.labels) * float(np.log(max(1, len(learner.tags))))

    def _start(self, learner: ChainLearner) -> None:
        """Encode the whole corpus and begin at the present weights."""
        samples, self._pending = self._pending, []
        learner.grow(samples)
        corpus = join([learner.encode(s.columns, s.state, s.edge, s.gold) for s in samples])
        self._n_units = len(corpus.gold.labels)
        if not self._n_units:
            return
        learner.add_weights(corpus)
        layout = get_layout(learner.model)
        self._objective = FullBatchObjective(corpus, layout, self.c2, self.n_threads)
        self._optimizer = LBFGS(self._objective, self._objective.start(flat_weights(learner.model)), **self.settings)

    def _annotation_changed(self, learner: ChainLearner, examples: Sequence[Example]) -> bool:
        """Whether components upstream have annotated the Docs otherwise than when they were encoded."""
        if not learner.features.extractor.reads_annotation:
            return False
        key = min(id(eg.reference) for eg in examples)
        checksum = self._checksum(learner, examples)
        if self._checksums.setdefault(key, checksum) == checksum:
            return False
        logger.info("Upstream annotation has changed: features are encoded again.")
        references, arrived = self._references, self._arrived
        self.reset()
        self._references, self._arrived = references, arrived
        return True

    def _checksum(self, learner: ChainLearner, examples: Sequence[Example]) -> int:
        columns = learner.features.extractor.read([eg.predicted for eg in examples], learner.vocab)
        annotated = [column for a, column in columns.by_attribute.items() if a.is_annotation]
        return zlib.crc32(b"".join(column.hashes.tobytes() for column in annotated))


class _Forget:
    """Resets a trainer when an example of its run is gone."""

    def __init__(self, trainer: LBFGSTrainer):
        self._trainer = weakref.ref(trainer)

    def __call__(self, _: Any) -> None:
        trainer = self._trainer()
        if trainer is not None:
            trainer.reset()


class MinibatchTrainer:
    """Mini-batches with the pipeline's thinc optimizer; features and weights grow as they are met."""

    sees_everything = False

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._gradient = np.zeros(0, dtype=np.float32)
        self._n_sequences = 0
        self._dense: tuple[DenseWeights, DenseWeights] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.reset()

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        sample = make_sample(examples)
        learner.grow([sample])
        corpus = learner.encode(sample.columns, sample.state, sample.edge, sample.gold)
        learner.add_weights(corpus)
        if not len(corpus.gold.labels):
            return 0.0
        layout = get_layout(learner.model)
        weights, counts = self._work_arrays(learner)
        scatter(layout, flat_weights(learner.model), weights)
        observations = observe(corpus.lengths, corpus.features, corpus.edges)
        gold = corpus.gold.take(np.argsort(observations.batch.rows))
        loss = loss_and_gradient(observations, gold, weights, layout, counts)
        gradient = np.empty(layout.size, dtype=np.float32)
        gather(layout, counts, gradient)
        self._clear(counts, corpus)
        self._add(learner, gradient)
        self._n_sequences += len(corpus.lengths)
        return loss

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        if sgd is None or not self._n_sequences:
            return
        layout = get_layout(learner.model)
        # mean per sequence, so that learning rates and clipping do not depend on the batch size
        for name, section in zip(PARAMS, layout.split(self._gradient / self._n_sequences)):
            if len(section):
                learner.model.set_grad(name, section.copy())
                _pad_state(sgd, (learner.model.id, name), len(section))
        learner.model.finish_update(sgd)
        self._gradient, self._n_sequences = self._gradient[:0], 0

    def _add(self, learner: ChainLearner, gradient: "np.ndarray[Any, np.dtype[np.float32]]") -> None:
        """Add to the accumulated gradient, whose sections may have been shorter before this batch."""
        layout = get_layout(learner.model)
        if self._n_sequences and len(self._gradient) < layout.size:
            grown = [np.zeros(0, dtype=np.float32)]
            for old, new in zip(self._sections, layout.split(gradient)):
                grown.append(np.pad(old, (0, len(new) - len(old))))
            self._gradient = np.concatenate(grown)
        self._gradient = self._gradient + gradient if self._n_sequences else gradient
        self._sections = layout.split(self._gradient)

    def _work_arrays(self, learner: ChainLearner) -> tuple[DenseWeights, DenseWeights]:
        """Dense weights and counts, with room to grow; the counts are zero between batches."""
        layout = get_layout(learner.model)
        n = layout.n_labels
        if self._dense is not None:
            state, edges = self._dense[0].state, self._dense[0].edges
            if len(state) >= layout.n_features and len(edges) >= layout.n_edge_features and state.shape[1] == n:
                return self._dense
        roomy = _Room(layout.n_features + layout.n_features // 4, layout.n_edge_features * 2, n)
        self._dense = (roomy.zeros(), roomy.zeros())
        return self._dense

    @staticmethod
    def _clear(counts: DenseWeights, corpus: Corpus) -> None:
        """Zero the counts again: only rows of features that the batch has."""
        counts.state[corpus.features.indices] = 0
        for section in (counts.transitions, counts.edges, counts.start, counts.end):
            section[...] = 0


class _Room:
    """Sizes of work arrays."""

    def __init__(self, n_features: int, n_edge_features: int, n_labels: int):
        self.n_features, self.n_edge_features, self.n_labels = n_features, n_edge_features, n_labels

    def zeros(self) -> DenseWeights:
        n = self.n_labels
        shapes = ((self.n_features, n), (n, n), (self.n_edge_features, n * n), (n,), (n,))
        return DenseWeights(*(np.zeros(shape, dtype=np.float32) for shape in shapes))


def join(corpora: Sequence[Corpus]) -> Corpus:
    """Corpora one after the other."""
    if len(corpora) == 1:
        return corpora[0]
    first = corpora[0]
    units = np.cumsum([0] + [len(corpus.gold.labels) for corpus in corpora])
    gold = Gold(
        np.concatenate([corpus.gold.labels for corpus in corpora]),
        np.concatenate([corpus.gold.rows + unit for corpus, unit in zip(corpora, units)]),
        np.concatenate([corpus.gold.weights for corpus in corpora]),
    )
    edges = None
    if first.edges is not None:
        parts = [corpus.edges for corpus in corpora if corpus.edges is not None]
        groups = np.cumsum([0] + [part.features.n_rows for part in parts])
        edges = EdgeObservations(
            stack([part.features for part in parts], parts[0].features.n_columns),
            np.concatenate([part.groups + group for part, group in zip(parts, groups)]),
        )
    features = stack([corpus.features for corpus in corpora], first.features.n_columns)
    return Corpus(np.concatenate([corpus.lengths for corpus in corpora]), features, gold, edges)


def _pad_state(sgd: Any, key: tuple[int, str], size: int) -> None:
    """Lengthen an optimizer's moments and averages of a parameter that has grown."""
    for store in (getattr(sgd, "mom1", None), getattr(sgd, "mom2", None), getattr(sgd, "averages", None)):
        if store is not None and key in store and len(store[key]) < size:
            store[key] = np.pad(store[key], (0, size - len(store[key])))


@registry.misc("spacy_crf.LBFGS.v1")
def make_lbfgs(
    c2: float = 1.0,
    iterations_per_step: int = 10,
    memory: int = 6,
    period: int = 10,
    delta: float = 1e-5,
    epsilon: float = 1e-5,
    n_threads: int = 0,
) -> LBFGSTrainer:
    """Full-batch L-BFGS on the negative log-likelihood + c2 |w|^2, CRFsuite's objective.

    It wants every reference in every step: use the batcher spacy_crf.full_batch.v1.

    c2 (float): L2 penalty.
    iterations_per_step (int): quasi-Newton iterations for each step of the training loop, hence for each evaluation.
    memory (int): past steps that shape the curvature.
    period (int), delta (float): stop when the objective improved by less than `delta` over `period` iterations.
    epsilon (float): stop when |gradient| < epsilon max(1, |w|).
    n_threads (int): 0 takes all CPUs that the process may use. The result does not depend on it.
    RETURNS (Trainer): the trainer.
    """
    return LBFGSTrainer(iterations_per_step, c2, n_threads, memory=memory, period=period, delta=delta, epsilon=epsilon)


@registry.misc("spacy_crf.Minibatch.v1")
def make_minibatch() -> MinibatchTrainer:
    """Mini-batch training with the optimizer of the training block (Adam, SGD, ..), on mean gradients per sequence.

    RETURNS (Trainer): the trainer.
    """
    return MinibatchTrainer()
