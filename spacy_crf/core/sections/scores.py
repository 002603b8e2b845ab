"""What headings may open, and the scores of that, computed once for each pair of levels that meet."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Indices
from ..grammar.numbering import Reading
from .features import COLUMNS, child_features, heading_features, sibling_features
from .headings import Heading, Headings, Levels, Opening

USUAL = 3  # features of a section that may all speak for it


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

    variants (list of lists): for each unit that may begin a heading, all ways to open sections there. compared (int):
        how often features of a pair were computed.
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
        self.compared = 0
        self.variants = _VariantFinder(self).find()

    def child(self, above: int, opening: int) -> int:
        """The bag of features of an opening as the first below a level (0: in the document)."""
        found = self._children.get((above, opening))
        if found is None:
            self.compared += 1
            names = child_features(self.levels.levels[above], self.levels.openings[opening])
            found = self._children[above, opening] = self.bag(names)
        return found

    def sibling(self, before: int, opening: int) -> int:
        """The bag of features of an opening behind a level that it closes."""
        found = self._siblings.get((before, opening))
        if found is None:
            level = self.levels.levels[before]
            assert level is not None
            self.compared += 1
            names = sibling_features(level, self.levels.openings[opening])
            found = self._siblings[before, opening] = self.bag(names)
        return found

    def bag(self, names: Iterable[str]) -> int:
        """The bag of some features."""
        names = tuple(names)
        found = self._named.get(names)
        if found is None:
            found = self._named[names] = self._bag(COLUMNS[name] for name in names)
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
