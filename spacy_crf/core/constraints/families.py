"""The families of constraints: what each one says, as a frozen dataclass.

A segment is a maximal run of units with one label; under BIO and BILUO each B- or U- opens one, and a run of O is a
segment of the label O. With `level="unit"` every unit counts as a segment of its own: these are the rows over tokens
of Cecchini & Fersini, "Named entity recognition using CRFs with non-local relational constraints" (2014), whose
families (adjacency to presence_precedence) cannot hold on tokens where a field has more than one.

Labels are sets: `adjacency(A, B|C)` is satisfied by a B or a C after the A. Empty sequences satisfy everything.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from ..errors import CoreErrors, CRFError

Labels: TypeAlias = tuple[str, ...]
Count: TypeAlias = Literal["once", "each"]
Level: TypeAlias = Literal["segment", "unit"]
CLAUSES = 64  # a rule may have so many when it is multiplied out


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """What all families share.

    cost (float): subtracted from the score of a labelling that breaks it; infinite if the constraint is hard.
    count (str): whether the cost is paid "once" in a sequence or for "each" violation.
    level (str): whether it is about a "segment" or a "unit".
    priority (float): of hard constraints that cannot hold together, those with the least sum of priorities are relaxed.
    RAISES (ValueError): for settings that make no sense.
    """

    kind: ClassVar[str]
    cost: float = math.inf
    count: Count = "once"
    level: Level = "segment"
    priority: float = 1.0

    @property
    def hard(self) -> bool:
        return math.isinf(self.cost)

    @property
    def label_sets(self) -> tuple[Labels, ...]:
        """The sets of labels that it names."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.type == Labels)

    @property
    def is_local(self) -> bool:
        """Whether each violation is a single edge of the path, and all of them are paid for (or none can be)."""
        one_edge = isinstance(self, (Adjacency, Boundary, Fixed)) or (isinstance(self, StateChange) and self.gap)
        return isinstance(self, (StartsWith, EndsWith)) or (one_edge and (self.hard or self.count == "each"))

    @property
    def asks_for_facts(self) -> bool:
        """Whether its violations depend on more than the labels."""
        return isinstance(self, (StateChange, Boundary, SameSurface, Fixed))

    def __post_init__(self) -> None:
        self.require("cost", _is_number(self.cost) and self.cost >= 0, "a number of at least 0")
        self.require("count", self.count in ("once", "each"), "'once' or 'each'")
        self.require("level", self.level in ("segment", "unit"), "'segment' or 'unit'")
        positive = _is_number(self.priority) and 0 < self.priority < math.inf
        self.require("priority", positive, "a finite number above 0")
        for field in fields(self):
            if field.type == Labels:
                value = getattr(self, field.name)
                well_formed = isinstance(value, tuple) and all(isinstance(label, str) and label for label in value)
                optional = field.default == ()
                self.require(field.name, well_formed and (optional or value), "one or more labels")
            elif field.type is str:
                value = getattr(self, field.name)
                self.require(field.name, isinstance(value, str) and value, "a name")
            elif field.type is bool:
                self.require(field.name, isinstance(getattr(self, field.name), bool), "true or false")

    def require(self, setting: str, holds: object, expected: str) -> None:
        """Raise a coded error unless a setting is as expected."""
        if not holds:
            value = getattr(self, setting)
            raise CRFError(
                CoreErrors.CRF904.format(constraint=self.kind, setting=setting, value=value, expected=expected)
            )

    def disjoint(self, setting: str, sets: tuple[Labels, ...]) -> None:
        """Raise a coded error if a label is in two of the sets."""
        labels = [label for labels in sets for label in labels]
        self.require(setting, len(set(labels)) == len(labels), "without a label that is already in another set")


@dataclass(frozen=True)
class Adjacency(Constraint):
    """The segment right after an A is a B. A last segment is exempt."""

    kind = "adjacency"
    a: Labels
    b: Labels


@dataclass(frozen=True)
class Precedence(Constraint):
    """After each A segment that is not the last segment, some B segment comes later."""

    kind = "precedence"
    a: Labels
    b: Labels


@dataclass(frozen=True)
class StateChange(Constraint):
    """At a unit where a predicate holds, such as a mark, the label before it is A and the label after it is B.

    at (str): the predicate.
    gap (bool): the predicate is about the gap before its unit, where marks are no units: the label before is that of
        the unit before, the label after that of the unit itself.
    implied (bool): the label before is a condition: only where it is A, the label after must be B.
    """

    kind = "state_change"
    at: str
    a: Labels
    b: Labels
    gap: bool = False
    implied: bool = False


@dataclass(frozen=True)
class BeginEnd(Constraint):
    """If the first segment is an A, the last one is a B."""

    kind = "begin_end"
    a: Labels
    b: Labels


@dataclass(frozen=True)
class PresencePrecedence(Constraint):
    """No B segment comes before an A segment. Violations are the A segments with a B before them."""

    kind = "presence_precedence"
    a: Labels
    b: Labels


@dataclass(frozen=True)
class AtMost(Constraint):
    """There are at most k segments (units) of A. Violations are those beyond."""

    kind = "at_most"
    a: Labels
    k: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("k", _is_count(self.k), "a whole number of at least 0")


@dataclass(frozen=True)
class AtLeast(Constraint):
    """There are at least k segments (units) of A. Violations are those missing."""

    kind = "at_least"
    a: Labels
    k: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("k", _is_count(self.k) and self.k > 0, "a whole number above 0")


@dataclass(frozen=True)
class Exactly(AtMost):
    """There are exactly k segments (units) of A. Violations are those missing or beyond."""

    kind = "exactly"


@dataclass(frozen=True)
class Requires(Constraint):
    """Where there is an A segment, there is a B segment. Violations are the A segments."""

    kind = "requires"
    a: Labels
    b: Labels


@dataclass(frozen=True)
class Excludes(Constraint):
    """A and B segments do not occur together. Violations are the A segments."""

    kind = "excludes"
    a: Labels
    b: Labels

    def __post_init__(self) -> None:
        super().__post_init__()
        self.disjoint("b", (self.a, self.b))


@dataclass(frozen=True)
class Order(Constraint):
    """Segments come in the order of their sets. Violations are segments with one of a later set before them."""

    kind = "order"
    sets: tuple[Labels, ...]

    @property
    def label_sets(self) -> tuple[Labels, ...]:
        return self.sets

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("sets", len(self.sets) > 1 and all(self.sets), "two or more sets of labels")
        self.disjoint("sets", self.sets)


@dataclass(frozen=True)
class StartsWith(Constraint):
    """The first segment is an A."""

    kind = "starts_with"
    a: Labels


@dataclass(frozen=True)
class EndsWith(Constraint):
    """The last segment is an A."""

    kind = "ends_with"
    a: Labels


@dataclass(frozen=True)
class Boundary(Constraint):
    """Segments of A (of any label if none is given) begin and end only beside units where a predicate holds.

    at (str): the predicate; it must hold at the unit before the boundary.
    opening (bool): at the unit after the boundary instead.
    """

    kind = "boundary"
    at: str
    a: Labels = ()
    opening: bool = False


@dataclass(frozen=True)
class SameSurface(Constraint):
    """Units of a sequence with the same surface have the same label. Violations are changes from one to the next."""

    kind = "same_surface"


@dataclass(frozen=True)
class Fixed(Constraint):
    """Units have the labels that are given with the sequence. Violations are units with another one."""

    kind = "fixed"


@dataclass(frozen=True)
class Predicate:
    """What a rule is made of: whether a label occurs, is the first or is the last one of a sequence.

    negated (bool): it does not.
    """

    what: Literal["has", "first", "last"]
    label: str
    negated: bool = False


@dataclass(frozen=True)
class Rule(Constraint):
    """If all of some predicates hold, so does a disjunction of conjunctions of predicates. Broken once or not at all.

    condition (tuple of Predicate): may be empty: then the disjunction always holds.
    then (tuple of tuples of Predicate): the disjunctive normal form.
    """

    kind = "rule"
    condition: tuple[Predicate, ...]
    then: tuple[tuple[Predicate, ...], ...]

    @property
    def label_sets(self) -> tuple[Labels, ...]:
        return tuple((predicate.label,) for part in (self.condition, *self.then) for predicate in part)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require("then", self.then and all(self.then), "one or more conjunctions")
        n_clauses = math.prod(len(conjunction) for conjunction in self.then)
        if n_clauses > CLAUSES:
            raise CRFError(CoreErrors.CRF908.format(constraint=self.kind, found=n_clauses, most=CLAUSES))


FAMILIES: dict[str, type[Constraint]] = {
    family.kind: family
    for family in (
        *(Adjacency, Precedence, StateChange, BeginEnd, PresencePrecedence, AtMost, AtLeast, Exactly, Requires),
        *(Excludes, Order, StartsWith, EndsWith, Boundary, SameSurface, Fixed, Rule),
    )
}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
