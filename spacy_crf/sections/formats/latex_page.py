"""The page that LaTeX sets: its text, and the groups, environments and headings that are open."""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..layout import DocumentLayout, LayoutBuilder
from ..segment import Kind
from . import ListCounter
from .latex_numbers import PART, HeadingNumbers, PrintedNumber
from .latex_source import TABLES, Macro

ARGUMENT = -2  # the level of an argument of a command that is not known
LISTS = {name: kind for kind in ("ul", "ol") for name in TABLES["lists"][kind]}
NUMERALS = "1aiA"  # of lists in lists


@dataclass(slots=True)
class _OpenGroup:
    """A group, an environment or the text of a heading that is open.

    name (str): "" where a brace ends it. level (int): of a heading, below 0 of others. ends_with_paragraph (bool):
    whatever its braces are. styles (list): styles that begin in it, and where.
    """

    name: str
    start: int
    ink: int
    level: int = -1
    is_unit: bool = False
    ends_with_paragraph: bool = False
    styles: list[tuple[int, str]] = field(default_factory=list)


class LatexPage(LayoutBuilder):
    """The text of a document, and the groups and environments that are open."""

    def __init__(self, has_chapters: bool, macros: dict[str, Macro]) -> None:
        super().__init__()
        self.numbers = HeadingNumbers(has_chapters, macros)
        self._heading_ink = 0  # what was written when the last of them ended
        self._main_end = sys.maxsize
        self._n_headings = self._n_environments = 0  # open headings, and environments begun since the last one
        self._groups: list[_OpenGroup] = []
        self._opened: Counter[str] = Counter()  # groups by name
        self._n_units = self._n_lines = 0  # groups that are not taken apart, and that end with their paragraph
        self.lists, self._list_names = ListCounter(), list[str]()

    def build(self, name: str = "", language: str = "") -> DocumentLayout:
        """The document so far."""
        self._close(0)
        levels = self._levels()
        ranks = {level: rank for rank, level in enumerate(sorted(set(levels)), 1)}
        places = [(start, end) for start, end, _ in self.headings]
        self.headings = [(*place, ranks[level]) for place, level in zip(places, levels, strict=True)]
        return super().build(name, language or self.numbers.language)

    def _levels(self) -> list[int]:
        """The levels of headings: a chapter before the first part, or in the back matter, stands beside parts."""
        parts = [start for start, _, level in self.headings if level == PART]
        if not parts:
            return [level for *_, level in self.headings]
        return [level - (level > PART and not parts[0] <= start < self._main_end) for start, _, level in self.headings]

    def begin_matter(self, is_main: bool) -> None:
        """Begin the front, main or back matter."""
        self.numbers.is_main = is_main
        self._main_end = sys.maxsize if is_main else self.length

    def open(self, name: str, is_unit: bool = False, ends_with_paragraph: bool = False, level: int = -1) -> None:
        """Open a group, see `_OpenGroup`; by its name also a list."""
        group = _OpenGroup(name, self.length, self.ink, level, is_unit, ends_with_paragraph)
        self._groups.append(group)
        self._opened[name] += 1
        self._n_units += is_unit
        self._n_lines += ends_with_paragraph
        self._n_headings += level >= 0
        self._n_environments += bool(name) or is_unit
        if name in LISTS:
            self.lists.begin(LISTS[name], {"type": NUMERALS[len(self._list_names) % len(NUMERALS)]})
            self._list_names.append(name)

    def __contains__(self, name: str) -> bool:
        """Whether an environment is open."""
        return bool(name) and self._opened[name] > 0

    def close(self, name: str) -> None:
        """Close an environment that is open, and what is open in it."""
        left = self._opened[name] - 1
        while self._opened[name] > left:
            self._close(len(self._groups) - 1)

    def close_brace(self) -> bool:
        """Close the innermost group, if it ends with a brace. Returned is whether it was an argument."""
        if not self._groups or self._groups[-1].name:
            return False
        is_argument = self._groups[-1].level == ARGUMENT
        self._close(len(self._groups) - 1)
        return is_argument

    def _close(self, left: int) -> None:
        """Close groups until no more than these are left."""
        while len(self._groups) > left:
            group = self._groups.pop()
            self._opened[group.name] -= 1
            self._n_units -= group.is_unit
            self._n_lines -= group.ends_with_paragraph
            self._n_headings -= group.level >= 0
            if group.name in LISTS:
                self.lists.end()
                self._list_names.pop()
            for start, style in group.styles:
                self.style(start, style)
            if group.is_unit:
                self.style(group.start, Kind.OTHER.value)
            if group.level >= 0 and self.ink > group.ink:
                self.heading(group.start, group.level)
                self._heading_ink, self._n_environments = self.ink, 0
            if group.is_unit or group.level >= 0:
                self.end_paragraph()

    def end_paragraph(self) -> None:
        """End a paragraph, and what ends with it; in a table or a formula there are none."""
        while self._n_lines:
            self._close(len(self._groups) - 1)
        if not self._n_units:
            self.end_line()

    def break_line(self) -> None:
        """Begin a new line, which is none in a heading."""
        if self._n_lines:
            self.gap()
        else:
            self.end_line()

    def begin_heading(self, level: int, is_numbered: bool) -> None:
        """Begin a heading with its number; it ends whatever is not taken apart, as a brace may be missing there."""
        while self._n_units:
            self._close(len(self._groups) - 1)
        self.end_paragraph()
        number = self.numbers.next(level) if is_numbered else ""
        self.open("", level=level, ends_with_paragraph=True)
        start = self.length
        self.write(number)
        if len(number) == 1 and number.isalpha():  # of an only appendix: it looks like a word
            self.style(start, Kind.NUMBER.value)
        self.write(number and " ")
        self.numbers.last = replace(self.numbers.last, place=self.length)

    def titled(self, labels: Mapping[str, PrintedNumber]) -> dict[str, PrintedNumber]:
        """What labels stand for, with the titles."""
        titles = self.rest_of_headings([own.place for own in labels.values()])
        return {name: replace(own, title=title) for (name, own), title in zip(labels.items(), titles)}

    @property
    def is_at_heading(self) -> bool:
        """Whether it is in a heading or right behind one: what is in a figure or a formula is not about a section."""
        return self._n_headings > 0 or (self.ink == self._heading_ink and not self._n_environments)

    def begin_style(self, style: str) -> None:
        """Give what follows in the innermost group a style."""
        if self._groups:
            self._groups[-1].styles.append((self.length, style))

    @property
    def is_in_definitions(self) -> bool:
        """Whether the innermost list is one of terms."""
        return "desc" in "".join(self._list_names[-1:])
