"""What a family of constraints is: one class with its settings, its meaning, and how candidates of it are mined.

A segment is a maximal run of units with one label; under BIO and BILUO each B- or U- opens one, and a run of O is a
segment of the label O. With `level="unit"` every unit counts as a segment of its own. Labels are sets:
`adjacency(A, B|C)` is satisfied by a B or a C after the A. Empty sequences satisfy everything.

A class with a `kind` is a family as soon as it is defined; texts, JSON, decoding and mining follow from the class.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from difflib import get_close_matches
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ..errors import CoreErrors, CRFError
from .labelling import NOTHING, Fields, Labelling, Labels, Level, Observations, UnitPredicates
from .meaning import Indicators, Inequalities, Monitor, Occurrences, State

Count: TypeAlias = Literal["once", "each"]
PAID = "paid"  # the state of an automaton that has nothing more to report
PLAIN = re.compile(r"\w[\w.]*(?:-[\w.]+)*")  # names that need no quotes
ASKED = {"surfaces": "surfaces", "fixed": "fixed labels"}
FAMILIES: dict[str, type["Constraint"]] = {}


def quoted(name: str) -> str:
    """A name as it stands in a text."""
    return name if PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True)
class Predicate:
    """Whether a label occurs in a sequence, or is its first or its last one; or, `negated`, that it does not."""

    what: Literal["has", "first", "last"]
    label: str
    negated: bool = False

    def holds(self, seen: Labelling) -> bool:
        """Whether it is true of a labelling that is not empty."""
        (number,) = seen.fields.numbers((self.label,))
        units = {"has": slice(None), "first": slice(1), "last": slice(-1, None)}[self.what]
        return (number in seen.labels[units]) != self.negated

    def __str__(self) -> str:
        return f"{'not ' if self.negated else ''}{self.what} {quoted(self.label)}"


LabelSets: TypeAlias = tuple[Labels, ...]
Conjunction: TypeAlias = tuple[Predicate, ...]
Disjunction: TypeAlias = tuple[Conjunction, ...]
MARKS: dict[Any, str] = {Labels: "|", LabelSets: ", ", Conjunction: " & ", Disjunction: " | "}  # between members


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
    mark: ClassVar[str] = ", "  # between the arguments in a text
    form: ClassVar[str] = ""  # of the arguments, for messages; made from their names if empty
    on_edges: ClassVar[bool] = False  # each violation is a single edge of the path
    asks: ClassVar[str | None] = None  # what it asks of UnitPredicates: "named", "surfaces", "fixed" or nothing
    cost: float = math.inf
    count: Count = "once"
    level: Level = "segment"
    priority: float = 1.0

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):
            FAMILIES[cls.kind] = cls

    # -- settings ------------------------------------------------------------------------------------------------

    def __post_init__(self) -> None:
        self.require("cost", is_number(self.cost) and self.cost >= 0, "a number of at least 0")
        self.require("count", self.count in get_args(Count), "'once' or 'each'")
        self.require("level", self.level in get_args(Level), "'segment' or 'unit'")
        positive = is_number(self.priority) and 0 < self.priority < math.inf
        self.require("priority", positive, "a finite number above 0")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == Labels:
                well_formed = isinstance(value, tuple) and all(isinstance(label, str) and label for label in value)
                optional = field.default == ()
                self.require(field.name, well_formed and (optional or value), "one or more labels")
            elif field.type is str:
                self.require(field.name, isinstance(value, str) and value, "a name")
            elif field.type is bool:
                self.require(field.name, isinstance(value, bool), "true or false")

    def require(self, setting: str, holds: object, expected: str) -> None:
        """Raise a coded error unless a setting is as expected."""
        if not holds:
            problem = {"setting": setting, "value": getattr(self, setting), "expected": expected}
            raise CRFError(CoreErrors.CRF904.format(constraint=self.kind, **problem))

    def require_disjoint(self, setting: str, sets: LabelSets) -> None:
        """Raise a coded error if a label is in two of the sets."""
        labels = [label for labels in sets for label in labels]
        self.require(setting, len(set(labels)) == len(labels), "without a label that is already in another set")

    def check(self, known: Fields, predicates: UnitPredicates | None = None) -> None:
        """Raise a coded error for labels that are not there and, if predicates are given, for what they lack."""
        for label in (label for labels in self.label_sets for label in labels):
            if label not in known.names:
                near = get_close_matches(label, known.names, 3, 0.0)
                raise CRFError(CoreErrors.CRF902.format(constraint=str(self), label=label, near=near))
        if predicates is None or self.asks is None:
            return
        if self.predicate is not None and self.predicate not in predicates.named:
            names = ", ".join(predicates.named) or "none"
            raise CRFError(CoreErrors.CRF906.format(constraint=str(self), name=self.predicate, known=names))
        if getattr(predicates, self.asks) is None:
            raise CRFError(CoreErrors.CRF907.format(constraint=str(self), what=ASKED[self.asks]))

    @property
    def hard(self) -> bool:
        return math.isinf(self.cost)

    @property
    def label_sets(self) -> LabelSets:
        """The sets of labels that it names."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.type == Labels)

    @property
    def predicate(self) -> str | None:
        """The name of the predicate of units that it asks for."""
        return getattr(self, "at", None)

    @property
    def is_local(self) -> bool:
        """Whether each violation is a single edge of the path, and all of them are paid for (or none can be)."""
        return self.on_edges and (self.hard or self.count == "each")

    def most_violations(self, n_units: int, n_labels: int) -> int:
        """A number of times that its cost is not paid more often."""
        return 1 if self.count == "once" else n_units * n_labels

    # -- meaning -------------------------------------------------------------------------------------------------

    def occurrences(self, seen: Labelling) -> Occurrences:
        """Count how often it applies to a labelling that is not empty, and how often it is broken there."""
        raise NotImplementedError(self.kind)

    def monitor(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """Return the automaton for one sequence that reports every violation."""
        raise NotImplementedError(self.kind)

    def rows(self, on: Indicators) -> list[Inequalities]:
        """Return the inequalities for one sequence, which agree with `occurrences` on every labelling."""
        raise NotImplementedError(self.kind)

    @classmethod
    def candidates(cls, data: Observations) -> Iterator["Constraint"]:
        """Yield hard constraints that may hold in some sequences. Families without this method are not mined."""
        raise NotImplementedError(cls.kind)

    def broken(self, seen: Labelling) -> int:
        """How often its cost is paid for a labelling: at most once unless `count` is "each"."""
        times = self.occurrences(seen).broken if seen.tags else 0
        return times if self.count == "each" else min(times, 1)

    def watch(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """Return the automaton that reports violations as their cost is paid: once or each time."""
        own = self.monitor(known, predicates)
        if self.count == "each" and not self.hard:
            return own

        def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            if state == PAID:
                return PAID, 0
            following, times = own.step(state, symbol, before, tag)
            return (PAID, 1) if times else (following, 0)

        def finish(state: State, tag: int) -> int:
            return 0 if state == PAID else min(1, own.finish(state, tag))

        return Monitor(own.start, step, finish, own.symbols)

    def by_segments(
        self,
        known: Fields,
        start: State,
        read: Callable[[State, int, int], tuple[State, int]],
        finish: Callable[[State], int] = lambda state: 0,
    ) -> Monitor:
        """Return an automaton that moves where a segment begins.

        read (callable): (state, label of the segment before, label) to the next state and violations.
        """
        label, begins = [*known.of_tag, NOTHING], known.begin_rows[self.level]

        def step(state: State, symbol: Any, before: int, tag: int) -> tuple[State, int]:
            return read(state, label[before], label[tag]) if begins[before][tag] else (state, 0)

        return Monitor(start, step, lambda state, tag: finish(state))

    @property
    def most_counted(self) -> float:
        """How far violations that are still to come need to be counted."""
        return 1 if self.hard or self.count == "once" else math.inf

    # -- text and JSON -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """The compact text, which `language.parse` reads back to an equal constraint."""
        positional, flags = arguments_and_flags(type(self))
        arguments = [_text(getattr(self, field.name), field.type) for field in positional]
        while arguments and not arguments[-1]:
            arguments.pop()
        options = [field.name for field in flags if getattr(self, field.name)]
        options += [word for word in (self.count, self.level) if word in ("each", "unit")]
        options += [] if self.hard else [f"cost={self.cost!r}"]
        options += [] if self.priority == 1 else [f"priority={self.priority!r}"]
        return " ".join([f"{self.kind}({self.mark.join(arguments).strip()})", *options])

    def to_json(self) -> dict[str, Any]:
        """The JSON object, which `language.parse` reads back; settings that are left as they are are left out."""
        shared = {field.name for field in fields(Constraint)}
        ordered = sorted(fields(self), key=lambda field: field.name in shared)
        given = ((field, getattr(self, field.name)) for field in ordered)
        return {"kind": self.kind} | {field.name: _json(value) for field, value in given if value != field.default}

    @classmethod
    def usage(cls) -> str:
        """How a constraint of the family is written."""
        positional, flags = arguments_and_flags(cls)
        names = (field.name if field.default is MISSING else f"[{field.name}]" for field in positional)
        return " ".join([f"{cls.kind}({cls.form or ', '.join(names)})", *(f"[{field.name}]" for field in flags)])


def arguments_and_flags(family: type[Constraint]) -> tuple[list[Field[Any]], list[Field[Any]]]:
    """The arguments of a family, and the settings that are words behind them."""
    shared = {field.name for field in fields(Constraint)}
    own = [field for field in fields(family) if field.name not in shared]
    return [field for field in own if field.type is not bool], [field for field in own if field.type is bool]


def minable_kinds() -> tuple[str, ...]:
    """The families that suggest candidates."""
    return tuple(kind for kind, family in FAMILIES.items() if "candidates" in vars(family))


def violations(constraints: Sequence[Constraint], seen: Labelling) -> dict[int, int]:
    """Indices of the constraints that are broken, and how often. O(R T)."""
    found = ((index, constraint.broken(seen)) for index, constraint in enumerate(constraints))
    return {index: times for index, times in found if times}


def penalty(constraints: Sequence[Constraint], found: dict[int, int]) -> float:
    """The costs of violations, as `violations` counts them; infinite for a hard constraint."""
    return sum((constraints[index].cost * times for index, times in found.items()), 0.0)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def _text(value: Any, kind: Any) -> str:
    """The text of a setting. kind (type): of its field."""
    if kind in MARKS:
        return MARKS[kind].join(_text(member, get_args(kind)[0]) for member in value)
    return quoted(value) if isinstance(value, str) else str(value)


def _json(value: Any) -> Any:
    if isinstance(value, Predicate):
        return str(value)
    return [_json(member) for member in value] if isinstance(value, tuple) else value
