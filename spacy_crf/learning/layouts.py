"""The layout of a model without weights, and layouts as bytes in files of thinc."""

from dataclasses import replace
from typing import Any

import numpy as np
import srsly
from thinc.api import Model
from thinc.model import deserialize_attr, serialize_attr

from ..core.arrays import Indices
from ..core.weights import Layout


def empty_layout(n_labels: int, boundary: bool) -> Layout:
    """No weights, nothing forbidden."""
    none = np.zeros(0, dtype=np.intp)
    allowed, at_edges = np.ones((n_labels, n_labels), dtype=bool), np.ones(n_labels, dtype=bool)
    return Layout(0, n_labels, 0, none, none, none, boundary, allowed, at_edges, at_edges)


@serialize_attr.register(Layout)
def _serialize_layout(_: Layout, value: Layout, name: str, model: Model[Any, Any]) -> bytes:
    """Cells as differences in 32 bits; the masks are the component's to set."""
    data = {
        "n_features": value.n_features,
        "n_labels": value.n_labels,
        "n_edge_features": value.n_edge_features,
        "boundary": value.boundary,
        "state_cells": _differences(value.state_cells),
        "transition_cells": _differences(value.transition_cells),
        "edge_cells": _differences(value.edge_cells),
    }
    serialized: bytes = srsly.msgpack_dumps(data)
    return serialized


@deserialize_attr.register(Layout)
def _deserialize_layout(_: Layout, value: bytes, name: str, model: Model[Any, Any]) -> Layout:
    data = srsly.msgpack_loads(value)
    return replace(
        empty_layout(data["n_labels"], data["boundary"]),
        n_features=data["n_features"],
        n_edge_features=data["n_edge_features"],
        state_cells=np.cumsum(data["state_cells"], dtype=np.intp),
        transition_cells=np.cumsum(data["transition_cells"], dtype=np.intp),
        edge_cells=np.cumsum(data["edge_cells"], dtype=np.intp),
    )


def _differences(cells: Indices) -> "np.ndarray[Any, np.dtype[np.signedinteger]]":
    """Cells as small differences: ascending cells fit 16 bits, others need more."""
    steps = np.diff(cells, prepend=0)
    size = int(np.abs(steps).max(initial=0))
    return steps.astype(np.int16 if size < 1 << 15 else np.int32 if size < 1 << 31 else np.int64)
