"""Numberings that count only beside others: bare letters and roman numerals, numbers in words, parts in brackets; those
of preambles; and those of other texts, by what they stand beside."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from ..core.grammar.numbering import ALONE, Reading, is_first, readings, step
from ..core.grammar.numerals import (
    ARABIC,
    KEYWORDS,
    MENTIONS,
    NAMED,
    NUMBER_WORDS,
    RANKS,
    ROMAN_UPPER,
    SPOKEN,
    any_of,
    numerals,
)

# what begins sentences and titles too, "Top 10: Ports" and "Primero. Fuimos", unless others go before or behind
DOUBTFUL = re.compile(rf"(?:{'|'.join(SPOKEN)})\s?[.:–—-]?|top\s\d+[.:]?(?:\s?[:–—-])?", re.IGNORECASE)
TOP = KEYWORDS["top"]  # of agenda items
WITH_PARTS = re.compile(r"[A-Z][.-]?\d")
ROMAN_NUMBER = re.compile(r"\W{0,2}([IVXLC]+)(?:([.-]\d)|\W*\Z)")  # "II.", "(II)"; "II.1"
WITH_SIGNS = re.compile(r"(?<![^\W_])[A-Z](?=\W*\Z)")
APPENDIX_A = re.compile(r"A|[^\W\d_]+\sA\W?")
BRACKETS = r"\((?:[0-9a-z]{1,4}|[0-9]{1,3}[A-Z]|[A-Z]|[IVX]{2,4})\)"
_BRACKET = re.compile(BRACKETS)
LONGEST_BEFORE = 90  # characters before a mention that may name its law or decision
_BEHIND_LAW = re.compile(  # "15 U.S.C. § 2", "Penal Code § 2"
    r"(?:(?<!\w)(?:U\.\s?S\.\s?C\.(?:\s?A\.)?|USC|C\.\s?F\.\s?R\.|CFR)|(?<!this\s)\b(?:Code|Act)(?=\s§))\s\S$"
)
_DECISION = r"[Jj]udge?ment|Urteil|Beschluss|[Aa]rrest|[Vv]onnis|[Uu]itspraak|[Aa]rrêt"
_BETWEEN = r"(?:,\s|\s|\s?\()(?:at\s|in\s)?$"  # what calls a decision and the mention
_ECLI = r"(?:ECLI:)?[A-Z]{2}:[A-Z\d]{1,7}:\d{4}:\w+(?:\.\w+)*"
_JOURNAL = r"(?:NJ|NJW|NJB|LJN|JOR|RvdW)\s(?=[A-Z]*\d)[\w/-]+(?:,\s\d+)?"  # "NJ 1993/12"
_CASE = r"(?:[A-Z]-\d{1,4}/\d{2}(?:\sP)?|[IVX\d]{1,4}[a-z]?\s[A-Z][A-Za-z]{0,3}\s\d{1,5}/\d{2}|nos?\.\s\d{2,6}/\d{2})"
_PARTIES = r"(?:(?:,?\s(?:and|v\.?|en|und|et))?,?\s[A-Z][\w’'-]*){0,6}"  # "C-1/12 Lee and Moss"
_CITED_ABOVE = r"(?:(?!As\s)[A-Z][\w’'.-]*\]?|\w+\.?\)|judge?ment|decision|case),?\s\(?cited\sabove"
_DATED = rf"(?:{_DECISION})\s(?:of|vom|van|du)\s[\w. ]{{5,20}}\d{{4}}(?:,\s|\s?\()(?:at\s)?$"
_REPORTED = r"\[\d{4}\](?:\s\d{1,4})?(?:\s[A-Z][\w’']*\.?){1,3}\s\d{1,5}"  # "[1999] 1 AC 45"
_BEHIND_DECISION = re.compile(
    rf"\b(?:{_ECLI}|{_JOURNAL}|{_CASE}{_PARTIES}|{_CITED_ABOVE}){_BETWEEN}|{_DATED}|{_REPORTED}{_BETWEEN}"
)
_OF_DECISION = re.compile(  # "of the judgment in Lee v Moss", "van het vonnis"
    r"\s(?:(?:of|in)\s(?:the|that)\s(?:(?:contested|impugned)\s)?judge?ment"
    r"|of\s(?:the|that)\s(?:decision|order|ruling)\s(?:in|under|of)"
    r"|des\s(?:ange\w+en\s)?(?:Urteils|Beschlusses)|de\sl['’]arrêt"
    r"|van\s(?:het|de|haar|zijn|hun)\s(?:bestreden\s)?(?:arrest|vonnis|uitspraak|beschikking))(?!\w)"
)
SHORT = any_of(  # "art.3" and "secs. 3", but "of that rule. 3 ferries"
    form for form, word in NAMED.items() if form in ("nr", "nrn") or (form not in RANKS and len(form) < len(word))
)
# A word before a full stop is short, as in "art. 3" or "art.3"; not "the question. I agree", "state of the art.3"
_NOT_LAST = rf"(?:(?!{any_of(NAMED)}\.)|(?={SHORT}\.\s)|(?<!the\s)(?<!/)(?={SHORT}\.))"
# "the question I asked", but "the provisions of part I do not apply"
_NO_SPEAKER = (
    r"(?!(?<!\b(?i:of|in|by|to|or)\s)(?<!\b(?i:under)\s)"
    rf"[a-z]+\sI(?:['’]|\s{any_of(MENTIONS['speaker'])}(?!\w)))"
)
MEANT = _NOT_LAST + _NO_SPEAKER  # where a word may begin a mention
IN_WORDS = NUMBER_WORDS | SPOKEN
_SPOKEN = [*SPOKEN, *MENTIONS["spoken"]]
CALLED = (  # "cláusula segunda", "Part One", but "her book Three Lives"
    rf"(?![a-zà-öø-ÿ]+\s{any_of(NUMBER_WORDS.keys() - set(_SPOKEN))}(?!\w))(?P<called>{any_of(NAMED)})"
    rf"\s(?P<spoken>{any_of(_SPOKEN)}|(?=[A-ZÀ-ÖØ-Þ]){any_of(NUMBER_WORDS)})(?!\w)"
)
CONTRACT = "(?:Agreement|Contract|Deed|Indenture)"
_OWN_NAME = re.compile(  # "this Lease Agreement", or on a line of its own
    rf"(?im)(?:\bthis\s((?:[\w'’-]+[ \u00a0]){{1,5}}?{CONTRACT})(?!\w)|^[ ]*((?:[\w'’-]+[ ]){{1,5}}{CONTRACT})[ ]*$)"
)
_HERE = re.compile(r"\s(?:above|below|hierboven|hierna|oben|unten|ci-dessus|ci-dessous)(?!\w)")
# words of the first section of a text itself, beside those of outer ones
_ARTICLES = frozenset(("article", "artikel", "artículo", "articolo", "artigo", "статья", "άρθρο", "clause", "cláusula"))
LONGEST = 40  # characters of a number that others share the beginning of
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


def completed(before: str, number: str) -> str:
    """A number of a list with what it shares with the one before: "(b)" behind "2(1)(a)" is 2(1)(b)."""
    if number.startswith("(") and len(before) <= LONGEST:
        first = readings(number.partition(")")[0] + ")")
        for bracket in reversed(list(_BRACKET.finditer(before))):
            own = readings(bracket[0])
            alike = [(one, other) for one in own for other in first if one.kinds == other.kinds]
            if any(one.values < other.values or one.kinds == ARABIC for one, other in alike):  # "6 (2) and (1)"
                return before[: bracket.start()] + number
    return number


def stands_behind_law(text: str, start: int) -> bool:
    """Whether a mention that starts here stands behind the name of its law."""
    return bool(_BEHIND_LAW.search(text, max(start - LONGEST_BEFORE, 0), start + 1))


def own_names(text: str) -> Set[str]:
    """The names that a contract gives itself, and no mention of one of its clauses is of another text for."""
    return {(found[1] or found[2]).casefold() for found in _OWN_NAME.finditer(text)}


def is_of_decision(text: str, start: int, end: int) -> bool:
    """Whether a mention of a paragraph stands beside the decision that the paragraph is in, and not before "above"."""
    if _HERE.match(text, end):
        return False
    return bool(_BEHIND_DECISION.search(text, max(start - LONGEST_BEFORE, 0), start) or _OF_DECISION.match(text, end))
