"""Markers before the references of a list: numbers, keys and bullets."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..reading.joining import LONGEST_WORD
from .fields import STATUTE
from .name_forms import BEGINNING, IN_SMALL

LONGEST_TITLE = 60  # characters of a heading of another kind, without figures
FINISHED = re.compile(r"(?:(?<!\b[Pp]roc)\.|[!?)\]>\d\"”’»。．।؟])[.,;]?$|(?:https?://|www\.|doi:|\b10\.\d{4,9}/)\S+$")
KEY = (
    r"\\bibitem(?:\[[^\[\]]*\])?\{[^{}]*\}|\[[^\W\d_][\w+\-]*\d{2,4}[a-z]?\](?=\s)"
    r"|\[[^\W\d_][^\[\]\d]{1,40}\d{4}[a-z]?\](?=\s)"
)
# "[lund]", "[DBLP:conf/sea/Lund20]", "[2020lund]"; not "[1a]"
SMALL_KEY = r"|\[(?!(?i:online|accessed|internet|in|cited)\])(?:[^\W\d_]|\d+[^\W\d_]{2})[\w:+./*'&@\-]{0,80}\](?=\s)"
LETTER = r"(?=\s|$|[^\W\d_])"
# Where an encyclopedia leads back to its text: "^ a b Lund, A.", "^ Jump up to:a b Lund, A.", "↑ a et b", "↑ 1,0 1,1"
BACK = re.compile(
    r"\A(?:Jump up\s+)?[\^↑]\s+(?:Jump up(?: to)?:\s*|Jump up\s+(?=[\^↑]))?"
    r"(?:a\s+(?:et\s+)?b\s+(?:(?:et\s+)?[c-z]\s+)*|(\d+[.,])0\s+(?:\1\d+\s+)+)?"
)


@dataclass(frozen=True)
class Line:
    """A line that is not blank, without white space around it. number (int): from 1. indent (int): in characters."""

    number: int
    text: str
    indent: int
    after_blank: bool


@dataclass(frozen=True)
class Marker:
    """What stands before a reference, as printed. number (int): 0 for a key or bullet. line (int): its place."""

    text: str
    number: int
    line: int


@dataclass(frozen=True)
class _Style:
    """A form of markers.

    widest_gap (int): numbers that may be missing between two of them; none of bare ones, which are common in texts.
    is_weak (bool): whether one alone is no marker, and one before a small letter is none.
    """

    pattern: re.Pattern[str]
    widest_gap: int = 0
    is_weak: bool = False


KEYS = (
    _Style(re.compile(KEY)),
    _Style(re.compile(KEY + SMALL_KEY), is_weak=True),
    _Style(BACK),
    _Style(re.compile(r"[•‣◦▪●*·]\s+")),
    _Style(re.compile(r"-\s+(?:[\^↑]\s+)?"), is_weak=True),
    _Style(re.compile(r"[–—]\s+"), is_weak=True),
    _Style(re.compile(r"\(?(?:[a-z]|[ivxlc]{2,6})[.)]\s+"), is_weak=True),
)
INITIAL = r"[\"“„«‘]?[^\W\d_](?:[.'’]|[^\W\d_A-ZÀ-Þ]|(?<=[a-z])[A-Z])"  # behind a number: "1Lund", "¹ Lund"
GLUED = _Style(re.compile(rf"(\d{{1,3}}(?={INITIAL})|[⁰¹²³⁴-⁹]{{1,3}}(?!\d{{4}}|\d++(?![^\W\d_])))\s?"), is_weak=True)
NUMBERS = (
    _Style(re.compile(r"[\[［【]\^?(\d{1,4})[\]］】]:?"), 3),
    _Style(re.compile(rf"[(（](\d{{1,3}})[)）]{LETTER}"), 3),
    _Style(re.compile(rf"(\d{{1,4}})[.．、]{LETTER}")),
    _Style(re.compile(rf"(\d{{1,4}})\s?[)）]{LETTER}")),
    _Style(re.compile(rf"(?!{STATUTE})" r"(?:#|R|Ref\.?\s?|[<{])?(\d{1,3})[\]>}:.\-–]{0,2}(?=\s|$)"), is_weak=True),
    GLUED,
)
# Where a reference may begin within a line, by its style, and how many must. "2. Aufl." is none.
INLINE = (
    (NUMBERS[0], re.compile(r"(?<=[.\d)\]])\s+(?=\[\d{1,4}\]\s)"), 2),
    (NUMBERS[2], re.compile(r"(?<=[.\d)\]])\s+(?=\d{1,3}\.\s(?!(?:\w+\.,?\s)?(?i:aufl|ed|изд|wyd|vyd|udg|uppl)))"), 3),
)
# What a marker adds to a chain, beside 1 of its own: behind a blank line, behind a line that ends with a full stop
BLANK_GAIN, FINISHED_GAIN = 0.5, 0.25
GAP_COST, JUMP_COST, JUMP_COST_IN_BRACKETS = 0.25, 1.7, 0.9  # of a number that is missing, of any number further on
MOST_TRIES = 5  # lines with the number 1 from which a list may go on
SAME_INDENT = 2  # numbers that are set flush right shift by their width


def numbered_starts(lines: Sequence[Line]) -> dict[int, Marker]:
    """Lines that begin a numbered reference, by their place; none if references are not numbered.

    The first line decides on the style, or the first one with the number 1 that goes on with 2. Of the other lines in
    this style those are taken that make the best chain of growing numbers, of falling ones, or of equal ones: each one
    counts, missing numbers cost, and a line is more credible behind a blank line, or behind one that ends with a full
    stop.
    """
    lists = [*(_keyed(lines, style) for style in KEYS), *(_counted(lines, style) for style in NUMBERS)]
    first = min(filter(None, lists), key=lambda markers: markers[0].line, default=[])
    return {marker.line: marker for marker in first}


def unfolded(part: list[Line]) -> list[Line]:
    """Lines that begin with a marker, of a numbered list that is set in one paragraph; other lines as they are."""
    for style, places, least in INLINE:
        if len(_counted(part, style)) == 1:
            pieces = [replace(line, text=text) for line in part for text in places.split(line.text)]
            numbers = [marker.number for marker in _counted(pieces, style)]
            if len(numbers) >= least and numbers == sorted(set(numbers)):
                return pieces
    return part


def _keyed(lines: Sequence[Line], style: _Style) -> list[Marker]:
    """All lines with a key or bullet, if the first one is at the top or below titles only."""
    found = list(_markers(lines, style))
    is_list = len(found) > 1 or (found and found[0].line == 0 and not style.is_weak)
    return found if is_list and all(may_be_title(line.text) for line in lines[: found[0].line]) else []


def _counted(lines: Sequence[Line], style: _Style) -> list[Marker]:
    """The best chain of numbers from the first line on, or from one with the number 1; empty without one."""
    found = list(_markers(lines, style))
    is_first = bool(found) and found[0].line == 0
    ones = (place for place, marker in enumerate(found) if marker.number == 1 and _may_begin(lines, marker.line))
    for begin in [0] if is_first else islice(ones, MOST_TRIES):
        limit = lines[found[begin].line].indent + SAME_INDENT
        candidates = [marker for marker in found[begin:] if lines[marker.line].indent <= limit]
        steps = (1, -1, 0) if is_first else (1,)
        chain = max((_best_chain(lines, candidates, style.widest_gap, step) for step in steps), key=len)
        if len(chain) > 1 or (is_first and not style.is_weak):
            return chain
    return []


def _markers(lines: Sequence[Line], style: _Style) -> Iterator[Marker]:
    """All that looks like a marker of a style, in order."""
    last = 0
    for place, line in enumerate(lines):
        if match := style.pattern.match(line.text):
            number, printed = int(unicodedata.normalize("NFKC", match[1])) if style in NUMBERS else 0, match[0]
            if style is GLUED and last and match[1][:-1].startswith(str(last + 1)):
                number, printed = last + 1, str(last + 1)  # "33Com" behind "2Roe"
            marker = Marker(printed, number, place)
            is_behind, rest = place > 0 and is_finished(lines[place - 1].text), line.text[len(printed) :].lstrip()
            is_small = is_behind and (rest[:1].islower() if line.after_blank else IN_SMALL.match(rest))
            if not style.is_weak or is_small or _begins(lines, marker):
                last = number
                yield marker


def _may_begin(lines: Sequence[Line], place: int) -> bool:
    """Whether a line does not go on with the one before it."""
    return lines[place].after_blank or is_finished(lines[place - 1].text) or may_be_title(lines[place - 1].text)


def _best_chain(lines: Sequence[Line], candidates: Sequence[Marker], widest_gap: int, step: int) -> list[Marker]:
    """Candidates from the first one on with the greatest gain, by dynamic programming, O(n).

    step (int): from one number to the next, 1, -1 or 0. widest_gap (int): numbers that may be missing in between at a
        low cost; at a high one, any chain may go on with a number further on that looks like a beginning.
    """
    gains, before, longest = [1.0], [-1], 0
    best = {candidates[0].number: 0}  # of those with a number so far
    for place, marker in enumerate(candidates[1:], 1):
        number, line = marker.number, lines[marker.line]
        gaps = ((number - step * (1 + gap), gap) for gap in range((widest_gap if step else 0) + 1))
        costs = {best[wanted]: GAP_COST * gap for wanted, gap in gaps if wanted in best}
        is_credible = line.after_blank or is_finished(lines[marker.line - 1].text)
        if is_credible and step * (number - candidates[longest].number) > 0 and _begins(lines, marker):
            costs.setdefault(longest, JUMP_COST_IN_BRACKETS if widest_gap else JUMP_COST)
        source = max(costs, key=lambda at: (gains[at] - costs[at], -at), default=-1)
        gain = gains[source] - costs[source] if costs else float("-inf")
        finished = lines[marker.line - 1].text.endswith((".", "]", ")"))
        gains.append(gain + 1 + BLANK_GAIN * line.after_blank + FINISHED_GAIN * finished)
        before.append(source)
        if costs and gains[place] > gains[best.setdefault(number, place)]:
            best[number] = place
        longest = max(longest, place, key=gains.__getitem__)
    place, chain = longest, []
    while place >= 0:
        chain.append(candidates[place])
        place = before[place]
    return chain[::-1]


def _begins(lines: Sequence[Line], marker: Marker) -> bool:
    """Whether what stands behind a marker looks like the beginning of a reference."""
    text = "\n".join(line.text for line in lines[marker.line : marker.line + 2])  # a number may have its own line
    return BEGINNING.match(text[len(marker.text) :].lstrip()) is not None


def may_be_title(text: str) -> bool:
    """Whether a line before a list may be its title: without figures, and without a full stop at its end."""
    return len(text) <= LONGEST_TITLE and not re.search(r"\d", text) and not is_finished(text)


def is_finished(line: str) -> bool:
    """Whether a reference may end with a line: with a full stop, a figure, a bracket or an address."""
    return FINISHED.search(line[-LONGEST_WORD:]) is not None
