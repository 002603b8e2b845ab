"""The numbering terms of Trompper's section grammars, as scores of spans; and his parser, to be compared with.

With M. Trompper's grammars (2016; the files `thesis` and `thesis_code` of the library) numberings play a role at two
places: between neighbouring sections of a run, or at the beginning of a run. Both can be told from spans where every
unit has one label: the heading of the first section that begins in a span is the first NR or SECTION_TITLE in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Indices
from .binary import BinaryGrammar
from .cyk import viterbi
from .numbering import Reading
from .scores import ParseScores
from .succession import step

HEADINGS = ("NR", "SECTION_TITLE")
SECTION, FOLLOWED, RUN = "Section", "Followed", "Seq"
LEAST, MORE = 0.4, 0.6  # the factor without the condition, and what it adds
FEWER = -1e-6  # for each section: of trees that the listing holds for equal, the one with fewer sections


@dataclass(frozen=True)
class LabelledUnits:
    """N units whose labels are decided.

    labels (sequence of str): terminals of the grammars. readings (sequence): of each NR all that it may mean, as
        `numbering.readings` gives them; () for other units.
    name (str): of the document, for messages.
    """

    labels: Sequence[str]
    readings: Sequence[Sequence[Reading]]
    name: str = "The document"

    def headings(self) -> Indices:
        """((N + 1,)): for each unit the first heading from there on; N for none, and behind the last unit."""
        n = len(self.labels)
        own = [place if label in HEADINGS else n for place, label in enumerate(self.labels)]
        return np.minimum.accumulate(np.array([*own, n], dtype=np.intp)[::-1])[::-1]

    def numbers(self, unit: int) -> Sequence[Reading]:
        """What the numbering of the heading at a unit may mean; () if it has none."""
        return self.readings[unit] if unit < len(self.labels) else ()


def succession_scores(units: LabelledUnits) -> Doubles:
    """((N, N)): as [first, last unit], the term between a section and the next one: log(0.4 + 0.6 follows).

    The span is that of the first of both; what is behind it is the other. They follow each other if their numberings
    are in direct sequence, or neither has one. O(H^2) for H headings.
    """
    n, heading = len(units.labels), units.headings()
    known = np.unique(heading)
    follows = np.zeros((n + 1, n + 1), dtype=np.bool_)
    for before in known.tolist():
        for after in known[known > before].tolist():
            follows[before, after] = _follows(units.numbers(before), units.numbers(after))
    return _term(follows[heading[:-1]][:, heading[1:]])


def first_number_scores(units: LabelledUnits) -> Doubles:
    """((N, N)): as [first, last unit], the term of a run of sections: log(0.4 + 0.6 begins).

    It begins if its first numbering is a first one (1, a, i, x.1), or it has none.
    """
    n, heading = len(units.labels), units.headings()
    begins = np.array([_begins(units.numbers(unit)) for unit in range(n + 1)], dtype=np.bool_)
    return np.repeat(_term(begins[heading[:-1]])[:, None], n, axis=1)


def section_spans(grammar: BinaryGrammar, units: LabelledUnits) -> list[tuple[int, int]]:
    """The sections of the best tree, as (first unit, end), parents before their children: the parser of the thesis.

    Listing 1 does not decide between a numbering with a title and a numbering with a titled section inside: both weigh
    the same. Here the tree with fewer sections is taken.

    grammar (BinaryGrammar): made of `thesis`, whose term is on Followed, or of `thesis_code`, whose term is on Seq.
    units (LabelledUnits): the document.
    RETURNS (list): none for a document without a heading, which has no tree under these grammars.
    RAISES (NoParseError): if there is no tree in spite of headings: in Listing 1 a section cannot be empty.
    """
    n = len(units.labels)
    if units.headings()[0] == n:
        return []
    is_listing = FOLLOWED in grammar.grammar.nonterminals
    spans = {FOLLOWED: succession_scores(units)} if is_listing else {RUN: first_number_scores(units)}
    spans[SECTION] = np.full((n, n), FEWER)
    tree = viterbi(grammar, ParseScores.from_labels(grammar.grammar, units.labels, spans, units.name)).tree
    return [(node.start, node.end) for node in tree.nodes if node.label == SECTION]


def _follows(before: Sequence[Reading], after: Sequence[Reading]) -> bool:
    if not before or not after:
        return not before and not after
    return any(step(first, second) == 1 for first in before for second in after)


def _begins(numbers: Sequence[Reading]) -> bool:
    return not numbers or any(number.values[-1] == 1 for number in numbers)


def _term(holds: Bools) -> Doubles:
    return np.asarray(np.log(LEAST + MORE * holds))
