"""What online learners share: weights that change while a stream of sequences goes by."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ..arrays import Floats, Indices
from ..errors import CoreErrors, CRFError
from ..weights import Layout
from .blocks import Corpus
from .online_weights import OnlineWeights


class OnlineLearner(ABC):
    """Learns from one batch of sequences after the other, each of which it may forget.

    learns_vectors (bool): whether it has a gradient by the emissions.
    averaging (bool): whether the result is the mean of the weights over time.
    dtype (type): precision of the weights.
    """

    learns_vectors: ClassVar[bool] = False

    def __init__(self, averaging: bool, dtype: type[np.floating] = np.float32):
        self.averaging, self.dtype = averaging, dtype

    def start(self, layout: Layout, flat: Floats) -> None:
        """Begin at some weights.

        layout (Layout): which weights exist. flat ((layout.size,)): their values.
        """
        self.weights = OnlineWeights(layout, flat, self.dtype)

    def grow(self, layout: Layout) -> None:
        """Go on with more features and weights, behind the present ones."""
        self.weights.grow(layout)

    @property
    def result(self) -> Floats:
        """((layout.size,)): the weights to predict with."""
        return self.weights.mean if self.averaging else self.weights.raw

    @abstractmethod
    def learn(self, corpus: Corpus, order: Indices, by_emissions: Floats | None = None) -> float:
        """Learn from sequences.

        order ((B,)): their indices in the corpus, in the order in which to learn from them.
        by_emissions ((N, L) | None): takes the gradient by the emissions of their units, if there is one.
        RETURNS (float): their loss, each at the weights that it met.
        RAISES (NonFiniteError, NoPathError): with the index of the sequence at fault.
        """
        raise NotImplementedError


def require_positive(**settings: float) -> None:
    """Check settings that must be above 0.

    RAISES (ValueError): for the first one that is not.
    """
    for name, value in settings.items():
        if not value > 0:
            raise CRFError(CoreErrors.CRF204.format(name=name, value=value, expected="above 0"))


def run_epochs(learner: OnlineLearner, corpus: Corpus, epochs: int, seed: int) -> Iterator[float]:
    """Learn from a corpus that is shuffled for each epoch. The same seed gives the same weights.

    YIELDS (float): the loss of each epoch, per sequence.
    """
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        yield learner.learn(corpus, rng.permutation(len(corpus.lengths))) / max(1, len(corpus.lengths))
