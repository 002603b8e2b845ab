"""Encoded corpora on disk: training takes the memory of the weights and of some blocks, however much it learns from.

A file is complete or not there: it is written under another name, and found again by a key of the code, of the
settings that encode, and of the data. What the objective derives from it is kept in a file without a name, which ends
with the run.
"""

import mmap
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from ..core.arrays import Ints, narrowed
from ..core.chain.potentials import EdgeObservations
from ..core.errors import CRFError
from ..core.labels import Gold
from ..core.learn.blocks import UNITS_PER_WINDOW, EncodedCorpus
from ..core.learn.full_batch import Item
from ..core.sparse import SparseRows
from .encoder import ChainLearner, Sample, Trainer, join, release_memory
from .errors import LearningErrors
from .model import get_tok2vec
from .packed import dumps, loads

SUFFIX, DIGITS = ".corpus", 16  # of file names, and of each of the two keys in them
ALIGNED = 64  # bytes
ENCODING = ("annotation", "core", "features", "learning")  # parts of the package
FOOTER = 32  # bytes: the place of the index, and its checksum
Samples: TypeAlias = Callable[[], Iterator[Sample]]
Arrays: TypeAlias = dict[str, "np.ndarray[Any, Any]"]


class CachedCorpus:
    """A corpus in a file, whose windows are mapped into memory one at a time.

    slots ((F,) | None): as in `EncodedCorpus`.
    """

    def __init__(self, path: Path, learner: ChainLearner, is_known: bool):
        """Open a file; one that another run has written tells the learner its features.

        RAISES (CRFError): where it is damaged.
        """
        self._path = path
        with path.open("rb") as file:
            self._windows, features = _read_index(file, path)
        if is_known:
            learner.features.take_indices(features)
        state, edge = learner.features.state, learner.features.edge
        self.slots: Ints | None = state.slots if state.separates_templates else None
        self._sizes = len(state), len(edge)

    def __len__(self) -> int:
        return len(self._windows)

    def windows(self) -> Iterator[EncodedCorpus]:
        return map(self.window, range(len(self)))

    def window(self, number: int) -> EncodedCorpus:
        """Map a window into memory, as long as it is used."""
        found = self._windows[number]
        with self._path.open("rb") as file:
            mapped = _map(file.fileno(), found["start"], found["size"])
        if zlib.crc32(mapped) != found["checksum"]:
            raise CRFError(LearningErrors.CRF675.format(path=self._path))
        arrays = {
            name: np.frombuffer(mapped, dtype, int(np.prod(shape)), offset).reshape(shape)
            for name, (dtype, shape, offset) in found["arrays"].items()
        }
        return from_arrays(arrays, self._sizes, self.slots)


def open_cache(trainer: Trainer, learner: ChainLearner) -> CachedCorpus:
    """Return the whole corpus of a trainer, encoded on disk.

    RAISES (CRFError): for models that cannot be learned from there, and as `cached_corpus` does.
    """
    has_vectors, is_second = get_tok2vec(learner.model) is not None, learner.model.attrs["order"] == 2
    if has_vectors or is_second:
        what = "a tok2vec layer" if has_vectors else "order = 2"
        raise CRFError(LearningErrors.CRF674.format(name=learner.name, what=what))
    if trainer.read is None:
        raise CRFError(LearningErrors.CRF251.format(name=learner.name))
    corpus = cached_corpus(trainer.settings.cache, learner, trainer.read)
    release_memory()
    return corpus


def cached_corpus(folder: str, learner: ChainLearner, samples: Samples) -> CachedCorpus:
    """Return samples as an encoded corpus on disk: one that is there, or else one that is written.

    folder (str): for such files. samples (Callable): reads all, one batch after the other, again and again.
    RAISES (CRFError): where the folder cannot be used, or there is nothing to learn from.
    """
    try:
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        settings = _settings_key(learner)
        if any(place.glob(f"{settings}-*{SUFFIX}")):  # reading is cheaper than writing
            data = _Digest()
            for sample in samples():
                data.add(sample)
            if (path := place / f"{settings}-{data.key}{SUFFIX}").exists():
                return CachedCorpus(path, learner, is_known=True)
        return CachedCorpus(_write(place, settings, learner, samples), learner, is_known=False)
    except OSError as error:
        raise CRFError(LearningErrors.CRF676.format(name=learner.name, folder=folder, error=error)) from error


def _write(place: Path, settings: str, learner: ChainLearner, samples: Samples) -> Path:
    features = learner.features
    counts = max(features.config.min_count, features.config.min_edge_count) > 1
    if counts:  # which features are frequent enough is known at the end
        for sample in samples():
            learner.grow(sample)
        for index in (features.state, features.edge):
            index.forget_rare()  # most of all keys, and nothing else is to come
    handle, name = tempfile.mkstemp(dir=place)
    try:
        with os.fdopen(handle, "wb") as file:
            writer, data = _WindowWriter(file), _Digest()
            for sample in samples():
                if sample.paths is not None:
                    raise CRFError(LearningErrors.CRF674.format(name=learner.name, what="train_constrained"))
                data.add(sample)
                if not counts:
                    learner.grow(sample)
                writer.add(learner.encode(sample))
            writer.finish(features.indices_to_data())
            file.flush()
            os.fsync(file.fileno())
        path = place / f"{settings}-{data.key}{SUFFIX}"
        os.replace(name, path)
        return path
    except BaseException:
        os.unlink(name)
        raise


class _WindowWriter:
    """Writes windows of a corpus that comes in parts, and the index behind them."""

    def __init__(self, file: BinaryIO):
        self._file, self._windows = file, list[dict[str, Any]]()
        self._waiting: EncodedCorpus | None = None
        self._n_units = 0  # of all windows that were written

    def add(self, part: EncodedCorpus) -> None:
        """Take in a part, and write the windows that it completes; they are those of the whole corpus in memory."""
        self._waiting = part if self._waiting is None else join([self._waiting, part])
        ends = self._n_units + self._waiting.segments.ends
        of_sequence = (ends - 1) // UNITS_PER_WINDOW
        cuts = [0, *(np.flatnonzero(np.diff(of_sequence)) + 1).tolist()]
        for first, last in zip(cuts, cuts[1:]):
            self._write(self._waiting.take(np.arange(first, last)))
        self._waiting = self._waiting.take(np.arange(cuts[-1], len(ends)))

    def finish(self, features: dict[str, Any]) -> None:
        """Write what is left, and the index. features (dict): of `Features.indices_to_data`."""
        if self._waiting is not None:
            self._write(self._waiting)
        data = dumps({"windows": self._windows, "features": features})
        start = self._file.tell()
        self._file.write(data)
        self._file.write(start.to_bytes(8, "little") + len(data).to_bytes(8, "little") + _checksum(data))

    def _write(self, window: EncodedCorpus) -> None:
        self._file.write(bytes(-self._file.tell() % mmap.ALLOCATIONGRANULARITY))
        start, places, checksum = self._file.tell(), dict[str, Any](), 0
        for name, array in to_arrays(window).items():
            data = array.tobytes()
            data += bytes(-len(data) % ALIGNED)
            places[name] = array.dtype.str, list(array.shape), self._file.tell() - start
            checksum = zlib.crc32(data, checksum)
            self._file.write(data)
        self._windows.append(
            {"start": start, "size": self._file.tell() - start, "checksum": checksum, "arrays": places}
        )
        self._n_units += window.features.n_rows


def _read_index(file: BinaryIO, path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - FOOTER))
    footer = file.read(FOOTER)
    start, length = (int.from_bytes(footer[low : low + 8], "little") for low in (0, 8))
    if len(footer) < FOOTER or start + length + FOOTER != size:
        raise CRFError(LearningErrors.CRF675.format(path=path))
    file.seek(start)
    data = file.read(length)
    if _checksum(data) != footer[16:]:
        raise CRFError(LearningErrors.CRF675.format(path=path))
    index = loads(data, length)
    return index["windows"], index["features"]


# -- windows as arrays ---------------------------------------------------------------------------------------


def to_arrays(corpus: EncodedCorpus) -> Arrays:
    """The arrays of a window, in the smallest types that hold their numbers."""
    gold = corpus.gold
    arrays: Arrays = {"lengths": narrowed(corpus.lengths), "labels": narrowed(gold.labels), "rows": narrowed(gold.rows)}
    arrays |= {"weights": gold.weights, **_rows_to_arrays("state", corpus.features)}
    if corpus.edges is not None:
        arrays |= {"groups": narrowed(corpus.edges.groups), **_rows_to_arrays("edge", corpus.edges.features)}
    return arrays if corpus.scores is None else arrays | {"scores": corpus.scores}


def from_arrays(arrays: Arrays, sizes: tuple[int, int], slots: Ints | None) -> EncodedCorpus:
    """What `to_arrays` gave. sizes (tuple): how many features there are, and edge features."""
    gold = Gold(arrays["labels"].astype(np.int32), arrays["rows"].astype(np.intp), arrays["weights"])
    edges = None
    if "groups" in arrays:
        edges = EdgeObservations(_rows_from_arrays("edge", arrays, sizes[1]), arrays["groups"].astype(np.intp))
    state, lengths = _rows_from_arrays("state", arrays, sizes[0]), arrays["lengths"].astype(np.intp)
    return EncodedCorpus(lengths, state, gold, edges, slots, arrays.get("scores"))


def _rows_to_arrays(kind: str, rows: SparseRows) -> Arrays:
    arrays: Arrays = {f"{kind}_sizes": narrowed(np.diff(rows.indptr)), f"{kind}_indices": rows.indices}
    return arrays if rows.values is None else arrays | {f"{kind}_values": rows.values}


def _rows_from_arrays(kind: str, arrays: Arrays, n_columns: int) -> SparseRows:
    bounds = np.zeros(len(arrays[f"{kind}_sizes"]) + 1, dtype=np.int32)
    np.cumsum(arrays[f"{kind}_sizes"], out=bounds[1:])
    return SparseRows(bounds, arrays[f"{kind}_indices"], arrays.get(f"{kind}_values"), n_columns)


# -- keys ----------------------------------------------------------------------------------------------------


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


class _Digest:
    """A key of samples: what features are computed from, and gold."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=DIGITS // 2)

    def add(self, sample: Sample) -> None:
        columns, gold = sample.columns, sample.gold
        arrays: list[np.ndarray[Any, Any] | None] = [
            columns.lengths,
            columns.truncated,
            gold.labels,
            gold.rows,
            gold.weights,
            sample.mask,
        ]
        for attribute in sample.extractor.attributes:
            column = columns.by_attribute[attribute]
            arrays += [column.hashes, column.numbers]
        for array in arrays:
            self._hash.update(b"" if array is None else np.ascontiguousarray(array).tobytes())

    @property
    def key(self) -> str:
        return self._hash.hexdigest()


def _settings_key(learner: ChainLearner) -> str:
    """A key of the code, of the settings of features with what they have learned or read, and of the labels."""
    config = learner.features.config
    counts = [config.min_count, config.min_edge_count]
    known = [learner.tags.tags, learner.tags.scheme, learner.features.sequence, counts, learner.features.to_data()]
    return blake2b(_code() + dumps(known), digest_size=DIGITS // 2).hexdigest()


@cache
def _code() -> bytes:
    """A checksum of the modules that encode."""
    package = Path(__file__).parents[1]
    paths = sorted(path for part in ENCODING for path in (package / part).rglob("*.py"))
    return _checksum(b"".join(path.read_bytes() for path in paths))


# -- what the objective keeps --------------------------------------------------------------------------------


class DiskShelf:
    """Keeps items in a file without a name, and maps their arrays into memory while they are used."""

    def __init__(self, folder: str):
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - it ends with the shelf

    def __del__(self) -> None:
        self._file.close()

    def keep(self, item: Item) -> Callable[[], Item]:
        buffers: list[pickle.PickleBuffer] = []
        head = pickle.dumps(item, protocol=5, buffer_callback=buffers.append)  # read in this process alone
        self._file.write(bytes(-self._file.tell() % mmap.ALLOCATIONGRANULARITY))
        start, spans = self._file.tell(), list[tuple[int, int]]()
        for data in map(pickle.PickleBuffer.raw, buffers):
            low = self._file.tell() - start
            spans.append((low, low + data.nbytes))
            self._file.write(bytes(data) + bytes(-data.nbytes % ALIGNED))
        return partial(self._get, head, start, spans)

    def _get(self, head: bytes, start: int, spans: list[tuple[int, int]]) -> Any:
        mapped = _map(self._file.fileno(), start, spans[-1][1]) if spans and spans[-1][1] else memoryview(b"")
        return pickle.loads(head, buffers=[mapped[low:high] for low, high in spans])


def _map(descriptor: int, start: int, size: int) -> memoryview:
    """Bytes of a file that take no memory of their own, and are let go when nothing refers to them."""
    return memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ, offset=start)) if size else memoryview(b"")
