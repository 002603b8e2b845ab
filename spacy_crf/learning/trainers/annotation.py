"""Tells whether components upstream have annotated Docs otherwise than before."""

import zlib
from typing import Any

import numpy as np

from ...features.columns import Columns


def annotation_checksums(columns: Columns) -> list[int]:
    """One number for each Doc, which changes with what other components wrote to it."""
    arrays: list[np.ndarray[Any, Any]] = []
    for attribute, column in columns.by_attribute.items():
        if attribute.is_annotation:
            arrays.append(column.hashes)
            if attribute.name == "_":
                ones = np.ones(len(column.hashes), dtype=np.float32)
                arrays.append(ones if column.numbers is None else column.numbers)
    ends = np.cumsum(columns.doc_lengths)
    bounds = zip((ends - columns.doc_lengths).tolist(), ends.tolist())
    return [zlib.crc32(b"".join(array[low:high].tobytes() for array in arrays)) for low, high in bounds]
