"""What the chain tells of words, and calibrated probabilities of marks and thresholds, which a restorer learns from
data it was not trained on."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NotRequired, TypedDict

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ..core.arrays import Bools, Floats, Ints
from ..core.calibration import DirichletMap, Reliability, classwise_errors, fit_dirichlet, reliability
from ..core.chain.distribution import BestPaths
from ..core.errors import CRFError, CRFWarning
from ..core.labels import UNKNOWN, TagSet
from ..core.scores import Scores, best_f_threshold, choice_scores, precision_threshold
from ..core.stored import stored_floats
from ..pipe.block import AUTO
from ..pipe.decoding import Batch, Decoder
from ..pipe.live_settings import LiveSettings
from .block import NONE, RestorerSettings
from .docs import gold_labels, register_punctuation
from .errors import PunctuationErrors, PunctuationWarnings
from .labels import LabelTable

BATCH_SIZE = 64
CALIBRATION = "calibration"  # where the map is kept
FEW = 2000  # words; with fewer, the map made the probabilities of talks worse as often as better
LEAST_THRESHOLD = 1e-6  # thresholds have to be above 0


@dataclass(frozen=True)
class MarkCalibration:
    """A map of the probabilities of marks, which were the columns that it was fitted to, NONE among them."""

    marks: tuple[str, ...]
    map: DirichletMap

    def apply(self, marginals: Floats, table: LabelTable) -> Floats:
        """Calibrate the sums of probabilities over each mark; the labels of a mark keep their shares.

        What has no probability still has none, such as the other labels of a word whose mark is given.

        marginals ((n, L)): probabilities of labels. table (LabelTable): of the labels, with the same marks.
        """
        sums = table.mark_probabilities(marginals.astype(np.float64))
        factors = np.divide(self.map(sums), sums, out=np.zeros_like(sums), where=sums > 0)
        return (marginals * factors[:, table.mark_of]).astype(marginals.dtype)

    def to_data(self) -> dict[str, Any]:
        """Return JSON."""
        return {"marks": list(self.marks), "weights": self.map.weights.tolist(), "bias": self.map.bias.tolist()}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "MarkCalibration":
        """Restore from `to_data`."""
        weights, bias = (np.array(data[name], dtype=np.float64) for name in ("weights", "bias"))
        n_marks = len(data["marks"])
        stored_floats("weights", weights, (n_marks, n_marks))
        stored_floats("bias", bias, (n_marks,))
        return cls(tuple(data["marks"]), DirichletMap(weights, bias))


class StoredCalibration(TypedDict):
    """What `MarkCalibration` is in a file, with the temperature of the probabilities that it was fitted to."""

    marks: list[str]
    weights: list[list[float]]
    bias: list[float]
    temperature: NotRequired[float]


class Marked(NamedTuple):
    """Words with gold: probabilities (n, M) of the marks, NONE among them, and the columns (n,) of the gold marks."""

    marks: tuple[str, ...]
    probabilities: Floats
    labels: Ints

    @property
    def told(self) -> list[str]:
        """The marks without NONE."""
        return [mark for mark in self.marks if mark != NONE]

    @property
    def error(self) -> float:
        """Classwise calibration error, the mean over the marks, NONE among them."""
        return float(classwise_errors(self.probabilities, self.labels).mean())

    def fit(self) -> MarkCalibration:
        """Fit a calibration to all words, at least one."""
        return MarkCalibration(self.marks, fit_dirichlet(self.probabilities, self.labels))

    def at(self, mark: str) -> tuple[Floats, Bools]:
        """((n,), (n,)): the probability of a mark, and whether it is there."""
        column = self.marks.index(mark)
        return self.probabilities[:, column], self.labels == column

    def reliability(self, mark: str, n_bins: int) -> Reliability:
        """Compare how probable a mark was held to be with how often it was there, in bins of equal width."""
        return reliability(*self.at(mark), n_bins)

    def scores(self, mark: str, threshold: float) -> tuple[Scores, Scores]:
        """Return what probabilities promise of a mark that is set from a threshold on, and what gold says of it."""
        probabilities, there = self.at(mark)
        taken = probabilities >= threshold
        return choice_scores(probabilities, taken), choice_scores(there, taken)


@dataclass(slots=True)
class WordPrediction:
    """What was decoded for the words of a Doc.

    tags ((n,)): label indices. marginals ((n, L) | None): probabilities of labels, those of marks calibrated.
    n_best (list[BestPaths] | None): the best labellings; a Doc is one sequence, or none without words.
    """

    tags: Ints
    marginals: Floats | None = None
    n_best: list[BestPaths] | None = None


@dataclass(frozen=True)
class WordDecoder(Decoder):
    """The best labels of words, and their probabilities.

    marginals (bool): tell probabilities. n_best (int): how many labellings to list.
    calibrate (Callable | None): maps probabilities of labels (N, L), so that those of marks can be believed.
    """

    marginals: bool = False
    n_best: int = 0
    calibrate: Callable[[Floats], Floats] | None = None

    def __call__(self, batch: Batch) -> list[WordPrediction]:  # type: ignore[override]
        found = [WordPrediction(own) for own in batch.by_doc.split(batch.distribution.best())]
        if self.marginals:
            rows = batch.marginals if self.calibrate is None else self.calibrate(batch.marginals)
            for prediction, own in zip(found, batch.by_doc.split(rows)):
                prediction.marginals = own
        if self.n_best:
            paths = batch.distribution.n_best(self.n_best)
            for prediction, sequences in zip(found, batch.numbered_sequences()):
                prediction.n_best = [paths[number] for number, _ in sequences]
        return found

    def empty(self, tags: TagSet) -> WordPrediction:  # type: ignore[override]
        marginals = np.zeros((0, len(tags)), dtype=np.float32) if self.marginals else None
        return WordPrediction(np.zeros(0, dtype=np.int32), marginals, [] if self.n_best else None)

    def register(self) -> None:
        register_punctuation()


class CalibratesMarks:
    """A component whose probabilities of marks go through a map that is fitted to held-out data."""

    name: str
    settings: RestorerSettings
    cfg: LiveSettings
    label_scheme: Any
    label_table: Any
    temperature: float
    bare: Callable[[Doc], Doc]
    uncalibrated: Callable[[Sequence[Doc]], Floats]

    @property
    def calibration(self) -> MarkCalibration | None:
        """The map; None where none was fitted, or to other marks than those that the component knows by now, or, with a
        warning, to probabilities of another temperature."""
        data = self.cfg[CALIBRATION]
        if data is None or tuple(data["marks"]) != self.label_table.marks:
            return None
        if data.get("temperature", self.temperature) != self.temperature:
            warnings.warn(PunctuationWarnings.CRFW978.format(name=self.name), CRFWarning, stacklevel=2)
            return None
        return MarkCalibration.from_data(data)

    @calibration.setter
    def calibration(self, calibration: MarkCalibration | None) -> None:
        data = calibration and {**calibration.to_data(), "temperature": self.temperature}
        self.cfg.learn(**{CALIBRATION: data})

    def calibrate(self, examples: Iterable[Example]) -> None:
        """Fit the map to examples; none, with a warning, where they have too few words."""
        words = held_out(self, examples)
        if len(words.labels) < FEW:
            few = PunctuationWarnings.CRFW977.format(name=self.name, found=len(words.labels), few=FEW)
            warnings.warn(few, CRFWarning, stacklevel=2)
        self.calibration = None if len(words.labels) < FEW else words.fit()
        self.cfg.fit("temperature", 1.0)

    def drop_calibration(self) -> None:
        """Drop a map whose weights change, with a warning unless training fits it again."""
        if self.cfg[CALIBRATION] is not None:
            if self.cfg.assignable["temperature"] != AUTO:
                warnings.warn(PunctuationWarnings.CRFW974.format(name=self.name), CRFWarning, stacklevel=3)
            self.calibration = None


class FittedMarks(NamedTuple):
    """A calibration fitted to all words; these as they were told before, and after, either half by the other one."""

    calibration: MarkCalibration
    before: Marked
    after: Marked


def calibrate_marks(restorer: CalibratesMarks, examples: Iterable[Example]) -> FittedMarks:
    """Fit a calibration; the component itself stays as it is, until its `calibration` is set.

    examples (Iterable[Example]): with what the component needs to see on the predicted side. Words without gold, and
        those with marks that the component does not know, count for nothing; fewer than two with gold are an error.

    >>> import spacy
    >>> from spacy_crf import PunctuationCorpus, calibrate_marks
    >>> nlp = spacy.load("output/punctuation_restorer/model-best")  # `make demo` trains it
    >>> restorer = nlp.get_pipe("punctuation_restorer")
    >>> fitted = calibrate_marks(restorer, PunctuationCorpus("corpus/punctuation_restorer/dev", limit=20)(nlp))
    >>> restorer.calibration = fitted.calibration
    """
    chain = held_out(restorer, examples)
    if len(chain.labels) < 2:
        raise CRFError(PunctuationErrors.CRF990.format(name=restorer.name))
    if len(chain.labels) < FEW:
        few = PunctuationWarnings.CRFW972.format(name=restorer.name, words=len(chain.labels), few=FEW)
        warnings.warn(few, CRFWarning, stacklevel=2)
    half = len(chain.labels) // 2
    crossed = np.empty_like(chain.probabilities)
    for fitted_to, measured in ((slice(half, None), slice(half)), (slice(half), slice(half, None))):
        fitted = fit_dirichlet(chain.probabilities[fitted_to], chain.labels[fitted_to])
        crossed[measured] = fitted(chain.probabilities[measured])
    whole = chain.fit()
    return FittedMarks(whole, as_told(restorer, chain), chain._replace(probabilities=crossed))


def as_told(restorer: CalibratesMarks, words: Marked) -> Marked:
    """Return words with the probabilities that the restorer tells: calibrated ones, where it has a map."""
    own = restorer.calibration
    return words if own is None else words._replace(probabilities=own.map(words.probabilities))


def held_out(restorer: CalibratesMarks, examples: Iterable[Example]) -> Marked:
    """Return the words of examples that have gold, with the probabilities of the chain."""
    table = restorer.label_table
    numbers = {mark: number for number, mark in enumerate(table.marks)}
    parts: list[Floats] = [np.zeros((0, len(table.marks)), dtype=np.float32)]
    labels = [np.zeros(0, dtype=np.int32)]
    for batch in minibatch(examples, BATCH_SIZE):
        parts.append(restorer.uncalibrated([restorer.bare(example.predicted) for example in batch]))
        gold = (label for example in batch for label in gold_labels(example, restorer.label_scheme))
        found = [UNKNOWN if label is None else numbers.get(label.mark, UNKNOWN) for label in gold]
        labels.append(np.array(found, dtype=np.int32))
    gold_marks = np.concatenate(labels)
    known = gold_marks != UNKNOWN
    return Marked(table.marks, np.concatenate(parts)[known], gold_marks[known])


def best_thresholds(words: Marked) -> dict[str, float]:
    """Find the threshold for all marks under which the F of all of them together is expected to be best."""
    chances = words.probabilities[:, [mark != NONE for mark in words.marks]]
    threshold = best_f_threshold(chances.max(axis=1, initial=0.0), float(chances.sum()))
    return dict.fromkeys(words.told, max(threshold, LEAST_THRESHOLD))


def precise_thresholds(words: Marked, precision: float) -> dict[str, float]:
    """Find the lowest threshold of each mark with an expected precision; 1, with a warning, where there is none."""
    found = {mark: precision_threshold(words.at(mark)[0], precision) for mark in words.told}
    never = [mark for mark, threshold in found.items() if threshold is None]
    if never:
        lacking = PunctuationWarnings.CRFW973.format(marks=", ".join(never), precision=precision)
        warnings.warn(lacking, CRFWarning, stacklevel=2)
    return {mark: 1.0 if value is None else max(value, LEAST_THRESHOLD) for mark, value in found.items()}
