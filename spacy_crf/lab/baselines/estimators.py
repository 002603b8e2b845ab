"""What the comparison taggers learn with: counts of words and labels, or a logistic regression."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Floats, Ints
from ...core.errors import CRFError
from ...core.gold import Gold
from ...core.learn.blocks import EncodedCorpus
from ...core.sparse import SparseRows
from ...features.attributes import FITTED
from ...features.block import FeatureSettings, SequenceMode
from ...features.columns import Columns
from ...features.extract import FeatureExtractor
from ...features.features import Features
from ...features.resources import Resources, word_counter, word_lists
from ...learning.encoder import Sample, join
from ...pipe.dictionary.counts import CountTable, Data
from ...pipe.storage import check_templates
from ..errors import LabErrors
from .hmm import HMM, HMMCounts, HMMSettings, estimate_hmm
from .lexicon import FrequencyTagger, LexiconSettings, count_words, estimate_lexicon
from .memm import MEMM, check_training, fit_memm

Model = TypeVar("Model")
Words = list[list[str]]
_FITTING = threading.Lock()  # threads may share a pipeline that has yet to be fitted


class Estimator(ABC, Generic[Model]):
    """Learns labels of tokens. What comes is collected; the model is made from it when it is first asked for.

    extractor (FeatureExtractor): reads Docs.
    """

    def __init__(self, extractor: FeatureExtractor):
        self.extractor = extractor
        self._model: Model | None = None

    @property
    @abstractmethod
    def has_learned(self) -> bool:
        """Whether there is something to make a model of."""

    @abstractmethod
    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        """Begin anew. references (Callable): gives the gold Docs that the pipeline is initialised with."""

    @abstractmethod
    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        """Collect a batch of N units, of which at least one has gold. vocab (Vocab): has their strings."""

    @abstractmethod
    def fit(self) -> Model:
        """Return the model of all that was collected."""

    @abstractmethod
    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        """Return exact probabilities ((N, L)) of the labels of N units."""

    @abstractmethod
    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        """Return labels ((N,)) of the most probable sequences."""

    @abstractmethod
    def to_data(self) -> Data:
        """Return arrays, lists and numbers that can be stored; empty where nothing was learned."""

    def check(self, data: Data, name: str) -> None:
        """Raise a coded error where data, not empty, does not fit the settings of the component; counts always do."""

    @abstractmethod
    def from_data(self, data: Data) -> int | None:
        """Take over what `to_data` gave, and return the number of labels; None where nothing was learned."""

    @property
    def model(self) -> Model:
        """The model, made anew where something has come since it was made."""
        with _FITTING:
            if self._model is None:
                self._model = self.fit()
            return self._model

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Read columns of at least one Doc. extra (int | None): an attribute of spaCy's to read along."""
        return self.extractor.read(docs, docs[0].vocab, extra)


# -- counts ------------------------------------------------------------------------------------------------------

Counts = TypeVar("Counts", CountTable, HMMCounts)
Counted = TypeVar("Counted", FrequencyTagger, HMM)


class CountingEstimator(Estimator[Counted], Generic[Counts, Counted]):
    """Counts words and labels. The counts are what is stored: settings that turn them into probabilities may change.

    sequence (str): "auto", "doc" or "sents".
    """

    counts: type[Counts]

    def __init__(self, sequence: SequenceMode):
        super().__init__(FeatureExtractor([], Resources(), sequence, True))
        self._counts: list[Counts] = []

    @abstractmethod
    def count(self, sequences: Words, gold: Gold) -> Counts:
        """Count the words of sequences with their gold."""

    @abstractmethod
    def estimate(self, counts: Counts) -> Counted:
        """Return the model that counts make."""

    @property
    def has_learned(self) -> bool:
        return bool(self._counts)

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        self._counts, self._model = [], None

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        self._counts.append(self.count(words_of(columns, vocab), gold))
        self._model = None

    def fit(self) -> Counted:
        return self.estimate(self._total())

    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        return self.model.marginals(words_of(columns, vocab))

    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        return self.model.decode(words_of(columns, vocab))

    def to_data(self) -> Data:
        return self._total().to_data() if self._counts else {}

    def from_data(self, data: Data) -> int | None:
        self._counts, self._model = [self.counts.from_data(data)] if data else [], None
        return self._counts[0].n_labels if data else None

    def _total(self) -> Counts:
        if len(self._counts) > 1:
            self._counts = [self.counts.merged(self._counts)]
        return self._counts[0]


def words_of(columns: Columns, vocab: Vocab) -> Words:
    """Return the words of each sequence. vocab (Vocab): has their strings."""
    strings = vocab.strings
    words = [strings[orth] for orth in columns.orths.tolist()]
    ends = columns.lengths.cumsum().tolist()
    return [words[low:high] for low, high in zip([0, *ends], ends)]


class FrequencyEstimator(CountingEstimator[CountTable, FrequencyTagger]):
    """Counts words with their labels; neighbours count for nothing. settings (LexiconSettings): of probabilities."""

    counts = CountTable

    def __init__(self, settings: LexiconSettings):
        super().__init__("doc")
        self.settings = settings

    def count(self, sequences: Words, gold: Gold) -> CountTable:
        return count_words(sequences, gold)

    def estimate(self, counts: CountTable) -> FrequencyTagger:
        return estimate_lexicon(counts, self.settings)


class HMMEstimator(CountingEstimator[HMMCounts, HMM]):
    """Counts words and n-grams of labels, those of both orders. settings (HMMSettings): of probabilities."""

    counts = HMMCounts

    def __init__(self, sequence: SequenceMode, settings: HMMSettings):
        super().__init__(sequence)
        self.settings = settings

    def count(self, sequences: Words, gold: Gold) -> HMMCounts:
        return HMMCounts.of_text(sequences, gold)

    def estimate(self, counts: HMMCounts) -> HMM:
        return estimate_hmm(counts, self.settings)


# -- regression --------------------------------------------------------------------------------------------------


class MEMMEstimator(Estimator[MEMM]):
    """Collects encoded tokens and fits weights to all of them, again whenever more have come.

    A fit begins with the weights there are. They are but a start: the optimum is that of the examples collected since
    the component was initialised or loaded, so that a model which learns on forgets, as a CRF under L-BFGS does, what
    these do not show. See `block.MEMMSettings`.
    """

    def __init__(self, config: FeatureSettings, sequence: SequenceMode, c2: float, max_iterations: int):
        check_training(c2, max_iterations)
        for template in config.parsed:
            if template.is_edge:
                raise CRFError(LabErrors.CRF422.format(template=template))
            if any(atom.attribute.name in FITTED for atom in template.atoms):
                raise CRFError(LabErrors.CRF424.format(template=template))
        self.config, self.sequence, self.c2, self.max_iterations = config, sequence, c2, max_iterations
        self._start_over(Features(config, sequence))

    def __getstate__(self) -> dict[str, Any]:
        """With the weights of all that was collected, which itself stays in the process that trains."""
        if self.has_learned:
            _ = self.model
        return {**self.__dict__, "_samples": []}

    def _start_over(self, features: Features, weights: MEMM | None = None) -> None:
        super().__init__(features.extractor)
        self._features, self._model, self._weights = features, weights, weights
        self._samples: list[Sample] = []

    @property
    def has_learned(self) -> bool:
        return bool(self._samples) or self._weights is not None

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        resources = self.config.make_resources(nlp, word_counter(references), word_lists(references))
        self._start_over(Features(self.config, self.sequence, resources))

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        sample = Sample(columns, gold, self.extractor)
        self._features.state.grow(sample.state, columns, vocab, self.config.padding)
        self._samples.append(sample)
        self._model = None

    def fit(self) -> MEMM:
        parts = [EncodedCorpus(s.columns.lengths, self._features.state.encode(s.state), s.gold) for s in self._samples]
        corpus = join(parts)
        training = corpus.lengths, corpus.features, corpus.gold
        self._weights = fit_memm(*training, c2=self.c2, max_iterations=self.max_iterations, start=self._weights)
        return self._weights

    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        return self.model.marginals(columns.lengths, self._encode(columns))

    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        return self.model.decode(columns.lengths, self._encode(columns))

    def _encode(self, columns: Columns) -> SparseRows:
        return self._features.state.encode(self.extractor.keys(columns, self.extractor.state_templates))

    def to_data(self) -> Data:
        if not self.has_learned:
            return {}
        return {"features": self._features.to_data(), "weights": self.model.to_data()}

    def check(self, data: Data, name: str) -> None:
        check_templates(name, self.config, data.get("features", {}))

    def from_data(self, data: Data) -> int | None:
        if not data:
            self._start_over(Features(self.config, self.sequence))
            return None
        weights = MEMM.from_data(data["weights"])
        self._start_over(Features.from_data(data["features"], self.config, self.sequence), weights)
        return weights.n_labels
