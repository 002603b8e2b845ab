"""Sides of sequences at which their text goes on, such as those where a window was cut out of it."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from spacy.tokens import Doc

from ..core.arrays import Bools, Indices

# where a Doc says that its text goes on before it or behind it: [before, behind]
OPEN_SIDES = "spacy_crf.open"


def read_open_sides(docs: Sequence[Doc], doc_lengths: Indices, lengths: Indices) -> Bools | None:
    """((B, 2) | None): open sides of sequences: those of their Doc at its first and last sequence."""
    data = [cast(dict[Any, Any], doc.user_data) for doc in docs]
    if not any(OPEN_SIDES in found for found in data):
        return None
    sides = np.zeros((len(lengths), 2), dtype=bool)
    ends, doc_ends = np.cumsum(lengths), np.cumsum(doc_lengths)
    for number, found in enumerate(data):
        if OPEN_SIDES in found and doc_lengths[number]:
            first = np.searchsorted(ends, doc_ends[number] - doc_lengths[number], side="right")
            last = np.searchsorted(ends, doc_ends[number])
            sides[first, 0], sides[last, 1] = found[OPEN_SIDES]
    return sides
