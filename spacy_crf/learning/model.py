"""The thinc Model that holds the weights of a linear-chain CRF, and what it is in files.

It is a container: serialisation, `use_params`, resuming and `finish_update` come from thinc, the mathematics from core.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

import numpy as np
from spacy.attrs import NAMES
from spacy.tokens import Doc
from thinc.api import Model, NumpyOps, glorot_uniform_init
from thinc.model import deserialize_attr, serialize_attr
from thinc.types import Floats2d, FloatsXd
from thinc.util import convert_recursive, is_xp_array

from ..annotation.white_space import is_white_space
from ..core.arrays import Bools, Floats, Indices, Segments
from ..core.errors import CRFError, CRFWarning
from ..core.stored import GREATEST, stored_cells, stored_floats, stored_size
from ..core.trigrams import Pruning, Trigrams, TrigramWeights
from ..core.weights import ChainWeights, Layout
from .block import Tok2Vec
from .errors import LearningErrors, LearningWarnings
from .packed import dumps, loads

ChainModel: TypeAlias = Model[Any, Any]
PARAMS = ("state", "transitions", "edges", "start", "end")  # the sections of a flat vector, in order
ANNOTATION = frozenset(("DEP", "ENT_IOB", "ENT_TYPE", "LEMMA", "MORPH", "POS", "TAG"))
Backprop = Callable[[Floats], None]
LISTENER = "tok2vec-listener"  # spaCy's name of the layer
VECTORS = "vectors"  # (width, L): scores of vectors, in models with a tok2vec layer
TRIGRAMS = "trigrams"  # ((Z,)): the parameter, in models of order 2; the attribute of the same name tells the trigrams
CELLS = ("state_cells", "transition_cells", "edge_cells")
UNSET = {"all_edges": False, "transitions": True}  # what holds where a file does not tell
MADE_WITH = ("order", "all_states", "all_transitions", *UNSET)  # settings that decide which weights there are
GREATEST_HALF = 65504.0  # greater numbers are infinite in half precision


def new_model(boundary: bool, tok2vec: Tok2Vec | None, settings: dict[str, Any]) -> ChainModel:
    """Make the model of spacy_crf.LinearChain.v1, with its other settings as attributes."""
    if settings["order"] == 2 and tok2vec is not None:
        raise CRFError(LearningErrors.CRF437)
    if settings["all_transitions"] and not settings.get("transitions", True):
        raise CRFError(LearningErrors.CRF205)
    Pruning(settings["candidates"], settings["max_candidates"])  # refuses values out of their range
    params = [*PARAMS, *([] if tok2vec is None else [VECTORS]), *([TRIGRAMS] if settings["order"] == 2 else [])]
    attrs = {"layout": Layout.empty(0, boundary), **settings, "resize_output": resize_labels}
    return Model(
        "linear_chain",
        forward,
        params=dict.fromkeys(params),
        layers=[] if tok2vec is None else [tok2vec],
        refs={} if tok2vec is None else {"tok2vec": tok2vec},
        attrs={**attrs, TRIGRAMS: Trigrams.none(0)},
        ops=NumpyOps(),
    )


def forward(model: ChainModel, X: Any, is_train: bool) -> Any:
    """Return the vectors of Docs that the model has a layer for, else none. Scores are the component's."""
    vectors = get_tok2vec(model)
    return ([], lambda gradients: []) if vectors is None else vectors(X, is_train)


# -- the weights ---------------------------------------------------------------------------------------------


def get_layout(model: ChainModel) -> Layout:
    """Return which weights the model has."""
    return model.attrs["layout"]


def get_weights(model: ChainModel) -> ChainWeights:
    """Return all weights; before training they are 0."""
    if not all(map(model.has_param, PARAMS)):
        return replace(ChainWeights.zeros(get_layout(model)), trigrams=_trigrams(model))
    flat = np.concatenate([model.get_param(name) for name in PARAMS])
    return ChainWeights(get_layout(model), flat, _param(model, VECTORS), _trigrams(model))


def set_weights(model: ChainModel, weights: ChainWeights) -> None:
    """Replace all weights; those of trigrams in models of order 2, those of vectors in models with a tok2vec layer."""
    layout = model.attrs["layout"] = weights.layout
    for name, section in zip(PARAMS, layout.split(weights.flat.astype(np.float32))):
        _set_param(model, name, section.copy())
    if VECTORS in model.param_names:
        _set_param(model, VECTORS, weights.vectors)
    known = weights.trigrams if TRIGRAMS in model.param_names else None
    model.attrs[TRIGRAMS] = Trigrams.none(layout.n_labels) if known is None else known.trigrams
    if TRIGRAMS in model.param_names:
        _set_param(model, TRIGRAMS, np.zeros(0, dtype=np.float32) if known is None else known.values)


def weight_arrays(model: ChainModel) -> list[Any]:
    """Return the arrays that hold the weights: where one is another object than before, the weights are others."""
    return [model.get_param(name) for name in model.param_names if model.has_param(name)]


def start_weights(model: ChainModel, n_labels: int, allowed: tuple[Bools, Bools, Bools]) -> None:
    """Forget all weights and begin with some labels, and the transitions, starts and ends that are allowed."""
    layout = Layout.empty(n_labels, get_layout(model).boundary).with_masks(*allowed)
    set_weights(model, ChainWeights.zeros(layout))


def empty_copy(model: ChainModel) -> ChainModel:
    """Make a model of order 1 without weights, which allows what another one allows, and wants the same weights."""
    layout = get_layout(model)
    settings = {name: value for name, value in model.attrs.items() if isinstance(value, bool | int | float | str)}
    made = new_model(layout.boundary, None, {**settings, "order": 1})
    start_weights(made, layout.n_labels, (layout.allowed, layout.allowed_start, layout.allowed_end))
    return made


def take_weights(model: ChainModel, other: ChainModel, n_labels: int) -> None:
    """Begin with the weights of another model, without those of its vectors, and with room for more labels behind.

    Start and end weights that only one of both models has are left out, or begin at 0.
    """
    weights = replace(get_weights(other), vectors=None).with_boundary(get_layout(model).boundary)
    set_weights(model, weights.with_labels(n_labels))


def set_masks(model: ChainModel, allowed: tuple[Bools, Bools, Bools]) -> None:
    """Set what the scheme and the user allow: transitions (L, L), starts (L,), ends (L,)."""
    model.attrs["layout"] = get_layout(model).with_masks(*allowed)


def resize_labels(model: ChainModel, n_labels: int) -> ChainModel:
    """Make room for labels behind the present ones; the weights of the others stay."""
    set_weights(model, get_weights(model).with_labels(n_labels))
    return model


def _trigrams(model: ChainModel) -> TrigramWeights | None:
    """Return weights of trigrams: of a model of order 2, or left in a model of order 1 by a file of the other kind."""
    known, values = model.attrs[TRIGRAMS], _param(model, TRIGRAMS)
    if model.attrs["order"] == 1 and not len(known):
        return None
    pruning = Pruning(model.attrs["candidates"], model.attrs["max_candidates"])
    return TrigramWeights(known, np.zeros(0, dtype=np.float32) if values is None else values, pruning)


def _param(model: ChainModel, name: str) -> Floats | None:
    return np.asarray(model.get_param(name)) if model.has_param(name) else None


def _set_param(model: ChainModel, name: str, values: Floats | None) -> None:
    found = None if values is None else values.astype(np.float32, copy=False)
    model.set_param(name, cast(FloatsXd | None, found))


# -- the tok2vec layer ---------------------------------------------------------------------------------------


def get_tok2vec(model: ChainModel) -> Tok2Vec | None:
    """Return the layer that gives vectors to tokens, None where there is none."""
    return model.get_ref("tok2vec") if model.has_ref("tok2vec") else None


def start_vectors(model: ChainModel, docs: Sequence[Doc], silent: bool = False) -> None:
    """Initialise the tok2vec layer with a sample that shows its shapes, and the scores of its vectors at random.

    silent (bool): let vectors score 0, beside features that do score.
    """
    tok2vec = get_tok2vec(model)
    if tok2vec is not None:
        tok2vec.initialize(X=list(docs))
        shape = (tok2vec.get_dim("nO"), get_layout(model).n_labels)
        model.set_param(VECTORS, model.ops.alloc2f(*shape) if silent else glorot_uniform_init(model.ops, shape))


def copy_tok2vec(model: ChainModel, other: ChainModel) -> None:
    """Take the tok2vec layer of another model, where both have one."""
    ours, theirs = get_tok2vec(model), get_tok2vec(other)
    if ours is not None and theirs is not None:
        ours.from_bytes(theirs.to_bytes())


def annotation_read(tok2vec: Tok2Vec) -> list[str]:
    """Attributes that a layer embeds and that other components set, such as TAG, in the order of their names."""
    columns = [column for node in tok2vec.walk() for column in node.attrs.get("columns", ())]
    names = {column if isinstance(column, str) else NAMES[column] for column in columns}
    return sorted(names & ANNOTATION)


def predict_vectors(tok2vec: Tok2Vec, docs: Sequence[Doc], name: str) -> Floats:
    """((N, width)): vectors of the tokens of all Docs, one Doc after the other, in the memory of the CPU. A listener
    gives 0 where no component has given a Doc vectors, of which it warns. name (str): of the component that asks."""
    if any(len(doc) and not doc.tensor.size for doc in docs) and any(node.name == LISTENER for node in tok2vec.walk()):
        warnings.warn(LearningWarnings.CRFW478.format(name=name), CRFWarning, stacklevel=3)
    return _stack(tok2vec, tok2vec.predict(list(docs)))


def begin_update(tok2vec: Tok2Vec, docs: Sequence[Doc], whole: Sequence[Doc]) -> tuple[Floats, Backprop]:
    """Vectors for training.

    whole (Sequence[Doc]): the Docs with white space that `docs` may lack: these are known to what a listener hears.
    RETURNS (tuple): (N, width) vectors, and what takes the loss's gradient by them, of the same shape, into the layer.
    """
    pairs = list(zip(whole, docs)) if _hears(tok2vec) else [(doc, doc) for doc in docs]
    vectors, finish = tok2vec.begin_update([seen for seen, _ in pairs])
    asked = np.concatenate([~is_white_space(seen) | (len(seen) == len(doc)) for seen, doc in pairs])
    stacked = _stack(tok2vec, vectors)

    def backprop(gradient: Floats) -> None:
        spread = np.zeros_like(stacked)
        spread[asked] = gradient
        finish([tok2vec.ops.asarray2f(cast(Floats2d, part)) for part in Segments.of(vectors).split(spread)])

    return stacked[asked], backprop


def _hears(tok2vec: Tok2Vec) -> bool:
    """Whether vectors come from another component."""
    return any(hasattr(node, "upstream_name") for node in tok2vec.walk())


def _stack(tok2vec: Tok2Vec, vectors: Sequence[Floats2d]) -> Floats:
    return np.concatenate([np.asarray(tok2vec.ops.to_numpy(part), dtype=np.float32) for part in vectors])


# -- files ---------------------------------------------------------------------------------------------------


def rounded_weights(model: ChainModel) -> ChainWeights:
    """Return all weights as they will be when the model is loaded again: without trigrams of weight 0, for example.

    RAISES (OverflowError): for a weight that is too large for half precision. (FloatingPointError): for one that is no
        number, or beyond 1e9.
    """
    weights = get_weights(model).map(partial(_stored, model)).astype(np.float32)
    return replace(weights, trigrams=weights.trigrams and weights.trigrams.without_zeros())


def weight_bytes(model: ChainModel, weights: ChainWeights) -> bytes:
    """Return what `model.to_bytes` would if the model had the given weights, in the precision of files."""
    data, stored = model.to_dict(), weights.map(partial(_stored, model))
    params, attrs = data["params"][0], data["attrs"][0]
    params.update(zip(PARAMS, weights.layout.split(stored.flat)))
    attrs["layout"] = serialize_attr(weights.layout, weights.layout, "layout", model)
    if stored.vectors is not None:
        params[VECTORS] = stored.vectors
    if stored.trigrams is not None:
        params[TRIGRAMS] = stored.trigrams.values
        attrs[TRIGRAMS] = serialize_attr(stored.trigrams.trigrams, stored.trigrams.trigrams, TRIGRAMS, model)
    data = convert_recursive(is_xp_array, partial(model.ops.to_numpy, byte_order="<"), data)
    return dumps(data)


def load_bytes(model: ChainModel, data: bytes) -> None:
    """Restore weights and layout; precision and choice of candidates stay those of the config.

    RAISES (ValueError): for weights that are no finite numbers, or not those of the layout.
    """
    settings = {name: model.attrs[name] for name in ("precision", "candidates", "max_candidates")}
    found = loads(data)
    for params in found["params"]:
        for name, values in params.items():
            if values is not None:
                stored_floats(name, values, (None,) * np.ndim(values))
    for name in UNSET:
        model.attrs.pop(name, None)
    model.from_dict(found)
    model.attrs.update(settings)
    _check_shapes(model)
    for name in model.param_names:
        _set_param(model, name, _param(model, name))


def made_with(model: ChainModel) -> dict[str, bool | int]:
    """Return the settings that decide which weights there are."""
    attrs = UNSET | model.attrs
    return {"boundary": get_layout(model).boundary, **{name: attrs[name] for name in MADE_WITH}}


def _check_shapes(model: ChainModel) -> None:
    """Raise a ValueError where weights are not those of the layout."""
    layout = get_layout(model)
    sizes: dict[str, tuple[int | None, ...]] = {
        **{name: (len(getattr(layout, cells)),) for name, cells in zip(PARAMS, CELLS)},
        **dict.fromkeys(PARAMS[3:], (layout.n_labels if layout.boundary else 0,)),
        VECTORS: (None, layout.n_labels),
        TRIGRAMS: (len(model.attrs[TRIGRAMS]),),
    }
    held = [name for name in model.param_names if model.has_param(name)]
    if held and not {*PARAMS} <= {*held}:
        raise ValueError(f"there are no weights beside {', '.join(held)}")
    for name in held:
        stored_floats(name, _param(model, name), sizes[name])
    if held and len(model.attrs[TRIGRAMS]) and model.attrs[TRIGRAMS].n_labels != layout.n_labels:
        raise ValueError("trigrams are of other labels")


def _stored(model: ChainModel, values: Floats) -> Floats:
    greatest, is_half = float(np.abs(values).max(initial=0.0)), model.attrs["precision"] != "float32"
    if is_half and greatest > GREATEST_HALF:
        raise OverflowError(greatest)
    if not greatest <= GREATEST:
        raise FloatingPointError(greatest)
    return values.astype(np.float16 if is_half else np.float32, copy=False)


@serialize_attr.register(Layout)
def _serialize_layout(_: Layout, value: Layout, name: str, model: ChainModel) -> bytes:
    """Cells as differences in 32 bits; the masks are the component's to set."""
    data = {name: getattr(value, name) for name in ("n_features", "n_labels", "n_edge_features", "boundary")}
    return dumps(data | {name: _differences(getattr(value, name)) for name in CELLS})


@deserialize_attr.register(Layout)
def _deserialize_layout(_: Layout, value: bytes, name: str, model: ChainModel) -> Layout:
    data = loads(value)
    n, edges, features = (stored_size(name, data[name]) for name in ("n_labels", "n_edge_features", "n_features"))
    sizes = zip(CELLS, (features * n, n * n, edges * n * n))
    cells: dict[str, Any] = {name: stored_cells(name, data[name], size) for name, size in sizes}
    return replace(Layout.empty(n, data["boundary"] is True, features, edges), **cells)


@serialize_attr.register(Trigrams)
def _serialize_trigrams(_: Trigrams, value: Trigrams, name: str, model: ChainModel) -> bytes:
    return dumps({"n_labels": value.n_labels, "cells": np.diff(value.cells, prepend=0)})


@deserialize_attr.register(Trigrams)
def _deserialize_trigrams(_: Trigrams, value: bytes, name: str, model: ChainModel) -> Trigrams:
    data = loads(value)
    n_labels = stored_size("n_labels", data["n_labels"])
    return Trigrams(n_labels, stored_cells("cells", data["cells"], (n_labels + 1) ** 3))


def _differences(cells: Indices) -> "np.ndarray[Any, np.dtype[np.signedinteger]]":
    """Cells as small differences: ascending cells fit 16 bits, others need more."""
    steps = np.diff(cells, prepend=0)
    size = int(np.abs(steps).max(initial=0))
    return steps.astype(np.int16 if size < 1 << 15 else np.int32 if size < 1 << 31 else np.int64)
