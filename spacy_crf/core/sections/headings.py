"""The document as arrays over its units, the headings that it may have, and the sections that they open.

A heading is a numbering, [blank lines], title units; or titles alone; or a numbering alone. A level is an open section,
and holds no more than what later headings are compared with: how the section was numbered and set in type, and the
numbers that may go on in it. So two histories with equal stacks of levels have the same future, and are one state of
the parser.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Bools, Doubles, Indices, Numbered
from ..errors import CoreErrors, CRFError
from ..grammar.numbering import Reading, is_prefix
from ..grammar.numerals import ARABIC, IDEOGRAPH
from .titles import tell_kinds

MAX_NEWLINES = 3  # between a numbering and its title
MAX_TITLE_UNITS = 12  # of one heading: a title may be cut by a change of type or by letter-spacing
MARKED = 256  # typography of the lowest level that the mark-up names; as much for each level above it
MOST_LEVELS = 9  # of the mark-up; above them are titles of which it names no level
UNKNOWN = -1  # typography of a section without a heading
KEPT = 16_384  # units whose headings, and what they may open, are kept for when they are asked for again


@dataclass(frozen=True)
class HeadingLabels:
    """Which labels open sections, those of numberings and of titles; others leave the open sections as they are."""

    number: int = 0
    title: int = 1


@dataclass(frozen=True)
class ParserInput:
    """The N units of a document as the section parser reads them.

    label_scores ((N, L)): log probabilities of labels, or 0 and -inf for labels that are given.
    readings (sequence of N tuples): readings of each unit as a numbering; () for what is none.
    typography ((N,)): class of each unit's typography; a greater one is more prominent.
    top_titles ((N,)): units that are titles of the first level by their words.
    newlines ((N,)): units that are blank lines.
    labels (HeadingLabels): those that open sections.
    name (str): of the document, for messages.
    costs ((N,)): what a heading loses that goes on into a title in a unit, 0 by default.
    matter ((N,)): units that are titles of front or back matter, or numbers of a preamble; none by default.
    words (sequence of N str): of units that may be titles, without case and punctuation; "" for others, and by default.
    RAISES (ValueError): when the arrays do not fit together, or a unit has no possible label.
    """

    label_scores: Doubles
    readings: Sequence[tuple[Reading, ...]]
    typography: Indices
    top_titles: Bools
    newlines: Bools
    labels: HeadingLabels = HeadingLabels()
    name: str = "The document"
    costs: Doubles | None = None
    matter: Bools | None = None
    words: Sequence[str] | None = None

    def __post_init__(self) -> None:
        names = ("label_scores", "readings", "typography", "top_titles", "newlines", "costs", "matter", "words")
        sizes = {name: len(getattr(self, name)) for name in names if getattr(self, name) is not None}
        if len(set(sizes.values())) > 1:
            raise CRFError(CoreErrors.CRF961.format(sizes=sizes))
        labels = self.label_scores.shape[1] if self.label_scores.ndim == 2 else 0
        if max(self.labels.number, self.labels.title) >= labels or labels < 2:
            raise CRFError(CoreErrors.CRF962.format(shape=self.label_scores.shape, roles=self.labels))
        mute = ~np.isfinite(self.label_scores.max(axis=1))
        if mute.any():
            raise CRFError(CoreErrors.CRF963.format(unit=int(np.flatnonzero(mute)[0])))

    def __len__(self) -> int:
        return len(self.label_scores)


@dataclass(frozen=True, slots=True)
class Opening:
    """A heading as it shows itself, its numbering, and whether it has a title, and one of the first level.

    typography (int): class of its title, or of its number; of an implied section only the level that the mark-up names
        for the heading below it, UNKNOWN without.
    virtual (bool): implied by the numbering below it, without a heading.
    leads (bool): a title without a number, right before a numbering. is_matter (bool): a title of front or back matter,
        or a number of a preamble without one. kind (str): of a title without a number, see `titles`; "" for other ones.
    """

    reading: Reading | None
    typography: int = UNKNOWN
    titled: bool = False
    virtual: bool = False
    top_title: bool = False
    leads: bool = False
    is_matter: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A possible heading: units from start to end, the end not included, read in one way.

    number (bool): its first unit is a numbering. titles (int): how many title units it has, the last ones.
    newlines (int): blank lines between number and title. mixed (bool): its title units differ in typography.
    score (float): log probability of its labels, less that of the likeliest labels, and less what going on costs.
    attached (bool): a title alone, behind what looks like a numbering.
    """

    start: int
    end: int
    number: bool
    titles: int
    newlines: int
    mixed: bool
    opening: Opening
    score: float
    attached: bool = False

    @property
    def units(self) -> tuple[int, ...]:
        """Its units without the blank lines in it."""
        titles = range(self.end - self.titles, self.end)
        return (self.start, *titles) if self.number else tuple(titles)


@dataclass(frozen=True)
class Headings:
    """All possible headings of a document.

    units (list of int): the C units that may begin one. at (Callable): the headings that begin with a unit. They are
        found when they are asked for: in long documents they take much memory.
    base (float): log probability of the likeliest labels of all units. text ((N,)), labels ((N,)): log probability that
        a unit is no part of a heading, less that of its likeliest label, and the likeliest label that it then has.
    """

    units: list[int]
    at: Callable[[int], list[Heading]]
    base: float
    text: Doubles
    labels: Indices
    name: str = "The document"


def find_headings(document: ParserInput, margin: float, kinds: frozenset[str] = frozenset()) -> Headings:
    """Headings whose labels are less likely than the likeliest ones by no more than a margin; see `ParserSettings`.

    kinds (set of str): of titles, that are told apart.
    """
    scores, opening = document.label_scores, [document.labels.number, document.labels.title]
    best = scores.max(axis=1, initial=-np.inf)
    others = np.delete(np.arange(scores.shape[1]), opening)
    plain = scores[:, others] if len(others) else np.full((len(scores), 1), -np.inf)
    labels = others[plain.argmax(axis=1)] if len(others) else np.zeros(len(scores), dtype=np.intp)
    text = plain.max(axis=1, initial=-np.inf) - best
    number, title = (scores[:, opening] - best[:, None]).T
    finder = _HeadingFinder(document, (number, title, text), margin, kinds)
    return Headings(finder.units, lru_cache(KEPT)(finder.headings), float(best.sum()), text, labels, document.name)


def view(values: Any) -> Any:
    """An array whose items are numbers of Python, without the memory that a list takes."""
    return memoryview(values)


class _HeadingFinder:
    def __init__(
        self, document: ParserInput, scores: tuple[Doubles, Doubles, Doubles], margin: float, kinds: frozenset[str]
    ) -> None:
        number, title, text = scores
        is_number, is_title = (np.isfinite(scores) & (scores >= -margin) for scores in (number, title))
        self.units: list[int] = np.flatnonzero(is_number | is_title).tolist()
        self.readings = document.readings
        self.number, self.title, self.text = view(number), view(title), view(text)
        self.is_number, self.is_title = view(is_number), view(is_title)
        self.newlines, self.typography = view(document.newlines), view(document.typography)
        self.top_titles = view(document.top_titles)
        self.matter = view(np.zeros(len(text)) if document.matter is None else document.matter)
        words = document.words or [""] * len(text)
        self.kinds = tell_kinds([own if able else "" for own, able in zip(words, is_title.tolist())], kinds)
        self.costs = view(np.zeros(len(text)) if document.costs is None else document.costs)

    def headings(self, unit: int) -> list[Heading]:
        """Headings that begin with a unit."""
        return list(self._headings(unit))

    def _headings(self, unit: int) -> Iterator[Heading]:
        if self.is_title[unit]:
            yield from self._titled(unit, unit, False, 0.0)
        if self.is_number[unit]:
            for reading in self.readings[unit] or (None,):
                opening = Opening(reading, self.typography[unit], is_matter=bool(self.matter[unit]))
                yield Heading(unit, unit + 1, True, 0, 0, False, opening, self.number[unit])
            place, score = unit + 1, self.number[unit]
            while place < len(self.text) and self.newlines[place] and place - unit <= MAX_NEWLINES:
                score += self.text[place]
                place += 1
            if place < len(self.text) and self.is_title[place]:
                yield from self._titled(unit, place, True, score)

    def _titled(self, start: int, first: int, number: bool, score: float) -> Iterator[Heading]:
        """Headings with a title of one or more units from the first on."""
        typography, top = self.typography[first], self.top_titles[first]
        attached = not number and self._is_behind_number(start)
        newlines, mixed = first - start - 1 if number else 0, False
        for place in range(first, min(first + MAX_TITLE_UNITS, len(self.text))):
            if not self.is_title[place]:
                return
            score += self.title[place] - (self.costs[place] if place > start else 0.0)
            mixed = mixed or self.typography[place] != typography
            for reading in (self.readings[start] or (None,)) if number else (None,):
                leads = not number and self._is_before_number(place + 1)
                is_matter = not number and bool(self.matter[first])
                facts = {"top_title": top, "leads": leads, "is_matter": is_matter}
                opening = Opening(reading, typography, True, **facts, kind="" if number else self.kinds[first])
                yield Heading(start, place + 1, number, place + 1 - first, newlines, mixed, opening, score, attached)

    def _is_behind_number(self, unit: int) -> bool:
        """Whether a unit is right behind a numbering, or behind one with a word and blank lines: "Chapter I"."""
        place = unit - 1
        while place > 0 and self.newlines[place] and unit - place <= MAX_NEWLINES:
            place -= 1
        return place >= 0 and any(own.rank is not None or place == unit - 1 for own in self.readings[place])

    def _is_before_number(self, place: int) -> bool:
        """Whether what begins with a unit, blank lines aside, begins with a numbering."""
        while place < len(self.newlines) and self.newlines[place]:
            place += 1
        return place < len(self.readings) and bool(self.readings[place])


# -- open sections -----------------------------------------------------------------------------------------------------

Carried = frozenset[Reading]  # the last numbers of sequences, one of each family and word
NONE: Carried = frozenset()


@dataclass(frozen=True, slots=True)
class Level:
    """One open section on a stack.

    carried (frozenset): the last numbers of sequences that may go on in it: of paragraphs counted through a document
        whatever titles stand between, of articles counted through chapters and titles.
    """

    opening: Opening
    carried: Carried = NONE

    @property
    def reading(self) -> Reading | None:
        """Its numbering."""
        return self.opening.reading


class Levels:
    """Levels, openings, and what is carried into sections, numbered in order of first use."""

    def __init__(self) -> None:
        self.levels = Numbered[Level | None]([None])  # 0: the document itself
        self.openings = Numbered[Opening]()
        self.carried = Numbered[Carried]([NONE])
        self._entered: dict[tuple[int, int], int] = {}
        self._over: dict[tuple[int, int | None], tuple[int, int]] = {}

    def opening(self, opening: Opening) -> int:
        """The number of an opening."""
        return self.openings.number(opening)

    def carry(self, carried: Carried) -> int:
        """The number of what is carried."""
        return self.carried.number(carried)

    def level(self, opening: int, carried: int = 0) -> int:
        """The number of the level that an opening makes, by what is carried."""
        found = self._entered.get((opening, carried))
        if found is None:
            own = self.openings[opening]
            level = Level(own, entering(own, self.carried[carried]))
            found = self._entered[opening, carried] = self.levels.number(level)
        return found

    def within(self, level: int) -> int:
        """What is carried to the first section below a level."""
        found = self.levels[level]
        return 0 if found is None else self.carry(found.carried)

    def over(self, closed: int, inside: int | None) -> tuple[int, int]:
        """What is carried over a closed level, to a title and to a number. inside (int | None): over the last level
        below it, to a title; None without one."""
        found = self._over.get((closed, inside))
        if found is None:
            level = self.levels[closed]
            assert level is not None
            to_title, to_number = carried_over(level, None if inside is None else self.carried[inside])
            found = self._over[closed, inside] = self.carry(to_title), self.carry(to_number)
        return found

    def forget_carried(self) -> None:
        """Forget what is carried over levels, which is found again when it is needed."""
        self._over.clear()


def entering(opening: Opening, carried: Carried) -> Carried:
    """What of the numbers that are carried to a section may go on in it: its own sequence goes on with itself, and
    what is above it, as 2 is above 2.1, behind it."""
    own = opening.reading
    return carried if own is None else frozenset(each for each in carried if not _goes_on_outside(each, own))


def carried_over(level: Level, inside: Carried | None) -> tuple[Carried, Carried]:
    """What is carried over a closed level, to a title and to a number. inside: over the last one below it, if any.

    Those with words, and those that began or went on in the level, go on from any depth; of others the last one, one
    level out.
    """
    before = level.carried if inside is None else (each for each in level.carried if each.word)
    ran = {_sequence(one): one for one in (*before, *(inside or ()))}
    if (own := level.reading) is None:
        return frozenset(ran.values()), NONE
    latest = {**ran, _sequence(own): own}
    lasting = (one for one in latest.values() if one.word or (_is_counted(one) and one not in level.carried))
    return frozenset((*lasting, own)), frozenset(filter(_is_counted, latest.values()))


def _is_counted(number: Reading) -> bool:
    """Whether a number may go on in sections with numbers: letters, and roman numerals without a word, begin again."""
    return bool(number.word) or number.main[0] in (ARABIC, IDEOGRAPH)


def _goes_on_outside(carried: Reading, own: Reading) -> bool:
    """Whether the number behind a carried one stands beside a section with a number, or further out, not in it."""
    return _sequence(carried) == _sequence(own) or is_prefix(carried, own)


def _sequence(reading: Reading) -> tuple[str, str]:
    return reading.main[0], reading.word
