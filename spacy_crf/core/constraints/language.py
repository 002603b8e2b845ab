"""Constraints as compact text or as JSON.

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
from dataclasses import MISSING, fields
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, TypeAlias

from ..errors import CoreErrors, CRFError
from .family import FAMILIES, Conjunction, Constraint, Disjunction, LabelSets, Predicate, arguments_and_flags
from .labelling import Labels

Spec: TypeAlias = str | Mapping[str, Any] | Constraint
ABOUT = "about"
EXAMPLE = "adjacency(VOLUME, PAGES|DATE) cost=2.5"
WORDS = {"once": "count", "each": "count", "segment": "level", "unit": "level"}
WHOLE = re.compile("[0-9]{1,9}")
TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(->)|([,()|&])|((?:(?!->)[^\s",()|&])+))')


def parse(spec: Spec) -> Constraint:
    """Read a constraint from compact text or from a JSON object. RAISES (ValueError): with what is wrong with it."""
    if isinstance(spec, Constraint):
        return spec
    return _from_text(spec) if isinstance(spec, str) else _from_json(spec)


def parse_all(specs: str | Iterable[Spec]) -> list[Constraint]:
    """Read constraints from a text with one a line, or from a list. RAISES (ValueError): as `parse`."""
    if isinstance(specs, str):
        specs = [line for line in map(str.strip, specs.splitlines()) if line and not line.startswith("#")]
    return [parse(spec) for spec in specs]


def _family(kind: Any) -> type[Constraint]:
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise CRFError(CoreErrors.CRF903.format(kind=kind, near=get_close_matches(str(kind), FAMILIES, 3, 0.0)))
    return FAMILIES[kind]


def _unreadable(text: Any, problem: str) -> CRFError:
    return CRFError(CoreErrors.CRF901.format(text=text, problem=problem, example=EXAMPLE))


def _misused(text: Any, family: type[Constraint], problem: str) -> CRFError:
    known = {"kind": family.kind, "usage": family.usage()}
    return CRFError(CoreErrors.CRF905.format(constraint=text, problem=problem, **known))


def _build(text: Any, family: type[Constraint], settings: dict[str, Any]) -> Constraint:
    missing = [one.name for one in fields(family) if one.default is MISSING and one.name not in settings]
    if missing:
        raise _misused(text, family, f"no {missing[0]!r}")
    try:
        constraint = family(**settings)
        str(constraint).encode("utf-8")  # a half of a surrogate pair could not be stored
        return constraint
    except ValueError as error:
        raise CRFError(CoreErrors.CRF910.format(text=text, error=error)) from None


def _from_text(text: str) -> Constraint:
    head = re.match(r"\s*(\w+)\s*\(", text)
    if head is None:
        raise _unreadable(text, "it does not begin with a family and '('")
    family = _family(head[1])
    tokens, rest = _tokens(text, head.end())
    settings, mark = _options(text, family, rest), family.mark.strip()
    groups, arguments = _split(tokens, mark) if tokens else [], arguments_and_flags(family)[0]
    if mark != "," and ("," in tokens or len(groups) != len(arguments)):
        raise _misused(text, family, f"not one {mark!r}")
    if arguments and arguments[0].type == LabelSets:
        settings[arguments[0].name] = tuple(_value(text, Labels, group) for group in groups)
    elif len(groups) > len(arguments):
        raise _misused(text, family, f"{len(groups)} arguments")
    else:
        settings |= {one.name: _value(text, one.type, group) for one, group in zip(arguments, groups)}
    return _build(text, family, settings)


def _tokens(text: str, place: int) -> tuple[list[str], str]:
    """The tokens of the arguments from a place on, and the text behind the closing parenthesis."""
    tokens: list[str] = []
    while match := TOKEN.match(text, place):
        place, token = match.end(), match[0].lstrip()
        if token == ")":
            return tokens, text[place:]
        if token == "(":
            raise _unreadable(text, "there is a second '('")
        tokens.append(token)
    raise _unreadable(text, "there is no ')'" if not text[place:].strip() else f"of what is at {text[place:]!r}")


def _options(text: str, family: type[Constraint], rest: str) -> dict[str, Any]:
    """Settings from the words behind the arguments."""
    flags = {field.name for field in arguments_and_flags(family)[1]}
    settings: dict[str, Any] = {}
    for word in rest.split():
        name, equals, value = word.partition("=")
        option: Any = word
        if name in ("cost", "priority") and equals:
            option = _number(text, value)
        elif word in WORDS:
            name = WORDS[word]
        elif word in flags:
            option = True
        else:
            raise _misused(text, family, f"the option {word!r}, which it does not know")
        if name in settings:
            raise _misused(text, family, f"the option {word!r} beside another one of {name!r}")
        settings[name] = option
    return settings


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise _unreadable(text, f"{value!r} is no number") from None
    if math.isinf(number) and any(map(str.isdigit, value)):
        raise _unreadable(text, f"{value!r} is too great a number; a constraint is hard without a cost")
    return number


def _value(text: Any, kind: Any, tokens: list[str]) -> Any:
    """A setting from the tokens of its argument, by the type of its field."""
    if kind == Labels:
        if len(tokens) % 2 == 0 or any(mark != "|" for mark in tokens[1::2]):
            raise _unreadable(text, f"{' '.join(tokens)!r} are not labels with '|' between them")
        return tuple(_name(text, token) for token in tokens[::2])
    if kind == Conjunction:
        return tuple(_predicate(text, part) for part in _split(tokens, "&")) if tokens else ()
    if kind == Disjunction:
        return tuple(tuple(_predicate(text, part) for part in _split(one, "&")) for one in _split(tokens, "|"))
    if len(tokens) != 1:
        raise _unreadable(text, f"{' '.join(tokens)!r} is not one name or number")
    if kind is int:
        return int(tokens[0]) if WHOLE.fullmatch(tokens[0]) else tokens[0]
    return _name(text, tokens[0])


def _predicate(text: Any, tokens: list[str]) -> Predicate:
    negated = len(tokens) == 3 and tokens[0] == "not"
    match tokens[negated:]:
        case [("has" | "first" | "last") as what, label]:
            return Predicate(what, _name(text, label), negated)
    raise _unreadable(text, f"{' '.join(tokens)!r} is not '[not] has|first|last LABEL'")


def _name(text: Any, token: str) -> str:
    if token in ("|", "&", "->"):
        raise _unreadable(text, f"{token!r} stands where a name is expected")
    try:
        return str(json.loads(token)) if token.startswith('"') else token
    except json.JSONDecodeError:
        raise _unreadable(text, f"{token} is not quoted as in JSON") from None


def _split(tokens: list[str], mark: str) -> list[list[str]]:
    cuts = [-1, *(place for place, token in enumerate(tokens) if token == mark), len(tokens)]
    return [tokens[low + 1 : high] for low, high in pairwise(cuts)]


def _from_json(spec: Mapping[str, Any]) -> Constraint:
    if not isinstance(spec, Mapping):
        raise _unreadable(spec, "it is neither a text nor an object")
    family, own = _family(spec.get("kind")), dict(spec)
    kinds = {field.name: field.type for field in fields(family)}
    settings: dict[str, Any] = {}
    for name, value in spec.items():
        if name in ("kind", ABOUT):
            continue
        if name not in kinds:
            raise _misused(own, family, f"the setting {name!r}, which it does not know")
        settings[name] = math.inf if name == "cost" and value is None else _json_value(own, name, kinds[name], value)
    return _build(own, family, settings)


def _json_value(spec: dict[str, Any], name: str, kind: Any, value: Any) -> Any:
    """A setting from its JSON, by the type of its field."""
    if kind not in (Labels, LabelSets, Conjunction, Disjunction):
        return value
    plain = kind in (Labels, Conjunction)
    values = [value] if plain and isinstance(value, str) else value
    if not isinstance(values, list | tuple):
        raise _unreadable(spec, f"{name!r} is not a list")
    if not plain:
        return tuple(_json_value(spec, name, Labels if kind == LabelSets else Conjunction, part) for part in values)
    if not all(isinstance(member, str) for member in values):
        raise _unreadable(spec, f"{name!r} is not a list of strings")
    if kind == Labels:
        return tuple(values)
    return tuple(_predicate(spec, ["".join(token) for token in TOKEN.findall(part)]) for part in values)
