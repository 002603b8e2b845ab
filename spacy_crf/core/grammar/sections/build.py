"""Building the lattice of the section parser, layer by layer."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from heapq import nlargest
from typing import NamedTuple, TypeAlias

from ..numbering import Reading
from .headings import Headings
from .lattice import PASS, Arcs, Lattice
from .levels import ROOT
from .scoring import Scorer, Variant

Key: TypeAlias = tuple[int, int]  # a stack as what is under its top, and its top
Allowed: TypeAlias = Callable[[Variant, int], bool]
ROOM = 2  # a layer that is not yet complete holds so many times the cap before it is cut


@dataclass(frozen=True)
class Search:
    """Which ways are followed.

    max_states (int | None): stacks that a layer keeps, the best ones; None for all: exact, exponential in the headings.
    beam (float): how far below the best of a layer a stack may be to be kept.
    max_depth (int): of open sections; deeper ones are no part of the model.
    with_arcs (bool): keep all moves. allowed (Callable | None): which variants may open, by variant and number of open
        sections around. forced (set of int): units that may not be passed over.
    kept (list of sets | None): for each layer, stacks that are kept whatever their score, as levels from the innermost
        on.
    """

    max_states: int | None
    beam: float
    max_depth: int
    with_arcs: bool = False
    allowed: Allowed | None = None
    forced: frozenset[int] = frozenset()
    kept: list[set[tuple[int, ...]]] | None = None


def build(headings: Headings, scorer: Scorer, search: Search) -> Lattice:
    """All ways through a document. O(C S D V) for S stacks a layer, depth D and V variants of a heading."""
    return _Builder(headings, scorer, search).build()


class _Pushed(NamedTuple):
    """What a variant pushes, and where it leads.

    opening, level: the first section, without a number carried into it. numbered: it has a number. inner: levels
    inside. variant: its index. score: of the variant. target: the layer behind it.
    """

    opening: int
    level: int
    numbered: bool
    inner: tuple[int, ...]
    variant: int
    score: float
    target: int


class _Closing(NamedTuple):
    """What is left after closing: stack, its top, the level closed last (0 for none), and what is carried over it."""

    stack: int
    top: int
    closed: int
    carried: tuple[Reading | None, Reading | None]


class _Builder:
    def __init__(self, headings: Headings, scorer: Scorer, search: Search) -> None:
        self.headings, self.scorer, self.search = headings, scorer, search
        units = sorted(headings.at)
        self.lattice = Lattice(units, scorer, arcs=Arcs() if search.with_arcs else None)
        self.pending: list[dict[Key, int]] = [{} for _ in range(len(units) + 1)]
        self.floors = [float("-inf")] * (len(units) + 1)  # what is below is not among the best
        self.closings: dict[int, list[_Closing]] = {}

    def build(self) -> Lattice:
        lattice = self.lattice
        self.pending[0][ROOT, 0] = lattice.start()
        for layer, unit in enumerate(lattice.units):
            states = self._settle(layer)
            first = len(lattice.variants)
            lattice.variants += self.scorer.variants(self.headings.at[unit])
            variants = [self._pushed(variant, first + n) for n, variant in enumerate(lattice.variants[first:])]
            scores: dict[int, list[tuple[float, int]]] = {}
            known, self.closings = self.closings, {}
            targets = sorted({pushed.target for pushed in variants})
            highest = max(pushed.score for pushed in variants)
            for state, stack in states:
                self._pass(layer, state, stack)
                closings = self.closings[stack] = known.get(stack) or self._closings(stack)
                floor = min(self.floors[target] for target in targets)
                if lattice.score[state] + highest + self.scorer.highest < floor:
                    lattice.dropped += len(closings) * len(variants)
                    continue
                self._open_all(state, closings, variants, scores)
        self._settle(len(lattice.units))
        return lattice

    def _settle(self, layer: int) -> list[tuple[int, int]]:
        """The states of a layer that are kept, each with its stack."""
        if self.search.max_states is not None:
            self._cut(layer, self.search.max_states)
        stacks = self.lattice.stacks
        score = self.lattice.score
        ordered = sorted(self.pending[layer].items(), key=lambda item: -score[item[1]])  # good floors come early
        settled = [(state, stacks.push(*key) if key[1] else ROOT) for key, state in ordered]
        self.pending[layer] = {}
        self.lattice.layers.append([state for state, _ in settled])
        self.lattice.layer_stacks.append([stack for _, stack in settled])
        return settled

    def _cut(self, layer: int, size: int) -> None:
        """Keep the best states of a layer."""
        score, found = self.lattice.score, self.pending[layer]
        best = [item for item in found.items() if score[item[1]] >= self.floors[layer]]
        if len(best) > size:
            best = nlargest(size, best, key=lambda item: score[item[1]])
            self.floors[layer] = score[best[-1][1]]
        if self.search.kept is not None:
            ids = {state for _, state in best}
            kept = self.search.kept[layer]
            best += [item for item in found.items() if item[1] not in ids and self._levels(item[0]) in kept]
        self.lattice.dropped += len(found) - len(best)
        self.pending[layer] = dict(best)

    def _levels(self, key: Key) -> tuple[int, ...]:
        """The levels of a stack, innermost first."""
        stack, top = key
        found = [top] if top else []
        while stack != ROOT:
            found.append(self.lattice.stacks.tops[stack])
            stack = self.lattice.stacks.under[stack]
        return tuple(found)

    def _closings(self, stack: int) -> list[_Closing]:
        """Ways to close open sections, none of them first."""
        under, tops = self.lattice.stacks.under, self.lattice.stacks.tops
        found = [_Closing(stack, tops[stack], 0, (None, None))]
        inner = 0
        while stack != ROOT:
            closed, stack = tops[stack], under[stack]
            found.append(_Closing(stack, tops[stack], closed, self.scorer.levels.carried(closed, inner)))
            inner = closed
        return found

    def _pushed(self, variant: Variant, number: int) -> _Pushed:
        levels = self.scorer.levels
        outer, *inner = variant.openings
        numbered = levels.openings[outer].reading is not None
        target = bisect_left(self.lattice.units, variant.heading.end)
        pushed = tuple(levels.level(opening, None) for opening in inner)
        return _Pushed(outer, levels.level(outer, None), numbered, pushed, number, variant.score, target)

    def _meet(self, closing: _Closing, variants: list[_Pushed]) -> list[tuple[float, int]]:
        """Scores and features of the variants of a unit after a closing."""
        scorer = self.scorer
        if closing.closed:
            bags = [scorer.sibling(closing.closed, pushed.opening) for pushed in variants]
        else:
            bags = [scorer.child(closing.top, pushed.opening) for pushed in variants]
        return [(pushed.score + scorer.scores[bag], bag) for pushed, bag in zip(variants, bags)]

    def _pass(self, layer: int, state: int, stack: int) -> None:
        """Take the unit of a layer for no heading."""
        unit, stacks = self.lattice.units[layer], self.lattice.stacks
        text = float(self.headings.text[unit])
        if text == float("-inf") or unit in self.search.forced:
            return
        key = (stacks.under[stack], stacks.tops[stack])
        self._move(layer + 1, key, self.lattice.score[state] + text, (state, PASS, -1, 0, text))

    def _open_all(
        self,
        state: int,
        closings: list[_Closing],
        variants: list[_Pushed],
        scores: dict[int, list[tuple[float, int]]],
    ) -> None:
        """Open the variants of a unit after all closings. scores (dict): what is known of meetings so far."""
        for left, closing in enumerate(closings):
            meeting = closing.closed or -closing.top
            found = scores.get(meeting)
            if found is None:
                found = scores[meeting] = self._meet(closing, variants)
            self._open(state, closing, len(closings) - 1 - left, variants, found)

    def _open(
        self, state: int, closing: _Closing, depth: int, variants: list[_Pushed], scores: list[tuple[float, int]]
    ) -> None:
        """Open sections on what closing left."""
        lattice, floors, search = self.lattice, self.floors, self.search
        before = lattice.score[state]
        for pushed, (gain, bag) in zip(variants, scores):
            score, target = before + gain, pushed.target
            if score < floors[target] and search.kept is None:
                lattice.dropped += 1
                continue
            if depth + 1 + len(pushed.inner) > search.max_depth:
                continue
            if search.allowed is not None and not search.allowed(lattice.variants[pushed.variant], depth):
                continue
            carried, level = closing.carried[pushed.numbered], pushed.level
            if carried is not None:
                level = self.scorer.levels.level(pushed.opening, carried)
            key = (closing.stack, level)
            for level in pushed.inner:
                key = (lattice.stacks.push(*key), level)
            self._move(target, key, score, (state, pushed.variant, bag, depth, 0.0))

    def _move(self, layer: int, key: Key, score: float, arc: tuple[int, int, int, int, float]) -> None:
        """Note a move to a stack. arc: source, variant, bag, depth and fixed score."""
        lattice, pending = self.lattice, self.pending[layer]
        source, variant, bag, depth, fixed = arc
        state = pending.get(key)
        if state is None:
            state = pending[key] = lattice.reach(source, score, variant, depth)
            self.floors[layer] = max(self.floors[layer], score - self.search.beam)
            if self.search.max_states is not None and len(pending) > ROOM * self.search.max_states:
                self._cut(layer, self.search.max_states)
        elif score > lattice.score[state]:
            lattice.score[state], lattice.back[state] = score, source
            lattice.variant[state], lattice.depth[state] = variant, depth
            self.floors[layer] = max(self.floors[layer], score - self.search.beam)
        if lattice.arcs is not None:
            lattice.arcs.add(source, state, variant, bag, depth, fixed)
