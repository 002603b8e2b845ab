"""From text and its formatting to units."""

import re
from collections.abc import Iterator, Sequence

from .candidates import find_letter, find_mark, find_numbering, find_quote
from .series import Letter, find_series
from .styles import style_units
from .unit import PARAGRAPH, Kind, Run, Unit

KINDS = {kind.value: kind for kind in Kind}
LINE = re.compile(r"[^\n]*\n?")
TAB = 8
MOST_NUMBERS = 3  # numberings at the start of one element, such as "2. a)"

Part = tuple[int, int, Kind | None]


def segment(text: str, runs: Sequence[Run] = ()) -> list[Unit]:
    """Take a text apart into units. Time and memory are linear in the text, but for the sorting of the runs.

    Elements are lines. A run can say otherwise: one with the name of a `Kind` is one unit of that kind (where such runs
    overlap, the first has the characters), one of the style "paragraph" is one element over several lines. An opening
    quotation mark, a list mark and up to three numberings are split off the start of an element; the rest is one unit.
    A letter or roman numeral without any sign is split off only where it comes in a series (see `series`).

    text (str): a document; nothing about it is changed. runs (Sequence[tuple[int, int, str]]): start, end and style,
        in any order; the parts of runs outside of the text, and styles that are not known, have no effect.
    RETURNS (list[Unit]): in order, without overlaps. Each character that is not white space is in exactly one unit.
    """
    found: list[Unit] = []
    letters: list[Letter] = []
    for start, end, kind in _elements(text, runs):
        if kind is None:
            _split_element(text, start, end, found, letters)
        elif kind is Kind.NEWLINE:
            found.append(Unit(start, end, kind))
        else:
            _add(text, start, end, kind, _indent(text, start), found)
    return style_units(text, _split_letters(text, found, find_series(letters)), runs)


def _elements(text: str, runs: Sequence[Run]) -> Iterator[Part]:
    """Stretches of text that cover all of it: lines without their line ends, blank lines, paragraphs, and runs."""
    done = 0
    for start, end, kind in _fixed(runs, len(text)):
        start = max(start, done)
        if kind is not Kind.NEWLINE:
            start, end = _strip(text, start, end)
        if start < end and (kind is not Kind.NEWLINE or _is_blank(text[start:end])):
            yield from _lines(text, done, start)
            yield start, end, kind
            done = end
    yield from _lines(text, done, len(text))


def _fixed(runs: Sequence[Run], length: int) -> list[Part]:
    """Runs that are elements, sorted by their starts; the longer one is first where several start."""
    found = [
        (max(start, 0), min(end, length), KINDS.get(style))
        for start, end, style in runs
        if style == PARAGRAPH or style in KINDS
    ]
    return sorted(found, key=lambda part: (part[0], -part[1]))


def _lines(text: str, start: int, end: int) -> Iterator[Part]:
    """Lines between two places. A blank line is one that begins and ends between them."""
    at_start = start == 0 or text[start - 1] == "\n"
    for line in LINE.finditer(text, start, end):
        first, last = line.span()
        if first == last:
            return
        if line[0].isspace():
            if text[last - 1] == "\n" and (first > start or at_start):
                yield last - 1, last, Kind.NEWLINE
        else:
            yield first, last, None


def _split_element(text: str, start: int, end: int, found: list[Unit], letters: list[Letter]) -> None:
    start, end = _strip(text, start, end)
    if start == end:
        return
    indent = _indent(text, start)
    place = _split_sign(text, start, end, indent, found)
    for count in range(MOST_NUMBERS):
        if place == end:
            return
        after = find_numbering(text, place, end, first=count == 0)
        if after == place:
            if not count and (after := find_letter(text, place, end)) > place:
                letters.append(Letter(len(found), after, text[place:after], indent))
            break
        found.append(Unit(place, after, Kind.NUMBER, indent=indent))
        place = _skip(text, after, end)
    _add(text, place, end, Kind.TEXT, indent, found)


def _split_letters(text: str, units: list[Unit], letters: Sequence[Letter]) -> list[Unit]:
    """Split letters that number elements off the units that they begin."""
    found: list[Unit] = []
    done = 0
    for letter in letters:
        unit = units[letter.place]
        found += units[done : letter.place]
        found.append(Unit(unit.start, letter.end, Kind.NUMBER, indent=unit.indent))
        _add(text, letter.end, unit.end, Kind.TEXT, unit.indent, found)
        done = letter.place + 1
    return found + units[done:] if done else units


def _split_sign(text: str, start: int, end: int, indent: int, found: list[Unit]) -> int:
    """Split off a quotation mark and a list mark; the place behind them and their white space."""
    for kind, find in ((Kind.QUOTE, find_quote), (Kind.MARK, find_mark)):
        if start < end and (after := find(text, start, end)) > start:
            found.append(Unit(start, after, kind, indent=indent))
            start = _skip(text, after, end)
    return start


def _add(text: str, start: int, end: int, kind: Kind, indent: int, found: list[Unit]) -> None:
    start, end = _strip(text, start, end)
    if start < end:
        found.append(Unit(start, end, kind, indent=indent))


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1].isspace():
        end -= 1
    return _skip(text, start, end), end


def _skip(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def _is_blank(text: str) -> bool:
    return text.isspace() and "\n" in text


def _indent(text: str, start: int) -> int:
    """Columns before a place if there is but white space before it in its line, otherwise those of the line."""
    place = text.rfind("\n", 0, start) + 1
    columns = 0
    while place < start and text[place].isspace():
        columns += TAB - columns % TAB if text[place] == "\t" else 1
        place += 1
    return columns
