"""Files of a corpus: their content as bytes, lines, blocks of lines and XML events; their paths, suffixes and names."""

import gzip
import zlib
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Self, cast
from xml.parsers import expat

from ..core.errors import CRFError
from .errors import CorpusErrors

Paths = Path | str | Sequence[Path | str]
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_SIZE = 1 << 18


def open_binary(path: Path) -> BinaryIO:
    """Open a file, unpacking it on the fly if its content is gzip, whatever its name is."""
    with path.open("rb") as file_:
        is_gzip = file_.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast(BinaryIO, gzip.open(path)) if is_gzip else path.open("rb")


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in pieces that end where a line ends, without byte order mark."""
    with open_binary(path) as file_:
        prefix = BYTE_ORDER_MARK
        with unpacking(path):
            while chunk := file_.read(CHUNK_SIZE):
                yield (chunk + file_.readline()).removeprefix(prefix)
                prefix = b""


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Say which file it is that is read within, where its compressed data are damaged or cut off (ValueError)."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as err:
        raise CRFError(CorpusErrors.CRF505.format(path=path, reason=err)) from err


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their ends: LF and CRLF, while U+0085 and the like are text."""
    done = 0
    for chunk in read_chunks(path):
        try:
            lines = chunk.decode("utf-8").replace("\r\n", "\n").split("\n")
        except UnicodeDecodeError as err:
            line = done + chunk.count(b"\n", 0, err.start) + 1
            raise CRFError(CorpusErrors.CRF504.format(path=path, line=line, reason=err.reason)) from err
        if not lines[-1]:
            lines.pop()
        done += len(lines)
        yield from lines


def first_line(path: Path) -> str:
    """The first line of a file that is not of white space; "" if there is none."""
    return next(filter(str.strip, read_lines(path)), "")


def read_blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines between lines of white space, with the number of their first line, from 1."""
    lines: list[str] = []
    for number, line in enumerate(chain(read_lines(path), [""]), 1):
        if line and not line.isspace():
            lines.append(line)
        elif lines:
            yield number - len(lines), lines
            lines = []


class XmlReader:
    """Base of readers of one file. A subclass sets the handlers of `expat` that it needs. path (Path): the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.expat = expat.ParserCreate()
        self.expat.StartDoctypeDeclHandler = self._refuse

    def read(self) -> Self:
        """Read the file to its end; XML that is not well-formed or has a document type is an error with the line."""
        try:
            for chunk in read_chunks(self.path):
                self.expat.Parse(chunk)
            self.expat.Parse(b"", True)
        except LookupError as err:
            raise CRFError(CorpusErrors.CRF533.format(path=self.path, line=1, reason=err)) from err
        except expat.ExpatError as err:
            reason = expat.ErrorString(err.code)
            raise CRFError(CorpusErrors.CRF533.format(path=self.path, line=err.lineno, reason=reason)) from err
        return self

    def _refuse(self, *_: Any) -> NoReturn:
        raise CRFError(CorpusErrors.CRF534.format(path=self.path, line=self.expat.CurrentLineNumber))


def data_suffix(path: Path) -> str:
    """The suffix that tells the format, e.g. ".conllu" for "train.CONLLU.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def check_paths(paths: Paths | None) -> list[Path]:
    """The setting `path` of a corpus as a list of at least one path; all of them exist, or it is an error."""
    found = [Path(path) for path in ([paths] if isinstance(paths, Path | str) else paths or ())]
    if not found:
        raise CRFError(CorpusErrors.CRF501)
    for path in found:
        if not path.exists():
            raise CRFError(CorpusErrors.CRF502.format(path=path))
    return found


def visible_files(folder: Path, suffixes: Container[str]) -> list[Path]:
    """The files of a folder and its subfolders with one of the suffixes, sorted; hidden ones are left out."""
    files = [file for file in sorted(folder.rglob("*")) if data_suffix(file) in suffixes and file.is_file()]
    return [file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def name_file(file: Path, path: Path, paths: Sequence[Path]) -> str:
    """Name of the first document of a file, e.g. "letters/1425" for letters/1425.tsv.gz in the folder `path`.

    It begins with the name of this folder if it is one of several paths of the corpus.
    """
    below = file.relative_to(path) if path.is_dir() else Path(file.name)
    if len(paths) > 1 and path.is_dir():
        below = path.name / below
    suffix = data_suffix(file)
    stem = file.name[: file.name.lower().rfind(suffix)] if suffix else file.name
    return (below.parent / stem).as_posix()


def number_name(name: str, number: int) -> str:
    """Name of the n-th document of a file, n from 1; that of the first one has no number."""
    return name if number == 1 else f"{name} {number}"
