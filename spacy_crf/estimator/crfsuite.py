"""Reads the binary model files of CRFsuite, which python-crfsuite and sklearn-crfsuite write as well.

A file is a header with the offsets of five chunks: FEAT (the weights), two CQDB string databases (labels, attributes),
and LFRF and AFRF, which list for each label and attribute its weights and are implied by FEAT. All numbers are
little-endian. Everything is checked before it is used, and no code from the file is run.
"""

import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..core.arrays import Doubles, Indices
from ..core.errors import CRFError
from ..core.weights import ChainWeights, Layout
from ..reading.files import read_bytes
from .errors import EstimatorErrors

HEADER = struct.Struct("<4sI4s9I")
CHUNK = struct.Struct("<4sII")  # name, size, number of entries
DATABASE = struct.Struct("<4s5I")  # name, size, flags, byte order, capacity and offset of the index
BYTE_ORDER = 0x62445371
STATE, TRANSITION = 0, 1
WEIGHT = np.dtype([("kind", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])


@dataclass(frozen=True)
class CRFsuiteModel:
    """What a model file holds; there are no weights of starts and ends, as CRFsuite has none."""

    labels: list[str]
    attributes: list[str]
    weights: ChainWeights


class _Damaged(Exception):
    """What is wrong with a file."""


def read_crfsuite(path: str | Path) -> CRFsuiteModel:
    """Read a model file.

    path (str | Path): the file.
    RETURNS (CRFsuiteModel): labels, attributes and weights.
    RAISES (ValueError): for a file that is cut off, damaged, or not a first-order model of CRFsuite.

    >>> import pycrfsuite
    >>> from spacy_crf import read_crfsuite
    >>> trainer = pycrfsuite.Trainer(verbose=False)
    >>> trainer.append([["word=the"], ["word=dog"]], ["DET", "NOUN"])
    >>> trainer.train("animals.crfsuite")
    >>> read_crfsuite("animals.crfsuite").labels
    ['DET', 'NOUN']
    """
    data = read_bytes(Path(path))
    try:
        return _parse(data)
    except _Damaged as problem:
        raise CRFError(EstimatorErrors.CRF721.format(path=path, problem=problem)) from None


def _parse(data: bytes) -> CRFsuiteModel:
    if len(data) < HEADER.size:
        raise _Damaged(f"it has {len(data)} bytes, fewer than the header of a model")
    magic, size, kind, version, _, n_labels, n_attributes, *offsets = HEADER.unpack_from(data)
    if magic != b"lCRF" or kind != b"FOMC":
        raise _Damaged("it does not begin like a model of CRFsuite")
    if version != 100:
        raise _Damaged(f"it has version {version}, not 100")
    if size != len(data):
        raise _Damaged(f"it should have {size} bytes, but has {len(data)}")
    weights = _read_weights(data, offsets[0])
    labels = _read_strings(data, offsets[1], n_labels)
    attributes = _read_strings(data, offsets[2], n_attributes)
    _check_chunk(data, offsets[3], b"LFRF", n_labels)
    _check_chunk(data, offsets[4], b"AFRF", n_attributes)
    is_state = weights["kind"] == STATE
    state_cells, state = _table(weights[is_state], n_attributes, n_labels)
    transition_cells, transitions = _table(weights[~is_state], n_labels, n_labels)
    layout = Layout.empty(n_labels, boundary=False, n_features=n_attributes)
    layout = replace(layout, state_cells=state_cells, transition_cells=transition_cells)
    return CRFsuiteModel(labels, attributes, ChainWeights(layout, np.concatenate([state, transitions])))


def _check_chunk(data: bytes, offset: int, name: bytes, count: int) -> int:
    """The number of entries of a chunk.

    count (int): how many there must be at least; CRFsuite leaves room for two labels more than there are.
    """
    if offset + CHUNK.size > len(data):
        raise _Damaged(f"the chunk {name.decode()} lies beyond its end")
    found, size, entries = CHUNK.unpack_from(data, offset)
    if found != name:
        raise _Damaged(f"there is no chunk {name.decode()} where the header says")
    if offset + size > len(data) or entries < count:
        raise _Damaged(f"the chunk {name.decode()} has a wrong size")
    return int(entries)


def _read_weights(data: bytes, offset: int) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    count = _check_chunk(data, offset, b"FEAT", 0)
    first = offset + CHUNK.size
    if first + count * WEIGHT.itemsize > len(data):
        raise _Damaged("the chunk FEAT has a wrong size")
    weights = np.frombuffer(data, dtype=WEIGHT, count=count, offset=first)
    if not np.isin(weights["kind"], (STATE, TRANSITION)).all():
        raise _Damaged("it has weights that are neither of states nor of transitions")
    if not np.isfinite(weights["weight"]).all():
        raise _Damaged("it has weights that are not finite")
    return weights


def _table(
    weights: "np.ndarray[tuple[int], np.dtype[np.void]]", n_sources: int, n_labels: int
) -> tuple[Indices, Doubles]:
    """Cells `source * L + label`, ascending, and their weights."""
    source, label = weights["source"].astype(np.intp), weights["label"].astype(np.intp)
    if (source >= n_sources).any() or (label >= n_labels).any():
        raise _Damaged("it has weights of labels or attributes that do not exist")
    cells = source * n_labels + label
    order = np.argsort(cells, kind="stable")
    if (np.diff(cells[order]) == 0).any():
        raise _Damaged("it has two weights for the same pair")
    return cells[order], weights["weight"][order].astype(np.float64)


def _read_strings(data: bytes, offset: int, count: int) -> list[str]:
    """Strings of a database by number: each is stored as number, size and bytes, and found through an index."""
    if offset + DATABASE.size > len(data):
        raise _Damaged("a database of strings lies beyond its end")
    name, size, _, order, capacity, index = DATABASE.unpack_from(data, offset)
    if name != b"CQDB" or order != BYTE_ORDER:
        raise _Damaged("there is no database of strings where the header says")
    if offset + size > len(data) or count > capacity or (count and index + 4 * count > size):
        raise _Damaged("a database of strings has a wrong size")
    chunk = data[offset : offset + size]
    entries = np.frombuffer(chunk, dtype="<u4", count=count, offset=index if count else 0).astype(np.intp)
    if count and (entries.min() < DATABASE.size or entries.max() + 8 > size):
        raise _Damaged("a database of strings refers beyond its end")
    return [_string(chunk, number, entry) for number, entry in enumerate(entries.tolist())]


def _string(chunk: bytes, number: int, entry: int) -> str:
    found, length = struct.unpack_from("<iI", chunk, entry)
    end = entry + 8 + length
    if found != number or length < 1 or end > len(chunk) or chunk[end - 1]:
        raise _Damaged("a database of strings is damaged")
    return chunk[entry + 8 : end - 1].decode("utf8", errors="surrogateescape")
