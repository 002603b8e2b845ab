"""How sure a component is of whole sequences: their best labellings, and entropies, for each Doc."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Doubles, Floats, Indices, Ints
from ..core.batch import PackedBatch
from ..core.chain.entropy import token_entropies
from ..core.chain.forward import ForwardBackward
from ..core.chain.nbest import nbest
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


def alternatives(messages: ForwardBackward, k: int, doc_lengths: Indices) -> Iterator[list[Alternatives]]:
    """The k best labellings of each sequence, or all where there are fewer.

    messages (ForwardBackward): in double precision. doc_lengths ((D,)): tokens of the Docs.
    YIELDS (list[Alternatives]): one entry for each sequence, for each Doc.
    """
    batch = messages.potentials.batch
    found = nbest(messages.potentials, k)
    labels, probabilities = found.labels[:, batch.rows], found.probabilities(messages.log_z)
    ends = np.cumsum(batch.lengths)
    starts = ends - batch.lengths
    for first, sequences in _by_doc(doc_lengths, starts):
        yield [
            Alternatives(
                int(starts[b]) - first,
                int(ends[b]) - first,
                labels[: found.counts[b], starts[b] : ends[b]],
                probabilities[b, : found.counts[b]],
            )
            for b in range(sequences.start, sequences.stop)
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
    messages: ForwardBackward, choice: SequenceChoice, doc_lengths: Indices
) -> Iterator[list[LikelySequences]]:
    """Sets of labellings for each sequence.

    messages (ForwardBackward): in double precision. doc_lengths ((D,)): tokens of the Docs.
    YIELDS (list[LikelySequences]): one entry for each sequence, for each Doc.
    """
    found = smallest_sequence_sets(messages.potentials, choice.mass, choice.cap)
    ends = np.cumsum(messages.potentials.batch.lengths)
    starts = ends - messages.potentials.batch.lengths
    for first, sequences in _by_doc(doc_lengths, starts):
        yield [
            LikelySequences(
                int(starts[b]) - first,
                int(ends[b]) - first,
                found[b].paths,
                found[b].probabilities,
                found[b].mass,
                found[b].complete,
            )
            for b in range(sequences.start, sequences.stop)
        ]


def entropies(batch: PackedBatch, by_sequence: Doubles, marginals: Floats, doc_lengths: Indices) -> Iterator[Entropies]:
    """Entropies of each Doc's sequences and tokens.

    by_sequence ((B,)): of the labellings. marginals ((N, L)): in packed order. doc_lengths ((D,)): tokens of the Docs.
    YIELDS (Entropies): for each Doc.
    """
    by_token = token_entropies(marginals)[batch.rows]
    ends = np.cumsum(batch.lengths)
    starts = ends - batch.lengths
    for (first, sequences), length in zip(_by_doc(doc_lengths, starts), doc_lengths.tolist()):
        tokens = by_token[first : first + length]
        yield Entropies(starts[sequences] - first, ends[sequences] - first, by_sequence[sequences], tokens)


def _by_doc(doc_lengths: Indices, starts: Indices) -> Iterator[tuple[int, slice]]:
    """The first unit and the sequences of each Doc.

    starts ((B,)): first units of the sequences, none of which is empty.
    """
    firsts = np.concatenate([[0], np.cumsum(doc_lengths)])
    cuts = np.searchsorted(starts, firsts).tolist()
    for first, low, high in zip(firsts.tolist(), cuts, cuts[1:]):
        yield first, slice(low, high)
