"""Rows of printed pages: words at places, from the top down and from left to right."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter

from .line_numbers import without_line_numbers
from .printed import GAP, RAISED, SAME_PLACE, SMALL, TINY, PrintedWord, Row, usual_size
from .running_heads import without_running_heads

SAME_BASE = 0.3  # of a size: words whose baselines differ by less stand in one row
HIGH = 1.7  # times the usual size: initials of two lines
INITIAL = re.compile(r"\W?[^\W\d_]")
WORDS = frozenset("AEIOYÀÈÉÓ")  # letters that are words in some languages


def read_rows(pages: Iterable[Iterable[PrintedWord]]) -> list[list[Row]]:
    """Rows of all pages from the top down, without numbers of lines, running heads, running feet and page numbers.

    O(n log n).
    """
    rows = without_line_numbers([_rows(words) for words in pages])
    usual = usual_size(rows)
    for own in rows:
        _join_initials(own, usual)
    return without_running_heads([[row for row in own if row] for own in rows])


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
