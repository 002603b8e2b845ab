"""Estimators that count words and labels."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, Self, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Floats, Ints
from ...core.gold import Gold
from ...features.block import SequenceMode
from ...features.columns import Columns
from ...features.extract import FeatureExtractor
from ...features.resources import Resources
from ...pipe.dictionary.counts import Data
from .estimator import Estimator

Words = list[list[str]]


class Additive(Protocol):
    """Counts of texts, which add up."""

    @classmethod
    def merged(cls, parts: Sequence[Self]) -> Self: ...

    def to_data(self) -> Data: ...


class Sequential(Protocol):
    """A model of words in sequences."""

    def marginals(self, sequences: Words) -> Floats: ...

    def decode(self, sequences: Words) -> Ints: ...


Counts = TypeVar("Counts", bound=Additive)
Counted = TypeVar("Counted", bound=Sequential)


class CountingEstimator(Estimator[Counted], Generic[Counts, Counted]):
    """Counts words and labels. The counts are what is stored: settings that turn them into probabilities may change.

    sequence (str): "auto", "doc" or "sents".
    """

    def __init__(self, sequence: SequenceMode):
        super().__init__(FeatureExtractor([], Resources(), sequence, True))
        self._counts: list[Counts] = []

    @abstractmethod
    def count(self, sequences: Words, gold: Gold) -> Counts:
        """Counts of a text. sequences (list[list[str]]): its words. gold (Gold): of the words."""

    @abstractmethod
    def estimate(self, counts: Counts) -> Counted:
        """The model that counts make."""

    @abstractmethod
    def read_counts(self, data: Data) -> tuple[Counts, int]:
        """Counts from what `to_data` gave, and the number of their labels."""

    @property
    def has_learned(self) -> bool:
        return bool(self._counts)

    def reset(self, nlp: Language | None, references: Callable[[], Iterable[Doc]]) -> None:
        self._counts, self._model = [], None

    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        self._counts.append(self.count(words_of(columns, vocab), gold))
        self._model = None

    def fit(self) -> Counted:
        self._add_up()
        return self.estimate(self._counts[0])

    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        return self.model.marginals(words_of(columns, vocab))

    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        return self.model.decode(words_of(columns, vocab))

    def to_data(self) -> Data:
        self._add_up()
        return self._counts[0].to_data() if self._counts else {}

    def check(self, data: Data, name: str) -> None:
        """Counts fit all settings."""

    def from_data(self, data: Data) -> int | None:
        self._counts, self._model = [], None
        if not data:
            return None
        counts, n_labels = self.read_counts(data)
        self._counts.append(counts)
        return n_labels

    def _add_up(self) -> None:
        if len(self._counts) > 1:
            self._counts = [type(self._counts[0]).merged(self._counts)]


def words_of(columns: Columns, vocab: Vocab) -> Words:
    """The words of each sequence. vocab (Vocab): has their strings."""
    strings = vocab.strings
    words = [strings[orth] for orth in columns.orths.tolist()]
    ends = columns.lengths.cumsum().tolist()
    return [words[low:high] for low, high in zip([0, *ends], ends)]
