"""Numbers behind a word or sign for sections: "3 and 4" of "articles 3 and 4", "§ 2(b)", "tweede lid".

Words of six languages are in the lists of `core.grammar.numerals`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate

from ..core.grammar.numbering import ALONE, PLACE, SIGNS, Reading, readings
from ..core.grammar.numerals import (
    ARABIC,
    INSERTED,
    MENTIONS,
    NAMED,
    NUMBER_WORDS,
    ORDINALS,
    PLURALS,
    RANKS,
    SPOKEN,
    any_of,
    listed,
)

SMALL = "small part: "  # before the words of parts that only count with the section that they are in
DEEPEST = max(RANKS[word] for word in NAMED.values()) + 1  # the rank of a number without a word
LONGEST = 40  # characters of a number that others share the beginning of
ANY = {does: any_of(words) for does, words in MENTIONS.items()}
_ANY_INSERTED, _ANY_ORDINAL, _ANY_WORD = any_of(INSERTED), any_of(ORDINALS), any_of(NAMED)
_IN_WORDS = NUMBER_WORDS | SPOKEN

BRACKETS = r"\((?:[0-9a-z]{1,4}|[0-9]{1,3}[A-Z]|[A-Z]|[IVX]{2,4})\)"
_APART = r"[ \u00a0]\((?:[0-9]{1,2}[a-zA-Z]?|[a-zA-Z]|[ivx]{2,5}|[IVX]{2,4})\)"  # "§ 2 (1)", not "section 2 (old)"
_INSERTED = rf"(?:(?!\sbis\s(?:[0-9§]|{_ANY_WORD}(?!\w)))[ -]?{_ANY_INSERTED}(?!\w)|er|[a-zA-Z])?"  # not "2 bis 4"
_NOT_INSERTED = rf"(?!\.?[ºª][ -]?{_ANY_INSERTED}(?!\w))"  # "3.º bis" is not 3
_PARTS = rf"(?!\d+/\d\d)[0-9]{{1,4}}{_NOT_INSERTED}(?:\.?[ºª]|{_INSERTED})(?:[.:–-][0-9]{{1,4}}{_INSERTED}|\.[a-zA-Z])*"
_CODE = r"[LRD]\.[ \u00a0]?(?=[0-9]{3}|[0-9]+-)[0-9]{1,4}(?:-[0-9]{1,4})*"  # of French codes: L. 121-1
_LETTERS = rf"(?:{_CODE}|(?:[IVXLC]{{1,7}}|[A-Z])(?:[.-]?[0-9]{{1,4}})*)"
NUMBER = rf"(?:(?:{_PARTS}|{_LETTERS})(?!\w)(?:{BRACKETS}|{_APART})*|(?:{BRACKETS})+)"
ORDERED = rf"{_ANY_ORDINAL}(?:(?:,|\s{ANY['between']})\s{_ANY_ORDINAL}){{0,9}}"
CLOSED = r"(?:(?<=\d\.[a-z])\))?"  # "5.1.b)"
BETWEEN = rf"{CLOSED}(?:,\s?(?:{ANY['between']}\s)?|\s?[–-]\s?|\s{ANY['between']}\s)"
_PLACE = r"(?:[0-9]{1,3}[a-z°º]?|[a-z]{1,2}|[A-Z]|[IVX]{1,4})\)?(?!\w)"
AMOUNT = rf"\s?%|\s{ANY['unit']}(?!\w)|-[^\W\d]"  # "sous 8 jours", "onder 18-jarigen"
_ADDED = rf"(?:-{_ANY_INSERTED}|[ ]{_ANY_INSERTED}(?=\)))?"  # "a-bis", "a bis)"
_LETTERED = (rf"(?:{own}){_ADDED}" for own in ("[a-z]|[ivx]{2,4}|aa|bb|cc|dd", "[A-Z]|[IVX]{2,4}"))
_SMALL = (  # places of small parts; lists have one kind of them: "onder c, en 12" has no number 12
    *(
        rf"(?<!\w)(?:{place}){end}(?!\w|\.\w)"
        for place in (*_LETTERED, rf"[0-9]{{1,3}}[a-z°º]?(?!{AMOUNT})")
        for end in (rf"\)(?:\s{_ANY_INSERTED}(?=[,.;]))?", "")
    ),
    BRACKETS,
)
_SMALLS = "|".join(f"{place}(?:{BETWEEN}{place})*" for place in _SMALL)
_SHORT = any_of(  # "art.3" and "secs. 3", but "of that rule. 3 ferries"
    form for form, word in NAMED.items() if form in ("nr", "nrn") or (form not in RANKS and len(form) < len(word))
)
# A word before a full stop is short, as in "art. 3" or "art.3"; not "the question. I agree", "state of the art.3"
_NOT_LAST = rf"(?:(?!{_ANY_WORD}\.)|(?={_SHORT}\.\s)|(?<!the\s)(?<!/)(?={_SHORT}\.))"
# "the question I asked", but "the provisions of part I do not apply"
_NO_SPEAKER = (
    r"(?!(?<!\b(?i:of|in|by|to|or)\s)(?<!\b(?i:under)\s)"
    rf"[a-z]+\sI(?:['’]|\s{any_of(MENTIONS['speaker'])}(?!\w)))"
)
_SPOKEN = [*SPOKEN, *MENTIONS["spoken"]]
_RANKED = (  # "first and second paragraph", but "third parties"
    r"(?!(?i:first|second|third|fourth|fifth)\s(?:comma|parties)(?!\w))"
    rf"(?P<ordinals>{ORDERED})\s(?P<ranked>{_ANY_WORD})(?!\w)"
)
_SIGN = f"[{''.join(SIGNS)}]"
_NUMBERS = (  # "articles 3 and 4", "art. n. 3", "§§ 2-4"; not 6 of "(b), and 6"
    rf"(?:{_NOT_LAST}{_NO_SPEAKER}(?P<word>{_ANY_WORD})(?:\.?\s|\.(?=[0-9]))(?:(?i:n\.?[°º]|n[or]\.)\s?)?"
    rf"|(?P<sign>{_SIGN}){_SIGN}?\s?)"
    rf"(?P<numbers>(?:{BRACKETS})+(?:{BETWEEN}(?:{BRACKETS})+)*|{NUMBER}(?:{BETWEEN}{NUMBER})*)"
)
_SMALL_PARTS = rf"(?P<small>{ANY['small']})(?:\.\s?|\s)(?P<places>{_SMALLS})"
_CALLED = (  # "cláusula segunda", "Part One", but "her book Three Lives"
    rf"(?![a-zà-öø-ÿ]+\s{any_of(NUMBER_WORDS.keys() - set(_SPOKEN))}(?!\w))(?P<called>{_ANY_WORD})"
    rf"\s(?P<spoken>{any_of(_SPOKEN)}|(?=[A-ZÀ-ÖØ-Þ]){any_of(NUMBER_WORDS)})(?!\w)"
)
_SEEN = rf"{ANY['see']}\.?\s(?P<bare>[0-9]{{1,4}}(?:\.[0-9]{{1,4}})+)(?![.-]?\w)"  # "see 3.2"
_MENTION = re.compile(rf"(?<!\w)(?:{_RANKED}|{_NUMBERS}|{_SMALL_PARTS}|{_CALLED}|{_SEEN})")
_STARTING, _DOTTED_CODE = re.compile(r"\((\w+)\)(?=\()"), re.compile(r"(?<=^[LRD])\.\s?(?=[0-9])")
_SMALL_PLACE = re.compile(rf"({'|'.join(_SMALL)})(?:{BETWEEN}|$)")  # a word between them may be a letter: "a e b"
_NUMBER, _ORDINAL = re.compile(NUMBER), re.compile(rf"{_ANY_ORDINAL}(?!\w)")
# "sections 2–4 and 6-1" are three numbers, "§§ 2-4" are two
_AMONG_SEVERAL, _OF_RANGE = (re.compile(NUMBER.replace("[.:–-]", signs)) for signs in ("[.:-]", "[.:]"))
_BRACKET = re.compile(BRACKETS)
_FINER = (  # parts that are no sections, such as "Satz 2", "first sentence", "ff."
    rf"(?:,?\s(?:aanhef\sen\s)?{ANY['finer']}\.?\s?{_PLACE}(?:{BETWEEN}{_PLACE})*"
    rf"|,?\s(?:aanhef\sen\s)?{ANY['small']}(?:\.\s?|\s)(?:{_SMALLS})"
    rf"|,?\s{ORDERED}\s{any_of(MENTIONS['finer'] | MENTIONS['small'])}(?!\w)|\sff?\."
    rf"|,?[ \u00a0][IVX]{{1,4}}(?:[ \u00a0][0-9]{{1,2}})?(?=(?:,|\s{ANY['between']})\s))"  # "§§ 280 I, 281"
)
FINERS = rf"{_FINER}{{0,9}}"  # no more: time is linear


@dataclass(frozen=True, slots=True)
class NumberStep:
    """A number that a text mentions, with its characters, and its word or sign; "" without."""

    start: int
    end: int
    word: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Numbers that share a word: "articles 3 and 4"."""

    start: int
    end: int
    steps: list[NumberStep]

    @property
    def word(self) -> str:
        """The word or sign that they share."""
        return self.steps[0].word

    def is_above(self, other: "Group") -> bool:
        """Whether the sections of another group may be parts of those of this one; annexes have all kinds of parts."""
        rank, deeper = rank_of(self.word), rank_of(other.word)
        is_article = rank == RANKS["article"] and other.word == "§"  # "Article 6 § 1"
        return (rank <= deeper or self.word in ALONE or is_article) and self.word != other.word


def find_groups(text: str) -> Iterator[Group]:
    """Yield the numbers behind a word, a sign or "see" of a text, in order; those that cannot be read are left out."""
    for found in _MENTION.finditer(text):
        steps = _steps(found)
        if steps and all(step.readings for step in steps):
            yield Group(found.start("bare") if found["bare"] else found.start(), found.end(), steps)


def _steps(found: re.Match[str]) -> list[NumberStep]:
    if found["ordinals"]:
        return _ordinals(found)
    if found["spoken"]:
        value = Reading(ARABIC, PLACE, (_IN_WORDS[listed(found["spoken"])],))
        return [NumberStep(*found.span("spoken"), NAMED[listed(found["called"])], (value,))]
    if found["small"]:
        return _small_parts(found)
    if found["bare"]:
        return [NumberStep(*found.span("bare"), "", readings(found["bare"]))]
    word = found["sign"] or NAMED[listed(found["word"])]
    is_plural = listed(found["word"] or "") in PLURALS or found[0][1] in SIGNS
    return steps_of(word, found["numbers"], found.start("numbers"), is_plural)


def _ordinals(found: re.Match[str]) -> list[NumberStep]:
    """1 and 2 of "first and second paragraph"; the last one goes to the end of the word."""
    places = list(_ORDINAL.finditer(found.string, *found.span("ordinals")))
    ends = [own.end() for own in places[:-1]] + [found.end()]
    word = NAMED[listed(found["ranked"])]
    values = (Reading(ARABIC, PLACE, (ORDINALS[listed(own[0])],)) for own in places)
    return [NumberStep(own.start(), end, word, (value,)) for own, end, value in zip(places, ends, values)]


def _small_parts(found: re.Match[str]) -> list[NumberStep]:
    word, at = SMALL + listed(found["small"]), found.start("places")
    places = _SMALL_PLACE.finditer(found["places"])
    steps = [NumberStep(at + own.start(), at + own.end(1), word, read_number(own[1])) for own in places]
    return [step for step in steps if step.readings]


def steps_of(word: str, text: str, at: int, is_plural: bool) -> list[NumberStep]:
    """Return the numbers of a list at a place.

    is_plural (bool): behind a word or sign for several, where a dash may stand between two.
    """
    numbers = list((_AMONG_SEVERAL if is_plural else _NUMBER).finditer(text))
    if is_plural and len(numbers) == 1:
        numbers = list(_OF_RANGE.finditer(text))
    read = map(read_number, accumulate((own[0] for own in numbers), _completed))
    return [NumberStep(at + own.start(), at + own.end(), word, each) for own, each in zip(numbers, read)]


def _completed(before: str, number: str) -> str:
    """A number of a list with what it shares with the one before: "(b)" behind "2(1)(a)" is 2(1)(b)."""
    if number.startswith("(") and len(before) <= LONGEST:
        first = readings(number.partition(")")[0] + ")")
        for bracket in reversed(list(_BRACKET.finditer(before))):
            own = readings(bracket[0])
            alike = [(one, other) for one in own for other in first if one.kinds == other.kinds]
            if any(one.values < other.values or one.kinds == ARABIC for one, other in alike):  # "6 (2) and (1)"
                return before[: bracket.start()] + number
    return number


def read_number(number: str) -> tuple[Reading, ...]:
    """The readings of a number as texts have them: (2)(b) is part b of (2), 2 (b) is 2(b), and L. 121-1 is L121-1."""
    number = re.sub(r"[ \u00a0](?=\()", "", number)
    starting = _STARTING.match(number)
    if starting is None:
        return readings(_DOTTED_CODE.sub("", number))
    return tuple(replace(own, format=f"({PLACE})") for own in readings(starting[1] + number[starting.end() :]))


def rank_of(word: str) -> int:
    """How deep in an outline sections with a word or sign stand."""
    return SIGNS.get(word, RANKS.get(word, DEEPEST))
