"""What a promise may know of tokens beside their probabilities: the groups of a Mondrian promise, and random numbers.

Groups are told from the text alone, with gold or without, so that they are the same when the promise is made and when
it is kept. The document that a token belongs to is no such group: sets of a document that nobody has seen would have no
quantile. What holds for documents is promised by risk control, with documents as units.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from ..core.arrays import Doubles, Hashes, Indices, Segments
from ..core.errors import CoreErrors, CRFError
from ..features.attributes import string_hashes
from ..features.hashing import ABSENT, mix

BITS = 53  # of a number between 0 and 1 in double precision


@dataclass(frozen=True)
class Tokens:
    """Tokens of Docs, one Doc after the other.

    orths ((N,)): hashes of their forms. lengths ((B,)): tokens of each sequence. doc_lengths ((D,)): of each Doc.
    """

    orths: Hashes
    lengths: Indices
    doc_lengths: Indices


@dataclass(frozen=True)
class UnknownWords:
    """Words that are in a list, and those that are not.

    words (tuple[str, ...]): the list, as the promise stores it.
    """

    words: tuple[str, ...]
    kind: Literal["unknown"] = "unknown"

    def groups(self, tokens: Tokens) -> Indices:
        """((N,)): 0 for words of the list, 1 for others. O(N log W)."""
        known = _sorted_hashes(self.words)
        places = np.searchsorted(known[:-1], tokens.orths)
        return (known[places] != tokens.orths).astype(np.intp)

    def describe(self, group: int) -> str:
        """What a group is, for people."""
        return ("known words", "unknown words")[group]

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": self.kind, "words": list(self.words)}


@dataclass(frozen=True)
class SequenceLength:
    """Tokens by the length of their sequence.

    edges (tuple[int, ...]): ascending; the greatest length of each group but the last, which has none.
    RAISES (ValueError): for edges that do not ascend from 1.
    """

    edges: tuple[int, ...]
    kind: Literal["length"] = "length"

    def __post_init__(self) -> None:
        if not self.edges or list(self.edges) != sorted({edge for edge in self.edges if edge > 0}):
            expected = "lengths in ascending order, at least one"
            raise CRFError(CoreErrors.CRF819.format(name="edges", value=list(self.edges), expected=expected))

    def groups(self, tokens: Tokens) -> Indices:
        """((N,)): the number of edges that the sequence is longer than."""
        return np.repeat(np.searchsorted(self.edges, tokens.lengths, side="left"), tokens.lengths)

    def describe(self, group: int) -> str:
        """What a group is, for people."""
        low = self.edges[group - 1] + 1 if group else 1
        return (
            f"sequences of {low} to {self.edges[group]}" if group < len(self.edges) else f"sequences of {low} or more"
        )

    def to_data(self) -> dict[str, Any]:
        """As plain data."""
        return {"kind": self.kind, "edges": list(self.edges)}


@lru_cache(maxsize=16)  # a promise is read for each batch, as settings may change at any time
def _sorted_hashes(words: tuple[str, ...]) -> Hashes:
    """Hashes of words, ascending, and a last one that no word has."""
    return np.append(np.sort(string_hashes(list(words))), ABSENT)


Strata: TypeAlias = UnknownWords | SequenceLength


def read_strata(data: Mapping[str, Any]) -> Strata:
    """What `to_data` wrote.

    RAISES (KeyError, ValueError): for something else.
    """
    if data["kind"] == "unknown":
        return UnknownWords(tuple(data["words"]))
    if data["kind"] == "length":
        return SequenceLength(tuple(data["edges"]))
    raise KeyError(data["kind"])


def text_uniforms(tokens: Tokens, seed: int) -> Doubles:
    """A number between 0 and 1 for each token, which follows from the seed, the words of its Doc and its place there.

    The same text has the same numbers whatever else is in its batch, and so the same sets. Over texts they are as good
    as independent and uniform, except that copies of a text share theirs. O(N).

    seed (int): any.
    RETURNS ((N,)): numbers from [0, 1).
    """
    docs = Segments(tokens.doc_lengths[tokens.doc_lengths > 0])
    places = docs.positions.astype(np.uint64)
    # sums wrap around; places are mixed in, so that the order of words counts
    texts = np.add.reduceat(mix(tokens.orths, places), docs.firsts) if len(docs) else np.zeros(0, dtype=np.uint64)
    seeded = mix(texts, np.full(len(texts), seed % 2**64, dtype=np.uint64))
    mixed = mix(seeded[docs.owners], places)
    return (mixed >> np.uint64(64 - BITS)).astype(np.float64) / 2**BITS
