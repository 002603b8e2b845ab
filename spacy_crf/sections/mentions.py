"""Mentions of sections in a text, such as "see 3.2", "Article 7(2)" and "artikel 7, tweede lid", as paths of numbers.

A path goes from the outside in. Words of six languages are in the lists of `core.grammar.numerals`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, takewhile

from ..core.grammar.numbering import ALONE, PLACE, SIGNS, Reading, readings
from ..core.grammar.numerals import ARABIC, INSERTED, MENTIONS, NAMED, ORDINALS, PLURALS, RANKS, any_of, listed
from .series import BRACKETS, CALLED, CONTRACT, IN_WORDS, MEANT, completed, is_of_decision, own_names, stands_behind_law

SMALL = "small part: "  # before the words of parts that only count with the section that they are in
DEEPEST = max(RANKS[word] for word in NAMED.values()) + 1  # the rank of a number without a word

_ANY = {does: any_of(words) for does, words in MENTIONS.items()}
_ANY_INSERTED, _ANY_ORDINAL, _ANY_WORD = any_of(INSERTED), any_of(ORDINALS), any_of(NAMED)
_APART = r"[ \u00a0]\((?:[0-9]{1,2}[a-zA-Z]?|[a-zA-Z]|[ivx]{2,5}|[IVX]{2,4})\)"  # "§ 2 (1)", not "section 2 (old)"
_INSERTED = rf"(?:(?!\sbis\s(?:[0-9§]|{_ANY_WORD}(?!\w)))[ -]?{_ANY_INSERTED}(?!\w)|er|[a-zA-Z])?"  # not "2 bis 4"
_NOT_INSERTED = rf"(?!\.?[ºª][ -]?{_ANY_INSERTED}(?!\w))"  # "3.º bis" is not 3
_PARTS = rf"(?!\d+/\d\d)[0-9]{{1,4}}{_NOT_INSERTED}(?:\.?[ºª]|{_INSERTED})(?:[.:–-][0-9]{{1,4}}{_INSERTED}|\.[a-zA-Z])*"
_CODE = r"[LRD]\.[ \u00a0]?(?=[0-9]{3}|[0-9]+-)[0-9]{1,4}(?:-[0-9]{1,4})*"  # of French codes: L. 121-1
_LETTERS = rf"(?:{_CODE}|(?:[IVXLC]{{1,7}}|[A-Z])(?:[.-]?[0-9]{{1,4}})*)"
NUMBER = rf"(?:(?:{_PARTS}|{_LETTERS})(?!\w)(?:{BRACKETS}|{_APART})*|(?:{BRACKETS})+)"
_ORDERED = rf"{_ANY_ORDINAL}(?:(?:,|\s{_ANY['between']})\s{_ANY_ORDINAL}){{0,9}}"
_CLOSED = r"(?:(?<=\d\.[a-z])\))?"  # "5.1.b)"
_BETWEEN = rf"{_CLOSED}(?:,\s?(?:{_ANY['between']}\s)?|\s?[–-]\s?|\s{_ANY['between']}\s)"
_PLACE = r"(?:[0-9]{1,3}[a-z°º]?|[a-z]{1,2}|[A-Z]|[IVX]{1,4})\)?(?!\w)"
_AMOUNT = rf"\s?%|\s{_ANY['unit']}(?!\w)|-[^\W\d]"  # "sous 8 jours", "onder 18-jarigen"
_ADDED = rf"(?:-{_ANY_INSERTED}|[ ]{_ANY_INSERTED}(?=\)))?"  # "a-bis", "a bis)"
_LETTERED = (rf"(?:{own}){_ADDED}" for own in ("[a-z]|[ivx]{2,4}|aa|bb|cc|dd", "[A-Z]|[IVX]{2,4}"))
_SMALL = (  # places of small parts; lists have one kind of them: "onder c, en 12" has no number 12
    *(
        rf"(?<!\w)(?:{place}){end}(?!\w|\.\w)"
        for place in (*_LETTERED, rf"[0-9]{{1,3}}[a-z°º]?(?!{_AMOUNT})")
        for end in (rf"\)(?:\s{_ANY_INSERTED}(?=[,.;]))?", "")
    ),
    BRACKETS,
)
_SMALLS = "|".join(f"{place}(?:{_BETWEEN}{place})*" for place in _SMALL)
_MENTION = re.compile(
    r"(?<!\w)(?:(?!(?i:first|second|third|fourth|fifth)\s(?:comma|parties)(?!\w))"
    rf"(?P<ordinals>{_ORDERED})\s(?P<ranked>{_ANY_WORD})(?!\w)"
    rf"|(?:{MEANT}(?P<word>{_ANY_WORD})(?:\.?\s|\.(?=[0-9]))(?:(?i:n\.?[°º]|n[or]\.)\s?)?|(?P<sign>[{''.join(SIGNS)}])[{''.join(SIGNS)}]?\s?)"
    rf"(?P<numbers>(?:{BRACKETS})+(?:{_BETWEEN}(?:{BRACKETS})+)*|{NUMBER}(?:{_BETWEEN}{NUMBER})*)"  # not "(b), and 6"
    rf"|(?P<small>{_ANY['small']})(?:\.\s?|\s)(?P<places>{_SMALLS})"
    rf"|{CALLED}"
    rf"|{_ANY['see']}\.?\s(?P<bare>[0-9]{{1,4}}(?:\.[0-9]{{1,4}})+)(?![.-]?\w))"
)
_STARTING, _DOTTED_CODE = re.compile(r"\((\w+)\)(?=\()"), re.compile(r"(?<=^[LRD])\.\s?(?=[0-9])")
_SMALL_PLACE = re.compile(rf"({'|'.join(_SMALL)})(?:{_BETWEEN}|$)")  # a word between them may be a letter: "a e b"
_NUMBER, _ORDINAL = re.compile(NUMBER), re.compile(rf"{_ANY_ORDINAL}(?!\w)")
# "sections 2–4 and 6-1" are three numbers, "§§ 2-4" are two
_AMONG_SEVERAL, _OF_RANGE = (re.compile(NUMBER.replace("[.:–-]", signs)) for signs in ("[.:-]", "[.:]"))
_FINER = (  # parts that are no sections, such as "Satz 2", "first sentence", "ff."
    rf"(?:,?\s(?:aanhef\sen\s)?{_ANY['finer']}\.?\s?{_PLACE}(?:{_BETWEEN}{_PLACE})*"
    rf"|,?\s(?:aanhef\sen\s)?{_ANY['small']}(?:\.\s?|\s)(?:{_SMALLS})"
    rf"|,?\s{_ORDERED}\s{any_of(MENTIONS['finer'] | MENTIONS['small'])}(?!\w)|\sff?\."
    rf"|,?[ \u00a0][IVX]{{1,4}}(?:[ \u00a0][0-9]{{1,2}})?(?=(?:,|\s{_ANY['between']})\s))"  # "§§ 280 I, 281"
)
_FINERS = rf"{_FINER}{{0,9}}"  # no more: time is linear
_SMALLER = re.compile(rf"{_FINERS}(?:,\s| )(?:aanhef\sen\s)?")  # between a section and a part of it
_ALSO = re.compile(rf"{_FINERS}{_BETWEEN}(?:(?:de\s)?l['’])?")  # between two of a list
_SECTION = rf"(?:(?=[0-9]{{1,3}}(?![0-9])){NUMBER}|(?:{BRACKETS})+)(?!{_AMOUNT})"
_ALSO_SECTIONS = re.compile(rf"{_FINERS}{_BETWEEN}(?=[0-9])({_SECTION}(?:{_BETWEEN}{_SECTION})*)")
# the next of a list, before a part of it
_NEXT = re.compile(rf"{_FINERS}(?P<before>(?:{_BETWEEN}{NUMBER}){{0,9}}?){_BETWEEN}(?P<next>{NUMBER})(?:,\s| )")
_OF_THE = rf"\s{_ANY['of']}\s(?:(?:the|de|het|la|le)\s)?"
_OF = re.compile(rf"(?i)(?:{_OF_THE}{_ORDERED}\s{_ANY['small']})?(?:{_OF_THE}|\s(?:de\sl|dell)['’])")
_LAWS = rf"(?:{_ANY['law']}|\w*{_ANY['laws']})"
_NAMED = r"(?:[A-ZÄÖÜ][\w'’-]*[ \u00a0](?:(?:and|en|und|et)[ \u00a0])?){0,4}"  # "Companies" of "Companies Act"
# such as "of the Regulation", "to the Act", ", van de Wet", "Opiumwet", "I 1 BGB", "f BGB", "of the Main Agreement"
_OF_LAW = re.compile(
    rf"{_CLOSED}(?:[ \u00a0][IVX]{{1,4}}(?:[ \u00a0][0-9]{{1,2}})?)?(?:[ \u00a0](?:[a-z]\)|[b-df-h](?!\w)))?{_FINERS}"
    rf"(?:\s\(oud\))?(?:\s\w*[A-Z]\w*[A-Z]|,?\s(?:{_ANY['of']}\s(?:(?:de|het)\s)?)?{_ANY['short']}(?!\w)"
    rf"|,?[ \u00a0](?P<to>to\s(?:the\s)?)?(?=[A-ZÄÖÜ]){_NAMED}(?=[A-ZÄÖÜ]|wet){_LAWS}(?!\w)"
    rf"|\s(?:of|to|in)\sthe\s(?P<contract>{_NAMED.replace('{0,', '{1,')}{CONTRACT})(?!\w)"
    rf"|,?\s{_ANY['of']}\s(?:(?P<between>(?:\w+[\s'’]){{0,4}}?)(?:{_LAWS}|[0-9]+/[0-9]+)(?!\w)"
    rf"|(?i:(?:the|de|het|la|le)\s)?(?=\w{{2,6}}(?!\w))\w*[A-Z]\w*[A-Z]))"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a section. start, end (int): its characters. path (Sequence): its numbers from the outside in.

    has_none (bool): whether no one section of this text is meant: it, or the list that it is in, is of another text, or
    it is a part of several.
    """

    start: int
    end: int
    path: Sequence["NumberStep"]
    has_none: bool


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


def find_mentions(text: str, headings: Set[int]) -> Iterator[Mention]:
    """Yield the mentions of sections in a text, in order.

    Small parts, such as "lettera b)", are mentions with the section that they are in only.

    headings (Set[int]): where headings begin, whose own numbers are no mentions.
    """
    groups = (own for group in _groups(text) if (own := _before_headings(group, headings)) is not None)
    found = [run for run in _runs(text, groups) if any(not group.word.startswith(SMALL) for group in run)]
    runs = list(_with_next(text, found, headings))
    for run, has_none in zip(runs, _mean_none(text, runs)):
        start, end = _bounds(run)
        several = next((group for group in run if len(group.steps) > 1), run[-1])
        for step in several.steps:
            first = start if step is several.steps[0] else step.start
            behind = end if len(several.steps) == 1 else step.end
            path = [step if group is several else group.steps[0] for group in run]
            yield Mention(first, behind, path, has_none)


def _before_headings(group: Group, headings: Set[int]) -> Group | None:
    """A group without the numbers of headings, as behind "of this Part" and a line end; None if nothing is left."""
    steps = list(takewhile(lambda step: step.start not in headings, group.steps))
    if not steps or group.start in headings:
        return None
    return group if len(steps) == len(group.steps) else Group(group.start, steps[-1].end, steps)


def _runs(text: str, groups: Iterable[Group]) -> Iterator[list[Group]]:
    """Groups that name one place together, from the outside in: "artikel 7, tweede lid", "point (a) of Article 7"; or
    one in several: "points (a) and (b) of Article 7", "point (a) of Articles 7 and 8"."""
    run: list[Group] = []
    end = 0
    for group in groups:
        gap = text[end : group.start]
        own = [each for each in run if each.start < each.end]  # the others are told by what stands before
        is_one = sum(len(each.steps) > 1 for each in (*own, group)) < 2
        if one_more := _next_section(text, run, group, end):
            before, outer = one_more
            yield before
            run, end = [outer, group], group.end
            continue
        shared = _shared(run, group, gap)
        is_several = len(group.steps) > 1 and group.word == "§" != text[group.start + 1]  # of "articles 6, § 1, and 9"
        place = _place(run, group, end)
        is_above = place > 0 and run[place - 1].is_above(group) and not is_several
        in_brackets = text[group.end : group.end + 1] == ")" and rank_of(group.word) >= RANKS["paragraph"]
        is_smaller = is_above and bool(_SMALLER.fullmatch(gap.removesuffix("(") if in_brackets else gap))
        if is_one and is_smaller and len(run[place - 1].steps) == 1 and group.word not in {each.word for each in run}:
            run.insert(place, group)  # no section is in another one of its kind
        elif run and is_one and group.is_above(own[0]) and _OF.fullmatch(gap):
            run = [group, *own]
        elif shared:
            yield run
            run = [*(Group(group.start, group.start, each.steps[-1:]) for each in shared), group]
        elif is_smaller and group.word.startswith(SMALL):
            continue  # a small part of each of a list: "eerste en tweede lid, onder b"
        else:
            if run:
                yield run
            run = [group]
        end = group.end
    if run:
        yield run


def _next_section(text: str, run: list[Group], group: Group, end: int) -> tuple[list[Group], Group] | None:
    """The next section of a list in which its word is not said again, that a group is a part of, and the run before
    it: 6 of "articles 5, paragraph 1, and 6, paragraph 2"."""
    if len(run) < 2 or not run[0].is_above(group):
        return None
    outer, last, gap, is_plural = run[0], run[-1], text[end : group.start], _is_plural(text, run[0])
    is_alike = group.word in {own.word for own in run[1:]}
    if is_alike and len(last.steps) > 1 and (gap == " " or (gap == ", " and is_plural)):
        *steps, number = last.steps  # not one of the parts
        own = replace(number, word=outer.word)
        return [*run[:-1], Group(last.start, steps[-1].end, steps)], Group(own.start, own.end, [own])
    found = _NEXT.fullmatch(gap) if is_alike or is_plural else None
    if found is None or (found["before"] and not is_plural) or not (readings := _read(found["next"])):
        return None
    own = NumberStep(end + found.start("next"), end + found.end("next"), outer.word, readings)
    return run, Group(own.start, own.end, [own])


def _is_plural(text: str, group: Group) -> bool:
    """Whether the word of a group is that of several sections, or it has been said before."""
    word, first = listed(text[group.start : group.steps[0].start]).strip(" ."), group.steps[0].start
    return group.start == first or word in PLURALS or (len(word) > 1 and word[1] in SIGNS)


def _with_next(text: str, runs: Sequence[list[Group]], headings: Set[int]) -> Iterator[list[Group]]:
    """Runs, and the sections of lists behind a part of another one: 6 of "articles 5, point b), and 6"."""
    for run, behind in zip(runs, [*runs[1:], None]):
        outer, (_, end) = run[0], _bounds(run)
        limit = _bounds(behind)[0] if behind else len(text)
        if (len(run) > 1 and len(outer.steps) > 1) or not _is_plural(text, outer):
            yield run
            continue
        goes_on = (behind and behind[0].start == behind[0].steps[0].start) or _ALSO_SECTIONS.match(text, end, limit)
        yield from [run] if goes_on or len(run) == 1 or outer.start == outer.steps[0].start else _parted(text, run)
        while found := _ALSO_SECTIONS.match(text, end, limit):
            steps = _steps(outer.word, found[1], found.start(1), is_plural=True)
            if (group := _before_headings(Group(*found.span(1), steps), headings)) is None:
                break
            end = group.end
            if all(step.readings and (outer.word or len(step.readings[0].values) > 1) for step in group.steps):
                yield [group]


def _parted(text: str, run: Sequence[Group]) -> list[list[Group]]:
    """A run, and the sections that stand in the list of its last parts, as its word is that of several: 4 and 5 of
    "§§ 3 Abs. 1, 4 und 5". They are higher than the first; behind a word for several parts, one, and a comma."""
    outer, last = run[0].steps[0], run[-1]
    needed, own = all if _is_plural(text, last) else any, outer.readings[0]
    for place, (before, step) in enumerate(pairwise(last.steps if last.start > outer.start else ()), 1):
        other = step.readings[0]
        is_higher = (own.family, own.format) == (other.family, other.format) and own.values < other.values
        if is_higher and needed((step is last.steps[-1], "," in text[before.end : step.start])):
            more = [replace(each, word=outer.word) for each in last.steps[place:]]
            parts = Group(last.start, before.end, last.steps[:place])
            return [[*run[:-1], parts], [Group(step.start, last.end, more)]]
    return [list(run)]


def _place(run: Sequence[Group], group: Group, end: int) -> int:
    """The place in a run of a group behind it: the last, or around parts that stand before the section that they are
    in, as that of "onderdeel b van artikel 3, eerste lid"."""
    place = len(run)
    if group.word not in SIGNS and run and run[0].end == end:
        while place > 1 and run[place - 1].start < run[0].start and group.is_above(run[place - 1]):
            place -= 1
    return place


def _shared(run: Sequence[Group], group: Group, gap: str) -> Sequence[Group]:
    """The groups that what follows a run is in as well: § 2 of "§ 2 Abs. 1 und Abs. 2", § 3 of "§§ 2, 3 Abs. 1"."""
    if len(run) == 1 and len(run[0].steps) > 1 and run[0].is_above(group) and _SMALLER.fullmatch(gap):
        return run
    place = next((place for place, own in enumerate(run) if own.word == group.word), 0)
    in_order = place > 0 and run[0].start <= run[place].start and all(len(own.steps) == 1 for own in run[:place])
    return run[:place] if in_order and _ALSO.fullmatch(gap) else []


def _mean_none(text: str, runs: Sequence[list[Group]]) -> list[bool]:
    """Which runs are of another text, as the last of a list is ("Article 2 or Article 4 GDPR"), or parts of several
    sections ("points (a) and (b) of Articles 2 and 4")."""
    found, behind, own = list[bool](), list[Group](), own_names(text)
    for run in reversed(runs):
        start, end, word = *_bounds(run), run[0].word
        gap = text[end : _bounds(behind)[0]] if behind else ""
        is_shared = bool(behind) and behind[0].start == behind[0].end and bool(_SMALLER.fullmatch(gap))
        is_listed = (is_shared or bool(_ALSO.fullmatch(gap))) and word in {group.word for group in behind}
        is_paragraph = word == "§" or RANKS.get(word, 0) >= RANKS["paragraph"]
        is_elsewhere = _is_of_law(text, start, end, word, own) or (is_paragraph and is_of_decision(text, start, end))
        is_of_several = bool(_OF.fullmatch(gap)) and behind[0].is_above(run[0])
        found.append(is_elsewhere or is_of_several or (is_listed and found[-1]))
        behind = run
    return found[::-1]


def _bounds(run: Sequence[Group]) -> tuple[int, int]:
    """The characters of a run, whose groups stand from the outside in."""
    return min(group.start for group in run), max(group.end for group in run)


def _groups(text: str) -> Iterator[Group]:
    for found in _MENTION.finditer(text):
        start, end = found.span()
        if found["ordinals"]:
            places = list(_ORDINAL.finditer(text, start, found.end("ordinals")))
            ends = [own.end() for own in places[:-1]] + [end]
            values = [Reading(ARABIC, PLACE, (ORDINALS[listed(own[0])],)) for own in places]
            word = NAMED[listed(found["ranked"])]
            steps = [NumberStep(own.start(), last, word, (value,)) for own, last, value in zip(places, ends, values)]
        elif found["spoken"]:
            value = Reading(ARABIC, PLACE, (IN_WORDS[listed(found["spoken"])],))
            steps = [NumberStep(found.start("spoken"), end, NAMED[listed(found["called"])], (value,))]
        elif found["small"]:
            places, word = list(_SMALL_PLACE.finditer(found["places"])), SMALL + listed(found["small"])
            at = found.start("places")
            all_steps = [NumberStep(at + own.start(), at + own.end(1), word, _read(own[1])) for own in places]
            steps = [step for step in all_steps if step.readings]
        elif found["bare"]:
            start = found.start("bare")
            steps = [NumberStep(start, end, "", readings(found["bare"]))]
        else:
            word = found["sign"] or NAMED[listed(found["word"])]
            is_plural = listed(found["word"] or "") in PLURALS or text[start + 1] in SIGNS
            steps = _steps(word, found["numbers"], found.start("numbers"), is_plural)
        if steps and all(step.readings for step in steps):
            yield Group(start, end, steps)


def _steps(word: str, text: str, at: int, is_plural: bool) -> list[NumberStep]:
    """The numbers of a list at a place. is_plural (bool): behind a word or sign for several, of which a dash may be."""
    numbers = list((_AMONG_SEVERAL if is_plural else _NUMBER).finditer(text))
    if is_plural and len(numbers) == 1:
        numbers = list(_OF_RANGE.finditer(text))
    read = map(_read, accumulate((own[0] for own in numbers), completed))
    return [NumberStep(at + own.start(), at + own.end(), word, each) for own, each in zip(numbers, read)]


def _read(number: str) -> tuple[Reading, ...]:
    """The readings of a number as texts have them: (2)(b) is part b of (2), 2 (b) is 2(b), and L. 121-1 is L121-1."""
    number = re.sub(r"[ \u00a0](?=\()", "", number)
    starting = _STARTING.match(number)
    if starting is None:
        return readings(_DOTTED_CODE.sub("", number))
    return tuple(replace(own, format=f"({PLACE})") for own in readings(starting[1] + number[starting.end() :]))


def _is_of_law(text: str, start: int, end: int, word: str, own: Set[str]) -> bool:
    """Whether a mention that stands here is one of another text, to which annexes and recitals are. own: our names."""
    law, is_after = _OF_LAW.match(text, end), stands_behind_law(text, start)
    if is_after or not law or (law["to"] and word not in {"recital", *ALONE}) or str(law["contract"]).casefold() in own:
        return is_after
    return not {*listed(law["between"] or "").split()} & MENTIONS["own"]


def rank_of(word: str) -> int:
    """How deep in an outline sections with a word or sign stand."""
    return SIGNS.get(word, RANKS.get(word, DEEPEST))
