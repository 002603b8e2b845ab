"""Files that belong together: a list of their checksums comes last, so that half of them are not taken for all."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ..core.errors import CRFError
from .errors import PipeErrors

CHECKSUMS = "checksums.json"


def seal(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return files by name with one more: the SHA-256 checksums of the others."""
    checksums = {name: sha256(content).hexdigest() for name, content in files.items()}
    return {**files, CHECKSUMS: json.dumps(checksums, indent=1).encode("utf8")}


def check_seal(files: Mapping[str, bytes], checksums: bytes, name: str, path: str) -> None:
    """Raise a coded error where a file is not as it was written; null in place of a checksum accepts any content.

    files (dict): contents of some of the files by name. checksums (bytes): of the file that lists them.
    name (str): of the component, path (str): of the files, both for messages.
    """
    try:
        known = dict(json.loads(checksums))
    except (ValueError, TypeError, RecursionError):
        known = {}
    for file, content in files.items():
        if file not in known:
            raise CRFError(PipeErrors.CRF425.format(name=name, path=path, file=file, list=CHECKSUMS))
        if known[file] is not None and known[file] != sha256(content).hexdigest():
            raise CRFError(PipeErrors.CRF426.format(name=name, path=path, file=file, list=CHECKSUMS))


def write_files(path: Path, files: Mapping[str, bytes], name: str) -> None:
    """Write files to a folder, all of them beside the old ones before the first takes the place of one.

    Where there is no room, the old ones stay. name (str): of the component, for messages.
    """
    beside = {path / file: path / f"{file}.partial" for file in files}
    try:
        path.mkdir(exist_ok=True)
        for partial, content in zip(beside.values(), files.values()):
            with partial.open("wb") as opened:
                opened.write(content)
                opened.flush()
                os.fsync(opened.fileno())
        for file, partial in beside.items():
            partial.replace(file)
    except OSError as error:
        raise CRFError(PipeErrors.CRF427.format(name=name, path=path, error=error.strerror or error)) from error
    finally:
        for partial in beside.values():
            with suppress(OSError):
                partial.unlink(missing_ok=True)
