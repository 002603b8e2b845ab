"""Cuts a corpus into blocks of sequences of similar length: the unit of parallel work.

Blocks depend on the data alone and are summed in a fixed order, so that results do not depend on the threads. A corpus
is cut window by window, so that one that is on disk is never in memory as a whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ..arrays import Floats, Indices, Ints, Segments, cached_property
from ..chain.forward import ForwardBackward
from ..chain.marginals import Counts
from ..chain.open_gold import OpenGold
from ..chain.potentials import EdgeObservations, Observations, numbered, observe
from ..labels import Gold
from ..sparse import SparseRows
from ..weights import Layout

UNITS_PER_BLOCK = 12_000  # (units, 22) floats stay in a second-level cache; fewer units cost too much Python
UNITS_PER_WINDOW = 10 * UNITS_PER_BLOCK  # enough sequences to find those of similar length among


class PathWeights(Protocol):
    """What labellings of sequences weigh beside their scores, so that Z is a sum of other terms: `expect` returns the
    counts that are expected then, and what is to be added to log Z - score of gold."""

    def joined(self, others: Sequence[Any]) -> "PathWeights": ...
    def take(self, sequences: Indices) -> "PathWeights": ...
    def expect(self, messages: ForwardBackward) -> tuple[Counts, float]: ...


class WindowedCorpus(Protocol):
    """Encoded sequences, in memory or on disk, which are looked at a window at a time, again and again.

    slots ((F,) | None): as in `EncodedCorpus`.
    """

    @property
    def slots(self) -> Ints | None: ...
    def windows(self) -> Iterator["EncodedCorpus"]: ...


@dataclass(frozen=True)
class EncodedCorpus:
    """Encoded sequences, one after the other.

    lengths ((B,)): of the sequences. features (SparseRows): N rows of state features. gold (Gold): of N units.
    edges (EdgeObservations | None): edge features.
    slots ((F,) | None): template of each state feature, where a unit has at most one of each template.
    scores ((N, L) | None): what each label scores besides, from vectors of the units; -inf rules it out.
    paths (PathWeights | None): of the sequences.
    """

    lengths: Indices
    features: SparseRows
    gold: Gold
    edges: EdgeObservations | None = None
    slots: Ints | None = None
    scores: Floats | None = None
    paths: PathWeights | None = None

    @cached_property
    def segments(self) -> Segments:
        """The sequences as runs of units."""
        return Segments(self.lengths)

    def windows(self) -> Iterator["EncodedCorpus"]:
        """Runs of whole sequences with about `UNITS_PER_WINDOW` units, without copying features."""
        bounds = self.segments.bounds
        of_sequence = (bounds[1:] - 1) // UNITS_PER_WINDOW
        cuts = [0, *(np.flatnonzero(np.diff(of_sequence)) + 1).tolist(), len(self.lengths)]
        if len(cuts) == 2:
            yield self
            return
        for first, last in pairwise(cuts):
            paths = self.paths and self.paths.take(np.arange(first, last))
            run = self.slice(int(bounds[first]), int(bounds[last]))
            yield replace(run, lengths=self.lengths[first:last], paths=paths)

    def take(self, sequences: Indices) -> "EncodedCorpus":
        """The given sequences in the given order."""
        units, lengths = self.segments.units(sequences), self.lengths[sequences]
        edges = self.edges and self.edges.take(units)
        scores = None if self.scores is None else self.scores[units]
        paths = self.paths and self.paths.take(sequences)
        return EncodedCorpus(
            lengths, self.features.take(units), self.gold.take(units), edges, self.slots, scores, paths
        )

    def slice(self, low: int, high: int) -> "EncodedCorpus":
        """The units low:high as one sequence, without copying features."""
        edges = self.edges and EdgeObservations(self.edges.features, self.edges.groups[low:high])
        lengths = np.array([high - low], dtype=np.intp)
        scores = None if self.scores is None else self.scores[low:high]
        features, gold = self.features.slice(low, high), self.gold.slice(low, high)
        return EncodedCorpus(lengths, features, gold, edges, self.slots, scores)


@dataclass(frozen=True)
class Block:
    """Sequences of similar length, packed, with their gold.

    sequences ((b,)): for each sequence its index in the corpus. units ((n,)): for each packed row its unit there.
    is_open (bool): whether gold holds sets; if not, its counts are constant.
    paths (PathWeights | None): where gold holds no sets.
    """

    observations: Observations
    sequences: Indices
    units: Indices
    gold: Gold
    is_open: bool
    paths: PathWeights | None = None

    def open_gold(self, layout: Layout) -> OpenGold | None:
        """Return what gold says of paths where it holds sets, else None.

        RAISES (NoPathError): where the masks of the layout forbid all of gold.
        """
        if not self.is_open:
            return None
        with numbered(self.sequences):
            return OpenGold.of(self.gold, self.observations.batch, layout)


def cut(corpus: WindowedCorpus, units_per_block: int = UNITS_PER_BLOCK) -> Iterator[Block]:
    """Blocks of about the given number of units, in each window longest sequences first, sets of labels apart."""
    n_sequences = n_units = 0
    for window in corpus.windows():
        for block in _cut(window, units_per_block):
            yield replace(block, sequences=block.sequences + n_sequences, units=block.units + n_units)
        n_sequences, n_units = n_sequences + len(window.lengths), n_units + window.features.n_rows


def _cut(corpus: EncodedCorpus, units_per_block: int) -> Iterator[Block]:
    order = np.argsort(-corpus.lengths, kind="stable")
    order = order[corpus.lengths[order] > 0]
    latent = corpus.gold.latent_sequences(corpus.segments.owners, len(corpus.lengths))
    for group in (order[~latent[order]], order[latent[order]]):
        block_of = (Segments(corpus.lengths[group]).ends - 1) // units_per_block
        for sequences in np.split(group, np.flatnonzero(np.diff(block_of)) + 1):
            if len(sequences):
                part = corpus.take(sequences)
                observations = observe(part.lengths, part.features, part.edges, part.scores)
                gold = part.gold.take(observations.batch.units)
                units = corpus.segments.units(sequences)[observations.batch.units]
                is_open = bool(latent[sequences[0]])
                yield Block(observations, sequences, units, gold, is_open, None if is_open else part.paths)
