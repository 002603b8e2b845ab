"""Online learning by the gradient of the log-likelihood: AdaGrad on small batches, and plain steps."""

import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats, Indices
from ..chain.potentials import numbered
from ..stored import FINITE, stored_floats, stored_size
from ..threads import single_threaded_blas
from ..weights import Layout
from .batches import TrainingBatch, cut_batches
from .blocks import EncodedCorpus
from .online import OnlineLearner, enlarged
from .single import Gradient, single_gradient


@dataclass(kw_only=True, eq=False)
class AdaGrad(OnlineLearner):
    """Mini-batch AdaGrad (Duchi, Hazan & Singer 2011): each weight moves at a rate of its own.

    Only the weights that a batch shows are touched. There is no penalty: few epochs regularise. Two things make these
    enough. The accumulated squares begin at `damping` instead of 0, so that weights of rare features move by about the
    same rate rather than jump at their first gradient; and the result is a mean of the weights over time in which the
    t-th step counts t^2 times (polynomial-decay averaging, Shamir & Zhang 2013): it forgets the beginning, and needs no
    word on how long training will be.

    Batches hold sequences of similar length, and are kept as long as their corpus, which may come again.

    learn_rate (float): of a weight that has not moved much.
    damping (float): where the sums of squared gradients begin.
    units_per_batch (int): about so many units make a step. Fewer make more and slower ones.
    """

    learns_vectors = True
    positive = ("learn_rate", "damping", "units_per_batch")

    learn_rate: float
    damping: float
    units_per_batch: int

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._squares: Floats = np.full(self.weights.n_slots, self.damping, dtype=self.dtype)
        self._forget()
        self._n_steps = 0

    def grow(self, layout: Layout) -> None:
        if layout is not self.weights.layout:
            self._forget()
        super().grow(layout)
        self._squares = enlarged(self._squares, self.weights.n_slots, self.damping)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "squares": self._squares[self.weights.own_slots], "n_steps": self._n_steps}

    def go_on(self, layout: Layout, state: dict[str, Any]) -> None:
        super().go_on(layout, state)
        squares = stored_floats("squares", state["squares"], (layout.size,), 0.0, FINITE)
        self._squares[self.weights.own_slots] = squares
        self._n_steps = stored_size("n_steps", state["n_steps"])

    def learn(self, corpus: EncodedCorpus, order: Indices, by_emissions: Floats | None = None) -> float:
        """Learn from a corpus batch by batch, from each sequence once at most."""
        if len(order) < len(corpus.lengths):
            return self._learn_part(corpus, order, by_emissions)
        batches = self._batches.get(id(corpus))
        if batches is None:
            self._forget()
            batches = self._batches[id(corpus)] = cut_batches(corpus, self.weights, self.units_per_batch)
            weakref.finalize(corpus, _corpus_is_gone, weakref.ref(self), id(corpus))
        return self._run(batches, order, by_emissions)

    def _forget(self) -> None:
        self._batches: dict[int, list[TrainingBatch]] = {}  # of one corpus, by its id

    def forget_corpus(self, number: int) -> None:
        """Forget the batches of a corpus, if it is the last one. number (int): its id."""
        self._batches.pop(number, None)

    def __getstate__(self) -> dict[str, Any]:
        """Without batches: nobody would tell a copy when their corpus is gone."""
        return {**self.__dict__, "_batches": {}}

    def _learn_part(self, corpus: EncodedCorpus, order: Indices, by_emissions: Floats | None) -> float:
        units, part = corpus.segments.units(order), corpus.take(order)
        own = None if by_emissions is None else by_emissions[units]
        with numbered(order):
            batches = cut_batches(part, self.weights, self.units_per_batch)
            loss = self._run(batches, np.arange(len(order)), own)
        if by_emissions is not None:
            by_emissions[units] = own
        return loss

    def _run(self, batches: list[TrainingBatch], order: Indices, by_emissions: Floats | None) -> float:
        """A step for each batch, in the order of the first sequence of each."""
        places = np.argsort(order)
        with single_threaded_blas():
            in_order = sorted(batches, key=lambda batch: int(places[batch.sequences[0]]))
            return sum(self._step(batch, by_emissions) for batch in in_order)

    def _step(self, batch: TrainingBatch, by_emissions: Floats | None) -> float:
        cells = batch.weights
        loss, gradient = batch.loss_and_gradient(self.weights.values[cells], by_emissions)
        slots = self.weights.slots[cells]
        squares = self._squares[slots]
        squares += gradient * gradient
        self._squares[slots] = squares
        self._n_steps += 1
        self.weights.change(cells, -self.learn_rate * gradient / np.sqrt(squares))
        self.weights.time += self._n_steps**2
        return loss


def _corpus_is_gone(learner: "weakref.ref[AdaGrad]", number: int) -> None:
    """Tell a learner, unless it is gone itself: what waits for the end of a corpus must not keep batches."""
    own = learner()
    if own is not None:
        own.forget_corpus(number)


@dataclass(kw_only=True, eq=False)
class StochasticGradient(OnlineLearner):
    """Plain steps against the gradient of one sequence after the other (Agrawal & Shah 2014, equation 8).

    learn_rate (float): how far, always. There is no penalty.
    """

    positive = ("learn_rate",)

    learn_rate: float

    def start(self, layout: Layout, flat: Floats) -> None:
        super().start(layout, flat)
        self._is_free = layout.allows_all

    def learn(self, corpus: EncodedCorpus, order: Indices, by_emissions: Floats | None = None) -> float:
        order = order[corpus.lengths[order] > 0]
        firsts = corpus.segments.firsts[order]
        loss = 0.0
        with single_threaded_blas():
            for number, low, length in zip(order, firsts.tolist(), corpus.lengths[order].tolist()):
                with numbered(np.array([number])):
                    found = self._gradient(corpus.slice(low, low + length))
                self.weights.add(found.cells, -self.learn_rate * found.amounts)
                self.weights.time += 1
                loss += found.loss
        return loss

    def _gradient(self, sequence: EncodedCorpus) -> Gradient:
        found = single_gradient(sequence, self.weights) if self._is_free else None
        if found is not None:
            return found
        (batch,) = cut_batches(sequence, self.weights, len(sequence.gold.labels))
        loss, gradient = batch.loss_and_gradient(self.weights.values[batch.weights])
        return Gradient(loss, batch.weights, gradient.astype(np.float64))
