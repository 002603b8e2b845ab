"""Building the lattice of the section parser, layer by layer, with a bound on what it leaves out."""

import warnings
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Bools, Numbered
from ..errors import CoreWarnings, CRFWarning
from .headings import Headings
from .lattice import PASS, LatticeArcs, Stack, StackLattice, Stacks
from .scores import Scorer, Variant

Allowed: TypeAlias = Callable[[Variant], range]
ROOM = 2  # a layer that is not yet complete holds so many times the cap before it is cut
CHECK = 8  # moves between two looks at whether there is room for more
PAIR = 5  # moves that take as long as the features of a pair that has not met before
SAVED = 100  # layers whose work may be saved up for those that take more
FORGET = 5000  # stacks that are added between two times at which those that are no longer open are forgotten
TOLERANCE = 1e-6  # of scores that are compared with a bound
MOST_MOVES, INSTEAD = 1_000_000, 100  # of a document without a cap, and the cap that holds behind them


@dataclass(frozen=True)
class StackSearch:
    """Which ways are followed.

    max_states (int | None), beam (float), max_depth (int): see `ParserSettings`. with_arcs, with_stacks (bool): keep
        all moves, and the stacks of all states.
    allowed (Callable | None): for a variant, how many open sections may be around where it opens. With `kept`, it opens
        there whatever its score, and elsewhere if it is good enough.
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
    with_stacks: bool = False
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
    """The sections that a variant, by its number, pushes, and the layer behind it.

    opening, numbered: of the first section, and whether it has a number. inner: openings inside.
    height: how many sections it pushes.
    """

    opening: int
    numbered: bool
    inner: tuple[int, ...]
    height: int
    variant: int
    target: int


class _Closing(NamedTuple):
    """The stack that is left after closing, and what is carried on, into a title and into a number.

    meeting: the level closed last, or minus the top if none is.
    """

    stack: Stack
    meeting: int
    carried: tuple[int, int]


@dataclass(frozen=True)
class _Moves:
    """The moves from a layer, the best ones first.

    scores (list of float). codes (list of int): minus the place of a state less one for passing over; else the place of
        a closing, times the number of variants, plus the place of what is pushed.
    closings (list): with the place of the state of each. bags (list of lists): of features, by closing and variant.
    free (list of bool): which moves lead to stacks that are kept whatever their score.
    """

    scores: list[float]
    codes: list[int]
    closings: list[tuple[int, _Closing]]
    bags: list[list[int]]
    free: list[bool]


class _Builder:
    def __init__(self, headings: Headings, scorer: Scorer, search: StackSearch) -> None:
        self.headings, self.scorer, self.search, self.cap = headings, scorer, search, search.max_states
        self.keeps = search.kept is not None  # moves to stacks that others lead to are followed, however bad they are
        self.is_free = self.keeps or search.allowed is not None
        self.ahead = [inf] * (len(headings.units) + 1) if search.ahead is None else search.ahead
        self.lattice = StackLattice(scorer, arcs=LatticeArcs() if search.with_arcs else None)
        self.pending: defaultdict[int, dict[Stack, int]] = defaultdict(dict)  # states of layers to come
        # what is below is not among the best
        self.floors = [search.least - ahead - TOLERANCE for ahead in self.ahead]
        self.stacks = Stacks()
        self.closings: dict[Stack, list[_Closing]] = {}
        self.forget = FORGET
        self.left = SAVED * search.work  # of the work that may be done
        self.n_moves = 0

    def build(self) -> StackLattice:
        self.pending[0][self.stacks.root] = self.lattice.reach(-1, 0.0, PASS, 0)
        for layer in range(len(self.headings.units)):
            states = self._settle(layer)
            own = self.scorer.variants.of_layer(layer)
            variants = [self._pushed(*each) for each in enumerate(own, start=self.scorer.variants.firsts[layer])]
            self._take(layer, states, variants, self._moves(layer, states, variants))
        self._settle(len(self.headings.units))
        return self.lattice

    # -- the states of a layer

    def _settle(self, layer: int) -> list[tuple[Stack, int]]:
        """The states of a layer that are kept, each with its stack, the best one first."""
        if self.cap is not None:
            self._cut(layer, self.cap)
        lattice, score = self.lattice, self.lattice.score
        settled = sorted(self.pending.pop(layer, {}).items(), key=lambda item: -score[item[1]])
        lattice.kept.extend([state for _, state in settled])
        lattice.bounds.append(len(lattice.kept))
        if self.search.with_stacks:
            lattice.stacks.append([stack.levels for stack, _ in settled])
        if len(self.stacks.known) > self.forget:
            waiting = (stack for later in self.pending.values() for stack in later)
            self.stacks.keep_only([*waiting, *(stack for stack, _ in settled)])
            self.closings.clear()
            self.scorer.forget_pairs()
            self.forget = len(self.stacks.known) + FORGET
        return settled

    def _cut(self, layer: int, size: int) -> None:
        """Keep the best states of a layer."""
        score, found = self.lattice.score, self.pending[layer]
        best = [item for item in found.items() if score[item[1]] >= self.floors[layer]]
        if len(best) > size:
            best = nlargest(size, best, key=lambda item: score[item[1]])
            self.floors[layer] = score[best[-1][1]]
        if self.search.kept is not None:
            ids, kept = {state for _, state in best}, self.search.kept[layer]
            best += [(stack, state) for stack, state in found.items() if state not in ids and stack.levels in kept]
        if len(best) < len(found):
            left = self.pending[layer] = dict(best)
            lost = [score[state] for stack, state in found.items() if stack not in left]
            self._drop(len(lost), max(lost) + self.ahead[layer])

    def _drop(self, count: int, bound: float) -> None:
        """Note that ways are not followed. bound: on the scores of the trees at their ends."""
        self.lattice.dropped += count
        self.lattice.bound = max(self.lattice.bound, float(bound))

    # -- the moves from it

    def _closings_of(self, stack: Stack) -> list[_Closing]:
        """Ways to close open sections, none of them first."""
        found = self.closings.get(stack)
        if found is None:
            levels, carried = self.scorer.levels, self.scorer.levels.within(stack.top)
            found = self.closings[stack] = [_Closing(stack, -stack.top, (carried, carried))]
            inside: int | None = None
            while stack.under is not None:
                found.append(_Closing(stack.under, stack.top, levels.over(stack.top, inside)))
                inside, stack = found[-1].carried[0], stack.under
        return found

    def _pushed(self, number: int, variant: Variant) -> _Pushed:
        levels = self.scorer.levels
        outer, *inner = variant.openings
        numbered = levels.openings[outer].reading is not None
        target = bisect_left(self.headings.units, variant.heading.end)
        return _Pushed(outer, numbered, tuple(inner), len(variant.openings), number, target)

    def _moves(self, layer: int, states: list[tuple[Stack, int]], variants: list[_Pushed]) -> _Moves:
        """Moves from the states of a layer. Those too bad for the layers that they may lead to are left out."""
        score, unit = self.lattice.score, self.headings.units[layer]
        text = -inf if unit in self.search.forced else float(self.headings.text[unit])
        self.lattice.passing.append(text)
        if not states:
            return _Moves([], [], [], [], [])
        before = np.array([score[state] for _, state in states])
        passes = before + text if text > -inf else before[:0]
        own = np.array(self.scorer.variants.scores[variants[0].variant : variants[-1].variant + 1])
        ahead = np.array([self.ahead[pushed.target] for pushed in variants])
        floors = np.array([-inf if self.keeps else self.floors[pushed.target] for pushed in variants])
        tops = {layer + 1: before[0] + text}  # the best move to each layer
        floors = np.maximum(floors, [tops.get(pushed.target, -inf) - self.search.beam for pushed in variants])
        highest = own.max() + self.scorer.highest
        kept = self._kept(layer, states)
        followed = np.flatnonzero((before + highest >= floors.min()) | kept)
        able = int(followed[-1]) + 1 if len(followed) else 0
        bound = min(highest + ahead.max(), self.ahead[layer])
        opening = self._choose(states, able, len(variants), lambda place: before[place] + bound)

        compared = self.scorer.compared
        closings = [(place, each) for place in range(opening) for each in self._closings_of(states[place][0])]
        meetings = Numbered[int]()
        rows = [meetings.number(closing.meeting) for _, closing in closings]
        openings = [pushed.opening for pushed in variants]
        bags = [self.scorer.meeting(meeting, openings) for meeting in meetings]
        gains = np.array([[self.scorer.scores[bag] for bag in row] for row in bags]).reshape(-1, len(own)) + own
        found = before[[place for place, _ in closings]][:, None] + gains[rows]
        for pushed, top in zip(variants, found.max(axis=0, initial=-inf).tolist()):
            tops[pushed.target] = max(top, tops.get(pushed.target, -inf))
        floors = np.maximum(floors, [tops[pushed.target] - self.search.beam for pushed in variants])
        follows = found >= floors
        free = self._allowed(closings, variants)
        if self.search.allowed is not None:
            free &= kept[np.array([place for place, _ in closings], dtype=np.intp)][:, None]
            follows = (follows | free) if self.search.kept is not None else free
        chosen = np.flatnonzero(follows)
        if len(chosen) < found.size:
            self._drop(found.size - len(chosen), float(np.where(follows, -inf, found + ahead).max()))
        self.left -= len(chosen) + PAIR * (self.scorer.compared - compared)
        scores = np.concatenate([passes, found.reshape(-1)[chosen]])
        # of equal ones, numbers that close more first: an annex behind 4.2 is beside 4, not beside 4.2
        depths = np.outer([closing.stack.depth for _, closing in closings], [pushed.numbered for pushed in variants])
        outer = np.concatenate([np.full(len(passes), -1), depths.reshape(-1)[chosen]])
        order = np.lexsort((outer, -scores))
        codes = np.concatenate([-1 - np.arange(len(passes)), chosen])
        frees = np.concatenate([kept[: len(passes)], free.reshape(-1)[chosen]])[order] & self.keeps
        told = scores[order].tolist(), codes[order].tolist()
        return _Moves(*told, closings, [bags[row] for row in rows], frees.tolist())

    def _kept(self, layer: int, states: list[tuple[Stack, int]]) -> Bools:
        """Which states of a layer are kept whatever their score."""
        if self.search.kept is None:
            return np.full(len(states), self.search.allowed is not None)
        return np.array([stack.levels in self.search.kept[layer] for stack, _ in states])

    def _allowed(self, closings: list[tuple[int, _Closing]], variants: list[_Pushed]) -> Bools:
        """Which variants may open behind each closing, by `search.allowed`; none without."""
        if self.search.allowed is None:
            return np.zeros((len(closings), len(variants)), dtype=bool)
        around = [self.search.allowed(self.scorer.variants[pushed.variant]) for pushed in variants]
        depths = np.array([closing.stack.depth for _, closing in closings], dtype=np.intp)[:, None]
        starts, stops = np.array([(own.start, own.stop) for own in around]).T
        found: Bools = (starts <= depths) & (depths < stops)
        return found

    def _choose(
        self, states: list[tuple[Stack, int]], able: int, n_variants: int, bound: Callable[[int], float]
    ) -> int:
        """How many states of a layer, the best ones, may open sections; the others are passed over, and no more.

        able (int): how many could reach a layer. bound (Callable): on the scores of the trees behind a state.
        """

        def count_moves(own: list[tuple[Stack, int]]) -> int:
            return n_variants * sum(stack.depth + 1 for stack, _ in own)

        self.n_moves += count_moves(states[:able])
        if self.cap is None and self.n_moves > MOST_MOVES:
            self.cap, self.left = INSTEAD, SAVED * self.search.work  # moves without a cap are not counted against it
            message = CoreWarnings.CRFW961.format(name=self.headings.name, most=MOST_MOVES, cap=INSTEAD)
            warnings.warn(message, CRFWarning, stacklevel=2)
            able = min(able, INSTEAD)
        if self.cap is not None:
            self.left = min(self.left, (SAVED - 1) * self.search.work) + self.search.work
            if self.left <= 0 and not self.is_free:
                able = min(able, 1)
        if able < len(states):
            self._drop(count_moves(states[able:]), bound(able))
        return able

    def _take(self, layer: int, states: list[tuple[Stack, int]], variants: list[_Pushed], moves: _Moves) -> None:
        """Go where moves lead to, the best ones first."""
        lattice, search, floors = self.lattice, self.search, self.floors
        levels, stacks, best = self.scorer.levels, self.stacks, lattice.score
        first, kept = lattice.bounds[-2], search.kept
        arcs: list[tuple[int, int, int, int, int]] = []
        # how many stacks each layer still takes; none of the moves to come is better than those that it took
        most = inf if self.cap is None else self.cap
        room = dict.fromkeys([layer + 1, *(pushed.target for pushed in variants)], most)
        refused: dict[int, list[Any]] = {}  # score of the best move that is not made, and how many, for each layer
        ahead = max(self.ahead[target] for target in room)
        for number, (score, code, is_free) in enumerate(zip(moves.scores, moves.codes, moves.free)):
            if kept is None and not number % CHECK and not any(room.values()):
                self._drop(len(moves.scores) - number, score + ahead)
                break
            if code < 0:
                place, target, variant, bag, depth = -1 - code, layer + 1, PASS, -1, 0
                stack = states[place][0]
            else:
                row, column = divmod(code, len(variants))
                pushed, bag, (place, closing) = variants[column], moves.bags[row][column], moves.closings[row]
                target, variant, depth = pushed.target, pushed.variant, closing.stack.depth
                if (score < floors[target] and not self.keeps) or depth + pushed.height > search.max_depth:
                    refused.setdefault(target, [score, 0])[1] += 1
                    continue
                level = levels.level(pushed.opening, closing.carried[pushed.numbered])
                if not (room[target] or self.keeps or (closing.stack, level) in stacks.known):
                    refused.setdefault(target, [score, 0])[1] += 1
                    continue
                stack = stacks.push(closing.stack, level)
                for opening in pushed.inner:
                    stack = stacks.push(stack, levels.level(opening, levels.within(stack.top)))
            state = self.pending[target].get(stack)
            if state is None:
                is_good = room[target] and not (self.keeps and score < floors[target])
                if not is_good and not (is_free and kept is not None and stack.levels in kept[target]):
                    refused.setdefault(target, [score, 0])[1] += 1
                    continue
                room[target] = max(room[target] - 1, 0)
                state = self._reach(target, stack, score, states[place][1], variant, depth)
            elif score > best[state]:
                best[state], lattice.back[state] = score, states[place][1]
                lattice.variant[state], lattice.depth[state] = variant, depth
                floors[target] = max(floors[target], score - search.beam)
            arcs.append((first + place, state, variant, bag, depth))
        for target, (score, count) in refused.items():
            self._drop(count, score + self.ahead[target])
        if lattice.arcs is not None:
            lattice.arcs.add(arcs)

    def _reach(self, layer: int, stack: Stack, score: float, source: int, variant: int, depth: int) -> int:
        """The state of a stack that a move is the first to lead to."""
        pending = self.pending[layer]
        state = pending[stack] = self.lattice.reach(source, score, variant, depth)
        self.floors[layer] = max(self.floors[layer], score - self.search.beam)
        if self.cap is not None and len(pending) > ROOM * max(self.cap, self._n_kept(layer)):
            self._cut(layer, self.cap)
        return state

    def _n_kept(self, layer: int) -> int:
        """How many stacks no cut takes away: where they are many, cuts have to be few."""
        return len(self.search.kept[layer]) if self.search.kept is not None else 0
