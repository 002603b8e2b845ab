"""The features of Agrawal & Shah (2014), the trainers to compare, and early stopping.

Sentences are encoded once. Their features are those of the paper: one for each part of speech and pair of adjacent
marks, seen or not, START and STOP among them, and no others.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.vocab import Vocab

from benchmarks.measure import Clock
from benchmarks.punctuation import NAME
from benchmarks.summary import Numbers
from spacy_crf.core.arrays import Bools, Floats, Indices, Ints
from spacy_crf.core.chain.potentials import potentials
from spacy_crf.core.chain.viterbi import viterbi
from spacy_crf.core.learn.blocks import EncodedCorpus, cut
from spacy_crf.core.learn.full_batch import FullBatchObjective, new_optimizer
from spacy_crf.core.learn.online import OnlineLearner, run_epochs
from spacy_crf.core.weights import DenseWeights, Layout, scatter
from spacy_crf.learning.block import PerceptronSettings, StochasticGradientSettings
from spacy_crf.learning.model import get_weights, set_weights
from spacy_crf.punctuation.block import NONE
from spacy_crf.punctuation.labels import LabelTable
from spacy_crf.punctuation.scorer import mark_scores

EPOCHS, PATIENCE, SEED = 15, 3, 0
CURVE, SHOWN = 3000, 10_000  # sentences of the training part that are scored in each epoch, and in the end
ITERATIONS = 10  # of L-BFGS between two looks at held-out sentences
MEASURES = ("word_acc", "punct_p", "punct_r", "punct_f", "punct_f_inner")
FEATURES = {"@misc": "spacy_crf.Features.v1", "templates": ["B:TAG", "TAG|BOS", "EOS"]}
VOCAB = Vocab()  # of all examples and pipelines, so that tags mean the same
LAST, MEAN = "perceptron, last weights", "perceptron, averaged"

Scores = dict[str, float]
Weights = dict[str, Floats]  # flat weights by the name of what gave them
Trainer = Callable[[EncodedCorpus, Layout], Iterator[Weights]]


class Sentences:
    """Encoded sentences, and the marks that some weights restore to them.

    corpus (EncodedCorpus): one sequence for each. restorer (Restorer): whose features they are encoded with.
    """

    def __init__(self, restorer: "Restorer", corpus: EncodedCorpus):
        self.restorer, self.corpus, self.blocks = restorer, corpus, cut(corpus)
        self.is_last: Bools = np.zeros(len(corpus.gold.labels), dtype=bool)
        self.is_last[np.cumsum(corpus.lengths) - 1] = True

    def first(self, count: int) -> "Sentences":
        """The first sentences; 0: all."""
        n_sentences = len(self.corpus.lengths)
        return self.take(np.arange(min(count or n_sentences, n_sentences)))

    def take(self, numbers: Indices) -> "Sentences":
        return Sentences(self.restorer, self.corpus.take(numbers))

    def decode(self, flat: Floats) -> Ints:
        """((N,)): the best labels under flat weights."""
        layout = self.restorer.layout
        weights, found = DenseWeights.zeros(layout), np.empty_like(self.corpus.gold.labels)
        scatter(layout, flat.astype(np.float32), weights)
        for block in self.blocks:
            found[block.units] = viterbi(potentials(block.observations, weights, layout)).labels
        return found

    def score(self, labels: Ints) -> Scores:
        """The measures of the component; `punct_f_inner` leaves out the last words of sentences."""
        names, scheme = self.restorer.marks, self.restorer.pipe.label_scheme

        def pairs(units: Bools) -> Counter[tuple[str, str]]:
            both = zip(self.corpus.gold.labels[units].tolist(), labels[units].tolist())
            return Counter({(names[gold], names[own]): n for (gold, own), n in Counter(both).items()})

        scores = mark_scores(pairs(np.ones_like(self.is_last)), scheme)
        scores["punct_f_inner"] = mark_scores(pairs(~self.is_last), scheme)["punct_f"]
        return {name: scores[name] for name in MEASURES}

    def baselines(self) -> dict[str, Scores]:
        """Scores of no mark anywhere, and of a period behind each last word."""
        none = np.full(len(self.is_last), self.restorer.marks.index(NONE), dtype=np.int32)
        ends = np.where(self.is_last, np.int32(self.restorer.marks.index("PERIOD")), none)
        return {"no mark anywhere": self.score(none), "period at the end": self.score(ends)}


class Restorer:
    """A restorer with their features for all words, seen with each pair of marks or not.

    examples (list[Example]): sentences that show all parts of speech.
    """

    def __init__(self, examples: Sequence[Example]):
        self.nlp = Language(VOCAB)
        self.nlp.add_pipe(NAME, config={"features": FEATURES, "probabilities": False})
        self.pipe: Any = self.nlp.get_pipe(NAME)
        self.pipe.initialize(lambda: examples, nlp=self.nlp)
        self.pipe.learner.grow(self.pipe.make_sample(examples))
        self.marks = [label.mark for label in LabelTable(self.pipe.tags.tags).parsed]
        n, (state, edge) = len(self.marks), (self.pipe.features.state, self.pipe.features.edge)
        cells = {"state_cells": np.arange(len(state) * n), "edge_cells": np.arange(len(edge) * n * n)}
        weights = get_weights(self.pipe.model).extended(len(state), len(edge), **cells)
        set_weights(self.pipe.model, weights)
        self.layout = weights.layout

    def encode(self, examples: Sequence[Example]) -> Sentences:
        return Sentences(self, self.pipe.learner.encode(self.pipe.make_sample(examples)))


def perceptron(corpus: EncodedCorpus, layout: Layout) -> Iterator[Weights]:
    """Collins' perceptron: its last weights, as in the paper, and their mean."""
    learner = PerceptronSettings().learner()
    for _ in _epochs(learner, corpus, layout):
        yield {LAST: learner.weights.raw, MEAN: learner.result}


def gradient(rate: float) -> Trainer:
    """Stochastic gradient ascent: its last weights, as in the paper, and their mean."""

    def run(corpus: EncodedCorpus, layout: Layout) -> Iterator[Weights]:
        learner = StochasticGradientSettings(rate).learner()
        for _ in _epochs(learner, corpus, layout):
            yield {
                f"gradient, rate {rate:g}": learner.weights.raw,
                f"gradient, rate {rate:g}, averaged": learner.result,
            }

    return run


def full_batch(c2: float) -> Trainer:
    """L-BFGS on the penalised likelihood; an epoch is a few iterations."""

    def run(corpus: EncodedCorpus, layout: Layout) -> Iterator[Weights]:
        objective = FullBatchObjective(corpus, layout, c2, n_threads=1)
        optimizer = new_optimizer(objective, np.zeros(layout.size))
        for _ in range(EPOCHS):
            optimizer.run(ITERATIONS)
            yield {f"L-BFGS, c2 {c2:g}": objective.basis.finish(optimizer.x)}

    return run


def _epochs(learner: OnlineLearner, corpus: EncodedCorpus, layout: Layout) -> Iterator[float]:
    learner.start(layout, np.zeros(layout.size))
    return run_epochs(learner, corpus, EPOCHS, SEED)


@dataclass
class Stopping:
    """The epochs of one trainer, and the weights of the one that is best on held-out sentences, by word accuracy."""

    patience: int
    epoch: int = 0
    flat: Floats | None = None
    dev: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=lambda: [0.0])

    def look(self, flat: Floats, train: Sentences, dev: Sentences) -> None:
        """Take in the weights of an epoch, unless the best one is too long ago."""
        if self.is_over:
            return
        accuracy, best = dev.score(dev.decode(flat))["word_acc"], max(self.dev, default=-1.0)
        self.dev.append(accuracy)
        self.train.append(train.score(train.decode(flat))["word_acc"])
        self.norms.append(float(np.linalg.norm(flat)))
        if accuracy > best:
            self.epoch, self.flat = len(self.dev), flat.copy()

    @property
    def is_over(self) -> bool:
        return len(self.dev) - self.epoch >= self.patience

    def row(self, seconds: Numbers, **parts: Sentences) -> dict[str, Any]:
        """The best epoch, its scores on parts of the data, and the curves."""
        assert self.flat is not None
        steps = np.abs(np.diff(self.norms)).tolist()
        curves = {"curve_dev": self.dev, "curve_train": self.train, "norm_steps": steps}
        scores = {name: part.score(part.decode(self.flat)) for name, part in parts.items()}
        return {"epoch": self.epoch, **seconds, **scores, **curves}


def mean_seconds(clocks: Sequence[Clock]) -> Numbers:
    """Wall and CPU seconds of an epoch."""
    return {
        "seconds_per_epoch": float(np.mean([clock.wall for clock in clocks])),
        "cpu_seconds_per_epoch": float(np.mean([clock.cpu for clock in clocks])),
    }


def fit(
    trainer: Trainer, train: Sentences, dev: Sentences, patience: int = PATIENCE, **others: Sentences
) -> dict[str, dict[str, Any]]:
    """Train until no accuracy on held-out sentences has risen for some epochs.

    Of the training part the first sentences are scored.

    patience (int): how many epochs. others (Sentences): scored once, with the weights of the best epoch.
    RETURNS (dict): a row for each kind of weights that the trainer gives.
    """
    found: dict[str, Stopping] = {}
    clocks: list[Clock] = []
    shown, curve = train.first(SHOWN), train.first(CURVE)
    steps = trainer(train.corpus, train.restorer.layout)
    while not found or not all(one.is_over for one in found.values()):
        with Clock() as clock:
            weights = next(steps, None)
        if weights is None:
            break
        clocks.append(clock)
        for name, flat in weights.items():
            found.setdefault(name, Stopping(patience)).look(flat, curve, dev)
    seconds = mean_seconds(clocks)
    return {name: one.row(seconds, train=shown, dev=dev, **others) for name, one in found.items()}
