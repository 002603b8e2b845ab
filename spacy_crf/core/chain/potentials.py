"""What a batch of chains shows to the model, the potentials that weights give it, and their check."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Doubles, Floats, Indices, Ints, PackedBatch, check_shape, pack
from ..errors import CoreErrors, CRFError
from ..sparse import SparseRows
from ..weights import DenseWeights, Layout, masked
from .edges import EdgeColumns, EdgePotentials, Edges


class NonFiniteError(ValueError):
    """Raised for NaN or +inf potentials; `sequences` holds the indices of the sequences at fault."""

    def __init__(self, message: str, sequences: list[int]):
        super().__init__(message)
        self.sequences = sequences


class NoPathError(ValueError):
    """Raised where no label sequence is allowed; `sequences` holds the indices of the sequences at fault."""

    template = CoreErrors.CRF103

    def __init__(self, sequences: list[int]):
        super().__init__(self.template.format(sequences=sequences))
        self.sequences = sequences


@contextmanager
def numbered(sequences: Indices) -> Iterator[None]:
    """Let errors inside name sequences by their numbers ((B,)) outside."""
    try:
        yield
    except NoPathError as error:
        raise NoPathError(np.unique(sequences[error.sequences]).tolist()) from None
    except NonFiniteError as error:
        raise NonFiniteError(str(error), np.unique(sequences[error.sequences]).tolist()) from None


def require_paths(log_z: Doubles) -> None:
    """Raise `NoPathError` for sequences whose log partition function, or best score, ((B,)) is -inf."""
    hopeless = np.flatnonzero(np.isneginf(log_z))
    if len(hopeless):
        raise NoPathError(hopeless.tolist())


@dataclass(frozen=True)
class ChainPotentials:
    """Log potentials of B chains. -inf forbids a label, a transition, a start or an end.

    batch (PackedBatch): layout of the rows.
    emissions ((N, L)): in packed order.
    transitions ((L, L)): [from, to]; `edges` takes their place where given.
    start ((L,)): added at the first unit of each sequence.
    end ((L,)): added at the last unit of each sequence.
    edges (Edges | None): observation-conditioned transitions.
    """

    batch: PackedBatch
    emissions: Floats
    transitions: Floats
    start: Floats
    end: Floats
    edges: Edges | None = None

    @property
    def n_labels(self) -> int:
        return int(self.emissions.shape[1])

    def check(self) -> None:
        """Raise a coded error for shapes that do not fit together, and `NonFiniteError` for NaN or +inf."""
        n, row = self.batch.n_units, (self.n_labels,)
        wanted: dict[str, tuple[int, ...]] = {"emissions": (n, *row), "transitions": row * 2, "start": row, "end": row}
        parts = {name: getattr(self, name) for name in wanted}
        if self.edges is not None:
            scores = self.edges.scores
            wanted |= {"edges": (len(scores), *row * (scores.ndim - 1)), "edge groups": (n,)}
            parts |= {"edges": scores, "edge groups": self.edges.groups}
        for name, shape in wanted.items():
            check_shape(name, parts[name], shape)
        for name in ("transitions", "start", "end", "edges"):
            if name in parts and not np.all(parts[name] < np.inf):
                raise NonFiniteError(CoreErrors.CRF102.format(name=name), list(range(self.batch.n_sequences)))
        # NaN compares false, so one comparison finds both NaN and +inf
        if not self.emissions.max(initial=-np.inf) < np.inf:
            fine = self.emissions.max(axis=1) < np.inf
            culprits = np.unique(self.batch.row_sequences[~fine]).tolist()
            raise NonFiniteError(CoreErrors.CRF102.format(name="emissions"), culprits)

    def map(self, function: Callable[[Floats], Floats]) -> "ChainPotentials":
        """The same with a function of each score in its place."""
        return replace(
            self,
            emissions=function(self.emissions),
            transitions=function(self.transitions),
            start=function(self.start),
            end=function(self.end),
            edges=self.edges and self.edges.map(function),
        )

    def astype(self, dtype: type[np.floating]) -> "ChainPotentials":
        """The same potentials in another precision."""
        return self.map(lambda scores: scores.astype(dtype))

    def tempered(self, temperature: float) -> "ChainPotentials":
        """Divide all scores by a temperature; a coded error for one that is not positive and finite."""
        if not 0 < temperature < np.inf:
            raise CRFError(CoreErrors.CRF110.format(value=temperature))
        factor = self.emissions.dtype.type(1 / temperature)
        return self if temperature == 1 else self.map(lambda scores: scores * factor)

    def clamped(self, log_gold: Floats) -> "ChainPotentials":
        """Add log gold weights ((N, L)) to the emissions: 0 where a label is allowed, -inf where it is not."""
        return replace(self, emissions=self.emissions + log_gold)

    def select(self, sequences: Indices) -> tuple["ChainPotentials", Indices]:
        """Restrict the batch to some of its sequences ((B',)), as `PackedBatch.select` does."""
        part, rows = self.batch.select(sequences)
        edges = self.edges and self.edges.take(rows)
        return replace(self, batch=part, emissions=self.emissions[rows], edges=edges), rows

    def into(self, rows: slice | Indices) -> Floats:
        """((n, L, L) or (1, L, L)): scores of the transitions into some packed rows."""
        return self.transitions[None] if self.edges is None else self.edges.into(rows)

    def into_labels(self, rows: slice, labels: Ints) -> Floats:
        """((n, K, L)): scores of the transitions into labels ((n, K)) of a run of rows, by the label before."""
        if self.edges is None:
            return np.ascontiguousarray(self.transitions.T)[labels]
        return self.edges.into_labels(rows, labels)


@dataclass(frozen=True)
class EdgeObservations:
    """Edge features, shared by units that have the same ones.

    features (SparseRows): G rows of edge features, one for each distinct combination.
    groups ((N,)): for each unit the row that conditions the transition into it.
    """

    features: SparseRows
    groups: Indices

    def take(self, units: Indices) -> "EdgeObservations":
        """The given units in the given order, with no rows of features but theirs."""
        used, groups = np.unique(self.groups[units], return_inverse=True)
        return EdgeObservations(self.features.take(used), groups)


@dataclass(frozen=True)
class Observations:
    """Features of a batch in packed order.

    batch (PackedBatch): layout of the rows.
    features (SparseRows): N rows of state features.
    edges (EdgeObservations | None): edge features, if the model has any.
    scores ((N, L) | None): what each label scores besides, from vectors of the units.
    """

    batch: PackedBatch
    features: SparseRows
    edges: EdgeObservations | None = None
    scores: Floats | None = None

    def add_scores(self, scores: Floats | None) -> "Observations":
        """The same with more scores ((N, L) | None), one sequence after the other."""
        packed = None if scores is None else scores[self.batch.units]
        return replace(self, scores=sum_scores(self.scores, packed))

    def select(self, sequences: Indices) -> tuple["Observations", Indices]:
        """Pack some of the sequences ((B',)) anew, as `PackedBatch.select` does."""
        part, rows = self.batch.select(sequences)
        scores = None if self.scores is None else self.scores[rows]
        return Observations(part, self.features.take(rows), self.edges and self.edges.take(rows), scores), rows


def sum_scores(first: Floats | None, second: Floats | None) -> Floats | None:
    """((N, L) | None): both together; None for neither."""
    if first is None or second is None:
        return second if first is None else first
    return np.asarray(first + second)


def observe(
    lengths: Indices, features: SparseRows, edges: EdgeObservations | None = None, scores: Floats | None = None
) -> Observations:
    """Pack sequences of some lengths ((B,)) whose features and scores come one sequence after the other."""
    batch = pack(lengths)
    packed = None if scores is None else scores[batch.units]
    return Observations(batch, features.take(batch.units), edges and edges.take(batch.units), packed)


def potentials(observations: Observations, weights: DenseWeights, layout: Layout) -> ChainPotentials:
    """Log potentials of a batch under dense weights, in the weights' precision. O(nnz L + G L^2)."""
    shape, dtype = (observations.batch.n_units, layout.n_labels), weights.state.dtype
    emissions = np.zeros(shape, dtype) if observations.scores is None else observations.scores.astype(dtype)
    observations.features.times(weights.state, out=emissions)
    return chain_potentials(observations.batch, emissions, observations.edges, weights, layout)


def chain_potentials(
    batch: PackedBatch,
    emissions: Floats,
    edges: EdgeObservations | EdgeColumns | None,
    weights: DenseWeights,
    layout: Layout,
) -> ChainPotentials:
    """Log potentials of a batch whose emissions ((N, L)) are known, like the edges in packed order."""
    transitions = masked(weights.transitions, layout.allowed)
    start, end = masked(weights.start, layout.allowed_start), masked(weights.end, layout.allowed_end)
    if isinstance(edges, EdgeObservations):
        matrices: Floats = np.tile(weights.transitions.reshape(-1), (edges.features.n_rows, 1))
        edges.features.times(weights.edges, out=matrices)
        by_group = masked(matrices.reshape(-1, *transitions.shape), layout.allowed)
        return ChainPotentials(batch, emissions, transitions, start, end, EdgePotentials(by_group, edges.groups))
    return ChainPotentials(batch, emissions, transitions, start, end, edges)
