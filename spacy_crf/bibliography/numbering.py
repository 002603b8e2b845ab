"""Numbers before references, told from lines that merely begin with a number."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Patterns of numbers, and how many may be missing between two references: bare ones are common in texts.
STYLES = (
    (re.compile(r"\[(\d{1,4})\]"), 3),
    (re.compile(r"\((\d{1,3})\)(?=\s|$)"), 3),
    (re.compile(r"(\d{1,4})\.(?=\s|$)"), 0),
    (re.compile(r"(\d{1,4})\)(?=\s|$)"), 0),
)
KEY = re.compile(r"\[[A-Z][\w+\-]*\d{2,4}[a-z]?\](?=\s)|\[[A-Z][^\[\]\d]{1,40}\d{4}[a-z]?\](?=\s)")
GAP_COST, BLANK_GAIN, FINISHED_GAIN = 0.25, 0.5, 0.25
SAME_INDENT = 2  # numbers set flush right shift by their width

Line = tuple[str, int, bool]


@dataclass(frozen=True)
class Marker:
    """What stands before a reference.

    text (str): as printed. number (int): 0 for a key. line (int): its place.
    """

    text: str
    number: int
    line: int


def numbered_starts(lines: Sequence[Line]) -> dict[int, Marker]:
    """Lines that begin a numbered reference.

    The first line decides on the style. Of the other lines in this style those are taken that make the best chain of
    growing numbers: each one counts, a missing number costs, and a line is more credible behind a blank line, or behind
    one that ends with a full stop.

    lines (list[tuple[str, int, bool]]): text, indentation, and whether a blank line is before it.
    RETURNS (dict[int, Marker]): by place of the line; empty if references are not numbered.
    """
    if KEY.match(lines[0][0]):
        keyed = ((place, KEY.match(text)) for place, (text, *_) in enumerate(lines))
        return {place: Marker(match[0], 0, place) for place, match in keyed if match}
    for style, widest_gap in STYLES:
        if style.match(lines[0][0]):
            return {marker.line: marker for marker in _best_chain(lines, _candidates(lines, style), widest_gap)}
    return {}


def _candidates(lines: Sequence[Line], style: re.Pattern[str]) -> list[Marker]:
    limit = lines[0][1] + SAME_INDENT
    found = []
    for place, (text, indent, _) in enumerate(lines):
        match = style.match(text)
        if match and indent <= limit:
            found.append(Marker(match[0], int(match[1]), place))
    return found


def _best_chain(lines: Sequence[Line], candidates: Sequence[Marker], widest_gap: int) -> list[Marker]:
    """Candidates from the first one on with the greatest gain, by dynamic programming, O(n^2)."""
    gains, before = [1.0], [-1]
    for place, marker in enumerate(candidates[1:], 1):
        best, source = float("-inf"), -1
        for earlier in range(place):
            gap = marker.number - candidates[earlier].number - 1
            gain = gains[earlier] - GAP_COST * gap
            if 0 <= gap <= widest_gap and gain > best:
                best, source = gain, earlier
        gains.append(best + _gain(lines, marker.line))
        before.append(source)
    place, chain = max(range(len(gains)), key=gains.__getitem__), []
    while place >= 0:
        chain.append(candidates[place])
        place = before[place]
    return chain[::-1]


def _gain(lines: Sequence[Line], place: int) -> float:
    finished = lines[place - 1][0].endswith((".", "]", ")"))
    return 1 + BLANK_GAIN * lines[place][2] + FINISHED_GAIN * finished
