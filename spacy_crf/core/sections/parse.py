"""The section parser: an exact dynamic programme over stacks of open sections.

A state is the stack of open sections, each with its numbering and typography only (`levels`). Every score is a
function of two adjacent levels and the heading that opens (`features`), so equal stacks are merged, and the best tree
over all trees and labellings is found by dynamic programming. Without a cap on the stacks it is exact; their number may
then grow exponentially with the headings. With a cap the time is linear in the document. A bound on what stacks that
are left out may still gain says whether the tree is the best one all the same; if that is not certain, but nearly, a
wider search follows those alone that might do better.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..arrays import Doubles, Indices
from ..grammar.numbering import Reading, is_first
from .build import INSTEAD, TOLERANCE, StackSearch, build
from .features import DEFAULT_WEIGHTS
from .headings import Headings, ParserInput, find_headings, view
from .lattice import PASS, LatticeSums, Moves, StackLattice, forward_backward, move_scores, moves_of
from .scores import Scorer
from .titles import kinds_in

NEGLIGIBLE = 1e-7  # a share of a section that is not followed further
# A gap to the bound that a wider search may close. On 150 judgments and manuals a greater one takes a third more time
# and changes no tree; at 10 the annexes of a regulation of 60 lines were lost.
NEARLY = 15.0
WIDER = 10  # times as many stacks
# moves at a heading, on average, for each stack that is kept, and for few of them: four times what judgments, contracts
# and manuals take
WORK, LEAST_WORK = 16, 400
MOST_PAIRS = 20_000  # of openings that are compared


@dataclass(slots=True)
class Section:
    """A node of the tree. Sections come in document order, parents before children.

    start (int), end (int): its units, the end not included. level (int): 1 on the first level.
    parent (int): index of the section around it; -1 for none.
    heading (tuple of int): the units of its number and title, without blank lines; () for an implied section.
    reading (Reading | None): its numbering as it was understood. titled (bool): it has a title.
    virtual (bool): implied by the numbers below it, without a heading of its own.
    probability (float | None): of there being a section from this heading to this end, or of its being implied;
        None unless it was asked for.
    """

    start: int
    end: int
    level: int
    parent: int
    heading: tuple[int, ...]
    reading: Reading | None
    titled: bool
    virtual: bool = False
    probability: float | None = None


@dataclass(frozen=True)
class ParserSettings:
    """The limits of the search.

    max_states (int | None): stacks that are kept at each heading, the best ones; None for all of them, as long as a
        document takes no more than 1,000,000 moves between them: from there on, with a warning, it is 100. With a cap
        the work is bounded too: in a long document whose headings may be read in many more ways than those of
        judgments, contracts and manuals, only the best stack at a heading may open sections, and `exact` tells.
    beam (float): with a cap, stacks whose score is so far below the best one at the same heading are left out too.
    max_depth (int): of nested sections; deeper trees are not looked at.
    margin (float): how far the log probability of a heading's label may lie below that of the likeliest label; what
        lies further below counts as impossible.
    """

    max_states: int | None = 12
    beam: float = 8.0
    max_depth: int = 20
    margin: float = 7.0

    def search(self, with_arcs: bool = False) -> StackSearch:
        """Which ways are followed under these settings."""
        work = max(LEAST_WORK, WORK * (self.max_states or INSTEAD))
        beam = math.inf if self.max_states is None else self.beam
        return StackSearch(self.max_states, beam, self.max_depth, with_arcs, work=work)


@dataclass(frozen=True)
class SectionParse:
    """The best tree of a document: its sections in document order, and the label of each unit.

    score (float): log probability of the labels plus the scores of the sections.
    log_z (float | None): log sum of all trees and labellings; None unless probabilities were asked for.
    exact (bool): no other tree of the headings that `ParserSettings` allows has a higher score: what was left out
        could not reach it, by a bound on its score. dropped (int): stacks that were left out.
    """

    sections: list[Section]
    labels: Indices
    score: float
    log_z: float | None = None
    exact: bool = True
    dropped: int = 0


def parse(
    document: ParserInput,
    weights: Mapping[str, float] | None = None,
    settings: ParserSettings | None = None,
    probabilities: bool = False,
) -> SectionParse:
    """The tree of sections with the highest score, and the labels that go with it; no sections without units.

    weights (dict | None): of features, 0 for a name that is missing; None for those set by hand.
    probabilities (bool): fill in those of sections, and `log_z`; twice the time.
    """
    settings = settings or ParserSettings()
    weights = DEFAULT_WEIGHTS if weights is None else weights
    headings = find_headings(document, settings.margin, kinds_in(weights))
    scorer = Scorer(weights, headings)
    search = replace(settings.search(probabilities), ahead=gains_ahead(headings, scorer))
    lattice = build(headings, scorer, search)
    best, exact = _certify(lattice, headings, search)
    sections = best_sections(best, len(document))
    labels = headings.labels.copy()
    for heading in (variant.heading for variant, _ in best.best_moves()):
        labels[list(heading.units)] = document.labels.title
        if heading.number:
            labels[heading.start] = document.labels.number
    score = headings.base + best.best_score
    log_z = headings.base + fill_probabilities(lattice, sections, len(document)) if probabilities else None
    return SectionParse(sections, labels, score, log_z, exact, lattice.dropped)


def _certify(lattice: StackLattice, headings: Headings, search: StackSearch) -> tuple[StackLattice, bool]:
    """The lattice with the best tree that is known, and whether it is certain that no other tree has a higher score."""
    best, bound = lattice, lattice.bound
    if search.max_states is not None and TOLERANCE < bound - best.best_score < NEARLY:
        wider = replace(
            search, max_states=WIDER * search.max_states, beam=math.inf, with_arcs=False, least=best.best_score
        )
        found = build(headings, lattice.scorer, wider)
        best, bound = max(found, lattice, key=lambda one: one.best_score), found.bound
    return best, bound <= best.best_score + TOLERANCE


def best_sections(lattice: StackLattice, n_units: int) -> list[Section]:
    """The sections that open on the best way through a document of N units."""
    found: list[Section] = []
    open_sections: list[int] = []
    openings = lattice.scorer.levels.openings
    for variant, depth in lattice.best_moves():
        heading = variant.heading
        for closed in open_sections[depth:]:
            found[closed].end = heading.start
        del open_sections[depth:]
        for opening in (openings[number] for number in variant.openings):
            level, around = len(open_sections) + 1, open_sections[-1] if open_sections else -1
            units = () if opening.virtual else heading.units
            open_sections.append(len(found))
            facts = opening.reading, opening.titled, opening.virtual
            found.append(Section(heading.start, n_units, level, around, units, *facts))
    return found


def fill_probabilities(lattice: StackLattice, sections: list[Section], n_units: int) -> float:
    """Set the probability that there is a section from this heading to this end; return the log sum over all ways.

    O(units below each section, one after the other).
    """
    moves = moves_of(lattice)
    scores = move_scores(lattice, moves)
    lattice.scorer.forget_pairs()
    sums = forward_backward(moves, scores)
    follower = _SectionFollower(lattice, moves, scores, sums, n_units)
    for section in sections:
        section.probability = min(1.0, follower.probability(section))
    return float(sums.log_z[0])


class _SectionFollower:
    """Follows a section from the moves that open it to those that close it.

    For each state on the way, and each level that the section may have there, it knows the share of the ways to the
    state on which it is open. Given the state, what comes is independent of that, so a move that closes the section
    counts with its probability times the share.
    """

    def __init__(self, lattice: StackLattice, moves: Moves, scores: Doubles, sums: LatticeSums, n_units: int) -> None:
        self.lattice, self.n_units, self.units = lattice, n_units, lattice.scorer.headings.units
        scores += sums.alpha[moves.source]
        scores -= sums.alpha[moves.target]
        self.shares: Sequence[float] = view(np.exp(scores, out=scores))
        self.states: Sequence[float] = view(np.exp(sums.alpha + sums.beta - sums.log_z[0]))  # their probabilities
        self.layers: Sequence[int] = view(moves.layers)
        self.target: Sequence[int] = view(moves.target)
        self.variant: Sequence[int] = view(moves.variant)
        self.depth: Sequence[int] = view(moves.depth)
        places = np.arange(len(moves.layers) + 1, dtype=moves.source.dtype)
        self.bounds: Sequence[int] = view(np.searchsorted(moves.source, places).astype(np.int32))

    def probability(self, section: Section) -> float:
        """The probability of a section."""
        layers: defaultdict[int, defaultdict[tuple[int, int], float]] = defaultdict(lambda: defaultdict(float))
        begin = bisect_left(self.units, section.start)
        heights = self._heights(begin, section)
        starts = self.lattice.bounds
        for move in range(self.bounds[starts[begin]], self.bounds[starts[begin + 1]]):
            height = heights.get(self.variant[move])
            if height is not None:
                target = self.target[move]
                layers[self.layers[target]][target, self.depth[move] + height] += self.shares[move]
        final = len(self.units) if section.end == self.n_units else bisect_left(self.units, section.end)
        for layer in range(begin + 1, final):
            for (state, level), share in layers.pop(layer, {}).items():
                if share > NEGLIGIBLE:
                    self._follow(state, level, share, layers)
        if section.end == self.n_units:
            return sum(self.states[state] * share for (state, _), share in layers[final].items())
        return sum(self._closing(state, level) * share for (state, level), share in layers[final].items())

    def _heights(self, layer: int, section: Section) -> dict[int, int]:
        """The variants of a layer that open a section, with the same heading unit, or implied by the same number.

        With each, how many sections it opens down to that one.
        """
        openings = self.lattice.scorer.levels.openings
        heights = {}
        variants = self.lattice.scorer.variants
        for number, variant in enumerate(variants.of_layer(layer), start=variants.firsts[layer]):
            if not section.virtual:
                heights[number] = len(variant.openings)
                continue
            for height, opening in enumerate(variant.openings[:-1], start=1):
                if openings[opening].reading == section.reading:
                    heights[number] = height
                    break
        return heights

    def _follow(
        self, state: int, level: int, share: float, layers: defaultdict[int, defaultdict[tuple[int, int], float]]
    ) -> None:
        """Go on with the moves from a state that leave the section open."""
        for move in range(self.bounds[state], self.bounds[state + 1]):
            if self.variant[move] == PASS or self.depth[move] >= level:
                target = self.target[move]
                layers[self.layers[target]][target, level] += share * self.shares[move]

    def _closing(self, state: int, level: int) -> float:
        """The probability of the moves from a state that close the section."""
        moves = range(self.bounds[state], self.bounds[state + 1])
        closing = (move for move in moves if self.variant[move] != PASS and self.depth[move] < level)
        return sum(self.shares[move] * self.states[self.target[move]] for move in closing)


# -- what can still be gained ------------------------------------------------------------------------------------


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
        return [math.inf] * (len(units) + 1)
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
        carried = 0 if reading is None else levels.carry(frozenset({reading.predecessor}))
        is_later = reading is not None and not is_first(reading)
        for other in islice(self.known, done, None):
            level = levels.level(other)
            bags.update((child(level, opening), sibling(level, opening)))
            # it may go on with a number that is carried
            if is_later:
                bags.add(child(levels.level(other, carried), opening))
            if carried:
                bags.add(sibling(levels.level(other, carried), opening))
        best = max([best, *map(self.scorer.scores.__getitem__, bags)])
        self._best[opening] = best, len(self.known)
        return best
