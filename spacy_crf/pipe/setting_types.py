"""Types of settings: whether a value has one, and how people who write configs name it."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from spacy.util import registry
from thinc.api import Model

from ..learning.block import TrainerSettings
from .block import block_class


def fits(value: Any, hint: Any) -> bool:
    """Whether a value has a type, as far as configs can hold it; what lists and dicts contain is not looked at."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    if hint is Any:
        return True
    return isinstance(value, origin or hint)


def fits_within(value: Any, hint: Any) -> bool:
    """Whether a value from JSON has a type, with all that its lists and tables contain; a tuple is a list there."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits_within(value, one) for one in inner)
    if is_typeddict(hint):
        fields = get_type_hints(hint)
        is_whole = isinstance(value, dict) and hint.__required_keys__ <= value.keys() <= fields.keys()
        return is_whole and all(fits_within(one, fields[name]) for name, one in value.items())
    if origin is tuple:
        return isinstance(value, list) and len(value) == len(inner) and all(map(fits_within, value, inner))
    if origin is list:
        return isinstance(value, list) and all(fits_within(one, inner[0]) for one in value)
    if origin is dict:
        return isinstance(value, dict) and all(fits_within(one, inner[1]) for one in value.values())
    return fits(value, hint)


def learned_values(stored: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """The values of some names that were stored, as far as they were; TypeError for one that has not its type."""
    found = {name: stored[name] for name in types if name in stored}
    for name in (name for name, value in found.items() if not fits_within(value, types[name])):
        raise TypeError(f"{name!r} has another form than what is learned")
    return found


def describe_type(hint: Any) -> str:
    """A type as people who write configs name it."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(describe_type(one) for one in get_args(hint))
    if origin is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if origin is Callable:
        return "a block with @scorers"
    if hint is Model:
        return 'a block with @architectures = "spacy_crf.LinearChain.v1"'
    if block := block_class(hint):
        made = registry.misc.get_all().items()
        known = sorted(name for name, one in made if isinstance(one, type) and issubclass(one, block))
        word = "'auto' or " if block is TrainerSettings else ""
        return f"{word}a block with @misc = {' or '.join(map(repr, known))}"
    names = {str: "a string", int: "an integer", float: "a number", bool: "true or false", NoneType: "null"}
    names |= {list: "a list", dict: "a table"}
    return names.get(origin or hint, str(hint))
