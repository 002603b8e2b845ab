"""Run-time settings of a tagger that are refused before anything is computed."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from ..core.errors import CRFError
from .errors import PipeErrors

SPAN_TARGETS = ("ent", "spans")
Decode = Literal["viterbi", "posterior"]


def check_settings(name: str, target: str, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a setting that has no meaning.

    name (str): of the component. target (str): what it writes. settings (Mapping): its run-time settings.
    """
    is_token = target not in SPAN_TARGETS
    temperature = settings["temperature"]
    checks = [
        ("threshold", is_token and settings["threshold"], "left out for targets that are not spans"),
        ("scores", is_token and settings["scores"], "left out for targets that are not spans"),
        ("decode", settings["decode"] not in get_args(Decode), "'viterbi' or 'posterior'"),
        ("n_best", settings["n_best"] < 0, "0, or the number of sequences to list"),
        ("temperature", not (0 < temperature < math.inf), "a positive number"),
    ]
    own = "a name of its own, or null"
    checks += [(setting, is_wrong, own) for setting, is_wrong in _check_names(target, settings)]
    for setting, is_wrong, expected in checks:
        if is_wrong:
            raise CRFError(
                PipeErrors.CRF408.format(name=name, setting=setting, value=settings[setting], expected=expected)
            )


def _check_names(target: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Settings that name custom attributes, and whether each is empty or says what one before it says."""
    taken = {target}
    for setting in ("marginals", "entropy", "n_best_key"):
        value = settings[setting]
        if value is not None and (setting != "n_best_key" or settings["n_best"]):
            yield setting, not value or value in taken
            taken.add(value)
