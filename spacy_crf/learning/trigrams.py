"""What makes the chain of a thinc Model second-order: which trigrams of labels have a weight, and the weights."""

from typing import Any, cast

import numpy as np
import srsly
from thinc.api import Model
from thinc.model import deserialize_attr, serialize_attr
from thinc.types import Floats1d

from ..core.arrays import Floats
from ..core.chain.candidates import Pruning
from ..core.chain.second_order import SecondOrder
from ..core.trigrams import Trigrams, no_trigrams

TRIGRAMS = "trigrams"  # ((Z,)): the parameter, in models of order 2; the attribute of the same name tells the trigrams

NO_WEIGHTS: Floats = np.zeros(0, dtype=np.float32)


def is_second_order(model: Model[Any, Any]) -> bool:
    """Whether the model is to learn weights of trigrams; they come after those of the first-order chain."""
    return bool(model.attrs["order"] == 2)


def get_trigrams(model: Model[Any, Any]) -> Trigrams:
    """Which trigrams have a weight: none before they are learned."""
    trigrams: Trigrams = model.attrs[TRIGRAMS]
    return trigrams


def trigram_weights(model: Model[Any, Any]) -> Floats:
    """((Z,)): the weights."""
    if not model.has_param(TRIGRAMS):
        return NO_WEIGHTS
    weights: Floats = np.asarray(model.get_param(TRIGRAMS))
    return weights


def set_trigrams(model: Model[Any, Any], trigrams: Trigrams, weights: Floats) -> None:
    """Replace them all.

    weights ((Z,)): in the order of the trigrams.
    """
    model.attrs[TRIGRAMS] = trigrams
    model.set_param(TRIGRAMS, cast(Floats1d, weights.astype(np.float32)))


def forget_trigrams(model: Model[Any, Any], n_labels: int) -> None:
    """Go back to a first-order chain."""
    model.attrs[TRIGRAMS] = no_trigrams(n_labels)
    if is_second_order(model):
        set_trigrams(model, no_trigrams(n_labels), np.zeros(0))


def get_pruning(model: Model[Any, Any]) -> Pruning:
    """How candidates are chosen."""
    return Pruning(model.attrs["candidates"], model.attrs["max_candidates"])


def second_order(model: Model[Any, Any]) -> SecondOrder | None:
    """What is added to the first-order chain; None as long as that is nothing."""
    trigrams = get_trigrams(model)
    return SecondOrder(trigrams, trigram_weights(model), get_pruning(model)) if len(trigrams) else None


@serialize_attr.register(Trigrams)
def _serialize(_: Trigrams, value: Trigrams, name: str, model: Model[Any, Any]) -> bytes:
    data = {"n_labels": value.n_labels, "cells": np.diff(value.cells, prepend=0)}
    serialized: bytes = srsly.msgpack_dumps(data)
    return serialized


@deserialize_attr.register(Trigrams)
def _deserialize(_: Trigrams, value: bytes, name: str, model: Model[Any, Any]) -> Trigrams:
    data = srsly.msgpack_loads(value)
    return Trigrams(data["n_labels"], np.cumsum(data["cells"], dtype=np.intp))
