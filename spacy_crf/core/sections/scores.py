"""What headings may open, and the scores of that, computed once for each pair of levels that meet."""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

import numpy as np

from ..arrays import Indices, Numbered
from ..grammar.numbering import Reading
from .features import child_features, heading_features, highest_of_pairs, level_of, sibling_features
from .headings import KEPT, MARKED, UNKNOWN, Heading, Headings, Levels, Opening


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
    """Features and scores under given weights for the headings of one document.

    weights (dict): of the F features, by name; others count nothing. columns (dict): their places.
    variants (Variants): all ways to open sections. compared (int): how often features of a pair were computed.
    highest (float): no bag of a pair has a higher score.
    """

    weights: Mapping[str, float]
    headings: Headings
    levels: Levels = field(default_factory=Levels)

    def __post_init__(self) -> None:
        self.features = Numbered[tuple[int, ...]]()  # bags of features; variants and pairs refer to them
        self.scores: list[float] = []
        self.columns = {name: column for column, name in enumerate(self.weights)}
        self._gains = list(self.weights.values())
        self.highest = highest_of_pairs(self.weights)
        self._named: dict[tuple[str, ...], int] = {}
        self._pairs: dict[int, dict[int, int]] = {}
        self.compared = 0
        self.variants = Variants(self)

    def child(self, above: int, opening: int) -> int:
        """The bag of features of an opening as the first below a level (0: in the document)."""
        return self.meeting(-above, [opening])[0]

    def sibling(self, before: int, opening: int) -> int:
        """The bag of features of an opening behind a level that it closes."""
        return self.meeting(before, [opening])[0]

    def meeting(self, meeting: int, openings: Sequence[int]) -> list[int]:
        """The bags of features of openings behind the level that they close, or below minus the level on top."""
        known = self._pairs.setdefault(meeting, {})
        for opening in openings:
            if opening not in known:
                known[opening] = self._compare(meeting, opening)
        return [known[opening] for opening in openings]

    def _compare(self, meeting: int, opening: int) -> int:
        self.compared += 1
        level, opened = self.levels.levels[abs(meeting)], self.levels.openings[opening]
        if meeting > 0:
            assert level is not None
            return self.bag(sibling_features(level, opened))
        return self.bag(child_features(level, opened))

    def bag(self, names: Iterable[str]) -> int:
        """The bag of some features."""
        names = tuple(names)
        found = self._named.get(names)
        if found is None:
            found = self._named[names] = self._bag(self.columns[name] for name in names if name in self.columns)
        return found

    def join(self, bag: int, other: int) -> int:
        """The bag of the features of two bags."""
        return self._bag(self.features[bag] + self.features[other])

    def _bag(self, columns: Iterable[int]) -> int:
        bag = tuple(sorted(columns))
        found = self.features.number(bag)
        if found == len(self.scores):
            self.scores.append(float(sum(self._gains[column] for column in bag)))
        return found

    def forget_pairs(self) -> None:
        """Forget what is known of pairs of levels, most of which do not meet again in a long document."""
        self._pairs.clear()
        self.levels.forget_carried()

    def counts(self) -> tuple[Indices, Indices]:
        """Bag and feature of each feature of each bag, as two columns."""
        pairs = [(bag, column) for bag, columns in enumerate(self.features) for column in columns]
        bags, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return bags, columns


class Variants:
    """The variants of all headings, numbered in order of the C units that may begin these.

    They are found when they are asked for. Most headings are like others in all that counts here.

    firsts (array): the number of the first variant of each unit, and that of all. scores (array): of all variants.
    """

    def __init__(self, scorer: Scorer) -> None:
        self.scorer, self.levels = scorer, scorer.levels
        self._headings: dict[tuple[object, ...], int] = {}
        self._implied: dict[int, tuple[int, int] | None] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self.of_layer = lru_cache(KEPT)(self._of_layer)
        self.firsts, self.scores = array("i", [0]), array("d")
        for layer in range(len(scorer.headings.units)):
            self.scores.extend(variant.score for variant in self.of_layer(layer))
            self.firsts.append(len(self.scores))

    def __getitem__(self, number: int) -> Variant:
        layer = bisect_right(self.firsts, number) - 1
        return self.of_layer(layer)[number - self.firsts[layer]]

    def __iter__(self) -> Iterator[Variant]:
        return chain.from_iterable(map(self.of_layer, range(len(self.firsts) - 1)))

    def _of_layer(self, layer: int) -> list[Variant]:
        """All ways to open sections at a unit."""
        headings = self.scorer.headings.at(self.scorer.headings.units[layer])
        found: list[Variant] = []
        first: dict[int, Reading | None] = {}  # of headings with a number, by their ends
        for heading in headings:
            reading = heading.opening.reading
            bag = self._heading(heading, heading.number and first.setdefault(heading.end, reading) != reading)
            openings: tuple[int, ...] = (self.levels.opening(heading.opening),)
            found.append(Variant(heading, openings, bag, heading.score + self.scorer.scores[bag]))
            while (above := self._above(openings[0])) is not None:
                outer, link = above
                bag, openings = self._join(bag, link), (outer, *openings)
                found.append(Variant(heading, openings, bag, heading.score + self.scorer.scores[bag]))
        return found

    def _heading(self, heading: Heading, second_reading: bool) -> int:
        """The bag of features of a heading alone."""
        counts = heading.newlines, heading.titles, heading.mixed
        opening = heading.opening
        key = heading.number, opening.titled, opening.leads, heading.attached, second_reading, *counts
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
                outer = self.levels.opening(Opening(reading, MARKED * level_of(below) or UNKNOWN, virtual=True))
                level = self.levels.levels[self.levels.level(outer)]
                names = ["implied section", *child_features(level, below)]
                self._implied[opening] = outer, self.scorer.bag(names)
        return self._implied[opening]

    def _join(self, bag: int, other: int) -> int:
        found = self._joined.get((bag, other))
        if found is None:
            found = self._joined[bag, other] = self.scorer.join(bag, other)
        return found
