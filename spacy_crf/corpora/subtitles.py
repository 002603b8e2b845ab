"""Subtitles as running text: SubRip (SRT) and WebVTT, without numbers, times, mark-up and sounds."""

import re
from collections.abc import Iterable, Iterator

_TIMES = re.compile(r"\s*(\d+:)?\d+:\d+[.,]\d+\s*-->\s*(\d+:)?\d+:\d+[.,]\d+")
_MARKUP = re.compile(r"<[^>]*>|\{\\[^}]*\}")
_SOUND = re.compile(r"\[[^\]]*\]|\([^)]*\)|[♪♫#]+[^♪♫#]*[♪♫#]+|[♪♫]")
_SPEAKER = re.compile(r"^\s*(>>+\s*|[-–‐]\s*)?([A-Z][A-Z .'-]*[A-Z.]:\s+)?")
_VTT_BLOCKS = ("WEBVTT", "NOTE", "STYLE", "REGION")


def spoken_lines(lines: Iterable[str]) -> Iterator[str]:
    """The lines that are spoken. Blocks without times (headers, notes, styles) are left out.

    lines (iterable of str): of the file.
    YIELDS (str): a line of a cue without mark-up, speaker, sounds and songs; never an empty one.
    """
    is_cue = False
    for line in lines:
        if not line.strip() or line.startswith(_VTT_BLOCKS):
            is_cue = False
        elif _TIMES.match(line):
            is_cue = True
        elif is_cue:
            spoken = _SPEAKER.sub("", _SOUND.sub(" ", _MARKUP.sub("", line))).strip()
            if spoken:
                yield spoken
