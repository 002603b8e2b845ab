"""Printed pages: words at places become rows, without what the edges of pages repeat."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import inf
from operator import attrgetter
from typing import TypeAlias

from ...core.grammar.numbering import readings

SAME_BASE = 0.3  # of a size: words whose baselines differ by less stand in one row
RAISED, SMALL = 0.5, 0.8  # of a size: the same for small signs, such as those of footnotes
EDGE_ROWS = 3  # at the top and at the foot of a page that may be repeated
TINY = 0.42  # of a size: smaller letters stand beside an initial, and are not raised
GAP = 0.17  # of a size: the space between words is wider
SAME_PLACE = 3.0  # points
OFTEN = 0.4  # the share of pages that have something at a place
APART, SMALLER, LARGER = 2.5, 0.9, 1.25  # of the usual size: a distance, and sizes
# "lecture 2", above what stands on its page
WORD_WITH_NUMBER = re.compile(
    r"(?!(?:page|seite|página|pagina|pág|strana|strona|sida|side|blatt|folie|slide) )[^\W\d_]{3,} #[.:]?"
)
ONLY_PAGE = re.compile(r"\W*(?:[^\W\d_]+\W+)?1(?:\W+(?:[^\W\d_]+\W+)?1)?\W*")  # "Page 1 of 1"
HIGH = 1.7  # times the usual size: initials of two lines
INITIAL = re.compile(r"\W?[^\W\d_]")
WORDS = frozenset("AEIOYÀÈÉÓ")  # letters that are words in some languages
MOST_DIGITS, BESIDE = 6, 0.5  # of the number of a line; of its size, between it and the text
FEW_OUTSIDE = 20  # of so many lines, one may begin in the margin
LEAST_PAIRS, MANY_PAIRS, MOST_PAIRS = 2, 10, 0.8  # of numbers of lines; where each has one; the share that counts right
WITHIN, BROKEN = 0.2, 0.4  # shares of lines of prose: that begin within a sentence; that go on as they are full
HALF = 0.5  # of the usual share: as many numbered lines have to begin within a sentence
LONG = 40  # characters of half of the lines of prose
NUMERAL = re.compile(r"\d+|\b[ivxlc]{1,7}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PrintedWord:
    """A word at its place, in points. base (float): its baseline, counted downwards. styles: such as "bold"."""

    text: str
    left: float
    right: float
    base: float
    size: float
    styles: frozenset[str] = frozenset()


Row: TypeAlias = list[PrintedWord]


def most_frequent(values: Iterable[tuple[float, int]]) -> float:
    """The value that has the highest sum of counts, of equal ones the greatest; 0 for none."""
    counts: Counter[float] = Counter()
    for value, count in values:
        counts[value] += count
    return max(counts, key=lambda value: (counts[value], value), default=0.0)


def read_rows(pages: Iterable[Iterable[PrintedWord]]) -> list[list[Row]]:
    """Rows of all pages from the top down, without numbers of lines, running heads, running feet and page numbers.

    O(n log n).
    """
    rows = _without_line_numbers([_rows(words) for words in pages])
    usual = _usual_size(rows)
    for own in rows:
        _join_initials(own, usual)
    return _without_furniture([[row for row in own if row] for own in rows])


def _usual_size(pages: Iterable[list[Row]]) -> float:
    return most_frequent((word.size, len(word.text)) for rows in pages for row in rows for word in row)


def _rows(words: Iterable[PrintedWord]) -> list[Row]:
    """Words with one baseline, from left to right; rows from the top down."""
    rows: list[Row] = []
    for word in sorted(words, key=lambda word: (word.base, word.left)):
        if rows and _is_beside(rows[-1][0], word):
            rows[-1].append(word)
        else:
            rows.append([word])
    for row in rows:
        row.sort(key=lambda word: word.left)
        _join_hyphens(row)
    return rows


def _join_hyphens(row: Row) -> None:
    """Join hyphens to the words that they stand near behind: in justified lines, there may be a gap, but no space."""
    for place in range(len(row) - 1, 0, -1):
        word, hyphen = row[place - 1 : place + 1]
        ends_line = place == len(row) - 1 or row[place + 1].left - hyphen.right > hyphen.size  # or the line of a column
        is_near = hyphen.text == "-" and hyphen.left - word.right < GAP * hyphen.size
        if is_near and ends_line and word.text[-1].isalpha():
            row[place - 1 : place + 1] = [replace(word, text=f"{word.text}-", right=hyphen.right)]


def _is_beside(one: PrintedWord, other: PrintedWord) -> bool:
    small, large = sorted((one, other), key=attrgetter("size"))
    distance = abs(one.base - other.base)
    is_raised = small.size <= SMALL * large.size and distance <= RAISED * large.size
    is_tiny = small.size <= TINY * large.size and INITIAL.fullmatch(large.text)
    return distance <= SAME_BASE * small.size or (is_raised and not is_tiny)


# -- initials ------------------------------------------------------------------------------------------------


def _join_initials(rows: list[Row], usual: float) -> None:
    """Join initials that are some lines high to their words; lines beside them begin where they do then."""
    for place, row in enumerate(rows):
        joined = set()
        for initial in [word for word in row if word.size >= HIGH * usual and INITIAL.fullmatch(word.text)]:
            beside = list(_beside_initial(initial, rows, place, usual))
            if len(beside) > 1:
                own, number = beside[-1]
                word = own[number]
                is_word = initial.text[-1] in WORDS and word.left - initial.right > GAP * usual
                is_title = word.text[0].isupper() and word.text.istitle() and len(word.text) > 1  # not "’Ulm"
                if is_title and not is_word:  # as in an index: no rest of a word
                    continue
                joined.add(id(initial))
                for other, at in beside:
                    other[at] = replace(other[at], left=initial.left)
                texts = [initial.text, word.text] if is_word else [initial.text + word.text]
                own[number : number + 1] = [replace(own[number], text=text) for text in texts]
        row[:] = [word for word in row if id(word) not in joined]


def _beside_initial(initial: PrintedWord, rows: list[Row], place: int, usual: float) -> Iterator[tuple[Row, int]]:
    """Rows that begin beside an initial, or do so in its column, and their first words there. They go up from a row."""
    for row in (rows[k] for k in range(place, -1, -1)):
        number = bisect_left(row, initial.right - SAME_PLACE, key=attrgetter("left"))
        before, word = row[number - 1] if number else None, row[number] if number < len(row) else None
        is_free = before is None or before is initial or before.right <= initial.left + SAME_PLACE
        is_near = word and word.left - initial.right < usual and initial.base - word.base <= initial.size
        if not word or not is_free or not is_near or HIGH * word.size > initial.size:
            break
        yield row, number


# -- numbers of lines ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _NumberedPage:
    """Numbers in a margin, and for each, how many of the rows of text stand down to it."""

    numbers: list[tuple[PrintedWord, int]]
    texts: list[Row]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """How far each number is from the next one, as a number and in rows."""
        for (one, row), (other, last) in pairwise(self.numbers):
            yield int(other.text) - int(one.text), last - row

    def beside(self) -> list[Row]:
        return [self.texts[max(row - 1, 0)] for _, row in self.numbers if self.texts]

    def between(self) -> Iterator[tuple[Row, Row]]:
        """Rows that stand below each other, from the first number to the last one."""
        return pairwise(self.texts[max(self.numbers[0][1] - 1, 0) : self.numbers[-1][1]] if self.numbers else [])


def _without_line_numbers(pages: list[list[Row]]) -> list[list[Row]]:
    """Pages without the numbers of their lines in the left or the right margin, beside each line or every fifth one."""
    for end in (0, -1):
        found = [_margin_numbers(rows, end) for rows in pages]
        if _count_lines(found):
            numbers = {id(word) for own in found for word, _ in own.numbers}
            pages = [[[word for word in row if id(word) not in numbers] for row in rows] for rows in pages]
            pages = [[row for row in rows if row] for rows in pages]
    return pages


def _margin_numbers(rows: list[Row], end: int) -> _NumberedPage:
    """Whole numbers of a page outside of its text. end (int): 0 for those on the left, -1 for those on the right."""
    ahead = -1 if end else 1  # from the margin to the text
    numbers, texts = [], []
    for row in rows:
        word = row[end]
        text = row[:-1] if end else row[1:]
        is_number = word.text.isdecimal() and len(word.text) < MOST_DIGITS
        is_apart = is_number and (not text or _gap(word, text[end], ahead) >= BESIDE * word.size)
        texts += [text if is_apart else row] if text or not is_apart else []
        numbers += [(word, len(texts))] if is_apart else []
    edges = sorted(ahead * (row[end].right if end else row[end].left) for row in texts)
    edge = edges[len(edges) // FEW_OUTSIDE] if edges else -inf
    return _NumberedPage([one for one in numbers if max(ahead * one[0].left, ahead * one[0].right) < edge], texts)


def _gap(word: PrintedWord, other: PrintedWord, ahead: int) -> float:
    return other.left - word.right if ahead > 0 else word.left - other.right


def _count_lines(found: list[_NumberedPage]) -> bool:
    """Whether numbers beside the lines of all pages count them: each, or every fifth or tenth, say.

    Items of a list have numbers, too. But where all lines have one, those of prose go on in the next line at the
    margin, and those of records of courts are as many on each page; where some have one, an item begins with a
    capital more often than other lines do.
    """
    pairs = [pair for page in found for pair in page.pairs()]
    if len(pairs) < LEAST_PAIRS:
        return False
    (step, _), _ = Counter(pairs).most_common(1)[0]
    beside = [row for page in found for row in page.beside()]
    if step > 1:
        values = [int(word.text) for page in found for word, _ in page.numbers]  # the number of the page, too, perhaps
        regular = sum(value % step == 0 for value in values)
        counted = sum(value == step <= lines for value, lines in pairs)
        within = HALF * _share_within([row for page in found for row in page.texts])
        is_counted = min(counted / len(pairs), regular / len(values)) >= MOST_PAIRS
        return is_counted and _share_within(beside) >= within
    between = [rows for page in found for rows in page.between()]
    margin = sorted(row[-1].right for row, _ in between)[-1 - len(between) // FEW_OUTSIDE] if between else 0.0
    broken = sum(_is_broken(row, other, margin) for row, other in between)
    lengths = sorted(sum(len(word.text) + 1 for word in row) for row in beside)
    ends = [(page.numbers[0][0].text, page.numbers[-1][0].text) for page in found if page.numbers]
    begins_anew = len(ends) > 1 and all(own == ("1", ends[0][1]) for own in ends[:-1]) and ends[-1][0] == "1"
    first = next(int(page.numbers[0][0].text) for page in found if page.numbers)  # a year, where a life is told
    is_prose = first <= MANY_PAIRS and broken >= BROKEN * len(between) and lengths[len(lengths) // 2] >= LONG
    is_prose |= begins_anew and _share_within(beside) >= WITHIN
    return is_prose and pairs.count((1, 1)) >= max(MANY_PAIRS, MOST_PAIRS * len(pairs))


def _share_within(rows: list[Row]) -> float:
    """The share of rows that begin within a sentence."""
    return sum(row[0].text[0].islower() for row in rows) / max(len(rows), 1)


def _is_broken(row: Row, other: Row, margin: float) -> bool:
    """Whether a sentence goes on in another row, as its next word finds no room in its own, which ends in no figure."""
    first, last = other[0], row[-1]
    is_full = last.right + GAP * last.size + first.right - first.left > margin
    return is_full and first.text[0].islower() and not any(map(str.isdecimal, last.text))


# -- running heads and page numbers --------------------------------------------------------------------------


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


def _without_furniture(pages: list[list[Row]]) -> list[list[Row]]:
    """Pages without the rows at their edges that come again on others, at the same place, with numbers that count."""
    if len(pages) == 1:
        return [_without_edges(pages[0])]
    edges = {(page, edge): list(_edge_rows(page, edge, rows)) for page, rows in enumerate(pages) for edge in (1, -1)}
    rows = [row for own in edges.values() for row in own]
    repeated = _repeated(rows, LARGER * _usual_size(pages))
    places = _places([row for row in rows if row in repeated], len(pages))
    counts = {
        where: sum(1 for _ in takewhile(lambda row: row in repeated or _is_at(row, places), own))
        for where, own in edges.items()
    }
    return [rows[counts[page, 1] : max(len(rows) - counts[page, -1], 0)] for page, rows in enumerate(pages)]


def _without_edges(rows: list[Row]) -> list[Row]:
    """The only page of a document without a number at its foot, and a head in small type, if they stand apart."""
    usual = _usual_size([rows])
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
