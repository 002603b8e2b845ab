"""Cuts a corpus into blocks of sequences of similar length: the unit of parallel work.

Blocks depend on the data alone and are summed in a fixed order, so that results do not depend on the threads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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


class PathWeights(Protocol):
    """What labellings of sequences weigh beside their scores, so that Z is a sum of other terms: `expect` returns the
    counts that are expected then, and what is to be added to log Z - score of gold."""

    def joined(self, others: Sequence[Any]) -> "PathWeights": ...
    def take(self, sequences: Indices) -> "PathWeights": ...
    def expect(self, messages: ForwardBackward) -> tuple[Counts, float]: ...


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


def cut(corpus: EncodedCorpus, units_per_block: int = UNITS_PER_BLOCK) -> list[Block]:
    """Blocks of about the given number of units, longest sequences first, sets of labels apart."""
    order = np.argsort(-corpus.lengths, kind="stable")
    order = order[corpus.lengths[order] > 0]
    latent = corpus.gold.latent_sequences(corpus.segments.owners, len(corpus.lengths))
    blocks = []
    for group in (order[~latent[order]], order[latent[order]]):
        block_of = (Segments(corpus.lengths[group]).ends - 1) // units_per_block
        for sequences in np.split(group, np.flatnonzero(np.diff(block_of)) + 1):
            if len(sequences):
                part = corpus.take(sequences)
                observations = observe(part.lengths, part.features, part.edges, part.scores)
                gold = part.gold.take(observations.batch.units)
                units = corpus.segments.units(sequences)[observations.batch.units]
                is_open = bool(latent[sequences[0]])
                paths = None if is_open else part.paths
                blocks.append(Block(observations, sequences, units, gold, is_open, paths))
    return blocks
