"""Scores of openings, computed once for each pair of levels that meet."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Doubles, Indices
from ..grammar.numbering import Reading, parent
from .features import DEFAULT_WEIGHTS, NAMES, child_features, heading_features, sibling_features
from .headings import Heading
from .levels import Levels, Opening

USUAL = 3  # features of a section that may all speak for it
_COLUMNS = {name: column for column, name in enumerate(NAMES)}


def weight_vector(weights: Mapping[str, float] | None = None) -> Doubles:
    """((F,)): weights in the order of `features.NAMES`; None for those set by hand. A name that is missing has 0."""
    given = DEFAULT_WEIGHTS if weights is None else weights
    return np.array([given.get(name, 0.0) for name in NAMES])


@dataclass(frozen=True, slots=True)
class Variant:
    """A heading with the sections that it opens.

    heading (Heading): it. openings (tuple of int): of the sections, outermost first: implied ones, then its own.
    features (int), score (float): of the heading and of the inner sections.
    """

    heading: Heading
    openings: tuple[int, ...]
    features: int
    score: float


@dataclass
class Scorer:
    """Features and scores under given weights, for one document.

    weights ((F,)): of features. levels (Levels): of the document.
    """

    weights: Doubles
    levels: Levels = field(default_factory=Levels)

    def __post_init__(self) -> None:
        self.features: list[tuple[int, ...]] = []  # bags of features; variants and pairs refer to them
        self.scores: list[float] = []
        self.highest = float(np.sort(np.maximum(self.weights, 0.0))[-USUAL:].sum())  # of a bag, as far as is known
        self._bags: dict[tuple[int, ...], int] = {}
        self._children: dict[tuple[int, int], int] = {}
        self._siblings: dict[tuple[int, int], int] = {}

    def variants(self, headings: list[Heading]) -> list[Variant]:
        """All ways to open sections with one of the headings of a unit."""
        found = []
        for heading in headings:
            readings = {other.opening.reading: None for other in headings if other.end == heading.end and other.number}
            second = heading.number and next(iter(readings)) != heading.opening.reading
            chain = [heading.opening]
            found.append(self._variant(heading, chain, second))
            reading = heading.opening.reading and parent(heading.opening.reading)
            while isinstance(reading, Reading):
                chain = [Opening(reading, virtual=True), *chain]
                found.append(self._variant(heading, chain, second))
                reading = parent(reading)
        return found

    def _variant(self, heading: Heading, chain: list[Opening], second: bool) -> Variant:
        openings = tuple(self.levels.opening(opening) for opening in chain)
        names = heading_features(heading, second, len(chain) - 1)
        for above, below in zip(openings, chain[1:]):
            names += child_features(self.levels.levels[self.levels.level(above, None)], below)
        bag = self._bag(names)
        return Variant(heading, openings, bag, heading.score + self.scores[bag])

    def child(self, above: int, opening: int) -> int:
        """The bag of features of an opening as the first below a level (0: in the document)."""
        found = self._children.get((above, opening))
        if found is None:
            names = child_features(self.levels.levels[above], self.levels.openings[opening])
            found = self._children[above, opening] = self._bag(names)
        return found

    def sibling(self, before: int, opening: int) -> int:
        """The bag of features of an opening behind a level that it closes."""
        found = self._siblings.get((before, opening))
        if found is None:
            level = self.levels.levels[before]
            assert level is not None
            names = sibling_features(level, self.levels.openings[opening])
            found = self._siblings[before, opening] = self._bag(names)
        return found

    def _bag(self, names: list[str]) -> int:
        bag = tuple(sorted(_COLUMNS[name] for name in names))
        found = self._bags.setdefault(bag, len(self.features))
        if found == len(self.features):
            self.features.append(bag)
            self.scores.append(float(sum(self.weights[column] for column in bag)))
            self.highest = max(self.highest, self.scores[-1])
        return found

    def counts(self) -> tuple[Indices, Indices]:
        """Bag and feature of each feature of each bag, as two columns."""
        bags = [bag for bag, columns in enumerate(self.features) for _ in columns]
        return np.array(bags, dtype=np.intp), np.array([c for columns in self.features for c in columns], dtype=np.intp)
