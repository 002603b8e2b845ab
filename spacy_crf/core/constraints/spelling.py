"""Constraints as compact text and as JSON: how they are written. What the forms are is told in `language`."""

import json
import re
from dataclasses import MISSING, Field, fields
from typing import Any

from .families import Constraint, Labels, Order, Predicate, Rule

SHARED = ("cost", "count", "level", "priority")
PLAIN = re.compile(r"\w[\w.]*(?:-[\w.]+)*")
NEGATION = "not"


def to_text(constraint: Constraint) -> str:
    """The compact text of a constraint, which `parse` reads back to an equal one."""
    positional, flags = arguments_and_flags(type(constraint))
    if isinstance(constraint, Rule):
        arguments = _rule_text(constraint)
    elif isinstance(constraint, Order):
        arguments = ", ".join(map(_labels_text, constraint.sets))
    else:
        values = [(field, getattr(constraint, field.name)) for field in positional]
        arguments = ", ".join(_value_text(value) for field, value in values if value != ())
    options = [field.name for field in flags if getattr(constraint, field.name)]
    options += [word for word in (constraint.count, constraint.level) if word in ("each", "unit")]
    options += [] if constraint.hard else [f"cost={constraint.cost!r}"]
    options += [] if constraint.priority == 1 else [f"priority={constraint.priority!r}"]
    return " ".join([f"{constraint.kind}({arguments})", *options])


def to_json(constraint: Constraint) -> dict[str, Any]:
    """The JSON object of a constraint, which `parse` reads back to an equal one; settings left as they are left out."""
    shown: dict[str, Any] = {"kind": constraint.kind}
    for field in (*own_fields(type(constraint)), *_shared(type(constraint))):
        value = getattr(constraint, field.name)
        if value != field.default:
            shown[field.name] = _json_value(value)
    return shown


def _json_value(value: Any) -> Any:
    if isinstance(value, Predicate):
        return _predicate_text(value)
    return [_json_value(member) for member in value] if isinstance(value, tuple) else value


def own_fields(family: type[Constraint]) -> list[Field[Any]]:
    """The settings that a family does not share with all others."""
    return [field for field in fields(family) if field.name not in SHARED]


def _shared(family: type[Constraint]) -> list[Field[Any]]:
    return [field for field in fields(family) if field.name in SHARED]


def arguments_and_flags(family: type[Constraint]) -> tuple[list[Field[Any]], list[Field[Any]]]:
    """The arguments of a family, and the settings that are words behind them."""
    own = own_fields(family)
    return [field for field in own if field.type is not bool], [field for field in own if field.type is bool]


def usage(family: type[Constraint]) -> str:
    """How a constraint of a family is written."""
    if family is Rule:
        return "rule(has A & not has B -> first C & has D | last E)"
    if family is Order:
        return "order(A, B, C|D, ...)"
    positional, flags = arguments_and_flags(family)
    arguments = ", ".join(field.name if field.default is MISSING else f"[{field.name}]" for field in positional)
    return " ".join([f"{family.kind}({arguments})", *(f"[{field.name}]" for field in flags)])


def _rule_text(rule: Rule) -> str:
    condition, *then = (" & ".join(map(_predicate_text, part)) for part in (rule.condition, *rule.then))
    return f"{condition} -> {' | '.join(then)}".strip()


def _predicate_text(predicate: Predicate) -> str:
    negation = f"{NEGATION} " if predicate.negated else ""
    return f"{negation}{predicate.what} {_name_text(predicate.label)}"


def _name_text(name: str) -> str:
    return name if PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _labels_text(labels: Labels) -> str:
    return "|".join(map(_name_text, labels))


def _value_text(value: Any) -> str:
    if isinstance(value, tuple):
        return _labels_text(value)
    return _name_text(value) if isinstance(value, str) else str(value)
