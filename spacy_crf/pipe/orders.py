"""What a component must not ask of a chain of order 2, refused before anything is computed."""

from collections.abc import Mapping
from typing import Any

from ..core.errors import CRFError
from ..learning.block import Trainer
from ..learning.model import ChainModel
from ..learning.trigrams import is_second_order
from .errors import PipeErrors

# settings that only chains of order 1 can serve, and what they ask for
FIRST_ORDER_SETTINGS = {
    "threshold": "the setting `threshold`",
    "scores": "the setting `scores`",
    "n_best": "the setting `n_best`",
    "sequences": "the setting `sequences`",
}


def check_order(name: str, model: ChainModel, trainer: Trainer, settings: Mapping[str, Any]) -> None:
    """Raise a coded error for a trainer or a setting that a model of order 2 cannot have.

    name (str): of the component. settings (Mapping): its run-time settings.
    """
    if not is_second_order(model):
        return
    if not trainer.learns_trigrams:
        raise CRFError(PipeErrors.CRF435.format(name=name, trainer=type(trainer).__name__))
    for setting, what in FIRST_ORDER_SETTINGS.items():
        if settings.get(setting):
            raise CRFError(PipeErrors.CRF436.format(name=name, what=what))
    if settings.get("target") == "spans":
        raise CRFError(PipeErrors.CRF436.format(name=name, what="target 'spans', which takes probabilities of spans,"))


def require_first_order(name: str, model: ChainModel, what: str) -> None:
    """Raise a coded error for a model of order 2.

    what (str): that is asked for, for the message.
    """
    if is_second_order(model):
        raise CRFError(PipeErrors.CRF436.format(name=name, what=what))
