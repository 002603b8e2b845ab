"""Online learning by mistakes: decode with the present weights, and move them where that went wrong.

Three rules say how far, with the costs of CRFsuite: the perceptron, passive-aggressive and AROW. Where gold is a set,
or unknown, its best path under the present weights is the one to learn (the latent perceptron, Sun et al. 2009). Where
it is a distribution, the labels of the greatest weight are that set: here a path is right or wrong.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..arrays import Bools, Floats, Indices, Ints, sum_by_cell
from ..chain.potentials import numbered, observe, potentials, sum_scores
from ..chain.viterbi import viterbi
from ..labels import UNKNOWN, Gold
from ..stored import FINITE, stored_floats
from ..weights import Layout
from .blocks import EncodedCorpus
from .online import OnlineLearner, OnlineWeights, enlarged
from .single import SingleDecoder

Kind = Literal["PA", "PA-I", "PA-II"]
Met = tuple[Indices, Floats | None]  # cells ((2, n)) that the gold path and the other one meet; values (None: all 1)


@dataclass(frozen=True)
class Difference:
    """Features of the gold path minus those of the predicted one: the direction to move in.

    cells ((n,)): distinct cells of weights that exist. amounts ((n,)): how much more often gold has each.
    n_wrong (int): units with another label.
    """

    cells: Indices
    amounts: Floats
    n_wrong: int


@dataclass(kw_only=True, eq=False)
class MistakeDriven(OnlineLearner):
    """Moves the weights where the best path is not the gold path. A subclass says how far.

    batch_size (int): 1 updates after every sequence, as the algorithms were published. More sequences are decoded in
        fewer calls, but with weights that are a little old. How far to go is found at the present weights, one
        sequence after the other: on CoNLL-2000, 8 sequences cost 0.1 chunk F1 after five epochs, 32 cost 0.2.
    """

    positive: ClassVar[tuple[str, ...]] = ("batch_size",)

    batch_size: int = 1

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._decoder = SingleDecoder(self.weights.dense, layout)

    def grow(self, layout: Layout) -> None:
        super().grow(layout)
        self._decoder = SingleDecoder(self.weights.dense, layout)

    @abstractmethod
    def step(self, found: Difference) -> tuple[Floats, float]:
        """How much each cell of the difference is to change for a sequence (n,), and its loss."""

    def learn(self, corpus: EncodedCorpus, order: Indices, by_emissions: Floats | None = None) -> float:
        corpus = replace(corpus, gold=corpus.gold.greatest())
        order = order[corpus.lengths[order] > 0]
        loss = 0.0
        for low in range(0, len(order), self.batch_size):
            batch = order[low : low + self.batch_size]
            with numbered(batch):
                loss += self._learn_one(corpus, *batch) if len(batch) == 1 else self._learn_batch(corpus.take(batch))
        return loss

    def _learn_one(self, corpus: EncodedCorpus, number: int) -> float:
        """Learn from one sequence, which is not looked at any closer where it is labelled right."""
        bounds = corpus.segments.bounds
        low, high = int(bounds[number]), int(bounds[number + 1])
        if corpus.edges is None and corpus.scores is None and not len(corpus.gold.rows):
            predicted = self._decoder(corpus.features.slice(low, high), None)
            if (predicted == corpus.gold.labels[low:high]).all():
                self.weights.time += 1
                return 0.0
            sequence = corpus.slice(low, high)
            return self._correct(sequence, sequence.gold.labels, predicted, True)
        return self._learn_batch(corpus.slice(low, high))

    def _learn_batch(self, part: EncodedCorpus) -> float:
        """Learn from sequences that are scored with the same weights."""
        predicted = self._decode(part)
        wrong = _mistakes(part.gold, predicted)
        target = part.gold.labels
        if wrong.any() and len(part.gold.rows):
            target = self._decode(part, part.gold.log_weights())
        loss = 0.0
        for own in part.segments.slices():
            sequence = part.slice(own.start, own.stop)
            loss += self._correct(sequence, target[own], predicted[own], bool(wrong[own].any()))
        return loss

    def _correct(self, sequence: EncodedCorpus, target: Ints, predicted: Ints, is_wrong: bool) -> float:
        """Learn from one sequence, as far as the present weights still need it."""
        loss = 0.0
        if is_wrong:
            found = difference(sequence, target, predicted, self.weights)
            amounts, loss = self.step(found)
            self.weights.add(found.cells, amounts)
        self.weights.time += 1
        return loss

    def _decode(self, part: EncodedCorpus, log_gold: Floats | None = None) -> Ints:
        """The best path of each sequence."""
        if len(part.lengths) == 1:
            return self._decoder(part.features, part.edges, sum_scores(part.scores, log_gold))
        observations = observe(part.lengths, part.features, part.edges, part.scores)
        chains = potentials(observations, self.weights.dense, self.weights.layout)
        if log_gold is not None:
            chains = chains.clamped(log_gold[observations.batch.units])
        return viterbi(chains).labels[observations.batch.rows]


class Perceptron(MistakeDriven):
    """Adds the features of the gold path and takes away those of the predicted one (Collins 2002)."""

    def step(self, found: Difference) -> tuple[Floats, float]:
        """A step of length 1; the loss is the number of wrong labels."""
        return found.amounts, float(found.n_wrong)


@dataclass(kw_only=True, eq=False)
class PassiveAggressive(MistakeDriven):
    """Moves the weights as little as puts the gold path ahead by a margin (Crammer et al. 2006).

    kind (str): "PA" goes all the way, "PA-I" at most c, "PA-II" is held back by c smoothly.
    c (float): aggressiveness.
    error_sensitive (bool): the margin is the square root of the number of wrong labels, else 1.
    """

    positive = ("c", "batch_size")

    kind: Kind
    c: float
    error_sensitive: bool

    def step(self, found: Difference) -> tuple[Floats, float]:
        """As far as the hinge loss asks for, in proportion to the squared norm of the difference."""
        norm = float(found.amounts @ found.amounts)
        if not norm:
            return found.amounts, 0.0  # no weight tells the paths apart
        behind = -float(found.amounts @ self.weights.values[found.cells])
        loss = max(behind, 0.0) + (math.sqrt(found.n_wrong) if self.error_sensitive else 1.0)
        return self._rate(loss, norm) * found.amounts, loss

    def _rate(self, loss: float, norm: float) -> float:
        if self.kind == "PA-II":
            return loss / (norm + 0.5 / self.c)
        return loss / norm if self.kind == "PA" else min(self.c, loss / norm)


@dataclass(kw_only=True, eq=False)
class AROW(MistakeDriven):
    """Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009): those moved often are moved less.

    variance (float): of each weight at the start.
    gamma (float): trade-off between correcting mistakes and staying where one is.
    """

    positive = ("variance", "gamma", "batch_size")

    averaging: bool = False
    variance: float
    gamma: float

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._variances: Floats = np.full(self.weights.n_slots, float(self.variance))

    def grow(self, layout: Layout) -> None:
        super().grow(layout)
        self._variances = enlarged(self._variances, self.weights.n_slots, self.variance)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "variances": self._variances[self.weights.own_slots]}

    def go_on(self, layout: Layout, state: dict[str, Any]) -> None:
        super().go_on(layout, state)
        variances = stored_floats("variances", state["variances"], (layout.size,), 0.0, FINITE)
        self._variances[self.weights.own_slots] = variances

    def step(self, found: Difference) -> tuple[Floats, float]:
        """In proportion to the variances, which shrink; the loss is the score difference plus the wrong labels."""
        slots, squares = self.weights.slots[found.cells], found.amounts**2
        variances = self._variances[slots]
        loss = max(-float(found.amounts @ self.weights.values[found.cells]), 0.0) + found.n_wrong
        rate = loss / (self.gamma + float(squares @ variances))
        self._variances[slots] = 1 / (1 / variances + squares / self.gamma)
        return rate * variances * found.amounts, loss


def _mistakes(gold: Gold, predicted: Ints) -> Bools:
    """((N,)): units whose label gold does not allow."""
    wrong: Bools = gold.labels != predicted
    if len(gold.rows):
        wrong &= gold.labels != UNKNOWN
        wrong[gold.rows] = gold.weights[np.arange(len(gold.rows)), predicted[gold.rows]] == 0
    return wrong


def difference(sequence: EncodedCorpus, gold: Ints, predicted: Ints, weights: OnlineWeights) -> Difference:
    """Compare the labels ((T,)) of two paths through one sequence. O(features of the units that differ)."""
    wrong, paths = gold != predicted, np.stack((gold, predicted))
    units, before = np.flatnonzero(wrong), np.flatnonzero(wrong[1:] | wrong[:-1])  # before: transitions into either
    rows = sequence.features.take(units)
    each = np.repeat(units, rows.indptr[1:] - rows.indptr[:-1])
    met: list[Met] = [(weights.state_cells(rows.indices, paths[:, each]), rows.values)]
    met.append((weights.transition_cells(paths[:, before], paths[:, before + 1]), None))
    if sequence.edges is not None:
        rows = sequence.edges.features.take(sequence.edges.groups[before + 1])
        each = np.repeat(before, rows.indptr[1:] - rows.indptr[:-1])
        met.append((weights.edge_cells(rows.indices, paths[:, each], paths[:, each + 1]), rows.values))
    if weights.layout.boundary:
        for unit, cells in ((0, weights.start_cells), (-1, weights.end_cells)):
            if wrong[unit]:
                met.append((cells(paths[:, unit, None]), None))
    return Difference(*_collect(met, weights), len(units))


def _collect(met: list[Met], weights: OnlineWeights) -> tuple[Indices, Floats]:
    """Add up what occurs several times; leave out what has no weight."""
    cells = np.concatenate([cells for cells, _ in met], axis=1)
    values = np.concatenate([np.ones(cells.shape[1]) if values is None else values for cells, values in met])
    known = weights.slots[cells] >= 0
    return sum_by_cell(cells[known], np.stack((values, -values))[known])
