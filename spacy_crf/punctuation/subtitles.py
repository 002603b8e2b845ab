"""Subtitles (SRT, WebVTT, SBV): what is spoken in them, between numbers, times, mark-up, sounds and songs that stay.

A word is what stands between white space as it is read: mark-up inside of it takes no room, and an entity is a sign.
In captions that roll, as YouTube makes them, each cue shows the last lines of the one before once more.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from itertools import chain, groupby, islice, pairwise
from typing import NamedTuple

from .words import is_sign_around

OPENING_LINES = 50  # of a file, by which it is told what it is
OPENING = 400  # cues, and lines between them, by which it is told who speaks
# Hours, minutes, seconds and their fraction, which times that have a line to themselves may lack
_TIME = r"\s*(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})[.,](\d{1,9})\s*"
_ROUND_TIME = r"\s*(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})(?:[.,](\d{1,9}))?\s*"
_SECONDS = r"\s*()()(\d{1,9})\.(\d{1,9})s?\s*"
_TIMES = re.compile(f"{_TIME}(?:--?>|,){_TIME}|{_ROUND_TIME}-->{_ROUND_TIME}$")
_SURE_TIMES = re.compile(rf"{_TIME}(?:-->|,){_TIME}|\[{_TIME}-->{_TIME}\]")  # one line with such is enough
# As whisper, whisper.cpp and, in seconds, faster-whisper show what they hear
_BESIDE_WORDS = re.compile(rf"\[{_TIME}-->{_TIME}\]|\[{_SECONDS}--?>{_SECONDS}\]")
# Each with the sign that ends it: behind the last of these none is looked for, which would take the square of the line
_MARKUP = ((re.compile(r"<(?:/?[A-Za-z][^>]*|[\d:.]+)>"), ">"), (re.compile(r"\{\\[^}]*\}"), "}"))
_BRACKETS = ((re.compile(r"\[[^\]]*\]"), "]"), (re.compile(r"\([^)]*\)"), ")"))
# In texts of recognisers, such as [BLANK_AUDIO] and (upbeat music), which may be words of their own
# also with the colon of a speaker; beside letters of scripts without spaces
_LETTER = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
_SOUND = re.compile(rf"(?<!{_LETTER})(?:\[[^\[\]]{{1,100}}\]|\([^()]{{1,100}}\)):?+(?!{_LETTER})")
_MARK_FIRST = re.compile(r"[^\w\s]+\s")
_SONG = re.compile(r"[♪♫]+[^♪♫]*[♪♫]+|[♪♫]|(?<!\S)#+\s[^#]*#+(?!\S)")
_ENTITY = re.compile(r"&#?\w{1,31};")
_CAPITALS = "".join(sign for sign in map(chr, range(0x2000)) if sign.isupper())
_NAME = f"[{_CAPITALS}][{_CAPITALS}\u0300-\u036f0-9_ .'’-]*[{_CAPITALS}\u0300-\u036f0-9.]"
# What is in brackets is blank by then: "[SPEAKER_00]: yes", "ANNA (laughs): yes"
_SPEAKER = re.compile(rf"^\s*(>>+\s*|[-–‐—―]\s*)?((?:{_NAME})?\s*:\s+)?", re.MULTILINE)
# Where most cues begin with one, as those of Zoom, whatever its case; "he said: no" may be a line within a cue
_ANY_NAME = r"(>>+\s*|[-–‐—―]\s*)?((?:[^\s:]+(?:[ \t]+[^\s:]+){0,3})?\s*:\s+)?"
_ANY_SPEAKER = re.compile(rf"\A\s*{_ANY_NAME}|{_SPEAKER.pattern}", re.MULTILINE)
_ANY_LINE = re.compile(rf"^[ \t]*{_ANY_NAME}", re.MULTILINE)
_SPECIAL = re.compile("[<{&]")
LONGEST_CUE = 40  # lines
MOST_REPEATED = 200  # words of a cue that are shown once more in the next
Times = tuple[float, float]
_WORD = re.compile(r"\S+")
_END = re.compile(r"[\r\n]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


class Heard(NamedTuple):
    """Words of speech without white space between them.

    text (str): as it is read. times (tuple | None): seconds at which they, or the cue that has them, begin and end.
    confidence (float | None): that of the recogniser.
    """

    text: str
    times: Times | None = None
    confidence: float | None = None


class Spoken(NamedTuple):
    """A word in a file.

    before (str): what stands between it and the word before. raw (str): as it is written; "" at the end of the file.
    heard (Heard): as it is read. again (int): of how many words before it is shown once more; 0 for what is spoken.
    """

    before: str
    raw: str
    heard: Heard
    again: int = 0

    @property
    def is_spoken(self) -> bool:
        """Whether it is a word that is not shown once more."""
        return bool(self.raw) and not self.again


def pause_between(first: Heard, second: Heard) -> float | None:
    """Return the seconds of silence between two words; None within a cue, and where the times are not known."""
    if first.times is None or second.times is None or first.times == second.times:
        return None
    return max(0.0, second.times[0] - first.times[1])


def is_subtitles(opening: str) -> bool:
    """Tell whether a text is subtitles by how it opens: as WebVTT does, or with the times of a cue on a line.

    Times that a line of running text may begin with, such as "[0.25 -> 0.75]", are those of a cue in the first two
    lines, or where several lines have some.
    """
    lines = re.split(r"\r\n?|\n", opening.removeprefix("\ufeff"))
    if _is_web(lines[0]) or any(map(_SURE_TIMES.match, lines[:OPENING_LINES])):
        return True
    found = [bool(_TIMES.match(line) or _BESIDE_WORDS.match(line)) for line in lines[:OPENING_LINES] if line.strip()]
    return any(found[:2]) or sum(found) > 1


def _is_web(first: str) -> bool:
    return first.removeprefix("\ufeff").split(maxsplit=1)[:1] == ["WEBVTT"]


def spoken_words(lines: Iterable[str]) -> Iterator[Spoken]:
    """Yield all of a file of subtitles as its words and what stands before them, and at last "" behind the last word.

    lines (Iterable[str]): with their ends.
    """
    cues = _cues(lines)
    first = list(islice(cues, OPENING))
    shown = _shown(chain(first, cues), _with_names(first) if _names_speakers(first) else _SPEAKER)
    opening = list(islice(shown, OPENING_LINES))
    rolls = _is_rolling([cue for cue in opening if cue.words])
    held: list[str] = []
    for text, times, words, repeated in chain(opening, shown):
        at = 0
        for number, (start, end, read) in enumerate(words):
            again = repeated if rolls and number < repeated else 0
            yield Spoken("".join([*held, text[at:start]]), text[start:end], Heard(read, times), again)
            held, at = [], end
        held.append(text[at:])
    yield Spoken("".join(held), "", Heard(""))


def blank_unspoken(text: str) -> str:
    """Return subtitles with blanks in place of all that is not a word; what remains is at its place."""
    found = spoken_words(lines_of([text]))
    return "".join(
        " " * len(word.before) + (_shadow(word.raw) if word.is_spoken else " " * len(word.raw)) for word in found
    )


def parted_by_sounds(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Part each of some texts that follow on each other by sounds in brackets: each second part is one, or belongs to
    one that goes on in the next text.

    >>> parted_by_sounds(["so [noise] well", "(upbeat", "music)"])
    [('so ', '[noise]', ' well'), ('', '(upbeat', ''), ('', 'music)', '')]
    """
    joined = "\n".join(texts)
    sounds = [found.span() for found in _SOUND.finditer(joined)]
    begins, closed = [start for start, _ in sounds], [end for _, end in sounds]
    parts, at = [], 0
    for text in texts:
        last = at + len(text)
        here = sounds[bisect_right(closed, at) : bisect_left(begins, last)]
        inside = [(max(start, at), min(end, last)) for start, end in here]
        parts.append(tuple(joined[a:b] for a, b in pairwise([at, *chain.from_iterable(inside), last])))
        at = last + 1
    return parts


def behind_sound(written: str, restored: str) -> str:
    """What stands behind a sound, with the space behind a mark that the sound had, as in "(laughs). yes"."""
    return f" {restored}" if _MARK_FIRST.match(written) and restored[:1].isalnum() else restored


def lines_of(pieces: Iterable[str]) -> Iterator[str]:
    """Yield lines of a text in pieces of any length, with their ends: CR, LF or both."""
    held: list[str] = []
    for piece in pieces:
        if not (_END.search(piece) or (held and held[-1].endswith("\r"))):
            held.append(piece)
            continue
        *lines, rest = _LINE.findall("".join([*held, piece]))
        yield from lines
        held = [rest]
        if rest.endswith("\n"):
            yield rest
            held = []
    if any(held):
        yield "".join(held)


def respell(raw: str, restored: str) -> str:
    """Return a word as it is written, `raw`, with the marks and the case that it was given as it is read."""
    if not _SPECIAL.search(raw):
        return restored
    parts, at = [], 0
    for start, end, sign in _units(raw, _shadow(raw)):
        written = raw[start:end]
        if sign and not is_sign_around(sign):  # it is there, maybe behind signs that were added
            place = next((n for n in range(at, len(restored)) if restored[n].lower() == sign.lower()), at)
            parts.append(restored[at:place])
            written = written if restored[place : place + 1] == sign else restored[place : place + 1]
            at = place + 1
        elif sign:
            place = restored.find(sign, at, at + 1 if written == sign else len(restored))
            if place < 0 or not all(map(is_sign_around, restored[at:place].replace(" ", ""))):
                continue  # it has been removed
            parts.append(restored[at:place])  # a mark before an entity that closes
            at = place + 1
        parts.append(written)
    return "".join([*parts, restored[at:]])


def _cues(lines: Iterable[str]) -> Iterator[tuple[str, Times | None]]:
    """Yield the spoken lines of each cue together, for a sound may be told in two, with its times, and all other lines
    without. The number of a cue is right before its times. An empty line ends one in WebVTT; in other files words may
    follow, as players read them."""
    times: Times | None = None
    spoken: list[str] = []
    is_web: bool | None = None
    for line, after in pairwise(chain(lines, [""])):
        is_web = _is_web(line) if is_web is None else is_web
        found = _TIMES.match(line) or _BESIDE_WORDS.match(line)
        is_number = line.strip().isdecimal() and bool(_TIMES.match(after))
        is_empty = not line.strip("\r\n")  # one of a space is a part of its cue, as YouTube writes them
        if spoken and (found or is_empty or is_number or len(spoken) == LONGEST_CUE):
            yield "".join(spoken), times
            spoken = []
        if found:
            times = _times_of(found)
        elif (is_empty and is_web) or is_number:
            times = None
        if times and not (found and found.re is _TIMES):
            spoken.append(line)
        else:
            yield line, None
    if spoken:
        yield "".join(spoken), times


class _Cue(NamedTuple):
    """A cue, or a line that is none: its words, of which the first ones may be the last ones of the cue before."""

    text: str
    times: Times | None
    words: list[tuple[int, int, str]]
    repeated: int


def _names_speakers(cues: Iterable[tuple[str, Times | None]]) -> bool:
    """Tell cues of which most begin with a name, some with the same; those with one in capitals tell nothing."""
    spoken = (text for text, times in cues if times and text.strip())
    found = [_ANY_SPEAKER.match(text) for text in spoken if not ((own := _SPEAKER.match(text)) and own[2])]
    names = [one[2] for one in found if one and one[2]]
    return 2 * len(names) >= len(found) and len(set(names)) < len(names)


def _with_names(cues: Iterable[tuple[str, Times | None]]) -> re.Pattern[str]:
    """Return what speakers are in cues that begin with any name: at lines within these, names that begin others too."""
    found = [[line[2].rstrip() for line in _ANY_LINE.finditer(text) if line[2]] for text, times in cues if times]
    lines = Counter(chain.from_iterable(found))
    names = "|".join(re.escape(name) for name, n in lines.items() if n > 1 and not name[0].islower())
    within = rf"^\s*(?:[-–‐—―]\s*)?(?:{names})\s+|" if names else ""
    return re.compile(rf"\A\s*{_ANY_NAME}|{within}{_SPEAKER.pattern}", re.MULTILINE)


def _shown(cues: Iterable[tuple[str, Times | None]], speaker: re.Pattern[str]) -> Iterator[_Cue]:
    """Yield cues with the number of words in first lines that are the last lines of the cue before, word by word."""
    before: list[list[str]] = []
    times_before: Times | None = None
    for text, times in cues:
        words = list(_words(text, speaker)) if times else []
        lines = _by_line(text, words)
        goes_on = times in (None, times_before)  # a line that is no cue, or more of one that has empty lines
        same = (n for n in range(min(len(before), len(lines)), 0, -1) if before[-n:] == lines[:n])
        repeated = 0 if goes_on else sum(map(len, lines[: next(same, 0)]))
        yield _Cue(text, times, words, repeated if repeated <= MOST_REPEATED else 0)
        before, times_before = [*before, *lines] if goes_on else lines, times or times_before


def _by_line(text: str, words: Iterable[tuple[int, int, str]]) -> list[list[str]]:
    """Return how the words of each line that has any are read."""
    ends = [line.end() for line in _LINE.finditer(text)]
    return [[read for _, _, read in line] for _, line in groupby(words, lambda word: bisect_right(ends, word[0]))]


def _is_rolling(cues: Sequence[_Cue]) -> bool:
    """Tell captions that roll by their first cues: most begin with what the one before ends with, and go on."""
    repeated = sum(cue.repeated > 0 for cue in cues)
    goes_on = any(0 < cue.repeated < len(cue.words) for cue in cues)
    return goes_on and repeated >= 2 and 4 * repeated >= 3 * (len(cues) - 1)


def _words(line: str, speaker: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where the words of a cue begin and end, and how they are read."""
    shadow = _shadow(line, speaker)
    if not _SPECIAL.search(line):
        yield from ((*found.span(), found[0]) for found in _WORD.finditer(shadow))
        return
    units = [unit for unit in _units(line, shadow) if unit[2]]
    for found in _WORD.finditer("".join(sign for _, _, sign in units)):
        yield units[found.start()][0], units[found.end() - 1][1], found[0]


def _units(line: str, shadow: str) -> Iterator[tuple[int, int, str]]:
    """Yield the parts of a line, as (start, end, how it is read): "" for mark-up; an entity is a sign as any other."""
    read = {found.start(): (found.end(), "") for found in _enclosed(_MARKUP, line)}
    for found in _ENTITY.finditer(line):
        if len(unescape(found[0])) == 1:
            read.setdefault(found.start(), (found.end(), shadow[found.start()]))
    at = 0
    while at < len(line):
        end, sign = read.get(at, (at + 1, shadow[at]))
        yield at, end, sign
        at = end


def _shadow(line: str, speaker: re.Pattern[str] = _SPEAKER) -> str:
    """Return a line of a cue with blanks in place of all that is not spoken, and entities as runs of their signs."""

    def blank(found: re.Match[str]) -> str:
        return " " * len(found[0])

    def repeat(found: re.Match[str]) -> str:
        sign = unescape(found[0])
        return sign * len(found[0]) if len(sign) == 1 else found[0]

    text = _ENTITY.sub(repeat, _without(_MARKUP, line, blank))
    return speaker.sub(blank, _SONG.sub(blank, _without(_BRACKETS, text, blank)))


def _enclosed(patterns: Iterable[tuple[re.Pattern[str], str]], line: str) -> Iterator[re.Match[str]]:
    """Yield what is enclosed in pairs of signs."""
    for pattern, last in patterns:
        yield from pattern.finditer(line, 0, line.rfind(last) + 1)


def _without(
    patterns: Iterable[tuple[re.Pattern[str], str]], line: str, instead: Callable[[re.Match[str]], str]
) -> str:
    """Return a line with something instead of what is enclosed in pairs of signs."""
    for pattern, last in patterns:
        end = line.rfind(last) + 1
        line = pattern.sub(instead, line[:end]) + line[end:]
    return line


def _times_of(found: re.Match[str]) -> Times:
    """Return the times of a cue, in seconds, from the way in which its line writes them."""
    groups = found.groups("")
    first = next(place for place in range(0, len(groups), 8) if groups[place + 2])
    return _seconds(*groups[first : first + 4]), _seconds(*groups[first + 4 : first + 8])


def _seconds(hours: str, minutes: str, seconds: str, fraction: str) -> float:
    return 3600 * int(hours or 0) + 60 * int(minutes or 0) + float(f"{seconds}.{fraction or 0}")
