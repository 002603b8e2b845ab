"""Numberings of sections: what a string such as `2.1.`, `(a)`, `§ 4` or `Chapter IV` may mean, and how two relate.

A string may be read in several ways (`i` is roman 1 or the letter 9; `c` roman 100 or the letter 3): all readings are
returned, and the section parser decides by the numberings around it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

from ..arrays import cached_property
from .numerals import (
    ARABIC,
    COUNTED_FIRST,
    COUNTERS,
    IDEOGRAPH_SIGNS,
    INSERTED,
    KEYWORDS,
    LETTER_LOWER,
    LETTER_UPPER,
    NUMBER_WORDS,
    ORDINALS,
    OTHER_LETTERS,
    OUTER,
    RANKS,
    ROMAN_UPPER,
    SPOKEN,
    numeral,
    numerals,
)

# -- keywords and signs before numbers, and letters and digits of other kinds ---------------------------------

SIGNS: dict[str, int] = {"§": 5, "¶": 7}
# words that head a section also without a number: the only annex, or the first
ALONE: frozenset[str] = frozenset(
    {"annex", "appendix", "schedule", "bijlage", "exhibit", "anhang", "anlage", "anexo", "allegato", "appendice"}
    | {"apéndice"}
    | {word for word in RANKS if word.startswith("disposición")}
)

# soft hyphen, byte order mark, spaces without a width, marks of direction: nothing that a reader sees
INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
BLANK = "".join(filter(str.isspace, map(chr, range(0x3001)))) + INVISIBLE
MAX_PARTS = 12
MAX_LETTERS = 2  # parts that are letters, one more beside digits; others are initials, or a letter-spaced word
MAX_CHARACTERS = 60
PLACE = "#"  # of the numerals in a format
SIGNS_BETWEEN = "-:+"  # of parts; a full stop is not written in a family
FIRST_VALUES = (0, 1)  # an outline may begin with 0
DOUBLED = 27  # the value of aa

_SEPARATOR = r"(?:\.\ ?|[-–:](?=\w))"
_PART = rf"(?:[0-9]+[A-Za-z]?|[A-Za-z][0-9]+|[A-Za-z]{{1,7}}|[{OTHER_LETTERS}]|[{IDEOGRAPH_SIGNS}]{{1,3}})"
_NUMBER = re.compile(rf"{_PART}(?:{_SEPARATOR}{_PART})*")
_JOINT = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[IVXLC])(?=[a-z](?![A-Za-z]))")  # 3a, A1, IIa
_WORD = rf"(?P<word>{'|'.join(word for word in KEYWORDS if ' ' in word)}|[^\W\d_]+)"
_BARE_WORD = re.compile(rf"{_WORD}(?P<close>[.:–—-]{{0,2}})", re.IGNORECASE)
_SPACE_BEFORE_SIGN = re.compile(r"\s+(?=[-–—:]$)")  # "Article 2 -", "Article 2 :"
_FRAME = re.compile(
    r"(?P<open>[(\[{<«]?)(?P<sign>[§¶]{0,2})\s*(?P<number>\w(?:[\w.:–-]|\.\ (?=\w))*?)"
    r"\s{0,3}(?P<close>[^\w\s(\[{]{0,3}|(?:\.?º\.?|\.ª\.?)[-–—]?)"
)
_WORDED = re.compile(rf"{_WORD}\.?\s+(?P<rest>\S.*)", re.DOTALL | re.IGNORECASE)
_EAST = re.compile(
    rf"第\s?(?P<number>[0-9]{{1,4}}|[{IDEOGRAPH_SIGNS}]{{1,3}})\s?(?P<word>[{COUNTERS}])(?P<close>[.:：]?)"
)
_ORDINAL = re.compile(
    r"(?:(?P<sign>§)\s*)?(?P<number>[0-9]{1,4})(?P<ending>st|nd|rd|th|er|[eè]?re|[eè]me|e|de|ste|ª)", re.IGNORECASE
)
_INSERTED = re.compile(rf"([0-9])[ -]?({'|'.join(INSERTED)})(?![^\W_])", re.IGNORECASE)
_INSERTED_ITEM = re.compile(rf"(?<![^\W_][a-z])(?<=[a-z])[ -]({'|'.join(INSERTED)})(?![^\W_])")  # "a-bis)", "b bis)"
_FIRST_ROMAN = re.compile(r"(?<=\s)I(?:er|[eè]re)(?![^\W_])", re.IGNORECASE)
_BRACKETS = re.compile(r"(?<=[0-9A-Za-z)])\(([0-9A-Za-z]{1,4})\)")  # 5(2): part 2 of 5
_ABBREVIATED = re.compile(r"(?<!\w)(?:n(?:\.?[°º]|\.)|no\.?|nr\.?|[№#])\s*(?=[0-9])", re.IGNORECASE)
_SPLIT = re.compile(r"\.\ ?|[-–:]")
_DASHES = "-–—"
_ALIKE = str.maketrans("º–—", "°--")
_NO_SIGNS = str.maketrans("", "", SIGNS_BETWEEN)


@dataclass(frozen=True)
class Reading:
    """One meaning of a numbering.

    family (str): kinds of its parts, one character each; `-` and `:` where those join parts, and `+` where nothing
        does: `1` for 3, `11` for 3.1, `1a` for 3.a, `1+a` for 3a, `I-1` for IV-2.
    format (str): what stands around the number, `#` in its place: `#.`, `(#)`, `artikel #`, `§#`, `#°`;
        `#.0` for 3 that is written 3.0.
    values (tuple of int): the values of the parts, at least one.
    """

    family: str
    format: str
    values: tuple[int, ...]

    # readings are compared in many pairs: what that needs is found once

    @cached_property
    def kinds(self) -> str:
        """The kinds of the parts alone, one character for each value."""
        return self.family.translate(_NO_SIGNS)

    @cached_property
    def keyword(self) -> str:
        """The word before the number, "" for none."""
        return self.format.rpartition(" ")[0]

    @cached_property
    def word(self) -> str:
        """The word or sign before the number, "" for none."""
        return self.keyword or next((sign for sign in SIGNS if sign in self.format), "")

    @cached_property
    def rank(self) -> int | None:
        """The rank of its keyword or sign in an outline, 0 the outermost; None without one."""
        return SIGNS.get(self.format[:1], RANKS.get(self.keyword.lstrip("(")))

    @property
    def main(self) -> tuple[str, tuple[int, ...], int]:
        """Family and values without an inserted letter, and the value of that letter; 0 for none."""
        if self.family[-2:-1] == "+" and self.family[-1] in "aA":
            return self.family[:-2], self.values[:-1], self.values[-1]
        return self.family, self.values, 0

    @cached_property
    def sequence(self) -> tuple[str, str, tuple[int, ...]]:
        """What numberings of one sequence share: word or sign, family, and all values but the last."""
        family, values, _ = self.main
        return self.word, family, values[:-1]

    @cached_property
    def place(self) -> tuple[int, int]:
        """Where it stands in its sequence: its last value, and that of an inserted letter."""
        _, values, inserted = self.main
        return values[-1], inserted

    @cached_property
    def parent(self) -> "Reading | None":
        """The numbering without its last part, 3 of 3.1; None for one of a single part, also with an insertion (3a)."""
        if len(self.main[1]) == 1:
            return None
        return Reading(self.family[:-1].rstrip(SIGNS_BETWEEN), self.format, self.values[:-1])

    @property
    def predecessor(self) -> "Reading":
        """A numbering that comes right before, 2 before 3 and 3a, whether or not anybody would write it."""
        family, values, _ = self.main
        return Reading(family, self.format, (*values[:-1], values[-1] - 1))

    @property
    def number(self) -> str:
        """The number without its format: `3.1`, `IV-2`, `b`."""
        text, values = "", iter(self.values)
        for before, kind in pairwise(["+", *self.family]):
            if kind in SIGNS_BETWEEN:
                text += kind.replace("+", "")
            else:
                text += ("" if before in SIGNS_BETWEEN else ".") + numeral(kind, next(values))
        return text

    def __str__(self) -> str:
        return self.format.replace(PLACE, self.number)


class _PlainCharacters(dict[int, str]):
    """Digits, numerals and signs of other kinds, circled, full-width or of other scripts, as those of ASCII."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        if kind == "Nd":
            found = str(unicodedata.digit(character))
        elif code >= _FIRST_ENCLOSED and (kind in ("No", "Nl", "So") or "\uff01" <= character <= "\uff5e"):
            found = unicodedata.normalize("NFKC", character)
        else:
            found = character
        self[code] = found
        return found


_FIRST_ENCLOSED = 0x2150  # before it are fractions and small digits of footnotes
_PLAIN = _PlainCharacters()


def plain(text: str) -> str:
    """A text with digits and numerals of other kinds as those of ASCII: Ⅳ is IV, ① is 1, ٣ is 3, （１） is (1)."""
    return text if text.isascii() else text.translate(_PLAIN)


def _as_letter(found: re.Match[str]) -> str:
    """A number with an insertion such as 12bis as one with a letter: 12a."""
    return found[1] + chr(ord("a") + INSERTED[found[2].lower()] - 1)


_ORDINAL_FIRST = re.compile(
    rf"(?:(?P<number>{'|'.join(ORDINALS)})|(?={COUNTED_FIRST})(?P<counted>\w+)\.)\s+(?P<word>{'|'.join(OUTER)})"
    r"(?P<close>[.:–—-]{0,2})",
    re.IGNORECASE,
)

_SPOKEN = re.compile(
    rf"(?P<number>{'|'.join(sorted(SPOKEN, key=len, reverse=True))})\s?(?P<close>[.:]?)\s?[-–—]?", re.IGNORECASE
)


@lru_cache(maxsize=65536)
def readings(text: str) -> tuple[Reading, ...]:
    """All readings of a numbering, the likelier kinds of numeral first; () for what is no numbering.

    White space and invisible characters around it and the case of keywords do not matter. A keyword that needs no
    number counts as the first: Annex, Annex 2. Linear in the length, of which no more than 60 characters are a
    numbering.
    """
    text = unicodedata.normalize("NFC", text.strip(BLANK))
    text = _FIRST_ROMAN.sub("I", text.replace("\u00a0", " "))
    if not 0 < len(text) <= MAX_CHARACTERS:
        return ()
    text = plain(_SPACE_BEFORE_SIGN.sub("", text))
    if (lettered := _INSERTED.sub(_as_letter, text)) != text:  # "2 quater" is no 2d of roman numerals, "2⁵" no second
        return tuple(own for own in readings(lettered) if "+a" in own.family and "+i" not in own.family)
    text = _ABBREVIATED.sub("nr ", text, count=1)
    if (inserted := _INSERTED_ITEM.search(text)) is not None:
        items = (own for own in readings(_INSERTED_ITEM.sub("", text, 1)) if own.family[-1] == LETTER_LOWER)
        return tuple(replace(r, family=f"{r.family}+a", values=(*r.values, INSERTED[inserted[1]])) for r in items)
    if (spoken := _ORDINAL_FIRST.fullmatch(text)) is not None:
        form = f"{KEYWORDS[spoken['word'].lower()]} {PLACE}{spoken['close'].rstrip(_DASHES)}"
        value = ORDINALS.get((spoken["number"] or "").lower())
        counted = numerals(spoken["counted"]) if value is None else [(ARABIC, value)]
        return tuple(Reading(kind, form, (value,)) for kind, value in counted)
    if (alone := _SPOKEN.fullmatch(text)) is not None:  # clauses are feminine: "PRIMERA.-" is "Cláusula primera"
        form = f"{'cláusula' if alone['number'][-1] in 'aA' else 'ordinal'} {PLACE}{alone['close']}"
        return (Reading(ARABIC, form, (SPOKEN[alone["number"].lower()],)),)
    if (east := _EAST.fullmatch(text)) is not None:
        form = f"{KEYWORDS[east['word']]} {PLACE}{east['close']}"
        return tuple(Reading(kind, form, (value,)) for kind, value in numerals(east["number"]))
    bare, worded = _BARE_WORD.fullmatch(text), _WORDED.fullmatch(text)
    if bare is not None and (word := KEYWORDS.get(bare["word"].lower())) in ALONE:
        return (Reading(ARABIC, f"{word} {PLACE}{bare['close'].rstrip(_DASHES)}", (1,)),)
    if worded is None:
        return _plain(text, worded=False)
    word = KEYWORDS.get(worded["word"].lower())
    if word is None:
        return ()
    rest = worded["rest"].removeprefix("nr ")  # Annexe n° 2, Exhibit No. 2
    return tuple(Reading(r.family, f"{word} {r.format}", r.values) for r in _plain(rest, worded=True))


_SHARED = re.compile("app|art|cap|ch|kap|sec|t[ií]t")


def short_form(word: str) -> str:
    """The abbreviation that a word of several languages has; "" for others."""
    found = _SHARED.match(word)
    return found[0].replace("í", "i") if found else ""


def readings_of(numbers: Sequence[str]) -> list[tuple[Reading, ...]]:
    """The readings of the numberings of one document, where an abbreviation that words of several languages share is
    that of the word which the document writes out: Art. 2 behind Artikel 1."""
    found = [readings(number) for number in numbers]
    words = [own[0].keyword if own else "" for own in found]
    is_whole = [number.strip(BLANK).lower().startswith(word) for number, word in zip(numbers, words)]
    written = sorted({word for word, whole in zip(words, is_whole) if whole and short_form(word)})
    for place, (word, whole) in enumerate(zip(words, is_whole)):
        if not whole and word not in written:
            other = next((each for each in written if short_form(each) == short_form(word)), word)
            found[place] = tuple(replace(own, format=other + own.format.removeprefix(word)) for own in found[place])
    return found


def _plain(text: str, worded: bool) -> tuple[Reading, ...]:
    """Readings of a number with the signs around it; behind a keyword, number words are numbers too."""
    frame = _FRAME.fullmatch(_BRACKETS.sub(r".\1", text))
    if frame is None:
        return _ordinals(text)
    sign = frame["sign"][:1] if frame["sign"][:1] in SIGNS else ""
    # "Article 2" without a title is between "Article 1 - Fees" and "Article 3 - Ice"; "2 -" may be an item of "2"
    close = frame["close"].rstrip(_DASHES) if worded or sign else frame["close"]
    form = f"{frame['open']}{sign}{PLACE}{close.translate(_ALIKE)}"
    spoken = NUMBER_WORDS.get(frame["number"].lower()) if worded else None
    if spoken is not None:  # TITRE PREMIER may come before TITRE II
        return tuple(Reading(kind, form, (spoken,)) for kind in (ARABIC, ROMAN_UPPER)[: 1 + (spoken in FIRST_VALUES)])
    found = [reading for family, values in _composites(frame["number"]) for reading in _rounded(family, form, values)]
    return (*found, *_ordinals(text))


def _rounded(family: str, form: str, values: tuple[int, ...]) -> Iterator[Reading]:
    """A number as it stands; before it, without its last part if that is a zero: 3.0 is section 3, before 3.1."""
    if family.endswith(ARABIC * 2) and values[-1] == 0:
        yield Reading(family[:-1], form.replace(PLACE, f"{PLACE}.0"), values[:-1])
    yield Reading(family, form, values)


def _composites(number: str) -> list[tuple[str, tuple[int, ...]]]:
    """Families and values of a number of one or more parts."""
    if _NUMBER.fullmatch(number) is None:
        return []
    pieces = [_JOINT.split(piece) for piece in _SPLIT.split(number)]
    joints = ["" if sign.startswith(".") else sign.replace("–", "-") for sign in _SPLIT.findall(number)]
    parts = [part for piece in pieces for part in piece]
    letters = sum(part[0].isalpha() for part in parts)
    if len(parts) > MAX_PARTS or letters > MAX_LETTERS + (letters < len(parts)):
        return []
    signs = [sign for piece, joint in zip(pieces, ["", *joints]) for sign in (joint, *["+"] * (len(piece) - 1))]
    return [
        ("".join(sign + kind for sign, (kind, _) in zip(signs, choice)), tuple(value for _, value in choice))
        for choice in product(*map(numerals, parts))
    ]


def _ordinals(text: str) -> tuple[Reading, ...]:
    """1e, 2de, 3rd as ordinals, § 1er too."""
    match = _ORDINAL.fullmatch(text.rstrip(".:-–—"))
    return () if match is None else (Reading(ARABIC, f"{match['sign'] or ''}{PLACE}e", (int(match["number"]),)),)


def is_first(reading: Reading) -> bool:
    """Whether a reading may open a sequence: 1, a, i, 3.1, and 0; aa too, which goes on only behind z."""
    return reading.values[-1] in FIRST_VALUES or _is_doubled(reading)


def _is_doubled(reading: Reading) -> bool:
    return reading.values[-1] == DOUBLED and reading.family[-1] in (LETTER_LOWER, LETTER_UPPER)


def step(before: Reading, after: Reading) -> int | None:
    """By how much the last value grows between two numberings of one sequence; None if they belong to none.

    They belong to one if their families agree, and all values but the last. What stands around the numbers may differ:
    writers are careless with closing signs. A keyword is part of the sequence: Artikel 3 does not follow Feit 2.
    """
    (value, inserted), (value_after, inserted_after) = before.place, after.place
    if before.sequence != after.sequence or (_is_doubled(after) and value < DOUBLED - 1):
        return None
    return value_after - value or inserted_after - inserted


def is_prefix(above: Reading, below: Reading) -> bool:
    """Whether one numbering is the other one's beginning: 3 of 3.1, 3.1 of 3.1.a, Chapter III of 3.1; not 3 of 3a."""
    is_counted_otherwise = bool(above.keyword) and above.kinds == ROMAN_UPPER and below.kinds[0] == ARABIC
    return (
        len(above.values) < len(below.values)
        and below.values[: len(above.values)] == above.values
        and (below.kinds.startswith(above.kinds) or is_counted_otherwise)
        and step(above, below) is None
    )
