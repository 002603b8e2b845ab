"""The constraints of a component with what is known of each, and how they are read and stored."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from ..core.constraints.consistency import require_consistent
from ..core.constraints.family import Constraint
from ..core.constraints.labelling import Fields
from ..core.constraints.language import ABOUT, parse, parse_all
from ..core.errors import CRFError
from ..core.labels import TagSet
from .errors import ConstraintErrors
from .mining import Mined

FILE = "constraints.json"
MINED = "mined"
Given: TypeAlias = str | list[str | dict[str, Any]] | None


@dataclass(frozen=True)
class Entry:
    """A constraint. about (dict): where it comes from and what the data say of it, for readers."""

    constraint: Constraint
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: str | Mapping[str, Any]) -> "Entry":
        """From text or JSON."""
        about = spec.get(ABOUT) if isinstance(spec, Mapping) else None
        return cls(parse(spec), dict(about) if isinstance(about, Mapping) else {})

    @classmethod
    def of_mined(cls, mined: Mined) -> "Entry":
        """From mining, with its statistics."""
        return cls(mined.constraint, {"origin": MINED, **mined.about})

    def record(self) -> dict[str, Any]:
        """As JSON; `of` reads it back."""
        return {**self.constraint.to_json(), **({ABOUT: self.about} if self.about else {})}


def read_given(name: str, given: Given) -> list[Entry]:
    """The constraints of a config: a list of texts and objects, or the path of a file with one a line, or JSON.

    name (str): of the component, for messages.
    RAISES (ValueError): for a file that cannot be read, and the first constraint that cannot be.
    """
    if given is None:
        return []
    if not isinstance(given, str):
        return [Entry.of(spec) for spec in given]
    try:
        text = Path(given).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise CRFError(ConstraintErrors.CRF440.format(name=name, path=given, error=error)) from error
    if text.lstrip().startswith("["):
        return from_bytes(name, text.encode("utf8"), given)
    return [Entry(constraint) for constraint in parse_all(text)]


def to_bytes(entries: Iterable[Entry]) -> bytes:
    """JSON with a constraint a line, to be read and edited."""
    lines = [json.dumps(_finite(entry.record()), ensure_ascii=False) for entry in entries]
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode("utf8")


def from_bytes(name: str, content: bytes, path: str) -> list[Entry]:
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
    return [Entry.of(record) for record in records]


def check_entries(name: str, entries: Sequence[Entry], tags: TagSet) -> None:
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


def table_rows(entries: Iterable[Entry]) -> list[tuple[str, str, str, str, str]]:
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
