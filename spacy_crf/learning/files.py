"""Weights as they are written to files: pruned, in the precision of the model."""

from functools import partial
from typing import cast

import numpy as np
import srsly
from thinc.model import serialize_attr
from thinc.types import Floats1d
from thinc.util import convert_recursive, is_xp_array

from ..core.arrays import Floats
from ..core.trigrams import Trigrams
from ..core.weights import Layout
from .model import PARAMS, VECTORS, ChainModel, flat_weights, vector_weights
from .trigrams import TRIGRAMS, get_trigrams, is_second_order, trigram_weights

GREATEST_HALF = 65504.0  # greater numbers are infinite in half precision


def stored_weights(model: ChainModel) -> Floats:
    """((size,)): all weights as they will be when the model is loaded again: rounded to what is stored.

    RAISES (OverflowError): for a weight that is too large for half precision.
    """
    return _stored(model, flat_weights(model)).astype(np.float32)


def stored_bytes(model: ChainModel, layout: Layout, flat: Floats) -> bytes:
    """What `model.to_bytes` would give if the model had the given layout and weights, in the precision of files.

    Trigrams whose weight is 0 are left out.

    RAISES (OverflowError): as `stored_weights`, for scores of vectors too.
    """
    data = model.to_dict()
    params, vectors = data["params"][0], vector_weights(model)
    params.update(zip(PARAMS, layout.split(_stored(model, flat))))
    if vectors is not None:
        params[VECTORS] = _stored(model, vectors)
    data["attrs"][0]["layout"] = serialize_attr(layout, layout, "layout", model)
    if is_second_order(model):
        weights = _stored(model, trigram_weights(model))
        kept = Trigrams(layout.n_labels, get_trigrams(model).cells[weights != 0])
        params[TRIGRAMS] = weights[weights != 0]
        data["attrs"][0][TRIGRAMS] = serialize_attr(kept, kept, TRIGRAMS, model)
    data = convert_recursive(is_xp_array, partial(model.ops.to_numpy, byte_order="<"), data)
    serialized: bytes = srsly.msgpack_dumps(data)
    return serialized


def load_bytes(model: ChainModel, data: bytes) -> None:
    """Restore weights and layout; precision, order and choice of candidates stay those of the config."""
    settings = {name: model.attrs[name] for name in ("precision", "order", "candidates", "max_candidates")}
    model.from_bytes(data)
    model.attrs.update(settings)
    for name in model.param_names:
        if model.has_param(name):
            model.set_param(name, cast(Floats1d, np.asarray(model.get_param(name), dtype=np.float32)))


def _stored(model: ChainModel, values: Floats) -> Floats:
    if model.attrs["precision"] == "float32":
        return values.astype(np.float32)
    greatest = float(np.abs(values).max(initial=0.0))
    if greatest > GREATEST_HALF:
        raise OverflowError(greatest)
    return values.astype(np.float16)
