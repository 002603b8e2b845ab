"""Column files: one token per line, one annotation per column, a blank line between sentences."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ..core.errors import CRFError
from .errors import CorpusErrors
from .files import read_blocks
from .kinds import SKIPPED, WORD, ValueChecker
from .sentence import Sentence

DOCUMENT_MARK = "-DOCSTART-"
MISSING_VALUE = "_"
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
    """Yield the sentences of a column file. Lines that begin with -DOCSTART- begin a document.

    format (str): "columns", "conll2000", "conll2002" or "conll2003": names the columns, unless `columns` does.
    separator (str | None): What is between two columns; None for a tab if the first token line has one, else for
        any run of blanks.
    """
    split: Callable[[str], list[str]] | None = None
    checker = ValueChecker(path)
    for first, lines, starts_document in _read_marked_blocks(path):
        if split is None:
            split = _make_splitter(lines[0], separator)
            columns = columns or _pick_layout(path, first, len(split(lines[0])), format)
        rows = [split(line) for line in lines]
        yield _parse_rows(path, first, rows, columns or (), starts_document, checker)


def _read_marked_blocks(path: Path) -> Iterator[tuple[int, list[str], bool]]:
    """Yield each sentence's first line number, its lines, and whether a document mark precedes it."""
    marked = False
    for first, lines in read_blocks(path):
        start = 0
        for i, line in enumerate(lines):
            if line.startswith(DOCUMENT_MARK):
                if i > start:
                    yield first + start, lines[start:i], marked
                marked = True
                start = i + 1
        if start < len(lines):
            yield first + start, lines[start:], marked
            marked = False


def _make_splitter(line: str, separator: str | None) -> Callable[[str], list[str]]:
    if separator is None:
        separator = "\t" if "\t" in line else None
    return NOT_BLANK.findall if separator is None else partial(_split_at, separator)


def _split_at(separator: str, line: str) -> list[str]:
    return line.rstrip(" ").split(separator)


def _pick_layout(path: Path, line: int, width: int, format: str) -> Sequence[str]:
    for layout in LAYOUTS[format]:
        if len(layout) == width:
            return layout
    known = " or ".join("(" + ", ".join(layout) + ")" for layout in LAYOUTS[format])
    raise CRFError(CorpusErrors.CRF506.format(path=path, line=line, width=width, format=format, known=known))


def _parse_rows(
    path: Path,
    first: int,
    rows: list[list[str]],
    names: Sequence[str],
    starts_document: bool,
    checker: ValueChecker,
) -> Sentence:
    for line, row in enumerate(rows, first):
        if len(row) != len(names):
            expected = f"{len(names)} ({', '.join(names)})"
            raise CRFError(CorpusErrors.CRF507.format(path=path, line=line, found=len(row), expected=expected))
    sentence = Sentence([], starts_document=starts_document)
    for name, values in zip(names, zip(*rows)):
        if name == WORD:
            sentence.words = list(values)
        elif name != SKIPPED:
            known = ["" if value == MISSING_VALUE else value for value in values]
            checker.check(name, known, range(first, first + len(rows)))
            sentence.columns[name] = known
    if "" in sentence.words:
        raise CRFError(CorpusErrors.CRF511.format(path=path, line=first + sentence.words.index("")))
    return sentence
