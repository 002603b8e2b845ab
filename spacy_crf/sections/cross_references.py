"""Sections that a text mentions, such as "see 3.2", "Article 7(2)" and "artikel 7, tweede lid": which ones they are.

A mention is a path of numbers from the outside in. Where several sections have the number, the one that shares most of
the sections around the mention is meant. Words of six languages are in the lists of `core.grammar.numerals`.
"""

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, takewhile

from spacy.tokens import Doc

from ..core.grammar.numbering import ALONE, PLACE, SIGNS, Reading, readings
from ..core.grammar.numerals import ARABIC, INSERTED, KEYWORDS, MENTIONS, ORDINALS, PLURALS, RANKS
from . import spans
from .layout import DocumentLayout
from .tree import SectionTree

WORDS = {form: word for form, word in (KEYWORDS | PLURALS).items() if len(form) > 1}
SMALL = RANKS["paragraph"]  # the rank of parts that are named within an article
LONGEST = 40  # characters of a number that others share the beginning of
DEEPEST = max(RANKS.values()) + 1  # the rank of a number without a word


def _any(words: Iterable[str]) -> str:
    """A pattern of these words, the longest first, in any case."""
    return f"(?i:{'|'.join(re.escape(word) for word in sorted(words, key=len, reverse=True))})"


_BRACKETS = r"\([0-9a-z]{1,4}\)"
_INSERTED = rf"(?:[ -]?{_any(INSERTED)}(?!\w|\s(?:[0-9§]|{_any(WORDS)}))|er|[a-z])?"  # 2a, 2 bis, not "2 bis 4"; 1er
_PARTS = rf"[0-9]{{1,4}}{_INSERTED}(?:[.:–-][0-9]{{1,4}}{_INSERTED}|\.[a-zA-Z])*"
_LETTERS = r"(?:[IVXLC]{1,7}|[A-Z])(?:[.-]?[0-9]{1,4})*"
NUMBER = rf"(?:(?:{_PARTS}|{_LETTERS})(?!\w)(?:{_BRACKETS})*|(?:{_BRACKETS})+)"
_BETWEEN = rf"(?:,\s?(?:{_any(MENTIONS['between'])}\s)?|\s?[–-]\s?|\s{_any(MENTIONS['between'])}\s)"
_MENTION = re.compile(
    rf"(?<!\w)(?:(?P<ordinals>{_any(ORDINALS)}(?:(?:,|\s{_any(MENTIONS['between'])})\s{_any(ORDINALS)}){{0,9}})"
    rf"\s(?P<ranked>{_any(WORDS)})(?!\w)"
    rf"|(?:(?P<word>{_any(WORDS)})\.?\s|(?P<sign>[{''.join(SIGNS)}])[{''.join(SIGNS)}]?\s?)"
    rf"(?P<numbers>{NUMBER}(?:{_BETWEEN}{NUMBER})*)"
    rf"|{_any(MENTIONS['see'])}\.?\s(?P<bare>[0-9]{{1,4}}(?:\.[0-9]{{1,4}})+)(?![.-]?\w))"
)
_NUMBER, _BRACKET, _ORDINAL = re.compile(NUMBER), re.compile(_BRACKETS), re.compile(rf"{_any(ORDINALS)}(?!\w)")
# "sections 2–4 and 6-1" are three numbers, "§§ 2-4" are two
_AMONG_SEVERAL, _OF_RANGE = (re.compile(NUMBER.replace("[.:–-]", signs)) for signs in ("[.:-]", "[.:]"))
_SHARED = re.compile("app|art|cap|ch|kap|sec|t[ií]t")  # abbreviations of words of several languages
_LISTED = re.compile(_BETWEEN)
_PLACE = r"(?:[0-9]{1,3}[a-z]?|[a-z]{1,2}|[IVX]{1,4})\)?(?!\w)"
_FINER = (  # parts that are no sections, such as "Satz 2", "first sentence", "ff."
    rf"(?:,?\s(?:aanhef\sen\s)?{_any(MENTIONS['finer'])}\.?\s?{_PLACE}(?:{_BETWEEN}{_PLACE})*"
    rf"|,?\s{_any(ORDINALS)}\s{_any(MENTIONS['finer'])}(?!\w)|\sff?\.)"
)
_SMALLER = re.compile(rf"{_FINER}*(?:,\s| )")  # between a section and a part of it
_ALSO = re.compile(rf"{_FINER}*{_BETWEEN}")  # between two parts of it
_OF = re.compile(rf"\s{_any(MENTIONS['of'])}\s(?:(?:the|de|het|la|le)\s)?|\sde\sl['’]", re.IGNORECASE)
# such as "of the Regulation", ", van de Wet", "BGB", "of the GDPR": a name, or an abbreviation with two capitals
_OF_LAW = re.compile(
    rf"{_FINER}*(?:\s\w*[A-Z]\w*[A-Z]|,?\s{_any(MENTIONS['of'])}\s(?:(?P<between>(?:\w+[\s'’]){{0,4}}?)"
    rf"(?:{_any(MENTIONS['law'])}|\w+{_any(MENTIONS['laws'])}|[0-9]+/[0-9]+)(?!\w)"
    rf"|(?i:(?:the|het|la|le)\s)?(?=\w{{2,6}}(?!\w))\w*[A-Z]\w*[A-Z]))"
)


@dataclass(frozen=True, slots=True)
class CrossReference:
    """A mention of a section. start, end (int): its characters in the text.

    section (int | None): the place of the section in `SectionTree.walk()`, and so in `doc.spans["sections"]`; None
    where the text has no such section, or several that are as near, and for sections of other texts ("Article 6 GDPR").
    """

    start: int
    end: int
    section: int | None


@dataclass(frozen=True, slots=True)
class _Step:
    """A number that a text mentions, with its characters, and its word or sign; "" without."""

    start: int
    end: int
    word: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Numbers that share a word: "articles 3 and 4"."""

    start: int
    end: int
    steps: list[_Step]

    @property
    def word(self) -> str:
        """The word or sign that they share."""
        return self.steps[0].word

    @property
    def rank(self) -> int:
        """How deep in an outline such sections stand."""
        return _rank(self.word)

    def is_above(self, other: "_Group") -> bool:
        """Whether the sections of another group may be parts of those of this one."""
        return self.rank <= other.rank and self.word != other.word


def get_cross_references(doc: Doc) -> list[CrossReference]:
    """The mentions of sections in a Doc, see `find_cross_references`; [] where no component made a tree."""
    tree = spans.get_tree(doc)
    return [] if tree is None else find_cross_references(doc.text, tree)


def find_cross_references(text: str, tree: SectionTree) -> list[CrossReference]:
    r"""Find the mentions of sections in a text, in order, and what they mean. O(text + mentions * sections).

    The numbers of headings are no mentions. A part that is no section of its own leads to the section around it.

    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> parser = nlp.add_pipe("section_parser")
    >>> doc = nlp("1. Scope\nAll ferries, but see section 2(b).\n\n2. Term\n(a) A year.\n(b) More.\n")
    >>> [(doc.text[found.start : found.end], found.section) for found in doc._.cross_references]
    [('section 2(b)', 3)]
    """
    outline = _Outline(tree)
    headings = {node.start_char for node in tree.walk() if not node.virtual}
    groups = (own for group in _groups(text) if (own := _before_headings(group, headings)) is not None)
    found = []
    for path, start, end, is_none in _paths(text, groups):
        section = None if is_none else outline.follow(path)
        found.append(CrossReference(start, end, section))
    return found


def _before_headings(group: _Group, headings: Set[int]) -> _Group | None:
    """A group without the numbers of headings, as behind "of this Part" and a line end; None if nothing is left."""
    steps = list(takewhile(lambda step: step.start not in headings, group.steps))
    if not steps or group.start in headings:
        return None
    return group if len(steps) == len(group.steps) else _Group(group.start, steps[-1].end, steps)


def write_json(layout: DocumentLayout, tree: SectionTree) -> str:
    """The tree of a document as JSON text, see `SectionTree.to_json`, with its "cross_references"."""
    found = [[each.start, each.end, each.section] for each in find_cross_references(layout.text, tree)]
    return json.dumps({**tree.to_json(), "cross_references": found}, ensure_ascii=False) + "\n"


def _paths(text: str, groups: Iterable[_Group]) -> Iterator[tuple[list[_Step], int, int, bool]]:
    """The numbers of each mention from the outside in, its first character, the one behind its last, and whether no
    one section of this text is meant: it, or the list that it is in, is of another text, or it is a part of several."""
    runs = list(_runs(text, groups))
    for run, is_none in zip(runs, _mean_none(text, runs)):
        start, end = _bounds(run)
        listed = next((group for group in run if len(group.steps) > 1), run[-1])
        for step in listed.steps:
            first = start if step is listed.steps[0] else step.start
            behind = end if len(listed.steps) == 1 else step.end
            yield [step if group is listed else group.steps[0] for group in run], first, behind, is_none


def _runs(text: str, groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    """Groups that name one place together, from the outside in: "artikel 7, tweede lid", "point (a) of Article 7"; or
    one in several: "points (a) and (b) of Article 7", "point (a) of Articles 7 and 8"."""
    run: list[_Group] = []
    end = 0
    for group in groups:
        gap = text[end : group.start]
        own = [each for each in run if each.start < each.end]  # the others are told by what stands before
        is_one = sum(len(each.steps) > 1 for each in (*own, group)) < 2
        shared = _shared(run, group, gap)
        if run and is_one and run[-1].is_above(group) and len(run[-1].steps) == 1 and _SMALLER.fullmatch(gap):
            run.append(group)
        elif run and is_one and group.is_above(own[0]) and _OF.fullmatch(gap):
            run = [group, *own]
        elif shared:
            yield run
            run = [*(_Group(group.start, group.start, each.steps[-1:]) for each in shared), group]
        else:
            if run:
                yield run
            run = [group]
        end = group.end
    if run:
        yield run


def _shared(run: Sequence[_Group], group: _Group, gap: str) -> Sequence[_Group]:
    """The groups that what follows a run is in as well: § 2 of "§ 2 Abs. 1 und Abs. 2", § 3 of "§§ 2, 3 Abs. 1"."""
    if len(run) == 1 and len(run[0].steps) > 1 and run[0].is_above(group) and _SMALLER.fullmatch(gap):
        return run
    place = next((place for place, own in enumerate(run) if own.word == group.word), 0)
    in_order = place > 0 and run[0].start <= run[place].start and all(len(own.steps) == 1 for own in run[:place])
    return run[:place] if in_order and _ALSO.fullmatch(gap) else []


def _mean_none(text: str, runs: Sequence[list[_Group]]) -> list[bool]:
    """Which runs are of another text, as the last of a list is ("Article 2 or Article 4 GDPR"), or parts of several
    sections ("points (a) and (b) of Articles 2 and 4")."""
    found, behind = list[bool](), list[_Group]()
    for run in reversed(runs):
        end = _bounds(run)[1]
        gap = text[end : _bounds(behind)[0]] if behind else ""
        is_listed = bool(_LISTED.fullmatch(gap)) and run[0].word in {group.word for group in behind}
        is_of_several = bool(_OF.fullmatch(gap)) and behind[0].is_above(run[0])
        found.append(_is_of_law(text, end) or is_of_several or (is_listed and found[-1]))
        behind = run
    return found[::-1]


def _bounds(run: Sequence[_Group]) -> tuple[int, int]:
    """The characters of a run, whose groups stand from the outside in."""
    return min(group.start for group in run), max(group.end for group in run)


def _groups(text: str) -> Iterator[_Group]:
    for found in _MENTION.finditer(text):
        start, end = found.span()
        if found["ordinals"]:
            word, places = WORDS[found["ranked"].lower()], list(_ORDINAL.finditer(text, start, found.end("ordinals")))
            ends = [own.end() for own in places[:-1]] + [end]
            values = [Reading(ARABIC, PLACE, (ORDINALS[own[0].lower()],)) for own in places]
            steps = [_Step(own.start(), last, word, (value,)) for own, last, value in zip(places, ends, values)]
        elif found["bare"]:
            start = found.start("bare")
            steps = [_Step(start, end, "", readings(found["bare"]))]
        else:
            word = found["sign"] or WORDS[found["word"].lower()]
            is_plural = (found["word"] or "").lower() in PLURALS or text[start + 1] in SIGNS
            at = found.start("numbers")
            numbers = _numbers(found["numbers"], is_plural)
            whole = accumulate((own[0] for own in numbers), _completed)
            steps = [_Step(at + own.start(), at + own.end(), word, readings(each)) for own, each in zip(numbers, whole)]
        if all(step.readings for step in steps):
            yield _Group(start, end, steps)


def _completed(before: str, number: str) -> str:
    """A number of a list with what it shares with the one before: "(b)" behind "2(1)(a)" is 2(1)(b)."""
    if number.startswith("(") and len(before) <= LONGEST:
        first = readings(number.partition(")")[0] + ")")
        for bracket in reversed(list(_BRACKET.finditer(before))):
            own = readings(bracket[0])
            if any(one.kinds == other.kinds and one.values < other.values for one in own for other in first):
                return before[: bracket.start()] + number
    return number


def _numbers(text: str, is_plural: bool) -> list[re.Match[str]]:
    """The numbers of a list of them. is_plural (bool): behind a word or sign for several, of which a dash may be."""
    if not is_plural:
        return list(_NUMBER.finditer(text))
    found = list(_AMONG_SEVERAL.finditer(text))
    return found if len(found) > 1 else list(_OF_RANGE.finditer(text))


def _is_of_law(text: str, end: int) -> bool:
    """Whether a mention that ends here is one of another text."""
    law = _OF_LAW.match(text, end)
    return law is not None and not set((law["between"] or "").lower().split()) & MENTIONS["own"]


class _Outline:
    """The sections of a text by their numbers."""

    def __init__(self, tree: SectionTree) -> None:
        self._nodes = list(tree.walk())
        self._parents = tree.parents()
        self._starts = [node.start_char for node in self._nodes]
        self._numbers = [readings(node.number) for node in self._nodes]
        self._words = {_word(reading) for number in self._numbers for reading in number}
        self._ending: defaultdict[int, list[int]] = defaultdict(list)  # sections by the last value of their numbers
        for place, number in enumerate(self._numbers):
            for value in {reading.values[-1] for reading in number}:
                self._ending[value].append(place)

    def follow(self, path: Sequence[_Step]) -> int | None:
        """The section that a path of numbers leads to."""
        first, *smaller = path
        place = self._first(first.word, first.readings, first.start)
        for step in smaller:
            place = self._inside(place, step.readings, step.start)
        return place

    def _first(self, word: str, asked: Sequence[Reading], at: int) -> int | None:
        """The section with a number, or else the one with the number's beginning, and the rest inside it."""
        found = self._near(word, at, self._with_number(word, asked))
        larger = [reading.parent for reading in asked if reading.parent is not None]
        if found or not larger:
            return self._nearest(found, at)
        last = [Reading(reading.kinds[-1], PLACE, reading.values[-1:]) for reading in asked]
        return self._inside(self._first(word, larger, at), last, at)

    def _with_number(self, word: str, asked: Sequence[Reading]) -> list[int]:
        """Sections with a number; with its word, where this text has it: Article 3 is no Rule 3."""
        own = word if word in self._words or word in ALONE else self._alike(word)
        exact = {(reading.kinds, reading.values) for reading in asked}
        values = {reading.values for reading in asked}
        found = self._having(values, lambda r: (r.kinds, r.values) in exact and (not word or _word(r) == own))
        if word and not own:
            found = [place for place in found if not self._is_part(place, word)]
        # Part II is Part 2
        return found or self._having(values, lambda r: bool(own) and r.values in values and _word(r) == own)

    def _alike(self, word: str) -> str:
        """The word of this text that is abbreviated as another one is; "" for none."""
        return next((own for own in sorted(self._words) if own and _short(own) == _short(word) != ""), "")

    def _near(self, word: str, at: int, places: list[int]) -> list[int]:
        """Of the sections with the number of a small part, such as "paragraph 2", those in the article around it."""
        if RANKS.get(word, 0) < SMALL:
            return places
        article = next((place for place in self._around_text(at) if self._is_article(place)), None)
        return [place for place in places if article is None or article in self._around(place)]

    def _is_part(self, place: int, word: str) -> bool:
        """Whether a section with a number of one part is in an article, or in what else stands below a word: item 2 in
        Article 1 is no chapter 2, and no Article 2 either."""
        rank = min(_rank(word), SIGNS["§"])
        if _rank(word) > SIGNS["§"] and _short(word) != "art":
            return False
        ranks = (_rank(_word_of(self._numbers[above])) for above in self._around(place))
        return len(self._numbers[place][0].values) == 1 and any(rank <= own < SMALL for own in ranks)

    def _is_article(self, place: int) -> bool:
        return any(0 < RANKS.get(_word(reading), SMALL) < SMALL for reading in self._numbers[place])

    def _inside(self, section: int | None, asked: Sequence[Reading], at: int) -> int | None:
        """The part of a section with a number, or whose number ends so (3.2 in 3); the section where it has no such."""
        if section is None:
            return None
        ends = {(reading.kinds, reading.values) for reading in asked}
        values = {values for _, values in ends}
        sizes = {len(each) for each in values}
        found = self._having(values, lambda r: any((r.kinds[-size:], r.values[-size:]) in ends for size in sizes))
        inside = {place: len(list(self._around(place))) for place in found if section in self._around(place)}
        inside.pop(section, None)
        least = min(inside.values(), default=0)  # § 2 Abs. 1 is (1), not 1. in (1)
        return self._nearest([place for place, depth in inside.items() if depth == least], at) if inside else section

    def _having(self, values: Set[tuple[int, ...]], holds: Callable[[Reading], bool]) -> list[int]:
        """Sections whose number ends as one of some values do, and can be read in such a way."""
        places = {place for each in values for place in self._ending.get(each[-1], ())}
        return sorted(place for place in places if any(map(holds, self._numbers[place])))

    def _nearest(self, places: Sequence[int], at: int) -> int | None:
        """The section that shares most of the sections around a place in the text; None where two do."""
        around = set(self._around_text(at)) if len(places) > 1 else set()
        shared = [len(around.intersection(self._around(place))) for place in places]
        return places[shared.index(max(shared))] if shared.count(max(shared, default=0)) == 1 else None

    def _around_text(self, at: int) -> Iterator[int]:
        """The sections around a place in the text, from the inside out."""
        innermost = bisect_right(self._starts, at) - 1
        return (place for place in self._around(innermost) if at < self._nodes[place].end_char)

    def _around(self, place: int) -> Iterator[int]:
        """A section and those around it, from the inside out."""
        while place >= 0:
            yield place
            place = self._parents[place]


def _short(word: str) -> str:
    """The abbreviation that a word of several languages has; "" for others."""
    found = _SHARED.match(word)
    return found[0].replace("í", "i") if found else ""


def _rank(word: str) -> int:
    """How deep in an outline sections with a word or sign stand."""
    return SIGNS.get(word, RANKS.get(word, DEEPEST))


def _word_of(number: Sequence[Reading]) -> str:
    return _word(number[0]) if number else ""


def _word(reading: Reading) -> str:
    """The word or sign before a number."""
    return reading.keyword or next((sign for sign in SIGNS if sign in reading.format), "")
