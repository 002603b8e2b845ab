"""The document as arrays over its units, and the headings that it may have.

A heading is a numbering, [blank lines], title units; or titles alone; or a numbering alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices
from ..errors import CoreErrors, CRFError
from ..grammar.numbering import Reading
from .levels import Opening

MAX_NEWLINES = 3  # between a numbering and its title
MAX_TITLE_UNITS = 12  # of one heading: a title may be cut by a change of type or by letter-spacing


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
    RAISES (ValueError): when the arrays do not fit together, or a unit has no possible label.
    """

    label_scores: Doubles
    readings: Sequence[tuple[Reading, ...]]
    typography: Indices
    top_titles: Bools
    newlines: Bools
    labels: HeadingLabels = HeadingLabels()
    name: str = "The document"

    def __post_init__(self) -> None:
        names = ("label_scores", "readings", "typography", "top_titles", "newlines")
        sizes = {name: len(getattr(self, name)) for name in names}
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
class Heading:
    """A possible heading: units from start to end, read in one way.

    start (int), end (int): its units, the end not included. number (bool): its first unit is a numbering.
    titles (int): how many title units it has, the last ones. newlines (int): blank lines between number and title.
    mixed (bool): its title units differ in typography. opening (Opening): what it shows of itself.
    score (float): log probability of its labels, less that of the likeliest labels.
    attached (bool): a title alone, right behind what looks like a numbering.
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

    at (dict): headings by their first unit. base (float): log probability of the likeliest labels of all units.
    text ((N,)): log probability that a unit is no part of a heading, less that of its likeliest label.
    labels ((N,)): the likeliest label of a unit that is no part of a heading.
    """

    at: dict[int, list[Heading]]
    base: float
    text: Doubles
    labels: Indices


def find_headings(document: ParserInput, margin: float) -> Headings:
    """Headings whose labels are not much less likely than the likeliest ones. O(N L).

    margin (float): a unit may be a number or title of a heading if its log probability as such is at most so far below
        that of its likeliest label; what lies further below counts as impossible.
    """
    scores, opening = document.label_scores, [document.labels.number, document.labels.title]
    best = scores.max(axis=1, initial=-np.inf)
    others = np.delete(np.arange(scores.shape[1]), opening)
    plain = scores[:, others] if len(others) else np.full((len(scores), 1), -np.inf)
    labels = others[plain.argmax(axis=1)] if len(others) else np.zeros(len(scores), dtype=np.intp)
    text = plain.max(axis=1, initial=-np.inf) - best
    number, title = (scores[:, opening] - best[:, None]).T
    finder = _HeadingFinder(document, number, title, text, margin)
    at = {unit: found for unit in range(len(scores)) if (found := list(finder.headings(unit)))}
    return Headings(at, float(best.sum()), text, labels)


class _HeadingFinder:
    def __init__(self, document: ParserInput, number: Doubles, title: Doubles, text: Doubles, margin: float) -> None:
        self.readings, self.top_titles = document.readings, document.top_titles
        self.number, self.title, self.text = number.tolist(), title.tolist(), text.tolist()
        self.is_number, self.is_title = (
            (np.isfinite(scores) & (scores >= -margin)).tolist() for scores in (number, title)
        )
        self.newlines = document.newlines.tolist()
        self.typography = document.typography.tolist()

    def headings(self, unit: int) -> Iterator[Heading]:
        """Headings that begin with a unit."""
        if self.is_title[unit]:
            yield from self._titled(unit, unit, False, 0.0)
        if self.is_number[unit]:
            for reading in self.readings[unit] or (None,):
                opening = Opening(reading, self.typography[unit])
                yield Heading(unit, unit + 1, True, 0, 0, False, opening, self.number[unit])
            place, score = unit + 1, self.number[unit]
            while place < len(self.text) and self.newlines[place] and place - unit <= MAX_NEWLINES:
                score += self.text[place]
                place += 1
            if place < len(self.text) and self.is_title[place]:
                yield from self._titled(unit, place, True, score)

    def _titled(self, start: int, first: int, number: bool, score: float) -> Iterator[Heading]:
        """Headings with a title of one or more units from the first on."""
        typography, top = self.typography[first], bool(self.top_titles[first])
        attached = not number and start > 0 and bool(self.readings[start - 1])
        newlines = first - start - 1 if number else 0
        mixed = False
        for place in range(first, min(first + MAX_TITLE_UNITS, len(self.text))):
            if not self.is_title[place]:
                return
            score += self.title[place]
            mixed = mixed or self.typography[place] != typography
            for reading in (self.readings[start] or (None,)) if number else (None,):
                opening = Opening(reading, typography, titled=True, top_title=top)
                yield Heading(start, place + 1, number, place + 1 - first, newlines, mixed, opening, score, attached)
