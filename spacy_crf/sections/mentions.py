"""Mentions of sections in a text, such as "see 3.2", "Article 7(2)" and "artikel 7, tweede lid", as paths of numbers.

A path goes from the outside in.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from ..core.grammar.numbering import SIGNS
from ..core.grammar.numerals import PLURALS, RANKS, listed
from .mention_groups import (
    AMOUNT,
    ANY,
    BETWEEN,
    BRACKETS,
    FINERS,
    NUMBER,
    ORDERED,
    SMALL,
    Group,
    NumberStep,
    find_groups,
    rank_of,
    read_number,
    steps_of,
)
from .other_texts import is_of_other_text, own_names

_SMALLER = re.compile(rf"{FINERS}(?:,\s| )(?:aanhef\sen\s)?")  # between a section and a part of it
_ALSO = re.compile(rf"{FINERS}{BETWEEN}(?:(?:de\s)?l['’])?")  # between two of a list
_SECTION = rf"(?:(?=[0-9]{{1,3}}(?![0-9])){NUMBER}|(?:{BRACKETS})+)(?!{AMOUNT})"
_ALSO_SECTIONS = re.compile(rf"{FINERS}{BETWEEN}(?=[0-9])({_SECTION}(?:{BETWEEN}{_SECTION})*)")
# the next of a list, before a part of it
_NEXT = re.compile(rf"{FINERS}(?P<before>(?:{BETWEEN}{NUMBER}){{0,9}}?){BETWEEN}(?P<next>{NUMBER})(?:,\s| )")
_OF_THE = rf"\s{ANY['of']}\s(?:(?:the|de|het|la|le)\s)?"
_OF = re.compile(rf"(?i)(?:{_OF_THE}{ORDERED}\s{ANY['small']})?(?:{_OF_THE}|\s(?:de\sl|dell)['’])")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a section. start, end (int): its characters. path (Sequence): its numbers from the outside in.

    has_none (bool): whether no one section of this text is meant: it, or the list that it is in, is of another text, or
    it is a part of several.
    """

    start: int
    end: int
    path: Sequence[NumberStep]
    has_none: bool


def find_mentions(text: str, headings: Set[int]) -> Iterator[Mention]:
    """Yield the mentions of sections in a text, in order.

    Small parts, such as "lettera b)", are mentions with the section that they are in only.

    headings (Set[int]): where headings begin, whose own numbers are no mentions.
    """
    groups = (own for group in find_groups(text) if (own := _before_headings(group, headings)) is not None)
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
    if found is None or (found["before"] and not is_plural) or not (readings := read_number(found["next"])):
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
            steps = steps_of(outer.word, found[1], found.start(1), is_plural=True)
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
        is_of_several = bool(_OF.fullmatch(gap)) and behind[0].is_above(run[0])
        found.append(is_of_other_text(text, start, end, word, own) or is_of_several or (is_listed and found[-1]))
        behind = run
    return found[::-1]


def _bounds(run: Sequence[Group]) -> tuple[int, int]:
    """The characters of a run, whose groups stand from the outside in."""
    return min(group.start for group in run), max(group.end for group in run)
