"""Numbers of lines in the margins of printed pages, as plays, statutes and records of courts have them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from .printed import GAP, PrintedWord, Row

MOST_DIGITS = 5  # of the number of a line
APART = 0.5  # of its size: between a number and its line is at least as much
IN_MARGIN = 1 / 20  # the share of lines that may begin in the margin
LEAST_PAIRS = 2  # of numbers, for those of every fifth line, say
LEAST_PAIRS_OF_ALL = 10  # of numbers, where each line has one; they begin with such a number, or a lower one
COUNTED = 0.8  # the share of numbers that have to count right
BROKEN = 0.4  # the share of lines of prose whose sentence goes on in the next one, as they are full
LONG = 40  # characters: half of the lines of prose have as many
WITHIN = 0.2  # the share of numbered lines that begin within a sentence, where each page begins anew
WITHIN_OF_USUAL = 0.5  # the same, of the share of all lines, where some are numbered


@dataclass(frozen=True, slots=True)
class _NumberedPage:
    """Numbers in a margin, and for each, how many lines of text stand down to it."""

    numbers: list[tuple[PrintedWord, int]]
    lines: list[Row]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """How far each number is from the next one, as a number and in lines."""
        for (one, row), (other, last) in pairwise(self.numbers):
            yield int(other.text) - int(one.text), last - row

    def numbered(self) -> list[Row]:
        """Lines that have a number."""
        return [self.lines[max(row - 1, 0)] for _, row in self.numbers if self.lines]

    def between(self) -> Iterator[tuple[Row, Row]]:
        """Lines that stand below each other, from the first number to the last one."""
        return pairwise(self.lines[max(self.numbers[0][1] - 1, 0) : self.numbers[-1][1]] if self.numbers else [])


def without_line_numbers(pages: list[list[Row]]) -> list[list[Row]]:
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
    numbers, lines = [], []
    for row in rows:
        word = row[end]
        text = row[:-1] if end else row[1:]
        is_number = word.text.isdecimal() and len(word.text) <= MOST_DIGITS
        is_apart = is_number and (not text or _gap(word, text[end], ahead) >= APART * word.size)
        lines += [text if is_apart else row] if text or not is_apart else []
        numbers += [(word, len(lines))] if is_apart else []
    edges = sorted(ahead * (row[end].right if end else row[end].left) for row in lines)
    edge = edges[int(IN_MARGIN * len(edges))] if edges else -inf
    return _NumberedPage([one for one in numbers if max(ahead * one[0].left, ahead * one[0].right) < edge], lines)


def _gap(word: PrintedWord, other: PrintedWord, ahead: int) -> float:
    return other.left - word.right if ahead > 0 else word.left - other.right


def _count_lines(pages: list[_NumberedPage]) -> bool:
    """Whether numbers beside the lines of all pages count them: each one, or every fifth or tenth, say.

    Items of a list have numbers, too.
    """
    pairs = [pair for page in pages for pair in page.pairs()]
    if len(pairs) < LEAST_PAIRS:
        return False
    (step, _), _ = Counter(pairs).most_common(1)[0]
    if step > 1:
        return _count_every(step, pages, pairs)
    is_text = _are_lines_of_prose(pages) or _begin_anew(pages)
    return is_text and pairs.count((1, 1)) >= max(LEAST_PAIRS_OF_ALL, COUNTED * len(pairs))


def _count_every(step: int, pages: list[_NumberedPage], pairs: list[tuple[int, int]]) -> bool:
    """Whether nearly all are multiples of a step, as many lines apart; items begin with a capital more often."""
    numbers = [int(word.text) for page in pages for word, _ in page.numbers]  # the number of the page, too, perhaps
    multiples = sum(number % step == 0 for number in numbers) / len(numbers)
    counted = sum(number == step <= lines for number, lines in pairs) / len(pairs)
    usual = _share_within([row for page in pages for row in page.lines])
    return min(multiples, counted) >= COUNTED and _share_within(_numbered(pages)) >= WITHIN_OF_USUAL * usual


def _are_lines_of_prose(pages: list[_NumberedPage]) -> bool:
    """Whether numbered lines are long, from a low number on, and their sentences go on in the next line at the margin.

    The first number of a life that is told by years is none of a line.
    """
    between = [rows for page in pages for rows in page.between()]
    first = next(int(page.numbers[0][0].text) for page in pages if page.numbers)
    if not between or first > LEAST_PAIRS_OF_ALL:
        return False
    margin = sorted(row[-1].right for row, _ in between)[-1 - int(IN_MARGIN * len(between))]
    broken = sum(_is_broken(row, other, margin) for row, other in between)
    lengths = sorted(sum(len(word.text) + 1 for word in row) for row in _numbered(pages))
    return broken >= BROKEN * len(between) and lengths[len(lengths) // 2] >= LONG


def _begin_anew(pages: list[_NumberedPage]) -> bool:
    """Whether each page has as many numbered lines, as in records of courts, and some begin within a sentence."""
    ends = [(page.numbers[0][0].text, page.numbers[-1][0].text) for page in pages if page.numbers]
    is_same = all(own == ("1", ends[0][1]) for own in ends[:-1]) and ends[-1][0] == "1"
    return len(ends) > 1 and is_same and _share_within(_numbered(pages)) >= WITHIN


def _numbered(pages: list[_NumberedPage]) -> list[Row]:
    """Lines of all pages that have a number."""
    return [row for page in pages for row in page.numbered()]


def _share_within(rows: list[Row]) -> float:
    """The share of rows that begin within a sentence."""
    return sum(row[0].text[0].islower() for row in rows) / max(len(rows), 1)


def _is_broken(row: Row, other: Row, margin: float) -> bool:
    """Whether a sentence goes on in another row, as its next word finds no room in its own, which ends in no figure."""
    first, last = other[0], row[-1]
    is_full = last.right + GAP * last.size + first.right - first.left > margin
    return is_full and first.text[0].islower() and not any(map(str.isdecimal, last.text))
