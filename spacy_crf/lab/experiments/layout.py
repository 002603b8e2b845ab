"""A corpus as numbers, and what a split of it is: sentences of documents, of which parts are trained and tested on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...core.arrays import Bools, Indices

By = Literal["document", "sentence", "chunk"]


@dataclass(frozen=True)
class Layout:
    """Documents, and the sentences that they consist of. A document without sentence boundaries is one sentence.

    names (tuple[str, ...]): of the D documents. documents ((S,)): of which document each sentence is, ascending.
    lengths ((S,)): tokens of each sentence.
    """

    names: tuple[str, ...]
    documents: Indices
    lengths: Indices

    @property
    def sizes(self) -> Indices:
        """((D,)): tokens of each document."""
        return np.bincount(self.documents, weights=self.lengths, minlength=len(self.names)).astype(np.intp)

    def sentences(self, document: int) -> Indices:
        """The sentences of a document, in order."""
        return np.flatnonzero(self.documents == document)

    def tokens(self, sentences: Indices) -> int:
        """Tokens of some sentences."""
        return int(self.lengths[sentences].sum())


@dataclass(frozen=True)
class Part:
    """What is tested on at once.

    name (str): for tables. sentences: their numbers, ascending.
    """

    name: str
    sentences: Indices


@dataclass(frozen=True)
class Split:
    """One training part, and what the model is tested on.

    name (str): for tables and messages. train: numbers of sentences, ascending. tests (tuple[Part, ...]): one or more.
    series (str): what belongs together where an experiment compares ways to split; "" otherwise.
    fraction (float): share of the training data that is used. draw (int): number of the draw that it belongs to.
    """

    name: str
    train: Indices
    tests: tuple[Part, ...]
    series: str = ""
    fraction: float = 1.0
    draw: int = 0


def split_by(name: str, is_test: Bools, series: str = "") -> Split:
    """Train on all sentences but those tested on.

    is_test ((S,)): the latter.
    """
    return Split(name, np.flatnonzero(~is_test), (Part(name, np.flatnonzero(is_test)),), series)


def join(parts: Sequence[Indices]) -> Indices:
    """Sentences of several parts, ascending."""
    return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *parts]))
