"""The column files of CoNLL: one token per line and one annotation per column."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from ..core.errors import CRFError
from ..reading.files import read_blocks
from .errors import CorpusErrors
from .schemes import SpanScheme, is_unsettled
from .sentence import SKIPPED, WORD, RowChecker, Sentence, is_spans

UNKNOWN = "_"
DOCUMENT_MARK = "-DOCSTART-"
# The layouts of each format. "columns" has those that only one kind of file is known to have: three columns
# may be CoNLL-2000 or CoNLL-2002.
LAYOUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "columns": (("word", "ner"), ("word", "tag", "chunk", "ner")),
    "conll2000": (("word", "tag", "chunk"),),
    "conll2002": (("word", "tag", "ner"), ("word", "ner")),
    "conll2003": (("word", "tag", "chunk", "ner"),),
}
# Only blanks and tabs separate columns; str.split() would also split at a no-break space inside a word.
NOT_BLANK = re.compile(r"[^ \t]+")


def read_columns(
    path: Path, *, format: str = "columns", columns: Sequence[str] | None = None, separator: str | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a column file, whose columns `columns` or else the format names; see `Corpus`.

    Lines that begin with -DOCSTART- begin a document.
    """
    split: Callable[[str], list[str]] | None = None
    checker = RowChecker(path)
    schemes: dict[str, SpanScheme] = {}
    for first, lines, starts_document in _read_marked_blocks(path):
        if split is None:
            split = _make_splitter(lines[0], separator)
            columns = columns or _pick_layout(path, first, len(split(lines[0])), format)
            checker.check_titles(first, split(lines[0]))
        rows = [split(line) for line in lines]
        sentence = _parse_rows(first, rows, columns or (), starts_document, checker)
        for kind, values in sentence.columns.items():
            if is_spans(kind) and is_unsettled(values):
                if kind not in schemes:
                    schemes[kind] = SpanScheme.of(
                        path, kind, _read_column(path, split, list(columns or ()).index(kind))
                    )
                sentence.columns[kind] = schemes[kind].rewrite(values)
        yield sentence


def _read_column(path: Path, split: Callable[[str], list[str]], place: int) -> Iterator[list[str]]:
    """Yield the values that a column has in each sentence of a file; rows that are too short are left out."""
    for _, lines, _ in _read_marked_blocks(path):
        rows = map(split, lines)
        yield ["" if row[place] == UNKNOWN else row[place] for row in rows if len(row) > place]


def _read_marked_blocks(path: Path) -> Iterator[tuple[int, list[str], bool]]:
    """Yield each sentence's first line number, its lines, and whether a document mark precedes it."""
    marked = False
    for first, lines in read_blocks(path):
        for is_mark, run in groupby(enumerate(lines, first), lambda line: line[1].startswith(DOCUMENT_MARK)):
            if not is_mark:
                numbers, own = zip(*run)
                yield numbers[0], list(own), marked
            marked = is_mark


def _make_splitter(line: str, separator: str | None) -> Callable[[str], list[str]]:
    own = separator or ("\t" if "\t" in line else None)
    return NOT_BLANK.findall if own is None else lambda row: row.rstrip(" ").split(own)


def _pick_layout(path: Path, line: int, width: int, format: str) -> Sequence[str]:
    if own := [layout for layout in LAYOUTS[format] if len(layout) == width]:
        return own[0]
    known = " or ".join("(" + ", ".join(layout) + ")" for layout in LAYOUTS[format])
    raise CRFError(CorpusErrors.CRF506.format(path=path, line=line, width=width, format=format, known=known))


def _parse_rows(
    first: int, rows: list[list[str]], names: Sequence[str], starts_document: bool, checker: RowChecker
) -> Sentence:
    lines = range(first, first + len(rows))
    for line, row in zip(lines, rows):
        checker.check_width(line, row, names)
    sentence = Sentence([], starts_document=starts_document)
    for name, values in zip(names, zip(*rows)):
        if name == WORD:
            sentence.words = list(values)
        elif name != SKIPPED:
            known = ["" if value == UNKNOWN else value for value in values]
            checker.check(name, known, lines)
            sentence.columns[name] = known
    checker.check_words(sentence.words, lines)
    return sentence
