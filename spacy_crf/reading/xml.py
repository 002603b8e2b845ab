"""XML as the events of expat, without declarations of its own, deep nesting and odd encodings."""

import re
from functools import cache
from html.entities import html5
from pathlib import Path
from typing import Any, NoReturn, Self
from xml.parsers import expat

from ..core.errors import CRFError
from .errors import ReadingErrors
from .files import LONGEST_LINE, MIB, open_binary

ALL_BYTES = bytes(range(256)) + rb"\u0041"  # with an escape, which is one character in some encodings
DEEPEST = 10_000  # readers of events need no recursion
OF_SEVERAL_BYTES = ("utf-8", "utf-16")
# What may stand before the root, up to a document type that names a DTD and declares nothing
NAMED_DTD = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?(?>.*?\?>)|<!--(?>.*?-->)|\s)*+<!DOCTYPE\s+[^\s<>\[]+(?P<names>"
    rb"(?:\s+(?:PUBLIC|SYSTEM)(?:\s+(?:\"[^\"]*\"|'[^']*')){1,2})?\s*(?:\[\s*\]\s*)?)>",
    re.DOTALL,
)
IMPOSSIBLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters in XML


class XmlReader:
    """Base of readers of one file. A subclass sets the handlers of `expat` that it needs.

    path (Path): the file.
    takes_dtd (bool): whether a document type may name a DTD, which is not read.
    """

    def __init__(self, path: Path, takes_dtd: bool = True) -> None:
        self.path, self._takes_dtd = path, takes_dtd
        self.expat = expat.ParserCreate()
        self.expat.StartDoctypeDeclHandler = self._refuse_doctype
        self.expat.XmlDeclHandler = self._check_encoding
        self._depth = 0

    def read(self) -> Self:
        """Read the file to its end; XML that is not well-formed or declares entities is an error with the line."""
        self._count_levels()
        size = 0
        try:
            with open_binary(self.path) as file_:
                while chunk := file_.read(MIB):
                    self.expat.Parse(chunk if size else self._without_dtd(chunk))
                    size += len(chunk)
                    if size - max(self.expat.CurrentByteIndex, 0) > LONGEST_LINE:  # a tag that does not end
                        raise CRFError(ReadingErrors.CRF572.format(path=self.path, most=LONGEST_LINE // MIB))
            self.expat.Parse(b"", True)
        except expat.ExpatError as err:
            reason = expat.ErrorString(err.code)
            raise CRFError(ReadingErrors.CRF533.format(path=self.path, line=err.lineno, reason=reason)) from err
        return self

    def _count_levels(self) -> None:
        """Put the limit of nesting before the handlers of the subclass."""
        start: Any = self.expat.StartElementHandler
        end: Any = self.expat.EndElementHandler

        def begin(name: str, attributes: Any) -> None:
            self._depth += 1
            if self._depth > DEEPEST:
                self._refuse(f"elements are nested more than {DEEPEST} deep")
            if start:
                start(name, attributes)

        def finish(name: str) -> None:
            self._depth -= 1
            if end:
                end(name)

        self.expat.StartElementHandler, self.expat.EndElementHandler = begin, finish

    def _without_dtd(self, chunk: bytes) -> bytes:
        """Put names of characters in place of a DTD, which is not read; expat refuses any other entity then."""
        found = NAMED_DTD.match(chunk) if self._takes_dtd else None
        if found is None:
            return chunk
        self.expat.StartDoctypeDeclHandler = None
        lines = b"\n" * found["names"].count(b"\n")
        return b"".join([chunk[: found.start("names")], b" [", _characters(), b"]", lines, chunk[found.end("names") :]])

    def _refuse_doctype(self, *_: Any) -> NoReturn:
        raise CRFError(ReadingErrors.CRF534.format(path=self.path, line=self.expat.CurrentLineNumber))

    def _check_encoding(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in OF_SEVERAL_BYTES and not has_single_bytes(encoding):
            self._refuse(f"the encoding {encoding[:40]!r} is unknown, or not of text")

    def _refuse(self, reason: str) -> NoReturn:
        line = self.expat.CurrentLineNumber
        raise CRFError(ReadingErrors.CRF533.format(path=self.path, line=line, reason=reason))


@cache
def _characters() -> bytes:
    """Declare the characters that HTML has names of, most of which the DTDs of JATS, TEI and XHTML have, too."""
    numbers = {name[:-1]: [f"&#38;#{ord(one)};" for one in text] for name, text in html5.items() if name[-1] == ";"}
    return "".join(f'<!ENTITY {name} "{"".join(text)}">' for name, text in numbers.items()).encode("ascii")


def has_single_bytes(encoding: str) -> bool:
    """Return whether each byte is a character, which is all that expat can be told of an encoding."""
    try:
        return len(ALL_BYTES.decode(encoding, "replace")) == len(ALL_BYTES)
    except (LookupError, ValueError):
        return False
