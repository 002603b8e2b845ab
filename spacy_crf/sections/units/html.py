"""HTML, as browsers show it, by lxml."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...core.errors import CRFError
from ..errors import SectionErrors
from .layout import Layout
from .markup import SKIPPED, TAG_STYLES, MarkupReader
from .plain import read_text

NOT_IN_PAGES = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]")  # lxml stops at them


def read_html(path: Path) -> Layout:
    """Read a web page, however careless its mark-up is.

    Blocks and line breaks begin lines, an empty paragraph is a blank line. Headings and emphasis, by tags or by
    `style`, are formatting. The numbers and bullets of lists are in the text as browsers show them. A table is one
    unit, unless it has headings or tables in it, as one for the layout of a page has.

    path (Path): in UTF-8, UTF-16 with a byte order mark, or the encoding that it names.
    RETURNS (Layout): the document.
    RAISES (ValueError): for binary files and wrong encodings, with the line, and if lxml is not installed.
    """
    try:
        from lxml import etree
    except ImportError as error:
        raise CRFError(SectionErrors.CRF956) from error
    reader = MarkupReader(TAG_STYLES, SKIPPED)
    parser = etree.HTMLParser(target=_Target(reader), huge_tree=True)
    parser.feed(NOT_IN_PAGES.sub("\ufffd", read_text(path, page=True)))
    with suppress(etree.XMLSyntaxError):  # there is no element
        parser.close()
    return reader.builder.build(path.stem, reader.language)


class _Target:
    """What lxml calls."""

    def __init__(self, reader: MarkupReader) -> None:
        self.reader = reader

    def start(self, tag: str, attrib: Mapping[str, str]) -> None:
        self.reader.start(tag.lower(), attrib)

    def end(self, tag: str) -> None:
        self.reader.end(tag)

    def data(self, data: str) -> None:
        self.reader.data(data)

    def close(self) -> None:
        """Nothing is left to do."""
