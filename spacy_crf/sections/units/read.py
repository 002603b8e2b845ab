"""Files of all formats: which one it is, and its document."""

from pathlib import Path

from ...core.errors import CRFError
from ...corpora.files import open_binary
from ..errors import SectionErrors
from .annotated import ROOT, read_annotated
from .docling import read_docling
from .gold import Gold
from .html import read_html
from .layout import Layout
from .markdown import read_markdown
from .plain import read_plain, refuse_magic
from .rechtspraak import ROOTS, read_rechtspraak, read_rechtspraak_gold
from .xml import read_xml
from .xml_source import root_of

PAGES = (".html", ".htm", ".xhtml")
MARKDOWN = (".md", ".markdown", ".mdown")
HEAD = 16  # bytes that tell formats apart


def read_layout(path: Path, paragraphs: bool = False, hidden: bool = False) -> Layout:
    """Read a document by the suffix of its file, XML by its root as well; what has no other format is plain text.

    path (Path): .txt, .md, .html, .json (DoclingDocument) or .xml (Rechtspraak, annotated XML, or any other), which may
        be packed by gzip, with .gz behind its name. paragraphs (bool): of plain text, see `read_plain`.
    hidden (bool): of Rechtspraak XML, see `read_rechtspraak`.
    RETURNS (Layout): the document, without a look at gold. RAISES (ValueError): for binary files, encodings other than
        those of the format, malformed XML and JSON, with file and line. RAISES (OSError): if there is no such file.
    """
    suffix = _suffix(path)
    if suffix == ".xml":
        return _read_xml(path, hidden)
    if suffix in PAGES:
        return read_html(path)
    if suffix in MARKDOWN:
        return read_markdown(path)
    if suffix == ".json":
        return read_docling(path)
    return read_plain(path, paragraphs)


def read_gold(path: Path, hidden: bool = False) -> Gold:
    """Read an annotated document: annotated XML, or Rechtspraak XML.

    path (Path): the file. hidden (bool): see `read_rechtspraak`.
    RETURNS (Gold): the document, labels and sections. RAISES (ValueError): for malformed XML, and XML of other formats.
    """
    root = root_of(path)
    if root in ROOTS:
        return read_rechtspraak_gold(path, hidden)
    if root == ROOT:
        return read_annotated(path)
    raise CRFError(SectionErrors.CRF953.format(path=path, line=1, problem=f"the root is <{root}>, not <{ROOT}>"))


def _read_xml(path: Path, hidden: bool) -> Layout:
    with open_binary(path) as file_:
        refuse_magic(path, file_.read(HEAD))
    root = root_of(path)
    if root in ROOTS:
        return read_rechtspraak(path, hidden)
    if root == ROOT:
        return read_annotated(path).layout
    return read_html(path) if root == "html" else read_xml(path)


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix
