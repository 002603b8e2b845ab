"""From the best way through the lattice to the tree of sections."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Indices
from ..grammar.numbering import Reading
from .elements import Elements
from .headings import Heading, Headings
from .lattice import PASS, Lattice


@dataclass(slots=True)
class Section:
    """A node of the tree. Sections come in document order, parents before children.

    start (int), end (int): its units, the end not included. level (int): 1 on the first level.
    parent (int): index of the section around it; -1 for none.
    heading (tuple of int): the units of its number and title, without blank lines; () for an implied section.
    reading (Reading | None): its numbering as it was understood. titled (bool): it has a title.
    virtual (bool): implied by the numbers below it, without a heading of its own.
    probability (float | None): of there being a section from this heading to this end, or of its being implied;
        None unless it was asked for.
    """

    start: int
    end: int
    level: int
    parent: int
    heading: tuple[int, ...]
    reading: Reading | None
    titled: bool
    virtual: bool = False
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One heading that opens: the state that it leads to, the variant, and how many open sections it stands in."""

    state: int
    variant: int
    depth: int


def best_moves(lattice: Lattice) -> list[Move]:
    """The headings on the best way to the end, in order."""
    state = max(lattice.layers[-1], key=lattice.score.__getitem__)
    moves = []
    while lattice.back[state] >= 0:
        if lattice.variant[state] != PASS:
            moves.append(Move(state, lattice.variant[state], lattice.depth[state]))
        state = lattice.back[state]
    return moves[::-1]


def sections_of(lattice: Lattice, moves: list[Move], n_units: int) -> list[Section]:
    """The sections that moves open."""
    found: list[Section] = []
    open_sections: list[int] = []
    openings = lattice.scorer.levels.openings
    for move in moves:
        variant = lattice.variants[move.variant]
        heading = variant.heading
        for closed in open_sections[move.depth :]:
            found[closed].end = heading.start
        del open_sections[move.depth :]
        for number in variant.openings:
            opening, level = openings[number], len(open_sections) + 1
            units = () if opening.virtual else heading_units(heading)
            around = open_sections[-1] if open_sections else -1
            section = Section(
                heading.start, n_units, level, around, units, opening.reading, opening.titled, opening.virtual
            )
            open_sections.append(len(found))
            found.append(section)
    return found


def heading_units(heading: Heading) -> tuple[int, ...]:
    """The units of a heading, without the blank lines in it."""
    titles = range(heading.end - heading.titles, heading.end)
    return (heading.start, *titles) if heading.number else tuple(titles)


def labels_of(elements: Elements, headings: Headings, sections: list[Section], numbered: set[int]) -> Indices:
    """((N,)): the label of each unit, given the sections; numbered (set of int): first units that are numbers."""
    labels: Indices = np.array(headings.labels, dtype=np.intp)
    for section in sections:
        for unit in section.heading:
            labels[unit] = elements.roles.number if unit in numbered else elements.roles.title
    return labels
