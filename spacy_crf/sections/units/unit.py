"""What a unit is: a stretch of text that gets one label."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Run: TypeAlias = tuple[int, int, str]
"""Start and end in the text, and a style, or the name of a `Kind` to say what a stretch of text is (see `segment`)."""

PARAGRAPH = "paragraph"  # a run of this style is one element although it has line ends
STYLES = ("bold", "italic", "underline", "title", *(f"heading{level}" for level in range(1, 7)))
HEADINGS = STYLES[3:]


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


@dataclass(frozen=True, slots=True)
class Unit:
    """A layout element, or a part of one.

    start (int), end (int): where it is in the text, without white space at its ends; a blank line is its newline
        character. kind (Kind): what it is. styles (frozenset[str]): those of `STYLES` that all of it has.
    indent (int): columns of white space before its line; a tab goes to the next multiple of 8.
    """

    start: int
    end: int
    kind: Kind
    styles: frozenset[str] = frozenset()
    indent: int = 0
