"""Constraints as people read them: the file and the table of a component, and what a Doc tells of its decoding."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.constraints.consistency import require_consistent
from ..core.constraints.decode import Change
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import Fields
from ..core.constraints.language import ABOUT, parse, parse_all
from ..core.constraints.strategy import METHODS, Decision
from ..core.errors import CRFError
from ..core.labels import TagSet
from .block import Given
from .errors import ConstraintErrors
from .mining import Mined

FILE = "constraints.json"
MINED = "mined"
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
        return cls(mined.constraint, {"origin": MINED, **mined.about})

    def record(self) -> dict[str, Any]:
        """As JSON; `of` reads it back."""
        return {**self.constraint.to_json(), **({ABOUT: self.about} if self.about else {})}


def read_given(name: str, given: Given) -> list[ConstraintEntry]:
    """The constraints of a config: a list of texts and objects, or the path of a file with one a line, or JSON.

    name (str): of the component, for messages.
    RAISES (ValueError): for a file that cannot be read, and the first constraint that cannot be.
    """
    if given is None:
        return []
    if not isinstance(given, str):
        return [ConstraintEntry.of(spec) for spec in given]
    try:
        text = Path(given).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(ConstraintErrors.CRF440.format(name=name, path=given, error=error)) from error
    if text.lstrip().startswith("["):
        return from_bytes(name, text.encode("utf8"), given)
    return [ConstraintEntry(constraint) for constraint in parse_all(text)]


def to_bytes(entries: Iterable[ConstraintEntry]) -> bytes:
    """JSON with a constraint a line, to be read and edited."""
    lines = [json.dumps(_finite(entry.record()), ensure_ascii=False) for entry in entries]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode("utf8")


def from_bytes(name: str, content: bytes, path: str) -> list[ConstraintEntry]:
    """The constraints of such a file, edited or not; texts may stand among the objects.

    name (str), path (str): of the component and the file, for messages.
    RAISES (ValueError): for what is no JSON list, and the first constraint that cannot be read.
    """
    try:
        records = json.loads(content)
        if not isinstance(records, list):
            raise TypeError("it is not a list")
    except (ValueError, TypeError) as error:
        raise CRFError(ConstraintErrors.CRF440.format(name=name, path=path, error=error)) from error
    return [ConstraintEntry.of(record) for record in records]


def check_entries(name: str, entries: Sequence[ConstraintEntry], tags: TagSet) -> None:
    """Raise a coded error for unknown labels, and for hard constraints that contradict each other.

    name (str): of the component. tags (TagSet): of its chain.
    RAISES (ValueError): with the constraints at fault.
    """
    fields, constraints = Fields(tags), [entry.constraint for entry in entries]
    try:
        for constraint in constraints:
            constraint.check(fields)
        require_consistent(constraints, tags)
    except ValueError as error:
        raise CRFError(ConstraintErrors.CRF441.format(name=name, error=error)) from error


def table_rows(entries: Iterable[ConstraintEntry]) -> list[tuple[str, str, str, str, str]]:
    """Cost, support, violation rate, origin and text of each constraint, the most costly first."""
    ordered = sorted(entries, key=lambda entry: -entry.constraint.cost)
    return [
        (
            "hard" if entry.constraint.hard else f"{entry.constraint.cost:.3f}",
            _shown(entry.about.get("support"), "{}"),
            _shown(entry.about.get("rate"), "{:.4f}"),
            str(entry.about.get("origin", "given")),
            str(replace(entry.constraint, cost=math.inf)),
        )
        for entry in ordered
    ]


def _shown(value: Any, form: str) -> str:
    return form.format(value) if isinstance(value, int | float) else ""


def _finite(value: Any) -> Any:
    """A record without infinities, which JSON does not have: null is the cost of a hard constraint."""
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    return None if isinstance(value, float) and math.isinf(value) else value


# -- what Docs tell ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decided:
    """How one sequence was labelled.

    first (int): its first unit within its Doc. decision (Decision): the labels, and what is known of them.
    changes (list of Change | None): what constraints changed; None if it was not asked for.
    milliseconds (float): its share, by units, of the time that decoding it with others took, explanations apart.
    """

    first: int
    decision: Decision
    changes: list[Change] | None
    milliseconds: float


def decode_info(decided: Sequence[Decided], constraints: Sequence[Constraint]) -> dict[str, Any]:
    """How a Doc was decoded: sums over its sequences, and the strongest method that any of them took.

    decided (list of Decided): of its sequences. constraints (list of Constraint): that were in force.
    RETURNS (dict): method (str); certified (bool): no labelling of any sequence has a greater objective by more than
        1e-6 max(1, |score|), under the constraints that were not relaxed; gap, score, objective, viterbi_score (float),
        iterations (int), milliseconds (float); violated, viterbi_violated (dict): texts of constraints that the labels
        break, and that those of Viterbi break, and how often; relaxed (list of str): texts of constraints given up.
    """
    texts: dict[int, str] = {}
    for one in decided:
        own = one.decision
        for index in (*own.violated, *own.viterbi_violated, *own.relaxed):
            texts[index] = texts.get(index) or str(constraints[index])
    decisions = [one.decision for one in decided]
    return {
        "method": max((decision.method for decision in decisions), key=STRENGTH.index, default="viterbi"),
        "certified": all(decision.certified for decision in decisions),
        "gap": float(sum(decision.gap for decision in decisions)),
        "iterations": sum(decision.iterations for decision in decisions),
        "score": float(sum(decision.score for decision in decisions)),
        "objective": float(sum(decision.objective for decision in decisions)),
        "viterbi_score": float(sum(decision.viterbi_score for decision in decisions)),
        "violated": _times((decision.violated for decision in decisions), texts),
        "viterbi_violated": _times((decision.viterbi_violated for decision in decisions), texts),
        "relaxed": list(dict.fromkeys(texts[index] for decision in decisions for index in decision.relaxed)),
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
    ]


def _times(found: Iterable[dict[int, int]], texts: dict[int, str]) -> dict[str, int]:
    total = Counter[str]()
    for own in found:
        for index, times in own.items():
            total[texts[index]] += times
    return dict(total)
