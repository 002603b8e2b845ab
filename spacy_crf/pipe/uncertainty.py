"""How sure a component is of whole sequences: their best labellings, and entropies, for each Doc."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.arrays import Doubles, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.entropy import token_entropies
from ..core.sets.sequences import smallest_sequence_sets


@dataclass(frozen=True)
class Alternatives:
    """The best labellings of one sequence of a Doc, best first.

    start (int), end (int): its tokens. tags ((K, n)): label indices. probabilities ((K,)): of the labellings.
    """

    start: int
    end: int
    tags: Ints
    probabilities: Doubles

    def to_data(self, names: tuple[str, ...]) -> dict[str, Any]:
        """What is stored on a Doc: lists, with the names of the tags."""
        labels = [[names[tag] for tag in path] for path in self.tags.tolist()]
        bounds = {"start": self.start, "end": self.end}
        return {**bounds, "labels": labels, "probabilities": self.probabilities.tolist()}


@dataclass(frozen=True)
class Entropies:
    """Entropies of one Doc, in nats.

    starts ((B,)), ends ((B,)), sequences ((B,)): tokens of its sequences, and the entropy of each one's labelling.
    tokens ((n,)): of the label of each token.
    """

    starts: Indices
    ends: Indices
    sequences: Doubles
    tokens: Doubles

    def to_data(self) -> dict[str, Any]:
        """What is stored on a Doc."""
        bounds = zip(self.starts.tolist(), self.ends.tolist(), self.sequences.tolist())
        sequences = [{"start": start, "end": end, "entropy": value} for start, end, value in bounds]
        return {"sequences": sequences, "tokens": self.tokens.tolist()}


def alternatives(distribution: ChainDistribution, k: int, doc_lengths: Indices) -> Iterator[list[Alternatives]]:
    """The k best labellings of each sequence, or all where there are fewer.

    doc_lengths ((D,)): tokens of the Docs.
    YIELDS (list[Alternatives]): one entry for each sequence, for each Doc.
    """
    found = distribution.n_best(k)
    for own, starts, ends in _by_doc(distribution.lengths, doc_lengths):
        yield [
            Alternatives(start, end, *paths) for start, end, paths in zip(starts.tolist(), ends.tolist(), found[own])
        ]


@dataclass(frozen=True)
class SequenceChoice:
    """How many labellings of a sequence to list: the fewest with a mass, at most a cap."""

    mass: float
    cap: int


@dataclass(frozen=True)
class LikelySequences(Alternatives):
    """The fewest labellings of a sequence that together have a given probability.

    mass (float): what they have. complete (bool): False where there were too few.
    """

    mass: float
    complete: bool

    def to_data(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {**super().to_data(names), "mass": self.mass, "complete": self.complete}


def likely_sequences(
    distribution: ChainDistribution, choice: SequenceChoice, doc_lengths: Indices
) -> Iterator[list[LikelySequences]]:
    """Sets of labellings for each sequence.

    doc_lengths ((D,)): tokens of the Docs.
    YIELDS (list[LikelySequences]): one entry for each sequence, for each Doc.
    """
    found = smallest_sequence_sets(distribution.tempered, choice.mass, choice.cap)
    for own, starts, ends in _by_doc(distribution.lengths, doc_lengths):
        yield [
            LikelySequences(start, end, one.paths, one.probabilities, one.mass, one.complete)
            for start, end, one in zip(starts.tolist(), ends.tolist(), found[own])
        ]


def entropies(distribution: ChainDistribution, doc_lengths: Indices) -> Iterator[Entropies]:
    """Entropies of each Doc's sequences and tokens.

    doc_lengths ((D,)): tokens of the Docs.
    YIELDS (Entropies): for each Doc.
    """
    by_sequence = distribution.entropies
    by_token = Segments(doc_lengths).split(token_entropies(distribution.marginals))
    for (own, starts, ends), tokens in zip(_by_doc(distribution.lengths, doc_lengths), by_token):
        yield Entropies(starts, ends, by_sequence[own], tokens)


def _by_doc(lengths: Indices, doc_lengths: Indices) -> Iterator[tuple[slice, Indices, Indices]]:
    """For each Doc its sequences, the first token of each, and the token behind it.

    lengths ((B,)): of the sequences. doc_lengths ((D,)): of the Docs.
    """
    sequences, docs = Segments(lengths), Segments(doc_lengths)
    for first, own in zip(docs.firsts.tolist(), sequences.within(docs).slices()):
        yield own, sequences.firsts[own] - first, sequences.ends[own] - first
