"""The section parser: an exact dynamic programme over stacks of open sections.

A state is the stack of open sections, each with its numbering and typography only (`levels`). Every score is a
function of two adjacent levels and the heading that opens (`features`), so equal stacks are merged, and the best tree
over all trees and labellings is found by dynamic programming. Without a cap on the stacks it is exact; their number may
then grow exponentially with the headings. With a cap the time is linear in the document, and the parse says how many
stacks were left out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..arrays import Doubles, Indices
from .build import StackSearch, build
from .headings import ParserInput, find_headings
from .lattice import Section, best_sections
from .marginals import fill_probabilities
from .scoring import Scorer, weight_vector


@dataclass(frozen=True)
class ParserSettings:
    """The limits of the search.

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

    def search(self, with_arcs: bool = False) -> StackSearch:
        """Which ways are followed under these settings."""
        beam = math.inf if self.max_states is None else self.beam
        return StackSearch(self.max_states, beam, self.max_depth, with_arcs)


@dataclass(frozen=True)
class SectionParse:
    """The best tree of a document.

    sections (list of Section): in document order. labels ((N,)): the label of each unit.
    score (float): log probability of the labels plus the scores of the sections.
    log_z (float | None): log sum of all trees and labellings; None unless probabilities were asked for.
    exact (bool): no stack was left out. dropped (int): how many were.
    """

    sections: list[Section]
    labels: Indices
    score: float
    log_z: float | None = None
    exact: bool = True
    dropped: int = 0


def parse(
    document: ParserInput,
    weights: Doubles | Mapping[str, float] | None = None,
    settings: ParserSettings | None = None,
    probabilities: bool = False,
) -> SectionParse:
    """The tree of sections with the highest score, and the labels that go with it.

    document (ParserInput): without units it has a tree without sections.
    weights ((F,) | dict | None): of features; None for those set by hand. settings (ParserSettings | None): None for
        the defaults. probabilities (bool): fill in those of sections, and `log_z`; twice the time.
    """
    settings = settings or ParserSettings()
    vector = weights if isinstance(weights, np.ndarray) else weight_vector(weights)
    headings = find_headings(document, settings.margin)
    lattice = build(headings, Scorer(vector), settings.search(probabilities))
    sections = best_sections(lattice, len(document))
    labels = headings.labels.copy()
    for heading in (variant.heading for variant, _ in lattice.best_moves()):
        labels[list(heading.units)] = document.labels.title
        if heading.number:
            labels[heading.start] = document.labels.number
    log_z = headings.base + fill_probabilities(lattice, sections, len(document)) if probabilities else None
    score = headings.base + lattice.best_score
    return SectionParse(sections, labels, score, log_z, lattice.dropped == 0, lattice.dropped)
