"""The lattice of the section parser: at each unit that may begin a heading, the stacks that may be open there.

A move either passes the unit over (it is no heading, the stack stays), or opens one of its headings: close any number
of open sections, then push. Units that cannot begin a heading take no time: scores are relative to each unit's
likeliest label, so passing over them adds nothing.
"""

from array import array
from dataclasses import dataclass, field

from .levels import Stacks
from .scoring import Scorer, Variant

PASS = -1  # the variant of a move that opens nothing


@dataclass
class Arcs:
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
class Lattice:
    """All states that were reached, the best way to each, and, if they were asked for, all moves.

    units (list of int): first units of the C possible headings; layer c holds the states before unit c, layer C those
        at the end.
    scorer (Scorer): features and scores. variants (list of Variant): what arcs open.
    score, back, variant, depth: of each state: the best score, the state before, and the move between them.
    layers (list of lists): the states of each layer that were kept. layer_stacks (list of lists): their stacks.
    stacks (Stacks): all of them.
    arcs (Arcs | None): all moves, if they are kept.
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
    arcs: Arcs | None = None
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
