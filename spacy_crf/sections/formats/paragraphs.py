"""Lines of printed pages become the elements of a document: by their distances, widths, indentation and type."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby, pairwise

from ...reading.joining import find_words, join_lines
from ..layout import LayoutBuilder
from ..segment import LARGE, Kind
from ..starts import find_mark, find_numbering
from .columns import PrintedLine
from .printed import SMALL, PrintedWord, most_frequent

WIDER = 1.25  # times the usual distance between lines: there is a blank line between
MOST_BLANKS = 2
MOST_LEADING = 3.5  # sizes between two baselines of one paragraph
LEAST_FULL, FREQUENT = 3, 0.1  # lines, and the share of all of them, by which the usual distance is told
SINGLE, MOST_SINGLE = 1.2, 1.9  # sizes between two lines if nothing is between them
INDENTED = 0.8  # of a size
SAME_SIZE = 0.05  # of a size, by which two lines of one paragraph may differ in theirs
TOLERANCE = 1.5  # points
MARGIN = 0.7  # of the width of its column: the least that a narrower text has
MANY = 0.3  # the share of elements with a blank line before them in a document that has one between two pages
LARGER = 1.1  # times the size of running text
COLUMN = 0.5  # of a size, for one column of indentation: the width of a usual letter
MOST_INDENTED = 40
CENTRED = 0.02  # of the width of its column: as far may the middle of a line be from its middle
ENDS = (".", "!", "?", ":", ";", "。", "！", "？")  # of sentences
NOTE_SIZE = 0.95  # of that of running text, at most
LONGEST_TITLE = 3  # words of a title right above small type
APART = 2.5  # sizes between the baselines of the last line of text and of the first note, that is below white space
MOST_SKIPPED = 20  # numbers of notes that may be missing between two
NOTE = re.compile(r"[\[(]?(\d{1,3}|[*†‡]{1,3})[\])]?\.?(?=\s|[^\W\d]|[\"“„«(])")
RAISED_SIGN = re.compile(r"(?:[^\W\d_]\W{0,3}|\A\W?)(\d{1,3}|[*†‡]{1,3})\W?\Z")  # at the end of a word: "boats,3"


@dataclass(slots=True)
class Paragraph:
    """Lines that are one element. blanks (int): blank lines before it. is_note (bool): a note at the foot of a page."""

    lines: list[PrintedLine]
    blanks: int = 0
    is_note: bool = False

    @property
    def page(self) -> int:
        return self.lines[0].column.page


@dataclass(frozen=True, slots=True)
class PrintedType:
    """The type of a document: the size of running text, and the usual distance of its lines, in sizes."""

    size: float
    leading: float

    @classmethod
    def of(cls, lines: Sequence[PrintedLine]) -> "PrintedType":
        size = most_frequent((line.size, len(line.text)) for line in lines)
        pairs = [(one, other) for one, other in pairwise(lines) if one.size == other.size]
        near: list[float] = []  # distances of lines
        full: list[float] = []  # of those that go on, as it seems
        for one, other in pairs:
            distance = _distance(one, other)
            if distance is not None and distance <= MOST_LEADING:
                near.append(round(distance, 1))
                if not _is_short(one, other):
                    full.append(near[-1])
        if len(full) >= max(LEAST_FULL, FREQUENT * len(near)):
            return cls(size, most_frequent((distance, 1) for distance in full))
        counts = Counter(near)
        least = min((distance for distance, count in counts.items() if count >= FREQUENT * len(near)), default=0)
        return cls(size, least if 0 < least <= MOST_SINGLE else SINGLE)


def find_paragraphs(lines: Sequence[PrintedLine]) -> list[Paragraph]:
    """Put lines together; notes at the foot of a page follow the paragraph that its text ends with. O(n log n)."""
    notes = _find_notes(lines)
    if not notes:
        return _find_paragraphs(lines)
    of_notes = {number for note in notes for number in note}
    found = _find_paragraphs([line for number, line in enumerate(lines) if number not in of_notes])
    last = {line.column.page: place for place, paragraph in enumerate(found) for line in paragraph.lines}
    behind = defaultdict[int, list[Paragraph]](list)
    for note in notes:
        own = Paragraph([lines[number] for number in note], is_note=True)
        behind[last[own.page]].append(own)
    return [each for place, paragraph in enumerate(found) for each in (paragraph, *behind[place])]


def _find_paragraphs(lines: Sequence[PrintedLine]) -> list[Paragraph]:
    usual = PrintedType.of(lines)
    found: list[Paragraph] = []
    gaps = Counter[bool]()
    breaks: list[Paragraph] = []  # behind the end of a column or page
    for line in lines:
        if not found:
            found.append(Paragraph([line]))
            continue
        distance = _distance(found[-1].lines[-1], line)
        gap = 0 if distance is None else round(distance / usual.leading - 1)
        is_apart = distance is not None and distance > WIDER * usual.leading
        if not is_apart and _goes_on(found[-1].lines, line, distance is None):
            found[-1].lines.append(line)
            continue
        found.append(Paragraph([line], min(max(gap, 1), MOST_BLANKS) if is_apart else 0))
        if distance is None:
            breaks.append(found[-1])
        else:
            gaps[is_apart] += 1
    for paragraph in breaks:
        paragraph.blanks = int(gaps[True] > MANY * gaps.total())
    return found


# -- notes at the foot of pages ------------------------------------------------------------------------------


def _find_notes(lines: Sequence[PrintedLine]) -> list[list[int]]:
    """Lines of each note, by their numbers: in smaller type below the text of a column, behind a sign that is there."""
    size = NOTE_SIZE * most_frequent((line.size, len(line.text)) for line in lines)
    notes: list[list[int]] = []
    last, page_before = 0, -2
    for page, own in groupby(range(len(lines)), key=lambda number: lines[number].column.page):
        numbers = list(own)
        text = [lines[number] for number in numbers if lines[number].size > size]
        signs = {sign for line in text for word in line.words for sign in _raised(word, line.size)}
        found: list[tuple[str, list[int]]] = []  # of the page, by their signs
        for foot in _feet(lines, numbers, size):
            starts = [_sign(lines[number].text, last) for number in foot]
            is_continued = not starts[0] and page_before == page - 1 and not lines[notes[-1][-1]].text.endswith(ENDS)
            is_of_text = is_continued or not signs.isdisjoint(filter(None, starts))
            if is_of_text and _are_notes([sign for sign in starts if sign], signs):
                for number, sign in zip(foot, starts):
                    if sign:
                        found.append((sign, [number]))
                    elif found or is_continued:
                        (found[-1][1] if found else notes[-1]).append(number)
        if found and all(sign.isdecimal() for sign, _ in found):
            found.sort(key=lambda note: int(note[0]))
            last = int(found[-1][0])
        notes += [note for _, note in found]
        page_before = page if found else page_before
    return notes


def _are_notes(starts: Sequence[str], signs: Set[str]) -> bool:
    """Whether signs that lines begin with are those of notes: in order, once each, and most in the text above them.

    Rows of tables and lists of references begin with figures too.
    """
    figures = [int(sign) for sign in starts if sign.isdecimal()]
    is_ordered = all(before < figure for before, figure in pairwise(figures)) and len(set(starts)) == len(starts)
    return is_ordered and len(starts) - sum(sign in signs for sign in starts) <= max(1, len(starts) / 3)


def _feet(lines: Sequence[PrintedLine], numbers: Sequence[int], size: float) -> Iterator[list[int]]:
    """The lines of small type that columns of a page end with, below its text. numbers: of the lines of the page."""
    columns = {number: lines[number].column for number in numbers}
    for column in dict.fromkeys(columns.values()):
        own = [number for number in numbers if columns[number] == column]
        start = len(own)
        while start and lines[own[start - 1]].size <= size:
            start -= 1
        above = own[start] - 1 if start < len(own) else -1
        is_text = above in columns and size < lines[above].size <= LARGER * size / NOTE_SIZE
        if is_text and not _look(lines[above])[0] and not _is_title(lines[above], lines[own[start]]):
            yield own[start:]


def _is_title(line: PrintedLine, below: PrintedLine) -> bool:
    """Whether a line is as short as a title, such as "References", and what is below it follows at once."""
    distance = _distance(line, below)
    is_short = len(line.words) <= LONGEST_TITLE and not line.text.endswith(ENDS)
    return is_short and distance is not None and distance <= APART


def _sign(text: str, last: int) -> str:
    """The sign that a note begins with, "" for none. last (int): the number of the one before it."""
    found = NOTE.match(text)
    if found is None or not found[1].isdecimal():
        return found[1] if found else ""
    return found[1] if found[1] == "1" or last < int(found[1]) <= last + MOST_SKIPPED else ""


def _raised(word: PrintedWord, size: float) -> Iterator[str]:
    """Signs of notes that a word may have behind it, or be."""
    found = RAISED_SIGN.search(word.text)
    if found and (found.start() > 0 or word.text[0].isalpha() or word.size <= SMALL * size):
        yield found[1]


def _distance(one: PrintedLine, other: PrintedLine) -> float | None:
    """Sizes between the baselines of two lines; None if the second one is not below the first in its column."""
    if one.column != other.column or other.base <= one.base:
        return None
    return (other.base - one.base) / max(one.size, other.size)


def _goes_on(lines: list[PrintedLine], line: PrintedLine, is_elsewhere: bool) -> bool:
    """Whether a paragraph goes on with a line. is_elsewhere (bool): that begins another column or page."""
    before, size = lines[-1], line.size
    if abs(before.size - size) > SAME_SIZE * size or _look(before) != _look(line) or _is_short(before, line):
        return False
    if "\t" in before.text and "\t" in line.text:  # rows of a table
        return False
    begins, ends = begins_element(line.text), before.text.endswith(ENDS)
    shift = (line.left - line.column.left) - (before.left - before.column.left)
    if is_elsewhere:
        return not begins and not ends and shift < INDENTED * size
    if begins and (ends or begins_element(lines[0].text) or shift < -INDENTED * size):
        return False
    return len(lines) == 1 or abs(shift) < INDENTED * size


def _look(line: PrintedLine) -> tuple[bool, bool]:
    """Whether a line is bold, and in capitals."""
    return all("bold" in word.styles for word in line.words), line.text.isupper()


def _is_short(line: PrintedLine, following: PrintedLine) -> bool:
    """Whether the next line's first word would have had its place on a line, and both do not end at a margin."""
    word, column = following.words[0], line.column
    space = column.right - line.right - COLUMN * line.size / 2
    is_wide = line.right - column.left >= MARGIN * (column.right - column.left)
    at_margin = is_wide and abs(line.right - following.right) <= TOLERANCE
    return space - (word.right - word.left) > TOLERANCE and not at_margin


def begins_element(text: str) -> bool:
    """Whether a line begins with a list mark, or a numbering with a sign."""
    return max(find_mark(text, 0, len(text)), find_numbering(text, 0, len(text), first=False)) > 0


def write_paragraphs(paragraphs: Sequence[Paragraph], builder: LayoutBuilder) -> list[tuple[int, int]]:
    """Write each as a line with its indentation and styles. Returned are start and end of each, without indentation."""
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    words = find_words("\n".join(line.text for line in lines))
    ranks = rank_sizes((round(line.size, 1), len(line.text)) for line in lines)
    places = []
    for paragraph in paragraphs:
        for _ in range(paragraph.blanks):
            builder.blank_line()
        builder.write(" " * _indent(paragraph))
        start = builder.length
        texts = [line.text for line in paragraph.lines]
        builder.write(texts[0] if len(texts) == 1 else join_lines(texts, words))
        places.append((start, builder.length))
        builder.runs += [
            (start + first, start + last, style) for first, last, style in _runs(paragraph, builder.length - start)
        ]
        if paragraph.is_note:
            builder.style(start, Kind.OTHER.value)
        if rank := ranks.get(round(paragraph.lines[0].size, 1)):
            builder.style(start, LARGE[rank - 1])
        builder.end_line()
    return places


def rank_sizes(sizes: Iterable[tuple[float, int]]) -> dict[float, int]:
    """Sizes that are larger than that of most characters, with their ranks, 1 for the largest.

    sizes: of pieces of text, each with the number of its characters.
    """
    sizes = list(sizes)
    usual = LARGER * most_frequent(sizes)
    larger = sorted({size for size, _ in sizes if size > usual}, reverse=True)
    return {size: min(rank, len(LARGE)) for rank, size in enumerate(larger, 1)}


def _indent(paragraph: Paragraph) -> int:
    """Columns before a paragraph; none before a line that is centred."""
    line = paragraph.lines[0]
    left, right = line.left - line.column.left, line.column.right - line.right
    if len(paragraph.lines) == 1 and abs(left - right) <= 2 * CENTRED * (line.column.right - line.column.left):
        return 0
    columns = round(left / (COLUMN * line.size)) if line.size else 0
    return min(columns, MOST_INDENTED) if columns > 1 else 0


def _runs(paragraph: Paragraph, length: int) -> Iterator[tuple[int, int, str]]:
    """Start, end and style of stretches of a paragraph: within its first line, or from there to its end."""
    first, *others = paragraph.lines
    for style in sorted({style for word in first.words for style in word.styles}):
        place = 0
        start: int | None = None
        for word in first.words:
            if style not in word.styles:
                if start is not None:
                    yield start, place - 1, style
                start = None
            elif start is None:
                start = place
            place += len(word.text) + 1
        if start is not None:
            goes_on = all(style in word.styles for line in others for word in line.words)
            yield start, length if goes_on else min(place - 1, length), style
