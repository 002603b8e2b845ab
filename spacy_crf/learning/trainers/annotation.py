"""Tells whether components upstream have annotated Docs otherwise than before."""

import zlib
from typing import Any

import numpy as np

from ...core.arrays import Segments
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
    docs = Segments(columns.doc_lengths).slices()
    return [zlib.crc32(b"".join(array[own].tobytes() for array in arrays)) for own in docs]
