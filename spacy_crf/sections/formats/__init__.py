"""Documents in files of all formats: which one a file has, and the document in it.

Each format but plain text is a module that reads it, or writes it, or both.
"""

from collections.abc import Iterator
from pathlib import Path

from ...core.errors import CRFError
from ...corpora.files import open_binary
from ..candidates import find_mark, find_numbering
from ..errors import SectionErrors
from ..layout import DocumentLayout
from ..segment import PARAGRAPH, Run
from ..tree import GoldDocument
from .annotated import ROOT, read_annotated
from .docling import read_docling
from .markdown import read_markdown
from .markup import read_html, read_xml
from .rechtspraak import ROOTS, read_rechtspraak, read_rechtspraak_gold
from .sources import HEAD, read_text, refuse_magic, root_of

PAGES = (".html", ".htm", ".xhtml")
MARKDOWN = (".md", ".markdown", ".mdown")


def read_layout(path: Path, paragraphs: bool = False, hidden: bool = False) -> DocumentLayout:
    """Read a document by the suffix of its file, XML by its root as well; what has no other format is plain text.

    path (Path): .txt, .md, .html, .json (DoclingDocument) or .xml (Rechtspraak, annotated XML, or any other), which may
        be packed by gzip, with .gz behind its name. paragraphs (bool): of plain text, see `read_plain`.
    hidden (bool): of Rechtspraak XML, see `read_rechtspraak`.
    RETURNS (DocumentLayout): the document, without a look at gold.
    RAISES (ValueError): for binary files, encodings other than those of the format, malformed XML and JSON, with file
        and line. RAISES (OSError): if there is no such file.
    """
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix == ".xml":
        return _read_xml(path, hidden)
    if suffix in PAGES:
        return read_html(path)
    if suffix in MARKDOWN:
        return read_markdown(path)
    if suffix == ".json":
        return read_docling(path)
    return read_plain(path, paragraphs)


def read_gold(path: Path, hidden: bool = False) -> GoldDocument:
    """Read an annotated document: annotated XML, or Rechtspraak XML.

    path (Path): the file. hidden (bool): see `read_rechtspraak`.
    RETURNS (GoldDocument): the document, labels and sections. RAISES (ValueError): for malformed XML, and XML of other
        formats.
    """
    root = root_of(path)
    if root in ROOTS:
        return read_rechtspraak_gold(path, hidden)
    if root == ROOT:
        return read_annotated(path)
    raise CRFError(SectionErrors.CRF953.format(path=path, line=1, problem=f"the root is <{root}>, not <{ROOT}>"))


def _read_xml(path: Path, hidden: bool) -> DocumentLayout:
    with open_binary(path) as file_:
        refuse_magic(path, file_.read(HEAD))
    root = root_of(path)
    if root in ROOTS:
        return read_rechtspraak(path, hidden)
    if root == ROOT:
        return read_annotated(path).layout
    return read_html(path) if root == "html" else read_xml(path)


def read_plain(path: Path, paragraphs: bool = False) -> DocumentLayout:
    """Read plain text. Windows' and old Macs' line ends become newlines, as anywhere in Python.

    path (Path): in UTF-8, or UTF-16 with a byte order mark. paragraphs (bool): for text with hard line breaks: an
        element ends at a blank line, or before a line that begins with a list mark or a numbering with a sign; without,
        each line is an element.
    RAISES (ValueError): for binary files and other encodings, with the line.
    """
    text = read_text(path)
    found = _paragraphs(text) if paragraphs else ()
    runs: list[Run] = [(start, end, PARAGRAPH) for start, end in found if "\n" in text[start:end].strip()]
    return DocumentLayout(text, tuple(runs), path.stem)


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
