"""What can still be gained behind each place of a document: a bound on what is left out there."""

from bisect import bisect_left
from itertools import islice
from math import inf

from ..grammar.numbering import is_first
from .headings import Headings
from .scores import Scorer

MOST_PAIRS = 20_000  # of openings that are compared


def gains_ahead(headings: Headings, scorer: Scorer) -> list[float]:
    """The most that any way can gain from each layer to the end, whatever is open; inf where that is too dear to tell.

    Each heading gains what it would in the best of all places below or beside the headings before it. So what is left
    out at a layer leads to no more than its own score and this: an admissible heuristic (Hart, Nilsson & Raphael,
    1968).
    O(C + pairs of different openings), of which there may be 20,000.
    """
    units, variants = headings.units, scorer.variants
    outer: list[list[int]] = []  # the first sections that variants open, by layer
    targets: list[list[int]] = []
    ended: list[list[int]] = [[] for _ in range(len(units) + 1)]  # openings, by the layer behind their headings
    for layer in range(len(units)):
        own = variants.of_layer(layer)
        outer.append([variant.openings[0] for variant in own])
        targets.append([bisect_left(units, variant.heading.end) for variant in own])
        for variant, behind in zip(own, targets[-1]):
            ended[behind] += variant.openings
    if _count_pairs(outer, ended) > MOST_PAIRS:
        return [inf] * (len(units) + 1)
    places = _BestPlaces(scorer)
    gains: list[list[float]] = []
    for layer, openings in enumerate(outer):
        places.known.update(dict.fromkeys(ended[layer]))
        scores = variants.scores[variants.firsts[layer] : variants.firsts[layer + 1]]
        gains.append([score + places.gain(opening) for score, opening in zip(scores, openings)])
    ahead = [0.0] * (len(units) + 1)
    for layer in reversed(range(len(units))):
        opened = (gain + ahead[target] for gain, target in zip(gains[layer], targets[layer]))
        ahead[layer] = max(float(headings.text[units[layer]]) + ahead[layer + 1], *opened)
    return ahead


def _count_pairs(outer: list[list[int]], ended: list[list[int]]) -> int:
    """How many openings are compared with others that are known before them, each pair once."""
    known: set[int] = set()
    met: dict[int, int] = {}
    for openings, before in zip(outer, ended):
        known.update(before)
        met.update(dict.fromkeys(openings, len(known)))
    return sum(met.values())


class _BestPlaces:
    """The most that openings gain by where they stand, below or beside any of those that are known."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer = scorer
        self.known: dict[int, None] = {}
        self._best: dict[int, tuple[float, int]] = {}  # of an opening, and how many others it was compared with

    def gain(self, opening: int) -> float:
        levels, child, sibling = self.scorer.levels, self.scorer.child, self.scorer.sibling
        best, done = self._best.get(opening) or (self.scorer.scores[child(0, opening)], 0)
        reading, bags = levels.openings[opening].reading, set[int]()
        carried = None if reading is None else reading.predecessor
        is_later = reading is not None and not is_first(reading)
        for other in islice(self.known, done, None):
            level = levels.level(other, None)
            bags.update((child(level, opening), sibling(level, opening)))
            # it may go on with a number that is carried
            if is_later:
                bags.add(child(levels.level(other, carried), opening))
            if carried is not None and levels.openings[other].reading is None:
                bags.add(sibling(levels.level(other, carried), opening))
        best = max([best, *map(self.scorer.scores.__getitem__, bags)])
        self._best[opening] = best, len(self.known)
        return best
