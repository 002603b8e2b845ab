"""Grammars as text.

    # a comment, also behind a rule
    %start Document
    %terminals NR TITLE TEXT
    %weights plain
    Document -> Section [0.7] | Section Document [0.3]
    Section  -> NR TITLE TEXT

A rule a line; alternatives are parted by `|`; a weight stands in brackets behind each right side, 1 if there is none.
`%weights log` says that the numbers are natural logarithms; `plain` is what holds without the line. Symbols of other
characters than these are quoted as in JSON: `"a b"`.
"""

import itertools
import json
import math
import re

from ..errors import CoreErrors, CRFError
from .grammar import Grammar
from .rules import Rule

PLAIN = re.compile(r"""[^\s|\[\]"#%][^\s|\[\]"#]*""")
TOKEN = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|(\[[^\]]*\])|(\|)|(#.*)|([^\s|\[\]"#]+))""")
ARROW, BAR = "->", "|"
SCALES = ("plain", "log")
DIRECTIVES = ("%start", "%terminals", "%weights")


def parse(text: str, name: str = "") -> Grammar:
    """Read a grammar.

    text (str): as the module tells. name (str): of the file, for messages.
    RETURNS (Grammar): checked.
    RAISES (ValueError): for what cannot be read, and for what `validation.check` finds; messages name the line.
    """
    settings: dict[str, tuple[str, ...]] = {}
    places = (f"{name}, line {number}" if name else f"line {number}" for number in itertools.count(1))
    lines = [(place, tokens) for place, line in zip(places, text.splitlines()) if (tokens := _tokens(line, place))]
    for place, tokens in lines:
        if tokens[0].startswith("%"):
            _directive(tokens, place, settings)
    scale = settings.get("%weights", ("plain",))[0]
    rules = [rule for place, tokens in lines if tokens[0][0] != "%" for rule in _rules(tokens, place, scale)]
    return Grammar(settings.get("%start", ("",))[0], settings.get("%terminals", ()), tuple(rules))


def to_text(grammar: Grammar, scale: str = "plain") -> str:
    """A text that `parse` reads back to an equal grammar, but for rounding where weights are plain.

    grammar (Grammar): the grammar. scale (str): of the weights, "plain" or "log"; logarithms come back unchanged.
    RETURNS (str): lines, the alternatives of a symbol on one where they stand together.
    """
    if scale not in SCALES:
        raise CRFError(CoreErrors.CRF950.format(setting="scale", value=repr(scale), expected=" or ".join(SCALES)))
    names = " ".join(map(_name, grammar.terminals))
    lines = [f"%start {_name(grammar.start)}", f"%terminals {names}".rstrip(), f"%weights {scale}"]
    before = None
    for rule in grammar.rules:
        weight = rule.log_weight if scale == "log" else math.exp(rule.log_weight)
        right = f"{' '.join(map(_name, rule.children))} [{weight!r}]"
        if rule.parent == before:
            lines[-1] += f" {BAR} {right}"
        else:
            lines.append(f"{_name(rule.parent)} {ARROW} {right}")
        before = rule.parent
    return "\n".join(lines) + "\n"


def _name(symbol: str) -> str:
    return symbol if PLAIN.fullmatch(symbol) and symbol != ARROW else json.dumps(symbol, ensure_ascii=True)


def _fails(place: str, problem: str) -> CRFError:
    return CRFError(CoreErrors.CRF941.format(where=place, problem=problem))


def _tokens(line: str, place: str) -> list[str]:
    """Names, arrows, bars and weights of a line; quoted names keep their quotes."""
    tokens, read = [], 0
    while read < len(line.rstrip()):
        match = TOKEN.match(line, read)
        if match is None:
            raise _fails(place, f"nothing can be made of {line[read:].strip()!r}")
        read = match.end()
        if not match[4]:
            tokens.append(match[0].strip())
    return tokens


def _directive(tokens: list[str], place: str, settings: dict[str, tuple[str, ...]]) -> None:
    name, values = tokens[0], tuple(_symbol(token, place) for token in tokens[1:])
    if name not in DIRECTIVES:
        raise _fails(place, f"there is no directive {name!r}")
    if name in settings:
        raise _fails(place, f"{name} is given a second time")
    if name != "%terminals" and len(values) != 1:
        raise _fails(place, f"{name} needs one value")
    if name == "%weights" and values[0] not in SCALES:
        raise _fails(place, f"weights are plain or log, not {values[0]!r}")
    settings[name] = values


def _rules(tokens: list[str], place: str, scale: str) -> list[Rule]:
    if len(tokens) < 2 or tokens[1] != ARROW:
        raise _fails(place, f"a rule begins with a symbol and '{ARROW}'")
    parent = _symbol(tokens[0], place)
    rules: list[Rule] = []
    right: list[str] = []
    for token in [*tokens[2:], BAR]:
        if token == BAR:
            rules.append(_rule(parent, right, place, scale))
            right = []
        else:
            right.append(token)
    return rules


def _rule(parent: str, right: list[str], place: str, scale: str) -> Rule:
    weighted = bool(right) and right[-1].startswith("[")
    children = tuple(_symbol(token, place) for token in (right[:-1] if weighted else right))
    if not children:
        raise _fails(place, f"the right side of {parent!r} is empty")
    return Rule(parent, children, _log_weight(right[-1], place, scale) if weighted else 0.0, place)


def _log_weight(token: str, place: str, scale: str) -> float:
    try:
        value = float(token[1:-1])
    except ValueError:
        raise _fails(place, f"the weight {token} is no number") from None
    if (scale == "plain" and not 0 < value < math.inf) or (scale == "log" and not math.isfinite(value)):
        expected = "a finite number above 0" if scale == "plain" else "a finite logarithm"
        raise CRFError(CoreErrors.CRF943.format(where=place, rule="the rule", weight=value, expected=expected))
    return math.log(value) if scale == "plain" else value


def _symbol(token: str, place: str) -> str:
    if token.startswith("["):
        raise _fails(place, f"the weight {token} does not stand behind a right side")
    if token in (ARROW, BAR):
        raise _fails(place, f"{token!r} stands where a symbol is expected")
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except json.JSONDecodeError:
        raise _fails(place, f"{token} is not quoted as in JSON") from None
