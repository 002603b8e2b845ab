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
    """What is stored: settings, what was learned, features, and files that only some components have; None for a part
    that was excluded, or that there is not."""

    cfg: dict[str, Any] | None
    model: bytes | None
    features: dict[str, Any] | None = None
    extra: dict[str, bytes] = field(default_factory=dict)

    def files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files by name; the same bytes for the same state, given the same zlib."""
        written = {"cfg": srsly.json_dumps({"format": FORMAT, **(self.cfg or {})}, indent=2).encode("utf8")}
        if self.features is not None:
            written["features"] = zlib.compress(srsly.msgpack_dumps(self.features), LEVEL)
        written |= {"model": zlib.compress(self.model or b"", LEVEL), **self.extra}
        return {name: content for name, content in written.items() if name not in set(exclude)}

    @classmethod
    def parse(cls, files: Mapping[str, bytes], name: str, path: str) -> "Parts":
        """Parts from the contents of their files; a coded error for damaged data, or another format."""
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
        with readable(self.name, "bytes"):
            stored, excluded = srsly.msgpack_loads(bytes_data), set(exclude)
            files = {part: stored[part] for part in self.parts if part not in excluded}
        self.restore(files, "bytes")
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write cfg (JSON), and everything else as compressed msgpack, to a folder."""
        files = self.stored_parts(exclude).files(exclude)
        Path(path).mkdir(exist_ok=True)
        for name, content in files.items():
            (Path(path) / name).write_bytes(content)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read a folder that `to_disk` wrote; no code from the files is run."""
        self.restore(read_folder(Path(path), exclude, self.name, self.parts), str(path))
        return self


def read_folder(path: Path, exclude: Iterable[str], name: str, parts: Sequence[str] = NAMES) -> dict[str, bytes]:
    """Contents of the files that are not excluded. name (str): of the component, for messages."""
    excluded = set(exclude)
    with readable(name, str(path)):
        return {part: (path / part).read_bytes() for part in parts if part not in excluded}


def check_templates(name: str, config: FeatureSettings, features: Mapping[str, Any]) -> None:
    """Raise a coded error where features were stored with other templates than the config has."""
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
