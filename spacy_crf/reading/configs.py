"""Values of configs as they were meant, and what is wrong with a config."""

import re
from difflib import get_close_matches
from typing import Any

from thinc.api import ConfigValidationError

from .errors import ReadingErrors

UNEXPECTED = re.compile(r"unexpected argument|(?i:extra (?:fields|inputs) (?:are )?not permitted)")
DOLLARS = re.compile(r"\$\$+")


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


def config_problem(error: BaseException) -> str:
    """Return the message of an error; for settings that a config must not have, the nearest names that there are.

    What spaCy says of a config shows all of it, and no component is asked before: see `docs/guides/training.md`.
    """
    if not isinstance(error, ConfigValidationError):
        return str(error)
    problems = [([str(part) for part in one["loc"]], str(one["msg"])) for one in error.errors or ()]
    wrong = [place[-1] for place, problem in problems if UNEXPECTED.search(problem)]
    known = [name for name in error.config or {} if name not in (*wrong, "nlp", "name") and not name.startswith("@")]
    told = []
    for (*block, name), problem in problems:
        where, near = ".".join(block), ", ".join(get_close_matches(name, known, n=3)) or ", ".join(known)
        message = ReadingErrors.CRF847.format(block=where, name=name, near=near)
        told.append(message if name in wrong and near else f"{where}.{name}: {problem}")
    return " ".join(told) or str(error)
