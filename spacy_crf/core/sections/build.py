"""Building the lattice of the section parser, layer by layer, with a bound on what it leaves out."""

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from math import inf
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from ..grammar.numbering import Reading, is_first
from .headings import ROOT, Headings
from .lattice import PASS, LatticeArcs, StackLattice
from .scores import Scorer, Variant

Key: TypeAlias = tuple[int, int]  # a stack as what is under its top, and its top
Allowed: TypeAlias = Callable[[Variant, int], bool]
Move: TypeAlias = tuple[float, int, "_Closing", int, "_Pushed | None", int]  # see `_Builder._moves`
ROOM = 2  # a layer that is not yet complete holds so many times the cap before it is cut
CHECK = 8  # moves between two looks at whether there is room for more
PAIR = 5  # moves that take as long as the features of a pair that has not met before
SAVED = 100  # layers whose work may be saved up for those that take more
FORGET = 5000  # stacks that are added between two times at which those that are no longer open are forgotten
MOST_PAIRS = 20_000  # of openings that `gains_ahead` compares
TOLERANCE = 1e-6  # of scores that are compared with a bound


@dataclass(frozen=True)
class StackSearch:
    """Which ways are followed.

    max_states (int | None), beam (float), max_depth (int): see `ParserSettings`. with_arcs (bool): keep all moves.
    allowed (Callable | None): which variants may open, by variant and number of open sections around.
    forced (set of int): units that may not be passed over.
    kept (list of sets | None): for each layer, stacks that are kept whatever their score, as levels, innermost first.
    work (float): of a layer on average, in moves: where headings may be read in so many ways that it takes more, only
        the best stack at a heading may open sections.
    ahead (list of float | None): what can be gained from each layer on, see `gains_ahead`. least (float): a score that
        is known to be reached: ways that cannot reach it are left out.
    """

    max_states: int | None
    beam: float
    max_depth: int
    with_arcs: bool = False
    allowed: Allowed | None = None
    forced: frozenset[int] = frozenset()
    kept: list[set[tuple[int, ...]]] | None = None
    work: float = inf
    ahead: list[float] | None = None
    least: float = -inf


def build(headings: Headings, scorer: Scorer, search: StackSearch) -> StackLattice:
    """All ways through a document. O(C S D V) for S stacks a layer, depth D and V variants of a heading."""
    return _Builder(headings, scorer, search).build()


class _Pushed(NamedTuple):
    """The sections that a variant, by its index and score, pushes, and the layer behind it.

    opening, level: the first section, without a number carried into it, and whether it has one. inner: levels inside.
    height: how many sections it pushes.
    """

    opening: int
    level: int
    numbered: bool
    inner: tuple[int, ...]
    height: int
    variant: int
    score: float
    target: int


class _Closing(NamedTuple):
    """The stack that is left after closing, its top and depth, and what is carried over the levels that are closed.

    meeting: the level closed last, or minus the top if none is.
    """

    stack: int
    top: int
    meeting: int
    depth: int
    carried: tuple[Reading | None, Reading | None]


class _Builder:
    def __init__(self, headings: Headings, scorer: Scorer, search: StackSearch) -> None:
        self.headings, self.scorer, self.search = headings, scorer, search
        units = sorted(headings.at)
        self.ahead = [inf] * (len(units) + 1) if search.ahead is None else search.ahead
        self.lattice = StackLattice(units, scorer, arcs=LatticeArcs() if search.with_arcs else None)
        self.pending: list[dict[Key, int]] = [{} for _ in range(len(units) + 1)]
        # what is below is not among the best
        self.floors = [search.least - ahead - TOLERANCE for ahead in self.ahead]
        self.furthest = 0  # layer that has a state
        self.closings: dict[int, list[_Closing]] = {}
        self.forget = FORGET
        self.left = SAVED * search.work  # of the work that may be done

    def build(self) -> StackLattice:
        lattice = self.lattice
        self.pending[0][ROOT, 0] = lattice.reach(-1, 0.0, PASS, 0)
        for layer in range(len(lattice.units)):
            states = self._settle(layer)
            first = len(lattice.variants)
            lattice.variants += self.scorer.variants[layer]
            variants = [self._pushed(variant, first + n) for n, variant in enumerate(self.scorer.variants[layer])]
            moves = self._moves(layer, states, variants)
            moves.sort(key=itemgetter(0), reverse=True)  # the best ones to each stack come first
            self._take(layer, moves)
        self._settle(len(lattice.units))
        return lattice

    def _settle(self, layer: int) -> list[tuple[int, int]]:
        """The states of a layer that are kept, each with its stack."""
        if self.search.max_states is not None:
            self._cut(layer, self.search.max_states)
        stacks, score = self.lattice.stacks, self.lattice.score
        ordered = sorted(self.pending[layer].items(), key=lambda item: -score[item[1]])  # good floors come early
        settled = [(state, stacks.push(*key) if key[1] else ROOT) for key, state in ordered]
        self.pending[layer] = {}
        self.lattice.layers.append(array("i", [state for state, _ in settled]))
        self.lattice.layer_stacks.append(array("i", [stack for _, stack in settled]))
        known = self.closings
        self.closings = {stack: known.get(stack) or self._closings(stack) for _, stack in settled}
        if len(stacks.tops) > self.forget:
            waiting = (key[0] for later in self.pending[layer : self.furthest + 1] for key in later)
            stacks.keep_only([*waiting, *self.lattice.layer_stacks[-1]])
            self.scorer.forget_pairs()
            self.forget = len(stacks.tops) + FORGET
        return settled

    def _cut(self, layer: int, size: int) -> None:
        """Keep the best states of a layer."""
        score, found = self.lattice.score, self.pending[layer]
        best = [item for item in found.items() if score[item[1]] >= self.floors[layer]]
        if len(best) > size:
            best = nlargest(size, best, key=lambda item: score[item[1]])
            self.floors[layer] = score[best[-1][1]]
        if self.search.kept is not None:
            ids, kept, levels = {state for _, state in best}, self.search.kept[layer], self.lattice.stacks.levels
            best += [(key, state) for key, state in found.items() if state not in ids and levels(*key) in kept]
        left = self.pending[layer] = dict(best)
        if len(left) < len(found):
            lost = max(score[state] for key, state in found.items() if key not in left)
            self._drop(len(found) - len(left), lost + self.ahead[layer])

    def _drop(self, count: int, bound: float) -> None:
        """Note that ways are not followed. bound: on the scores of the trees at their ends."""
        self.lattice.dropped += count
        self.lattice.bound = max(self.lattice.bound, bound)

    def _closings(self, stack: int) -> list[_Closing]:
        """Ways to close open sections, none of them first."""
        under, tops = self.lattice.stacks.under, self.lattice.stacks.tops
        depth = self.lattice.stacks.depths[stack]
        found = [_Closing(stack, tops[stack], -tops[stack], depth, (None, None))]
        inner = 0
        while stack != ROOT:
            closed, stack = tops[stack], under[stack]
            depth -= 1
            found.append(_Closing(stack, tops[stack], closed, depth, self.scorer.levels.carried(closed, inner)))
            inner = closed
        return found

    def _pushed(self, variant: Variant, number: int) -> _Pushed:
        levels = self.scorer.levels
        outer, *inner = variant.openings
        numbered = levels.openings[outer].reading is not None
        target = bisect_left(self.lattice.units, variant.heading.end)
        pushed = tuple(levels.level(opening, None) for opening in inner)
        return _Pushed(
            outer, levels.level(outer, None), numbered, pushed, len(variant.openings), number, variant.score, target
        )

    def _meet(self, meeting: int, variants: list[_Pushed]) -> list[tuple[float, int, _Pushed]]:
        """Scores and features of the variants of a unit at a meeting, the best ones first."""
        bag_of = self.scorer.sibling if meeting > 0 else self.scorer.child
        bags = [bag_of(abs(meeting), pushed.opening) for pushed in variants]
        found = [(pushed.score + self.scorer.scores[bag], bag, pushed) for pushed, bag in zip(variants, bags)]
        found.sort(key=itemgetter(0), reverse=True)
        return found

    def _moves(self, layer: int, states: list[tuple[int, int]], variants: list[_Pushed]) -> list[Move]:
        """Moves from the states of a layer: score, state, closing, depth, what is pushed, and its features.

        With nothing pushed, the unit is passed over. Moves too bad for any of the layers they may lead to are left out.
        """
        score, unit, search = self.lattice.score, self.lattice.units[layer], self.search
        text = -inf if unit in search.forced else float(self.headings.text[unit])
        self.lattice.passing.append(text)
        targets = {pushed.target for pushed in variants}
        free = search.kept is not None or search.allowed is not None
        ahead = max(self.ahead[target] for target in targets)
        found: list[Move] = []
        known: dict[int, list[tuple[float, int, _Pushed]]] = {}
        floor = -inf if free else min(self.floors[target] for target in targets)
        if targets == {layer + 1} and not free and states:
            floor = max(floor, score[states[0][0]] + text - search.beam)  # of passing over
        best = -inf if len(targets) == 1 else inf  # of moves to the only target
        highest = max(pushed.score for pushed in variants) + self.scorer.highest
        self.left = min(self.left, (SAVED - 1) * search.work) + search.work
        dropped, lost = 0, -inf
        for state, stack in states:
            before = score[state]
            closings = self.closings[stack]
            if text > -inf:
                found.append((before + text, state, closings[0], 0, None, -1))
            if before + highest < floor or (self.left <= 0 and not free and state != states[0][0]):
                dropped += len(closings) * len(variants)
                lost = max(lost, before + min(highest + ahead, self.ahead[layer]))
                continue
            done = len(found) + PAIR * self.scorer.compared
            for closing in closings:
                meeting = known.get(closing.meeting)
                if meeting is None:
                    meeting = known[closing.meeting] = self._meet(closing.meeting, variants)
                last = len(found) + len(meeting)
                for gain, bag, pushed in meeting:
                    if before + gain < floor:
                        dropped += last - len(found)
                        if lost < before + gain + ahead:
                            lost = before + gain + ahead
                        break
                    found.append((before + gain, state, closing, closing.depth, pushed, bag))
                if not free and best < (top := before + meeting[0][0]):
                    best = top
                    floor = max(floor, best - search.beam)
            self.left -= len(found) + PAIR * self.scorer.compared - done
        self._drop(dropped, lost)
        return found

    def _take(self, layer: int, moves: list[Move]) -> None:
        """Go where moves lead to, the best ones first."""
        lattice, search, floors, levels = self.lattice, self.search, self.floors, self.scorer.levels
        free = search.kept is not None
        arcs: list[tuple[int, int, int, int, int]] = []
        targets = {layer + 1, *(pushed.target for _, _, _, _, pushed, _ in moves if pushed is not None)}
        # how many stacks each layer still takes; none of the moves to come is better than those that it took
        room = dict.fromkeys(targets, inf if free or search.max_states is None else search.max_states)
        ahead = max(self.ahead[target] for target in room)
        for place, (score, state, closing, depth, pushed, bag) in enumerate(moves):
            if not place % CHECK and not any(room.values()):
                self._drop(len(moves) - place, score + ahead)
                break
            if pushed is None:
                target, variant = layer + 1, PASS
                key = lattice.stacks.under[closing.stack], closing.top
            else:
                target, variant = pushed.target, pushed.variant
                if (score < floors[target] and not free) or depth + pushed.height > search.max_depth:
                    self._drop(1, score + self.ahead[target])
                    continue
                if search.allowed is not None and not search.allowed(lattice.variants[variant], depth):
                    continue
                carried, level = closing.carried[pushed.numbered], pushed.level
                if carried is not None:
                    level = levels.level(pushed.opening, carried)
                key = closing.stack, level
                for level in pushed.inner:
                    key = lattice.stacks.push(*key), level
            reached = self._reach(target, key, score, state, variant, depth, room)
            if reached >= 0:
                arcs.append((state, reached, variant, bag, depth))
        if lattice.arcs is not None:
            lattice.arcs.add(arcs)

    def _reach(
        self, layer: int, key: Key, score: float, source: int, variant: int, depth: int, room: dict[int, float]
    ) -> int:
        """The state of a stack that a move leads to, -1 if there is no room for it."""
        lattice, pending = self.lattice, self.pending[layer]
        state = pending.get(key)
        if state is None:
            if not room[layer]:
                self._drop(1, score + self.ahead[layer])
                return -1
            room[layer] -= 1
            self.furthest = max(self.furthest, layer)
            state = pending[key] = lattice.reach(source, score, variant, depth)
            self.floors[layer] = max(self.floors[layer], score - self.search.beam)
            if self.search.max_states is not None and len(pending) > ROOM * self.search.max_states:
                self._cut(layer, self.search.max_states)
        elif score > lattice.score[state]:
            lattice.score[state], lattice.back[state] = score, source
            lattice.variant[state], lattice.depth[state] = variant, depth
            self.floors[layer] = max(self.floors[layer], score - self.search.beam)
        return state


# -- what is still to be gained ----------------------------------------------------------------------------------------


def gains_ahead(headings: Headings, scorer: Scorer) -> list[float]:
    """The most that any way can gain from each layer to the end, whatever is open; inf where that is too dear to tell.

    Each heading gains what it would in the best of all places below or beside the headings before it. So what is left
    out at a layer leads to no more than its own score and this: an admissible heuristic (Hart, Nilsson & Raphael,
    1968).
    O(C + pairs of different openings), of which there may be 20,000.
    """
    units = sorted(headings.at)
    targets = [[bisect_left(units, variant.heading.end) for variant in own] for own in scorer.variants]
    ended: list[list[int]] = [[] for _ in range(len(units) + 1)]  # openings, by the layer behind their headings
    for own, behind in zip(scorer.variants, targets):
        for variant, target in zip(own, behind):
            ended[target] += variant.openings
    places = _BestPlaces(scorer)
    ahead = [0.0] * (len(units) + 1)
    gains: list[list[float]] = []
    for layer, own in enumerate(scorer.variants):
        places.known.update(dict.fromkeys(ended[layer]))
        gains.append([variant.score + places.gain(variant.openings[0]) for variant in own])
        if places.compared > MOST_PAIRS:
            return [inf] * len(ahead)
    for layer in reversed(range(len(units))):
        opened = (gain + ahead[target] for gain, target in zip(gains[layer], targets[layer]))
        ahead[layer] = max(float(headings.text[units[layer]]) + ahead[layer + 1], *opened)
    return ahead


class _BestPlaces:
    """The most that openings gain by where they stand, below or beside any of those that are known."""

    def __init__(self, scorer: Scorer) -> None:
        self.scorer, self.compared = scorer, 0
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
        self.compared += len(self.known) - done
        self._best[opening] = best, len(self.known)
        return best
