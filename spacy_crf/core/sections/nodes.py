"""Probabilities of sections: that there is one from this heading to this end, whatever stands around it.

A section is followed from the moves that open it to those that close it: for each state on the way, and each level that
the section may have there, the share of the ways to the state on which it is open. Given the state, what comes is
independent of that, so a move that closes the section counts with its probability times the share.
"""

from bisect import bisect_left
from collections import defaultdict

import numpy as np

from ..arrays import Doubles, Indices
from .lattice import PASS, Lattice
from .marginals import Moves, Sums
from .tree import Section

NEGLIGIBLE = 1e-7  # a share that is not followed further


def section_probabilities(
    lattice: Lattice, moves: Moves, scores: Doubles, sums: Sums, sections: list[Section], n_units: int
) -> list[float]:
    """The probability of each section of a tree of one document. O(units below each section, one after the other).

    moves (Moves), scores ((A,)), sums (Sums): of the lattice. n_units (int): of the document.
    """
    follower = _Follower(lattice, moves, scores, sums, n_units)
    return [min(1.0, follower.probability(section)) for section in sections]


class _Follower:
    def __init__(self, lattice: Lattice, moves: Moves, scores: Doubles, sums: Sums, n_units: int) -> None:
        self.lattice, self.n_units = lattice, n_units
        self.layers: list[int] = moves.layers.tolist()
        self.target: list[int] = moves.target.tolist()
        self.variant: list[int] = moves.variant.tolist()
        self.depth: list[int] = moves.depth.tolist()
        self.chances: list[float] = sums.probabilities.tolist()
        self.shares: list[float] = np.exp(sums.alpha[moves.source] + scores - sums.alpha[moves.target]).tolist()
        self.bounds = np.searchsorted(moves.source, np.arange(len(moves.layers) + 1)).tolist()
        self.starts = np.searchsorted(moves.layers, np.arange(len(lattice.layers) + 1)).tolist()
        self.ends = np.exp(sums.alpha[moves.last] - sums.log_z[0])
        self.last: Indices = moves.last

    def probability(self, section: Section) -> float:
        """The probability of a section."""
        layers: defaultdict[int, defaultdict[tuple[int, int], float]] = defaultdict(lambda: defaultdict(float))
        begin = bisect_left(self.lattice.units, section.start)
        for move in self._moves_from(begin):
            level = self._level(move, section)
            if level is not None:
                target = self.target[move]
                layers[self.layers[target]][target, level] += self.shares[move]
        final = len(self.lattice.units) if section.end == self.n_units else bisect_left(self.lattice.units, section.end)
        for layer in range(begin + 1, final):
            for (state, level), share in layers.pop(layer, {}).items():
                if share > NEGLIGIBLE:
                    self._follow(state, level, share, layers)
        if section.end == self.n_units:
            return float(sum(self.ends[state - self.last[0]] * share for (state, _), share in layers[final].items()))
        return sum(self._closing(state, level) * share for (state, level), share in layers[final].items())

    def _moves_from(self, layer: int) -> range:
        return range(self.bounds[self.starts[layer]], self.bounds[self.starts[layer + 1]])

    def _level(self, move: int, section: Section) -> int | None:
        """The level of the section if a move opens it: with the same heading unit, or implied by the same number."""
        if self.variant[move] == PASS:
            return None
        openings = self.lattice.variants[self.variant[move]].openings
        if not section.virtual:
            return self.depth[move] + len(openings)
        for place, opening in enumerate(openings[:-1], start=1):
            if self.lattice.scorer.levels.openings[opening].reading == section.reading:
                return self.depth[move] + place
        return None

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
        return sum(self.chances[move] for move in moves if self.variant[move] != PASS and self.depth[move] < level)
