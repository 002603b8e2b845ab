"""What a family of constraints is: one class with its settings, its meaning, and how candidates of it are mined.

A segment is a maximal run of units with one label; under BIO and BILUO each B- or U- opens one, and a run of O is a
segment of the label O. With `level="unit"` every unit counts as a segment of its own. Labels are sets:
`adjacency(A, B|C)` is satisfied by a B or a C after the A. Empty sequences satisfy everything.

A class with a `kind` is a family as soon as it is defined; texts, JSON, decoding and mining follow from the class.
"""

import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from difflib import get_close_matches
from inspect import getattr_static
from itertools import chain, permutations
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from ..arrays import cached_property
from ..errors import CoreErrors, CRFError
from .labelling import Fields, Indicators, Inequalities, Labelling, Labels, Level, Monitor, Occurrences, UnitPredicates

Count: TypeAlias = Literal["once", "each"]
PAID = "paid"  # the state of an automaton that has nothing more to report
PLAIN = re.compile(r"\w[\w.]*(?:-[\w.]+)*")  # names that need no quotes
ASKED = {"surfaces": "surfaces", "fixed": "fixed labels"}
FAMILIES: dict[str, type["Constraint"]] = {}


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
        return f"{'not ' if self.negated else ''}{self.what} {_text(self.label, str)}"


LabelSets: TypeAlias = tuple[Labels, ...]
Conjunction: TypeAlias = tuple[Predicate, ...]
Disjunction: TypeAlias = tuple[Conjunction, ...]
MARKS: dict[Any, str] = {Labels: "|", LabelSets: ", ", Conjunction: " & ", Disjunction: " | "}  # between members


@dataclass(frozen=True)
class LabelledSequences:
    """Labelled sequences, none of them empty, that suggest constraints to the families.

    max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): what occurs in fewer sequences suggests nothing.
    gaps (collection of str): predicates of the gap before a unit; all others are of the unit itself.
    """

    seen: Sequence[Labelling]
    max_terms: int
    min_support: int
    gaps: Collection[str] = ()

    @cached_property
    def runs(self) -> list[list[str]]:
        """Labels of the segments of each sequence."""
        return [[one.fields.names[segment.label] for segment in one.segments("segment")] for one in self.seen]

    @cached_property
    def counts(self) -> Counter[str]:
        """Sequences with each label."""
        return Counter(label for run in self.runs for label in dict.fromkeys(run))

    @cached_property
    def labels(self) -> list[str]:
        """Labels that occur often enough."""
        return [label for label, count in self.counts.items() if count >= self.min_support]

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of different labels that occur often enough."""
        return list(permutations(self.labels, 2))

    def sets(self, counts: Counter[str]) -> Iterator[Labels]:
        """Yield for each size the set of labels that explains most of what was counted."""
        best = tuple(label for label, _ in counts.most_common(self.max_terms))
        yield from (best[:size] for size in range(1, len(best) + 1))

    def followed(self, pairs: list[tuple[str, str]]) -> Iterator[tuple[str, Labels]]:
        """Yield each label that occurs often enough, with the sets that explain most of what is behind it in pairs."""
        for label in self.labels:
            found = Counter(behind for before, behind in pairs if before == label)
            yield from ((label, own) for own in self.sets(found))


@dataclass(frozen=True, kw_only=True)
class Constraint(ABC):
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
        self.require("cost", _is_number(self.cost) and self.cost >= 0, "a number of at least 0")  # NaN compares false
        self.require("count", self.count in get_args(Count), "'once' or 'each'")
        self.require("level", self.level in get_args(Level), "'segment' or 'unit'")
        self.require("priority", _is_number(self.priority) and 0 < self.priority < math.inf, "a finite number above 0")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == Labels:
                well_formed = isinstance(value, tuple) and all(isinstance(label, str) and label for label in value)
                self.require(field.name, well_formed and (field.default == () or value), "one or more labels")
            elif field.type is str:
                self.require(field.name, isinstance(value, str) and value, "a name")
            elif field.type is bool:
                self.require(field.name, isinstance(value, bool), "true or false")

    def require(self, setting: str, holds: object, expected: str) -> None:
        """Raise a coded error unless a setting is as expected."""
        if not holds:
            known = {"setting": setting, "value": getattr(self, setting), "expected": expected}
            raise CRFError(CoreErrors.CRF904.format(constraint=self.kind, **known))

    def require_disjoint(self, setting: str, sets: LabelSets) -> None:
        """Raise a coded error if a label is in two of the sets."""
        distinct = len(set().union(*sets)) == sum(map(len, sets))
        self.require(setting, distinct, "without a label that is already in another set")

    def check(self, known: Fields, predicates: UnitPredicates | None = None) -> None:
        """Raise a coded error for labels that are not there and, if predicates are given, for what they lack."""
        for label in chain(*self.label_sets):
            if label not in known.names:
                near = get_close_matches(label, known.names, 3, 0.0)
                raise CRFError(CoreErrors.CRF902.format(constraint=str(self), label=label, near=near))
        if predicates is None or self.asks is None:
            return
        if self.predicate is not None:
            self.require_predicate(predicates.named, ", ".join(predicates.named) or "none")
        elif getattr(predicates, self.asks) is None:
            raise CRFError(CoreErrors.CRF907.format(constraint=str(self), what=ASKED[self.asks]))

    def require_predicate(self, names: Collection[str], listing: str) -> None:
        """Raise a coded error if it asks for a predicate that is not among some."""
        if self.predicate is not None and self.predicate not in names:
            raise CRFError(CoreErrors.CRF906.format(constraint=str(self), name=self.predicate, known=listing))

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

    @property
    def most_counted(self) -> float:
        """How far violations that are still to come need to be counted."""
        return 1 if self.hard or self.count == "once" else math.inf

    # -- meaning -------------------------------------------------------------------------------------------------

    @abstractmethod
    def occurrences(self, seen: Labelling) -> Occurrences:
        """Count how often it applies to a labelling that is not empty, and how often it is broken there."""

    @abstractmethod
    def monitor(self, on: Indicators) -> Monitor:
        """Return the automaton for one sequence that reports every violation."""

    @abstractmethod
    def rows(self, on: Indicators) -> list[Inequalities]:
        """Return the inequalities for one sequence, which agree with `occurrences` on every labelling."""

    @classmethod
    def candidates(cls, data: LabelledSequences) -> Iterable["Constraint"]:
        """Return hard constraints that may hold in some sequences. Families that leave it at none are not mined."""
        return ()

    def broken(self, seen: Labelling) -> int:
        """How often its cost is paid for a labelling: at most once unless `count` is "each"."""
        times = self.occurrences(seen).broken if seen.tags else 0
        return times if self.count == "each" else min(times, 1)

    def watch(self, known: Fields, predicates: UnitPredicates) -> Monitor:
        """Return the automaton that reports violations as their cost is paid: once or each time."""
        own = self.monitor(Indicators(known, self.level, predicates))
        if self.count == "each" and not self.hard:
            return own

        def step(state: Any, symbol: Any, before: int, tag: int) -> tuple[Any, int]:
            if state == PAID:
                return PAID, 0
            following, times = own.step(state, symbol, before, tag)
            return (PAID, 1) if times else (following, 0)

        def finish(state: Any, tag: int) -> int:
            return 0 if state == PAID else min(1, own.finish(state, tag))

        return Monitor(own.start, step, finish, own.symbols)

    # -- text and JSON -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """The compact text, which `language.parse` reads back to an equal constraint."""
        positional, flags = arguments_and_flags(type(self))
        arguments = [_text(getattr(self, field.name), field.type) for field in positional]
        while arguments and not arguments[-1]:
            arguments.pop()
        words = {field.name: getattr(self, field.name) for field in flags}
        words |= {"each": self.count == "each", "unit": self.level == "unit"}
        words |= {f"cost={self.cost!r}": not self.hard, f"priority={self.priority!r}": self.priority != 1}
        given = (word for word, holds in words.items() if holds)
        return " ".join([f"{self.kind}({self.mark.join(arguments).strip()})", *given])

    def to_json(self) -> dict[str, Any]:
        """The JSON object, which `language.parse` reads back; settings that are left as they are are left out."""
        positional, flags = arguments_and_flags(type(self))
        given = ((field, getattr(self, field.name)) for field in (*positional, *flags, *fields(Constraint)))
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
    none = vars(Constraint)["candidates"]
    return tuple(kind for kind, family in FAMILIES.items() if getattr_static(family, "candidates") is not none)


def _text(value: Any, kind: Any) -> str:
    """The text of a setting, by the type of its field."""
    if kind in MARKS:
        return MARKS[kind].join(_text(member, get_args(kind)[0]) for member in value)
    quoted = isinstance(value, str) and not PLAIN.fullmatch(value)
    return json.dumps(value, ensure_ascii=False) if quoted else str(value)


def _json(value: Any) -> Any:
    if isinstance(value, Predicate):
        return str(value)
    return [_json(member) for member in value] if isinstance(value, tuple) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
