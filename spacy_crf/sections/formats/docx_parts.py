"""Styles and lists of a DOCX, which its paragraphs refer to, and the values of its elements."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...core.grammar.numerals import CYRILLIC_LOWER, CYRILLIC_UPPER, IDEOGRAPH, numeral
from ...core.sections.headings import MOST_LEVELS
from . import BULLET

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
BODY_LEVEL = 9  # the outline level of text
NUMERALS = {
    **{"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"},
    **{"russianLower": CYRILLIC_LOWER, "russianUpper": CYRILLIC_UPPER},
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting"), IDEOGRAPH),
}
OFF = frozenset(("0", "false", "off", "none"))
MOST_LEVELS_OF_LISTS, MOST_NUMBER, MOST_SPELT = 9, 10**9, 780
XmlElement: TypeAlias = Any  # of lxml


def value_of(parent: XmlElement | None, *names: str) -> str | None:
    """Value of the element at the end of a path of names, "" if it has none; None if there is no such element."""
    for name in names:
        parent = None if parent is None else parent.find(W + name)
    return None if parent is None else parent.get(f"{W}val", "")


def first_value(places: Iterable[XmlElement | None], *names: str) -> str | None:
    """The value of the first place that has such an element, see `value_of`; None if none has."""
    values = (value_of(place, *names) for place in places)
    return next((value for value in values if value is not None), None)


def whole(text: str | None, otherwise: int = 0) -> int:
    """The whole number that a value is; another one if it is none, or a huge one."""
    try:
        found = int(float(text or ""))
    except (ValueError, OverflowError):
        return otherwise
    return found if abs(found) < MOST_NUMBER else otherwise


# -- styles --------------------------------------------------------------------------------------------------


class StyleSheet:
    """Styles of a document, each with those that it is based on."""

    def __init__(self, root: XmlElement) -> None:
        self.styles = {style.get(f"{W}styleId"): style for style in root.iterfind(f"{W}style")}
        self.defaults = root.find(f"{W}docDefaults/{W}rPrDefault")
        own = ((key, style) for key, style in self.styles.items() if style.get(f"{W}type") == "paragraph")
        self.usual = next((key for key, style in own if style.get(f"{W}default", "0").lower() not in OFF), None)

    def chain(self, style: str | None) -> list[XmlElement]:
        """A style and those that it is based on, the nearest first."""
        found = list[XmlElement]()
        while style in self.styles and self.styles[style] not in found:
            found.append(self.styles[style])
            style = value_of(found[-1], "basedOn")
        return found


def outline_level(places: list[XmlElement]) -> int | None:
    """The outline level of a paragraph or its styles, 0 for the outermost; those of text have none."""
    for place in places:
        name = (value_of(place, "name") or "").lower()
        own = value_of(place, "pPr", "outlineLvl")
        if own is not None or name.startswith("heading "):
            level = whole(own, BODY_LEVEL) if own is not None else whole(name.removeprefix("heading "), 0) - 1
            return level if 0 <= level < min(BODY_LEVEL, MOST_LEVELS) else None
    return None


def is_hidden(places: list[XmlElement]) -> bool:
    """Whether text is hidden by the first place that tells."""
    return first_value(places, "rPr", "vanish") not in (None, *OFF)


# -- lists ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ListLevel:
    """A level of a list. text (str): such as "%1.%2.", where %1 is the number of the first level. restart (int): it
    begins anew behind items of so many outer levels, 0 for never."""

    numerals: str
    text: str
    start: int
    restart: int
    is_legal: bool  # all numbers are 1, 2, 3
    style: str | None

    @classmethod
    def of(cls, level: XmlElement) -> "ListLevel":
        numerals, text = value_of(level, "numFmt") or "decimal", value_of(level, "lvlText") or ""
        restart = whole(value_of(level, "lvlRestart"), MOST_LEVELS_OF_LISTS)  # behind all outer levels
        is_legal = value_of(level, "isLgl") not in (None, *OFF)
        return cls(numerals, text, whole(value_of(level, "start")), restart, is_legal, value_of(level, "pStyle"))


@dataclass(slots=True)
class NumberedList:
    """A list by its levels; lists that are instances of one share its counts."""

    levels: dict[int, ListLevel]
    counts: dict[int, int]
    starts: dict[int, int] = field(default_factory=dict)  # levels that begin anew where the list is first used

    def next(self, depth: int) -> str:
        """The number or bullet of the next item, with a space behind it."""
        for above in [other for other in self.starts if other <= depth]:
            self.counts[above] = self.starts.pop(above) - 1
        level = self.levels[depth]
        self.counts[depth] = self.counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in self.counts if other > depth and self.levels[other].restart > depth]:
            del self.counts[deeper]
        if level.numerals == "bullet":
            return BULLET
        text = level.text
        for other in range(min(depth + 1, MOST_LEVELS_OF_LISTS)):
            if f"%{other + 1}" in text and other in self.levels:
                number = self.counts.setdefault(other, self.levels[other].start)
                kind = "decimal" if level.is_legal else self.levels[other].numerals
                text = text.replace(f"%{other + 1}", _spell(kind, number))
        return f"{text} " if text.strip() else ""


def _spell(kind: str, number: int) -> str:
    if kind == "none":
        return ""
    spelt = numeral(NUMERALS[kind], number) if kind in NUMERALS and 0 < number <= MOST_SPELT else ""
    return spelt or (f"{number:02}" if kind == "decimalZero" else str(number))


def read_lists(root: XmlElement) -> dict[str, NumberedList]:
    """Lists of a document by their numbers."""
    shared: dict[str, tuple[dict[int, ListLevel], dict[int, int]]] = {}
    kinds = list(root.iterfind(f"{W}abstractNum"))
    styles = {name: own for own in kinds if (name := value_of(own, "styleLink")) is not None}
    for own in kinds:
        of_style = styles.get(value_of(own, "numStyleLink") or "", own)  # a style of lists has the levels for others
        levels = {whole(level.get(f"{W}ilvl")): ListLevel.of(level) for level in of_style.iterfind(f"{W}lvl")}
        shared[own.get(f"{W}abstractNumId")] = levels, {}
    found = {}
    for own in root.iterfind(f"{W}num"):
        starts, (levels, counts) = {}, shared.get(value_of(own, "abstractNumId") or "", ({}, {}))
        for other in own.iterfind(f"{W}lvlOverride"):
            depth = whole(other.get(f"{W}ilvl"))
            if (start := value_of(other, "startOverride")) is not None:
                starts[depth] = whole(start)
            if (level := other.find(f"{W}lvl")) is not None:
                levels = {**levels, depth: ListLevel.of(level)}
        found[own.get(f"{W}numId")] = NumberedList(levels, counts, starts)
    return found
