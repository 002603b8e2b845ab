"""Settings of the section parser, refused before anything is computed."""

import math
from collections.abc import Mapping
from typing import Any

from ..core.errors import CRFError
from ..pipe.errors import PipeErrors


def check_parsing(name: str, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a setting that has no meaning.

    name (str): of the component. settings (Mapping): its run-time settings.
    """
    states = settings["max_states"]
    for setting, holds, expected in (
        ("temperature", _is_positive(settings["temperature"]), "a positive number"),
        ("label_weight", _is_positive(settings["label_weight"]), "a positive number"),
        ("tree_c2", _is_positive(settings["tree_c2"]) or settings["tree_c2"] == 0, "0 or a positive number"),
        ("max_states", states is None or states >= 1, "at least 1, or null for all stacks"),
        ("elements_key", settings["elements_key"] != "", "a key of doc.spans"),
        ("sections_key", settings["sections_key"] not in ("", settings["elements_key"]), "a key of its own"),
    ):
        if not holds:
            value = settings[setting]
            raise CRFError(PipeErrors.CRF408.format(name=name, setting=setting, value=value, expected=expected))


def _is_positive(value: float) -> bool:
    return math.isfinite(value) and value > 0
