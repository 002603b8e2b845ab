"""What a comparison tagger learns with."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...core.arrays import Floats, Ints
from ...core.gold import Gold
from ...features.columns import Columns
from ...features.extract import FeatureExtractor
from ...pipe.dictionary.counts import Data

Model = TypeVar("Model")
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
        """Begin anew.

        nlp (Language | None): the pipeline that is initialised. references (Callable): gives the gold Docs.
        """

    @abstractmethod
    def take(self, columns: Columns, gold: Gold, vocab: Vocab) -> None:
        """Collect a batch, of which at least one token has gold.

        columns (Columns), gold (Gold): of N units. vocab (Vocab): has their strings.
        """

    @abstractmethod
    def fit(self) -> Model:
        """The model of all that was collected."""

    @abstractmethod
    def marginals(self, columns: Columns, vocab: Vocab) -> Floats:
        """((N, L)): exact probabilities of the labels.

        columns (Columns): of N units. vocab (Vocab): has their strings.
        """

    @abstractmethod
    def decode(self, columns: Columns, vocab: Vocab) -> Ints:
        """((N,)): labels of the most probable sequences."""

    @abstractmethod
    def to_data(self) -> Data:
        """Arrays, lists and numbers that can be stored; empty where nothing was learned."""

    @abstractmethod
    def check(self, data: Data, name: str) -> None:
        """Raise a coded error where data, not empty, does not fit the settings. name (str): of the component."""

    @abstractmethod
    def from_data(self, data: Data) -> int | None:
        """Take over what `to_data` gave.

        RETURNS (int | None): the number of labels; None where nothing was learned.
        """

    @property
    def model(self) -> Model:
        """The model, made anew where something has come since it was made."""
        with _FITTING:
            if self._model is None:
                self._model = self.fit()
            return self._model

    def read(self, docs: Sequence[Doc], extra: int | None = None) -> Columns:
        """Columns of at least one Doc. extra (int | None): an attribute of spaCy's to read along."""
        return self.extractor.read(docs, docs[0].vocab, extra)
