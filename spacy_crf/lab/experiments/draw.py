"""Random draws that splits are made of: folds, and test parts of a given share.

What is drawn is whole documents, sentences of each document, or chunks: contiguous runs of sentences of each document.
"""

from collections.abc import Callable

import numpy as np

from ...core.arrays import Bools, Indices
from ...core.errors import CRFError
from ..errors import LabErrors
from .layout import By, Layout

Rng = np.random.Generator


def deal(count: int, folds: int, rng: Rng) -> Indices:
    """Return the fold ((count,)) of each of some units, dealt out at random."""
    return np.argsort(rng.permutation(count)) % folds


def draw_folds(layout: Layout, by: By, folds: int, rng: Rng) -> Indices:
    """The fold of each sentence.

    Documents and sentences are dealt out at random. Chunks are cut so that they have about the same number of tokens,
    and each document gives its chunks to folds in an order of its own.

    by (str): "document", or "sentence" or "chunk" of each document. folds (int): at least 2.
    RETURNS ((S,)): numbers from 0 on, each of which occurs.
    RAISES (ValueError): where there are too few documents or sentences for so many folds.
    """
    found = len(layout.names) if by == "document" else len(layout.lengths)
    if not 2 <= folds <= found:
        raise CRFError(LabErrors.CRF610.format(folds=folds, found=found, kind=_kind(by)))
    if by == "document":
        return deal(found, folds, rng)[layout.documents]
    divide = _deal_sentences if by == "sentence" else _deal_chunks
    dealt = [divide(layout.lengths[layout.sentences(document)], folds, rng) for document in range(len(layout.names))]
    numbers = np.concatenate(dealt)
    if len(np.unique(numbers)) < folds:
        raise CRFError(LabErrors.CRF610.format(folds=folds, found=found, kind=_kind(by)))
    return numbers


def _deal_sentences(lengths: Indices, folds: int, rng: Rng) -> Indices:
    """((n,)): from a random fold on, so that short documents do not all begin with the same one."""
    return (deal(len(lengths), folds, rng) + rng.integers(folds)) % folds


def _deal_chunks(lengths: Indices, folds: int, rng: Rng) -> Indices:
    middles = np.cumsum(lengths) - lengths / 2
    chunks = np.minimum((middles * folds / lengths.sum()).astype(np.intp), folds - 1)
    return rng.permutation(folds)[chunks]


def draw_test(layout: Layout, by: By, share: float, rng: Rng) -> Bools:
    """The sentences of a test part. Of each document, or of all documents, at least one unit is left for training.

    by (str): "document" for whole documents; "sentence" for random sentences of each document, "chunk" for a run of
        sentences at a random place of each; a document of one sentence is then for training.
    share (float): between 0 and 1: of the documents, of a document's sentences, or of its tokens.
    RETURNS ((S,)): True for sentences that are tested on.
    RAISES (ValueError): for another share, or where there is nothing to divide.
    """
    if not 0 < share < 1:
        raise CRFError(LabErrors.CRF611.format(name="test share", value=share))
    if by == "document":
        count = len(layout.names)
        drawn = _draw_sentences(np.ones(count, dtype=np.intp), share, rng)[layout.documents]
    else:
        draw: Callable[[Indices, float, Rng], Bools] = _draw_sentences if by == "sentence" else _draw_chunk
        parts = [draw(layout.lengths[layout.sentences(d)], share, rng) for d in range(len(layout.names))]
        drawn = np.concatenate(parts)
    if not drawn.any():
        raise CRFError(LabErrors.CRF612.format(kind=_kind(by)))
    return drawn


def _draw_sentences(lengths: Indices, share: float, rng: Rng) -> Bools:
    """((n,)): that share of them, at least one, but not all."""
    count = min(max(1, round(share * len(lengths))), len(lengths) - 1)
    drawn = np.zeros(len(lengths), dtype=bool)
    drawn[rng.permutation(len(lengths))[:count]] = True
    return drawn


def _draw_chunk(lengths: Indices, share: float, rng: Rng) -> Bools:
    """((n,)): a run of sentences with about that share of the tokens, at least one sentence, but not all."""
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
