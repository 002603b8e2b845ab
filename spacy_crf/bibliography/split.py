"""Lists of references to references: by numbering, indentation and blank lines."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

from ..reading.files import read_shipped
from ..reading.joining import PAGE_BREAK, find_page_numbers, find_words, join_lines
from .dates import YEAR
from .entry import SURROGATES
from .fields import KINDS
from .markers import BACK, LETTER, Line, is_finished, may_be_title, numbered_starts, unfolded
from .name_forms import BEGINNING

# What lists of references are headed by, in many languages; two of these may be joined by a word for "and"
_LIST = "|".join(read_shipped(files(__package__) / "headings.txt"))
HEADING_NUMBER = r"(?:\W*\d+(?:\.\d+)*\.?\s+|[ivxlc]+\.\s+|chapter\s+\d+:?\s+)?"
HEADING = re.compile(
    r"\\(?:begin|end)\{thebibliography\}.*|"
    rf"(?:#{{1,6}}\s*)?[*_]{{0,3}}{HEADING_NUMBER}"
    r"(?:(?:select(?:ed)?|annotated|cited|primary|secondary|supplementary|additional|general|list of|liste der"
    rf"|(?:un)?published|archival|web|internet)\s+)?(?:{_LIST})"
    r"(?:\s+(?:(?:to|for|of)\s+(?:the\s+)?(?:chapter|part|section|appendix|introduction|text)\b[^.,]{0,40}?"
    rf"|(?:and|und|et|[yeiaиій]|en|in|och|og|és|та|και|ve|و)\s*(?:further\s+)?(?:{_LIST}))){{0,2}}"
    r"(?:\s*\(\d+\))?\s*:?[*_]{0,3}(?:\s*#+)?",
    re.IGNORECASE,
)
GROUP = re.compile(r"(?:1[5-9]|20)\d\d|[A-ZА-Я]")  # above the works of a year, or of authors with a letter
RULE = re.compile(r"[=~*#_+\-–—]{3,}")  # below a heading
BULLET = re.compile(r"\s*[•‣◦▪●*·\-–—]\s+(\[\d{1,4}\]|\(\d{1,3}\)|\d{1,4}[.)]\s)?")
# Numbers that begin a list, or go on behind that
FIRST, ONE_OR_TWO = (
    re.compile(
        rf"(?:[\[［【]{figure}[\]］】]|[(（]{figure}[)）]{LETTER}|{figure}[.．、]{LETTER}|{figure}\s?[)）]{LETTER})"
    )
    for figure in ("[1１]", "[12１２]")
)
INVISIBLE = re.compile("[\ufeff\u200b\u200e\u200f\u2060]|\\\\newblock\\b\\s?")


@dataclass(frozen=True)
class Reference:
    """A reference of a pasted text, in one line and without its marker.

    first_line (int), last_line (int): counted from 1. marker (str): number or key as printed, such as "[1]", or "".
    """

    text: str
    first_line: int
    last_line: int
    marker: str = ""


def split_references(text: str) -> list[Reference]:
    r"""Divide a bibliography into references, in the order of the text; headings are left out.

    A heading such as "References to Chapter 2" begins a part with a layout of its own, and so do numbers that begin
    again behind a blank line, or a title and a blank line before it. In a part, references have
    markers (numbers as in [1], (1), 1., 1) and 1, keys in brackets, bullets, dashes, or \bibitem), or begin where the
    indentation is that of the first line, or, if all lines have the same, behind blank lines; without these, where a
    line looks complete and the next one like a beginning. Numbers count where they go on counting, up or down, or are
    all the same, so that a line may begin with another one. Short lines without figures before the first marker are a
    title; others are references without a marker. Numbers of pages on lines of their own are left out, and running
    heads beside these or a page break. Letters with accents are composed ones (NFC), as models know them.
    """
    text = unicodedata.normalize("NFC", INVISIBLE.sub("", SURROGATES.sub("\ufffd", text)))
    lines = re.sub("(?<![^\n])\f", PAGE_BREAK, text).splitlines()
    if all(line.startswith(">") for line in lines if line.strip()):
        lines = [line.removeprefix(">") for line in lines]  # as in mails
    numbered = _without_pages(_without_bullets(lines))
    lines = [line for _, line in numbered]
    words = find_words("\n".join(lines))
    found = []
    for part in map(unfolded, _parts(lines)):
        markers = numbered_starts(part)
        before = part[: min(markers, default=len(part))]
        is_title = bool(markers) and all(may_be_title(line.text) for line in before)
        starts = [*([] if is_title else _unnumbered_starts(before)), *sorted(markers)]
        for first, end in zip(starts, [*starts[1:], len(part)]):
            printed = markers[first].text if first in markers else ""
            beginning = BACK.sub("", part[first].text[len(printed) :].lstrip())
            texts = [beginning, *(line.text for line in part[first + 1 : end])]
            begin, last = (numbered[line.number - 1][0] for line in (part[first], part[end - 1]))
            found.append(Reference(join_lines(texts, words), begin, last, printed))
    return [reference for reference in found if reference.text]


def _without_bullets(lines: list[str]) -> list[str]:
    """Leave out bullets before numbers, as Markdown has them that was made of a PDF ("- [1] A. Lund. Rafts.")."""
    found = [BULLET.match(line) for line in lines]
    numbered = [match[1] for match in found if match]
    values = [int(re.sub(r"\D", "", number)) for number in numbered if number]
    jumps = sum(after != before + 1 for before, after in pairwise(values))  # of years, or of the ends of pages
    is_list = len(values) > 1 and 5 * (numbered.count(None) + jumps) <= len(numbered)
    return [line[m.start(1) :] if is_list and m and m[1] else line for line, m in zip(lines, found)]


def _without_pages(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Numbers and texts of the lines of a list, without numbers of pages, running heads and the blank lines around
    these. There is a blank one where a reference ends with the page, if the list has such between its references."""
    pages = find_page_numbers(lines)
    kept = [place for place, line in enumerate(lines) if line.strip() and place not in pages]
    ends = {before for before, _ in pages.values()}
    pairs = [(before, after) for before, after in pairwise(kept) if _may_part(lines[before], lines[after])]
    elsewhere = [after > before + 1 for before, after in pairs if before not in ends]
    blank = {before + 1 for before, _ in pairs if before in ends and 2 * sum(elsewhere) > len(elsewhere)}
    left_out = {place for before, after in set(pages.values()) for place in range(before + 1, after)} - blank
    texts = ["" if place in blank else line.lstrip(PAGE_BREAK) for place, line in enumerate(lines)]
    return [(n, text) for n, text in enumerate(texts, 1) if n - 1 not in left_out]


def _parts(lines: Sequence[str]) -> list[list[Line]]:
    """Runs of lines between headings, without blank ones."""
    parts: list[list[Line]] = [[]]
    after_blank, again = True, _beginnings(lines)
    for number, raw in enumerate(lines, 1):
        line = raw.expandtabs(4)
        stripped = line.strip()
        found = Line(number, stripped, len(line) - len(line.lstrip()), after_blank)
        is_group = GROUP.fullmatch(stripped) and _stands_apart(found, parts[-1], lines[number : number + 1])
        is_heading = HEADING.fullmatch(stripped) or KINDS.fullmatch(stripped)
        if is_group or (stripped and is_heading and _may_be_heading(found, parts[-1])):
            parts.append([])
        elif number in again:
            parts.append([found] if FIRST.match(stripped) else [])
        elif stripped and (parts[-1] or not RULE.fullmatch(stripped)):
            parts[-1].append(found)
        after_blank = not stripped
    return [part for part in parts if part]


def _beginnings(lines: Sequence[str]) -> set[int]:
    """Numbers of lines where a numbered list begins behind another one: of its title, or of its first reference."""
    filled = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    marked = [(place, FIRST.match(line)) for place, (_, line) in enumerate(filled) if ONE_OR_TWO.match(line)]
    found: set[int] = set()
    firsts = [(place, after) for (place, is_first), (_, after) in pairwise([*marked, (0, True)]) if is_first]
    for place, other_first in firsts[1:]:
        (number, _), (before, text) = filled[place], filled[place - 1]
        if number > before + 1 and is_finished(text) and not other_first:
            found.add(number)
        elif before > 1 and not lines[before - 2].strip() and may_be_title(text):
            found.add(before)
    return found


def _may_be_heading(line: Line, before: Sequence[Line]) -> bool:
    """Whether a line stands apart, and does not go on with the reference before it."""
    return not before or line.after_blank or (line.indent <= before[0].indent and is_finished(before[-1].text))


def _stands_apart(line: Line, before: Sequence[Line], behind: Sequence[str]) -> bool:
    """Whether a line has blank ones around it, and no reference goes on there."""
    return line.after_blank and not "".join(behind).strip() and (not before or is_finished(before[-1].text))


def _unnumbered_starts(part: Sequence[Line]) -> list[int]:
    first = part[0].indent
    if any(line.indent != first for line in part):
        return [place for place, line in enumerate(part) if line.indent == first]
    pairs = enumerate(pairwise(line.text for line in part), 1)
    finished = [place for place, (before, line) in pairs if BEGINNING.match(line) and is_finished(before)]
    behind_blank = [place for place, line in enumerate(part) if place and line.after_blank]
    # few blank lines may stand between groups of references that have a line each; some have no year ("in press")
    most = len(part) // 4 if 2 * len(behind_blank) <= len(finished) else 0
    is_one_each = sum(not YEAR.search(line.text) for line in part) <= most >= 2 * (len(part) - 1 - len(finished))
    return [0, *sorted({*(finished if is_one_each or not behind_blank else ()), *behind_blank})]


def _may_part(before: str, after: str) -> bool:
    """Whether a reference may end with a line, and the next one begin with another."""
    return is_finished(before.strip()) and BEGINNING.match(after.strip()) is not None
