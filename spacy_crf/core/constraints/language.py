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

from ..errors import CoreErrors, CRFError
from .families import FAMILIES, Constraint, Labels, Order, Predicate, Rule
from .spelling import NEGATION, arguments_and_flags, own_fields, usage

Spec: TypeAlias = str | Mapping[str, Any] | Constraint
ABOUT = "about"
TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(->)|([,()|&])|((?:(?!->)[^\s",()|&])+))')


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


def _family(kind: Any) -> type[Constraint]:
    if kind not in FAMILIES:
        raise CRFError(CoreErrors.CRF903.format(kind=kind, near=get_close_matches(str(kind), FAMILIES, 3, 0.0)))
    return FAMILIES[kind]


def _fails(text: Any, problem: str) -> CRFError:
    example = "adjacency(VOLUME, PAGES|DATE) cost=2.5"
    return CRFError(CoreErrors.CRF901.format(text=text, problem=problem, example=example))


def _malformed(text: Any, family: type[Constraint], problem: str) -> CRFError:
    return CRFError(CoreErrors.CRF905.format(constraint=text, problem=problem, kind=family.kind, usage=usage(family)))


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
        positional = arguments_and_flags(family)[0]
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
    flags = {field.name for field in arguments_and_flags(family)[1]}
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
    missing = [field.name for field in own_fields(family) if field.default is MISSING and field.name not in settings]
    if missing:
        raise _malformed(text, family, f"no {missing[0]!r}")
    try:
        return family(**settings)
    except ValueError as error:
        raise CRFError(CoreErrors.CRF910.format(text=text, error=error)) from None


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
