"""Sections that a text mentions: which ones they are.

Where several sections have the number of a mention, the one that shares most of the sections around it is meant.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile

from spacy.tokens import Doc

from ..core.grammar.numbering import ALONE, PLACE, SIGNS, Reading, readings_of, short_form
from ..core.grammar.numerals import ARABIC, INSERTED, LETTER_UPPER, RANKS, any_of
from . import spans
from .layout import DocumentLayout
from .mention_groups import NumberStep, rank_of
from .mentions import find_mentions
from .tree import SectionTree

SMALL = RANKS["paragraph"]  # the rank of parts that are named within an article
MAIN = frozenset(("clause", "rule", "regulation"))  # beside articles, words of that rank for what is no item of a list
# Behind a number: of an inserted section, where a heading has such a number (2¹, 2bis), or else the mark of a note
ADDED = re.compile(rf"[0-9][ -]?{any_of(INSERTED)}(?!\w)")
RAISED = re.compile(r"(?<=[0-9])[⁰¹²³⁴-⁹]+(?![0-9])")
# Words for parts that are prepositions elsewhere, and what stands behind these there: "para el", "par les", "ad un"
PREPOSITIONS = {
    "para": r"[ao]s?|el|l[ao]s?|que|sus?|una?|uma?|[^\W\d_]+[ai]r",  # not "para under" of English
    "par": r"les?|la|une?|des|ses|sa|son|leurs?|l['’]\w+",
    "ad": r"un[ao]?|ogni|altr[aeio]|alcun[aeio]|esempio",
}
# What a court answers: a section with a title is meant only where the text has such words before numbers
PLEAS = frozenset(("middel", "grief", "klacht", "feit"))
OF_ARTICLES = frozenset(("absatz", "alinéa", "lid"))  # words for parts of articles, not of items in these


@dataclass(frozen=True, slots=True)
class CrossReference:
    """A mention of a section. start, end (int): its characters in the text.

    section (int | None): the place of the section in `SectionTree.walk()`, and so in `doc.spans["sections"]`; None
    where the text has no such section, or several that are as near, and for sections of other texts ("Article 6 GDPR").
    """

    start: int
    end: int
    section: int | None


def get_cross_references(doc: Doc) -> list[CrossReference]:
    """The mentions of sections in a Doc, see `find_cross_references`; [] where no component made a tree."""
    tree = spans.get_tree(doc)
    return [] if tree is None else find_cross_references(doc.text, tree)


def find_cross_references(text: str, tree: SectionTree) -> list[CrossReference]:
    r"""Find the mentions of sections in a text, in order, and what they mean. O(text + mentions * sections).

    The numbers of headings are no mentions. Raised figures behind a number are marks of notes, unless a heading has
    such an insertion (2¹, 2bis). A part that is no section of its own leads to the section around it.

    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> parser = nlp.add_pipe("section_parser")
    >>> doc = nlp("1. Scope\nAll ferries, but see section 2(b).\n\n2. Term\n(a) A year.\n(b) More.\n")
    >>> [(doc.text[found.start : found.end], found.section) for found in doc._.cross_references]
    [('section 2(b)', 3)]
    """
    outline = _Outline(tree)
    headings = {node.start_char for node in tree.walk() if not node.virtual}
    notes = () if any(ADDED.search(node.number) for node in tree.walk()) else RAISED.finditer(text)
    removed = {place for note in notes for place in range(*note.span())}
    whole = range(len(text) + 1)
    places = [place for place in whole if place not in removed] if removed else whole  # of what is left in the text
    shown = _without_prepositions(RAISED.sub("", text) if removed else text)
    headings = {bisect_left(places, start) for start in headings}
    found = []
    for mention in find_mentions(shown, headings):
        path = [replace(step, start=places[step.start]) for step in mention.path]
        section = None if mention.has_none else outline.follow(path)
        found.append(CrossReference(places[mention.start], places[mention.end - 1] + 1, section))
    return found


def list_mentions(text: str, tree: SectionTree) -> list[list[int | None]]:
    """The references of a text as lists that JSON can hold: start, end and section of each."""
    return [[one.start, one.end, one.section] for one in find_cross_references(text, tree)]


def write_json(layout: DocumentLayout, tree: SectionTree) -> str:
    """The tree of a document as JSON text, see `SectionTree.to_json`, with its "cross_references"."""
    found = {**tree.to_json(), "cross_references": list_mentions(layout.text, tree)}
    return json.dumps(found, ensure_ascii=False) + "\n"


def _without_prepositions(text: str) -> str:
    """A text of the same length without words for parts that mostly are prepositions in it, as in "para 2 personas"."""
    for word, behind in PREPOSITIONS.items():
        uses = re.findall(rf"(?i)(?<!\w){word}\s(?:({behind})(?!\w)|\(?\d)", text)
        if 2 * sum(map(bool, uses)) >= max(len(uses), 1):
            text = re.sub(rf"(?i)(?<!\w){word}(?=\s)", "_" * len(word), text)
    return text


class _Outline:
    """The sections of a text by their numbers."""

    def __init__(self, tree: SectionTree) -> None:
        self._nodes = list(tree.walk())
        self._parents = tree.parents()
        self._starts = [node.start_char for node in self._nodes]
        self._numbers = readings_of([node.number for node in self._nodes])
        self._words = {reading.word for number in self._numbers for reading in number}
        self._ending: defaultdict[int, list[int]] = defaultdict(list)  # sections by the last value of their numbers
        for place, number in enumerate(self._numbers):
            for value in {reading.values[-1] for reading in number}:
                self._ending[value].append(place)

        self._appendices = set(self._find_appendices())
        articles = {place for place, number in enumerate(self._numbers) if short_form(_word_of(number)) == "art"}
        self._divisions = {above for place in articles for above in self._around(place)}
        self._in_articles = {place for place in range(len(self._nodes)) if articles.intersection(self._around(place))}

    def _find_appendices(self) -> Iterator[int]:
        """Sections with a capital letter and no word, behind sections beside them that have figures."""
        with_figures = set[int]()  # parents of these
        for place, (number, parent) in enumerate(zip(self._numbers, self._parents)):
            own = number[0] if number and not number[0].word and len(number[0].values) == 1 else None
            if own is not None and own.kinds == ARABIC:
                with_figures.add(parent)
            elif own is not None and parent in with_figures and any(r.kinds == LETTER_UPPER for r in number):
                yield place

    def follow(self, path: Sequence[NumberStep]) -> int | None:
        """The section that a path of numbers leads to."""
        first, *smaller = path
        place = self._first(first.word, first.readings, first.start)
        for step in smaller:
            place = self._inside(place, step.readings, step.start, step.word)
        return place

    def _first(self, word: str, asked: Sequence[Reading], at: int) -> int | None:
        """The section with a number, or else the one with the number's beginning, and the rest inside it."""
        found = self._near(word, at, self._with_number(word, asked))
        larger = [reading.parent for reading in asked if reading.parent is not None]
        if found or not larger:
            nearest = self._nearest(found, at)
            is_other = nearest is not None and word in PLEAS - self._words and self._nodes[nearest].title != ""
            return None if is_other else nearest
        around, inserted = _with_insertions(asked)
        section = self._first(word, around, at) if around else None
        place = self._inside(section, inserted, at)
        if place != section:
            return place
        return self._inside(self._first(word, larger, at), _last_parts(asked), at)

    def _with_number(self, word: str, asked: Sequence[Reading]) -> list[int]:
        """Sections with a number; with its word, where this text has it: Article 3 is no Rule 3."""
        if word == "volume" and word not in self._words:
            return []  # that of a journal
        own = word if word in self._words or word in ALONE else self._alike(word)
        exact = {(reading.kinds, reading.values) for reading in asked}
        values = {reading.values for reading in asked}
        found = self._having(values, lambda r: (r.kinds, r.values) in exact and (not word or r.word == own))
        if "§" in (word, own) and word != own != "":  # a division is no §, and § 2 of an article no Section 2
            return [place for place in found if place not in (self._in_articles if own == "§" else self._divisions)]
        if word and not own:
            found = self._of_form(word, asked, [place for place in found if not self._is_part(place, word)])
        if word in ALONE and not found and not self._words & ALONE:
            found = self._having(values, lambda r: (r.kinds, r.values) in exact)
            return [place for place in found if place in self._appendices]
        # Part II is Part 2
        return found or self._having(values, lambda r: bool(own) and r.values in values and r.word == own)

    def _alike(self, word: str) -> str:
        """The word of this text that is abbreviated as another one is, where § stands for sections; "" for none."""
        return next((own for own in sorted(self._words) if own and _short(own) == _short(word) != ""), "")

    def _near(self, word: str, at: int, places: list[int]) -> list[int]:
        """Of the sections with the number of a small part, such as "paragraph 2", those in the article around it; of
        others none in an annex, unless the mention is there too. A clause is never there: annexes have paragraphs."""
        around = list(self._around_text(at))
        if RANKS.get(word, 0) >= SMALL:
            article = next((place for place in around if self._is_article(place)), None)
            if article is None:
                is_lone = word == "alinéa" and len(places) == 1 and not self._nodes[places[0]].title  # "párrafo 12"
                return [own for own in places if word not in OF_ARTICLES or is_lone or self._is_beside(own, around)]
            depths = self._depths(places, article)
            least = min(depths.values(), default=0)
            return [place for place, depth in depths.items() if word not in OF_ARTICLES or depth == least]
        if word != "clause" and any(map(self._is_annex, around)):
            return places
        return [place for place in places if not any(map(self._is_annex, [*self._around(place)][1:]))] or places

    def _is_beside(self, place: int, around: Sequence[int]) -> bool:
        """Whether a section has no title and is in the innermost of those around a mention, or beside one of them
        that have no title, up to the first one with a title."""
        untitled = [*takewhile(lambda own: not self._nodes[own].title, around)]
        parents = {*around[:1], *(self._parents[own] for own in untitled)}
        return not self._nodes[place].title and self._parents[place] in parents

    def _is_annex(self, place: int) -> bool:
        return _word_of(self._numbers[place]) in ALONE

    def _is_part(self, place: int, word: str) -> bool:
        """Whether a section with a number of one part is in an article, or in what else stands below a word: item 2 in
        Article 1 is no chapter 2, and no Article 2 either, but (2) in § 1 is subsection (2)."""
        rank = min(rank_of(word), SIGNS["§"])
        if word == "subsection" or (rank_of(word) > SIGNS["§"] and short_form(word) != "art"):
            return False
        ranks = (rank_of(_word_of(self._numbers[above])) for above in self._around(place))
        return len(self._numbers[place][0].values) == 1 and any(rank <= own < SMALL for own in ranks)

    def _of_form(self, word: str, asked: Sequence[Reading], places: list[int]) -> list[int]:
        """Of sections without a word, those that the form of a mention means: where (1) stands in 1., it is subsection
        (1), and clause 1 is not."""
        is_bracketed = asked[0].format.startswith("(")
        if not is_bracketed and rank_of(word) > SIGNS["§"] and word not in MAIN and short_form(word) != "art":
            return places
        kept = [place for place in places if self._is_bracketed(place) is is_bracketed]
        if not is_bracketed:
            kept += [place for place in places if self._is_bracketed(place) and not self._is_in_plain(place)]
        return sorted(kept) or places

    def _is_bracketed(self, place: int) -> bool:
        return self._numbers[place][0].format.startswith("(")

    def _is_in_plain(self, place: int) -> bool:
        """Whether a section is in one with a number of the same kind that has neither a word nor brackets."""
        above = (self._numbers[other][0] for other in self._around(place) if self._numbers[other])
        own = self._numbers[place][0].kinds
        return any(one.kinds == own and not one.word and not one.format.startswith("(") for one in above)

    def _is_article(self, place: int) -> bool:
        return any(0 < rank_of(reading.word) < SMALL for reading in self._numbers[place])

    def _inside(self, section: int | None, asked: Sequence[Reading], at: int, word: str = "") -> int | None:
        """The part of a section with a number, or whose number ends so (3.2 in 3); the section where it has no such.

        word (str): of the number: paragraph 1 of a schedule is none of its parts.
        """
        if section is None:
            return None
        ends = {(reading.kinds, reading.values) for reading in asked}
        values = {values for _, values in ends}
        sizes = {len(each) for each in values}
        found = self._having(values, lambda r: any((r.kinds[-size:], r.values[-size:]) in ends for size in sizes))
        outermost = min(rank_of(word), SIGNS["§"]) if word else 0
        found = [place for place in found if rank_of(_word_of(self._numbers[place])) >= outermost]
        inside = self._depths(found, section)
        inside.pop(section, None)
        least = min(inside.values(), default=0)  # § 2 Abs. 1 is (1), not 1. in (1)
        if inside:
            return self._nearest([place for place, depth in inside.items() if depth == least], at)
        larger = [reading.parent for reading in asked if reading.parent is not None]
        around = self._inside(section, larger, at, word) if larger else section
        return section if around == section else self._inside(around, _last_parts(asked), at)

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

    def _depths(self, places: Sequence[int], outer: int) -> dict[int, int]:
        """How many sections are around some that are in another one, or are it; others are left out."""
        return {place: len(list(self._around(place))) for place in places if outer in self._around(place)}

    def _around(self, place: int) -> Iterator[int]:
        """A section and those around it, from the inside out."""
        while place >= 0:
            yield place
            place = self._parents[place]


def _last_parts(asked: Sequence[Reading]) -> list[Reading]:
    """The last parts of numbers: 2 of 3.2."""
    return [Reading(reading.kinds[-1], PLACE, reading.values[-1:]) for reading in asked]


def _with_insertions(asked: Sequence[Reading]) -> tuple[list[Reading], list[Reading]]:
    """What numbers with an inserted letter stand in, and their last parts with it: 1 and 1a of "1(1a)"."""
    above, last = list[Reading](), list[Reading]()
    for reading in asked:
        family, values, inserted = reading.main
        if inserted and (parent := Reading(family, reading.format, values).parent) is not None:
            above.append(parent)
            last.append(Reading(reading.family[-3:], PLACE, reading.values[-2:]))
    return above, last


def _word_of(number: Sequence[Reading]) -> str:
    return number[0].word if number else ""


def _short(word: str) -> str:
    return short_form("section" if word == "§" else word)
