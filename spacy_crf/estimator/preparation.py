"""From Python data to what training works on: encoded items, the weights that there are to learn, held-out data,
and what the learned weights predict.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, compress, count
from typing import Any, NamedTuple, Self

import numpy as np

from ..core.arrays import Bools, Doubles, Indices, Ints, Segments
from ..core.chain.distribution import ChainDistribution
from ..core.chain.potentials import observe, potentials
from ..core.errors import CRFError
from ..core.labels import Gold
from ..core.learn.blocks import EncodedCorpus
from ..core.learn.single import SingleDecoder
from ..core.sparse import SparseRows
from ..core.threads import run_parallel
from ..core.weights import ChainWeights, Layout
from .errors import EstimatorErrors
from .items import UNKNOWN, Items, Known, Numbering, encode_items, require_sequences

MOST_SLOTS = 64
Scores = dict[str, Any]
_STEM = re.compile(r"[^=:]*[=:]?")  # "w[-1]|w[0]=new|york" has the stem "w[-1]|w[0]=", "-1:postag:NN" has "-1:"
UNITS_PER_PART = 20_000


@dataclass(frozen=True)
class FittedChain:
    """A linear chain over attribute strings, with weights in double precision."""

    labels: list[str]
    attributes: Known
    weights: ChainWeights

    @classmethod
    def without_zeros(cls, labels: list[str], attributes: Iterable[str], weights: ChainWeights) -> Self:
        """Leave out the weights that are 0, and the attributes that have no other.

        attributes (Iterable[str]): by number. weights (ChainWeights): all of them.
        """
        pruned = weights.pruned()
        names = compress(attributes, pruned.features.tolist())
        known = Known(zip(names, range(pruned.weights.layout.n_features)))
        return cls(labels, known, pruned.weights.astype(np.float64))

    def decode(self, X: Iterable[Any], n_threads: int) -> list[list[str]]:
        """The best labels of each sequence."""
        items = encode_items(X, self.attributes)
        labels = list(map(self.labels.__getitem__, self.best(items, n_threads).tolist()))
        return [labels[own] for own in Segments(items.lengths).slices()]

    def best(self, items: Items, n_threads: int) -> Ints:
        """((N,)): numbers of the best labels."""
        if len(items.lengths) == 1 and items.n_items:  # four times faster than a batch of one
            return SingleDecoder(self.weights.dense, self.weights.layout)(self._features(items), None)
        return self._by_part(items, ChainDistribution.best, n_threads)

    def accuracy(self, X: Iterable[Any], y: Iterable[Any], n_threads: int) -> float:
        """Share of the items whose best label is the given one."""
        items = encode_items(X, self.attributes)
        numbers = Known(zip(self.labels, range(len(self.labels))))
        gold = encode_labels(y, items.lengths, numbers.__getitem__)
        return float((gold == self.best(items, n_threads)).mean()) if len(gold) else 0.0

    def marginals(self, X: Iterable[Any], n_threads: int) -> list[list[dict[str, float]]]:
        """For each item of each sequence, the probability of each label."""
        items = encode_items(X, self.attributes)
        found = self._by_part(items, lambda distribution: distribution.marginals, n_threads)
        by_item = [dict(zip(self.labels, row)) for row in found.tolist()]
        return [by_item[own] for own in Segments(items.lengths).slices()]

    def _by_part(self, items: Items, ask: Callable[[ChainDistribution], Any], n_threads: int) -> Any:
        """Ask what the chains of runs of whole sequences say, on threads, and put the rows behind each other."""
        layout, features, bounds = self.weights.layout, self._features(items), Segments(items.lengths).bounds
        cuts = np.flatnonzero(np.diff(bounds[1:] // UNITS_PER_PART, prepend=-1)).tolist()
        parts = list(zip(cuts, [*cuts[1:], len(items.lengths)]))
        dense = self.weights.dense  # once, not on each thread

        def run(part: tuple[int, int]) -> Any:
            first, last = part
            units = features.slice(int(bounds[first]), int(bounds[last]))
            chains = potentials(observe(items.lengths[first:last], units), dense, layout)
            return ask(ChainDistribution(chains))

        found = run_parallel(run, parts, n_threads if len(parts) > 1 else 1)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int32)

    def _features(self, items: Items) -> SparseRows:
        return items.nonzero().features(self.weights.layout.n_features)


@dataclass(frozen=True)
class Prepared:
    """What training works on; the layout tells which weights there are to learn."""

    corpus: EncodedCorpus
    layout: Layout
    attributes: list[str]
    labels: list[str]


def prepare(X: Iterable[Any], y: Iterable[Any], settings: Mapping[str, Any]) -> Prepared:
    """Encode training data, by settings as `read_settings` returns them; attributes without weights are left out.

    RAISES (ValueError): for malformed data, or none.
    """
    numbering, labels = Numbering(), Numbering()
    items = encode_items(X, numbering)
    gold = encode_labels(y, items.lengths, labels.__getitem__)
    if not len(gold):
        raise CRFError(EstimatorErrors.CRF705)
    attributes, features = list(numbering), items.features(len(numbering))
    layout = seen_layout(items.lengths, features, gold, len(labels), settings)
    if features.values is not None:
        features = replace(features, values=features.values.astype(np.float32))
    used = ChainWeights(layout, np.ones(layout.size)).pruned()
    if not used.features.all():
        layout = used.weights.layout
        numbers = np.where(used.features, np.cumsum(used.features) - 1, UNKNOWN).astype(np.int32)
        kept = np.flatnonzero(used.features[features.indices])
        features = features.select(kept, numbers[features.indices[kept]], layout.n_features)
        attributes = list(compress(attributes, used.features.tolist()))
    slots = find_slots(attributes, features)
    corpus = EncodedCorpus(items.lengths, features, Gold.known(gold, len(labels)), slots=slots)
    return Prepared(corpus, layout, attributes, list(labels))


def seen_layout(
    lengths: Indices, features: SparseRows, labels: Ints, n_labels: int, settings: Mapping[str, Any]
) -> Layout:
    """Weights of the pairs of attribute and label, and of adjacent labels, that CRFsuite generates. O(nnz + F L).

    Pairs that occur less often than `min_freq` have no weight; an attribute counts with its value, so that the sum may
    be below 0, and pairs that do not occur, which `all_possible_states` and `.._transitions` ask for, have 0.
    """
    all_states, all_transitions = settings["all_possible_states"], settings["all_possible_transitions"]
    min_freq = settings["min_freq"]
    pairs = features.indices.astype(np.intp) * n_labels + labels[features.row_numbers()]
    inner = np.ones(len(labels), dtype=bool)
    inner[Segments(lengths).openings] = False
    after = np.flatnonzero(inner)
    steps = labels[after - 1].astype(np.intp) * n_labels + labels[after]
    values = None if features.values is None else features.values.astype(np.float64)
    return replace(
        Layout.empty(n_labels, boundary=False, n_features=features.n_columns),
        state_cells=_cells(pairs, values, features.n_columns * n_labels, min_freq, all_states),
        transition_cells=_cells(steps, None, n_labels * n_labels, min_freq, all_transitions),
    )


def _cells(pairs: Indices, values: Doubles | None, size: int, min_freq: float, everything: bool) -> Indices:
    """Cells that are frequent enough, ascending."""
    kept = np.full(size, everything)
    kept[pairs] = True
    if values is not None or min_freq > 0:
        kept &= np.bincount(pairs, weights=values, minlength=size) >= min_freq
    return np.flatnonzero(kept)


def find_slots(attributes: list[str], features: SparseRows) -> Ints | None:
    """((F,) | None): slots of attributes, such that an item has at most one of each; None where strings show none.

    A slot stands for the template that the attributes come from: what lets the objective score implied features once.
    O(nnz).
    """
    if features.values is not None or not attributes:
        return None
    stems = _stems(attributes)
    slots = _number(stems)
    clashing = _clashing(slots, features)
    if clashing is not None and clashing.any():  # affixes of several lengths, or keys with two separators
        pairs = zip(stems, attributes, clashing[slots].tolist())
        slots = _number([_finer(stem, string) if clashes else stem for stem, string, clashes in pairs])
        clashing = _clashing(slots, features)
    return None if clashing is None or clashing.any() else slots


def _stems(strings: list[str]) -> list[str]:
    return [found[0] for found in map(_STEM.match, strings) if found]  # the pattern matches every string


def _finer(stem: str, attribute: str) -> str:
    rest = attribute[len(stem) :]
    inner = _stems([rest])[0]
    return f"{stem}{inner}" if inner != rest else f"{stem}{len(rest)}"


def _number(stems: list[str]) -> Ints:
    return np.fromiter(map(Numbering().__getitem__, stems), dtype=np.int32, count=len(stems))


def _clashing(slots: Ints, features: SparseRows) -> Bools | None:
    """For each slot, whether some item has two attributes of it; None for too many slots."""
    n_slots = int(slots.max()) + 1
    if n_slots > MOST_SLOTS:
        return None
    cells = features.row_numbers() * n_slots + slots[features.indices]
    counts = np.bincount(cells, minlength=features.n_rows * n_slots).reshape(-1, n_slots)
    return np.asarray((counts > 1).any(axis=0))


class LabelScore(NamedTuple):
    """How often a label was right (match), predicted (model) and wanted (ref); None where a share is undefined."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


def score_labels(gold: Ints, predicted: Ints, lengths: Indices, labels: list[str]) -> Scores:
    """Scores of label numbers on held-out data as CRFsuite reports them."""
    right = gold == predicted
    wrong_in = np.add.reduceat(~right, Segments(lengths).openings) if len(gold) else np.zeros(0)
    n, names = len(labels), ("precision", "recall", "f1")
    counts = [np.bincount(part[part >= 0], minlength=n).tolist() for part in (gold[right], predicted, gold)]
    scores = {label: _label_score(*numbers) for label, *numbers in zip(labels, *counts)}
    items = Fraction(int(right.sum()), max(1, len(gold)))
    instances = Fraction(int((wrong_in == 0).sum() + (lengths == 0).sum()), max(1, len(lengths)))
    return {
        "scores": scores,
        **{f"avg_{name}": sum(getattr(score, name) or 0.0 for score in scores.values()) / n for name in names},
        "item_accuracy": items,
        "item_accuracy_float": float(items),
        "instance_accuracy": instances,
        "instance_accuracy_float": float(instances),
    }


def _label_score(match: int, model: int, ref: int) -> LabelScore:
    if not model and not ref:
        return LabelScore(0, 0, 0, None, None, None)
    precision, recall = match / max(1, model), match / max(1, ref)
    total = precision + recall
    return LabelScore(match, model, ref, precision, recall, 2 * precision * recall / total if total else 0.0)


def read_dev(X: Iterable[Any], y: Iterable[Any], prepared: Prepared, n_threads: int) -> Callable[[Doubles], Scores]:
    """Encode held-out data, whose attributes and labels are the training data's; gives scores of weights on it."""
    known = Known(zip(prepared.attributes, range(len(prepared.attributes))))
    labels = Known(zip(prepared.labels, range(len(prepared.labels))))
    items = encode_items(X, known)
    gold = encode_labels(y, items.lengths, labels.__getitem__)

    def evaluate(flat: Doubles) -> Scores:
        chain = FittedChain(prepared.labels, known, ChainWeights(prepared.layout, flat))
        return score_labels(gold, chain.best(items, n_threads), items.lengths, prepared.labels)

    return evaluate


def encode_labels(y: Iterable[Any], lengths: Indices, number: Callable[[str], int]) -> Ints:
    """((N,)): numbers of the labels of all items, one sequence of labels for each sequence of items.

    RAISES (ValueError): for labels that do not fit the items, or that are not strings.
    """
    sequences = label_lists("y", y)
    if len(sequences) != len(lengths):
        raise CRFError(EstimatorErrors.CRF704.format(n_items=len(lengths), n_labels=len(sequences)))
    for position, (labels, expected) in enumerate(zip(sequences, lengths.tolist())):
        if len(labels) != expected:
            raise CRFError(EstimatorErrors.CRF702.format(sequence=position, found=len(labels), expected=expected))
        for label in labels:
            if not isinstance(label, str):
                raise CRFError(EstimatorErrors.CRF703.format(sequence=position, label=label))
    strings = map(str, chain.from_iterable(sequences))
    return np.fromiter(map(number, strings), dtype=np.int32, count=int(lengths.sum()))


def label_lists(name: str, y: Iterable[Any]) -> list[list[Any]]:
    """Return the labels of each sequence.

    RAISES (ValueError): where y, which has that name, holds something else than sequences.
    """
    require_sequences(name, y, "list of labels")
    return list(map(_label_list, count(), y))


def _label_list(position: int, labels: Any) -> list[Any]:
    if not isinstance(labels, Iterable):
        raise CRFError(EstimatorErrors.CRF703.format(sequence=position, label=labels))
    return list(labels)
