"""The trainer that sees the whole corpus in every step: L-BFGS, or OWL-QN where weights are to become 0."""

import time
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from spacy.attrs import ORTH, SENT_START
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from thinc.api import Optimizer

from ..annotation.gold import annotation_checksum
from ..core.arrays import Hashes, Segments
from ..core.errors import CRFError
from ..core.learn.blocks import EncodedCorpus, WindowedCorpus
from ..core.learn.full_batch import FullBatchObjective, new_optimizer
from ..core.learn.lbfgs import LBFGS
from ..core.learn.penalty import USUAL
from ..core.learn.second_order import TrigramObjective, trigram_optimizer
from ..core.learn.sgd import SGD
from ..core.stored import stored_size
from ..core.threads import single_threaded_blas
from ..core.trigrams import Trigrams, seen_trigrams
from .block import LBFGSSettings
from .cache import DiskShelf, open_cache
from .encoder import ChainLearner, MakeSample, Sample, Trainer, join, release_memory, sample_batches
from .errors import LearningErrors
from .model import get_weights, set_weights
from .penalty import choose_c2
from .resuming import StoppedSearch, order_of, sequence_checksums, usable

STEP = "Iteration %d: objective %.3f, gradient norm %.4g, %d active weights of %d features, %d evaluations, %.1f s."


class LBFGSTrainer(Trainer):
    """Full-batch L-BFGS: every step sees every example.

    The corpus is encoded in the first step and kept as long as its examples are. A step that finds gold, tokens or
    sentences changed, or what features read that other components write, encodes everything again and starts a new
    history. Constraints hold from the second step on: under weights that know nothing yet too many labellings are
    probable.
    """

    learns_trigrams = learns_constrained = True
    settings: LBFGSSettings

    def __init__(self, settings: LBFGSSettings, nlp: Language | None = None):
        self._pipeline: Callable[[], Language | None] = (lambda: None) if nlp is None else weakref.ref(nlp)
        self._chosen: float | None = None  # in the place of c2 = "auto"
        super().__init__(settings)

    @property
    def c2(self) -> float:
        """The penalty; that of "auto" is known from the first step on."""
        asked = self.settings.c2
        return asked if asked != "auto" else self._chosen or USUAL

    def reset(self) -> None:
        self.stopped = None
        self._ended: dict[str, Any] | None = None  # what a run has left whose examples are gone
        self._sequences: Hashes = np.zeros(0, dtype=np.uint64)
        self._corpus: WindowedCorpus | None = None  # until the weights are complete
        self._lacks_unseen = self._lacks_trigrams = self._lacks_paths = False
        self._n_steps = 0
        self.iterations = 0  # of the present run, with those of optimisers that others have followed
        self._objective: FullBatchObjective | TrigramObjective | None = None
        self.optimizer: LBFGS | None = None
        self._references: dict[int, weakref.ref[Doc]] = {}
        self._checksums: dict[int, int] = {}  # of what is encoded, by the examples
        self._annotation: dict[int, tuple[int, int]] = {}  # of what gold and sequences are read from
        self._n_tokens = 0  # of the corpus
        self._end_step()

    @property
    def is_running(self) -> bool:
        return self.optimizer is not None

    def state(self, learner: ChainLearner) -> dict[str, Any] | None:
        if self.optimizer is None:
            return self.stopped or self._ended
        return self._state(self.optimizer)

    def _state(self, optimizer: LBFGS) -> dict[str, Any]:
        phase = {"lacks_unseen": self._lacks_unseen, "lacks_trigrams": self._lacks_trigrams, "n_steps": self._n_steps}
        phase |= {"lacks_paths": self._lacks_paths}
        return {"search": vars(StoppedSearch.of(optimizer)), "sequences": self._sequences, **phase}

    def _end_step(self) -> None:
        self._arrived: dict[int, Doc] = {}  # kept alive until the step is taken, or their samples would be lost
        self._pending: list[Callable[[], Sample]] = []
        self._arrived_tokens = 0
        self._has_changed = self._is_asked = False

    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        n_tokens = sum(len(eg.predicted) for eg in examples)
        if self.settings.cache is not None:  # the examples are a signal to take a step, which is over the whole corpus
            is_first, self._is_asked = not self._is_asked, True
            return self._loss(learner, n_tokens if self.optimizer is None else self._n_tokens * is_first)
        arriving = {id(eg.reference): eg.reference for eg in examples}
        if len(arriving) == len(examples) and arriving.keys() == self._arrived.keys():
            return self._loss(learner, n_tokens)  # all of them once more, as `spacy debug model` gives them
        if len(arriving) < len(examples) or self._arrived.keys() & arriving.keys():
            self._end_step()
            raise CRFError(LearningErrors.CRF203)
        if self.optimizer is not None and not arriving.keys() <= self._references.keys():
            self._end_step()
            raise CRFError(LearningErrors.CRF202)
        annotation = {id(eg.reference): _annotation_of(eg) for eg in examples}
        is_edited = any(self._annotation.get(key) != own for key, own in annotation.items())
        if any(self._annotation.get(key, own)[0] != own[0] for key, own in annotation.items()):
            self._n_steps = 0  # weights beside those of trigrams have to learn other gold, too
        self._annotation.update(annotation)
        for batch in sample_batches(examples):
            read = cache(partial(make_sample, batch))  # most steps need the samples of the first one alone
            self._pending.append(read)
            if self.optimizer is None or is_edited or learner.features.extractor.reads_annotation:
                self._compare((id(eg.reference) for eg in batch), read())
        self._arrived.update(arriving)
        self._arrived_tokens += n_tokens
        return self._loss(learner, n_tokens)

    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        if not self._arrived and not self._is_asked:
            return
        release_memory()  # of the evaluation before
        try:
            with single_threaded_blas():
                self._step(learner, time.perf_counter())
        finally:
            self._end_step()
            release_memory()

    def _step(self, learner: ChainLearner, started: float) -> None:
        if self.optimizer is not None and self._arrived.keys() != self._references.keys():
            raise CRFError(LearningErrors.CRF202)
        if self.settings.cache is not None:
            if self.optimizer is None:
                self._start_cached(learner)
        elif self.optimizer is None or self._has_changed:
            self._start(learner)
        if isinstance(self._corpus, EncodedCorpus) and self._lacks_trigrams and self._is_first_order_done():
            self._optimize_trigrams(learner, self._corpus)
            self._corpus = None
        if not self._run(learner, started) or self._corpus is None:
            return
        self._n_steps += 1
        if self._lacks_paths or self._lacks_unseen:
            if self._lacks_unseen:
                self._add_unseen(learner, self._corpus)
            self._lacks_paths = self._lacks_unseen = False
            self._optimize(learner, self._corpus)
        if not self._lacks_trigrams:
            self._corpus = None

    @property
    def _lacks_more(self) -> bool:
        """Whether later steps need the corpus anew."""
        return self._lacks_unseen or self._lacks_trigrams or self._lacks_paths

    def _is_first_order_done(self) -> bool:
        return self._n_steps >= self.settings.first_order_steps or bool(self.optimizer and self.optimizer.reason)

    def _run(self, learner: ChainLearner, started: float) -> bool:
        """Take some iterations; False where there was nothing left to do."""
        objective, optimizer = self._objective, self.optimizer
        if objective is None or optimizer is None or optimizer.reason is not None:
            return False
        before = optimizer.iterations
        optimizer.run(self.settings.iterations_per_step)
        self.iterations += optimizer.iterations - before
        set_weights(learner.model, objective.weights(optimizer.x))
        weights = get_weights(learner.model)
        layout = weights.pruned().weights.layout
        logger.info(
            STEP,
            *(optimizer.iterations, optimizer.value, optimizer.gradient_norm, weights.n_active),
            *(layout.n_features + layout.n_edge_features, optimizer.evaluations, time.perf_counter() - started),
        )
        if optimizer.reason is not None:
            logger.info("L-BFGS stopped after %d iterations: %s.", optimizer.iterations, optimizer.reason)
        return True

    def _start_cached(self, learner: ChainLearner) -> None:
        """Encode everything on disk, unless it is there, and begin at the present weights."""
        corpus = open_cache(self, learner)
        self._n_tokens = sum(window.features.n_rows for window in corpus.windows())
        if not self._n_tokens:
            return
        learner.warn_of_unseen_labels(corpus)
        learner.add_weights(corpus)
        self._lacks_unseen = self.settings.unseen > 0
        self._corpus = corpus if self._lacks_more else None
        self._optimize(learner, corpus)

    def _start(self, learner: ChainLearner) -> None:
        """Encode everything that has arrived and begin at the present weights."""
        samples = [read() for read in self._pending]
        self._pending = []
        corpus = join(list(self._encode(learner, samples)))
        if not len(corpus.gold.labels):
            return
        self._n_tokens = self._arrived_tokens
        if self.warns_of_unseen:
            learner.warn_of_unseen_labels(corpus)
        if self.stopped is None:
            learner.add_weights(corpus)
        # the run is over when its examples are gone: nothing encoded outlives them
        own = weakref.WeakMethod(self._end)
        self._references = {key: weakref.ref(doc, partial(_forget, own)) for key, doc in self._arrived.items()}
        if self.settings.resumable:
            self._sequences = sequence_checksums(corpus)
        if self.stopped is not None:
            self._go_on(learner, corpus, self.stopped)
            return
        weights = get_weights(learner.model)
        self._lacks_unseen, self._lacks_trigrams = self.settings.unseen > 0, weights.order == 2
        self._lacks_paths = corpus.paths is not None
        if self.settings.c2 == "auto" and self._chosen is None:
            self._choose_c2(learner, replace(corpus, paths=None), samples)
        self._corpus = corpus if self._lacks_more else None
        set_weights(learner.model, replace(weights, trigrams=None))  # each run begins with the chain of order 1
        self._optimize(learner, corpus)

    def _encode(self, learner: ChainLearner, samples: Sequence[Sample]) -> Iterator[EncodedCorpus]:
        """Number features, unless a run goes on that has them all, and encode; keys are not kept for later."""
        config, is_new = learner.features.config, self.stopped is None
        counts = max(config.min_count, config.min_edge_count) > 1  # which are frequent enough is known at the end
        for sample in samples if is_new and counts else []:
            learner.grow(replace(sample))
        for sample in map(replace, samples):
            if is_new and not counts:
                learner.grow(sample)
            yield learner.encode(sample)

    def _choose_c2(self, learner: ChainLearner, corpus: EncodedCorpus, samples: Sequence[Sample]) -> None:
        """Put a number in the place of "auto", in the config of the pipeline too: a saved one tells what was used."""
        names = list(map(learner.document_of, self._arrived.values()))
        self._chosen = choose_c2(learner, corpus, samples, names, self.settings)
        nlp = self._pipeline()
        if nlp is not None and learner.name in nlp.component_names:
            nlp.get_pipe_config(learner.name)["trainer"]["c2"] = self._chosen

    def _go_on(self, learner: ChainLearner, corpus: EncodedCorpus, state: dict[str, Any]) -> None:
        """Continue a run that was interrupted, whose features and weights the learner has."""
        with usable(learner.name):
            corpus = corpus.take(order_of(state["sequences"], self._sequences, learner.name))
            self._sequences, self._n_steps = state["sequences"], stored_size("n_steps", state["n_steps"])
            self._lacks_unseen, self._lacks_trigrams = bool(state["lacks_unseen"]), bool(state["lacks_trigrams"])
            self._lacks_paths = bool(state.get("lacks_paths", False))
        self._corpus = corpus if self._lacks_more else None
        is_first_order = self._lacks_trigrams or get_weights(learner.model).order == 1
        optimizer = (self._optimize if is_first_order else self._optimize_trigrams)(learner, corpus)
        self.optimizer = None  # until it is where the other one was
        with usable(learner.name):
            StoppedSearch.from_data(state["search"], len(optimizer.x)).resume(optimizer)
        self.optimizer, self.stopped = optimizer, None

    def _add_unseen(self, learner: ChainLearner, corpus: WindowedCorpus) -> None:
        """Give weights to pairs that gold never shows but the model expects; a new history has to follow."""
        objective, optimizer = self._objective, self.optimizer
        assert isinstance(objective, FullBatchObjective) and optimizer is not None
        x, optimizer = optimizer.x, None
        self._objective = self.optimizer = None
        cells = objective.unseen(x, corpus, self.settings.unseen)
        objective = None  # before there is another one
        weights = get_weights(learner.model)
        layout = weights.layout
        set_weights(learner.model, weights.extended(layout.n_features, layout.n_edge_features, cells))
        logger.info("%d weights for pairs of feature and label that were not seen.", len(cells))

    def _optimize(self, learner: ChainLearner, corpus: WindowedCorpus) -> LBFGS:
        self._objective = self.optimizer = None  # not two sets of work arrays at a time
        weights, own = get_weights(learner.model), self.settings
        layout, flat = weights.layout, weights.flat
        if own.warmup and not flat.any() and isinstance(corpus, EncodedCorpus):
            sgd = SGD(corpus, layout, flat, self.c2, own.seed, own.c1, period=0)
            sgd.run(own.warmup)
            flat = sgd.flat
        known = replace(corpus, paths=None) if self._lacks_paths and isinstance(corpus, EncodedCorpus) else corpus
        shelf = None if own.cache is None else DiskShelf(own.cache)
        objective = self._objective = FullBatchObjective(known, layout, self.c2, own.n_threads, shelf=shelf)
        self.optimizer = new_optimizer(objective, flat, own.c1, **own.search)
        return self.optimizer

    def _optimize_trigrams(self, learner: ChainLearner, corpus: EncodedCorpus) -> LBFGS:
        """Go on with the weights of trigrams alone."""
        self._objective = self.optimizer = None
        self._lacks_trigrams = False
        weights, n_labels, own = get_weights(learner.model), len(learner.tags), self.settings
        trigrams = Trigrams(n_labels, seen_trigrams(corpus.gold, corpus.lengths, n_labels))
        logger.info("%d weights for trigrams of labels.", len(trigrams))
        self._objective = TrigramObjective(corpus, weights.with_trigrams(trigrams), self.c2, own.n_threads)
        self.optimizer = trigram_optimizer(self._objective, own.c1, **own.search)
        return self.optimizer

    def _end(self) -> None:
        """Forget a run but for what it needs to go on, where that is to be saved."""
        ended = self._ended
        if self.settings.resumable and self.optimizer is not None:
            ended = self._state(self.optimizer)
        self.reset()
        self._ended = ended

    def _loss(self, learner: ChainLearner, n_tokens: int) -> float:
        """Of a batch: its share of the objective, or before the first step the loss of weights of zero."""
        if self.optimizer is None:
            return n_tokens * float(np.log(max(1, len(learner.tags))))
        return self.optimizer.value * n_tokens / self._n_tokens

    def _compare(self, keys: Iterable[int], sample: Sample) -> None:
        """Note whether gold, or what components upstream have written, is another than in the step before."""
        now = dict(zip(keys, sample_checksums(sample)))
        self._has_changed |= any(self._checksums.get(key, checksum) != checksum for key, checksum in now.items())
        self._checksums.update(now)


def _forget(end: "weakref.WeakMethod[Callable[[], None]]", _: Any) -> None:
    """End a run when an example of it is gone."""
    if (found := end()) is not None:
        found()


def _annotation_of(example: Example) -> tuple[int, int]:
    """A number that changes with the gold of an example, and one with its tokens and where its sentences begin."""
    units = example.predicted.to_array([ORTH, SENT_START])
    return annotation_checksum(example.reference), zlib.crc32(units.tobytes())


def sample_checksums(sample: Sample) -> list[int]:
    """One number for each Doc, which changes with its gold, its sequences, and what other components wrote to it."""
    arrays: list[np.ndarray[Any, Any]] = [sample.columns.orths, Segments(sample.columns.lengths).positions]
    for attribute, column in sample.columns.by_attribute.items():
        if attribute.is_annotation:
            arrays.append(column.hashes)
            if attribute.name == "_":
                ones = np.ones(len(column.hashes), dtype=np.float32)
                arrays.append(ones if column.numbers is None else column.numbers)
    found = []
    for own in Segments(sample.columns.doc_lengths).slices():
        gold = sample.gold.slice(own.start, own.stop)
        parts = [gold.labels, gold.weights, *(array[own] for array in arrays)]
        found.append(zlib.crc32(b"".join(part.tobytes() for part in parts)))
    return found
