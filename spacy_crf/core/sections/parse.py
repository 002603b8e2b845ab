"""The section parser: an exact dynamic programme over stacks of open sections.

A state is the stack of open sections, each with its numbering and typography only (`levels`). Every score is a
function of two adjacent levels and the heading that opens (`features`), so equal stacks are merged, and the best tree
over all trees and labellings is found by dynamic programming. Labels come as probabilities, and are decided with the
tree. Without a cap on the stacks it is exact; their number may then grow exponentially with the headings. With a cap
the time is linear in the document, and the parse says how many stacks were left out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Indices
from .build import Search, build
from .elements import Elements
from .headings import find_headings
from .lattice import Lattice
from .marginals import forward_backward, move_scores, moves_of
from .nodes import section_probabilities
from .scoring import Scorer, weight_vector
from .tree import Section, best_moves, labels_of, sections_of


@dataclass(frozen=True)
class ParserSettings:
    """How documents are parsed.

    max_states (int | None): stacks that are kept at each heading, the best ones; None for all of them: exact.
    beam (float): with a cap, stacks whose score is so far below the best one at the same heading are left out too.
    max_depth (int): of nested sections; deeper trees are not looked at.
    margin (float): how far the log probability of a heading's label may lie below that of the likeliest label; what
        lies further below counts as impossible.
    """

    max_states: int | None = 12
    beam: float = 8.0
    max_depth: int = 20
    margin: float = 7.0

    def search(self, with_arcs: bool = False) -> Search:
        """Which ways are followed under these settings."""
        beam = math.inf if self.max_states is None else self.beam
        return Search(self.max_states, beam, self.max_depth, with_arcs)


@dataclass(frozen=True)
class Parse:
    """The best tree of a document.

    sections (list of Section): in document order. labels ((N,)): the label of each unit.
    score (float): log probability of the labels plus the scores of the sections.
    log_z (float | None): log sum of all trees and labellings; None unless probabilities were asked for.
    exact (bool): no stack was left out. dropped (int): how many were.
    """

    sections: list[Section]
    labels: Indices
    score: float
    log_z: float | None
    exact: bool
    dropped: int


def parse(
    elements: Elements,
    weights: Doubles | Mapping[str, float] | None = None,
    settings: ParserSettings | None = None,
    probabilities: bool = False,
) -> Parse:
    """The tree of sections with the highest score, and the labels that go with it.

    elements (Elements): the units of the document; none at all gives a tree without sections.
    weights ((F,) | dict | None): of features; None for those set by hand. settings (ParserSettings | None): None for
        the defaults. probabilities (bool): fill in those of sections, and `log_z`; twice the time.
    """
    settings = settings or ParserSettings()
    vector = weights if isinstance(weights, np.ndarray) else weight_vector(weights)
    headings = find_headings(elements, settings.margin)
    lattice = build(headings, Scorer(vector), settings.search(probabilities))
    moves = best_moves(lattice)
    sections = sections_of(lattice, moves, len(elements))
    numbered = {
        lattice.variants[move.variant].heading.start for move in moves if lattice.variants[move.variant].heading.number
    }
    labels = labels_of(elements, headings, sections, numbered)
    log_z = _fill_probabilities(lattice, sections, len(elements)) if probabilities else None
    score = max(lattice.score[state] for state in lattice.layers[-1])
    total = None if log_z is None else headings.base + log_z
    return Parse(sections, labels, headings.base + score, total, lattice.dropped == 0, lattice.dropped)


def _fill_probabilities(lattice: Lattice, sections: list[Section], n_units: int) -> float:
    """Set the probability of each section. RETURNS (float): log_z."""
    moves = moves_of(lattice)
    scores = move_scores(lattice, moves)
    sums = forward_backward(moves, scores)
    found = section_probabilities(lattice, moves, scores, sums, sections, n_units)
    for section, probability in zip(sections, found):
        section.probability = probability
    return float(sums.log_z[0])
