"""What a component has learned, as data: its greatest weights, its transitions, and its size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.arrays import Floats, Indices, Ints
from ..core.weights import ChainWeights
from ..features.features import FeatureIndex
from ..learning.model import get_weights
from .component import ChainPipe

EDGE = "(edge)"  # what stands before a sequence and behind it


@dataclass(frozen=True)
class Weight:
    """A weight of a feature: for a label, or with `before` for the transition from there (an edge feature)."""

    feature: str
    label: str
    weight: float
    before: str | None = None


@dataclass(frozen=True)
class Transition:
    """A weight of a pair of labels; `before` is None for the start of a sequence, `after` for its end."""

    before: str | None
    after: str | None
    weight: float

    def __str__(self) -> str:
        return f"{self.before or EDGE} > {self.after or EDGE}"


@dataclass(frozen=True)
class TemplateSize:
    """How much a template contributes to the model.

    features (int): its distinct features. weights (int): their weights. active (int): those that are not 0.
    greatest (float): the greatest absolute weight.
    """

    template: str
    features: int
    weights: int
    active: int
    greatest: float


@dataclass(frozen=True)
class Inspection:
    """What a component has learned.

    highest, lowest (dict[str, list[Weight]]): by label, the features that speak most for and against it.
    likely, unlikely (list[Transition]): the highest and the lowest of those that are allowed.
    edges (list[Weight]): the greatest weights of edge features, by absolute value.
    templates (list[TemplateSize]): in the order of the config.
    n_features, n_edge_features, n_weights, n_active (int): numbers of features and weights; active ones are not 0.
    n_vector_weights (int): weights of vectors, in models with a tok2vec layer.
    precision (str): of the weights that are saved. n_bytes (int): size of it all, the tok2vec layer included.
    """

    component: str
    labels: list[str]
    highest: dict[str, list[Weight]]
    lowest: dict[str, list[Weight]]
    likely: list[Transition]
    unlikely: list[Transition]
    edges: list[Weight]
    templates: list[TemplateSize]
    n_features: int
    n_edge_features: int
    n_weights: int
    n_active: int
    n_vector_weights: int
    precision: str
    n_bytes: int


def inspect(pipe: ChainPipe, top: int = 10) -> Inspection:
    """Inspect a trained component.

    pipe (ChainPipe): the component. top (int): how many weights of each kind to list.
    RETURNS (Inspection): all of it as plain data.
    RAISES (ValueError): for a component without labels.

    >>> import spacy
    >>> from spacy_crf import inspect
    >>> nlp = spacy.load("output/crf_tagger/model-best")  # `make demo` trains it
    >>> found = inspect(nlp.get_pipe("crf_tagger"), top=1)
    >>> [weight.feature for weight in found.highest["DT"]]
    ['LOWER[0]=a']
    """
    pipe.require_labels()
    weights, features = get_weights(pipe.model), pipe.features
    layout = weights.layout
    state_index, edge_index, tags = features.state, features.edge, pipe.tags.tags
    state, _, edges, *_ = layout.split(weights.flat)
    feature, label = np.divmod(layout.state_cells, layout.n_labels)
    by_label = {tag: np.flatnonzero(label == number) for number, tag in enumerate(tags)}

    def listed(positions: Indices, tag: str) -> list[Weight]:
        return [Weight(state_index.name(int(feature[p])), tag, float(state[p])) for p in positions.tolist()]

    transitions = sorted(_transitions(weights, tags), key=lambda found: -found.weight)
    return Inspection(
        component=pipe.name,
        labels=list(tags),
        highest={tag: listed(_first(own, -state[own], top), tag) for tag, own in by_label.items()},
        lowest={tag: listed(_first(own, state[own], top), tag) for tag, own in by_label.items()},
        likely=transitions[:top],
        unlikely=transitions[::-1][:top],
        edges=_edge_weights(weights, edge_index.name, tags, top),
        templates=[
            *_sizes(state_index, feature, state),
            *_sizes(edge_index, layout.edge_cells // layout.n_labels**2, edges),
        ],
        n_features=layout.n_features,
        n_edge_features=layout.n_edge_features,
        n_weights=layout.size,
        n_active=int(np.count_nonzero(weights.flat)),
        n_vector_weights=0 if weights.vectors is None else weights.vectors.size,
        precision=pipe.model.attrs["precision"],
        n_bytes=len(pipe.to_bytes()),
    )


def _first(positions: Indices, keys: Floats, top: int) -> Indices:
    """The positions with the smallest keys below 0, in their order."""
    order = positions[np.argsort(keys, kind="stable")[:top]]
    return order[np.sort(keys)[:top] < 0]


def _transitions(weights: ChainWeights, tags: Sequence[str]) -> list[Transition]:
    """Weights of all allowed transitions, starts and ends that have one."""
    layout = weights.layout
    _, values, _, start, end = layout.split(weights.flat)
    before, after = np.divmod(layout.transition_cells, layout.n_labels)
    pairs = zip(before.tolist(), after.tolist(), values.tolist())
    found = [Transition(tags[a], tags[b], weight) for a, b, weight in pairs if layout.allowed[a, b]]
    found += [Transition(None, tag, w) for tag, w, fine in zip(tags, start.tolist(), layout.allowed_start) if fine]
    found += [Transition(tag, None, w) for tag, w, fine in zip(tags, end.tolist(), layout.allowed_end) if fine]
    return found


def _edge_weights(weights: ChainWeights, name: Callable[[int], str], tags: Sequence[str], top: int) -> list[Weight]:
    layout, values = weights.layout, weights.layout.split(weights.flat)[2]
    chosen = np.argsort(-np.abs(values), kind="stable")[:top]
    found = []
    for cell, weight in zip(layout.edge_cells[chosen].tolist(), values[chosen].tolist()):
        feature, pair = divmod(cell, layout.n_labels**2)
        before, after = divmod(pair, layout.n_labels)
        found.append(Weight(name(feature), tags[after], weight, before=tags[before]))
    return found


def _sizes(index: FeatureIndex, features: Indices, weights: Floats) -> list[TemplateSize]:
    """Sizes of the templates of an index, from the feature (P,) of each weight (P,)."""
    slots: Ints = index.slots
    templates = [str(template) for template in index.templates]
    if templates and not index.separates_templates:
        slots, templates = np.zeros(len(index), dtype=np.int32), ["buckets of all templates"]
    counts = np.bincount(slots, minlength=len(templates)).tolist()
    owners = slots[features]
    sizes = []
    for number, template in enumerate(templates):
        own = np.abs(weights[owners == number])
        active, greatest = int(np.count_nonzero(own)), float(own.max(initial=0.0))
        sizes.append(TemplateSize(template, counts[number], len(own), active, greatest))
    return sizes
