"""Constraints as people read them: the file and the table of a component, and what a Doc tells of its decoding."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from ..core.constraints.decision import METHODS, Decision
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import Fields
from ..core.constraints.language import ABOUT, parse, parse_all
from ..core.constraints.reasons import Change, require_consistent
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..reading.files import read_text
from ..reading.records import parse_json
from .block import Given
from .errors import ConstraintErrors
from .mining import Mined, priceless

FILE = "constraints.json"
ORIGIN, MINED = "origin", "mined"
STRENGTH = ("viterbi", *METHODS["auto"])


@dataclass(frozen=True)
class ConstraintEntry:
    """A constraint. about (dict): where it comes from and what the data say of it, for readers."""

    constraint: Constraint
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: str | Mapping[str, Any]) -> "ConstraintEntry":
        """From text or JSON."""
        about = spec.get(ABOUT) if isinstance(spec, Mapping) else None
        return cls(parse(spec), dict(about) if isinstance(about, Mapping) else {})

    @classmethod
    def of_mined(cls, mined: Mined) -> "ConstraintEntry":
        """From mining, with its statistics."""
        return cls(mined.constraint, {ORIGIN: MINED, **mined.about})

    @property
    def is_mined(self) -> bool:
        return self.about.get(ORIGIN) == MINED

    def record(self) -> dict[str, Any]:
        """As JSON; `of` reads it back."""
        return {**self.constraint.to_json(), **({ABOUT: self.about} if self.about else {})}


def read_given(name: str, given: Given) -> list[ConstraintEntry]:
    """The constraints of a config: a list of texts and objects, or the path of a file with one a line, or JSON. None
    is one of those that are mined, whatever it is said to be: they may have been exported from another model."""
    entries = _read_given(name, given)
    abouts = ({key: value for key, value in entry.about.items() if key != ORIGIN} for entry in entries)
    return [replace(entry, about=about) for entry, about in zip(entries, abouts)]


def _read_given(name: str, given: Given) -> list[ConstraintEntry]:
    if given is None:
        return []
    if not isinstance(given, str):
        return [ConstraintEntry.of(spec) for spec in given]
    try:
        text = read_text(Path(given))
    except (OSError, CRFError) as error:
        raise CRFError(ConstraintErrors.CRF440.format(name=name, path=given, error=error)) from error
    if text.lstrip().startswith("["):
        return from_bytes(name, text.encode("utf8"), given)
    return [ConstraintEntry(constraint) for constraint in parse_all(text)]


def beside_mined(given: list[ConstraintEntry], known: Iterable[ConstraintEntry]) -> list[ConstraintEntry]:
    """The given constraints, and those of known ones that were mined and repeat none of them."""
    said = {priceless(entry.constraint) for entry in given}
    return [*given, *(entry for entry in known if entry.is_mined and priceless(entry.constraint) not in said)]


def to_bytes(entries: Iterable[ConstraintEntry]) -> bytes:
    """JSON with a constraint a line, to be read and edited."""
    lines = [json.dumps(_finite(entry.record()), ensure_ascii=False) for entry in entries]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode("utf8")


def from_bytes(name: str, content: bytes, path: str) -> list[ConstraintEntry]:
    """The constraints of such a file, edited or not; texts may stand among the objects."""
    try:
        records = parse_json(content, path)
        if not isinstance(records, list):
            raise TypeError("it is not a list")
    except (ValueError, TypeError) as error:
        raise CRFError(ConstraintErrors.CRF440.format(name=name, path=path, error=error)) from error
    return [ConstraintEntry.of(record) for record in records]


def check_entries(name: str, entries: Sequence[ConstraintEntry], tags: TagSet) -> None:
    """Raise a coded error for unknown labels, and for hard constraints that contradict each other."""
    fields, constraints = Fields(tags), [entry.constraint for entry in entries]
    try:
        for constraint in constraints:
            constraint.check(fields)
        require_consistent(constraints, tags)
    except ValueError as error:
        raise CRFError(ConstraintErrors.CRF441.format(name=name, error=error)) from error


def table_rows(entries: Iterable[ConstraintEntry]) -> list[tuple[str, ...]]:
    """Cost, support, violation rate, origin and text of each constraint, the most costly first."""
    rows = []
    for entry in sorted(entries, key=lambda entry: -entry.constraint.cost):
        constraint, about = entry.constraint, entry.about
        numbers = (("support", "{}"), ("rate", "{:.4f}"))
        known = [form.format(about[name]) if isinstance(about.get(name), int | float) else "" for name, form in numbers]
        cost = "hard" if constraint.hard else f"{constraint.cost:.3f}"
        rows.append((cost, *known, str(about.get(ORIGIN, "given")), str(replace(constraint, cost=math.inf))))
    return rows


def _finite(value: Any) -> Any:
    """A record without infinities, which JSON does not have: null is the cost of a hard constraint."""
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    return None if isinstance(value, float) and math.isinf(value) else value


@dataclass(frozen=True)
class Decided:
    """How one sequence was labelled.

    first (int): its first unit within its Doc. changes (list of Change | None): None if they were not asked for.
    milliseconds (float): its share, by units, of the time that decoding it with others took, explanations apart.
    """

    first: int
    decision: Decision
    changes: list[Change] | None
    milliseconds: float


def decode_info(decided: Sequence[Decided], constraints: Sequence[Constraint]) -> dict[str, Any]:
    """How a Doc was decoded: sums over its sequences, and the strongest method that any of them took.

    RETURNS (dict): method (str); certified (bool): no labelling of any sequence is better that has the annotation to be
        kept, and what is written is what was decided: see `Decision`, as for gap, score, objective, viterbi_score
        (float) and iterations (int), which are about what was decided. A threshold leaves out spans, and some kept
        annotation has no tags: then it is False. limits (list of str): settings that ended a method before it had
        proved anything, to be raised; milliseconds (float); relaxed (list of str): texts of constraints given up;
        violated, viterbi_violated (dict): texts of the others that the written labels break, and those of Viterbi, and
        how often.
    """
    decisions, text = [one.decision for one in decided], cache(lambda index: str(constraints[index]))

    def total(name: str) -> float:
        return float(sum(getattr(decision, name) for decision in decisions))

    def times(name: str) -> dict[str, int]:
        counts = Counter[str]()
        for index, count in chain(*(getattr(decision, name).items() for decision in decisions)):
            counts[text(index)] += count
        return dict(counts)

    return {
        "method": max((decision.method for decision in decisions), key=STRENGTH.index, default="viterbi"),
        "certified": all(decision.certified for decision in decisions),
        "gap": total("gap"),
        "limits": sorted({limit for decision in decisions for limit in decision.limits}),
        "iterations": int(total("iterations")),
        **{name: total(name) for name in ("score", "objective", "viterbi_score")},
        **{name: times(name) for name in ("violated", "viterbi_violated")},
        "relaxed": list(dict.fromkeys(text(index) for decision in decisions for index in decision.relaxed)),
        "milliseconds": float(sum(one.milliseconds for one in decided)),
    }


def constraint_changes(
    decided: Sequence[Decided], constraints: Sequence[Constraint], tags: TagSet
) -> list[dict[str, Any]]:
    """What constraints changed in a Doc.

    RETURNS (list of dict): token (int), from and to (str): its tags without and with constraints; because (list of
        lists of str): texts of constraints. Each list accounts for the change alone: without its constraints the token
        has its tag back.
    """
    return [
        {
            "token": one.first + change.unit,
            "from": tags.tags[change.before],
            "to": tags.tags[change.after],
            "because": [[str(constraints[index]) for index in reason] for reason in change.because],
        }
        for one in decided
        for change in one.changes or ()
        if tags.tags[change.before] != tags.tags[change.after]  # of tokens without a tag, nothing is told
    ]
