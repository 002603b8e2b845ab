"""What online learners share: weights that change while a stream of sequences goes by."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from ...errors import Errors
from ..params import Layout
from ..types import Floats, Indices
from .blocks import Corpus
from .online_weights import OnlineWeights


class OnlineLearner(ABC):
    """Learns from one batch of sequences after the other, each of which it may forget.

    averaging (bool): whether the result is the mean of the weights over time.
    batch_size (int): sequences that are scored with the same weights.
    dtype (type): precision of the weights.
    """

    def __init__(self, averaging: bool, batch_size: int, dtype: type[np.floating] = np.float32):
        require_positive(batch_size=batch_size)
        self.averaging, self.batch_size, self.dtype = averaging, batch_size, dtype

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

    def learn(self, corpus: Corpus, order: Indices) -> float:
        """Learn from sequences.

        order ((B,)): their indices in the corpus, in the order in which to learn from them.
        RETURNS (float): their loss, each at the weights that it met.
        RAISES (NonFiniteError, NoPathError): with the index of the sequence at fault.
        """
        order = order[corpus.lengths[order] > 0]
        firsts = np.cumsum(corpus.lengths) - corpus.lengths
        loss = 0.0
        for low in range(0, len(order), self.batch_size):
            batch = order[low : low + self.batch_size]
            if len(batch) == 1:
                first = int(firsts[batch[0]])
                part = corpus.slice(first, first + int(corpus.lengths[batch[0]]))
            else:
                part = corpus.take(batch)
            loss += self.learn_batch(part, batch)
        return loss

    @abstractmethod
    def learn_batch(self, part: Corpus, numbers: Indices) -> float:
        """Learn from sequences that are scored with the same weights, and move time on.

        numbers ((B,)): what errors call the sequences.
        RETURNS (float): their loss before they were learned.
        """
        raise NotImplementedError


def require_positive(**settings: float) -> None:
    """Check settings that must be above 0.

    RAISES (ValueError): for the first one that is not.
    """
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(Errors.CRF204.format(name=name, value=value, expected="above 0"))


def run_epochs(learner: OnlineLearner, corpus: Corpus, epochs: int, seed: int) -> Iterator[float]:
    """Learn from a corpus that is shuffled for each epoch. The same seed gives the same weights.

    YIELDS (float): the loss of each epoch, per sequence.
    """
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        yield learner.learn(corpus, rng.permutation(len(corpus.lengths))) / max(1, len(corpus.lengths))
