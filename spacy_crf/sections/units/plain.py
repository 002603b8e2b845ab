"""Plain text."""

import re
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import CRFError
from ...corpora.errors import CorpusErrors
from ...corpora.files import open_binary
from ..errors import SectionErrors
from .candidates import find_mark, find_numbering
from .layout import Layout
from .unit import PARAGRAPH, Run

BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
MAGIC = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a zip archive, such as a .docx, .odt or .epub",
    b"\xd0\xcf\x11\xe0": "an old Word or Excel file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"{\\rtf": "an RTF file",
}
CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
HEAD = 4096  # bytes in which a page names its encoding


def read_plain(path: Path, paragraphs: bool = False) -> Layout:
    """Read plain text. Windows' and old Macs' line ends become newlines, as anywhere in Python.

    path (Path): in UTF-8, or UTF-16 with a byte order mark. paragraphs (bool): for text with hard line breaks: an
        element ends at a blank line, or before a line that begins with a list mark or a numbering with a sign; without,
        each line is an element.
    RETURNS (Layout): the document. RAISES (ValueError): for binary files and other encodings, with the line.
    """
    text = read_text(path)
    found = _paragraphs(text) if paragraphs else ()
    runs: list[Run] = [(start, end, PARAGRAPH) for start, end in found if "\n" in text[start:end].strip()]
    return Layout(text, tuple(runs), path.stem)


def read_text(path: Path, page: bool = False) -> str:
    """The text of a file, with newlines as the only line ends.

    path (Path): a file, which may be packed by gzip. page (bool): it may name its encoding as web pages do.
    RAISES (ValueError): for binary files and bytes that are not in the encoding, with the line.
    """
    with open_binary(path) as file_:
        data = file_.read()
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), "")
    if not encoding:
        refuse_binary(path, data)
    declared = CHARSET.search(data[:HEAD]) if page and not encoding else None
    encoding = encoding or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CRFError(CorpusErrors.CRF504.format(path=path, line=line, reason=error.reason)) from error
    except LookupError as error:
        raise CRFError(CorpusErrors.CRF504.format(path=path, line=1, reason=error)) from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def refuse_binary(path: Path, data: bytes) -> None:
    """Raise a coded error for what is not text. path (Path): the file. data (bytes): its content."""
    refuse_magic(path, data)
    place = data.find(b"\0")
    if place >= 0:
        line = data.count(b"\n", 0, place) + 1
        raise CRFError(SectionErrors.CRF954.format(path=path, line=line, what="binary data"))


def refuse_magic(path: Path, data: bytes) -> None:
    """Raise a coded error for well-known formats that are not text. path (Path): the file. data (bytes): its start."""
    what = next((what for magic, what in MAGIC.items() if data.startswith(magic)), "")
    if what:
        raise CRFError(SectionErrors.CRF954.format(path=path, line=1, what=what))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of lines that are one element."""
    start = place = 0
    for line in text.split("\n"):
        end = place + len(line)
        if not line or line.isspace() or _begins(line):
            if start < place:
                yield start, place
            start = place if line.strip() else end + 1
        place = end + 1
    if start < len(text):
        yield start, len(text)


def _begins(line: str) -> bool:
    start = len(line) - len(line.lstrip())
    return find_mark(line, start, len(line)) > start or find_numbering(line, start, len(line), first=False) > start
