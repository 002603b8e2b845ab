"""Files of a component: cfg (JSON), features and model (msgpack in zlib), and its own. Reading them runs no code."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import srsly

from ..errors import Errors

FORMAT = 2  # of what is written here
LEVEL = 6  # of compression: 9 takes longer and saves nothing
NAMES = ("cfg", "features", "model")


@dataclass(frozen=True)
class Parts:
    """What is stored; None for a part that was excluded.

    cfg (dict | None): settings and labels. features (dict | None): see `Features.to_data`.
    model (bytes | None): of the thinc Model.
    extra (dict): contents of the files that only some components have, by their names.
    """

    cfg: dict[str, Any] | None
    features: dict[str, Any] | None
    model: bytes | None
    extra: dict[str, bytes] = field(default_factory=dict)

    def files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files by name; the same bytes for the same state, given the same zlib."""
        writers = {"cfg": self._cfg_bytes, "features": self._features_bytes, "model": self._model_bytes}
        excluded = set(exclude)
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
            raise ValueError(Errors.CRF405.format(name=name, path=path, found=found, expected=FORMAT))
        with readable(name, path):
            packed = {part: zlib.decompress(files[part]) for part in ("features", "model") if part in files}
            features = dict(srsly.msgpack_loads(packed["features"])) if "features" in packed else None
        extra = {part: content for part, content in files.items() if part not in NAMES}
        return cls(cfg, features, packed.get("model"), extra)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files to a folder, which is made if it is not there."""
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_bytes(content)


def choose(files: Mapping[str, bytes], exclude: Iterable[str], extra: Iterable[str] = ()) -> dict[str, bytes]:
    """The files that are not excluded.

    extra (Iterable[str]): names of the files that only some components have.
    RAISES (KeyError): where one is missing.
    """
    excluded = set(exclude)
    return {name: files[name] for name in (*NAMES, *extra) if name not in excluded}


def read_folder(path: Path, exclude: Iterable[str], name: str, extra: Iterable[str] = ()) -> dict[str, bytes]:
    """Contents of the files that are not excluded.

    name (str): of the component, for messages.
    extra (Iterable[str]): names of the files that only some components have.
    RAISES (ValueError): where one is missing.
    """
    excluded = set(exclude)
    with readable(name, str(path)):
        return {part: (path / part).read_bytes() for part in (*NAMES, *extra) if part not in excluded}


@contextmanager
def readable(name: str, path: str) -> Iterator[None]:
    """Tell data that cannot be read by one coded error, whatever stumbled over it."""
    try:
        yield
    except Exception as error:
        raise ValueError(Errors.CRF404.format(name=name, path=path, error=repr(error))) from error
