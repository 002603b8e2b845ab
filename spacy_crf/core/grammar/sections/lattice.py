"""The lattice of the section parser: at each unit that may begin a heading, the stacks that may be open there.

A move either passes the unit over (it is no heading, the stack stays), or opens one of its headings: close any number
of open sections, then push. Units that cannot begin a heading take no time: scores are relative to each unit's
likeliest label, so passing over them adds nothing.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import nlargest
from typing import TypeAlias

from ..numbering import Reading
from .headings import Headings
from .levels import ROOT, Stacks
from .scoring import Scorer, Variant

PASS = -1  # the variant of a move that opens nothing
Closing: TypeAlias = tuple[int, int, int, tuple[Reading | None, Reading | None]]
Allowed: TypeAlias = Callable[[int, Variant | None, int], bool]


@dataclass
class Arcs:
    """Moves of the lattice, in order of their sources.

    source, target: states. variant: what is opened; PASS for nothing. bag: features of the first section that opens,
    with what it meets. depth: open sections below it.
    """

    source: "array[int]" = field(default_factory=lambda: array("q"))
    target: "array[int]" = field(default_factory=lambda: array("q"))
    variant: "array[int]" = field(default_factory=lambda: array("q"))
    bag: "array[int]" = field(default_factory=lambda: array("q"))
    depth: "array[int]" = field(default_factory=lambda: array("q"))
    score: "array[float]" = field(default_factory=lambda: array("d"))


@dataclass
class Lattice:
    """All states that were reached, the best way to each, and, if they were asked for, all moves.

    units (list of int): first units of the C possible headings; layer c holds the states before unit c, layer C those
        at the end.
    scorer (Scorer): features and scores. variants (list of Variant): what arcs open.
    score, back, variant, depth: of each state: the best score, the state before, and the move between them.
    layers (list of ranges of states, as lists): the states of each layer that were kept.
    dropped (int): states that were left out because of the cap.
    """

    units: list[int]
    scorer: Scorer
    variants: list[Variant] = field(default_factory=list)
    score: "array[float]" = field(default_factory=lambda: array("d"))
    back: "array[int]" = field(default_factory=lambda: array("q"))
    variant: "array[int]" = field(default_factory=lambda: array("q"))
    depth: "array[int]" = field(default_factory=lambda: array("q"))
    layers: list[list[int]] = field(default_factory=list)
    arcs: Arcs | None = None
    dropped: int = 0
    stacks: Stacks = field(default_factory=Stacks)


def build(
    headings: Headings,
    scorer: Scorer,
    max_states: int | None,
    max_depth: int,
    with_arcs: bool = False,
    allowed: Allowed | None = None,
    kept: list[set[tuple[int, ...]]] | None = None,
) -> Lattice:
    """Move from layer to layer. O(C S D V) for S states a layer, depth D and V variants a heading.

    max_states (int | None): states that a layer keeps, the best ones; None for all (exact, exponential in C).
    max_depth (int): of open sections; deeper ones are no part of the model.
    with_arcs (bool): keep all moves. allowed (Allowed | None): which moves there are, by layer, variant and depth.
    kept (list of sets | None): for each layer, stacks (as tuples of levels) that are kept whatever their score.
    """
    return _Builder(headings, scorer, max_states, max_depth, with_arcs, allowed, kept).build()


class _Builder:
    def __init__(
        self,
        headings: Headings,
        scorer: Scorer,
        max_states: int | None,
        max_depth: int,
        with_arcs: bool,
        allowed: Allowed | None,
        kept: list[set[tuple[int, ...]]] | None,
    ) -> None:
        self.headings, self.scorer = headings, scorer
        self.max_states, self.max_depth, self.allowed, self.kept = max_states, max_depth, allowed, kept
        units = sorted(headings.at)
        self.lattice = Lattice(units, scorer, arcs=Arcs() if with_arcs else None)
        self.pending: list[dict[tuple[int, int], int]] = [{} for _ in range(len(units) + 1)]
        self.layer = 0

    def build(self) -> Lattice:
        lattice = self.lattice
        self.pending[0][ROOT, 0] = 0
        self._new_state(0.0, -1, PASS, 0)
        for self.layer, unit in enumerate(lattice.units):
            states = self._settle(self.layer)
            first = len(lattice.variants)
            lattice.variants += self.scorer.variants(self.headings.at[unit])
            targets = [bisect_left(lattice.units, v.heading.end) for v in lattice.variants[first:]]
            passing = float(self.headings.text[unit])
            for state, stack in states:
                self._pass(state, stack, passing)
                closings = self._closings(stack)
                for number, target in enumerate(targets, first):
                    self._open(state, number, target, closings)
        self._settle(len(lattice.units))
        return lattice

    def _settle(self, layer: int) -> list[tuple[int, int]]:
        """The states of a layer that are kept, each with its stack."""
        stacks, score = self.lattice.stacks, self.lattice.score
        found = self.pending[layer]
        self.pending[layer] = {}
        chosen = list(found.items())
        if self.max_states is not None and len(chosen) > self.max_states:
            best = nlargest(self.max_states, chosen, key=lambda item: score[item[1]])
            if self.kept is not None:
                ids = {state for _, state in best}
                best += [item for item in chosen if item[1] not in ids and self._levels(item[0]) in self.kept[layer]]
            self.lattice.dropped += len(chosen) - len(best)
            chosen = best
        settled = [(state, stacks.push(*key) if key[1] else key[0]) for key, state in chosen]
        self.lattice.layers.append([state for state, _ in settled])
        return settled

    def _levels(self, key: tuple[int, int]) -> tuple[int, ...]:
        """The levels of a stack, innermost first."""
        stack, top = key
        found = [top] if top else []
        while stack != ROOT:
            found.append(self.lattice.stacks.tops[stack])
            stack = self.lattice.stacks.under[stack]
        return tuple(found)

    def _closings(self, stack: int) -> list[Closing]:
        """Ways to close open sections: stack that is left, its top, level closed last (0: none), numbers carried."""
        stacks, levels = self.lattice.stacks, self.scorer.levels
        found: list[Closing] = [(stack, stacks.tops[stack], 0, (None, None))]
        inner = 0
        while stack != ROOT:
            closed, stack = stacks.tops[stack], stacks.under[stack]
            found.append((stack, stacks.tops[stack], closed, levels.carried(closed, inner)))
            inner = closed
        return found

    def _pass(self, state: int, stack: int, score: float) -> None:
        """Take the unit for no heading."""
        if score == float("-inf") or (self.allowed is not None and not self.allowed(self.layer, None, 0)):
            return
        stacks = self.lattice.stacks
        key = (stacks.under[stack], stacks.tops[stack]) if stack != ROOT else (ROOT, 0)
        self._arrive(self.layer + 1, key, state, self.lattice.score[state] + score, PASS, -1, 0, score)

    def _open(self, state: int, number: int, target: int, closings: list[Closing]) -> None:
        """Open the sections of a variant on each stack that closing leaves."""
        scorer, variant, depth = self.scorer, self.lattice.variants[number], len(closings) - 1
        opening, so_far = variant.openings[0], self.lattice.score[state] + variant.score
        numbered = scorer.levels.openings[opening].reading is not None
        for left, (under, top, closed, carried) in enumerate(closings):
            if depth - left + len(variant.openings) > self.max_depth:
                continue
            if self.allowed is not None and not self.allowed(self.layer, variant, depth - left):
                continue
            bag = scorer.sibling(closed, opening) if closed else scorer.child(top, opening)
            key = (under, scorer.levels.level(opening, carried[numbered]))
            for inner in variant.openings[1:]:
                key = (self.lattice.stacks.push(*key), scorer.levels.level(inner, None))
            self._arrive(target, key, state, so_far + scorer.scores[bag], number, bag, depth - left, 0.0)

    def _arrive(
        self,
        layer: int,
        key: tuple[int, int],
        source: int,
        score: float,
        variant: int,
        bag: int,
        depth: int,
        fixed: float,
    ) -> None:
        lattice = self.lattice
        state = self.pending[layer].setdefault(key, len(lattice.score))
        if state == len(lattice.score):
            self._new_state(score, source, variant, depth)
        elif score > lattice.score[state]:
            lattice.score[state], lattice.back[state] = score, source
            lattice.variant[state], lattice.depth[state] = variant, depth
        arcs = lattice.arcs
        if arcs is not None:
            arcs.source.append(source)
            arcs.target.append(state)
            arcs.variant.append(variant)
            arcs.bag.append(bag)
            arcs.depth.append(depth)
            arcs.score.append(fixed)

    def _new_state(self, score: float, back: int, variant: int, depth: int) -> None:
        lattice = self.lattice
        lattice.score.append(score)
        lattice.back.append(back)
        lattice.variant.append(variant)
        lattice.depth.append(depth)
