"""Files of a component: cfg (JSON), features and model (msgpack in zlib), its own, what training needs to go on, and
their checksums. Reading them runs no code."""

import json
import os
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Self

import srsly

from ..core.errors import CRFError, CRFWarning, excerpt
from ..features.block import FeatureSettings
from ..features.features import LEARNED_WITH
from ..learning.model import get_layout
from ..learning.packed import dumps, loads, pack, unpack
from ..learning.resuming import usable
from ..reading.records import GREATEST_HASH, parse_json
from .block import ChainSettings
from .errors import PipeErrors, PipeWarnings

FORMAT = 3  # of what is written here; 2 had no checksums
FORMATS = (2, 3)  # of what is read
CHECKSUMS = "checksums.json"
INCOMPLETE = (OSError, ValueError, TypeError, LookupError, AttributeError)  # what a saving that was broken off raises
CFG = "cfg"
NAMES = (CFG, "features", "model")
LONGEST = 200  # characters of what an error says of damaged data
RUN = "trainer"  # the file
WITHOUT_EFFECT = ("n_threads",)  # on what is learned


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
        written = {CFG: settings_bytes(self.cfg or {})}
        if self.features is not None:
            written["features"] = pack(dumps(self.features))
        written |= {"model": pack(self.model or b""), **self.extra}
        return {name: content for name, content in written.items() if name not in set(exclude)}

    @classmethod
    def parse(cls, files: Mapping[str, bytes], name: str, path: str) -> "Parts":
        """Parts from the contents of their files; a coded error for damaged data, or another format."""
        cfg = read_settings(files, name, path)
        with readable(name, path):
            packed = {part: unpack(files[part]) for part in ("features", "model") if part in files}
            features = dict(loads(packed["features"], len(files["features"]))) if "features" in packed else None
        extra = {part: content for part, content in files.items() if part not in (*NAMES, CHECKSUMS)}
        return cls(cfg, packed.get("model"), features, extra)


def settings_bytes(settings: Mapping[str, Any]) -> bytes:
    """The file with the settings of a component, and what was learned of the kind."""
    return srsly.json_dumps({"format": FORMAT, **settings}, indent=2).encode("utf8")


def read_settings(files: Mapping[str, bytes], name: str, path: str) -> dict[str, Any] | None:
    """What the file with the settings holds, None without one; a coded error for damaged data, another format, or a
    file whose list of checksums is missing."""
    if CFG not in files:
        return None
    with readable(name, path):
        # not with srsly, which makes strings of bytes that are none; promises hold hashes of words
        found = dict(parse_json(files[CFG], CFG, GREATEST_HASH))
    if found.get("format") not in FORMATS:
        problem = {"found": found.get("format"), "expected": FORMAT}
        raise CRFError(PipeErrors.CRF405.format(name=name, path=path, **problem))
    if found["format"] == FORMAT and CHECKSUMS not in files:
        raise CRFError(PipeErrors.CRF428.format(name=name, path=path, list=CHECKSUMS))
    return found


class Stored:
    """What `nlp` calls to store a component and to read it again. parts (tuple[str, ...]): names of its files."""

    name: str
    parts: ClassVar[tuple[str, ...]] = NAMES

    @abstractmethod
    def stored_files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """Contents of the files by name. exclude (Iterable[str]): those that are not asked for."""
        raise NotImplementedError

    @abstractmethod
    def restore(self, files: dict[str, bytes], path: str, alone: bool) -> None:
        """Take over what was stored. path (str): of the files, for messages. alone (bool): whether settings are taken
        over too, as no config of a pipeline says what holds."""
        raise NotImplementedError

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Everything that training made, as bytes; the same ones for the same state."""
        return dumps(seal(self.stored_files(exclude)))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Take over what `to_bytes` gave; of settings, see `from_disk`."""
        with readable(self.name, "bytes"):
            stored, excluded = dict(loads(bytes_data)), set(exclude)
            listed = [CHECKSUMS] if CHECKSUMS in stored else []
            files = {part: stored[part] for part in (*self.parts, *listed) if part not in excluded}
            if not all(isinstance(content, bytes) for content in files.values()):
                raise TypeError("contents of files are bytes")
        check_seal(files, self.name, "bytes")
        self.restore(files, "bytes", is_alone(excluded))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the files to a folder, the list of their checksums last."""
        write_files(Path(path), seal(self.stored_files(exclude)), self.name)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read a folder that `to_disk` wrote; no code from the files is run.

        Settings are taken over too, but not by a pipeline, whose config says what holds.
        """
        self.restore(read_folder(Path(path), exclude, self.name, self.parts), str(path), is_alone(exclude))
        return self


def is_alone(exclude: Iterable[str]) -> bool:
    """Whether a component is stored or read alone: a pipeline, which does that with its vocabulary, excludes it."""
    return "vocab" not in exclude


def read_folder(path: Path, exclude: Iterable[str], name: str, parts: Sequence[str] = NAMES) -> dict[str, bytes]:
    """Contents of the files that are not excluded, as their checksums say. name (str): of the component."""
    excluded = set(exclude)
    with readable(name, str(path)):
        files = read_files(path, (part for part in parts if part not in excluded))
    check_seal(files, name, str(path))
    return files


def check_templates(name: str, config: FeatureSettings, features: Mapping[str, Any]) -> None:
    """Raise a coded error where features were stored with other templates than the config has."""
    theirs, ours = features.get("templates"), [str(template) for template in config.parsed]
    if theirs != ours:
        raise CRFError(PipeErrors.CRF406.format(name=name, theirs=theirs, ours=ours))


def warn_of_settings(name: str, config: FeatureSettings, features: Mapping[str, Any]) -> None:
    """Warn of settings that features were learned with, and that the config says otherwise without an effect."""
    theirs, ours = features.get(LEARNED_WITH), config.learned_with
    if theirs is None:  # of a version that did not tell
        return
    for setting in sorted(theirs.keys() | ours.keys()):
        if theirs.get(setting) != ours.get(setting):
            told = {"setting": setting, "theirs": theirs.get(setting), "ours": ours.get(setting)}
            warnings.warn(PipeWarnings.CRFW479.format(name=name, **told), CRFWarning, stacklevel=3)


@contextmanager
def readable(name: str, path: str) -> Iterator[None]:
    """Tell data that cannot be read by one coded error, whatever stumbled over it."""
    try:
        yield
    except Warning:  # for somebody who takes warnings for errors
        raise
    except Exception as error:
        text = repr(error)
        problem = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        raise CRFError(PipeErrors.CRF404.format(name=name, path=path, error=problem)) from error


# -- a list of checksums comes last, so that half of the files are not taken for all ----------------------------------


def seal(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files by name with one more: the SHA-256 checksums of the others."""
    checksums = {name: sha256(content).hexdigest() for name, content in files.items()}
    return {**files, CHECKSUMS: json.dumps(checksums, indent=1).encode("utf8")}


def check_seal(files: Mapping[str, bytes], name: str, path: str) -> None:
    """Raise a coded error where a file is not as it was written; null in place of a checksum accepts any content.

    files (dict): contents of some of the files by name, with the list of checksums; without one, anything will do.
    name (str): of the component, path (str): of the files, both for messages.
    """
    if CHECKSUMS not in files:
        return
    try:
        known = dict(json.loads(files[CHECKSUMS]))
    except (ValueError, TypeError, RecursionError):
        known = {}
    for file, content in files.items():
        if file == CHECKSUMS:
            continue
        if file not in known:
            raise CRFError(PipeErrors.CRF425.format(name=name, path=path, file=file, list=CHECKSUMS))
        if known[file] is not None and known[file] != sha256(content).hexdigest():
            raise CRFError(PipeErrors.CRF426.format(name=name, path=path, file=file, list=CHECKSUMS))


def read_files(path: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Return contents of files of a folder, with the list of their checksums if there is one.

    A saving that was broken off when everything was written, but not everything in its place, counts as complete.
    """
    names = list(names)
    with suppress(*INCOMPLETE):
        checksums = beside(path / CHECKSUMS).read_bytes()
        known = json.loads(checksums)
        return {**{name: _find(path / name, known[name]) for name in names}, CHECKSUMS: checksums}
    listed = [CHECKSUMS] if (path / CHECKSUMS).exists() else []
    return {name: (path / name).read_bytes() for name in (*names, *listed)}


def write_files(path: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write files to a folder, the list of checksums last: all beside the old ones before the first replaces its own.

    Where there is no room, the old ones stay. name (str): of the component, for messages.
    """
    written: list[Path] = []
    try:
        path.mkdir(exist_ok=True)
        _settle(path)
        for file, content in files.items():
            written.append(path / file)
            with beside(path / file).open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
        for place in written:
            beside(place).replace(place)
    except OSError as error:
        for place in written:
            with suppress(OSError):
                beside(place).unlink(missing_ok=True)
        raise CRFError(PipeErrors.CRF427.format(name=name, path=path, error=error.strerror or error)) from error


def _settle(path: Path) -> None:
    """Bring files to their places that were all written when their saving was broken off, or forget that there were."""
    with suppress(*INCOMPLETE):
        known = json.loads(beside(path / CHECKSUMS).read_bytes())
        for file, checksum in known.items():
            _find(path / file, checksum)
        for place in (path / file for file in (*known, CHECKSUMS)):
            if beside(place).exists():
                beside(place).replace(place)
    beside(path / CHECKSUMS).unlink(missing_ok=True)


def beside(path: Path) -> Path:
    """The file in which contents are until they are complete."""
    return path.with_name(f"{path.name}.partial")


def _find(path: Path, checksum: str) -> bytes:
    """Return the content with a checksum, in its place or still beside it."""
    for place in (path, beside(path)):
        if place.exists() and sha256(content := place.read_bytes()).hexdigest() == checksum:
            return content
    raise ValueError(f"{path} is not complete")


# -- a run of training that was interrupted -----------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """A run of training that was interrupted.

    settings (dict): what has to be as it was, by name. features (dict), model (bytes): indices and weights, all of them
        and as they are. state (dict): the trainer's. path (str): of the folder.
    """

    settings: dict[str, Any]
    features: dict[str, Any]
    model: bytes
    state: dict[str, Any]
    path: str = ""

    def to_bytes(self) -> bytes:
        """Return the content of the file; the same bytes for the same run, given the same zlib."""
        kept = {name: value for name, value in vars(self).items() if name != "path"}
        return pack(dumps(kept))

    @classmethod
    def read(cls, path: str, files: Mapping[str, bytes], name: str) -> "Run | None":
        """Read the file of a folder, or None where its list of files has none. files (dict): those read before."""
        if RUN not in json.loads(files.get(CHECKSUMS, b"{}")):
            return None
        content = read_folder(Path(path), (), name, (RUN,))[RUN]
        with usable(name):
            run = cls(**loads(unpack(content), len(content)), path="")
            kinds = {"settings": dict, "features": dict, "model": bytes, "state": dict}
            if wrong := [one for one, kind in kinds.items() if not isinstance(getattr(run, one), kind)]:
                raise TypeError(f"{', '.join(wrong)}: of another kind")
        return replace(run, path=path)

    def check(self, settings: Mapping[str, Any], name: str) -> None:
        """Raise a coded error where a component has other settings than the run. name (str): of the component."""
        with usable(name):
            differing = [
                f"{one} is {excerpt(repr(settings.get(one)))} and was {excerpt(repr(self.settings.get(one)))}"
                for one in {**settings, **self.settings}
                if settings.get(one) != self.settings.get(one)
            ]
        if differing:
            raise CRFError(PipeErrors.CRF419.format(name=name, path=self.path, differing="; ".join(differing)))


def settings_of_run(settings: ChainSettings, features: FeatureSettings) -> dict[str, Any]:
    """What training depends on, by name, as data: of the trainer, the model and the features."""
    trainer, model = settings.trainer, settings.model
    values: dict[str, dict[str, Any]] = {
        "trainer": {name: value for name, value in vars(trainer).items() if name not in WITHOUT_EFFECT},
        "model": {name: value for name, value in model.attrs.items() if isinstance(value, bool | int | float)},
        "features": {name: getattr(features, name) for name in ("min_count", "min_edge_count")},
    }
    own = {"trainer": type(trainer).__name__, "model.boundary": get_layout(model).boundary}
    return own | {f"{block}.{name}": value for block, found in values.items() for name, value in found.items()}
