"""Subtitles as running text: SubRip (SRT) and WebVTT, without numbers, times, mark-up and sounds."""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import chain
from typing import NamedTuple

_TIME = r"\s*(?:(\d+):)?(\d+):(\d+)[.,](\d+)\s*"
_TIMES = re.compile(f"{_TIME}-->{_TIME}")
_MARKUP = re.compile(r"</?\w[^>]*>|\{\\[^}]*\}")
_SOUND = re.compile(r"\[[^\]]*\]|\([^)]*\)|[♪♫]+[^♪♫]*[♪♫]+|[♪♫]|(?<!\S)#+\s[^#]*#+(?!\S)")
_SPEAKER = re.compile(r"^\s*(>>+\s*|[-–‐]\s*)?([A-Z][A-Z .'-]*[A-Z.]:\s+)?")


class Cue(NamedTuple):
    """What is shown at a time.

    text (str): what is spoken, in one or more lines. start (float), end (float): in seconds.
    """

    text: str
    start: float
    end: float


def spoken_cues(lines: Iterable[str]) -> Iterator[Cue]:
    """The cues in which somebody speaks. Blocks without times (headers, notes, styles) are left out.

    lines (iterable of str): of the file.
    YIELDS (Cue): without mark-up, speakers, sounds and songs; never an empty one.
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
            text = _SPEAKER.sub("", _SOUND.sub(" ", unescape(_MARKUP.sub("", line)))).strip()
            spoken += [text] if text else []


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    return 3600 * int(hours or 0) + 60 * int(minutes) + float(f"{seconds}.{fraction}")
