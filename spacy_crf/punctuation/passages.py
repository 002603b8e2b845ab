"""Punctuated text of any format as words with the marks around them: what punctuation is learned from.

Subtitles (SRT, WebVTT) are read without numbers, times, mark-up and sounds.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from .block import ABBREVIATIONS, ENDS
from .words import Word, spelt_sign, split_words

REPLACEMENT = "\ufffd"  # what decoders write for bytes that are no text
LEAST_WORDS = 100  # a shorter passage may do without marks
_TIME = r"\s*(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})[.,](\d{1,9})\s*"
_TIMES = re.compile(f"{_TIME}-->{_TIME}")
# Each with the sign that ends it: behind the last of these none is looked for, which would take the square of the line
_MARKUP = ((re.compile(r"<(?:/?[A-Za-z][^>]*|[\d:.]+)>"), ">"), (re.compile(r"\{\\[^}]*\}"), "}"))
_BRACKETS = ((re.compile(r"\[[^\]]*\]"), "]"), (re.compile(r"\([^)]*\)"), ")"))
_SONG = re.compile(r"[♪♫]+[^♪♫]*[♪♫]+|[♪♫]|(?<!\S)#+\s[^#]*#+(?!\S)")
_ENTITY = re.compile(r"&#?\w{1,31};")
_TOO_GREAT = re.compile("&#0*[1-9][0-9]{9,}")  # number of a character
_SPEAKER = re.compile(r"^\s*(>>+\s*|[-–‐]\s*)?([A-Z][A-Z .'-]*[A-Z.]:\s+)?")


@dataclass(frozen=True)
class Passage:
    """A running text, or a part of one that is cut out of it.

    words (list[str]): as they are spelt, without marks. marks (list[str]): names of those behind them, "" for none.
    openings (list[str]), closings (list[str]): kinds of quotation marks and brackets around them, "" for none.
    signs (list[str]): the marks as they are spelt, "" for the usual way.
    truncated (tuple[bool, bool]): whether the text goes on before and behind it.
    following (str): the first mark behind it that ends a sentence.
    pauses (sequence of float | None): seconds of silence behind each word, as far as known; empty if of none.
    name (str): of the document that it is, or is a part of; "" if it is not known.
    """

    words: list[str]
    marks: list[str]
    openings: list[str]
    closings: list[str]
    signs: list[str]
    truncated: tuple[bool, bool] = (False, False)
    following: str = ""
    pauses: Sequence[float | None] = ()
    name: str = ""

    def windows(self, size: int) -> Iterator["Passage"]:
        """Yield parts of about the same number of words. size (int): about so many; 0 for the whole passage."""
        n_parts = max(1, round(len(self.words) / size)) if size else 1
        bounds = [len(self.words) * part // n_parts for part in range(n_parts + 1)]
        ends = [place for place, mark in enumerate(self.marks) if mark in ENDS]
        for low, high in pairwise(bounds):
            sides = low > 0 or self.truncated[0], high < len(self.words) or self.truncated[1]
            behind = bisect_left(ends, high)
            following = self.marks[ends[behind]] if behind < len(ends) else self.following
            yield replace(self._run(low, high), truncated=sides, following=following)

    def sentences(self) -> Iterator["Passage"]:
        """Yield the parts behind which a sentence ends, each as a passage of its own; what was cut stays so."""
        bounds = [0, *(place for place, mark in enumerate(self.marks, 1) if mark in ENDS), len(self.words)]
        for low, high in pairwise(bounds):
            if low < high:
                is_open = self.truncated[1] and self.marks[high - 1] not in ENDS
                yield replace(
                    self._run(low, high),
                    truncated=(self.truncated[0] and low == 0, is_open),
                    following=self.following if is_open else "",
                )

    def _run(self, low: int, high: int) -> "Passage":
        by_word = ("words", "marks", "openings", "closings", "signs", "pauses")
        columns = {name: getattr(self, name)[low:high] for name in by_word}
        return replace(self, **columns, truncated=(False, False), following="")


@dataclass
class Anomalies:
    """What was left out, by reason (Agrawal & Shah, section 4.1.2, discard sentences with such anomalies).

    dropped (Counter[str]): passages and rows. read (int): passages that were kept.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    read: int = 0

    def check(self, passage: Passage, share: float) -> bool:
        """Count a passage and tell whether to learn from it. share (float): least share of words with a mark."""
        reason = ""
        if not passage.words:
            reason = "without words"
        elif any(REPLACEMENT in word for word in passage.words):
            reason = "with undecodable characters"
        elif len(passage.words) >= LEAST_WORDS and sum(map(bool, passage.marks)) < share * len(passage.words):
            reason = "hardly punctuated"
        self.dropped.update([reason] if reason else [])
        self.read += not reason
        return not reason

    def __str__(self) -> str:
        return ", ".join(f"{number} {reason}" for reason, number in sorted(self.dropped.items())) or "-"


def make_passage(text: str, abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """Make the passage of a punctuated text. abbreviations (Collection[str]): words whose period is a part of them."""
    return _of_words(text, split_words(text, abbreviations))


class Cue(NamedTuple):
    """A subtitle: what is spoken, in one or more lines, from when to when, in seconds."""

    text: str
    start: float
    end: float


def spoken_cues(lines: Iterable[str]) -> Iterator[Cue]:
    """Yield the cues in which somebody speaks, without mark-up, speakers, sounds and songs; never an empty one.

    Blocks without times (headers, notes, styles) are left out.
    """
    spoken: list[str] = []
    times: tuple[float, float] | None = None
    for line in chain(lines, [""]):
        found = _TIMES.match(line)
        if found or not line.strip():
            if times and spoken:
                yield Cue("\n".join(spoken), *times)
            spoken, times = [], (_seconds(*found.groups()[:4]), _seconds(*found.groups()[4:])) if found else None
        elif times:
            text = unescape(_TOO_GREAT.sub(REPLACEMENT, _without(_MARKUP, line, "")))
            text = _SPEAKER.sub("", _SONG.sub(" ", _without(_BRACKETS, text, " "))).strip()
            spoken += [text] if text else []


def is_subtitles(opening: str) -> bool:
    """Whether a text is subtitles by how it opens: as WebVTT does, or with the times of a cue on a line."""
    return opening.removeprefix("\ufeff").startswith("WEBVTT") or any(map(_TIMES.match, opening.split("\n")))


def spoken_words(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield all of a file of subtitles: each word that is spoken behind what stands before it, such as times, mark-up
    and sounds; what is behind the last one comes before "". lines (Iterable[str]): With their ends."""
    held: list[str] = []
    is_cue = False
    for line in lines:
        has_words, is_cue = is_cue, bool(_TIMES.match(line)) or (is_cue and not line.isspace())
        at = 0
        for word in re.finditer(r"\S+", _spoken(line) if has_words and not _TIMES.match(line) else ""):
            yield "".join([*held, line[at : word.start()]]), word[0]
            held, at = [], word.end()
        held.append(line[at:])
    yield "".join(held), ""


def _spoken(line: str) -> str:
    """A line of a cue with blanks in place of all that is not spoken."""

    def blank(found: re.Match[str]) -> str:
        return " " * len(found[0])

    text = _without((*_MARKUP, *_BRACKETS), line, blank)
    return _SPEAKER.sub(blank, _SONG.sub(blank, _ENTITY.sub(blank, text)))


def _without(
    enclosed: Iterable[tuple[re.Pattern[str], str]], line: str, instead: str | Callable[[re.Match[str]], str]
) -> str:
    """Return a line with something instead of what is enclosed in pairs of signs."""
    for pattern, last in enclosed:
        end = line.rfind(last) + 1
        line = pattern.sub(instead, line[:end]) + line[end:]
    return line


def spoken_passage(cues: Sequence[Cue], abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """Make the passage of subtitles: one text, with the pauses between cues behind their last words."""
    text = "\n".join(cue.text for cue in cues)
    words = split_words(text, abbreviations)
    begins = np.cumsum([0, *(len(cue.text) + 1 for cue in cues)])
    shown = [cues[place] for place in np.searchsorted(begins, [word.start for word in words], side="right") - 1]
    pauses = [None if cue is after else max(0.0, after.start - cue.end) for cue, after in pairwise(shown)]
    return _of_words(text, words, [*pauses, None][: len(words)])


def _of_words(text: str, words: Sequence[Word], pauses: Sequence[float | None] = ()) -> Passage:
    forms = [text[word.start : word.end] for word in words]
    marks, openings, closings = ([getattr(word, name) for word in words] for name in ("mark", "opening", "closing"))
    return Passage(forms, marks, openings, closings, [spelt_sign(text, word) for word in words], pauses=pauses)


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return 3600 * int(hours or 0) + 60 * int(minutes) + float(f"{seconds}.{fraction}")
