"""Open sections and the stacks of them: the states of the section parser.

A level holds no more than what later headings are compared with: how the section was numbered and set in type. So two
histories with equal stacks have the same future, and are one state.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from ..grammar.numbering import ARABIC, Reading

ROOT = 0  # the empty stack
UNKNOWN = -1  # typography of a section without a heading


@dataclass(frozen=True, slots=True)
class Opening:
    """A heading as it shows itself.

    reading (Reading | None): its numbering; None for a title without one.
    typography (int): class of its title, or of its number; UNKNOWN for an implied section.
    titled (bool): it has a title. virtual (bool): implied by the numbering below it, without a heading.
    top_title (bool): its title belongs on the first level.
    """

    reading: Reading | None
    typography: int = UNKNOWN
    titled: bool = False
    virtual: bool = False
    top_title: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """One open section on a stack.

    opening (Opening): its heading. carried (Reading | None): the last number of a sequence that may go on in it: of
        paragraphs counted through a document whatever titles stand between, of articles counted through chapters.
    """

    opening: Opening
    carried: Reading | None = None

    @property
    def reading(self) -> Reading | None:
        """Its numbering."""
        return self.opening.reading


class Levels:
    """Levels and openings, numbered in order of first use."""

    def __init__(self) -> None:
        self.levels: list[Level | None] = [None]  # 0: the document itself
        self.openings: list[Opening] = []
        self._level_ids: dict[tuple[int, Reading | None], int] = {}
        self._opening_ids: dict[Opening, int] = {}
        self._carried: dict[tuple[int, int], tuple[Reading | None, Reading | None]] = {}

    def opening(self, opening: Opening) -> int:
        """The number of an opening."""
        found = self._opening_ids.setdefault(opening, len(self.openings))
        if found == len(self.openings):
            self.openings.append(opening)
        return found

    def level(self, opening: int, carried: Reading | None) -> int:
        """The number of the level that an opening makes."""
        found = self._level_ids.setdefault((opening, carried), len(self.levels))
        if found == len(self.levels):
            self.levels.append(Level(self.openings[opening], carried))
        return found

    def carried(self, closed: int, inner: int) -> tuple[Reading | None, Reading | None]:
        """The numbers that are carried over a section that is closed: into a title, and into a number behind it.

        closed (int): its level. inner (int): the level of the last section below it; 0 for none.
        """
        found = self._carried.get((closed, inner))
        if found is None:
            level = self.levels[closed]
            assert level is not None
            found = self._carried[closed, inner] = _carried_over(level, self.levels[inner])
        return found


def _carried_over(level: Level, below: Level | None) -> tuple[Reading | None, Reading | None]:
    last = level.carried if below is None else below.reading or below.carried
    if level.reading is None:
        return last, None
    own = level.reading
    counted = last is not None and last.family == ARABIC and (own.family, own.keyword) != (ARABIC, last.keyword)
    return own, last if counted else None


class Stacks:
    """Stacks as nodes of a tree: each is a level on top of another stack. ROOT is the empty one."""

    def __init__(self) -> None:
        self.under, self.tops, self.depths = array("i", [ROOT]), array("i", [0]), array("i", [0])
        self._ids: dict[tuple[int, int], int] = {}

    def push(self, stack: int, level: int) -> int:
        """The stack with one more level."""
        found = self._ids.setdefault((stack, level), len(self.tops))
        if found == len(self.tops):
            self.under.append(stack)
            self.tops.append(level)
            self.depths.append(self.depths[stack] + 1)
        return found

    def levels(self, stack: int, top: int = 0) -> tuple[int, ...]:
        """The levels of a stack, innermost first, with one more on top unless that is 0."""
        found = [top] if top else []
        while stack != ROOT:
            found.append(self.tops[stack])
            stack = self.under[stack]
        return tuple(found)

    def keep_only(self, stacks: Iterable[int]) -> None:
        """Forget all stacks but some and what is under them; those that are pushed again get other numbers."""
        kept: dict[tuple[int, int], int] = {}
        known: set[int] = {ROOT}
        for stack in stacks:
            while stack not in known:
                known.add(stack)
                kept[self.under[stack], self.tops[stack]] = stack
                stack = self.under[stack]
        self._ids = kept
