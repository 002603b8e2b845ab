"""Lines of printed text: numbers of pages are told, and paragraphs become one line, with the words that were broken."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

SOFT_HYPHEN = "\u00ad"
BROKEN_WORD = re.compile(r"(?P<first>[^\W\d_]+)[-\u2010]$")
WORD = re.compile(r"[^\W\d_]+")
LINKS = frozenset(
    ("a", "and", "as", "at", "by", "de", "for", "in", "la", "le", "of", "off", "on", "or", "out", "the", "to", "up")
)
IS_RANGE = re.compile(r"\S[-\u2010\u2013]$")
LONGEST_WORD = 500  # characters of a word or address that is continued on the next line
ADDRESS = re.compile(r"(?:https?://|ftp://|www\.|doi\.org/|\b10\.\d{4,9}/)\S*$", re.IGNORECASE)
OPEN_END = re.compile(r"[/\-_=?&#%~:+]$")  # an address does not end so
OPEN_START = re.compile(r"[/._=?&#%~]\S")
# First and second parts of English compounds that are written with a hyphen. Such a hyphen stays at a line end.
FIRST_PARTS = re.compile(
    "low|high|long|short|self|non|well|half|full|real|large|small|cross|open|one|two|three|four|five|six|seven|eight|"
    "nine|ten|first|second|third|time|cost|case|data|mid|single|double|fine|hand"
)
SECOND_PARTS = re.compile(
    "based|driven|free|wise|dependent|oriented|specific|level|scale|like|aware|century|year|old|order|term|time"
)
# With these behind them, the first parts are parts of a word: "low-er", "part-ner".
SUFFIXES = re.compile(
    "e|er|est|ed|ly|ing|ity|ism|ist|i[sz]e|i[sz]ed|ish|ial|ially|ality|ners?|ness|ages?|al|tion|ting|ter|ways?|bases?|"
    "hand|e?s|en|able|ular|lines?"
)

PAGE = re.compile(  # years are none: they stand above the works of a year
    r"(?!(?:1[5-9]|20)\d\d$)[-–—|~\s]*(?:(?:page|seite|página|pagina|strana|strona|p\.|s\.)\s*)?(\d{1,4})"
    r"(?:\s*(?:of|von|van|de|di|/)\s*\d{1,4})?[-–—|~\s]*",
    re.IGNORECASE,
)
OWN_PAGE = re.compile(r"(?<!\d)(?!(?:1[5-9]|20)\d\d(?!\d))\d{1,4}(?!\d)")  # of a running head
PAGE_BREAK = "\x1f"  # before the first line of a page: white space that parts no lines
LONGEST_HEAD = 200  # characters
MOST_HEADS = 3  # page breaks for one that has a running head
LEAST_PAGE = 8  # lines; of a list, numbers that are nearer to each other are those of its items


def find_page_numbers(lines: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Places of lines with nothing but the number of a page, and of running heads and feet beside these or beside page
    breaks; for each the places of the text before and behind it.

    All lines that are numbers go on counting from one above 1, with at least LEAST_PAGE lines between them; a single
    one has a blank line beside it. Running heads are lines that stand there again, and nowhere else, but for a number
    that counts the pages. A line that begins a page begins with PAGE_BREAK.
    """
    filled = [place for place, line in enumerate(lines) if line.strip()]
    edges = [-1, *filled, len(lines)]
    found, counted = {}, []
    for order, (before, place, after) in enumerate(zip(edges, edges[1:], edges[2:])):
        if page := PAGE.fullmatch(lines[place].strip()):
            found[place] = before, after
            counted.append((int(page[1]), order))
    is_apart = all(
        number == last + 1 and order - place > LEAST_PAGE for (last, place), (number, order) in pairwise(counted)
    )
    is_single = all(after - before == 2 for before, after in found.values()) and len(found) == 1
    numbers = found.keys() if found and is_apart and counted[0][0] > 1 and not is_single else set[int]()
    left_out = {*numbers, *_running_heads(lines, [place for place in filled if place not in numbers], numbers)}
    kept = [-1, *(place for place in filled if place not in left_out), len(lines)]
    return {place: (kept[(at := bisect_left(kept, place)) - 1], kept[at]) for place in left_out}


def _running_heads(lines: Sequence[str], filled: Sequence[int], numbers: Collection[int]) -> Iterator[int]:
    breaks = [place for place, line in enumerate(lines) if line.startswith(PAGE_BREAK)]
    heads = defaultdict[tuple[str, int | None], set[int]](set)
    edges = sorted({*numbers, *breaks})
    for order, edge in enumerate(edges):
        at = bisect_left(filled, edge)
        for place in filled[max(at - 1, 0) : at + 1]:
            text = lines[place].strip()
            # the last line of a reference may stand there again
            if len(text) > LONGEST_HEAD or not WORD.search(text) or text.endswith("."):
                continue
            heads[text, None].add(place)
            for own in OWN_PAGE.finditer(text):
                heads[text[: own.start()] + text[own.end() :], int(own[0]) - order].add(place)
    inner = Counter(lines[place].strip() for place in filled[1:-1])
    for (text, number), places in heads.items():
        is_elsewhere = number is None and inner[text] > len(places)
        if len(places) > 1 and MOST_HEADS * len(places) >= len(edges) and not is_elsewhere:
            yield from places


def join_lines(lines: Iterable[str], words: frozenset[str] = frozenset()) -> str:
    """One line of several, with single spaces.

    A hyphen at a line end goes if the word was broken there. It stays before a capital or a digit, within an address,
    and in a compound. Whether a word is a compound is told by `words`, then by a short list of English ones.

    words (frozenset[str]): of the whole text, lower-cased: see `find_words`.
    """
    pieces: list[str] = []
    last = ""  # the end of what is joined so far, without a space
    for line in filter(None, (" ".join(line.split()) for line in lines)):
        if pieces:
            before, between = _joint(pieces[-1], last, line, words)
            last = "" if between else last[:-1] if before != pieces[-1] else last
            pieces[-1:] = [before, between]
        pieces.append(line)
        last = f"{last}{line}"[-LONGEST_WORD:].rpartition(" ")[2]
    return " ".join("".join(pieces).replace(SOFT_HYPHEN, "").split())


def find_words(text: str) -> frozenset[str]:
    """Words with and without hyphens that a text has within its lines, lower-cased."""
    return frozenset(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*(?!-?\n)", text.lower()))


def _joint(before: str, last: str, line: str, words: frozenset[str]) -> tuple[str, str]:
    """The line before, perhaps without its hyphen, and what is between it and the next one: a space or nothing.

    last (str): the word that the line before ends with, from where it begins.
    """
    if before.endswith(SOFT_HYPHEN) or _continues_address(last, line):
        return before, ""
    broken, second = BROKEN_WORD.search(last), WORD.match(line)
    if broken and second:
        first = broken["first"]
        # "state-of-the-" and "state-" before "of-the-art"; of a word that is broken, more than one letter stays
        is_chain = (first in LINKS and broken.start() > 0) or (second[0] in LINKS and line[second.end() :][:1] == "-")
        return (before if is_chain or len(first) == 1 or _is_compound(first, second[0], words) else before[:-1]), ""
    return before, "" if IS_RANGE.search(last) else " "


def _continues_address(last: str, line: str) -> bool:
    """Whether a line begins with the rest of the address that is the last word before it."""
    if "." not in last and "/" not in last:
        return False
    is_open = OPEN_END.search(last) or OPEN_START.match(line) or (last.endswith(".") and re.match(r"[a-z\d]", line))
    return bool(is_open and ADDRESS.search(last))


def _is_compound(first: str, second: str, words: frozenset[str]) -> bool:
    if not second[0].islower():
        return True
    first, second = first.lower(), second.lower()
    if f"{first}-{second}" in words or first + second in words:
        return first + second not in words
    if FIRST_PARTS.fullmatch(first) and not SUFFIXES.fullmatch(second):
        return True
    return SECOND_PARTS.fullmatch(second) is not None and len(first) > 2
