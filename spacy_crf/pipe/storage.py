"""Files of a component: cfg (JSON), features and model (msgpack in zlib), and its own. Reading them runs no code."""

import zlib
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import srsly

from ..core.errors import CRFError
from ..features.block import FeatureSettings
from .errors import PipeErrors

FORMAT = 2  # of what is written here
LEVEL = 6  # of compression: 9 takes longer and saves nothing
NAMES = ("cfg", "features", "model")


@dataclass(frozen=True)
class Parts:
    """What is stored; None for a part that was excluded, or that the component does not have.

    cfg (dict | None): settings and labels. model (bytes | None): what was learned.
    features (dict | None): see `Features.to_data`.
    extra (dict): contents of the files that only some components have, by their names.
    """

    cfg: dict[str, Any] | None
    model: bytes | None
    features: dict[str, Any] | None = None
    extra: dict[str, bytes] = field(default_factory=dict)

    def files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files by name; the same bytes for the same state, given the same zlib."""
        writers = {"cfg": self._cfg_bytes, "features": self._features_bytes, "model": self._model_bytes}
        excluded = {*exclude, *(() if self.features is not None else ["features"])}
        written = {name: write() for name, write in writers.items() if name not in excluded}
        return {**written, **{name: content for name, content in self.extra.items() if name not in excluded}}

    def _cfg_bytes(self) -> bytes:
        return srsly.json_dumps({"format": FORMAT, **(self.cfg or {})}, indent=2).encode("utf8")

    def _features_bytes(self) -> bytes:
        return zlib.compress(srsly.msgpack_dumps(self.features), LEVEL)

    def _model_bytes(self) -> bytes:
        return zlib.compress(self.model or b"", LEVEL)

    @classmethod
    def parse(cls, files: Mapping[str, bytes], name: str, path: str) -> "Parts":
        """Parts from the contents of their files.

        name (str), path (str): of the component, for messages.
        RAISES (ValueError): for damaged data, or another format.
        """
        with readable(name, path):
            cfg = dict(srsly.json_loads(files["cfg"])) if "cfg" in files else None
        if cfg is not None and cfg.get("format") != FORMAT:
            found = cfg.get("format")
            raise CRFError(PipeErrors.CRF405.format(name=name, path=path, found=found, expected=FORMAT))
        with readable(name, path):
            packed = {part: zlib.decompress(files[part]) for part in ("features", "model") if part in files}
            features = dict(srsly.msgpack_loads(packed["features"])) if "features" in packed else None
        extra = {part: content for part, content in files.items() if part not in NAMES}
        return cls(cfg, packed.get("model"), features, extra)


class Stored:
    """What `nlp` calls to store a component and to read it again. parts (tuple[str, ...]): names of its files."""

    name: str
    parts: ClassVar[tuple[str, ...]] = NAMES

    @abstractmethod
    def stored_parts(self, exclude: Iterable[str]) -> Parts:
        """What to store. exclude (Iterable[str]): parts that are not asked for."""
        raise NotImplementedError

    @abstractmethod
    def restore(self, files: dict[str, bytes], path: str) -> None:
        """Take over what was stored. path (str): of the files, for messages."""
        raise NotImplementedError

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Everything that training made, as bytes; the same ones for the same state."""
        serialized: bytes = srsly.msgpack_dumps(self.stored_parts(exclude).files(exclude))
        return serialized

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Restore from `to_bytes`."""
        with readable(self.name, "bytes"):
            stored, excluded = srsly.msgpack_loads(bytes_data), set(exclude)
            files = {part: stored[part] for part in self.parts if part not in excluded}
        self.restore(files, "bytes")
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write cfg (JSON), and everything else as compressed msgpack, to a folder."""
        write_folder(Path(path), self.stored_parts(exclude).files(exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read a folder that `to_disk` wrote; no code from the files is run.

        RAISES (ValueError): for a folder that is incomplete, damaged, or of another format.
        """
        self.restore(read_folder(Path(path), exclude, self.name, self.parts), str(path))
        return self


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a folder, which is made if it is not there."""
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)


def read_folder(path: Path, exclude: Iterable[str], name: str, parts: Sequence[str] = NAMES) -> dict[str, bytes]:
    """Contents of the files that are not excluded.

    name (str): of the component, for messages. parts (Sequence[str]): that it has.
    RAISES (ValueError): where one is missing.
    """
    excluded = set(exclude)
    with readable(name, str(path)):
        return {part: (path / part).read_bytes() for part in parts if part not in excluded}


def check_templates(name: str, config: FeatureSettings, features: Mapping[str, Any]) -> None:
    """Raise a coded error where features were stored with other templates than the config has.

    name (str): of the component. features (Mapping): see `Features.to_data`.
    """
    theirs, ours = features.get("templates"), [str(template) for template in config.parsed]
    if theirs != ours:
        raise CRFError(PipeErrors.CRF406.format(name=name, theirs=theirs, ours=ours))


@contextmanager
def readable(name: str, path: str) -> Iterator[None]:
    """Tell data that cannot be read by one coded error, whatever stumbled over it."""
    try:
        yield
    except Exception as error:
        raise CRFError(PipeErrors.CRF404.format(name=name, path=path, error=repr(error))) from error
