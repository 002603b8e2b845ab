"""Opening files: their bytes, and their lines."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ..core.errors import CRFError
from .errors import CorpusErrors

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
CHUNK_SIZE = 1 << 18


def open_binary(path: Path) -> BinaryIO:
    """Open a file, unpacking it on the fly if its content is gzip, whatever its name is.

    path (Path): The file.
    RETURNS (BinaryIO): The uncompressed bytes.
    """
    with path.open("rb") as file_:
        is_gzip = file_.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast(BinaryIO, gzip.open(path)) if is_gzip else path.open("rb")


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in pieces that end where a line ends.

    path (Path): The file.
    YIELDS (bytes): Whole lines; there is no byte order mark.
    """
    with open_binary(path) as file_:
        prefix = BYTE_ORDER_MARK
        with unpacking(path):
            while chunk := file_.read(CHUNK_SIZE):
                yield (chunk + file_.readline()).removeprefix(prefix)
                prefix = b""


@contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """Say which file it is that cannot be unpacked.

    path (Path): of the file that is read within.
    RAISES (ValueError): for compressed data that is damaged or cut off.
    """
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as err:
        raise CRFError(CorpusErrors.CRF505.format(path=path, reason=err)) from err


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their line ends.

    path (Path): The file.
    YIELDS (str): One line. Only LF and CRLF end a line: U+0085, U+2028 and their like are text.
    """
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
