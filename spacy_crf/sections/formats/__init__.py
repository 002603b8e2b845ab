"""Formats of documents, each a module that reads it, or writes it, or both; here, what they share.

That is files as text or as events of XML, and text as XML holds it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ...core.errors import CRFError
from ...reading.errors import ReadingErrors
from ...reading.files import read_bytes, refuse_escapes
from ...reading.xml import IMPOSSIBLE, XmlReader, has_single_bytes
from ..errors import SectionErrors

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
OF_SEVERAL_BYTES = frozenset(  # encodings of web pages in which characters may have several bytes
    {
        *("utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "gb18030", "gbk", "gb2312", "big5", "big5-hkscs"),
        *("shift_jis", "shift-jis", "sjis", "x-sjis", "euc-jp", "iso-2022-jp", "euc-kr", "ks_c_5601-1987"),
    }
)
UTF8 = ("utf-8", "utf8")
ALIASES = {"ansinew": "cp1252", "applemac": "mac_roman", "utf8x": "utf-8"}  # names of encodings in LaTeX
HEAD = 4096  # bytes in which a file names its encoding
BUFFER = 1 << 20  # bytes of text between tags that come in one piece


def read_text(path: Path, declared: re.Pattern[bytes] | None = None) -> str:
    """The text of a file, which may be packed by gzip, with newlines as the only line ends.

    declared (re.Pattern[bytes] | None): how it may name its encoding, in the first group.
    RAISES (ValueError): for binary files and bytes that are not in the encoding, with the line.
    """
    data = read_bytes(path)
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), "")
    if not encoding:
        refuse_magic(path, data)
        before, zero, _ = data.partition(b"\0")
        if zero:
            line = before.count(b"\n") + 1
            raise CRFError(SectionErrors.CRF954.format(path=path, line=line, what="binary data"))
        found = declared.search(data[:HEAD]) if declared else None
        encoding = found[1].decode("ascii") if found else "utf-8"
        encoding = ALIASES.get(encoding, encoding)
        if encoding.lower() not in OF_SEVERAL_BYTES and not has_single_bytes(encoding):
            reason = f"nor is its encoding {encoding!r} one that is read"
            raise CRFError(ReadingErrors.CRF504.format(path=path, line=1, reason=reason))
        if encoding.lower() in UTF8:
            refuse_escapes(path, data)
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        place, reason = (error.start, error.reason) if isinstance(error, UnicodeDecodeError) else (0, str(error))
        line = data.count(b"\n", 0, place) + 1
        raise CRFError(ReadingErrors.CRF504.format(path=path, line=line, reason=reason)) from error
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def refuse_magic(path: Path, data: bytes) -> None:
    """Raise a coded error for well-known formats that are not text."""
    for magic, what in MAGIC.items():
        if data.startswith(magic):
            raise CRFError(SectionErrors.CRF954.format(path=path, line=1, what=what))


class MarkupEvents:
    """Base of readers of mark-up, which are called with its parts. Names are without prefixes of namespaces."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def data(self, text: str) -> None:
        """Text between tags."""

    def instruction(self, name: str) -> None:
        """A processing instruction, which means nothing in most formats."""


class XmlSource(XmlReader):
    """Tells a reader the parts of a file."""

    def __init__(self, path: Path, reader: MarkupEvents) -> None:
        super().__init__(path)
        self.expat.buffer_text, self.expat.buffer_size = True, BUFFER
        self.expat.StartElementHandler = lambda name, attributes: reader.start(
            _local(name), {_local(key): value for key, value in attributes.items()}
        )
        self.expat.EndElementHandler = lambda name: reader.end(_local(name))
        self.expat.CharacterDataHandler = reader.data
        self.expat.ProcessingInstructionHandler = lambda name, _: reader.instruction(name)


def _local(name: str) -> str:
    """A name such as "rs:para" without the prefix of its namespace."""
    return name.rpartition(":")[2]


class _RootFound(Exception):
    """The root was seen; the rest of the file is of no interest."""


class _RootReader(MarkupEvents):
    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        raise _RootFound(name)


def root_of(path: Path) -> str:
    """Name of the outermost element of a file. RAISES (ValueError): if it is not XML, with the line."""
    try:
        XmlSource(path, _RootReader()).read()
    except _RootFound as found:
        return str(found)
    raise CRFError(ReadingErrors.CRF533.format(path=path, line=1, reason="no element found"))


def name_of(path: Path) -> str:
    """Name of a document in an XML file that does not say it."""
    return path.name.removesuffix(".gz").removesuffix(".xml")


def encode(text: str) -> str:
    """Text between tags, which has the same length when it is read."""
    return escape(possible(text), {"\r": "&#13;"})


def possible(text: str) -> str:
    """Text without what XML cannot hold: of that, white space becomes a space, all else U+FFFD."""
    return IMPOSSIBLE.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def attributes(**values: str | float | bool | None) -> str:
    """Attributes of a start tag such as ' level="1"'; those that are None, "" or False are left out.

    values: by name, in which "_" stands for ":".
    """
    found = []
    for name, value in values.items():
        if value not in (None, "", False):
            text = "true" if value is True else f"{value:.4f}" if isinstance(value, float) else str(value)
            found.append(f" {name.replace('_', ':')}={quoteattr(possible(text))}")
    return "".join(found)
