"""Online learning by mistakes: decode with the present weights, and move them where that went wrong.

The rules (perceptron, passive-aggressive, AROW) say how far. Where gold is a set, or unknown, its best path under the
present weights is the one to learn (the latent perceptron, Sun et al. 2009).
"""

from abc import abstractmethod

import numpy as np

from ..arrays import Bools, Floats, Indices, Ints
from ..chain.observations import observe, potentials, sum_scores
from ..chain.potentials import numbered
from ..chain.viterbi import viterbi
from ..gold import UNKNOWN, Gold
from ..weights import Layout
from .blocks import Corpus
from .difference import Difference, difference
from .online import OnlineLearner, require_positive
from .single import SingleDecoder


class MistakeDriven(OnlineLearner):
    """Moves the weights where the best path is not the gold path. A subclass says how far.

    batch_size (int): 1 updates after every sequence, as the algorithms were published. More sequences are decoded in
        fewer calls, but with weights that are a little old. How far to go is found at the present weights, one
        sequence after the other: on CoNLL-2000, 8 sequences cost 0.1 chunk F1 after five epochs, 32 cost 0.2.
    """

    def __init__(self, averaging: bool, batch_size: int, dtype: type[np.floating] = np.float32):
        require_positive(batch_size=batch_size)
        super().__init__(averaging, dtype)
        self.batch_size = batch_size

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._decoder = SingleDecoder(self.weights.dense, layout)

    def grow(self, layout: Layout) -> None:
        super().grow(layout)
        self._decoder = SingleDecoder(self.weights.dense, layout)

    @abstractmethod
    def step(self, found: Difference) -> tuple[Floats, float]:
        """How far to go for a sequence.

        RETURNS (tuple): how much each cell of the difference is to change (n,), and the loss.
        """
        raise NotImplementedError

    def learn(self, corpus: Corpus, order: Indices, by_emissions: Floats | None = None) -> float:
        order = order[corpus.lengths[order] > 0]
        firsts = corpus.segments.firsts
        loss = 0.0
        for low in range(0, len(order), self.batch_size):
            batch = order[low : low + self.batch_size]
            if len(batch) == 1:
                first = int(firsts[batch[0]])
                part = corpus.slice(first, first + int(corpus.lengths[batch[0]]))
            else:
                part = corpus.take(batch)
            loss += self._learn_batch(part, batch)
        return loss

    def _learn_batch(self, part: Corpus, numbers: Indices) -> float:
        """Learn from sequences that are scored with the same weights, and move time on.

        numbers ((B,)): what errors call the sequences.
        """
        with numbered(numbers):
            predicted = self._decode(part)
            wrong = _mistakes(part.gold, predicted)
            target = part.gold.labels
            if wrong.any() and len(part.gold.rows):
                target = self._decode(part, part.gold.log_weights())
        if len(numbers) == 1:
            return self._correct(part, target, predicted, bool(wrong.any()))
        loss = 0.0
        for own in part.segments.slices():
            sequence = part.slice(own.start, own.stop)
            loss += self._correct(sequence, target[own], predicted[own], bool(wrong[own].any()))
        return loss

    def _correct(self, sequence: Corpus, target: Ints, predicted: Ints, is_wrong: bool) -> float:
        """Learn from one sequence, as far as the present weights still need it."""
        loss = 0.0
        if is_wrong:
            found = difference(sequence, target, predicted, self.weights)
            amounts, loss = self.step(found)
            self.weights.add(found.cells, amounts)
        self.weights.time += 1
        return loss

    def _decode(self, part: Corpus, log_gold: Floats | None = None) -> Ints:
        """The best path of each sequence."""
        if len(part.lengths) == 1:
            return self._decoder(part.features, part.edges, sum_scores(part.scores, log_gold))
        observations = observe(part.lengths, part.features, part.edges, part.scores)
        chains = potentials(observations, self.weights.dense, self.weights.layout)
        if log_gold is not None:
            chains = chains.clamped(log_gold[observations.batch.units])
        return viterbi(chains).labels[observations.batch.rows]


def _mistakes(gold: Gold, predicted: Ints) -> Bools:
    """((N,)): units whose label gold does not allow."""
    wrong: Bools = gold.labels != predicted
    if len(gold.rows):
        wrong &= gold.labels != UNKNOWN
        wrong[gold.rows] = gold.weights[np.arange(len(gold.rows)), predicted[gold.rows]] == 0
    return wrong
