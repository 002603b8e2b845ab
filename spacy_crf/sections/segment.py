"""Units of a text: stretches that get one label each, from its lines, its formatting, and the form of their starts.

Numberings, list marks and quotation marks are told by their form alone: whether "2010" or "A." numbers anything is for
the labels to say.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import compress
from typing import TypeAlias

import numpy as np

from ..core.arrays import Indices
from ..core.sections.headings import MOST_LEVELS
from .series import DOUBTFUL, Letter, find_lone, find_series
from .starts import (
    LONE_CAPITAL,
    find_letter,
    find_mark,
    find_numbering,
    find_quote,
    skip_dash,
    skip_invisible,
    skip_space,
)

Run: TypeAlias = tuple[int, int, str]
"""Start and end in the text, and a style, or the name of a `Kind` to say what a stretch of text is (see `segment`)."""

PARAGRAPH = "paragraph"  # a run of this style is one element although it has line ends
HEADINGS = {f"heading{level}": level for level in range(1, MOST_LEVELS + 1)}
LARGE = tuple(f"large{rank}" for rank in range(1, 7))  # sizes above that of running text, the largest first
FORMATTING = ("bold", "italic", "underline")
STYLES = (*FORMATTING, "title", *LARGE, *HEADINGS)
LINE = re.compile(r"[^\n]*\n?")
INDENTED = re.compile(r"^ {4,}+(\S(?:[^\n]{0,78}?\S)?)[ \t\r]*+$(?=\n[ \t\r]*+$|\Z)", re.MULTILINE)  # and a blank line
BESIDE, LEAST_CENTRED = range(-3, 4), 3  # half columns from the middle; indentations of lines that are set there
TAB = 8
MOST_NUMBERS = 3  # numberings at the start of one element, such as "2. a)"


class Kind(StrEnum):
    """What can be said of a unit from text and mark-up alone.

    NUMBER: it could be a numbering. TEXT: the rest of an element, or all of it. NEWLINE: a blank line. QUOTE: an
    opening quotation mark. MARK: a bullet or dash of a list. OTHER: a table, footnote, picture or link, which is not
    taken apart.
    """

    NUMBER = "number"
    TEXT = "text"
    NEWLINE = "newline"
    QUOTE = "quote"
    MARK = "mark"
    OTHER = "other"


KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class LayoutUnit:
    """A layout element, or a part of one, without white space at its ends; a blank line is its newline character."""

    start: int
    end: int
    kind: Kind
    styles: frozenset[str] = frozenset()  # those of `STYLES` that all of it has
    indent: int = (
        0  # columns of white space before its line, unless it is centred; a tab goes to the next multiple of 8
    )


def segment(text: str, runs: Sequence[Run] = ()) -> list[LayoutUnit]:
    """Take a text apart into units. Time and memory are linear in the text, but for the sorting of the runs.

    Elements are lines. A run can say otherwise: one with the name of a `Kind` is one unit of that kind (where such runs
    overlap, the first has the characters), one of the style "paragraph" is one element over several lines. An opening
    quotation mark, a list mark and up to three numberings are split off the start of an element; the rest is one unit.
    A letter or roman numeral without any sign is split off only where it comes in a series (see `find_series`).

    text (str): a document; nothing about it is changed. runs (Sequence[tuple[int, int, str]]): start, end and style,
        in any order; the parts of runs outside of the text, and styles that are not known, have no effect.
    RETURNS (list[LayoutUnit]): in order; each character that is not white space is in exactly one.
    """
    splitter = _Splitter(text)
    for start, end, kind in _elements(text, runs):
        if kind is None:
            splitter.split(start, end)
        elif kind is Kind.NEWLINE:
            splitter.units.append(LayoutUnit(start, end, kind))
        else:
            splitter.add(start, end, kind, splitter.indent(start))
    return _style(text, splitter.finish(), runs)


def bounds_of(units: Sequence[LayoutUnit]) -> tuple[Indices, Indices]:
    """((N,), (N,)): starts and ends of units."""
    bounds = np.array([(unit.start, unit.end) for unit in units], dtype=np.intp).reshape(-1, 2)
    return bounds[:, 0], bounds[:, 1]


_Part = tuple[int, int, Kind | None]


def _elements(text: str, runs: Sequence[Run]) -> Iterator[_Part]:
    """Stretches of text that cover all of it: lines without their line ends, blank lines, paragraphs, and runs."""
    done = 0
    found = [
        (max(start, 0), min(end, len(text)), KINDS.get(style))
        for start, end, style in runs
        if style == PARAGRAPH or style in KINDS
    ]
    for start, end, kind in sorted(found, key=lambda part: (part[0], -part[1])):  # the longer one first
        start = max(start, done)
        if kind is not Kind.NEWLINE:
            start, end = _strip(text, start, end)
        if start < end and (kind is not Kind.NEWLINE or (text[start:end].isspace() and "\n" in text[start:end])):
            yield from _lines(text, done, start)
            yield start, end, kind
            done = end
    yield from _lines(text, done, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[_Part]:
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


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while end > start and text[end - 1].isspace():
        end -= 1
    return skip_space(text, start, end), end


def _find_centred(text: str) -> frozenset[int]:
    """Where lines begin that are set in the middle of a page: most of those that stand alone behind white space, of
    several lengths."""
    indented = (own for own in INDENTED.finditer(text) if _is_behind_blank(text, own.start()))
    alone = [own.span(1) for own in indented]
    indents = [start - text.rfind("\n", 0, start) - 1 for start, _ in alone]
    middles = [2 * indent + end - start for indent, (start, end) in zip(indents, alone)]
    counts = Counter(middles)
    most = max(counts, key=lambda own: sum(counts[own + other] for other in BESIDE), default=0)
    found = [k for k, own in enumerate(middles) if own - most in BESIDE]
    is_centred = 2 * len(found) > len(alone) and len({indents[k] for k in found}) >= LEAST_CENTRED
    return frozenset(alone[k][0] for k in found) if is_centred else frozenset()


def _is_behind_blank(text: str, start: int) -> bool:
    """Whether a line is the first, or a blank one stands before it."""
    return not text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip()


class _Splitter:
    """Splits elements of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units: list[LayoutUnit] = []
        self.letters: list[Letter] = []  # that may be numberings
        self.centred = _find_centred(text)

    def split(self, start: int, end: int) -> None:
        """Split off a quotation mark, a list mark and numberings, and add the rest."""
        start, end = _strip(self.text, start, end)
        indent = self.indent(start)
        self._split_numbers(self._split_signs(start, end, indent), end, indent)

    def _split_numbers(self, place: int, end: int, indent: int, first: int = 0) -> None:
        """Split off numberings, and add the rest. first (int): those that were split off before."""
        for count in range(first, MOST_NUMBERS):
            if place == end:
                return
            seen = skip_invisible(self.text, place, end)
            after = find_numbering(self.text, seen, end, first=count == 0) if seen < end else seen
            if after == seen:
                if not count and (after := find_letter(self.text, seen, end)) > seen:
                    is_title = LONE_CAPITAL.match(self.text, seen, end) is not None
                    number, after = self.text[seen:after], skip_dash(self.text, after, end)
                    self.letters.append(Letter(len(self.units), after, number, indent, is_title))
                break
            self.units.append(LayoutUnit(place, after, Kind.NUMBER, indent=indent))
            place = skip_space(self.text, after, end)
        self.add(place, end, Kind.TEXT, indent)

    def _split_signs(self, start: int, end: int, indent: int) -> int:
        """The place behind a quotation mark, a list mark and their white space."""
        for kind, find in ((Kind.QUOTE, find_quote), (Kind.MARK, find_mark)):
            seen = skip_invisible(self.text, start, end)
            if seen < end and (after := find(self.text, seen, end)) > seen:
                self.units.append(LayoutUnit(start, after, kind, indent=indent))
                start = skip_space(self.text, after, end)
        return start

    def add(self, start: int, end: int, kind: Kind, indent: int) -> None:
        """Add a unit without white space at its ends, if anything is left."""
        start, end = _strip(self.text, start, end)
        if start < end:
            self.units.append(LayoutUnit(start, end, kind, indent=indent))

    def finish(self) -> list[LayoutUnit]:
        """The units, with letters that number elements split off those that they begin."""
        units, self.units = self.units, []
        done = 0
        places = enumerate(units) if self.letters else ()
        numbers = [(k, self.text[unit.start : unit.end]) for k, unit in places if unit.kind is Kind.NUMBER]
        for letter in find_series(self.letters, numbers):
            unit = units[letter.place]
            self.units += units[done : letter.place]
            self.units.append(LayoutUnit(unit.start, letter.end, Kind.NUMBER, indent=unit.indent))
            place = skip_space(self.text, letter.end, unit.end)
            self._split_numbers(place, unit.end, unit.indent, first=1 if letter.is_title else MOST_NUMBERS)
            done = letter.place + 1
        return self._without_lone(self.units + units[done:])

    def _without_lone(self, units: list[LayoutUnit]) -> list[LayoutUnit]:
        """The units, where numberings that may be words begin a text unless others go before or behind them."""
        places = [
            k
            for k, own in enumerate(units)
            if own.kind is Kind.NUMBER and DOUBTFUL.fullmatch(self.text, own.start, own.end)
        ]
        lone = find_lone([self.text[units[k].start : units[k].end] for k in places])
        found, done = list[LayoutUnit](), 0
        for k in compress(places, lone):
            behind = units[k + 1 : k + 2]
            is_joined = any(own.kind is Kind.TEXT and "\n" not in self.text[units[k].end : own.start] for own in behind)
            end = behind[0].end if is_joined else units[k].end
            found += [*units[done:k], replace(units[k], end=end, kind=Kind.TEXT)]
            done = k + 1 + is_joined
        return found + units[done:]

    def indent(self, start: int) -> int:
        """Columns before a place if there is but white space before it in its line, otherwise those of the line; none
        before lines that are set in the middle."""
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        space = line[: len(line) - len(line.lstrip())]
        is_centred = start - len(line) + len(space) in self.centred
        return 0 if is_centred else len(space.replace("\r", " ").expandtabs(TAB))


def join_units(text: str, units: Sequence[LayoutUnit]) -> str:
    """The text of units, with one space for the white space between them."""
    ends = [units[0].start, *(unit.end for unit in units[:-1])] if units else []
    return "".join(" " * (unit.start > end) + text[unit.start : unit.end] for unit, end in zip(units, ends))


def _style(text: str, units: list[LayoutUnit], runs: Iterable[Run]) -> list[LayoutUnit]:
    """The same units with their styles. O(R log R + U log R) for R runs, U units."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for start, end, style in runs:
        if style in STYLES and max(start, 0) < min(end, len(text)):
            spans.setdefault(style, []).append((max(start, 0), min(end, len(text))))
    starts, ends = bounds_of(units)
    styles: dict[int, list[str]] = {}
    for style, places in spans.items():
        joined = np.array(_join(text, sorted(places)), dtype=np.intp)
        before = np.searchsorted(joined[:, 0], starts, side="right") - 1
        for number in np.flatnonzero((before >= 0) & (ends <= joined[before, 1])).tolist():
            if units[number].kind is not Kind.NEWLINE:
                styles.setdefault(number, []).append(style)
    for number, names in styles.items():
        units[number] = replace(units[number], styles=frozenset(names))
    return units


def _join(text: str, places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sorted stretches, those made one that overlap or have but white space between them."""
    joined = [places[0]]
    for start, end in places[1:]:
        first, last = joined[-1]
        if start <= last or text[last:start].isspace():
            joined[-1] = (first, max(last, end))
        else:
            joined.append((start, end))
    return joined
