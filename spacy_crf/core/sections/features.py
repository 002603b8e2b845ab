"""Features of a section that opens: of its heading alone, of it after the sibling before it, of it as a first child;
and their scores, computed once for each pair of levels that meet.

All are functions of two adjacent levels and the heading. Each has a weight; those given here are set by hand, so that
the parser can be used untrained, and are where learning begins.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Indices
from ..grammar.numbering import Reading, is_first, is_prefix, step
from .headings import Heading, Headings, Level, Levels, Opening

_HEADING = {
    "number without title": 0.0,
    "number and title": 0.0,
    "title without number": -0.5,
    "title behind a number that is none": -3.0,
    "blank line before the title": -0.5,
    "title goes on": 0.7,
    "title goes on in other type": -2.0,
    "implied section": -3.0,
    "second reading": -0.3,
}
_SIBLING = {
    "successor": 1.0,
    "gap": -2.0,
    "leap": -4.0,
    "same number again": -3.0,
    "restart beside": -4.5,
    "number goes back": -6.0,
    "beside its prefix": -5.0,
    "beside a part of the section before": -6.0,
    "another prefix": -4.0,
    "another family, first": -3.5,
    "another family, not first": -6.0,
    "another format": -1.0,
    "number carried over a title": -0.5,
    "number after a title": -3.5,
    "title after a number with title": -2.0,
    "title after a number without title": -3.0,
    "title after a title": 0.5,
    "sibling of the same type": 0.5,
    "sibling less prominent": -1.5,
    "sibling more prominent": -1.5,
    "sibling with title, without title": -1.5,
    "first-level title beside one": 1.0,
    "first-level title beside another": -0.5,
}
_CHILD = {
    "first number": 0.0,
    "first number in the document is no first": -1.5,
    "no first number": -3.0,
    "number carried on": 0.5,
    "below its prefix": 1.5,
    "below its prefix, no first": -1.5,
    "parts without a prefix above": -1.5,
    "below another prefix": -5.0,
    "below its predecessor": -6.0,
    "below the same family and format": -4.0,
    "below the same family": -1.0,
    "keyword of lower rank below": 0.5,
    "keyword of higher rank below": -4.0,
    "keyword below a number": -2.5,
    "first-level title on the first level": 1.5,
    "first-level title below": -2.0,
    "title below a number with title": -0.5,
    "title below a number without title": -2.5,
    "title below a title": -0.5,
    "child of the same type": -2.0,
    "child more prominent": -2.0,
    "titled below untitled": -1.5,
}
_CLASSES = ("root", "title", "word", "parts", "I", "A", "1", "a", "i")  # outermost first
_OUT_OF_ORDER = -0.7
_FAMILIES = {
    f"{outer} over {inner}": _OUT_OF_ORDER if _CLASSES.index(outer) > _CLASSES.index(inner) > 1 else 0.0
    for outer in _CLASSES
    for inner in _CLASSES[1:]
}
DEFAULT_WEIGHTS: dict[str, float] = {**_HEADING, **_SIBLING, **_CHILD, **_FAMILIES}
NAMES: tuple[str, ...] = tuple(DEFAULT_WEIGHTS)
SMALL_GAP = 3
USUAL = 3  # features of a section that may all speak for it
_COLUMNS = {name: column for column, name in enumerate(NAMES)}


def heading_features(heading: Heading, second_reading: bool, implied: int) -> list[str]:
    """Features of a heading alone, perhaps in a second reading of its number, with some sections implied above it."""
    counts = {
        "title without number": not heading.number,
        "title behind a number that is none": not heading.number and heading.attached,
        f"number {'and' if heading.opening.titled else 'without'} title": heading.number,
        "blank line before the title": heading.newlines,
        "title goes on": heading.titles - 1,
        "title goes on in other type": heading.mixed,
        "second reading": second_reading,
        "implied section": implied,
    }
    return [name for name, count in counts.items() for _ in range(count)]


def sibling_features(before: Level, opening: Opening) -> list[str]:
    """Features of a section that opens behind a sibling."""
    left, right = before.reading, opening.reading
    if left is not None and right is not None:
        found = [_number_after_number(left, right)]
        if found[0] in ("successor", "gap") and left.format != right.format:
            found.append("another format")
    elif right is not None:
        carried = before.carried is not None and step(before.carried, right) == 1
        found = ["number carried over a title" if carried else "number after a title"]
    elif left is not None:
        found = [f"title after a number {'with' if before.opening.titled else 'without'} title"]
    else:
        found = ["title after a title"]
    return found + _type_of_siblings(before.opening, opening)


def _number_after_number(left: Reading, right: Reading) -> str:
    difference = step(left, right)
    if difference is not None:
        if difference == 1:
            return "successor"
        if difference > 1:
            return "gap" if difference <= SMALL_GAP else "leap"
        if difference == 0:
            return "same number again"
        return "restart beside" if is_first(right) else "number goes back"
    if is_prefix(left, right):
        return "beside its prefix"
    above = left.parent
    while above is not None:
        if step(above, right) == 1:
            return "beside a part of the section before"
        above = above.parent
    if left.family == right.family and left.keyword == right.keyword:
        return "another prefix"
    return f"another family, {'first' if is_first(right) else 'not first'}"


def _type_of_siblings(before: Opening, opening: Opening) -> list[str]:
    if before.virtual or opening.virtual:
        return []
    found = []
    if before.titled and opening.titled:
        if before.typography == opening.typography:
            found.append("sibling of the same type")
        else:
            found.append(f"sibling {'less' if opening.typography < before.typography else 'more'} prominent")
    elif before.titled != opening.titled and before.reading is not None and opening.reading is not None:
        found.append("sibling with title, without title")
    if opening.top_title:
        found.append(f"first-level title beside {'one' if before.top_title else 'another'}")
    return found


def child_features(above: Level | None, opening: Opening) -> list[str]:
    """Features of the first section that opens below another; above (Level | None): None for the document itself."""
    found = [f"{'root' if above is None else _class(above.opening)} over {_class(opening)}"]
    if opening.reading is not None:
        found += _first_number(above, opening.reading)
    if above is None:
        return [*found, "first-level title on the first level"] if opening.top_title else found
    outer = above.opening
    if opening.reading is None:
        if outer.reading is None:
            found.append("title below a title")
        else:
            found.append(f"title below a number {'with' if outer.titled else 'without'} title")
    elif opening.titled and not outer.titled and not outer.virtual:
        found.append("titled below untitled")
    if opening.top_title:
        found.append("first-level title below")
    if opening.titled and outer.titled and opening.typography >= outer.typography:
        same = opening.typography == outer.typography
        found += ["child more prominent"] * (not same) + ["child of the same type"] * (same and opening.reading is None)
    return found


def _first_number(above: Level | None, right: Reading) -> list[str]:
    first, left = is_first(right), above.reading if above else None
    if left is None:
        parts = ["parts without a prefix above"] if len(right.values) > 1 else []
        skipped = above is None and not first
        return [*parts, "first number in the document is no first" if skipped else _first_or_carried(above, right)]
    found = _keywords(left, right)
    if is_prefix(left, right):
        return [*found, "below its prefix" if first else "below its prefix, no first"]
    if step(left, right) == 1:
        return [*found, "below its predecessor"]
    if len(right.values) > 1 and right.keyword == left.keyword:
        return [*found, "below another prefix"]
    if left.family == right.family and left.keyword == right.keyword:
        found.append("below the same family" + (" and format" if left.format == right.format else ""))
    return [*found, _first_or_carried(above, right)]


def _first_or_carried(above: Level | None, right: Reading) -> str:
    if is_first(right):
        return "first number"
    carried = above is not None and above.carried is not None and step(above.carried, right) == 1
    return "number carried on" if carried else "no first number"


def _keywords(left: Reading, right: Reading) -> list[str]:
    if right.rank is None:
        return []
    if left.rank is None:
        return ["keyword below a number"]
    return ["keyword of lower rank below" if left.rank < right.rank else "keyword of higher rank below"]


def _class(opening: Opening) -> str:
    """The class of a section by its numbering, one of _CLASSES."""
    reading = opening.reading
    if reading is None:
        return "title"
    if reading.rank is not None:
        return "word"
    return "parts" if len(reading.values) > 1 else reading.kinds


# -- scores ------------------------------------------------------------------------------------------------------------


def weight_vector(weights: Mapping[str, float] | None = None) -> Doubles:
    """((F,)): weights in the order of `features.NAMES`; None for those set by hand. A name that is missing has 0."""
    given = DEFAULT_WEIGHTS if weights is None else weights
    return np.array([given.get(name, 0.0) for name in NAMES])


@dataclass(frozen=True, slots=True)
class Variant:
    """A heading with the sections that it opens, outermost first: implied ones, then its own.

    features (int), score (float): of the heading and of the inner sections.
    """

    heading: Heading
    openings: tuple[int, ...]
    features: int
    score: float


@dataclass
class Scorer:
    """Features and scores under given weights, (F,), for the headings of one document.

    variants (list of lists): for each unit that may begin a heading, all ways to open sections there.
    """

    weights: Doubles
    headings: Headings
    levels: Levels = field(default_factory=Levels)

    def __post_init__(self) -> None:
        self.features: list[tuple[int, ...]] = []  # bags of features; variants and pairs refer to them
        self.scores: list[float] = []
        self.highest = float(np.sort(np.maximum(self.weights, 0.0))[-USUAL:].sum())  # of a bag, as far as is known
        self._bags: dict[tuple[int, ...], int] = {}
        self._named: dict[tuple[str, ...], int] = {}
        self._children: dict[tuple[int, int], int] = {}
        self._siblings: dict[tuple[int, int], int] = {}
        self.variants = _VariantFinder(self).find()

    def child(self, above: int, opening: int) -> int:
        """The bag of features of an opening as the first below a level (0: in the document)."""
        found = self._children.get((above, opening))
        if found is None:
            names = child_features(self.levels.levels[above], self.levels.openings[opening])
            found = self._children[above, opening] = self.bag(names)
        return found

    def sibling(self, before: int, opening: int) -> int:
        """The bag of features of an opening behind a level that it closes."""
        found = self._siblings.get((before, opening))
        if found is None:
            level = self.levels.levels[before]
            assert level is not None
            names = sibling_features(level, self.levels.openings[opening])
            found = self._siblings[before, opening] = self.bag(names)
        return found

    def bag(self, names: Iterable[str]) -> int:
        """The bag of some features."""
        names = tuple(names)
        found = self._named.get(names)
        if found is None:
            found = self._named[names] = self._bag(_COLUMNS[name] for name in names)
        return found

    def join(self, bag: int, other: int) -> int:
        """The bag of the features of two bags."""
        return self._bag(self.features[bag] + self.features[other])

    def _bag(self, columns: Iterable[int]) -> int:
        bag = tuple(sorted(columns))
        found = self._bags.setdefault(bag, len(self.features))
        if found == len(self.features):
            self.features.append(bag)
            self.scores.append(float(sum(self.weights[column] for column in bag)))
            self.highest = max(self.highest, self.scores[-1])
        return found

    def forget_pairs(self) -> None:
        """Forget what is known of pairs of levels, most of which do not meet again in a long document."""
        self._children.clear()
        self._siblings.clear()
        self.levels.forget_carried()

    def counts(self) -> tuple[Indices, Indices]:
        """Bag and feature of each feature of each bag, as two columns."""
        pairs = [(bag, column) for bag, columns in enumerate(self.features) for column in columns]
        bags, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return bags, columns


class _VariantFinder:
    """Finds the variants of all headings of a document. Most headings are like others in all that counts here."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer, self.levels = scorer, scorer.levels
        self._headings: dict[tuple[object, ...], int] = {}
        self._implied: dict[int, tuple[int, int] | None] = {}
        self._joined: dict[tuple[int, int], int] = {}

    def find(self) -> list[list[Variant]]:
        return [self._of_unit(self.scorer.headings.at[unit]) for unit in sorted(self.scorer.headings.at)]

    def _of_unit(self, headings: list[Heading]) -> list[Variant]:
        found: list[Variant] = []
        first: dict[int, Reading | None] = {}  # of headings with a number, by their ends
        for heading in headings:
            reading = heading.opening.reading
            bag = self._heading(heading, heading.number and first.setdefault(heading.end, reading) != reading)
            openings = (self.levels.opening(heading.opening),)
            found.append(Variant(heading, openings, bag, heading.score + self.scorer.scores[bag]))
            while (above := self._above(openings[0])) is not None:
                outer, link = above
                bag, openings = self._join(bag, link), (outer, *openings)
                found.append(Variant(heading, openings, bag, heading.score + self.scorer.scores[bag]))
        return found

    def _heading(self, heading: Heading, second_reading: bool) -> int:
        """The bag of features of a heading alone."""
        counts = heading.newlines, heading.titles, heading.mixed
        key = heading.number, heading.opening.titled, heading.attached, second_reading, *counts
        found = self._headings.get(key)
        if found is None:
            found = self._headings[key] = self.scorer.bag(heading_features(heading, second_reading, 0))
        return found

    def _above(self, opening: int) -> tuple[int, int] | None:
        """The implied section above an opening, and the bag of features that it brings; None above a single part."""
        if opening not in self._implied:
            below = self.levels.openings[opening]
            reading = below.reading and below.reading.parent
            self._implied[opening] = None
            if reading is not None:
                outer = self.levels.opening(Opening(reading, virtual=True))
                level = self.levels.levels[self.levels.level(outer, None)]
                names = ["implied section", *child_features(level, below)]
                self._implied[opening] = outer, self.scorer.bag(names)
        return self._implied[opening]

    def _join(self, bag: int, other: int) -> int:
        found = self._joined.get((bag, other))
        if found is None:
            found = self._joined[bag, other] = self.scorer.join(bag, other)
        return found
