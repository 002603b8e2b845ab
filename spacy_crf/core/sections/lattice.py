"""The lattice of the section parser: at each unit that may begin a heading, the stacks that may be open there.

A move either passes the unit over (it is no heading, the stack stays), or opens one of its headings: close any number
of open sections, then push. Units that cannot begin a heading take no time: scores are relative to each unit's
likeliest label, so passing over them adds nothing. The best way through is a tree of sections.
"""

from array import array
from dataclasses import dataclass, field

from ..grammar.numbering import Reading
from .levels import Stacks
from .scoring import Scorer, Variant

PASS = -1  # the variant of a move that opens nothing


@dataclass
class StackArcs:
    """Moves of the lattice, in order of their sources.

    source, target: states. variant: what is opened; PASS for nothing. bag: features of the first section that opens,
    with what it meets. depth: open sections below it. score: of a move that opens nothing.
    """

    source: "array[int]" = field(default_factory=lambda: array("i"))
    target: "array[int]" = field(default_factory=lambda: array("i"))
    variant: "array[int]" = field(default_factory=lambda: array("i"))
    bag: "array[int]" = field(default_factory=lambda: array("i"))
    depth: "array[int]" = field(default_factory=lambda: array("i"))
    score: "array[float]" = field(default_factory=lambda: array("d"))

    def add(self, source: int, target: int, variant: int, bag: int, depth: int, score: float) -> None:
        """Add a move."""
        self.source.append(source)
        self.target.append(target)
        self.variant.append(variant)
        self.bag.append(bag)
        self.depth.append(depth)
        self.score.append(score)


@dataclass
class StackLattice:
    """All states that were reached, the best way to each, and, if they were asked for, all moves.

    units (list of int): first units of the C possible headings; layer c holds the states before unit c, layer C those
        at the end.
    scorer (Scorer): features and scores. variants (list of Variant): what arcs open.
    score, back, variant, depth: of each state: the best score, the state before, and the move between them.
    layers (list of lists): the states of each layer that were kept. layer_stacks (list of lists): their stacks.
    stacks (Stacks): all of them. arcs (StackArcs | None): all moves, if they are kept.
    dropped (int): stacks that were left out because of the cap, as often as they were reached.
    """

    units: list[int]
    scorer: Scorer
    variants: list[Variant] = field(default_factory=list)
    score: "array[float]" = field(default_factory=lambda: array("d"))
    back: "array[int]" = field(default_factory=lambda: array("i"))
    variant: "array[int]" = field(default_factory=lambda: array("i"))
    depth: "array[int]" = field(default_factory=lambda: array("i"))
    layers: list[list[int]] = field(default_factory=list)
    layer_stacks: list[list[int]] = field(default_factory=list)
    arcs: StackArcs | None = None
    dropped: int = 0
    stacks: Stacks = field(default_factory=Stacks)

    def start(self) -> int:
        """Add the state before the first unit."""
        return self.reach(-1, 0.0, PASS, 0)

    def reach(self, back: int, score: float, variant: int, depth: int) -> int:
        """Add a state that is reached by a move from another one."""
        self.score.append(score)
        self.back.append(back)
        self.variant.append(variant)
        self.depth.append(depth)
        return len(self.score) - 1

    @property
    def best_score(self) -> float:
        """The score of the best way to the end."""
        return max(self.score[state] for state in self.layers[-1])

    def best_moves(self) -> list[tuple[Variant, int]]:
        """The headings on the best way to the end, in order, and how many open sections each stands in."""
        state = max(self.layers[-1], key=self.score.__getitem__)
        moves = []
        while self.back[state] >= 0:
            if self.variant[state] != PASS:
                moves.append((self.variants[self.variant[state]], self.depth[state]))
            state = self.back[state]
        return moves[::-1]


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
