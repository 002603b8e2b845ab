"""Headings that the mark-up of a document names: trusted, preferred at a price, or ignored."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise, takewhile
from operator import not_

import numpy as np
from spacy.tokens import Doc

from ..core.arrays import Bools, Doubles, Indices, Ints
from ..core.grammar.numbering import ALONE, Reading, is_first, readings, step
from ..corpora.docs import copy_tokens
from .features.rules import NUMBER, TITLE
from .layout import attach_layout, runs_of
from .segment import HEADINGS, LARGE, Kind, LayoutUnit, join_units
from .tree import Element, SectionNode, SectionTree

PRICE = 8.0  # what the log-odds of a heading gain where the mark-up names one, and lose if two are taken for one
UNNAMED_TITLE, UNNAMED_NUMBER = 6.0, 4.0  # and lose elsewhere, in a document that has more of them than a title
MOST_SKIPPED = 9  # numbers between two of a sequence, where some are no headings
NESTED = 2  # numbers below others by which those of one level tell how they nest


@dataclass(frozen=True)
class MarkedHeadings:
    """The headings that the mark-up of a document names, in order, as start, end and level."""

    places: Sequence[tuple[int, int, int]]

    @classmethod
    def of(cls, doc: Doc) -> "MarkedHeadings":
        """The marked headings of a Doc; of overlapping ones the first."""
        found, text = list[tuple[int, int, int]](), doc.text  # which is put together anew whenever it is asked for
        runs = [(start, end, HEADINGS[style]) for start, end, style in runs_of(doc) if style in HEADINGS]
        for start, end, level in sorted(runs, key=lambda run: (run[0], -run[1])):
            if text[start:end].strip() and (not found or start >= found[-1][1]):
                found.append((start, end, level))
        return cls(found)

    def of_units(self, units: Sequence[LayoutUnit]) -> list[list[int]]:
        """The units of each heading, without blank lines; [] for one that has none of its own."""
        found: list[list[int]] = [[] for _ in self.places]
        heading = 0
        for number, unit in enumerate(units):
            while heading < len(self.places) and self.places[heading][1] <= unit.start:
                heading += 1
            if heading < len(self.places) and self.places[heading][0] < unit.end and unit.kind is not Kind.NEWLINE:
                found[heading].append(number)
        return found

    def prefer(self, text: str, units: Sequence[LayoutUnit], probabilities: Doubles, roles: Indices) -> Doubles:
        """Probabilities of labels ((N, L)) with the mark-up as evidence. roles ((L,)): of the labels."""
        if not self.places:
            return probabilities
        marked: Bools = np.zeros(len(units), dtype=np.bool_)
        opening, probabilities = np.isin(roles, (NUMBER, TITLE)), probabilities.copy()
        for heading in self.of_units(units):
            marked[heading] = True
            for unit, behind in pairwise(heading):
                if units[behind].kind is Kind.TEXT and not probabilities[unit, opening].any():
                    probabilities[unit] = probabilities[behind]  # such as a quotation mark that begins a title
        gains = np.zeros(probabilities.shape)
        gains[np.ix_(marked, opening)] = PRICE
        if len(self.places) > 1:
            gains[np.ix_(~marked, roles == TITLE)] = -UNNAMED_TITLE
            gains[np.ix_(~marked, roles == NUMBER)] = -UNNAMED_NUMBER
        weighed = probabilities * np.exp(gains)
        weighed /= weighed.sum(axis=1, keepdims=True)
        if len(self.places) > 1:
            numbers = [unit for unit in np.flatnonzero(~marked).tolist() if units[unit].kind is Kind.NUMBER]
            for run in self._runs(text, units, numbers):
                _agree(weighed, np.array(run, dtype=np.intp), roles == NUMBER)
        return weighed

    def _runs(self, text: str, units: Sequence[LayoutUnit], numbers: Iterable[int]) -> list[list[int]]:
        """Numbers of units that count on, in one form and below the same heading, as those of a list do, which have
        neither a word nor parts: "2.", not "Article 2" or "1.2"."""
        starts, found = [start for start, _, _ in self.places], list[list[int]]()
        last: dict[tuple[int, str, str], tuple[Reading, list[int]]] = {}
        for unit in numbers:
            for reading in readings(text[units[unit].start : units[unit].end])[:1]:
                if reading.word or len(reading.values) > 1:
                    continue
                form = bisect_right(starts, units[unit].start), reading.format, reading.family
                before, run = last.get(form, (None, []))
                if before is None or step(before, reading) != 1:
                    found.append(run := [])
                run.append(unit)
                last[form] = reading, run
        return found

    def costs(self, units: Sequence[LayoutUnit]) -> Doubles:
        """((N,)): what it costs a heading to go on into a unit with which the mark-up has another one begin.

        Nothing where a number and a title have the same level, as in `<h2>Chapter 1</h2><h2>Boats</h2>`.
        """
        found, before = np.zeros(len(units)), 0  # the level of a number right before, 0 for none
        for own, (_, _, level) in zip(self.of_units(units), self.places):
            if own:
                found[own[0]] = PRICE * (level != before)
                before = level if [units[unit].kind for unit in own] == [Kind.NUMBER] else 0
        return found

    def trust(self, units: Sequence[LayoutUnit], probabilities: Doubles, roles: Indices) -> tuple[Ints, Doubles]:
        """((N,), (N, L)): labels that go with the mark-up, and their probabilities, which are 1 in headings."""
        opening = np.isin(roles, (NUMBER, TITLE))
        tags = np.where(opening, -1.0, probabilities).argmax(axis=1).astype(np.int32)
        found = probabilities.copy()
        for heading in self.of_units(units):
            for place, unit in enumerate(heading):
                is_number = place == 0 and units[unit].kind is Kind.NUMBER
                tags[unit] = int(np.flatnonzero(roles == (NUMBER if is_number else TITLE))[0])
                found[unit] = np.arange(len(roles)) == tags[unit]
        return tags, found

    def tree(self, text: str, units: Sequence[LayoutUnit], elements: list[Element]) -> SectionTree:
        """The tree of the headings by their levels. elements (list[Element]): of all units."""
        headings = [(own, level) for own, (_, _, level) in zip(self.of_units(units), self.places) if own]
        sections = nest([(units[own[0]].start, level) for own, level in headings], text)
        tree = SectionTree(sections, elements)
        for node, (own, _) in zip(tree.walk(), headings):
            node.heading = own
        name_sections(sections, text, units)
        return tree


def _agree(probabilities: Doubles, run: Indices, is_number: Bools) -> None:
    """Lower the probability of headings to the median of numbers that count on: of a list, no item is a heading."""
    own = probabilities[run][:, is_number].sum(axis=1)
    agreed = np.where(own < 1, np.minimum(own, np.median(own)), own)
    share, rest = (
        agreed / np.maximum(own, np.finfo(np.float64).tiny),
        (1 - agreed) / np.maximum(1 - own, np.finfo(np.float64).tiny),
    )
    probabilities[run] *= np.where(is_number, share[:, None], rest[:, None])


def name_sections(sections: list[SectionNode], text: str, units: Sequence[LayoutUnit]) -> None:
    """Set numbers and titles of sections from the units of their headings."""
    for node in SectionTree(sections).walk():
        own = [units[unit] for unit in node.heading]
        if own and own[0].kind is Kind.NUMBER:
            number = own.pop(0)
            node.number = text[number.start : number.end]
        node.title = join_units(text, own)


def nest(headings: Iterable[tuple[int, int]], text: str) -> list[SectionNode]:
    """The sections that headings open in a text, by their places and levels.

    A level that is left out is none of the tree: what is below a heading of level 1 is of the second level.
    """
    outermost: list[SectionNode] = []
    opened: list[tuple[SectionNode, int]] = []
    for place, level in headings:
        while opened and opened[-1][1] >= level:
            opened.pop()[0].end_char = place
        node = SectionNode(place, len(text), len(opened) + 1)
        (opened[-1][0].children if opened else outermost).append(node)
        opened.append((node, level))
    for node in SectionTree(outermost).walk():
        node.strip(text)
    return outermost


def without_marks(docs: Iterable[Doc]) -> list[Doc]:
    """Copies of Docs whose formatting names no heading."""
    found = []
    for doc in docs:
        copy = copy_tokens(doc, [])
        attach_layout(copy, [run for run in runs_of(doc) if run[2] not in HEADINGS])
        found.append(copy)
    return found


def unmarked(units: Iterable[LayoutUnit]) -> list[LayoutUnit]:
    """The same units without styles that name headings."""
    return [replace(unit, styles=unit.styles - HEADINGS.keys()) for unit in units]


def telling_styles(units: Sequence[LayoutUnit], numbers: Sequence[tuple[Reading, ...]]) -> Sequence[frozenset[str]]:
    """The styles of units, without the level of the mark-up where all headings have one, but their numbers nest.

    So it is where a program tells headings, not their levels, as Docling does of a PDF. Headings that are numbered as
    the first one is, or not, keep the level; the others are large type. The title of the document may have another.
    numbers (sequence of tuple): the readings of the units.
    """
    styles = [unit.styles for unit in units]
    marked = [number for number, own in enumerate(styles) if not own.isdisjoint(HEADINGS)]
    level = {number: min(HEADINGS[style] for style in styles[number] if style in HEADINGS) for number in marked}
    outermost = min(level.values(), default=0)
    title = list(takewhile(lambda number: level[number] == outermost and not numbers[number], marked))
    others = marked[len(title) :] if len(set(level.values())) > 1 else marked
    numbered = [number for number in others if numbers[number]]
    if len({level[number] for number in others}) != 1 or not _nest([numbers[number] for number in numbered]):
        return styles
    outer = _outer([numbers[number] for number in numbered])
    for number in compress(numbered, map(not_, outer)):
        for unit in (number, number + 1):  # with its title
            if unit in level and (unit == number or not numbers[unit]):
                styles[unit] = styles[unit] - HEADINGS.keys() | {LARGE[0]}
    return styles


def _outer(numbers: Sequence[tuple[Reading, ...]]) -> list[bool]:
    """Whether each number goes on with the first one, or is that of an annex."""
    last = next(filter(is_first, numbers[0]), numbers[0][0])
    found = [True]
    for own in numbers[1:]:
        following = [each for each in own if 0 < (step(last, each) or 0) <= MOST_SKIPPED]
        last = following[0] if following else last
        found.append(bool(following) or own[0].keyword in ALONE)
    return found


def _nest(numbers: Sequence[tuple[Reading, ...]]) -> bool:
    """Whether numbers stand below others before them, as 1.1 does below 1, or begin again, those of the first one's
    sequence apart: what is above "1. Boats" and "1. Books" has no number."""
    outermost = {(each.word, each.kinds) for own in numbers[:1] for each in own}
    seen, below, firsts = set[tuple[str, tuple[int, ...]]](), 0, Counter[tuple[str, str]]()
    for own in numbers:
        below += any((each.kinds[:-1], each.values[:-1]) in seen for each in own if len(each.values) > 1)
        firsts.update({(each.word, each.kinds) for each in own if is_first(each) and len(each.values) == 1})
        seen |= {(each.kinds, each.values) for each in own}
    return below >= NESTED or any(count >= NESTED for key, count in firsts.items() if key not in outermost)
