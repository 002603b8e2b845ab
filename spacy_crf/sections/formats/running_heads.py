"""Running heads, running feet and page numbers: what the edges of printed pages repeat."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import inf

from ...core.grammar.numbering import readings
from .printed import LARGER, OFTEN, SAME_PLACE, SMALLER, Row, usual_size

EDGE_ROWS = 3  # at the top and at the foot of a page that may be repeated
APART = 2.5  # of the usual size: a distance
# "lecture 2", above what stands on its page
WORD_WITH_NUMBER = re.compile(
    r"(?!(?:page|seite|página|pagina|pág|strana|strona|sida|side|blatt|folie|slide) )[^\W\d_]{3,} #[.:]?"
)
ONLY_PAGE = re.compile(r"\W*(?:[^\W\d_]+\W+)?1(?:\W+(?:[^\W\d_]+\W+)?1)?\W*")  # "Page 1 of 1"
NUMERAL = re.compile(r"\d+|\b[ivxlc]{1,7}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _EdgeRow:
    """A row near the top (1) or the foot (-1) of a page. key (str): its text without capitals and numbers."""

    page: int
    edge: int
    base: float
    size: float
    text: str
    key: str
    numbers: tuple[int, ...]


def without_running_heads(pages: list[list[Row]]) -> list[list[Row]]:
    """Pages without the rows at their edges that come again on others, at the same place, with numbers that count."""
    if len(pages) == 1:
        return [_without_edges(pages[0])]
    edges = {(page, edge): list(_edge_rows(page, edge, rows)) for page, rows in enumerate(pages) for edge in (1, -1)}
    rows = [row for own in edges.values() for row in own]
    repeated = _repeated(rows, LARGER * usual_size(pages))
    places = _places([row for row in rows if row in repeated], len(pages))
    counts = {
        where: sum(1 for _ in takewhile(lambda row: row in repeated or _is_at(row, places), own))
        for where, own in edges.items()
    }
    return [rows[counts[page, 1] : max(len(rows) - counts[page, -1], 0)] for page, rows in enumerate(pages)]


def _without_edges(rows: list[Row]) -> list[Row]:
    """The only page of a document without a number at its foot, and a head in small type, if they stand apart."""
    usual = usual_size([rows])
    if len(rows) > 2 and rows[1][0].base - rows[0][0].base > APART * usual and rows[0][0].size <= SMALLER * usual:
        rows = rows[1:]
    if len(rows) > 1 and rows[-1][0].base - rows[-2][0].base > APART * usual:
        rows = rows[: -1 if ONLY_PAGE.fullmatch(" ".join(word.text for word in rows[-1])) else None]
    return rows


def _edge_rows(page: int, edge: int, rows: list[Row]) -> Iterator[_EdgeRow]:
    """Rows from the edge inwards; those of the upper half of the rows are none of the foot."""
    for row in rows[:EDGE_ROWS] if edge > 0 else rows[: max(len(rows) // 2, 1) - 1 : -1][:EDGE_ROWS]:
        text = " ".join(word.text for word in row).casefold()
        numbers = tuple(int(found) for found in NUMERAL.findall(text) if found.isdecimal() and len(found) < 10)
        yield _EdgeRow(page, edge, row[0].base, row[0].size, text, " ".join(NUMERAL.sub("#", text).split()), numbers)


def _repeated(rows: list[_EdgeRow], most: float) -> set[_EdgeRow]:
    """Rows whose text comes again at the same place; one of numbers and signs if its numbers count the pages.

    most (float): above this size, a word with a number, such as "Chapter 2", is a heading, even if it counts as the
        pages do.
    """
    groups: dict[tuple[int, str], list[_EdgeRow]] = defaultdict(list)
    for row in rows:
        groups[row.edge, row.key].append(row)
    found: set[_EdgeRow] = set()
    for (_, key), own in groups.items():
        own.sort(key=lambda row: row.base)
        ends = [k for k, (one, other) in enumerate(pairwise(own), 1) if other.base - one.base > SAME_PLACE]
        for start, end in pairwise([0, *ends, len(own)]):
            is_heading = bool(WORD_WITH_NUMBER.fullmatch(key) or readings(key.replace("#", "1")))
            same = _counting(own[start:end], not any(map(str.isalpha, key)), most if is_heading else inf)
            if len({row.page for row in same}) > 1:
                found.update(same)
    return found


def _counting(rows: list[_EdgeRow], is_bare: bool, most: float) -> list[_EdgeRow]:
    """The rows without numbers, or with one that is as far from the number of the page as that of another.

    is_bare (bool): they have no words. With words, the same numbers on several pages will do, and the size counts.
    """
    steps = Counter(number - row.page for row in rows for number in row.numbers)
    usual = {step for step, count in steps.items() if count > 1}
    same, texts = Counter(row.numbers for row in rows), Counter(row.text for row in rows)
    return [
        row
        for row in rows
        if (not row.numbers and (row.size <= most or texts[row.text] > 1))  # "Part I" counts too
        or ((is_bare or row.size <= most) and any(number - row.page in usual for number in row.numbers))
        or (row.numbers and not is_bare and same[row.numbers] > 1)
    ]


def _places(rows: list[_EdgeRow], n_pages: int) -> list[tuple[int, float, float]]:
    """Edge, baseline and size of what many pages have there, whatever its text is."""
    places = Counter((row.edge, round(row.base), round(row.size, 1)) for row in rows)
    return [place for place, count in places.items() if count > max(2, OFTEN * n_pages)]


def _is_at(row: _EdgeRow, places: list[tuple[int, float, float]]) -> bool:
    return any(
        row.edge == edge and abs(row.base - base) <= 1 and abs(row.size - size) < 0.1 * size
        for edge, base, size in places
    )
