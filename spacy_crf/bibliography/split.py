"""Pasted text to references, by numbering, indentation and blank lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .join import find_words, join_lines
from .numbering import Marker, numbered_starts

HEADING = re.compile(
    r"(?:\W*\d+(?:\.\d+)*\.?\s+|chapter\s+\d+:?\s+)?"
    r"(?:references?|bibliography|(?:selected |annotated )?bibliograph(?:y|ie|ia)|works cited|literature(?: cited)?|"
    r"literatur(?:verzeichnis)?|quellen(?:verzeichnis)?|sources|further reading|notes|références)"
    r"(?:\s+(?:to|for|of|and)\s+\w.{0,60}?)?\s*:?",
    re.IGNORECASE,
)
PARTICLE = r"(?:v[ao]n|de|del|della|der|den|di|da|dos|du|la|le|les|ten|ter|zu|al|el|af|av)\b"
BEGINNING = re.compile(rf"[\"'“‘„«(\[]*(?:[^\W\d_a-zß-ÿ]|{PARTICLE}\s|[-–—_]{{2,}})")
FINISHED = re.compile(r"[.!?)\]>\d\"”’»][.,;]?$|(?:https?://|www\.|doi:)\S+$")


@dataclass(frozen=True)
class Reference:
    """A reference of a pasted text.

    text (str): in one line, without its marker. first_line (int), last_line (int): where it was, counted from 1.
    marker (str): its number or key as printed, such as "[1]"; empty without one.
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


def split_references(text: str) -> list[Reference]:
    """Divide a bibliography into references.

    A heading such as "References to Chapter 2" begins a part with a layout of its own. In a part, references are
    numbered ([1], (1), 1., 1) or keys in brackets), or begin where the indentation is that of the first line, or, if
    all lines have the same, behind blank lines; without these, where a line looks complete and the next one like a
    beginning. Numbers count only where they go on counting, so that a line may begin with another one.

    text (str): lines.
    RETURNS (list[Reference]): in the order of the text; headings are left out.
    """
    words = find_words(text)
    found = []
    for part in _parts(text.splitlines()):
        markers = numbered_starts([(line.text, line.indent, line.after_blank) for line in part])
        starts = sorted(markers) or _unnumbered_starts(part)
        for first, end in zip(starts, [*starts[1:], len(part)]):
            found.append(_reference(part[first:end], markers.get(first), words))
    return [reference for reference in found if reference.text]


def _parts(lines: Sequence[str]) -> Iterator[list[_Line]]:
    """Runs of lines between headings, without blank ones."""
    part: list[_Line] = []
    after_blank = True
    for number, raw in enumerate(lines, 1):
        line = raw.expandtabs(4)
        stripped = line.strip()
        if stripped and HEADING.fullmatch(stripped):
            if part:
                yield part
            part = []
        elif stripped:
            part.append(_Line(number, stripped, len(line) - len(line.lstrip()), after_blank))
        after_blank = not stripped
    if part:
        yield part


def _unnumbered_starts(part: Sequence[_Line]) -> list[int]:
    first = part[0].indent
    if any(line.indent != first for line in part):
        return [place for place, line in enumerate(part) if line.indent == first]
    if any(line.after_blank for line in part[1:]):
        return [0, *(place for place, line in enumerate(part) if place and line.after_blank)]
    pairs = enumerate(zip(part, part[1:]), 1)
    return [0, *(place for place, (before, line) in pairs if _begins(before.text, line.text))]


def _begins(before: str, line: str) -> bool:
    """Whether a line without any sign of layout begins a reference."""
    return FINISHED.search(before) is not None and BEGINNING.match(line) is not None


def _reference(lines: Sequence[_Line], marker: Marker | None, words: frozenset[str]) -> Reference:
    texts = [line.text for line in lines]
    if marker is not None:
        texts[0] = texts[0][len(marker.text) :]
    return Reference(join_lines(texts, words), lines[0].number, lines[-1].number, "" if marker is None else marker.text)
