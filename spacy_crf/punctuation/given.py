"""Marks that are settled already: as evidence for what is not, and in the labels that tell them."""

from collections.abc import Iterable, Sequence
from operator import eq

import numpy as np

from ..core.arrays import Bools, Indices, Ints, Segments
from ..core.chain.evidence import blocked_sequences
from ..core.weights import Layout
from .labels import LabelScheme, LabelTable
from .marks import NONE


def labels_beside_given(
    marks: Sequence[str], lengths: Indices, table: LabelTable, layout: Layout, scheme: LabelScheme
) -> Bools:
    """Labels that words may have beside the marks that are in their texts.

    Training may never have seen such a mark in such a sentence, say a semicolon in a question. In a text that has no
    labelling with all of its marks, only those that end sentences are evidence; if there is still none, nothing is.
    `settle_marks` puts the marks into the labels then.

    marks (sequence of str): of all words, NONE where there is none. lengths ((B,)): of the texts, in words.
    table (LabelTable), layout (Layout), scheme (LabelScheme): of the chain.
    RETURNS ((N, L)): for which each text has a labelling.
    """
    allowed = _having(marks, table)
    if not scheme.kinds:
        return allowed
    owners = Segments(lengths).owners
    ends = [mark if scheme.marks.is_end(mark) else NONE for mark in marks]
    for weaker in (ends, [NONE] * len(marks)):
        blocked = np.isin(owners, blocked_sequences(lengths, allowed, layout))
        if blocked.any():
            allowed[blocked] = _having(weaker, table)[blocked]
    return allowed


def settle_marks(tags: Ints, marks: Iterable[str], table: LabelTable) -> Ints:
    """Labels with settled marks in the place of others, and as much of the rest as training has seen with these.

    tags ((n,)): labels. marks (iterable of str): one for each; NONE, and a mark that no label has, leave it alone.
    table (LabelTable): of the labels.
    RETURNS ((n,)): labels.
    """
    settled = tags.copy()
    for place, (tag, mark) in enumerate(zip(tags.tolist(), marks)):
        own = table.parsed[tag]
        if mark not in (NONE, own.mark) and mark in table.marks:
            alike = [sum(map(eq, own, label)) if label.mark == mark else -1 for label in table.parsed]
            settled[place] = int(np.argmax(alike))
    return settled


def _having(marks: Sequence[str], table: LabelTable) -> Bools:
    rows = {mark: table.having(mark) for mark in set(marks)}
    return np.array([rows[mark] for mark in marks], dtype=bool).reshape(len(marks), len(table.parsed))
