"""Files as bytes, text, lines and blocks of lines, unpacked if they are gzip; and files that are written whole."""

import gzip
import io
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from hashlib import blake2b
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from ..core.errors import CRFError
from .errors import ReadingErrors

GZIP_MAGIC = b"\x1f\x8b"
GZIP_SUFFIX = ".gz"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MIB = 1 << 20
CHUNK_SIZE = MIB // 4
PIECE_SIZE = MIB // 64  # of packed data, which unpack to 16 MiB at most
FREE_SIZE = 64 * MIB  # what gzip may unpack to, however small it is
MOST_EXPANSION = 200  # times its size
MOST_BYTES = 2048 * MIB
LONGEST_LINE = 64 * MIB
ISO_2022 = re.compile(rb"\x1b\$(?:[@AB]|[()*+][A-Z])")  # mails in Japanese, Korean and Chinese, in bytes of ASCII
QUOTED = re.compile(r'"(?:[^"]|"")*"')  # a cell of a table, as spreadsheet programs write it
NUMERAL = re.compile(r"\s*[-+]?\d+(?:[.,]\d+)?\s*")
FILLED = re.compile(r"\t\t[^\t]*\t*")  # an empty row of a table with a mark that was filled down its third column


class _Unpacked(io.RawIOBase):
    """The content of a gzip file. RAISES (ValueError): where it is damaged, cut off, or grows beyond all measure."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._packed = path.open("rb")
        self._content = gzip.GzipFile(fileobj=self._packed)
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._content.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise CRFError(ReadingErrors.CRF505.format(path=self._path, reason=error)) from error
        self._size += len(data)
        check_expansion(self._path, self._packed.tell(), self._size)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        super().close()


def check_expansion(path: Path, packed: int, unpacked: int) -> None:
    """Raise an error if packed data of a file have, unpacked, more bytes than is usual by far."""
    if unpacked > max(FREE_SIZE, MOST_EXPANSION * packed):
        raise CRFError(ReadingErrors.CRF570.format(path=path, most=MOST_EXPANSION))


def check_unpacking(path: Path, data: bytes) -> None:
    """Raise an error if packed data of a file (zlib), which somebody else will unpack, unpack beyond all measure."""
    unpacker, size = zlib.decompressobj(), 0
    for start in range(0, len(data), PIECE_SIZE):
        size += len(unpacker.decompress(data[start : start + PIECE_SIZE]))
        check_expansion(path, start + PIECE_SIZE, size)


def open_binary(path: Path) -> BinaryIO:
    """Open a file, unpacking it on the fly if its content is gzip, whatever its name is."""
    with path.open("rb") as file_:
        is_gzip = file_.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    return cast(BinaryIO, io.BufferedReader(_Unpacked(path), CHUNK_SIZE)) if is_gzip else path.open("rb")


def read_bytes(path: Path) -> bytes:
    """Return the whole content of a file, which may be packed by gzip."""
    chunks, size = [], 0
    with open_binary(path) as file_:
        while chunk := file_.read(CHUNK_SIZE):
            chunks.append(chunk)
            size += len(chunk)
            if size > MOST_BYTES:
                raise CRFError(ReadingErrors.CRF571.format(path=path, most=MOST_BYTES // MIB))
    return b"".join(chunks)


def read_text(path: Path) -> str:
    """Return the whole text of a UTF-8 file, packed or not, without byte order mark; its lines end in newlines only."""
    text = decode(path, read_bytes(path).removeprefix(BYTE_ORDER_MARK), 0)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in pieces that end where a line ends, without byte order mark."""
    with open_binary(path) as file_:
        prefix = BYTE_ORDER_MARK
        while chunk := file_.read(CHUNK_SIZE):
            rest = file_.readline(LONGEST_LINE)
            if len(rest) == LONGEST_LINE:
                raise CRFError(ReadingErrors.CRF572.format(path=path, most=LONGEST_LINE // MIB))
            yield (chunk + rest).removeprefix(prefix)
            prefix = b""


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their ends: LF and CRLF, or CR where a file has no others, while U+0085
    and the like are text."""
    done = 0
    for chunk in read_chunks(path):
        text = decode(path, chunk, done).replace("\r\n", "\n")
        lines = (text if "\n" in text else text.replace("\r", "\n")).split("\n")
        if not lines[-1]:
            lines.pop()
        done += len(lines)
        yield from lines


def decode(path: Path, data: bytes, done: int) -> str:
    """Return UTF-8 as text. done (int): lines of the file before."""
    refuse_escapes(path, data, done)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = done + data.count(b"\n", 0, error.start) + 1
        raise CRFError(ReadingErrors.CRF504.format(path=path, line=line, reason=error.reason)) from error


def refuse_escapes(path: Path, data: bytes, done: int = 0) -> None:
    """Raise a coded error for text in ISO-2022, which is UTF-8 to a decoder, and nonsense to a reader."""
    if found := ISO_2022.search(data):
        line = done + data.count(b"\n", 0, found.start()) + 1
        raise CRFError(ReadingErrors.CRF504.format(path=path, line=line, reason="ISO-2022"))


def first_line(path: Path) -> str:
    """The first line of a file that is not of white space; "" if there is none."""
    return next(filter(str.strip, read_lines(path)), "")


def read_blocks(path: Path, is_checked: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines between lines of white space, with the number of their first line, from 1.

    is_checked (bool): Whether it is a table that people check with spreadsheet programs, marks in its third column.
        Rows with nothing but a mark are empty then, and quotes that such programs put around cells are taken off.
    """
    lines: list[str] = []
    unquoted = is_checked and _has_quoted_cells(read_lines(path))
    for number, line in enumerate(chain(read_lines(path), [""]), 1):
        if line and not line.isspace() and not (is_checked and FILLED.fullmatch(line)):
            lines.append(_unquote_cells(line) if unquoted else line)
        elif lines:
            yield number - len(lines), lines
            lines = []


def read_table_lines(path: Path) -> list[str]:
    """Return the lines of a table that people edit, without the quotes that spreadsheet programs put around cells."""
    lines = read_text(path).split("\n")
    return [*map(_unquote_cells, lines)] if _has_quoted_cells(lines) else lines


def read_shipped(path: Traversable) -> list[str]:
    """Return the lines of a list that comes with the library, without its comments."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def says_nothing(line: str) -> bool:
    """Whether a line of such a table is empty, or a comment; one with a tab that begins with "#" is a row."""
    return not line.strip() or (line.startswith("#") and "\t" not in line)


def _has_quoted_cells(lines: Iterable[str]) -> bool:
    """Whether cells are in quotes as programs put them: all that have quotation marks, which are doubled, and one of
    them is a comment or has such marks; or all that have commas; or all but numbers.

    Beside such a comment, a cell may be a quotation mark: two of them are the ends of what a program has taken for one
    cell of several lines, and writes as it was.
    """
    quoted, commas, is_marked, others_have_commas, others_are_numbers = 0, 0, False, False, True
    is_told = has_mark = False
    for cell in (cell for line in lines for cell in line.split("\t") if cell):
        if '"' not in cell:
            others_have_commas = others_have_commas or "," in cell
            others_are_numbers = others_are_numbers and NUMERAL.fullmatch(cell) is not None
        elif cell == '"':
            has_mark = True
        elif not QUOTED.fullmatch(cell):
            return False
        else:
            quoted += 1
            commas += "," in cell
            is_told = is_told or cell.startswith('"# ')
            is_marked = is_marked or '""' in cell[1:-1]
    if is_told or has_mark:
        return is_told
    return is_marked or (commas > 0 and not others_have_commas) or (quoted > 1 and others_are_numbers)


def _unquote_cells(line: str) -> str:
    cells = line.split("\t")
    return "\t".join(cell[1:-1].replace('""', '"') if QUOTED.fullmatch(cell) else cell for cell in cells)


def spell_path(path: Path | str) -> str:
    r"""Return a path as text that every file can hold: a byte that is no UTF-8 is spelt out, as in caf\xe9.txt."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextmanager
def open_written(path: Path, directly: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write it, packed by gzip where its name ends in .gz. It is there as a whole or not at all,
    whatever ends the writing.

    A link, and the rights of a file that was there, stay as they are; one that is protected against writing is not
    replaced. directly (bool): write it as it comes, for who reads along. RAISES (OSError): where nothing can be
    written.
    """
    target = path.resolve()
    partial = target.with_name(f".{target.name[:50]}.{os.getpid()}.partial")  # two commands may write one file
    try:
        is_own = path.is_file() and os.access(path, os.W_OK)  # no pipe or device, nor protected
        is_beside = not directly and os.access(target.parent, os.W_OK) and (is_own or not path.exists())
        with (partial if is_beside else path).open("wb") as raw, _packed(raw, path) as file:
            yield file
        if is_beside:
            if is_own:
                shutil.copymode(target, partial)
            partial.replace(target)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(partial)):  # else its own words do
            error.filename = str(path)
        raise
    finally:
        with suppress(OSError):
            partial.unlink()


def _packed(raw: BinaryIO, path: Path) -> AbstractContextManager[BinaryIO]:
    if path.suffix != GZIP_SUFFIX:
        return nullcontext(raw)
    return cast(AbstractContextManager[BinaryIO], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file that is there as a whole or not at all; text in UTF-8. See `open_written`."""
    data = content.encode("utf8") if isinstance(content, str) else content
    with open_written(path) as file:
        file.write(data)


def checksum_of_files(folder: Path | None) -> str:
    """Return the checksum of all files of a folder, in 32 hexadecimal digits; None stands for an empty one."""
    digest = blake2b(digest_size=16)
    files = {file.relative_to(folder).parts: file for file in folder.rglob("*") if file.is_file()} if folder else {}
    for parts, file in sorted(files.items()):
        digest.update(repr(parts).encode() + file.read_bytes())
    return digest.hexdigest()


def check_text(text: str, where: str) -> str:
    """Return a text that can be written to files; lone surrogates are an error. where (str): For the message."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = f"U+{ord(text[error.start]):04X}"
        raise CRFError(ReadingErrors.CRF573.format(where=where, code=code)) from error
    return text
