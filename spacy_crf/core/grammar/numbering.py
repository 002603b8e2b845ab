"""Numberings of sections: what a string such as `2.1.`, `(a)`, `§ 4` or `Chapter IV` may mean.

A string may be read in several ways (`i` is roman 1 or the letter 9; `c` roman 100 or the letter 3): all readings are
returned, and the section parser decides by the numberings around it. How readings relate is in `succession`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from .keywords import ALONE, KEYWORDS, RANKS, SIGNS
from .numerals import ARABIC, NUMBER_WORDS, numeral, numerals

MAX_PARTS = 12
MAX_LETTERS = 2  # parts that are letters; more of them are initials, or a letter-spaced word
MAX_CHARACTERS = 60
PLACE = "#"  # of the numerals in a format
SIGNS_BETWEEN = "-:+"  # of parts; a full stop is not written in a family

_SEPARATOR = r"(?:\.\ ?|[-–:](?=\w))"
_PART = r"(?:[0-9]+[A-Za-z]?|[A-Za-z][0-9]+|[A-Za-z]{1,7})"
_NUMBER = re.compile(rf"{_PART}(?:{_SEPARATOR}{_PART})*")
_JOINT = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[IVXLC])(?=[a-z](?![A-Za-z]))")  # 3a, A1, IIa
_BARE_WORD = re.compile(r"(?P<word>[^\W\d_]+)(?P<close>[.:]?)")
_FRAME = re.compile(
    r"(?P<open>[(\[{<«]?)(?P<sign>[§¶]{0,2})\s*(?P<number>[0-9A-Za-z](?:[0-9A-Za-z.:–-]|\.\ (?=\w))*?)"
    r"\s{0,3}(?P<close>[^\w\s(\[{]{0,3}|º\.?)"
)
_WORDED = re.compile(r"(?P<word>[^\W\d_]+)\.?\s+(?P<rest>\S.*)", re.DOTALL)
_ORDINAL = re.compile(r"(?P<number>[0-9]{1,4})(?P<ending>st|nd|rd|th|e|de|ste)", re.IGNORECASE)
_SPLIT = re.compile(r"\.\ ?|[-–:]")


_NO_SIGNS = str.maketrans("", "", SIGNS_BETWEEN)


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a numbering.

    family (str): kinds of its parts, one character each (see `numerals`); `-` and `:` where those join parts, and `+`
        where nothing does: `1` for 3, `11` for 3.1, `1a` for 3.a, `1+a` for 3a, `I-1` for IV-2.
    format (str): what stands around the number, `#` in its place: `#.`, `(#)`, `artikel #`, `§#`, `#°`;
        `#.0` for 3 that is written 3.0.
    values (tuple of int): the values of the parts, at least one.
    """

    family: str
    format: str
    values: tuple[int, ...]

    @property
    def kinds(self) -> str:
        """The kinds of the parts alone, one character for each value."""
        return self.family.translate(_NO_SIGNS)

    @property
    def rank(self) -> int | None:
        """How far out its keyword or sign stands (0 outermost); None without one."""
        return _rank(self.format)

    @property
    def number(self) -> str:
        """The number without its format: `3.1`, `IV-2`, `b`."""
        text, kinds = "", iter(zip(self.kinds, self.values))
        for place, character in enumerate(self.family):
            if character in SIGNS_BETWEEN:
                text += character.replace("+", "")
            else:
                joined = place == 0 or self.family[place - 1] in SIGNS_BETWEEN
                text += ("" if joined else ".") + numeral(*next(kinds))
        return text

    def __str__(self) -> str:
        return self.format.replace(PLACE, self.number)


@lru_cache(maxsize=4096)
def _rank(form: str) -> int | None:
    return SIGNS.get(form[:1], RANKS.get(form.partition(" ")[0].lstrip("(")))


@lru_cache(maxsize=65536)
def readings(text: str) -> tuple[Reading, ...]:
    """All readings of a numbering, the likelier kinds of numeral first; () for what is no numbering.

    White space around it and its case where that has no meaning (keywords) are not looked at. A keyword that needs no
    number counts as the first: Annex, Annex 2. Linear in the length, of
    which no more than 60 characters are a numbering.
    """
    text = text.strip()
    if not 0 < len(text) <= MAX_CHARACTERS:
        return ()
    bare = _BARE_WORD.fullmatch(text)
    if bare is not None and (word := KEYWORDS.get(bare["word"].lower())) in ALONE:
        return (Reading(ARABIC, f"{word} {PLACE}{bare['close']}", (1,)),)
    worded = _WORDED.fullmatch(text)
    if worded is not None:
        word = KEYWORDS.get(worded["word"].lower())
        if word is None:
            return ()
        return tuple(Reading(r.family, f"{word} {r.format}", r.values) for r in _plain(worded["rest"], word=True))
    return _plain(text, word=False)


def _plain(text: str, word: bool) -> tuple[Reading, ...]:
    """Readings of a number with the signs around it; word: behind a keyword, where number words are numbers too."""
    frame = _FRAME.fullmatch(text)
    if frame is None:
        return _ordinals(text)
    sign = frame["sign"][:1] if frame["sign"][:1] in SIGNS else ""
    form = f"{frame['open']}{sign}{PLACE}{_closing(frame)}"
    spoken = NUMBER_WORDS.get(frame["number"].lower()) if word else None
    if spoken is not None:
        return (Reading(ARABIC, form, (spoken,)),)
    found = [reading for family, values in _composites(frame["number"]) for reading in _rounded(family, form, values)]
    return (*found, *_ordinals(text))


def _rounded(family: str, form: str, values: tuple[int, ...]) -> Iterator[Reading]:
    """A number as it stands; before it, without its last part if that is a zero: 3.0 is section 3, before 3.1."""
    if family.endswith(ARABIC * 2) and values[-1] == 0:
        yield Reading(family[:-1], form.replace(PLACE, f"{PLACE}.0"), values[:-1])
    yield Reading(family, form, values)


def _closing(frame: "re.Match[str]") -> str:
    """Closing signs in one spelling."""
    return frame["close"].replace("º", "°").replace("–", "-")


def _composites(number: str) -> list[tuple[str, tuple[int, ...]]]:
    """Families and values of a number of one or more parts."""
    if _NUMBER.fullmatch(number) is None:
        return []
    pieces = [_JOINT.split(piece) for piece in _SPLIT.split(number)]
    joints = ["" if sign.startswith(".") else sign.replace("–", "-") for sign in _SPLIT.findall(number)]
    parts = [part for piece in pieces for part in piece]
    if len(parts) > MAX_PARTS or sum(part[0].isalpha() for part in parts) > MAX_LETTERS:
        return []
    signs = [sign for piece, joint in zip(pieces, ["", *joints]) for sign in (joint, *["+"] * (len(piece) - 1))]
    found = []
    for choice in product(*(numerals(part) for part in parts)):
        family = "".join(sign + kind for sign, (kind, _) in zip(signs, choice))
        found.append((family, tuple(value for _, value in choice)))
    return found


def _ordinals(text: str) -> tuple[Reading, ...]:
    """1e, 2de, 3rd as ordinals."""
    match = _ORDINAL.fullmatch(text.rstrip(".:"))
    if match is None:
        return ()
    return (Reading(ARABIC, f"{PLACE}e", (int(match["number"]),)),)
