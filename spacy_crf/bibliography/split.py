"""Lists of references to references: by numbering, indentation and blank lines."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import islice, pairwise

from ..reading.joining import LONGEST_WORD, PAGE_BREAK, find_page_numbers, find_words, join_lines
from .dates import YEAR
from .entry import SURROGATES
from .fields import KINDS, STATUTE
from .name_forms import BEGINNING, IN_SMALL

# What lists of references are headed by, in many languages; two of these may be joined by a word for "and"
_LINES = (files(__package__) / "headings.txt").read_text(encoding="utf8").splitlines()
_LIST = "|".join(line for line in _LINES if not line.startswith("#"))
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
class _Style:
    """Markers of references. widest_gap (int): numbers that may be missing between two of them: bare ones are common in
    texts. is_weak (bool): whether one alone is none, and one before a small letter."""

    pattern: re.Pattern[str]
    widest_gap: int = 0
    is_weak: bool = False


BULLET = re.compile(r"\s*[•‣◦▪●*·\-–—]\s+(\[\d{1,4}\]|\(\d{1,3}\)|\d{1,4}[.)]\s)?")
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
# Numbers that begin a list, or go on behind that
FIRST, ONE_OR_TWO = (
    re.compile(
        rf"(?:[\[［【]{figure}[\]］】]|[(（]{figure}[)）]{LETTER}|{figure}[.．、]{LETTER}|{figure}\s?[)）]{LETTER})"
    )
    for figure in ("[1１]", "[12１２]")
)
# Where a reference may begin within a line, by its style, and how many must. "2. Aufl." is none.
INLINE = (
    (NUMBERS[0], re.compile(r"(?<=[.\d)\]])\s+(?=\[\d{1,4}\]\s)"), 2),
    (NUMBERS[2], re.compile(r"(?<=[.\d)\]])\s+(?=\d{1,3}\.\s(?!(?:\w+\.,?\s)?(?i:aufl|ed|изд|wyd|vyd|udg|uppl)))"), 3),
)
GAP_COST, BLANK_GAIN, FINISHED_GAIN, JUMP_COSTS = 0.25, 0.5, 0.25, (1.7, 0.9)  # jumps without and with brackets
MOST_TRIES, SAME_INDENT = 5, 2  # lines with the number 1; numbers set flush right shift by their width
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


@dataclass(frozen=True)
class _Line:
    number: int
    text: str  # without white space around it
    indent: int
    after_blank: bool


@dataclass(frozen=True)
class _Marker:
    text: str  # before a reference, as printed
    number: int  # 0 for a key
    line: int  # its place


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
    for part in map(_unfolded, _parts(lines)):
        markers = _numbered_starts(part)
        before = part[: min(markers, default=len(part))]
        is_title = bool(markers) and all(_is_title(line.text) for line in before)
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


def _parts(lines: Sequence[str]) -> list[list[_Line]]:
    """Runs of lines between headings, without blank ones."""
    parts: list[list[_Line]] = [[]]
    after_blank, again = True, _beginnings(lines)
    for number, raw in enumerate(lines, 1):
        line = raw.expandtabs(4)
        stripped = line.strip()
        found = _Line(number, stripped, len(line) - len(line.lstrip()), after_blank)
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
        if number > before + 1 and _is_finished(text) and not other_first:
            found.add(number)
        elif before > 1 and not lines[before - 2].strip() and _is_title(text):
            found.add(before)
    return found


def _unfolded(part: list[_Line]) -> list[_Line]:
    """Lines that begin with a marker, of a numbered list that is set in one paragraph; other lines as they are."""
    for style, places, least in INLINE:
        if len(_counted(part, style)) == 1:
            pieces = [replace(line, text=text) for line in part for text in places.split(line.text)]
            numbers = [marker.number for marker in _counted(pieces, style)]
            if len(numbers) >= least and numbers == sorted(set(numbers)):
                return pieces
    return part


def _may_be_heading(line: _Line, before: Sequence[_Line]) -> bool:
    """Whether a line stands apart, and does not go on with the reference before it."""
    return not before or line.after_blank or (line.indent <= before[0].indent and _is_finished(before[-1].text))


def _stands_apart(line: _Line, before: Sequence[_Line], behind: Sequence[str]) -> bool:
    """Whether a line has blank ones around it, and no reference goes on there."""
    return line.after_blank and not "".join(behind).strip() and (not before or _is_finished(before[-1].text))


def _is_title(text: str) -> bool:
    """Whether a line before a list may be its title: without figures, and without a full stop at its end."""
    return len(text) <= LONGEST_TITLE and not re.search(r"\d", text) and not _is_finished(text)


def _unnumbered_starts(part: Sequence[_Line]) -> list[int]:
    first = part[0].indent
    if any(line.indent != first for line in part):
        return [place for place, line in enumerate(part) if line.indent == first]
    pairs = enumerate(pairwise(line.text for line in part), 1)
    finished = [place for place, (before, line) in pairs if BEGINNING.match(line) and _is_finished(before)]
    behind_blank = [place for place, line in enumerate(part) if place and line.after_blank]
    # few blank lines may stand between groups of references that have a line each; some have no year ("in press")
    most = len(part) // 4 if 2 * len(behind_blank) <= len(finished) else 0
    is_one_each = sum(not YEAR.search(line.text) for line in part) <= most >= 2 * (len(part) - 1 - len(finished))
    return [0, *sorted({*(finished if is_one_each or not behind_blank else ()), *behind_blank})]


def _may_part(before: str, after: str) -> bool:
    """Whether a reference may end with a line, and the next one begin with another."""
    return _is_finished(before.strip()) and BEGINNING.match(after.strip()) is not None


def _is_finished(line: str) -> bool:
    return FINISHED.search(line[-LONGEST_WORD:]) is not None


def _numbered_starts(lines: Sequence[_Line]) -> dict[int, _Marker]:
    """Lines that begin a numbered reference, by their place; none if references are not numbered.

    The first line decides on the style, or the first one with the number 1 that goes on with 2. Of the other lines in
    this style those are taken that make the best chain of growing numbers, of falling ones, or of equal ones: each one
    counts, missing numbers cost, and a line is more credible behind a blank line, or behind one that ends with a full
    stop.
    """
    lists = [*(_keyed(lines, style) for style in KEYS), *(_counted(lines, style) for style in NUMBERS)]
    first = min(filter(None, lists), key=lambda markers: markers[0].line, default=[])
    return {marker.line: marker for marker in first}


def _keyed(lines: Sequence[_Line], style: _Style) -> list[_Marker]:
    """All lines with a key or bullet, if the first one is at the top or below titles only."""
    found = list(_markers(lines, style))
    is_list = len(found) > 1 or (found and found[0].line == 0 and not style.is_weak)
    return found if is_list and all(_is_title(line.text) for line in lines[: found[0].line]) else []


def _counted(lines: Sequence[_Line], style: _Style) -> list[_Marker]:
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


def _markers(lines: Sequence[_Line], style: _Style) -> Iterator[_Marker]:
    last = 0
    for place, line in enumerate(lines):
        if match := style.pattern.match(line.text):
            number, printed = int(unicodedata.normalize("NFKC", match[1])) if style in NUMBERS else 0, match[0]
            if style is GLUED and last and match[1][:-1].startswith(str(last + 1)):
                number, printed = last + 1, str(last + 1)  # "33Com" behind "2Roe"
            marker = _Marker(printed, number, place)
            is_behind, rest = place > 0 and _is_finished(lines[place - 1].text), line.text[len(printed) :].lstrip()
            is_small = is_behind and (rest[:1].islower() if line.after_blank else IN_SMALL.match(rest))
            if not style.is_weak or is_small or _begins(lines, marker):
                last = number
                yield marker


def _may_begin(lines: Sequence[_Line], place: int) -> bool:
    """Whether a line does not go on with the one before it."""
    return lines[place].after_blank or _is_finished(lines[place - 1].text) or _is_title(lines[place - 1].text)


def _best_chain(lines: Sequence[_Line], candidates: Sequence[_Marker], widest_gap: int, step: int) -> list[_Marker]:
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
        is_credible = line.after_blank or _is_finished(lines[marker.line - 1].text)
        if is_credible and step * (number - candidates[longest].number) > 0 and _begins(lines, marker):
            costs.setdefault(longest, JUMP_COSTS[widest_gap > 0])
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


def _begins(lines: Sequence[_Line], marker: _Marker) -> bool:
    text = "\n".join(line.text for line in lines[marker.line : marker.line + 2])  # a number may have its own line
    return BEGINNING.match(text[len(marker.text) :].lstrip()) is not None
