"""A model and its features, growing together while they are trained."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab

from .core.gold import UNKNOWN, Gold
from .core.labels import TagSet
from .core.learn.blocks import Corpus
from .core.observations import EdgeObservations
from .core.sparse import SparseRows
from .core.types import Bools, Indices
from .features.columns import Columns
from .features.config import Features
from .features.extract import Keys
from .model import ChainModel, extend, get_layout


@dataclass(frozen=True)
class Sample:
    """Some Docs as feature keys, with their gold.

    columns (Columns): what was read from the Docs. state (Keys), edge (Keys): feature keys of the units.
    gold (Gold): of the units.
    """

    columns: Columns
    state: Keys
    edge: Keys
    gold: Gold


class ChainLearner:
    """What a trainer works on.

    features (Features): extractor and indices. model (Model): weights. vocab (Vocab): of the pipeline.
    tags (TagSet): labels of the chain.
    """

    def __init__(self, features: Features, model: ChainModel, vocab: Vocab, tags: TagSet):
        self.features, self.model, self.vocab, self.tags = features, model, vocab, tags
        self._known: dict[str, Bools] = {}

    def sample(self, docs: Sequence[Doc], gold: Gold) -> Sample:
        """Read Docs and compute their feature keys."""
        extractor = self.features.extractor
        columns = extractor.read(docs, self.vocab)
        state = extractor.keys(columns, extractor.state_templates)
        return Sample(columns, state, extractor.keys(columns, extractor.edge_templates), gold)

    def grow(self, samples: Sequence[Sample]) -> None:
        """Number the new features of samples."""
        padding = self.features.config.padding
        for sample in samples:
            self.features.state.grow(sample.state, sample.columns, self.vocab, padding)
            self.features.edge.grow(sample.edge, sample.columns, self.vocab, padding)

    def encode(self, columns: Columns, state: Keys, edge: Keys, gold: Gold) -> Corpus:
        """Sequences as sparse rows of the known features."""
        edges = None
        if self.features.edge.templates:
            edges = group_edges(self.features.edge.encode(edge))
        return Corpus(columns.lengths, self.features.state.encode(state), gold, edges)

    def add_weights(self, corpus: Corpus) -> None:
        """Give weights to the pairs of feature and label, and of labels, that a corpus shows."""
        layout = get_layout(self.model)
        n, n_features = layout.n_labels, len(self.features.state)
        n_edges = len(self.features.edge)
        pairs = _label_pairs(corpus, n)
        transitions = np.flatnonzero(layout.allowed) if self.model.attrs["all_transitions"] else np.unique(pairs[1])
        if self.model.attrs["all_states"]:
            state = np.arange(layout.n_features * n, n_features * n)
        else:
            state = _seen_cells(corpus, n)
        edge = np.zeros(0, dtype=np.intp)
        if corpus.edges is not None:
            edge = _edge_cells(corpus.edges, *pairs, n)
        extend(
            self.model,
            n_features,
            n_edges,
            self._new("state", state, layout.state_cells, n_features * n),
            self._new("transitions", transitions, layout.transition_cells, n * n),
            self._new("edges", edge, layout.edge_cells, n_edges * n * n),
        )

    def _new(self, section: str, cells: Indices, present: Indices, size: int) -> Indices:
        """Cells, ascending, that have no weight yet. A bitmap over all cells keeps this linear."""
        known = self._known.get(section)
        if known is None or known.sum() != len(present) or len(known) > size:
            known = np.zeros(size, dtype=bool)
            known[present] = True
        if len(known) < size:
            known = np.concatenate([known, np.zeros(max(size - len(known), len(known) // 2), dtype=bool)])
        fresh = np.unique(cells[~known[cells]])
        known[fresh] = True
        self._known[section] = known
        return fresh


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


def _seen_cells(corpus: Corpus, n_labels: int) -> Indices:
    """Cells `feature * L + label` of the pairs that gold makes possible."""
    units, labels = corpus.gold.seen_pairs()
    rows = corpus.features.take(units)
    return rows.indices.astype(np.intp) * n_labels + np.repeat(labels, np.diff(rows.indptr))


def _label_pairs(corpus: Corpus, n_labels: int) -> tuple[Indices, Indices]:
    """Units, not the first of their sequence, and cells `from * L + to` of the transitions that gold makes possible."""
    firsts = np.cumsum(corpus.lengths) - corpus.lengths
    inner = np.ones(len(corpus.gold.labels), dtype=bool)
    inner[firsts[corpus.lengths > 0]] = False
    units, labels = corpus.gold.seen_pairs()
    order = np.argsort(units, kind="stable")
    units, labels = units[order], labels[order].astype(np.intp)
    low = np.searchsorted(units, units - 1, side="left")
    counts = np.where(inner[units], np.searchsorted(units, units - 1, side="right") - low, 0)
    before = np.repeat(low, counts) + np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(units, counts), labels[before] * n_labels + np.repeat(labels, counts)


def _edge_cells(edges: EdgeObservations, units: Indices, pairs: Indices, n_labels: int) -> Indices:
    """Cells `(edge feature * L + from) * L + to` of the transitions seen with each edge feature."""
    square = n_labels * n_labels
    distinct = np.unique(edges.groups[units] * square + pairs)
    rows = edges.features.take(distinct // square)
    return rows.indices.astype(np.intp) * square + np.repeat(distinct % square, np.diff(rows.indptr))


def count_labels(gold: Gold, n_labels: int) -> Indices:
    """((L,)): how often each label is the gold label, or may be."""
    counts = np.bincount(gold.labels[gold.labels != UNKNOWN], minlength=n_labels)
    informative = ~(gold.weights > 0).all(axis=1)
    return np.asarray(counts + (gold.weights[informative] > 0).sum(axis=0), dtype=np.intp)
