"""The weights that an estimator has learned or read, and what they predict."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from ..core.arrays import Doubles, Floats, Indices, Ints
from ..core.batch import PackedBatch
from ..core.chain.forward import forward_backward
from ..core.chain.marginals import node_marginals
from ..core.chain.observations import observe, potentials
from ..core.chain.potentials import ChainPotentials
from ..core.chain.viterbi import viterbi
from ..core.learn.single import SingleDecoder
from ..core.sparse import SparseRows
from ..core.threads import run_parallel
from ..core.weights import DenseWeights, Layout, prune, scatter
from .items import Items, Known, encode_items, encode_labels

UNITS_PER_PART = 20_000


@dataclass(frozen=True)
class ChainWeights:
    """A linear chain over attribute strings, in double precision.

    labels (list[str]): in the order of the label indices.
    attributes (Known): numbers of the attributes.
    layout (Layout), flat ((layout.size,)): the weights that are not 0.
    """

    labels: list[str]
    attributes: Known
    layout: Layout
    flat: Doubles

    @cached_property
    def dense(self) -> DenseWeights:
        dense = DenseWeights.zeros(self.layout, np.float64)
        scatter(self.layout, self.flat, dense)
        return dense

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made when it is missing: the dense weights, and what the layout remembers."""
        return {
            "labels": self.labels,
            "attributes": self.attributes,
            "layout": replace(self.layout),
            "flat": self.flat,
        }

    def decode(self, X: Iterable[Any], n_threads: int) -> list[list[str]]:
        """The best labels of each sequence."""
        items = encode_items(X, self.attributes.__getitem__)
        labels = list(map(self.labels.__getitem__, self.best(items, n_threads).tolist()))
        return [labels[low:high] for low, high in _bounds(items.lengths)]

    def best(self, items: Items, n_threads: int) -> Ints:
        """((N,)): numbers of the best labels."""
        if len(items.lengths) == 1 and items.n_items:  # four times faster than a batch of one
            return SingleDecoder(self.dense, self.layout)(items.features(self.layout.n_features), None)
        return run_by_part(items, self.layout.n_features, self._best, n_threads)

    def accuracy(self, X: Iterable[Any], y: Iterable[Any], n_threads: int) -> float:
        """Share of the items whose best label is the given one."""
        items = encode_items(X, self.attributes.__getitem__)
        numbers = Known(zip(self.labels, range(len(self.labels))))
        gold = encode_labels(y, items.lengths, numbers.__getitem__)
        return float((gold == self.best(items, n_threads)).mean()) if len(gold) else 0.0

    def marginals(self, X: Iterable[Any], n_threads: int) -> list[list[dict[str, float]]]:
        """For each item of each sequence, the probability of each label."""
        items = encode_items(X, self.attributes.__getitem__)
        found = run_by_part(items, self.layout.n_features, self._probabilities, n_threads)
        by_item = [dict(zip(self.labels, row)) for row in found.tolist()]
        return [by_item[low:high] for low, high in _bounds(items.lengths)]

    def _best(self, lengths: Indices, features: SparseRows) -> Ints:
        batch, chains = self._chains(lengths, features)
        return viterbi(chains).labels[batch.rows]

    def _probabilities(self, lengths: Indices, features: SparseRows) -> Floats:
        batch, chains = self._chains(lengths, features)
        return node_marginals(forward_backward(chains))[batch.rows]

    def _chains(self, lengths: Indices, features: SparseRows) -> tuple[PackedBatch, ChainPotentials]:
        observations = observe(lengths, features)
        return observations.batch, potentials(observations, self.dense, self.layout)


def run_by_part(
    items: Items, n_features: int, function: Callable[[Indices, SparseRows], Any], n_threads: int
) -> "np.ndarray[Any, Any]":
    """Apply a function to runs of whole sequences, on threads, and put the rows that it gives behind each other.

    function (Callable): maps lengths and features to an array with a row for each item.
    """
    features = items.features(n_features)
    ends = np.cumsum(items.lengths)
    cuts = np.flatnonzero(np.diff(ends // UNITS_PER_PART, prepend=-1)).tolist()
    parts = list(zip(cuts, [*cuts[1:], len(ends)]))

    def run(part: tuple[int, int]) -> "np.ndarray[Any, Any]":
        first, last = part
        low = int(ends[first] - items.lengths[first])
        return np.asarray(function(items.lengths[first:last], features.slice(low, int(ends[last - 1]))))

    found = run_parallel(run, parts, n_threads if len(parts) > 1 else 1)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int32)


def without_zeros(labels: list[str], attributes: Iterable[str], layout: Layout, flat: Doubles) -> ChainWeights:
    """Leave out the weights that are 0, and the attributes that have no other.

    attributes (Iterable[str]): by number. layout (Layout), flat ((layout.size,)): all weights.
    """
    pruned = prune(layout, flat)
    names = compress(attributes, pruned.features.tolist())
    known = Known(zip(names, range(pruned.layout.n_features)))
    return ChainWeights(labels, known, pruned.layout, np.asarray(pruned.flat, dtype=np.float64))


def _bounds(lengths: Indices) -> list[tuple[int, int]]:
    ends = np.cumsum(lengths)
    return list(zip((ends - lengths).tolist(), ends.tolist()))
