"""Random draws that splits of a corpus are made of: folds, and test parts of a given share.

What is drawn is whole documents, sentences of each document, or chunks: contiguous runs of sentences of each document.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core.arrays import Bools, Indices
from ..core.errors import CRFError
from ..core.learn.penalty import deal
from .errors import LabErrors

By = Literal["document", "sentence", "chunk"]
Rng = np.random.Generator


@dataclass(frozen=True)
class CorpusLayout:
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

    def by_document(self) -> list[Indices]:
        """Return the lengths of the sentences of each document."""
        return [self.lengths[self.documents == document] for document in range(len(self.names))]

    def tokens(self, sentences: Indices) -> int:
        """Count the tokens of some sentences."""
        return int(self.lengths[sentences].sum())


def draw_folds(layout: CorpusLayout, by: By, folds: int, rng: Rng) -> Indices:
    """Draw the fold ((S,)) of each sentence: numbers from 0 on, each of which occurs.

    Documents and sentences are dealt out at random. Chunks are cut so that they have about the same number of tokens,
    and each document gives its chunks to folds in an order of its own.
    """
    found = len(layout.names) if by == "document" else len(layout.lengths)
    numbers = np.zeros(0, dtype=np.intp)
    if 2 <= folds <= found:
        if by == "document":
            return deal(found, folds, rng)[layout.documents]
        divide = _deal_sentences if by == "sentence" else _deal_chunks
        numbers = np.concatenate([divide(lengths, folds, rng) for lengths in layout.by_document()])
    if len(np.unique(numbers)) < max(2, folds):
        raise CRFError(LabErrors.CRF610.format(folds=folds, found=found, kind=_kind(by)))
    return numbers


def _deal_sentences(lengths: Indices, folds: int, rng: Rng) -> Indices:
    """Deal from a random fold on, so that short documents do not all begin with the same one."""
    return (deal(len(lengths), folds, rng) + rng.integers(folds)) % folds


def _deal_chunks(lengths: Indices, folds: int, rng: Rng) -> Indices:
    middles = np.cumsum(lengths) - lengths / 2
    chunks = np.minimum((middles * folds / lengths.sum()).astype(np.intp), folds - 1)
    return rng.permutation(folds)[chunks]


def draw_test(layout: CorpusLayout, by: By, share: float, rng: Rng) -> Bools:
    """Draw the sentences ((S,)) of a test part. Of each document, or of all documents, one unit is left for training.

    by (str): "document" for whole documents; "sentence" for random sentences of each document, "chunk" for a run of
        sentences at a random place of each; a document of one sentence is then for training.
    share (float): between 0 and 1: of the documents, of a document's sentences, or of its tokens.
    """
    if not 0 < share < 1:
        raise CRFError(LabErrors.CRF611.format(name="test share", value=share))
    if by == "document":
        drawn = _draw_sentences(np.ones(len(layout.names), dtype=np.intp), share, rng)[layout.documents]
    else:
        draw = _draw_sentences if by == "sentence" else _draw_chunk
        drawn = np.concatenate([draw(lengths, share, rng) for lengths in layout.by_document()])
    if not drawn.any():
        raise CRFError(LabErrors.CRF612.format(kind=_kind(by)))
    return drawn


def _draw_sentences(lengths: Indices, share: float, rng: Rng) -> Bools:
    """Draw that share of the sentences, at least one, but not all."""
    count = min(max(1, round(share * len(lengths))), len(lengths) - 1)
    drawn = np.zeros(len(lengths), dtype=bool)
    drawn[rng.permutation(len(lengths))[:count]] = True
    return drawn


def _draw_chunk(lengths: Indices, share: float, rng: Rng) -> Bools:
    """Draw a run of sentences with about that share of the tokens, at least one sentence, but not all."""
    if len(lengths) < 2:
        return np.zeros(len(lengths), dtype=bool)
    middles, total = np.cumsum(lengths) - lengths / 2, lengths.sum()
    low = rng.uniform(0, total * (1 - share))
    high = low + share * total
    drawn = np.asarray((middles >= low) & (middles < high))
    if not drawn.any():
        drawn[np.abs(middles - (low + high) / 2).argmin()] = True
    if drawn.all():
        drawn[-1] = False
    return drawn


def _kind(by: By) -> str:
    return "documents" if by == "document" else "sentences"
