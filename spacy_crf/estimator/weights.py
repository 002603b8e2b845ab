"""The weights that an estimator has learned or read, and what they predict."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

import numpy as np

from ..core.arrays import Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.potentials import observe, potentials
from ..core.learn.single import SingleDecoder
from ..core.sparse import SparseRows
from ..core.threads import run_parallel
from ..core.weights import ChainWeights
from .items import Items, Known, encode_items, encode_labels

UNITS_PER_PART = 20_000


@dataclass(frozen=True)
class FittedChain:
    """A linear chain over attribute strings, with weights in double precision."""

    labels: list[str]
    attributes: Known
    weights: ChainWeights

    @classmethod
    def without_zeros(cls, labels: list[str], attributes: Iterable[str], weights: ChainWeights) -> Self:
        """Leave out the weights that are 0, and the attributes that have no other.

        attributes (Iterable[str]): by number. weights (ChainWeights): all of them.
        """
        pruned = weights.pruned()
        names = compress(attributes, pruned.features.tolist())
        known = Known(zip(names, range(pruned.weights.layout.n_features)))
        return cls(labels, known, pruned.weights.astype(np.float64))

    def decode(self, X: Iterable[Any], n_threads: int) -> list[list[str]]:
        """The best labels of each sequence."""
        items = encode_items(X, self.attributes)
        labels = list(map(self.labels.__getitem__, self.best(items, n_threads).tolist()))
        return [labels[own] for own in Segments(items.lengths).slices()]

    def best(self, items: Items, n_threads: int) -> Ints:
        """((N,)): numbers of the best labels."""
        if len(items.lengths) == 1 and items.n_items:  # four times faster than a batch of one
            return SingleDecoder(self.weights.dense, self.weights.layout)(self._features(items), None)
        return self._by_part(items, ChainDistribution.best, n_threads)

    def accuracy(self, X: Iterable[Any], y: Iterable[Any], n_threads: int) -> float:
        """Share of the items whose best label is the given one."""
        items = encode_items(X, self.attributes)
        numbers = Known(zip(self.labels, range(len(self.labels))))
        gold = encode_labels(y, items.lengths, numbers.__getitem__)
        return float((gold == self.best(items, n_threads)).mean()) if len(gold) else 0.0

    def marginals(self, X: Iterable[Any], n_threads: int) -> list[list[dict[str, float]]]:
        """For each item of each sequence, the probability of each label."""
        items = encode_items(X, self.attributes)
        found = self._by_part(items, lambda distribution: distribution.marginals, n_threads)
        by_item = [dict(zip(self.labels, row)) for row in found.tolist()]
        return [by_item[own] for own in Segments(items.lengths).slices()]

    def _by_part(self, items: Items, ask: Callable[[ChainDistribution], Any], n_threads: int) -> Any:
        """Ask what the chains of runs of whole sequences say, on threads, and put the rows behind each other."""
        layout, features, bounds = self.weights.layout, self._features(items), Segments(items.lengths).bounds
        cuts = np.flatnonzero(np.diff(bounds[1:] // UNITS_PER_PART, prepend=-1)).tolist()
        parts = list(zip(cuts, [*cuts[1:], len(items.lengths)]))
        dense = self.weights.dense  # once, not on each thread

        def run(part: tuple[int, int]) -> Any:
            first, last = part
            units = features.slice(int(bounds[first]), int(bounds[last]))
            chains = potentials(observe(items.lengths[first:last], units), dense, layout)
            return ask(ChainDistribution(chains))

        found = run_parallel(run, parts, n_threads if len(parts) > 1 else 1)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int32)

    def _features(self, items: Items) -> SparseRows:
        return items.nonzero().features(self.weights.layout.n_features)
