"""Stochastic gradient descent with a calibrated step size: what CRFsuite calls l2sgd, a few sequences at a time.

Step sizes fall as eta / (1 + lambda eta t), with lambda = 2 c2 / B for B sequences, of which t have been seen
(Shalev-Shwartz, Singer & Srebro, Pegasos, ICML 2007); eta does best on a sample (Bottou, Stochastic Gradient Descent
Tricks, 2012).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Floats, Segments
from ..chain.potentials import NonFiniteError
from ..errors import CoreErrors
from ..threads import single_threaded_blas
from ..weights import Layout
from .batches import FlatFinder, TrainingBatch, cut_batches
from .blocks import EncodedCorpus
from .lbfgs import DivergedError

UNITS_PER_BATCH = 500  # fewer leave too much of the time to Python
UPDATES = 100  # in an epoch, at least


class Descent:
    """Leads weights downhill, batch by batch, on -log p(gold | x) + c1 |w|_1 + c2 |w|^2 of a corpus.

    Each step shrinks all weights as L2 asks: they are kept divided by a common factor, made good at the end of an
    epoch. L1 is taken off at the end of the epoch, for all its steps at once (Duchi & Singer, JMLR 2009).

    flat ((layout.size,)): the weights. n_sequences (int): of the whole corpus; a batch has its share of the penalties.
    """

    def __init__(self, flat: Doubles, c1: float, c2: float, n_sequences: int):
        self.flat, self.c1, self.c2, self.n_sequences = flat, c1, c2, n_sequences

    def rate(self, eta: float, taken: int) -> float:
        """Step size after so many sequences, from a first one of `eta`."""
        return eta / (1 + 2 * self.c2 / self.n_sequences * eta * taken)

    def epoch(self, batches: Sequence[TrainingBatch], eta: float, taken: int = 0) -> float:
        """One step for each batch; returns the losses met, and the batches' share of the penalties at the end.

        eta (float): the first step size. taken (int): sequences before this epoch.
        """
        total, factor, stride, before = 0.0, 1.0, 0.0, taken
        with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):  # the loss tells
            for batch in batches:
                step = self.rate(eta, taken)
                taken += len(batch.sequences)
                factor *= self.rate(eta, taken) / step  # the shrinkages of as many single steps, multiplied out
                stride += step * len(batch.sequences)
                loss, gradient = self._loss_and_gradient(batch, factor)
                self.flat[batch.weights] -= step / factor * gradient
                total += loss
        self.flat *= factor
        threshold = stride * self.c1 / self.n_sequences
        self.flat -= np.clip(self.flat, -threshold, threshold)
        return total + (taken - before) / self.n_sequences * self._penalty()

    def loss(self, batches: Sequence[TrainingBatch]) -> float:
        """Losses of batches and their share of the penalties at the weights."""
        total = sum(self._loss_and_gradient(batch, 1.0)[0] for batch in batches)
        return total + sum(len(batch.sequences) for batch in batches) / self.n_sequences * self._penalty()

    def _loss_and_gradient(self, batch: TrainingBatch, factor: float) -> tuple[float, Floats]:
        """At the weights times a factor; in single precision, as exact as a stochastic gradient needs to be."""
        return batch.loss_and_gradient((self.flat[batch.weights] * factor).astype(np.float32))

    def _penalty(self) -> float:
        return float(self.c1 * np.abs(self.flat).sum() + self.c2 * (self.flat @ self.flat))


@dataclass(frozen=True)
class StepSizeSearch:
    """How the first step size is found: by an epoch over a sample with each candidate. Defaults are CRFsuite's.

    eta (float): the first candidate. rate (float): factor between candidates, which rise first and fall then; above 1.
    samples (int): sequences in the sample, at least. candidates (int): so many rise, and so many fall, at most.
    max_trials (int): so many are tried in all, at most.
    """

    eta: float = 0.1
    rate: float = 2.0
    samples: int = 1000
    candidates: int = 10
    max_trials: int = 20


@dataclass
class SGD:
    """Minimises -log p(gold | x) + c1 |w|_1 + c2 |w|^2 over a corpus, epoch by epoch: runs add up.

    Batches hold sequences of similar length and come in another order in each epoch.

    flat ((layout.size,)): the start; afterwards the weights of the best epoch.
    c2 (float), c1 (float): penalties. seed (int): of the order.
    period (int), delta (float): stop when the loss fell by less than `delta` times itself over `period` epochs; a
        period of 0 leaves this test out.
    units_per_batch (int): fewer where the corpus is small.
    """

    corpus: EncodedCorpus = field(repr=False)
    layout: Layout = field(repr=False)
    flat: Floats = field(repr=False)
    c2: float
    seed: int = 0
    c1: float = 0.0
    period: int = 10
    delta: float = 1e-6
    calibration: StepSizeSearch = field(default_factory=StepSizeSearch)
    units_per_batch: int = UNITS_PER_BATCH
    value: float = field(init=False, default=np.inf)
    values: list[float] = field(init=False, default_factory=list)
    eta: float = field(init=False)
    reason: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._n_sequences = int((self.corpus.lengths > 0).sum())
        units = max(1, min(self.units_per_batch, len(self.corpus.gold.labels) // UPDATES))
        self._batches = cut_batches(self.corpus, FlatFinder(self.layout), units)
        self._descent = Descent(np.array(self.flat, np.float64), self.c1, self.c2, max(1, self._n_sequences))
        self.eta = calibrate(self._descent, self._sample(), self.calibration)

    @property
    def epochs(self) -> int:
        """How many were run."""
        return len(self.values)

    def run(self, epochs: int) -> int:
        """Run up to so many epochs, and return how many were run; `reason` tells why it stopped.

        RAISES (DivergedError): when the loss is not finite.
        """
        before = self.epochs
        for _ in range(epochs):
            if self.reason is not None:
                break
            value = self._descent.epoch(self._shuffled(), self.eta, self.epochs * self._n_sequences)
            if not np.isfinite(value):
                raise DivergedError(CoreErrors.CRF201.format(iteration=self.epochs, value=value))
            self._take_note(value)
        return self.epochs - before

    def _shuffled(self) -> list[TrainingBatch]:
        return [self._batches[number] for number in self._rng.permutation(len(self._batches))]

    def _sample(self) -> list[TrainingBatch]:
        """Batches that together have as many sequences as calibration asks for."""
        batches = self._shuffled()
        ends = Segments.of(batch.sequences for batch in batches).ends
        return batches[: int(np.searchsorted(ends, self.calibration.samples)) + 1]

    def _take_note(self, value: float) -> None:
        """Keep the weights if they are the best so far, and see whether there is progress."""
        if value < self.value:
            self.value, self.flat = value, self._descent.flat.copy()
        self.values.append(value)
        if self.period and self.epochs > self.period:
            improvement = (self.values[-1 - self.period] - value) / max(abs(value), 1e-12)
            if improvement < self.delta:
                self.reason = f"improved by less than {self.delta:g} of its value over {self.period} epochs"


def calibrate(descent: Descent, sample: Sequence[TrainingBatch], calibration: StepSizeSearch) -> float:
    """The first step size after which an epoch over a sample ends lowest.

    Candidates rise while they do better, and then fall while they do. Where even a good epoch meets more losses than it
    avoids, as in a small sample, only the end tells; CRFsuite goes by what was met, and tries all candidates.
    """
    initial = descent.loss(sample)
    best, lowest, trials = calibration.eta, np.inf, calibration.max_trials
    for factor in (calibration.rate, 1 / calibration.rate):
        eta = calibration.eta if factor == calibration.rate else calibration.eta * factor
        for _ in range(min(calibration.candidates, trials)):
            loss, trials = _trial(descent, sample, eta), trials - 1
            if loss < lowest:
                best, lowest = eta, loss
            elif lowest < initial:
                break
            if factor > 1 and loss >= initial:
                break
            eta *= factor
    return best


def _trial(descent: Descent, sample: Sequence[TrainingBatch], eta: float) -> float:
    """Loss after an epoch from the present weights, which are kept; step sizes that are far too great may overflow."""
    trial = Descent(descent.flat.copy(), descent.c1, descent.c2, descent.n_sequences)
    try:
        trial.epoch(sample, eta)
        loss = trial.loss(sample)
    except NonFiniteError:
        return float("inf")
    return loss if np.isfinite(loss) else float("inf")
