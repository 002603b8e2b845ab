"""Files that belong together: a list of their checksums comes last, so that half of them are not taken for all."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ..core.errors import CRFError
from .errors import PipeErrors

CHECKSUMS = "checksums.json"
INCOMPLETE = (OSError, ValueError, TypeError, LookupError, AttributeError)  # what a saving that was broken off raises


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
        checksums = _beside(path / CHECKSUMS).read_bytes()
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
            with _beside(path / file).open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
        for place in written:
            _beside(place).replace(place)
    except OSError as error:
        for place in written:
            with suppress(OSError):
                _beside(place).unlink(missing_ok=True)
        raise CRFError(PipeErrors.CRF427.format(name=name, path=path, error=error.strerror or error)) from error


def _settle(path: Path) -> None:
    """Bring files to their places that were all written when their saving was broken off, or forget that there were."""
    with suppress(*INCOMPLETE):
        known = json.loads(_beside(path / CHECKSUMS).read_bytes())
        for file, checksum in known.items():
            _find(path / file, checksum)
        for place in (path / file for file in (*known, CHECKSUMS)):
            if _beside(place).exists():
                _beside(place).replace(place)
    _beside(path / CHECKSUMS).unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """The file in which contents are until they are complete."""
    return path.with_name(f"{path.name}.partial")


def _find(path: Path, checksum: str) -> bytes:
    """Return the content with a checksum, in its place or still beside it."""
    for place in (path, _beside(path)):
        if place.exists() and sha256(content := place.read_bytes()).hexdigest() == checksum:
            return content
    raise ValueError(f"{path} is not complete")
