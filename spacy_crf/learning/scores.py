"""Scores of units under fixed weights, most of them looked up instead of summed.

Most templates see one value at one offset (LOWER[0], SUFFIX3[-1]). The scores of all features that the same word form
yields at the same offset are added up once and kept: a word seen before costs one row for each offset instead of
twenty features; the remaining templates, conjunctions above all, are extracted as in training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arrays import Floats, Hashes, Indices, PackedBatch, pack
from ..core.chain.distribution import ChainDistribution, distribution
from ..core.chain.edges import EdgeColumns, EdgeTable
from ..core.chain.potentials import ChainPotentials, EdgeObservations, Observations, chain_potentials, observe
from ..core.sparse import ABSENT, HashTable, SparseRows
from ..core.threads import ForkSafeLock
from ..core.weights import ChainWeights, masked
from ..features.columns import Columns
from ..features.extract import Keys, Windows, boundary, template_keys
from ..features.features import Features
from ..features.hashing import string_hash
from ..features.templates import Attribute, Template
from .encoder import group_edges

MAX_BYTES = 64 << 20  # a table that would grow beyond starts over, so that a stream of new words fills no memory


@dataclass(frozen=True)
class Rows:
    """For each of N units the rows, one at each offset, of a table of scores ((R, L)) whose sums are emissions."""

    rows: SparseRows
    scores: Floats


class Emissions:
    """Potentials of Docs under weights of a component that do not change.

    is_compact (bool): keep no dense rows of state weights, most of which are 0; scores are the same, a little slower.
    """

    def __init__(self, features: Features, weights: ChainWeights, name: str = "chain", is_compact: bool = False):
        self.features, self.weights, self.name = features, weights, name
        self._others = (weights.without_state() if is_compact else weights).dense
        self._state: Floats | SparseRows = weights.state_rows if is_compact else self._others.state
        by_source: dict[Attribute | None, list[Template]] = {}
        self._conjunctions: list[Template] = []
        for template in features.extractor.state_templates:
            attribute = template.atoms[0].attribute
            if len(template.atoms) > 1 or attribute.name == "_":  # extensions may have real values
                self._conjunctions.append(template)
            else:
                by_source.setdefault(None if attribute.is_lexical else attribute, []).append(template)
        empty = np.zeros((0, weights.layout.n_labels), dtype=weights.flat.dtype)
        self._tables = [_ScoreTable(source, features, self._state, empty, own) for source, own in by_source.items()]
        self._lock = ForkSafeLock()
        self._edges = EdgeTable.of(self._others.edges, masked(self._others.transitions, weights.layout.allowed))

    def __reduce__(self) -> tuple[type["Emissions"], tuple[Any, ...]]:
        """Without the tables, which fill again; worker processes get a copy of the component."""
        return Emissions, (self.features, self.weights, self.name)

    def look_up(self, columns: Columns) -> list[Rows]:
        """Rows of a batch, one set for each table; values that are new are added up first. Threads take turns."""
        windows = Windows(columns, self.features.config.padding)
        with self._lock:
            return [table.rows(windows) for table in self._tables]

    def distribution(self, columns: Columns, looked_up: Sequence[Rows]) -> ChainDistribution:
        """What the chains of a batch say. See `potentials`."""
        return distribution(self.potentials(columns, looked_up), self.weights, name=self.name)

    def potentials(self, columns: Columns, looked_up: Sequence[Rows]) -> ChainPotentials:
        """Log potentials of a batch, from what `look_up` found for it. O(N L) for each offset and conjunction."""
        extractor, weights = self.features.extractor, self.weights
        emissions: Floats = np.zeros((len(columns.orths), weights.layout.n_labels), dtype=weights.flat.dtype)
        if weights.vectors is not None and columns.vectors is not None:
            emissions += columns.vectors @ weights.vectors
        for found in looked_up:
            found.rows.times(found.scores, out=emissions)
        if self._conjunctions:
            keys = extractor.keys(columns, self._conjunctions)
            self.features.state.encode(keys).times(self._state, out=emissions)
        batch = pack(columns.lengths)
        emissions = emissions.take(batch.units, axis=0)
        edges = self._edge_features(columns, batch)
        return chain_potentials(batch, emissions, edges, self._others, weights.layout)

    def _edge_features(self, columns: Columns, batch: PackedBatch) -> EdgeObservations | EdgeColumns | None:
        """What conditions transitions, in packed order; None where nothing does."""
        if not self.features.extractor.edge_templates:
            return None
        features = edge_features(columns, self.features)
        if self._edges is None or features.values is not None:
            return group_edges(features).take(batch.units)
        return self._edges.look_up(features.take(batch.units))


class _ScoreTable:
    """Sums of scores by value and offset.

    Each offset has a run of rows: first those of the positions outside a sequence, the nearest in the middle, where the
    row of zeros lies for units without a value; then one for each value, in the order in which they were met.

    source (Attribute | None): the attribute whose values are told apart; None: word forms, on which all lexical
        attributes depend. features (Features): indices. state ((F, L)): weights, sparse or dense.
        empty ((0, L)): of their precision.
    templates (list[Template]): one atom each, of that source.
    """

    def __init__(
        self,
        source: Attribute | None,
        features: Features,
        state: Floats | SparseRows,
        empty: Floats,
        templates: list[Template],
    ):
        self._empty = empty
        self._source, self._index, self._state, self._padding = source, features.state, state, features.config.padding
        self._templates: dict[int, list[Template]] = {}
        for template in templates:
            self._templates.setdefault(template.atoms[0].offset, []).append(template)
        self._reach = max(map(abs, self._templates))
        self._clear()

    def _clear(self) -> None:
        self._values = HashTable()
        self._scores: Floats = np.zeros((len(self._templates), 256, self._empty.shape[1]), dtype=self._empty.dtype)
        if self._padding:
            distances = range(-self._reach, self._reach + 1)
            outside = np.array([string_hash(boundary(d)) if d else ABSENT for d in distances], dtype=np.uint64)
            for scores, templates in zip(self._scores, self._templates.values()):
                scores[: len(outside)] = self._sums([template_keys(template, [outside]) for template in templates])

    def rows(self, windows: Windows) -> Rows:
        """For each unit, the row of the value at each offset."""
        columns = windows.columns
        values = columns.orths if self._source is None else columns.by_attribute[self._source].hashes
        numbers = self._values.find(values)
        new = np.flatnonzero((numbers < 0) & (values != ABSENT))
        if len(new):
            if self._scores.nbytes > MAX_BYTES:
                self._clear()
                new = np.flatnonzero(values != ABSENT)
            self._learn(new[self._values.add(values[new])], columns)
            numbers = self._values.find(values)
        n_offsets, n_rows, n_labels = self._scores.shape
        here = np.where(numbers < 0, self._reach, numbers + (2 * self._reach + 1))
        rows = np.empty((windows.n_units, n_offsets), dtype=np.int32)
        for k, offset in enumerate(self._templates):
            rows[:, k] = self._shifted(here, offset, windows) if offset else here
            rows[:, k] += k * n_rows
        starts = np.arange(windows.n_units + 1, dtype=np.int32) * n_offsets
        found = SparseRows(starts, rows.reshape(-1), None, n_offsets * n_rows)
        return Rows(found, self._scores.reshape(-1, n_labels))

    def _shifted(self, here: Indices, offset: int, windows: Windows) -> Indices:
        outside = windows.outside(offset)
        beyond = np.where(windows.has_value(outside), outside + self._reach, self._reach)
        return np.where(outside == 0, np.roll(here, -offset), beyond)

    def _learn(self, units: Indices, columns: Columns) -> None:
        """Add up the scores of new values, each from the unit where it was met first."""
        last = 2 * self._reach + 1 + len(self._values)
        if last > self._scores.shape[1]:  # never in place: other threads may hold the present table
            grown = np.zeros((len(self._scores), 2 * last, self._scores.shape[2]), dtype=self._scores.dtype)
            grown[:, : self._scores.shape[1]] = self._scores
            self._scores = grown
        for scores, templates in zip(self._scores, self._templates.values()):
            values = [columns.by_attribute[template.atoms[0].attribute].hashes[units] for template in templates]
            keys = [template_keys(template, [hashes]) for template, hashes in zip(templates, values)]
            scores[last - len(units) : last] = self._sums(keys)

    def _sums(self, keys: list[Hashes]) -> Floats:
        """((m, L)): sums of the weights of the features of m values."""
        features = self._index.encode(Keys(np.stack(keys), None))
        out = np.zeros((features.n_rows, self._empty.shape[1]), dtype=self._empty.dtype)
        features.times(self._state, out=out)
        return out


def edge_features(columns: Columns, features: Features) -> SparseRows:
    """Edge features of the units of a batch, in their order."""
    extractor = features.extractor
    return features.edge.encode(extractor.keys(columns, extractor.edge_templates))


def encode(columns: Columns, features: Features, vectors: Floats | None = None) -> Observations:
    """Packed observations of Docs, for scores that are summed instead of looked up, vectors (width, L) among them."""
    state = features.state.encode(features.extractor.keys(columns, features.extractor.state_templates))
    scores = None if columns.vectors is None or vectors is None else columns.vectors @ vectors
    edges = group_edges(edge_features(columns, features)) if features.extractor.edge_templates else None
    return observe(columns.lengths, state, edges, scores)
