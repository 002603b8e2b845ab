"""Online learning: weights that change while a stream of sequences goes by, and what learners that change them share.

The mean over time is Collins' (2002), computed lazily: a change d at time t is also added to a sum as t d, and at time
T the mean of all weights that were is w - sum / T. Nothing is done for weights that stay.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Doubles, Floats, Indices, Ints
from ..errors import CoreErrors, require, require_unquoted
from ..stored import FINITE, stored_floats, stored_size
from ..weights import DenseWeights, Layout
from .blocks import EncodedCorpus

ROOM = 5 / 4  # arrays that have to grow are made this much larger than needed


@dataclass(kw_only=True, eq=False)
class OnlineLearner(ABC):
    """Learns from one batch of sequences after the other, each of which it may forget.

    learns_vectors (bool): whether it has a gradient by the emissions. positive (tuple): settings that must be above 0.
    averaging (bool): whether the result is the mean of the weights over time. dtype (type): precision of the weights.
    RAISES (ValueError): for the first setting that should be positive and is not.
    """

    learns_vectors: ClassVar[bool] = False
    positive: ClassVar[tuple[str, ...]] = ()

    averaging: bool
    dtype: type[np.floating] = np.float32

    def __post_init__(self) -> None:
        for name in self.positive:
            value = getattr(self, name)
            require_unquoted(name, value)
            require(CoreErrors.CRF204, name, value, 0 < value < np.inf, "above 0 and finite")

    def start(self, layout: Layout, flat: Floats) -> None:
        """Begin at the weights ((layout.size,)) of a layout."""
        self.weights = OnlineWeights(layout, flat, self.dtype)

    def grow(self, layout: Layout) -> None:
        """Go on with more features and weights, behind the present ones."""
        self.weights.grow(layout)

    def state(self) -> dict[str, Any]:
        """Return what it needs to go on: arrays ((layout.size,)) in the order of the layout, and counters."""
        return {"raw": self.weights.raw, "sums": self.weights.sums, "time": self.weights.time}

    def go_on(self, layout: Layout, state: dict[str, Any]) -> None:
        """Begin where another one was, whose `state` this is. RAISES (ValueError): for what is no state of a layout."""
        shape = (layout.size,)
        self.start(layout, stored_floats("raw", state["raw"], shape))
        self.weights.sums = stored_floats("sums", state["sums"], shape, -FINITE, FINITE)
        self.weights.time = max(1, stored_size("time", state["time"]))

    @property
    def result(self) -> Floats:
        """((layout.size,)): the weights to predict with."""
        return self.weights.mean if self.averaging else self.weights.raw

    @abstractmethod
    def learn(self, corpus: EncodedCorpus, order: Indices, by_emissions: Floats | None = None) -> float:
        """Learn from sequences.

        order ((B,)): their indices in the corpus, in the order in which to learn from them.
        by_emissions ((N, L) | None): takes the gradient by the emissions of their units, if there is one.
        RETURNS (float): their loss, each at the weights that it met.
        RAISES (NonFiniteError, NoPathError): with the index of the sequence at fault.
        """


def run_epochs(learner: OnlineLearner, corpus: EncodedCorpus, epochs: int, seed: int) -> Iterator[float]:
    """Learn from a corpus that is shuffled for each epoch, and yield the loss of each per sequence."""
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        yield learner.learn(corpus, rng.permutation(len(corpus.lengths))) / max(1, len(corpus.lengths))


class OnlineWeights:
    """Dense weights in one buffer. A cell is a place in it; cells that have a weight also have a slot.

    Sections of the buffer are start, end, transitions, edges and state: those that grow come last. Sums over time are
    float64, whatever the precision of the weights.
    """

    def __init__(self, layout: Layout, flat: Floats, dtype: type[np.floating] = np.float32):
        self.time = 1
        self.n_slots = 0
        self._sums: Floats = np.zeros(0)
        self._dtype = dtype
        self._allocate(layout, layout.n_features, layout.n_edge_features)
        self._adopt(layout, np.zeros(5, dtype=np.intp))
        self.values[self._places] = flat

    def grow(self, layout: Layout) -> None:
        """Take over a layout that has weights (of value 0), features and edge features behind the present ones."""
        if layout is self.layout:
            return
        present = np.diff(self.layout.bounds, prepend=0)
        if layout.n_features > self._n_features or layout.n_edge_features > self._n_edges:
            self._enlarge(layout)
        self._adopt(layout, present)

    @property
    def raw(self) -> Floats:
        """((layout.size,)): the weights as they are, in the order of the layout."""
        return self.values[self._places]

    @property
    def mean(self) -> Doubles:
        """((layout.size,)): the mean of the weights over time, in the order of the layout."""
        return self.raw - self.sums / self.time

    @property
    def own_slots(self) -> Ints:
        """((layout.size,)): slots in the order of the layout."""
        return self.slots[self._places]

    @property
    def sums(self) -> Floats:
        """((layout.size,)): changes times the time when they were made, summed, in the order of the layout."""
        return self._sums[self.own_slots]

    @sums.setter
    def sums(self, values: Floats) -> None:
        self._sums[self.own_slots] = values

    def add(self, cells: Indices, amounts: Floats) -> None:
        """Change weights at the present time; the cells ((n,)) may repeat."""
        np.add.at(self.values, cells, amounts.astype(self._dtype, copy=False))
        np.add.at(self._sums, self.slots[cells], self.time * amounts)

    def change(self, cells: Indices, amounts: Floats) -> None:
        """Change distinct cells ((n,)) at the present time: quicker than `add`."""
        self.values[cells] += amounts
        self._sums[self.slots[cells]] += float(self.time) * amounts

    def state(self, features: Indices) -> tuple[Indices, Indices]:
        """As `FlatFinder` for distinct features, in O(n L): whatever number of weights there are. Likewise:"""
        return self._present(self._bounds[4], features, self.layout.n_labels)

    def edges(self, features: Indices) -> tuple[Indices, Indices]:
        """Edge weights of some edge features."""
        return self._present(self._bounds[3], features, self.layout.n_labels**2)

    def shared(self) -> tuple[Indices, Indices]:
        """Cells of the transitions, and of the starts and ends."""
        _, transitions, _, start, end = self._sections(self.layout)
        return transitions, np.concatenate([start, end])

    def _present(self, first: int, rows: Indices, width: int) -> tuple[Indices, Indices]:
        cells = (first + rows[:, None] * np.intp(width) + np.arange(width)).reshape(-1)
        known = np.flatnonzero(self.slots[cells] >= 0)
        return known, cells[known]

    def state_cells(self, features: Indices | Ints, labels: Indices | Ints) -> Indices:
        """Cells of pairs of feature and label."""
        return self._bounds[4] + features * np.intp(self.layout.n_labels) + labels

    def transition_cells(self, before: Indices | Ints, after: Indices | Ints) -> Indices:
        """Cells of pairs of adjacent labels."""
        return self._bounds[2] + before * np.intp(self.layout.n_labels) + after

    def edge_cells(self, features: Indices | Ints, before: Indices | Ints, after: Indices | Ints) -> Indices:
        """Cells of edge features with pairs of adjacent labels."""
        n = np.intp(self.layout.n_labels)
        return self._bounds[3] + (features * n + before) * n + after

    def start_cells(self, labels: Indices | Ints) -> Indices:
        """Cells of first labels."""
        return self._bounds[0] + labels.astype(np.intp)

    def end_cells(self, labels: Indices | Ints) -> Indices:
        """Cells of last labels."""
        return self._bounds[1] + labels.astype(np.intp)

    def _view(self) -> DenseWeights:
        """The buffer as dense arrays of the layout's sizes."""
        layout, n = self.layout, self.layout.n_labels
        start, end, transitions, edges, state = np.split(self.values, self._bounds[1:-1])
        state, edges = state[: layout.n_features * n], edges[: layout.n_edge_features * n * n]
        return DenseWeights(state.reshape(-1, n), transitions.reshape(n, n), edges.reshape(-1, n * n), start, end)

    def _allocate(self, layout: Layout, n_features: int, n_edges: int) -> None:
        n = layout.n_labels
        self._n_features, self._n_edges = n_features, n_edges
        sizes = [n, n, n * n, n_edges * n * n, n_features * n]
        self._bounds: list[int] = np.cumsum([0, *sizes]).tolist()
        self.values: Floats = np.zeros(self._bounds[-1], dtype=self._dtype)
        self.slots: Ints = np.full(self._bounds[-1], -1, dtype=np.int32)

    def _enlarge(self, layout: Layout) -> None:
        """Move everything to larger buffers."""
        values, slots, bounds = self.values, self.slots, self._bounds
        sizes = ((layout.n_features, self._n_features), (layout.n_edge_features, self._n_edges))
        self._allocate(layout, *(int(ROOM * size) if size > old else old for size, old in sizes))
        for low, high, first in zip(bounds, bounds[1:], self._bounds):
            new = slice(first, first + high - low)
            self.values[new], self.slots[new] = values[low:high], slots[low:high]

    def _adopt(self, layout: Layout, present: Indices) -> None:
        """Number the weights of each section behind those that are present, and view the buffer as a layout."""
        self.layout = layout
        sections = self._sections(layout)
        fresh = np.concatenate([cells[size:] for cells, size in zip(sections, present)])
        self.slots[fresh] = np.arange(self.n_slots, self.n_slots + len(fresh))
        self.n_slots += len(fresh)
        self._sums = enlarged(self._sums, self.n_slots, 0.0)
        self._places: Indices = np.concatenate(sections)
        self.dense = self._view()

    def _sections(self, layout: Layout) -> list[Indices]:
        """Cells of the layout's weights, in the order of its sections."""
        boundary = np.arange(layout.n_labels if layout.boundary else 0)
        start, end, transitions, edges, state, _ = self._bounds
        cells = (layout.state_cells, layout.transition_cells, layout.edge_cells, boundary, boundary)
        return [first + own for first, own in zip((state, transitions, edges, start, end), cells)]


def enlarged(values: Floats, size: int, fill: float) -> Floats:
    """At least so many values, with room behind the present ones where they had to grow."""
    if len(values) >= size:
        return values
    return np.append(values, np.full(int(ROOM * size) - len(values), fill, dtype=values.dtype))
