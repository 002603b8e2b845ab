"""Numberings that count only beside others: bare letters and roman numerals, numbers in words, those of preambles."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from ..core.grammar.numbering import ALONE, Reading, is_first, readings, step
from ..core.grammar.numerals import KEYWORDS, RANKS, ROMAN_UPPER, SPOKEN, numerals

# what begins sentences and titles too, "Top 10: Ports" and "Primero. Fuimos", unless others go before or behind
DOUBTFUL = re.compile(rf"(?:{'|'.join(SPOKEN)})\s?[.:–—-]?|top\s\d+[.:]?(?:\s?[:–—-])?", re.IGNORECASE)
TOP = KEYWORDS["top"]  # of agenda items
WITH_PARTS = re.compile(r"[A-Z][.-]?\d")
ROMAN_NUMBER = re.compile(r"\W{0,2}([IVXLC]+)(?:([.-]\d)|\W*\Z)")  # "II.", "(II)"; "II.1"
WITH_SIGNS = re.compile(r"(?<![^\W_])[A-Z](?=\W*\Z)")
APPENDIX_A = re.compile(r"A|[^\W\d_]+\sA\W?")
# words of the first section of a text itself, beside those of outer ones
_ARTICLES = frozenset(("article", "artikel", "artículo", "articolo", "artigo", "статья", "άρθρο", "clause", "cláusula"))
REACH = 50  # units between two members of a series
NEAR = 2  # between two roman numerals, where one of a series may be missing


def find_lone(numbers: Sequence[str]) -> list[bool]:
    """Which of the numberings of a document that match `DOUBTFUL` have none before or behind them, such as "Top 10:".

    Numbers in words begin with the first one: Portuguese days are "Quinta" and "Sexta", "Primero" may be but a word.
    """
    found = [next(iter(readings(number)), None) for number in numbers]
    values = {(own.keyword, own.values) for own in found if own is not None}
    return [own is None or not _is_in_series(own, values) for own in found]


def _is_in_series(own: Reading, values: Set[tuple[str, tuple[int, ...]]]) -> bool:
    last = own.values[-1]
    has_near = any((own.keyword, (last + step,)) in values for step in (-1, 1))
    if own.keyword == TOP:
        return last == 1 or has_near
    return has_near and (own.keyword, (1,)) in values


def preamble_end(numbers: Sequence[Sequence[Reading]], texts: Sequence[str]) -> int:
    """Where a preamble with numbers of its own ends, behind the last one; 0 for none.

    It has parties or recitals, "(1)" before "1. Scope" or "§ 1", "1." before "Artikel 1", without parts of their own,
    and the numbers behind it go on: a line may begin with a mention. None of them goes on with its own, and its last
    paragraph opens no list. texts: of the units, "" for blank lines.
    """
    if not (found := [(place, own[0]) for place, own in enumerate(numbers) if own]):
        return 0
    heights = [_height(own) for _, own in found]
    first = next((place for place, height in enumerate(heights) if height != heights[0]), 0)
    opening = found[first][1]
    has_parts = any(len(own.values) > 1 for _, own in found[: first + 1])  # such as 2.1
    goes_on = any(step(opening, own) == 1 for _, own in found[first + 1 :])
    if heights[first] <= heights[0] or has_parts or not goes_on or not is_first(opening) or opening.keyword in ALONE:
        return 0
    last = {(height, own.sequence): own for height, (_, own) in zip(heights[:first], found)}
    for height, (_, own) in zip(heights[first:], found[first:]):
        before = last.pop((height, own.sequence), None)
        if before is not None and step(before, own) == 1:
            return 0
    end, begin = found[first - 1][0] + 1, found[first][0]
    paragraph, behind = " ".join(texts[end:begin]).rstrip(), " ".join(texts[begin + 1 : begin + 2])
    is_item = behind[:1].islower() or behind.endswith((",", ";"))
    return 0 if is_item or (paragraph.endswith(":") and "  " not in paragraph) else end


def _height(number: Reading) -> int:
    """2 for a number with a word or sign that the sections of a text begin with, 1 for one without, 0 in brackets."""
    if not number.word:
        return int(not number.format.endswith(")"))
    is_outer = number.rank is not None and number.rank < RANKS["article"]
    return 2 if is_outer or number.word in _ARTICLES else 1


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter or roman numeral without any sign, which may be a numbering.

    place (int): of the unit that it begins. is_title (bool): capitals before another one, as before a
        title, or several alone.
    """

    place: int
    end: int
    text: str
    indent: int
    is_title: bool = False


def find_series(letters: Sequence[Letter], numbers: Sequence[tuple[int, str]] = ()) -> list[Letter]:
    """The letters with a predecessor or a successor nearby, of the same kind and with the same indentation; in order.

    Before titles, they are found at any distance and indentation. There A and II are kept as well where numbers begin
    with them, II beside "I." or "III.", and A as the only appendix behind sections that have numbers without signs.
    numbers (Sequence[tuple[int, str]]): of other elements, such as "A.1" and "II", with their places.
    """
    last: dict[tuple[str, int, int], int] = {}
    kept = _before_titles(letters, numbers)
    for number, letter in enumerate(letters):
        for kind, value in () if letter.is_title and len(letter.text) > 1 else numerals(letter.text):
            before = last.get((kind, value - 1, letter.indent))
            if before is not None and letter.place - letters[before].place <= REACH:
                kept.update((before, number))
            last[kind, value, letter.indent] = number
    return [letters[number] for number in sorted(kept)]


def _before_titles(letters: Sequence[Letter], numbers: Sequence[tuple[int, str]]) -> set[int]:
    """Places of letters before titles: of a series, right above numbers with parts, or the only appendix."""
    found = [k for k, letter in enumerate(letters) if letter.is_title]
    if not found:
        return set()
    own = [(letters[k].place, letters[k].text, k) for k in found]
    last: dict[tuple[str, int], int] = {}
    same: dict[str, int] = {}  # the last one that is this letter
    kept = set(_romans(own, numbers))
    for _, text, k in sorted([*own, *((place, number, -1) for place, number in numbers)]):
        if WITH_PARTS.match(text):
            kept.add(same.get(text[0], -1))
        elif k >= 0 or (len(text) > 1 and text.isalpha() and text.isupper()):  # "II" beside "I"
            for kind, value in numerals(text):
                before = last.get((kind, value - 1))
                kept.update(() if before is None else (before, k))
                last[kind, value] = k
            same[text] = k
        elif signed := WITH_SIGNS.search(text):  # "Appendix A"
            same[signed[0]] = -1
    end = _end_of_figures(numbers)
    is_taken = any(place > end and APPENDIX_A.fullmatch(number) for place, number in numbers)
    behind = [k for k in found if letters[k].text == "A" and letters[k].place > end and not is_taken]
    return kept.union(behind if end >= 0 and len(behind) == 1 else ()) - {-1}


def _romans(own: Sequence[tuple[int, str, int]], numbers: Sequence[tuple[int, str]]) -> Iterator[int]:
    """Roman numerals before titles, or alone, that are near other numbers, or right above parts such as II.1.

    A word such as "IV" is no number beside "IV.". own (sequence of tuple): places, texts and numbers of those before
    titles. numbers: see `find_series`.
    """
    matches = [match for _, number in numbers if (match := ROMAN_NUMBER.match(number))]
    outer = {match[1] for match in matches if match[2]}
    signed = {match[1] for match in matches if match[0] != match[1]}
    found = (numerals(match[1]) for match in matches if not match[2])
    values = {value for each in found for kind, value in each if kind == ROMAN_UPPER}
    near = {value + step for value in values for step in range(-NEAR, NEAR + 1) if step}
    for _, text, k in own:
        is_near = text not in signed and any(kind == ROMAN_UPPER and value in near for kind, value in numerals(text))
        if len(text) > 1 and (is_near or text in outer):
            yield k


def _end_of_figures(numbers: Sequence[tuple[int, str]]) -> int:
    """The place of the last number of 1, 1.1, 2, 3, .. without signs; -1 where there are not two sections at least."""
    current, end = 0, -1
    for place, number in numbers:
        figure, _, parts = number.partition(".")
        if number == str(current + 1) or (figure == str(current) and parts):
            current, end = int(figure), place
    return end if current > 1 else -1
