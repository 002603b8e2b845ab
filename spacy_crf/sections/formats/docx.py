"""DOCX, opened by python-docx: headings by style, numbers of lists as Word shows them, typography."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from ...core.errors import CRFError, required
from ...reading.figures import HIGHER, LOWER
from ...reading.files import check_expansion, read_bytes
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import LARGE, Kind
from . import DEEPEST, INDENT
from .docx_parts import (
    OFF,
    NumberedList,
    StyleSheet,
    W,
    XmlElement,
    first_value,
    is_hidden,
    outline_level,
    read_lists,
    value_of,
    whole,
)
from .paragraphs import MOST_INDENTED, rank_sizes

OLD_WORD = b"\xd0\xcf\x11\xe0"  # begins old files, and new ones with a password
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
LEFT_OUT = {f"{W}{name}" for name in ("del", "moveFrom", "pPr", "rPr", "sectPr", "footnotePr", "instrText", "rt")}
LEFT_OUT.add("{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")
MATHS, FRACTION, BAR = f"{M}t", f"{M}f", f"{M}fPr/{M}type"
JOINTS = {f"{M}f": (f"{M}den", "/"), f"{M}rad": (f"{M}e", "√")}  # before these parts
INDEX = f"{M}deg"  # of a root
JOINTS |= {f"{M}{name}": (f"{M}sup", "^") for name in ("sSup", "sSubSup")} | {f"{M}nary": (f"{M}sup", " ")}
SIGNS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
SHIFTS, MOVED = {"superscript": HIGHER, "subscript": LOWER}, 4  # half points, from which on text is set higher by hand
PAGE, NO_ENDS = "\f", ("del", "moveFrom")  # a break of a page or column; of the mark of a paragraph
DROPPED = ("drop", "margin")  # a first letter that is a paragraph
TWIPS = 120  # in a column of indentation: half of a size of 12 points
STYLES = {"b": "bold", "i": "italic", "u": "underline"}
DAMAGES = (SyntaxError, ValueError, LookupError, AttributeError, TypeError, OSError, RuntimeError, EOFError)


def read_docx(path: Path) -> DocumentLayout:
    """Read a DOCX by python-docx.

    A paragraph is a line, an empty one a blank line; one whose end is deleted or hidden goes on in the next. Headings
    are those with an outline level, of their own or by their style or one that it is based on, in any language of Word;
    what has the style of a title is the outermost heading, that of the document. Numbers and bullets of lists are in
    the text as Word shows them. Bold, italic, underlined and larger type is formatting, indentation is spaces but for
    what is centred. A table is one unit, unless it has headings or tables in it. Headers, footers, notes, comments and
    deleted text are left out, and signs that are told by their place in a font; what stands in text boxes follows its
    paragraph or table. Of formulas, their signs are read one after the other.

    RAISES (ValueError): for a file that is no DOCX, is damaged or needs a password, and if python-docx is not
        installed.
    """
    with required(SectionErrors.CRF561.format(what="DOCX", library="python-docx", extra="docx")):
        from docx import Document
        from docx.exceptions import PythonDocxError
        from docx.opc.exceptions import OpcError
    data = read_bytes(path)
    if data.startswith(OLD_WORD):
        raise CRFError(SectionErrors.CRF563.format(path=path))
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            check_expansion(path, len(data), sum(entry.file_size for entry in archive.infolist()))
        return _DocxReader(Document(BytesIO(data)).part).read(path.stem)
    except CRFError:
        raise
    except (*DAMAGES, zipfile.BadZipFile, OpcError, PythonDocxError) as error:
        reason = f"{type(error).__name__}: {str(error)[:200]}"
        raise CRFError(SectionErrors.CRF562.format(path=path, what="DOCX", reason=reason)) from error


class _DocxReader:
    def __init__(self, part: Any) -> None:
        from docx.opc.constants import RELATIONSHIP_TYPE

        self.body = part.element.body
        parts = [own for own in part.rels.values() if not own.is_external]
        roots = {own.reltype: own.target_part.element for own in parts if hasattr(own.target_part, "element")}
        self.styles = StyleSheet(roots.get(RELATIONSHIP_TYPE.STYLES, part.element))
        self._remove_hidden()
        numbering = roots.get(RELATIONSHIP_TYPE.NUMBERING)
        self.lists = {} if numbering is None else read_lists(numbering)
        self.builder = LayoutBuilder()
        self.sizes: list[tuple[int, int, float]] = []  # start, end, and size of the type there

    def read(self, name: str) -> DocumentLayout:
        waiting = [self.body]
        while waiting:
            element = waiting.pop()
            if element.tag == f"{W}p":
                waiting += reversed(self._paragraph(element))
            elif element.tag == f"{W}tbl" and not self._is_page(element):
                waiting += reversed(self._table(element))
            elif element.tag not in LEFT_OUT and value_of(element, "trPr", "del") is None:
                waiting += reversed(element)
        ranks = rank_sizes((size, end - start) for start, end, size in self.sizes)
        self.builder.runs += [(start, end, LARGE[ranks[size] - 1]) for start, end, size in self.sizes if size in ranks]
        return self.builder.build(name)

    def _remove_hidden(self) -> None:
        """Remove text that is hidden, by itself or by a style, and join paragraphs whose ends are deleted or hidden."""
        for paragraph in list(self.body.iter(f"{W}p")):
            places = self._places(paragraph)
            for run in list(paragraph.iter(f"{W}r")):
                styles = self.styles.chain(value_of(run, "rPr", "rStyle"))
                is_text = run.find(f"{W}fldChar") is None  # an end of a field ends it though it is hidden
                if is_text and next(run.iterancestors(f"{W}p")) is paragraph and is_hidden([run, *styles, *places[1:]]):
                    run.getparent().remove(run)
            mark = paragraph.find(f"{W}pPr")
            frame = None if mark is None else mark.find(f"{W}framePr")
            is_dropped = frame is not None and frame.get(f"{W}dropCap") in DROPPED
            # a separator of styles, behind which the text of a heading is on its line, is hidden, too
            is_hiding = value_of(mark, "rPr", "specVanish") in (None, *OFF) and is_hidden(
                [*([] if mark is None else [mark]), *places[1:]]
            )
            if is_dropped or is_hiding or any(value_of(mark, "rPr", name) not in (None, *OFF) for name in NO_ENDS):
                _join_next(paragraph)

    def _is_page(self, table: XmlElement) -> bool:
        """Whether a table is for the layout of a page: it has headings or tables in it."""
        return table.find(f".//{W}tbl") is not None or any(
            outline_level(self._places(paragraph)) is not None for paragraph in table.iterfind(f".//{W}p")
        )

    def _places(self, paragraph: XmlElement) -> list[XmlElement]:
        """A paragraph, its style, and those that this is based on."""
        return [paragraph, *self.styles.chain(value_of(paragraph, "pPr", "pStyle") or self.styles.usual)]

    def _table(self, table: XmlElement) -> list[XmlElement]:
        """Write a table, a row on each line. Returned are the text boxes in it."""
        self.builder.end_line()
        start, boxes = self.builder.length, list[XmlElement]()
        for row in table.iterfind(f".//{W}tr"):
            if value_of(row, "trPr", "del") is None:
                self.builder.end_line()
                self.builder.write("\t".join(self._cell(cell, boxes) for cell in row.iterfind(f".//{W}tc")))
        self.builder.style(start, Kind.OTHER.value)
        self.builder.end_line()
        return boxes

    def _cell(self, cell: XmlElement, boxes: list[XmlElement]) -> str:
        """The text of a cell, on one line. boxes (list): takes the text boxes in it."""
        shown = LayoutBuilder()
        for paragraph in (own for _, _, own in _pieces(cell) if own is not None):
            places = self._places(paragraph)
            shown.write(self._beginning(places)[1])
            for text, run, box in _pieces(paragraph):
                shown.write(text, self._shift(run, places[1:]))
                boxes += [] if box is None else [box]
            shown.write("\n")
        return " ".join(shown.build().text.split())

    def _paragraph(self, paragraph: XmlElement) -> list[XmlElement]:
        """Write a paragraph. Returned are the text boxes in it."""
        builder, places = self.builder, self._places(paragraph)
        level = outline_level(places)
        is_title = level is None and any((value_of(place, "name") or "").lower() == "title" for place in places)
        indent, number = self._beginning(places)
        pieces = list(_pieces(paragraph))
        boxes = [box for _, _, box in pieces if box is not None]
        if not number and not any(text.strip() for text, _, _ in pieces):
            builder.blank_line()
            return boxes
        builder.end_line()
        builder.write(indent)
        start = builder.length
        builder.write(number)
        first = builder.length
        while pieces and pieces[-1][0] in ("", PAGE):
            pieces.pop()
        for text, run, _ in pieces:
            begin = builder.length
            if text != PAGE:
                builder.write(text, self._shift(run, places[1:]))
            elif begin > first:
                builder.end_line()
            self._style(begin, run, [] if level is not None or is_title else places[1:])
        if level is not None or is_title:
            builder.heading(start, 0 if level is None else level + 1)
        builder.end_line()
        return boxes

    def _beginning(self, places: list[XmlElement]) -> tuple[str, str]:
        """The white space before a paragraph, and its number or bullet."""
        depth, own = self._list(places)
        if own is not None and depth in own.levels:
            return INDENT * min(depth, DEEPEST), own.next(depth)
        alignments = (value_of(place, "pPr", "jc") for place in places)
        indent = next((found for place in places if (found := place.find(f"{W}pPr/{W}ind")) is not None), None)
        if indent is None or next(filter(None, alignments), "") == "center":
            return "", ""
        left, first, hanging = (whole(indent.get(f"{W}{name}")) for name in ("left", "firstLine", "hanging"))
        columns = round((left + first - hanging) / TWIPS)
        return " " * min(columns, MOST_INDENTED), ""

    def _list(self, places: list[XmlElement]) -> tuple[int, NumberedList | None]:
        """The level of the list that a paragraph is an item of, and this list."""
        given: str | None = None  # which a style that is based on another one may have without the list
        for place in places:
            given = value_of(place, "pPr", "numPr", "ilvl") if given is None else given
            if (name := value_of(place, "pPr", "numPr", "numId")) is None:
                continue
            own = self.lists.get(name)
            style = place.get(f"{W}styleId")
            if own is None or given is not None or style is None:
                return whole(given), own
            return next((depth for depth, level in own.levels.items() if level.style == style), 0), own
        return 0, None

    def _places_of(self, run: XmlElement | None, styles: list[XmlElement]) -> list[XmlElement]:
        """A run, its style and those of the paragraph, and the defaults."""
        own = [] if run is None else [run, *self.styles.chain(value_of(run, "rPr", "rStyle"))]
        return [*own, *styles, self.styles.defaults]

    def _shift(self, run: XmlElement | None, styles: list[XmlElement]) -> int:
        """How the text of a run is set, higher or lower. styles (list): of the paragraph."""
        places = self._places_of(run, styles)
        is_moved = whole(first_value(places, "rPr", "position")) >= MOVED
        return SHIFTS.get(first_value(places, "rPr", "vertAlign") or "", HIGHER if is_moved else 0)

    def _style(self, start: int, run: XmlElement | None, styles: list[XmlElement]) -> None:
        """Give the text of a run its type. styles (list): of the paragraph."""
        places = self._places_of(run, styles)
        for name, style in STYLES.items():
            if first_value(places, "rPr", name) not in (None, *OFF):
                self.builder.style(start, style)
        size = whole(first_value(places, "rPr", "sz")) / 2
        if styles and start < self.builder.length:
            self.sizes.append((start, self.builder.length, size))


def _pieces(element: XmlElement) -> Iterator[tuple[str, XmlElement | None, XmlElement | None]]:
    """Texts below an element, each with the run that it is of; and text boxes and paragraphs, without their text.

    What other fields have become within the instruction of a field, such as a condition, is not shown.
    """
    ending = ""
    fields: list[bool] = []  # that are open: whether what is shown of them has begun
    waiting: list[tuple[XmlElement, XmlElement | None]] = [(child, None) for child in reversed(element)]
    while waiting:
        own, run = waiting.pop()
        if own.tag in LEFT_OUT:
            continue
        if own.tag in (f"{W}txbxContent", f"{W}p"):
            yield "", None, own
        elif own.tag == f"{W}fldChar":
            kind = own.get(f"{W}fldCharType")
            if kind == "begin":
                fields.append(False)
            elif fields:  # those that began in a paragraph before are shown
                fields[-1:] = [True] if kind == "separate" else []
        elif not all(fields):
            waiting += [(child, own if own.tag == f"{W}r" else run) for child in reversed(own)]
        elif own.tag in (f"{W}t", MATHS):
            ending = own.text or ending
            yield own.text or "", run, None
        elif own.tag in SIGNS:
            ending = SIGNS[own.tag]
            yield ending, run, None
        elif own.tag == f"{W}br":
            yield "\n" if own.get(f"{W}type") in (None, "textWrapping") else PAGE, run, None
        else:
            if joint := _joint(own):
                yield joint, run, None
            elif own.tag == FRACTION and ending[-1:].isdigit():
                yield " ", run, None  # 1 1/2 is not 11/2
            waiting += [(child, own if own.tag == f"{W}r" else run) for child in reversed(own)]


def _joint(part: XmlElement) -> str:
    """The sign before a part of a formula, such as the stroke of a fraction; "" for none. Indexes are in []."""
    around = part.getparent()
    tag, sign = JOINTS.get(around.tag, ("", ""))
    if part.tag == INDEX:
        return "√[" if next(part.iter(MATHS), None) is not None else ""
    if part.tag != tag:
        return ""
    if next(around.iterfind(f"{INDEX}//{MATHS}"), None) is not None:
        return "]"
    bar = around.find(BAR)
    return " " if bar is not None and bar.get(f"{M}val") == "noBar" else sign


def _join_next(paragraph: XmlElement) -> None:
    """Put a paragraph without an end before what is in the next one, as they are shown."""
    following = next(paragraph.itersiblings(f"{W}p", f"{W}tbl"), None)
    if following is not None and following.tag == paragraph.tag:
        has_settings = following.find(f"{W}pPr") is not None
        following[has_settings:has_settings] = [own for own in paragraph if own.tag != f"{W}pPr"]
        paragraph.getparent().remove(paragraph)
