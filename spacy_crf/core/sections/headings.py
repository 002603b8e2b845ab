"""Headings that a document may have: a numbering, [blank lines], title units; or titles alone; or a numbering alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Indices
from .elements import Elements
from .levels import Opening

MAX_NEWLINES = 3  # between a numbering and its title
MAX_TITLE_UNITS = 12  # of one heading: a title may be cut by a change of type or by letter-spacing


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


def find_headings(elements: Elements, margin: float) -> Headings:
    """Headings whose labels are not much less likely than the likeliest ones. O(N L).

    margin (float): a unit may be a number or title of a heading if its log probability as such is at most so far below
        that of its likeliest label; what lies further below counts as impossible.
    """
    scores, roles = elements.label_scores, elements.roles
    best = scores.max(axis=1, initial=-np.inf)
    others = np.delete(np.arange(scores.shape[1]), [roles.number, roles.title])
    plain = scores[:, others] if len(others) else np.full((len(scores), 1), -np.inf)
    highest = plain.max(axis=1, initial=-np.inf)
    labels = others[plain.argmax(axis=1)] if len(others) else np.zeros(len(scores), dtype=np.intp)
    relative, text = scores - best[:, None], highest - best
    finder = _Finder(elements, relative[:, roles.number], relative[:, roles.title], text, margin)
    at = {unit: found for unit in finder.candidates() if (found := list(finder.headings(unit)))}
    return Headings(at, float(best.sum()), text, labels)


class _Finder:
    def __init__(self, elements: Elements, number: Doubles, title: Doubles, text: Doubles, margin: float) -> None:
        self.elements = elements
        self.number, self.title, self.text = number.tolist(), title.tolist(), text.tolist()
        self.is_number, self.is_title = (
            (np.isfinite(scores) & (scores >= -margin)).tolist() for scores in (number, title)
        )
        self.newlines = elements.newlines.tolist()
        self.typography = elements.typography.tolist()

    def candidates(self) -> list[int]:
        return [unit for unit, either in enumerate(zip(self.is_number, self.is_title)) if any(either)]

    def headings(self, unit: int) -> Iterator[Heading]:
        """Headings that begin with a unit."""
        if self.is_title[unit]:
            yield from self._titled(unit, unit, False, 0.0)
        if self.is_number[unit]:
            for reading in self.elements.readings[unit] or (None,):
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
        typography, top = self.typography[first], bool(self.elements.top_titles[first])
        attached = not number and start > 0 and bool(self.elements.readings[start - 1])
        mixed = False
        for place in range(first, min(first + MAX_TITLE_UNITS, len(self.text))):
            if not self.is_title[place]:
                return
            score += self.title[place]
            mixed = mixed or self.typography[place] != typography
            for reading in (self.elements.readings[start] or (None,)) if number else (None,):
                opening = Opening(reading, typography, titled=True, top_title=top)
                newlines = first - start - 1 if number else 0
                yield Heading(start, place + 1, number, place + 1 - first, newlines, mixed, opening, score, attached)
