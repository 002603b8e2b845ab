"""Gold trees as ways through the lattice."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import CoreErrors, CRFError
from .build import Allowed
from .headings import Headings
from .lattice import Lattice
from .levels import ROOT
from .scoring import Variant


@dataclass(frozen=True, slots=True)
class GoldSection:
    """A section of a gold tree. Sections come in document order, parents before children.

    level (int): 1 for the outermost. heading (tuple of int): its units, number and titles; () for an implied section,
        which must hold a section with a heading as its first one.
    loose (bool): level is the least that it may have: it stands somewhere below the sections around, which trees that
        leave out lists do not say.
    """

    level: int
    heading: tuple[int, ...]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class GoldHeading:
    """A heading that opens: its units without those after it, open sections around it, and sections that it implies.

    loose (bool): there may be more sections around.
    """

    start: int
    end: int
    around: int
    implied: int
    loose: bool = False


def gold_headings(sections: Sequence[GoldSection], name: str = "") -> list[GoldHeading]:
    """The headings of a gold tree. name (str): of the document, for messages.

    RAISES (ValueError): for levels that leave one out, or an implied section without a section in it.
    """
    found: list[GoldHeading] = []
    implied = depth = 0
    for section in sections:
        if not 1 <= section.level <= depth + 1 or (implied and section.level != depth + 1):
            raise CRFError(
                CoreErrors.CRF964.format(name=name, problem=f"a section has level {section.level} in {depth}")
            )
        if section.loose and section.heading:
            found.append(GoldHeading(section.heading[0], section.heading[-1] + 1, section.level - 1, 0, loose=True))
            continue
        depth = section.level
        if not section.heading:
            implied += 1
            continue
        found.append(GoldHeading(section.heading[0], section.heading[-1] + 1, depth - 1 - implied, implied))
        implied = 0
    if implied:
        raise CRFError(CoreErrors.CRF964.format(name=name, problem="an implied section has no section in it"))
    return found


def only_gold(gold: Sequence[GoldHeading]) -> Allowed:
    """Which variants may open: those of the gold tree. Readings are not given: all of them may be right."""
    known = {(heading.start, heading.end): heading for heading in gold}

    def allowed(variant: Variant, around: int) -> bool:
        heading = known.get((variant.heading.start, variant.heading.end))
        if heading is None or heading.implied != len(variant.openings) - 1:
            return False
        return around >= heading.around if heading.loose else around == heading.around

    return allowed


def check_possible(gold: Sequence[GoldHeading], headings: Headings, name: str) -> None:
    """RAISES (ValueError): when a gold heading is none of those that the labels allow."""
    for heading in gold:
        if not any(possible.end == heading.end for possible in headings.at.get(heading.start, [])):
            problem = f"its labels allow no heading of the units {heading.start} to {heading.end - 1}"
            raise CRFError(CoreErrors.CRF964.format(name=name, problem=problem))


def stacks_of(lattice: Lattice) -> list[set[tuple[int, ...]]]:
    """The stacks of each layer of a lattice, as levels from the innermost on."""
    return [{_levels(lattice, stack) for stack in layer} for layer in lattice.layer_stacks]


def _levels(lattice: Lattice, stack: int) -> tuple[int, ...]:
    found = []
    while stack != ROOT:
        found.append(lattice.stacks.tops[stack])
        stack = lattice.stacks.under[stack]
    return tuple(found)
