"""From Python data to what training works on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from ..core.arrays import Doubles
from ..core.errors import CRFError
from ..core.gold import Gold
from ..core.learn.blocks import EncodedCorpus
from ..core.weights import ChainWeights, Layout
from .errors import EstimatorErrors
from .items import UNKNOWN, Known, Numbering, encode_items, encode_labels
from .layouts import seen_layout
from .log import Scores, score_labels
from .slots import find_slots
from .weights import FittedChain


@dataclass(frozen=True)
class Prepared:
    """What training works on.

    corpus (EncodedCorpus): encoded. layout (Layout): which weights there are to learn.
    attributes (list[str]), labels (list[str]): by number.
    """

    corpus: EncodedCorpus
    layout: Layout
    attributes: list[str]
    labels: list[str]


def prepare(X: Iterable[Any], y: Iterable[Any], settings: Mapping[str, Any]) -> Prepared:
    """Encode training data; attributes that have no weights are left out.

    settings (Mapping): as `read_settings` returns them.
    RAISES (ValueError): for malformed data, or none.
    """
    numbering, labels = Numbering(), Numbering()
    items = encode_items(X, numbering.__getitem__)
    gold = encode_labels(y, items.lengths, labels.__getitem__)
    if not len(gold):
        raise CRFError(EstimatorErrors.CRF705)
    attributes, features = list(numbering), items.features(len(numbering))
    if features.values is not None:
        features = replace(features, values=features.values.astype(np.float32))
    wanted = [settings[name] for name in ("min_freq", "all_possible_states", "all_possible_transitions")]
    layout = seen_layout(items.lengths, features, gold, len(labels), *wanted)
    used = ChainWeights(layout, np.ones(layout.size)).pruned()
    if not used.features.all():
        layout = used.weights.layout
        numbers = np.where(used.features, np.cumsum(used.features) - 1, UNKNOWN).astype(np.int32)
        kept = np.flatnonzero(used.features[features.indices])
        features = features.select(kept, numbers[features.indices[kept]], layout.n_features)
        attributes = list(compress(attributes, used.features.tolist()))
    corpus = EncodedCorpus(
        items.lengths, features, Gold.known(gold, len(labels)), slots=find_slots(attributes, features)
    )
    return Prepared(corpus, layout, attributes, list(labels))


class DevData:
    """Held-out data, encoded once. Called with weights, it gives their scores.

    prepared (Prepared): the training data, whose attributes and labels are known.
    """

    def __init__(self, X: Iterable[Any], y: Iterable[Any], prepared: Prepared, n_threads: int):
        known = Known(zip(prepared.attributes, range(len(prepared.attributes))))
        labels = Known(zip(prepared.labels, range(len(prepared.labels))))
        self._chain = FittedChain(prepared.labels, known, ChainWeights.zeros(prepared.layout, np.float64))
        self._items, self._n_threads = encode_items(X, known.__getitem__), n_threads
        self._gold = encode_labels(y, self._items.lengths, labels.__getitem__)

    def __call__(self, flat: Doubles) -> Scores:
        weights = ChainWeights(self._chain.weights.layout, flat)
        predicted = replace(self._chain, weights=weights).best(self._items, self._n_threads)
        return score_labels(self._gold, predicted, self._items.lengths, self._chain.labels)
