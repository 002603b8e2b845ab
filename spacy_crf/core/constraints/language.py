"""Constraints as compact text or as JSON, and back.

    adjacency(VOLUME, PAGES|DATE) cost=2.5      soft; hard without a cost
    at_most(TITLE, 1) each cost=1               the cost is paid for each violation
    order(AUTHOR, TITLE, DATE) unit             about units instead of segments
    state_change(comma, VOLUME, PAGES) gap      options of a family are words
    rule(has VOLUME & not has TECH -> has JOURNAL | has BOOKTITLE)

Names with other characters than letters, digits, '_', '.' and '-' are quoted as in JSON. In a text with several
constraints each has a line, and what follows a '#' at the beginning of a line is a comment. As JSON a constraint is an
object with its family as "kind" and its settings by name: {"kind": "adjacency", "a": ["VOLUME"], "b": ["PAGES",
"DATE"], "cost": 2.5}. A list may hold both forms. What an object holds as "about" is for the reader only.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from typing import Any, TypeAlias

from ...errors import Errors
from .families import FAMILIES, Constraint, Labels, Order, Predicate, Rule

Spec: TypeAlias = str | Mapping[str, Any] | Constraint
ABOUT = "about"
SHARED = ("cost", "count", "level", "priority")
PLAIN = re.compile(r"\w[\w.]*(?:-[\w.]+)*")
TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(->)|([,()|&])|((?:(?!->)[^\s",()|&])+))')
NEGATION = "not"


def parse(spec: Spec) -> Constraint:
    """A constraint from compact text or from a JSON object.

    RAISES (ValueError): with the text and what is wrong with it.
    """
    if isinstance(spec, Constraint):
        return spec
    return _from_text(spec) if isinstance(spec, str) else _from_json(spec)


def parse_all(specs: str | Iterable[Spec]) -> list[Constraint]:
    """Constraints from a text with one a line, or from a list.

    RAISES (ValueError): for the first that cannot be read.
    """
    if isinstance(specs, str):
        specs = [line for line in map(str.strip, specs.splitlines()) if line and not line.startswith("#")]
    return [parse(spec) for spec in specs]


def to_text(constraint: Constraint) -> str:
    """The compact text of a constraint, which `parse` reads back to an equal one."""
    positional, flags = _own_fields(type(constraint))
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
    for field in (*_own(type(constraint)), *_shared(type(constraint))):
        value = getattr(constraint, field.name)
        if value != field.default:
            shown[field.name] = _json_value(value)
    return shown


def _json_value(value: Any) -> Any:
    if isinstance(value, Predicate):
        return _predicate_text(value)
    return [_json_value(member) for member in value] if isinstance(value, tuple) else value


def _own(family: type[Constraint]) -> list[Field[Any]]:
    return [field for field in fields(family) if field.name not in SHARED]


def _shared(family: type[Constraint]) -> list[Field[Any]]:
    return [field for field in fields(family) if field.name in SHARED]


def _own_fields(family: type[Constraint]) -> tuple[list[Field[Any]], list[Field[Any]]]:
    """The arguments of a family, and the settings that are words behind them."""
    own = _own(family)
    return [field for field in own if field.type is not bool], [field for field in own if field.type is bool]


def _usage(family: type[Constraint]) -> str:
    if family is Rule:
        return "rule(has A & not has B -> first C & has D | last E)"
    if family is Order:
        return "order(A, B, C|D, ...)"
    positional, flags = _own_fields(family)
    arguments = ", ".join(field.name if field.default is MISSING else f"[{field.name}]" for field in positional)
    return " ".join([f"{family.kind}({arguments})", *(f"[{field.name}]" for field in flags)])


def _family(kind: Any) -> type[Constraint]:
    if kind not in FAMILIES:
        raise ValueError(Errors.CRF903.format(kind=kind, near=get_close_matches(str(kind), FAMILIES, 3, 0.0)))
    return FAMILIES[kind]


def _fails(text: Any, problem: str) -> ValueError:
    example = "adjacency(VOLUME, PAGES|DATE) cost=2.5"
    return ValueError(Errors.CRF901.format(text=text, problem=problem, example=example))


def _malformed(text: Any, family: type[Constraint], problem: str) -> ValueError:
    return ValueError(Errors.CRF905.format(constraint=text, problem=problem, kind=family.kind, usage=_usage(family)))


# -- reading ----------------------------------------------------------------------------------------------------------


def _from_text(text: str) -> Constraint:
    head = re.match(r"\s*(\w+)\s*\(", text)
    if head is None:
        raise _fails(text, "it does not begin with a family and '('")
    family = _family(head[1])
    groups, rest = _arguments(text, head.end())
    settings = _options(text, family, rest)
    if family is Rule:
        settings |= _rule_settings(text, groups)
    elif family is Order:
        settings["sets"] = tuple(_labels(text, tokens) for tokens in groups)
    else:
        positional = _own_fields(family)[0]
        if len(groups) > len(positional):
            raise _malformed(text, family, f"{len(groups)} arguments")
        for field, tokens in zip(positional, groups):
            settings[field.name] = _argument(text, field, tokens)
    return _build(text, family, settings)


def _arguments(text: str, place: int) -> tuple[list[list[str]], str]:
    """The tokens of each argument from a place on, and the text behind the closing parenthesis."""
    groups: list[list[str]] = [[]]
    while match := TOKEN.match(text, place):
        quoted, arrow, mark, plain = match.groups()
        place = match.end()
        if mark == ")":
            return ([] if groups == [[]] else groups), text[place:]
        if mark == "(":
            raise _fails(text, "there is a second '('")
        if mark == ",":
            groups.append([])
        else:
            groups[-1].append(quoted or arrow or mark or plain)
    raise _fails(text, "there is no ')'" if not text[place:].strip() else f"of what is at {text[place:]!r}")


def _options(text: str, family: type[Constraint], rest: str) -> dict[str, Any]:
    """Settings from the words behind the arguments."""
    words = {"once": "count", "each": "count", "segment": "level", "unit": "level"}
    flags = {field.name for field in _own_fields(family)[1]}
    settings: dict[str, Any] = {}
    for word in rest.split():
        name, equals, value = word.partition("=")
        if name in ("cost", "priority") and equals:
            settings[name] = _number(text, value)
        elif word in words:
            settings[words[word]] = word
        elif word in flags:
            settings[word] = True
        else:
            raise _malformed(text, family, f"the option {word!r}, which it does not know")
    return settings


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _fails(text, f"{value!r} is no number") from None


def _argument(text: str, field: Field[Any], tokens: list[str]) -> Any:
    if field.type == Labels:
        return _labels(text, tokens)
    if len(tokens) != 1:
        raise _fails(text, f"{' '.join(tokens)!r} is not one name or number")
    if field.type is int:
        return int(tokens[0]) if tokens[0].isdecimal() else tokens[0]
    return _name(text, tokens[0])


def _labels(text: str, tokens: list[str]) -> Labels:
    """Names with '|' between them."""
    if len(tokens) % 2 == 0 or any(mark != "|" for mark in tokens[1::2]):
        raise _fails(text, f"{' '.join(tokens)!r} are not labels with '|' between them")
    return tuple(_name(text, token) for token in tokens[::2])


def _name(text: str, token: str) -> str:
    if token in ("|", "&", "->"):
        raise _fails(text, f"{token!r} stands where a name is expected")
    try:
        return str(json.loads(token)) if token.startswith('"') else token
    except json.JSONDecodeError:
        raise _fails(text, f"{token} is not quoted as in JSON") from None


def _from_json(spec: Mapping[str, Any]) -> Constraint:
    if not isinstance(spec, Mapping):
        raise _fails(spec, "it is neither a text nor an object")
    family = _family(spec.get("kind"))
    settings: dict[str, Any] = {}
    names = {field.name: field for field in fields(family)}
    for name, value in spec.items():
        if name in ("kind", ABOUT):
            continue
        if name not in names:
            raise _malformed(dict(spec), family, f"the setting {name!r}, which it does not know")
        settings[name] = _from_json_value(spec, name, names[name], value)
    return _build(dict(spec), family, settings)


def _from_json_value(spec: Any, name: str, field: Field[Any], value: Any) -> Any:
    if name == "cost" and value is None:
        return math.inf
    if name == "condition":
        return _predicates(spec, name, value)
    if name == "then":
        return tuple(_predicates(spec, name, conjunction) for conjunction in _list(spec, name, value))
    if name == "sets":
        return tuple(_strings(spec, name, labels) for labels in _list(spec, name, value))
    return _strings(spec, name, value) if field.type == Labels else value


def _predicates(spec: Any, name: str, value: Any) -> tuple[Predicate, ...]:
    parts = (["".join(token) for token in TOKEN.findall(part)] for part in _strings(spec, name, value))
    return tuple(_predicate(dict(spec), tokens) for tokens in parts)


def _list(spec: Any, name: str, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _fails(dict(spec), f"{name!r} is not a list")
    return list(value)


def _strings(spec: Any, name: str, value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else _list(spec, name, value)
    if not all(isinstance(member, str) for member in values):
        raise _fails(dict(spec), f"{name!r} is not a list of strings")
    return tuple(values)


def _build(text: Any, family: type[Constraint], settings: dict[str, Any]) -> Constraint:
    missing = [field.name for field in _own(family) if field.default is MISSING and field.name not in settings]
    if missing:
        raise _malformed(text, family, f"no {missing[0]!r}")
    try:
        return family(**settings)
    except ValueError as error:
        raise ValueError(Errors.CRF910.format(text=text, error=error)) from None


# -- rules ------------------------------------------------------------------------------------------------------------


def _rule_settings(text: str, groups: list[list[str]]) -> dict[str, Any]:
    if len(groups) != 1 or groups[0].count("->") != 1:
        raise _malformed(text, Rule, "not one '->'")
    arrow = groups[0].index("->")
    condition, then = groups[0][:arrow], groups[0][arrow + 1 :]
    return {
        "condition": _conjunction(text, condition) if condition else (),
        "then": tuple(_conjunction(text, tokens) for tokens in _split(then, "|")),
    }


def _conjunction(text: str, tokens: list[str]) -> tuple[Predicate, ...]:
    return tuple(_predicate(text, part) for part in _split(tokens, "&"))


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token == mark:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _predicate(text: Any, tokens: list[str]) -> Predicate:
    negated = len(tokens) == 3 and tokens[0] == NEGATION
    match tokens[negated:]:
        case [("has" | "first" | "last") as what, label]:
            return Predicate(what, _name(text, label), negated)
    raise _fails(text, f"{' '.join(tokens)!r} is not '[not] has|first|last LABEL'")


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
