"""Values of configs as they were meant."""

import re
from typing import Any

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
