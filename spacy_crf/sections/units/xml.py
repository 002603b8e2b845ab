"""XML of formats that are not known otherwise."""

from pathlib import Path

from .layout import Layout
from .markup import TAG_STYLES, MarkupReader
from .xml_source import XmlSource

TITLES = ("title", "head", "heading")
SKIPPED = frozenset({"teiheader", "metadata"})


def read_xml(path: Path) -> Layout:
    """Read XML by the names of its elements: those that are inline in HTML and other usual formats are so, all others
    begin lines, and "title", "head" and "heading" are titles.

    path (Path): the file. RETURNS (Layout): the document. RAISES (ValueError): for malformed XML, with the line.
    """
    reader = MarkupReader(TAG_STYLES | dict.fromkeys(TITLES, "title"), SKIPPED)
    XmlSource(path, reader).read()
    return reader.builder.build(path.stem, reader.language)
