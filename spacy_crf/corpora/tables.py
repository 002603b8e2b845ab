"""Tables of tokens, `form<TAB>tags<TAB>checked`: as text, and as a spreadsheet with colours for doubt.

Tags are in the notation of `tagsets`. An empty row is behind each sentence. A row whose first cell alone is filled and
begins with "# " is a comment: "# newdoc id = NAME" begins a document; in text, so is a line of one cell that begins
with "#". A mark is no content of such rows: people fill it down a column. Without a column of them, all tags are gold.
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time, timedelta
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from zipfile import BadZipFile, ZipFile

from ..core.errors import CRFError, required
from ..reading.files import check_expansion, check_text, first_line, read_blocks, read_lines
from .conll import DOCUMENT_MARK
from .errors import CorpusErrors
from .exchange import DECIMALS, ExchangeDocument, ExchangeToken, check_line, name_line, read_mark
from .files import refusing_damage
from .sentence import RowChecker, Sentence, split_tag
from .tagsets import NO_GOLD, YES, make_sentence, parse_tags

COLUMNS = ("form", "tags", "checked")
HEADER = f"# columns = {', '.join(COLUMNS)}"
DOCUMENT = "# newdoc id = "
# A mark of a document; with another tag, it is a word
MARK = re.compile(rf"{DOCUMENT_MARK}(?:\s+(?:-X-|O|_|yes|no|\([^\t]*\)))*\s*$")
SNIFFED = 100  # rows that tell whether a table without a header has tags or spans
Row = tuple[int, list[str]]  # number of the row in the file, from 1, and its cells


# -- rows --------------------------------------------------------------------------------------------------------


def _read_rows(path: Path, blocks: Iterable[Sequence[Row]]) -> Iterator[Sentence]:
    """Yield the sentence of each block of rows; the first one begins a document."""
    checker, names, document, is_first = RowChecker(path), None, "", True
    for block in blocks:
        words, tags, marks = [], [], []
        for line, cells in block:
            if cells[0].startswith("#" if len(cells) == 1 else "# ") and not any(cells[1:2]):
                if cells[0].startswith(DOCUMENT):
                    # a mark without a name keeps that of the line before
                    document = cells[0].removeprefix(DOCUMENT) or (document if is_first else "")
                    is_first = True
                continue
            if names is None:
                checker.check_titles(line, cells)
                names = COLUMNS[: max(2, min(len(cells), len(COLUMNS)))]
            checker.check_width(line, cells, names)
            checker.check_words(cells[:1], [line])
            words.append(cells[0])
            tags.append(parse_tags(cells[1], f"{path}, line {line}, token {cells[0]!r}"))
            marks += [read_mark(mark, f"{path}, line {line}, token {cells[0]!r}") for mark in cells[2:]]
        if words:
            checked = marks if names == COLUMNS else None
            yield make_sentence(words, tags, None, is_first, checked, document)
            is_first = False


def _write_rows(documents: Sequence[ExchangeDocument]) -> Iterator[tuple[list[str], ExchangeToken | None]]:
    """Yield the cells of each row, and the token that it is about, None for a comment or an empty row."""
    for document in documents:
        if document.name:
            yield [f"{DOCUMENT}{name_line(document.name)}"], None
        for sentence in document.sentences:
            for token in sentence:
                word = check_line(token.word, token.start, document.name)
                yield [word, token.cell, YES if token.is_checked else NO_GOLD], token
            yield [], None


# -- text --------------------------------------------------------------------------------------------------------


def read_tokens_tsv(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file of `form<TAB>tags` lines, with or without check marks.

    Everything before the tab is the form, so "|", "#" and "_" are words like others. In a file without a header, a line
    that begins with -DOCSTART- begins a document, as in columns.
    """
    is_headed = is_tokens_tsv(path)
    blocks = read_blocks(path, is_checked=is_headed)
    rows = ([(n, line.split("\t")) for n, line in enumerate(own, first)] for first, own in blocks)
    return _read_rows(path, rows if is_headed else (part for block in rows for part in _part_by_mark(block)))


def _part_by_mark(block: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows before, of and behind each document mark, which need not have an empty line beside it."""
    for is_mark, part in groupby(block, lambda row: MARK.match("\t".join(row[1])) is not None):
        rows = list(part)
        yield [(line, [DOCUMENT]) for line, _ in rows] if is_mark else rows


def is_tokens_tsv(path: Path) -> bool:
    """Whether the first line of a file is the header of a table of tags."""
    return first_line(path).removeprefix('"').startswith(HEADER)


def has_tag_column(path: Path) -> bool:
    """Whether the first lines of a table without a header have two columns, and no spans in the second one.

    RAISES (ValueError): Where some of them could be spans.
    """
    lines = (line for line in read_lines(path) if line.strip() and not line.startswith(DOCUMENT_MARK))
    rows = [line.split("\t") for line in islice(lines, SNIFFED) if not line.startswith("#") or "\t" in line]
    if {len(row) for row in rows} != {2}:
        return False
    is_span = {split_tag(tag.strip()) is not None for _, tag in rows if tag.strip() not in ("", NO_GOLD)}
    if len(is_span) == 2:
        raise CRFError(CorpusErrors.CRF568.format(path=path, formats="tagsets (form, tags), columns (word, ner)"))
    return is_span == {False}


def holds_columns(path: Path) -> bool:
    """Whether the first lines of a file are as many single words each, parted by tabs, or with a span tag as the last:
    columns, and no running text."""
    lines = (line.strip() for line in read_lines(path))
    rows = [line for line in islice(filter(None, lines), SNIFFED) if not line.startswith(("# ", DOCUMENT_MARK))]
    if len(rows) < 2 or len({len(row.split()) for row in rows}) != 1 or len(rows[0].split()) < 2:
        return False
    has_tabs = all(row.split("\t") == row.split() for row in rows)
    return has_tabs or all(split_tag(row.split()[-1]) is not None for row in rows)


def write_tsv(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write documents as text; see `ExchangeDocument`."""
    lines = ["\t".join(cells) for cells, _ in _write_rows(documents)]
    return "".join(f"{line}\n" for line in [HEADER, *lines]).encode()


# -- spreadsheets ------------------------------------------------------------------------------------------------

SHEET = "tokens"
PLACE = "place"  # of a row, which tells whether rows were sorted, and brings them back
TITLES = (*COLUMNS, "probability", PLACE)  # of the most probable tag, which is not read
CERTAIN, DOUBTFUL = (255, 255, 255), (244, 150, 80)
SHADES = 10
MOST_COLUMNS = 50  # that are looked at
SHOWN_RANGES = 5
PLAIN = ("General", "0", "@")  # number formats that show a number as it was typed
MOST_EXACT = 10**15  # whole numbers from here on lose their last digits
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z0-9:]+)"')
ENTITIES = (b"<!DOCTYPE", b"<!ENTITY")


def read_xlsx(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a spreadsheet; see `_choose_sheet`."""
    return _read_rows(path, _split_blocks(_read_sheet(path)))


def _read_sheet(path: Path) -> Iterator[Row]:
    """Yield the cells of the rows of the sheet of tokens; none between sentences."""
    load_workbook = _openpyxl().load_workbook
    with refusing_damage(path, "spreadsheet"):
        _check_parts(path)
        book = load_workbook(path, read_only=True, data_only=True)
        for own in book.worksheets:
            own.reset_dimensions()  # which other programs may have got wrong, so that cells would be missing
        sheet = _choose_sheet(path, book.worksheets)
        rows = list(sheet.iter_rows(max_col=MOST_COLUMNS))
        merged = book._archive.read(sheet._worksheet_path)
        book.close()
    if ranges := [match[1].decode() for match in MERGED.finditer(merged)]:
        raise CRFError(CorpusErrors.CRF492.format(path=path, cells=", ".join(ranges[:SHOWN_RANGES])))
    _check_order(path, rows)
    places, is_titled = _find_columns(path, rows)
    for number, row in enumerate(rows[is_titled:], 1 + is_titled):
        cells = [_text(path, row[place]) if place < len(row) else "" for place in places]
        yield number, cells if any(cells[:2]) else []


def _choose_sheet(path: Path, sheets: Sequence[Any]) -> Any:
    """The sheet that is called "tokens" or has the titles of form and tags, or else the first one.

    RAISES (ValueError): where there are several.
    """
    own = [sheet for sheet in sheets if sheet.title == SHEET or _has_titles(_titles([*sheet.iter_rows(max_row=1)]))]
    if len(own) > 1:
        found = f"the sheets {', '.join(sheet.title for sheet in own)} may have tokens"
        raise CRFError(CorpusErrors.CRF287.format(path=path, found=found))
    return [*own, *sheets][0]


def _titles(rows: Sequence[Sequence[Any]]) -> list[str]:
    return ["" if cell.value is None else str(cell.value).strip().lower() for cell in rows[0]] if rows else []


def _has_titles(titles: Sequence[str]) -> bool:
    return {*COLUMNS[:2]}.issubset(titles)


def _check_order(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Raise an error if the rows of a document are in another order than the one in which they were written. Rows may
    be gone, new ones without a place, and copies with one."""
    titles = _titles(rows)
    column = titles.index(PLACE) if PLACE in titles else MOST_COLUMNS
    marks = titles.index(COLUMNS[2]) if COLUMNS[2] in titles else MOST_COLUMNS
    before, is_apart = 0.0, True  # a document begins behind an empty row, and not among words
    for number, row in enumerate(rows[1:], 2):
        is_document = any(str(cell.value).startswith(DOCUMENT) for cell in row)
        before = 0.0 if is_apart and is_document else before
        is_apart = all(cell.value in (None, "") for place, cell in enumerate(row) if place not in (column, marks))
        value = row[column].value if column < len(row) else None
        if isinstance(value, int | float):
            if value < before:
                told = {"path": path, "line": number, "place": value, "before": before, "title": PLACE}
                raise CRFError(CorpusErrors.CRF463.format(**told))
            before = value


def _find_columns(path: Path, rows: Sequence[Sequence[Any]]) -> tuple[list[int], bool]:
    """The places of form, tags and check marks in rows, by their titles if the first row has some, and whether it has.

    RAISES (ValueError): where a column of check marks may have lost its title, or several have the same one.
    """
    titles = _titles(rows)
    if not _has_titles(titles):
        has_marks = any(cell.value not in (None, "") for row in rows for cell in row[2:])
        return [*range(len(COLUMNS) if has_marks else 2)], False
    if {*titles[2:]} - {"", PLACE} and COLUMNS[2] not in titles:
        raise CRFError(CorpusErrors.CRF587.format(path=path, titles=", ".join(filter(None, titles)), title=COLUMNS[2]))
    if twice := [name for name in COLUMNS if titles.count(name) > 1]:
        raise CRFError(CorpusErrors.CRF287.format(path=path, found=f"several columns are called {twice[0]!r}"))
    return [titles.index(name) for name in COLUMNS if name in titles], True


def _check_parts(path: Path) -> None:
    """Raise an error if a packed file grows beyond all measure, or has entities, which could do the same."""
    with ZipFile(path) as archive:
        for part in archive.infolist():
            with archive.open(part) as file_:
                size = 0
                while piece := file_.read(1 << 16):
                    size += len(piece)
                    check_expansion(path, part.compress_size, size)
                    if any(sign in piece for sign in ENTITIES):
                        raise BadZipFile("it has a document type")


def _text(path: Path, cell: Any) -> str:
    """The value of a cell as it was typed: spreadsheets make numbers of what looks like one.

    RAISES (ValueError): for a cell of which nothing tells how it was typed.
    """
    value = cell.value
    if made := _what_is_made(cell):
        raise CRFError(CorpusErrors.CRF594.format(path=path, cell=cell.coordinate, made=made, value=value))
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    shown = str(whole).upper() if isinstance(value, bool) else str(whole)
    return "" if value is None else check_text(shown, str(path)).strip()


def _what_is_made(cell: Any) -> str:
    """What a spreadsheet program has made of a cell that was typed in another way; "" where it may be as it was."""
    if isinstance(cell.value, date | time | timedelta):
        return "a date or a time"
    if cell.data_type == "e":
        return "an error"
    is_number = isinstance(cell.value, int | float) and not isinstance(cell.value, bool)
    if is_number and abs(cell.value) >= MOST_EXACT:
        return "a number of 15 digits"
    return f"a number, shown as {cell.number_format}," if is_number and cell.number_format not in PLAIN else ""


def _split_blocks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    block: list[Row] = []
    for number, cells in rows:
        if cells:
            block.append((number, cells))
        elif block:
            yield block
            block = []
    if block:
        yield block


def write_xlsx(documents: Sequence[ExchangeDocument]) -> bytes:
    """Write documents as a spreadsheet; the more doubtful a token is, the darker its tags are."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title, sheet.freeze_panes = SHEET, "A2"
    sheet.append(TITLES)
    for column, width in zip("ABCDE", (24, 40, 10, 12, 8)):
        sheet.column_dimensions[column].width = width
    for number, (cells, token) in enumerate(_write_rows(documents), 2):
        for place, text in enumerate(cells, 1):
            cell = sheet.cell(number, place)
            try:
                cell.value, cell.data_type = "" if place == 3 and text == NO_GOLD else text, "s"  # never a formula
            except (ValueError, openpyxl.utils.exceptions.IllegalCharacterError) as error:  # which XML cannot hold
                raise CRFError(CorpusErrors.CRF569.format(path=SHEET, kind="spreadsheet", reason=repr(text))) from error
        sheet.cell(number, len(TITLES)).value = number - 1  # of empty rows and comments, too
        if token is not None:
            sheet.cell(number, 2).fill = openpyxl.styles.PatternFill("solid", fgColor=_shade(token.doubt))
            if any(token.predicted.values()):
                sheet.cell(number, 4).value = round(max(token.predicted.values()), DECIMALS)
    target = BytesIO()
    try:
        book.save(target)
    except OSError:
        raise
    except Exception as error:  # of lxml, whose only words are what the system has said of a temporary file
        code = getattr(errno, str(error).removeprefix("IO_"), errno.EIO)
        raise OSError(code, os.strerror(code), gettempdir()) from error
    return target.getvalue()


def _shade(doubt: float) -> str:
    share = round(doubt * SHADES) / SHADES
    return "".join(f"{round(low + share * (high - low)):02X}" for low, high in zip(CERTAIN, DOUBTFUL))


def _openpyxl() -> Any:
    with required(CorpusErrors.CRF576.format(kind="Spreadsheets", package="openpyxl", extra="xlsx"), ImportError):
        import openpyxl
    return openpyxl
