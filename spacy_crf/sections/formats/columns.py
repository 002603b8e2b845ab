"""Columns of printed pages: their lines in reading order."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from .printed import OFTEN, PrintedWord, Row, most_frequent
from .rows import read_rows

WIDE_GAP = 0.8  # of the smaller size: a narrower gap between words is no gutter between columns
TAB_GAP = 2.0  # of a size: a gap between words that a tab made
LEAST_ROWS = 4  # of each column
LEAST_SHARE, LEAST_CHARACTERS, LEAST_FILL = 0.15, 12, 0.3  # of the width; in a row on average; of the own width
MOST_COLUMNS, MOST_TRIES = 4, 50  # of a page; gutters that are looked at
FEW_CROSSING = 0.2
MANY_LINES = 20
FEW = 100  # of so many lines, one may stick out
MOST_CROSSED = 2  # rows over all columns, for each row of a column


@dataclass(frozen=True, slots=True)
class PrintedColumn:
    """Where the lines of a column of a page begin and end."""

    page: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line of a column. size (float): of most of its characters."""

    words: Row
    column: PrintedColumn

    @property
    def text(self) -> str:
        """Its words, with a space between them, or a tab for a wide gap."""
        first, *others = self.words
        gaps = ("\t" if b.left - a.right > TAB_GAP * b.size else " " for a, b in pairwise(self.words))
        return "".join([first.text, *(gap + word.text for gap, word in zip(gaps, others))])

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return self.words[-1].right

    @property
    def size(self) -> float:
        return most_frequent((word.size, len(word.text)) for word in self.words)

    @property
    def base(self) -> float:
        return max(self.words, key=lambda word: word.size).base


def read_lines(pages: Sequence[Sequence[PrintedWord]]) -> list[PrintedLine]:
    """Lines of all pages in reading order, without running heads, running feet and page numbers.

    O(n log n) for n words. pages: the words of each page, in any order.
    """
    rows = read_rows(pages)
    pieces = [list(_pieces(own, gutters)) for own, gutters in zip(rows, _gutters_of_pages(rows))]
    return [
        PrintedLine(words, PrintedColumn(page, *edges[place]))
        for page, (found, edges) in enumerate(zip(pieces, _edges(pieces)))
        for place, words in found
    ]


_Place: TypeAlias = tuple[int, int, int]  # the first and the last column that something is in, and how many gutters


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Words of a row without a wide gap between them."""

    left: float
    right: float
    characters: int


def _chunks(row: Row) -> list[_Chunk]:
    starts = [0, *(k for k, pair in enumerate(pairwise(row), 1) if _is_wide(*pair)), len(row)]
    return [
        _Chunk(
            row[start].left, max(word.right for word in row[start:end]), sum(len(word.text) for word in row[start:end])
        )
        for start, end in pairwise(starts)
    ]


def _is_wide(before: PrintedWord, word: PrintedWord) -> bool:
    """Whether a gap may be a gutter; one beside a heading in large type, which text stands next to, is no wider."""
    return word.left - before.right >= WIDE_GAP * min(before.size, word.size)


def _gutters_of_pages(pages: list[list[Row]]) -> list[list[float]]:
    """Gutters of each page; those of many others where it has too few lines to tell, if they part these."""
    chunks = [[chunk for row in rows for chunk in _chunks(row)] for rows in pages]
    found = [_gutters(own) for own in chunks]
    places = [round(place) for gutters in found for place in gutters]
    usual = next((gutters for gutters in found if gutters), [])
    if not usual or places.count(round(usual[0])) < OFTEN * len(pages):
        return found
    return [gutters or (usual if _is_parted(own, usual) else []) for gutters, own in zip(found, chunks)]


def _is_parted(chunks: list[_Chunk], gutters: list[float]) -> bool:
    """Whether hardly any text is across some gutters, and some behind the first one."""
    crossing = sum(any(chunk.left < place < chunk.right for place in gutters) for chunk in chunks)
    return crossing <= FEW_CROSSING * len(chunks) and any(chunk.left > gutters[0] for chunk in chunks)


def _pieces(rows: list[Row], gutters: list[float]) -> Iterator[tuple[_Place, Row]]:
    """Parts of rows in reading order, and which of how many columns each is in: the first, the last, how many.

    What is over several columns stands behind all that is above it in any of them.
    """
    waiting: list[list[Row]] = [[] for _ in range(len(gutters) + 1)]
    for row in rows:
        for piece in _split(row, gutters):
            first, last = (bisect_left(gutters, place) for place in (piece[0].left, piece[-1].right))
            if first == last:
                waiting[first].append(piece)
                continue
            yield from _flush(waiting)
            yield (first, last, len(gutters)), piece
    yield from _flush(waiting)


def _flush(waiting: list[list[Row]]) -> Iterator[tuple[_Place, Row]]:
    for column, rows in enumerate(waiting):
        yield from (((column, column, len(waiting) - 1), row) for row in rows)
        rows.clear()


def _split(row: Row, gutters: list[float]) -> Iterator[Row]:
    """The parts of a row between the gutters in which it has a wide gap."""
    start = 0
    for place, (before, word) in enumerate(pairwise(row), 1):
        if _is_wide(before, word) and any(before.right <= gutter <= word.left for gutter in gutters):
            yield row[start:place]
            start = place
    yield row[start:]


def _gutters(chunks: list[_Chunk]) -> list[float]:
    """Places of the gutters between columns of text, from left to right."""
    found: list[float] = []
    waiting = [chunks]
    while waiting and len(found) < MOST_COLUMNS - 1:
        part = waiting.pop()
        if (place := _best_gutter(part)) is not None:
            found.append(place)
            waiting.append([chunk for chunk in part if chunk.right <= place])
            waiting.append([chunk for chunk in part if chunk.left >= place])
    return sorted(found)


def _best_gutter(chunks: list[_Chunk]) -> float | None:
    """The place that parts most chunks into two columns that are filled with text, as far from both as can be."""
    if len(chunks) < 2 * LEAST_ROWS:
        return None
    by_left = sorted(chunks, key=lambda chunk: chunk.left)
    by_right = sorted(chunks, key=lambda chunk: chunk.right)
    lefts, rights = np.array([c.left for c in by_left]), np.array([c.right for c in by_right])
    places = np.unique(lefts) - 1e-3
    n_before = np.searchsorted(rights, places, side="right")
    n_behind = len(chunks) - np.searchsorted(lefts, places)
    crossing = len(chunks) - n_before - n_behind
    fewer = np.minimum(n_before, n_behind)
    total = rights[-1] - lefts[0]
    for number in np.lexsort((crossing, crossing - fewer))[:MOST_TRIES].tolist():
        if fewer[number] < LEAST_ROWS or crossing[number] > MOST_CROSSED * fewer[number]:
            continue
        before, behind = by_right[: n_before[number]], by_left[len(chunks) - n_behind[number] :]
        if _is_column(before, total) and _is_column(behind, total):
            return float(max(chunk.right for chunk in before) + min(chunk.left for chunk in behind)) / 2
    return None


def _is_column(chunks: list[_Chunk], total: float) -> bool:
    width = max(chunk.right for chunk in chunks) - min(chunk.left for chunk in chunks)
    mean = sum(chunk.right - chunk.left for chunk in chunks) / len(chunks)
    characters = sum(chunk.characters for chunk in chunks) / len(chunks)
    return width >= LEAST_SHARE * total and mean >= LEAST_FILL * width and characters >= LEAST_CHARACTERS


def _edges(pages: list[list[tuple[_Place, Row]]]) -> list[dict[_Place, tuple[float, float]]]:
    """Left and right edge of each column, for each page: of all pages together, as one of them may have short lines.

    Margins of left and right pages may differ, where both have many lines.
    """
    both = [_edges_of(pages[parity::2]) for parity in (0, 1)]
    is_known = min(sum(map(len, pages[parity::2])) for parity in (0, 1)) >= MANY_LINES
    if not is_known:
        both = [_edges_of(pages)] * 2
    return [both[page % 2] for page in range(len(pages))]


def _edges_of(pages: Iterable[list[tuple[_Place, Row]]]) -> dict[_Place, tuple[float, float]]:
    """Edges of columns, which have one width. What few lines have outside of them does not count."""
    lefts: dict[tuple[int, int], list[float]] = defaultdict(list)  # by column, and number of gutters
    rights: dict[tuple[int, int], list[float]] = defaultdict(list)
    places = set()
    for place, words in (piece for page in pages for piece in page):
        first, last, count = place
        places.add(place)
        lefts[first, count].append(words[0].left)
        rights[last, count].append(words[-1].right)
    left = {column: sorted(own)[len(own) // FEW] for column, own in lefts.items()}
    right = {column: sorted(own)[-1 - len(own) // FEW] for column, own in rights.items()}
    widths: dict[int, float] = {}
    for column in left.keys() & right.keys():
        widths[column[1]] = max(widths.get(column[1], 0.0), right[column] - left[column])
    right |= {column: max(right.get(column, 0.0), left[column] + widths.get(column[1], 0.0)) for column in left}
    return {place: (left[place[0], place[2]], right[place[1], place[2]]) for place in places}
