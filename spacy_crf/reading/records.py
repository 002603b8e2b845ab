"""Numbers, JSON, JSON lines and TOML as values of Python, without what only makes trouble later.

That is NaN, infinite numbers, whole numbers beyond 18 digits (or another limit), keys that are given twice, lone
surrogates, and nesting that recursive functions cannot follow.
"""

import json
import math
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ..core.errors import CRFError
from .errors import ReadingErrors
from .files import check_text, read_lines

WHOLE = re.compile("-?[0-9]{1,20}")
GREATEST = 10**18 - 1  # of 18 digits
GREATEST_HASH = 2**64 - 1
LONGEST = 400  # characters of a number with decimals; the greatest float has 309 digits before the point
DEEPEST = 200
MOST_PARTS = 32  # of a key in TOML, which costs their square
ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
DOLLARS = re.compile(r"\$\$+")
BEFORE_A_KEY = re.compile(r"[={},\n\[\]]")


def whole_number(text: str, greatest: int = GREATEST) -> int | None:
    """Return the whole number that a text spells by ASCII digits; None if it is none, or beyond the greatest.

    >>> whole_number("-12"), whole_number("1.5"), whole_number("9" * 5000)
    (-12, None, None)
    """
    number = int(text) if WHOLE.fullmatch(text) else None
    return None if number is None or abs(number) > greatest else number


def finite_number(text: str) -> float | None:
    """Return the number that a text spells; None if it is none, infinite or not a number.

    >>> finite_number("1e3"), finite_number("1e999"), finite_number("nan")
    (1000.0, None, None)
    """
    if len(text) > LONGEST or "_" in text:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class _Refused(ValueError):
    """A value is beyond a limit."""


def parse_json(text: str | bytes, where: str, greatest: int = GREATEST) -> Any:
    """Return the value that a text in JSON spells.

    where (str): It is named in messages, such as "data.jsonl, line 3". greatest (int): Of whole numbers.
    RAISES (ValueError): For text that is not JSON, or that has what the page of this module names.

    >>> parse_json('{"a": [1, 2.5]}', "example")
    {'a': [1, 2.5]}
    """
    try:
        text = text if isinstance(text, str) else text.decode("utf-8")
        whole = partial(_whole, greatest=greatest)
        value = json.loads(
            text, parse_int=whole, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_unique
        )
        if text.count("[") + text.count("{") > DEEPEST:
            _check_values(value)
    except RecursionError as error:
        raise CRFError(ReadingErrors.CRF574.format(where=where, reason=_too_deep())) from error
    except ValueError as error:
        raise CRFError(ReadingErrors.CRF574.format(where=where, reason=error)) from error
    if not text.isascii() or ESCAPED_SURROGATE.search(text):
        check_text(json.dumps(value, ensure_ascii=False), where)
    return value


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number, from 1, and the value of each line of a file that is not of white space."""
    for number, line in enumerate(read_lines(path), 1):
        if line and not line.isspace():
            yield number, parse_json(line, f"{path}, line {number}")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the table that a text in TOML spells. where (str): It is named in messages."""
    try:
        for part in BEFORE_A_KEY.split(text):
            if part.count(".") >= MOST_PARTS:
                raise _Refused(f"a key has more than {MOST_PARTS} parts")
        value = tomllib.loads(text, parse_float=_finite)
        _check_values(value)
    except RecursionError as error:
        raise CRFError(ReadingErrors.CRF575.format(where=where, reason=_too_deep())) from error
    except ValueError as error:
        raise CRFError(ReadingErrors.CRF575.format(where=where, reason=error)) from error
    return value


def _whole(text: str, greatest: int) -> int:
    value = whole_number(text, greatest)
    if value is None:
        _refuse_number(text)
    return value


def _finite(text: str) -> float:
    value = finite_number(text.replace("_", ""))
    if value is None:
        _refuse_number(text)
    return value


def _refuse_number(text: str) -> NoReturn:
    raise _Refused(f"the number {text[:20]} is too great or not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"the key {twice[:40]!r} is given twice")
    return value


def _check_values(value: Any) -> None:
    """Refuse deep nesting, and whole numbers that were not spelt in decimals."""
    level, depth = [value], 0
    while level := [part for one in level for part in _parts(one)]:
        depth += any(isinstance(part, dict | list) for part in level)
        if depth >= DEEPEST:
            raise _Refused(_too_deep())
        for part in level:
            if isinstance(part, int) and abs(part) > GREATEST:
                raise _Refused("a whole number has more than 18 digits")


def _parts(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _too_deep() -> str:
    return f"it is nested more than {DEEPEST} deep"


def single_dollars(value: Any) -> Any:
    """Return a value of a config with one dollar where there are several, in lists and dicts too.

    A config doubles each dollar when it is written, and a pipeline does not take that back when it is loaded: a tag
    "$." becomes "$$.", and "$$$$." when it is stored again.

    >>> single_dollars({"punctuation_tags": ["$$.", "$$$$,"]})
    {'punctuation_tags': ['$.', '$,']}
    """
    if isinstance(value, str):
        return DOLLARS.sub("$", value)
    if isinstance(value, list | tuple):
        return type(value)(map(single_dollars, value))
    if type(value) is dict:
        return {single_dollars(key): single_dollars(one) for key, one in value.items()}
    return value


def string_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all strings, in the order in which JSON spells them; of a key, that of its value and None."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key, None)
            yield from string_paths(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from string_paths(part, (*path, number))


def as_number(value: Any) -> float | None:
    """A number of JSON; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
