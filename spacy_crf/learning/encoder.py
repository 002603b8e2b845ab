"""A model and its features, growing together while they are trained."""

import ctypes
import itertools
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Optimizer

from ..core.arrays import Bools, Floats, Indices, Segments, cached_property
from ..core.chain.potentials import EdgeObservations
from ..core.errors import CRFWarning
from ..core.labels import Gold, TagSet
from ..core.learn.blocks import EncodedCorpus, PathWeights, WindowedCorpus
from ..core.sparse import SparseRows, stack
from ..core.weights import NONE, Layout
from ..features.columns import Columns
from ..features.extract import FeatureExtractor, Keys
from ..features.features import Features
from .errors import LearningWarnings
from .model import ChainModel, get_layout, get_weights, set_weights


@dataclass(frozen=True)
class Sample:
    """Columns of some Docs, with the gold of the units; feature keys are computed when they are asked for.

    backprop (Callable | None): takes the gradient of the loss by the columns' vectors.
    mask ((N, L) | None): -inf for labels that are ruled out, 0 for the others.
    paths (Callable | None): makes the weights of labellings beside their scores, when they are asked for.
    """

    columns: Columns
    gold: Gold
    extractor: FeatureExtractor
    backprop: Callable[[Floats], None] | None = None
    mask: Floats | None = None
    paths: Callable[[], PathWeights] | None = None

    @cached_property
    def state(self) -> Keys:
        """Keys of the state features."""
        return self.extractor.keys(self.columns, self.extractor.state_templates)

    @cached_property
    def edge(self) -> Keys:
        """Keys of the edge features."""
        return self.extractor.keys(self.columns, self.extractor.edge_templates)


def unnamed(doc: Doc) -> str:
    """Tell of no Doc that it is a part of a document."""
    return ""


class ChainLearner:
    """What a trainer works on: name and labels of a component, labels of the chain, features and weights; and the name
    of the document that a Doc is a part of, "" for a document of its own."""

    def __init__(
        self,
        name: str,
        labels: tuple[str, ...],
        tags: TagSet,
        features: Features,
        model: ChainModel,
        document_of: Callable[[Doc], str] = unnamed,
    ):
        self.name, self.labels, self.tags = name, labels, tags
        self.features, self.model = features, model
        self.document_of = document_of
        self._known: dict[int, _Bitmap] = {}  # by section

    def grow(self, sample: Sample, counted: Bools | None = None) -> None:
        """Number the new features of a sample. counted ((N,) | None): units that count for `min_count`; all without."""
        padding = self.features.config.padding
        self.features.state.grow(sample.state, sample.columns, padding, counted)
        self.features.edge.grow(sample.edge, sample.columns, padding, counted)

    def encode(self, sample: Sample) -> EncodedCorpus:
        """Sequences as sparse rows of the known features."""
        state, edge = self.features.state, self.features.edge
        edges = group_edges(edge.encode(sample.edge)) if edge.templates else None
        slots = state.slots if state.separates_templates else None
        paths, encoded = sample.paths and sample.paths(), state.encode(sample.state)
        return EncodedCorpus(sample.columns.lengths, encoded, sample.gold, edges, slots, sample.mask, paths)

    def warn_of_unseen_labels(self, corpus: WindowedCorpus) -> None:
        """Name the labels that gold never has; only a trainer with the whole corpus can tell."""
        counts = np.zeros(len(self.tags), dtype=np.intp)
        for window in corpus.windows():
            counts += count_labels(window.gold, len(self.tags))
        unseen = [label for label in self.labels if not counts[self.tags.tags_of(label)].any()]
        if unseen:
            message = LearningWarnings.CRFW401.format(name=self.name, labels=", ".join(unseen))
            warnings.warn(message, CRFWarning, stacklevel=2)

    def add_weights(self, corpus: WindowedCorpus) -> None:
        """Give weights to the pairs of feature and label, and of labels, that a corpus shows, or to all on request."""
        layout, n = get_layout(self.model), get_layout(self.model).n_labels
        n_features, n_edges = len(self.features.state), len(self.features.edge)
        sizes = (n_features * n, n * n, n_edges * n * n)
        known = [self._with_weights(section, cells) for section, cells in enumerate(layout.cells[:3])]
        found: list[list[Indices]] = [[NONE], [NONE], [NONE]]
        for asked in itertools.chain([self._asked(layout)], map(self._shown, corpus.windows())):
            for more, own, cells, size in zip(found, known, asked, sizes):
                more.append(own.add(cells, size))
        added = [np.sort(np.concatenate(cells)) for cells in found]
        if any(map(len, added)) or (n_features, n_edges) != (layout.n_features, layout.n_edge_features):
            set_weights(self.model, get_weights(self.model).extended(n_features, n_edges, *added))

    def _asked(self, layout: Layout) -> tuple[Indices, Indices, Indices]:
        """Cells of weights that the settings ask for, whatever gold shows: state, transitions, edges."""
        attrs, n, allowed = self.model.attrs, layout.n_labels, np.flatnonzero(layout.allowed)
        state, transitions, edges = NONE, NONE, NONE
        if attrs["all_states"]:
            state = _rest(layout.state_cells, layout.n_features, len(self.features.state), np.arange(n), n)
        if attrs["all_transitions"] and attrs.get("transitions", True):
            transitions = allowed
        if attrs.get("all_edges", False):
            edges = _rest(layout.edge_cells, layout.n_edge_features, len(self.features.edge), allowed, n * n)
        return state, transitions, edges

    def _shown(self, corpus: EncodedCorpus) -> tuple[Indices, Indices, Indices]:
        """Cells of weights that gold makes possible, where the settings do not ask for all of them."""
        attrs, n = self.model.attrs, get_layout(self.model).n_labels
        pairs = _label_pairs(corpus, n)
        state = NONE if attrs["all_states"] else _seen_cells(corpus, n)
        transitions = pairs[1] if attrs.get("transitions", True) and not attrs["all_transitions"] else NONE
        if corpus.edges is None or attrs.get("all_edges", False):
            return state, transitions, NONE
        return state, transitions, _edge_cells(corpus.edges, *pairs, n)

    def _with_weights(self, section: int, present: Indices) -> "_Bitmap":
        """Which cells of a section have a weight: those that are present."""
        known = self._known.get(section)
        if known is None or known.count != len(present):
            known = self._known[section] = _Bitmap(present)
        return known

    def __getstate__(self) -> dict[str, Any]:
        """Without the bitmaps, which are made from the model when they are missing."""
        return {**self.__dict__, "_known": {}}


MakeSample = Callable[[Sequence[Example]], Sample]
MALLOC_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None  # of some C libraries
TOKENS_PER_SAMPLE = 50_000  # work arrays of a sample take some kB for each token


def sample_batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Yield runs of examples that make a sample each."""
    batch, n_tokens = list[Example](), 0
    for example in examples:
        batch.append(example)
        n_tokens += len(example.predicted)
        if n_tokens >= TOKENS_PER_SAMPLE:
            yield batch
            batch, n_tokens = [], 0
    if batch:
        yield batch


class Trainer(ABC):
    """Turns examples into weights.

    `accumulate` is called by `update` of the component, `apply` by `finish_update`; accumulated sub-batches are one
    step. Copies have the settings alone: what belongs to a run stays in the process that trains.

    learns_vectors (bool): whether it can train a model with a tok2vec layer, which wants gradients batch by batch.
    learns_trigrams (bool): whether it can train a model of order 2.
    learns_constrained (bool): whether it heeds the weights of paths.
    warns_of_unseen (bool): whether to warn of labels without an example, which are no wonder in a part of a corpus.
    stopped (dict | None): the state of a run that is to go on, until it does.
    read (Callable | None): reads samples of the whole corpus, one after the other; for trainers with a cache.
    """

    learns_vectors: bool = False
    learns_trigrams: bool = False
    learns_constrained: bool = False
    warns_of_unseen: bool = True
    stopped: dict[str, Any] | None = None
    read: Callable[[], Iterator[Sample]] | None = None

    def __init__(self, settings: Any):
        self.settings = settings
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings,)

    @abstractmethod
    def accumulate(self, learner: ChainLearner, examples: Sequence[Example], make_sample: MakeSample) -> float:
        """Take in a batch, and return its loss at the present weights."""

    @abstractmethod
    def apply(self, learner: ChainLearner, sgd: Optimizer | None) -> None:
        """Take one step with everything taken in since the last one."""

    @abstractmethod
    def reset(self) -> None:
        """Forget everything that belongs to a run."""

    @property
    def is_running(self) -> bool:
        """Whether a run holds its work arrays, so that others should take little memory."""
        return False

    def state(self, learner: ChainLearner) -> dict[str, Any] | None:
        """Return what a run needs, beside features and weights, to go on after its last step; None for no run."""
        return self.stopped

    def resume(self, state: dict[str, Any]) -> None:
        """Go on where another run had a state, with the features and weights that it had, at the next batch."""
        self.stopped = state


class _Bitmap:
    """Which of all cells have a weight, a bit each: makes finding new ones linear. The present ones are distinct."""

    def __init__(self, present: Indices):
        self.count = 0
        self._bits = np.zeros(0, dtype=np.uint8)
        self.add(present, int(present.max(initial=-1)) + 1)

    def add(self, cells: Indices, size: int) -> Indices:
        """Set cells, all below a size, and return those that were not set before, ascending."""
        missing = -(-size // 8) - len(self._bits)
        if missing > 0:
            self._bits = np.pad(self._bits, (0, max(missing, len(self._bits) // 2)))
        fresh = np.unique(cells[self._bits[cells >> 3] >> (cells & 7).astype(np.uint8) & 1 == 0])
        np.bitwise_or.at(self._bits, fresh >> 3, np.left_shift(1, fresh & 7).astype(np.uint8))
        self.count += len(fresh)
        return fresh


def release_memory() -> None:
    """Give the system back what this process has freed, where its C library can: temporary arrays leave gaps."""
    if MALLOC_TRIM is not None:
        MALLOC_TRIM(0)


def group_edges(features: SparseRows) -> EdgeObservations:
    """Edge features of units, shared by those that have the same."""
    sizes = np.diff(features.indptr)
    width = int(sizes.max(initial=0))
    table = np.full((features.n_rows, width), -1, dtype=np.int32)
    column = np.arange(len(features.indices)) - np.repeat(features.indptr[:-1], sizes)
    table[features.row_numbers(), column] = features.indices
    rows = [table]
    if features.values is not None:
        values = np.zeros(table.shape, dtype=np.float32)
        values[features.row_numbers(), column] = features.values
        rows.append(values.view(np.int32))
    _, firsts, groups = np.unique(np.hstack(rows), axis=0, return_index=True, return_inverse=True)
    return EdgeObservations(features.take(firsts), groups.reshape(-1).astype(np.intp))


def _rest(present: Indices, n_known: int, n_features: int, columns: Indices, width: int) -> Indices:
    """Cells `feature * width + column` of all features, or of new ones where those known before have all of theirs."""
    is_full = len(present) == n_known * len(columns)  # not so after labels were added
    features = np.arange(n_known if is_full else 0, n_features)
    return (features[:, None] * width + columns).reshape(-1)


def _seen_cells(corpus: EncodedCorpus, n_labels: int) -> Indices:
    """Cells `feature * L + label` of the pairs that gold makes possible."""
    units, labels = corpus.gold.seen_pairs()
    rows = corpus.features.take(units)
    return rows.indices.astype(np.intp) * n_labels + np.repeat(labels, np.diff(rows.indptr))


def _label_pairs(corpus: EncodedCorpus, n_labels: int) -> tuple[Indices, Indices]:
    """Units, not the first of their sequence, and cells `from * L + to` of the transitions that gold makes possible."""
    inner = np.ones(len(corpus.gold.labels), dtype=bool)
    inner[corpus.segments.openings] = False
    units, labels = corpus.gold.seen_pairs()
    order = np.argsort(units, kind="stable")
    units, labels = units[order], labels[order].astype(np.intp)
    low = np.searchsorted(units, units - 1, side="left")
    pairs = Segments(np.where(inner[units], np.searchsorted(units, units - 1, side="right") - low, 0))
    after = pairs.owners
    return units[after], labels[pairs.at(low)] * n_labels + labels[after]


def _edge_cells(edges: EdgeObservations, units: Indices, pairs: Indices, n_labels: int) -> Indices:
    """Cells `(edge feature * L + from) * L + to` of the transitions seen with each edge feature."""
    square = n_labels * n_labels
    distinct = np.unique(edges.groups[units] * square + pairs)
    rows = edges.features.take(distinct // square)
    return rows.indices.astype(np.intp) * square + np.repeat(distinct % square, np.diff(rows.indptr))


def count_labels(gold: Gold, n_labels: int) -> Indices:
    """((L,)): how often each label is the gold label, or may be."""
    return np.bincount(gold.seen_pairs()[1], minlength=n_labels)


def join(corpora: Sequence[EncodedCorpus]) -> EncodedCorpus:
    """Corpora one after the other, the last of which knows all features."""
    if len(corpora) == 1:
        return corpora[0]
    golds = [corpus.gold for corpus in corpora]
    units = Segments.of(gold.labels for gold in golds).firsts
    rows = [gold.rows + unit for gold, unit in zip(golds, units)]
    gold = Gold(*map(np.concatenate, ([gold.labels for gold in golds], rows, [gold.weights for gold in golds])))
    edges = None
    if parts := [corpus.edges for corpus in corpora if corpus.edges is not None]:
        firsts = np.cumsum([0] + [part.features.n_rows for part in parts])
        groups = np.concatenate([part.groups + first for part, first in zip(parts, firsts)])
        again = group_edges(stack([part.features for part in parts], parts[-1].features.n_columns))
        edges = EdgeObservations(again.features, again.groups[groups])
    features = stack([corpus.features for corpus in corpora], corpora[-1].features.n_columns)
    lengths = np.concatenate([corpus.lengths for corpus in corpora])
    scores = [corpus.scores for corpus in corpora if corpus.scores is not None]
    weighed = [corpus.paths for corpus in corpora if corpus.paths is not None]
    paths, masks = weighed[0].joined(weighed[1:]) if weighed else None, np.concatenate(scores) if scores else None
    return EncodedCorpus(lengths, features, gold, edges, corpora[-1].slots, masks, paths)
