"""The thinc Model that holds the weights of a linear-chain CRF.

It is a container: serialisation, `use_params`, resuming and `finish_update` come from thinc, the mathematics from core.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import Model, NumpyOps, glorot_uniform_init
from thinc.types import Floats1d, Floats2d

from ..core.arrays import Bools, Floats, Indices
from ..core.chain.observations import Observations, potentials
from ..core.chain.potentials import ChainPotentials
from ..core.errors import CRFError
from ..core.labels import TagSet
from ..core.trigrams import no_trigrams
from ..core.weights import DenseWeights, Layout, gather, scatter
from .errors import LearningErrors
from .layouts import empty_layout
from .trigrams import (
    TRIGRAMS,
    forget_trigrams,
    get_pruning,
    get_trigrams,
    is_second_order,
    set_trigrams,
    trigram_weights,
)

ChainModel = Model[Observations, ChainPotentials]
Tok2Vec = Model[list[Doc], list[Floats2d]]
VECTORS = "vectors"  # (width, L): scores of vectors, in models with a tok2vec layer
Precision = Literal["float32", "float16"]
PARAMS = ("state", "transitions", "edges", "start", "end")  # the sections of a flat vector, in order


@registry.architectures("spacy_crf.LinearChain.v1")
def LinearChain(
    boundary: bool = True,
    all_states: bool = False,
    all_transitions: bool = False,
    tok2vec: Tok2Vec | None = None,
    precision: Precision = "float32",
    order: Literal[1, 2] = 1,
    candidates: float = 0.001,
    max_candidates: int = 8,
) -> ChainModel:
    """A linear-chain CRF over sparse features and, on request, over vectors of the tokens.

    boundary (bool): learn how likely each label is to start and to end a sequence.
    all_states (bool): weights for every pair of feature and label instead of those seen in training; lets a feature
        speak against labels it never came with, at the cost of L weights for each feature.
    all_transitions (bool): weights for every allowed pair of labels instead of those seen in training.
    tok2vec (Model | None): gives vectors x to the tokens, own or a listener; emissions are then sparse features times
        weights plus x times V, learned end to end by spacy_crf.AdaGrad.v1 or spacy_crf.Minibatch.v1.
    precision (str): of the weights in files: "float16" halves them and keeps three digits. In memory they are float32;
        a tok2vec layer is stored as it is.
    order (int): 2 adds a weight for each trigram of labels seen in training, the edges of a sequence being labels too;
        spacy_crf.LBFGS.v1 learns these weights after all others. Probabilities of spans, lists of the best sequences,
        explanations and fitted temperatures are for order 1 only.
    candidates (float), max_candidates (int): labels of a token that a chain of order 2 looks at: those whose
        probability under the first-order weights is at least so much, and at most so many; the others get the
        probability 0. With k candidates each, a token takes k^3 operations.
    RETURNS (Model[Observations, ChainPotentials]): the model, without weights until it is trained.
    RAISES (ValueError): for order 2 with a tok2vec layer, or candidates out of their range.
    """
    if order == 2 and tok2vec is not None:
        raise CRFError(LearningErrors.CRF437)
    params = [*PARAMS, *([] if tok2vec is None else [VECTORS]), *([TRIGRAMS] if order == 2 else [])]
    model: ChainModel = Model(
        "linear_chain",
        forward,
        init=init,
        params=dict.fromkeys(params),
        layers=[] if tok2vec is None else [tok2vec],
        refs={} if tok2vec is None else {"tok2vec": tok2vec},
        attrs={
            "layout": empty_layout(0, boundary),
            "all_states": all_states,
            "all_transitions": all_transitions,
            "precision": precision,
            "resize_output": resize_labels,
            "order": order,
            "candidates": candidates,
            "max_candidates": max_candidates,
            TRIGRAMS: no_trigrams(0),
        },
        ops=NumpyOps(),
    )
    get_pruning(model)  # refuses values out of their range
    return model


def forward(
    model: ChainModel, observations: Observations, is_train: bool
) -> tuple[ChainPotentials, Callable[[DenseWeights], Observations]]:
    """Log potentials of a batch; the backward pass takes expected minus gold counts as dense weights."""

    def backprop(counts: DenseWeights) -> Observations:
        layout = get_layout(model)
        flat = np.empty(layout.size, dtype=np.float32)
        gather(layout, counts, flat)
        for name, section in zip(PARAMS, layout.split(flat)):
            model.inc_grad(name, cast(Floats1d, section))
        return observations

    return potentials(observations, dense_weights(model), get_layout(model)), backprop


def init(model: ChainModel, X: Any = None, Y: Any = None) -> None:
    """Zero weights for the layout at hand."""
    set_flat_weights(model, np.zeros(get_layout(model).size, dtype=np.float32))


def get_tok2vec(model: ChainModel) -> Tok2Vec | None:
    """The layer that gives vectors to tokens, None where there is none."""
    return model.get_ref("tok2vec") if model.has_ref("tok2vec") else None


def vector_weights(model: ChainModel) -> Floats | None:
    """((width, L)): the scores of vectors; None without a tok2vec layer."""
    if not model.has_param(VECTORS):
        return None
    weights: Floats = np.asarray(model.get_param(VECTORS))
    return weights


def start_vectors(model: ChainModel, docs: list[Doc], silent: bool = False) -> None:
    """Initialise the tok2vec layer, and the scores of its vectors at random.

    docs (list[Doc]): a sample that shows its shapes. silent (bool): let vectors score 0, beside features that do score.
    """
    tok2vec = get_tok2vec(model)
    if tok2vec is not None:
        tok2vec.initialize(X=docs)
        shape = (tok2vec.get_dim("nO"), get_layout(model).n_labels)
        model.set_param(VECTORS, model.ops.alloc2f(*shape) if silent else glorot_uniform_init(model.ops, shape))


def copy_vectors(model: ChainModel, other: ChainModel) -> None:
    """Take the tok2vec layer of another model and the scores of its vectors, where both have them."""
    ours, theirs, scores = get_tok2vec(model), get_tok2vec(other), vector_weights(other)
    if ours is not None and theirs is not None and scores is not None:
        ours.from_bytes(theirs.to_bytes())
        model.set_param(VECTORS, cast(Floats2d, scores.copy()))


def scale_vectors(model: ChainModel, factor: float) -> None:
    """Multiply the scores of vectors, where there are any."""
    scores = vector_weights(model)
    if scores is not None:
        model.set_param(VECTORS, cast(Floats2d, scores * np.float32(factor)))


def get_layout(model: ChainModel) -> Layout:
    """Which weights the model has."""
    layout: Layout = model.attrs["layout"]
    return layout


def start_layout(model: ChainModel, tags: TagSet, allowed: tuple[Bools, Bools, Bools]) -> None:
    """Forget all weights and begin with a set of tags.

    allowed (tuple): transitions (L, L), starts (L,), ends (L,) that are not forbidden.
    """
    layout = empty_layout(len(tags), get_layout(model).boundary)
    model.attrs["layout"] = _with_masks(layout, allowed)
    forget_trigrams(model, len(tags))
    init(model)


def set_masks(model: ChainModel, allowed: tuple[Bools, Bools, Bools]) -> None:
    """Set what the scheme and the user allow."""
    model.attrs["layout"] = _with_masks(get_layout(model), allowed)


def flat_weights(model: ChainModel) -> Floats:
    """((size,)): all weights in one vector."""
    return np.concatenate([model.get_param(name) for name in PARAMS])


def set_flat_weights(model: ChainModel, flat: Floats) -> None:
    """Replace all weights."""
    for name, section in zip(PARAMS, get_layout(model).split(flat.astype(np.float32))):
        model.set_param(name, cast(Floats1d, section.copy()))


def take_weights(model: ChainModel, other: ChainModel, n_labels: int) -> None:
    """Begin with the weights of another model, without those of its vectors.

    Start and end weights that only one of both models has are left out, or begin at 0.

    n_labels (int): labels from now on; the first ones are those of the other model.
    """
    layout = get_layout(other)
    state, transitions, edges, *boundary = layout.split(flat_weights(other))
    wanted = replace(layout, boundary=get_layout(model).boundary)
    if wanted.boundary and not layout.boundary:
        boundary = [np.zeros(layout.n_labels, dtype=np.float32)] * 2
    model.attrs["layout"] = wanted
    set_flat_weights(model, np.concatenate([state, transitions, edges, *(boundary if wanted.boundary else ())]))
    if is_second_order(model):
        set_trigrams(model, get_trigrams(other), trigram_weights(other))
    resize_labels(model, n_labels)


def dense_weights(model: ChainModel) -> DenseWeights:
    """The weights as dense arrays, for inference."""
    layout = get_layout(model)
    dense = DenseWeights.zeros(layout)
    scatter(layout, flat_weights(model), dense)
    return dense


def extend(
    model: ChainModel,
    n_features: int,
    n_edge_features: int,
    state_cells: Indices,
    transition_cells: Indices,
    edge_cells: Indices,
) -> None:
    """Add weights of value 0 behind the present ones of each section.

    n_features (int), n_edge_features (int): new numbers of features.
    state_cells, transition_cells, edge_cells: cells that have no weight yet (see `Layout`).
    """
    old = get_layout(model)
    added = (state_cells, transition_cells, edge_cells)
    if n_features == old.n_features and n_edge_features == old.n_edge_features and not any(map(len, added)):
        return
    model.attrs["layout"] = replace(
        old,
        n_features=n_features,
        n_edge_features=n_edge_features,
        state_cells=np.concatenate([old.state_cells, state_cells]),
        transition_cells=np.concatenate([old.transition_cells, transition_cells]),
        edge_cells=np.concatenate([old.edge_cells, edge_cells]),
    )
    for name, cells in zip(PARAMS, added):
        if len(cells):
            _lengthen(model, name, len(cells))


def resize_labels(model: ChainModel, n_labels: int) -> ChainModel:
    """Make room for labels behind the present ones; the weights of the others stay."""
    old = get_layout(model)
    before = old.n_labels
    feature, label = np.divmod(old.state_cells, before)
    edge, pair = np.divmod(old.edge_cells, before * before)

    def moved(pairs: Indices) -> Indices:
        first, second = np.divmod(pairs, before)
        return first * n_labels + second

    model.attrs["layout"] = replace(
        empty_layout(n_labels, old.boundary),
        n_features=old.n_features,
        n_edge_features=old.n_edge_features,
        state_cells=feature * n_labels + label,
        transition_cells=moved(old.transition_cells),
        edge_cells=edge * n_labels * n_labels + moved(pair),
    )
    model.attrs[TRIGRAMS] = get_trigrams(model).resized(n_labels)
    if old.boundary:
        for name in ("start", "end"):
            _lengthen(model, name, n_labels - before)
    vectors = vector_weights(model)
    if vectors is not None:
        model.set_param(VECTORS, cast(Floats2d, np.pad(vectors, ((0, 0), (0, n_labels - before)))))
    return model


def _lengthen(model: ChainModel, name: str, count: int) -> None:
    """Add weights of 0 behind those of a section."""
    weights = cast(Floats1d, model.get_param(name))
    model.set_param(name, cast(Floats1d, np.concatenate([weights, np.zeros(count, dtype=weights.dtype)])))


def _with_masks(layout: Layout, allowed: tuple[Bools, Bools, Bools]) -> Layout:
    return replace(layout, allowed=allowed[0], allowed_start=allowed[1], allowed_end=allowed[2])
