"""Maximum-entropy Markov model (McCallum, Freitag and Pereira 2000): p(y | x) = prod p(y_t | y_{t-1}, x_t).

Each factor is a logistic regression on the features of a unit and the label before it, so that training needs no
inference. The price is label bias (Lafferty, McCallum and Pereira 2001): whatever a label has received it passes on
in full, so that what is seen later never makes an earlier label more or less probable. A CRF over the same features
is normalised once, over whole sequences, and has no such bias.

The model is nonetheless a chain with constant transitions. The normaliser of a unit depends on the label before it
and can be taken off that label's score: emission_t(i) = s_t(i) - log sum_j exp(T(i, j) + s_{t+1}(j)). Label bias in
one line: how well the next unit fits is divided out. All of `core.chain` works on it, and log_z is 0.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Self

import numpy as np

from ...core.arrays import Doubles, Floats, Indices, Ints
from ...core.batch import pack
from ...core.chain.forward import SMALLEST, exp_shifted, forward_backward
from ...core.chain.marginals import node_marginals
from ...core.chain.potentials import ChainPotentials
from ...core.chain.viterbi import viterbi
from ...core.errors import CoreErrors, CRFError
from ...core.gold import Gold
from ...core.learn.lbfgs import LBFGS
from ...core.sparse import SparseRows
from ...core.weights import cells
from ...pipe.dictionary.counts import Data, Shares, check_amount, gold_shares
from ...pipe.errors import PipeErrors
from ..errors import LabErrors
from .grams import join

ROWS = 4096  # of a block of the regression: its scores stay in the cache


@dataclass(frozen=True)
class LocalProblem:
    """Examples of p(y_t | y_{t-1}, x_t).

    rows (SparseRows): M rows over the F features and L + 1 columns more, for the label before, or none.
    targets (SparseRows): M rows of gold shares over L labels, weighted by the share of the label before.
    cells ((P + (L + 1) L,)): `column * L + label` of each weight: those of features for the pairs that the examples
        show, those of labels before all.
    """

    rows: SparseRows
    targets: SparseRows
    cells: Indices

    @property
    def n_labels(self) -> int:
        return self.targets.n_columns

    @property
    def n_features(self) -> int:
        return self.rows.n_columns - self.n_labels - 1


def local_problem(lengths: Indices, features: SparseRows, gold: Gold) -> LocalProblem:
    """Return the examples that gold gives. O(nnz) where one label is right.

    Sets and distributions count by their shares, a pair of labels by the product of both. A unit that is unknown, or
    comes after one that is, gives no example.

    lengths ((B,)): of the sequences. features (SparseRows): N rows, one sequence after the other.
    gold (Gold): of the units.
    RAISES (ValueError): for rows that do not fit the lengths, or gold that gives no example.
    """
    check_rows(lengths, features.n_rows, "features")
    check_rows(lengths, len(gold.labels), "gold")
    n_labels = gold.weights.shape[1]
    shares = gold_shares(gold)
    pairs = join(_before(shares, lengths, n_labels), shares, n_labels)
    if not len(pairs.units):
        raise CRFError(PipeErrors.CRF831)
    before, labels = np.divmod(pairs.labels, n_labels)
    examples, owners = np.unique(pairs.units * (n_labels + 1) + before, return_inverse=True)
    units, before = np.divmod(examples, n_labels + 1)
    rows = _with_column(features.take(units), features.n_columns + before, features.n_columns + n_labels + 1)
    ends = np.searchsorted(owners, np.arange(len(examples) + 1)).astype(np.int32)
    targets = SparseRows(ends, labels.astype(np.int32), pairs.weights, n_labels)
    shown = features.take(pairs.units)
    state = cells(shown.indices.astype(np.intp), labels[shown.row_numbers()], n_labels)
    first = features.n_columns * n_labels
    return LocalProblem(rows, targets, np.concatenate([state, np.arange(first, first + (n_labels + 1) * n_labels)]))


def check_rows(lengths: Indices, n_rows: int, name: str) -> None:
    """Raise a coded error where the rows of something are not as many as the units."""
    if int(lengths.sum()) != n_rows:
        raise CRFError(LabErrors.CRF836.format(lengths=int(lengths.sum()), rows=n_rows, name=name))


def _before(shares: Shares, lengths: Indices, none: int) -> Shares:
    """Return for each unit the labels before it; `none` at first units."""
    ends = np.cumsum(lengths)[lengths > 0]
    firsts = ends - lengths[lengths > 0]
    inside = np.ones(int(lengths.sum()), dtype=bool)
    inside[ends - 1] = False
    going_on = shares.where(inside[shares.units]).shifted()
    units = np.concatenate([firsts, going_on.units])
    labels = np.concatenate([np.full(len(firsts), none, dtype=np.intp), going_on.labels])
    order = np.argsort(units, kind="stable")
    return Shares(units[order], labels[order], np.concatenate([np.ones(len(firsts)), going_on.weights])[order])


def _with_column(rows: SparseRows, columns: Indices, n_columns: int) -> SparseRows:
    """Return the same rows with one more column of value 1 in each."""
    ends = rows.indptr[1:]
    values = None if rows.values is None else np.insert(rows.values, ends, 1)
    indptr = (rows.indptr + np.arange(len(rows.indptr))).astype(np.int32)
    return SparseRows(indptr, np.insert(rows.indices, ends, columns.astype(np.int32)), values, n_columns)


class SoftmaxObjective:
    """The regression: sum over rows of -sum_j target_j log p(j | row) + c2 |w|^2, and its gradient.

    rows (SparseRows): M rows over F features.
    targets (SparseRows): M rows over L labels; a row's weight is the sum of its targets.
    cells ((P,)): `feature * L + label` of each weight, ascending; all other scores are 0.
    dtype (type): precision of scores; losses are summed in float64 in any case.
    """

    def __init__(
        self, rows: SparseRows, targets: SparseRows, cells: Indices, c2: float, dtype: type[np.floating] = np.float32
    ):
        self.rows, self.targets, self.cells, self.c2 = rows, targets, cells, c2
        shape = (rows.n_columns, targets.n_columns)
        self._weights, self._gradient = np.zeros(shape, dtype), np.zeros(shape, dtype)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """Return value and gradient at x ((P,)). O(nnz L)."""
        self._weights.reshape(-1)[self.cells] = x
        self._gradient[...] = 0
        value = self.c2 * float(x @ x)
        for low in range(0, self.rows.n_rows, ROWS):
            value += self._add(low, min(low + ROWS, self.rows.n_rows))
        return value, self._gradient.reshape(-1)[self.cells] + 2 * self.c2 * x

    def _add(self, low: int, high: int) -> float:
        """Return the loss of the rows low:high, and add to their gradient."""
        part = self.rows.slice(low, high)
        targets = np.zeros((high - low, self.targets.n_columns), self._weights.dtype)
        self.targets.slice(low, high).times(np.eye(targets.shape[1], dtype=targets.dtype), targets)
        scores = np.zeros_like(targets)
        part.times(self._weights, scores)
        scores -= scores.max(axis=1, keepdims=True)
        factors = np.exp(scores)
        norms = factors.sum(axis=1, keepdims=True)
        masses = targets.sum(axis=1, keepdims=True)
        factors *= masses / norms
        factors -= targets
        part.add_transposed(factors, self._gradient)
        loss = (masses * np.log(norms)).sum(dtype=np.float64) - (targets * scores).sum(dtype=np.float64)
        return float(loss)


@dataclass(frozen=True)
class MEMM:
    """Weights of a maximum-entropy Markov model.

    n_features (int): F.
    cells ((P,)): `feature * L + label` of each state weight, ascending; the others are 0.
    state ((P,)): weights of features. transitions ((L, L)): [from, to]. start ((L,)): of first units.
    """

    n_features: int
    cells: Indices
    state: Floats
    transitions: Floats
    start: Floats

    @property
    def n_labels(self) -> int:
        return len(self.start)

    @classmethod
    def of_weights(cls, problem: LocalProblem, flat: Floats) -> Self:
        """Return the model that a solution stands for. flat ((P + (L + 1) L,)): in the order of `problem.cells`."""
        n_labels = problem.n_labels
        state, label_weights = np.split(flat, [-(n_labels + 1) * n_labels])
        transitions = label_weights.reshape(n_labels + 1, n_labels)
        n_features = problem.n_features
        return cls(n_features, problem.cells[: len(state)], state, transitions[:-1], transitions[-1])

    def weights_of(self, problem: LocalProblem) -> Doubles:
        """Return these weights in the order of `problem.cells`, which has the same features or more: those get 0."""
        flat = np.zeros(len(problem.cells))
        n_known = int(np.searchsorted(problem.cells, self.n_features * self.n_labels))
        flat[:n_known] = self._dense.reshape(-1)[problem.cells[:n_known]]
        flat[-(self.n_labels + 1) * self.n_labels :] = np.vstack([self.transitions, self.start]).reshape(-1)
        return flat

    @cached_property
    def _dense(self) -> Floats:
        """((F, L)): all weights of features."""
        dense = np.zeros((self.n_features, self.n_labels), self.state.dtype)
        dense.reshape(-1)[self.cells] = self.state
        return dense

    def potentials(self, lengths: Indices, features: SparseRows) -> ChainPotentials:
        """Return chains whose path scores are log p(labels | x). O(nnz L + N L^2).

        lengths ((B,)): of the sequences. features (SparseRows): N rows, one sequence after the other.
        RAISES (ValueError): for features that are not those of the training, or do not fit the lengths.
        """
        check_rows(lengths, features.n_rows, "features")
        if features.n_columns != self.n_features:
            raise CRFError(LabErrors.CRF835.format(found=features.n_columns, expected=self.n_features))
        batch = pack(lengths)
        scores = np.zeros((features.n_rows, self.n_labels), self.state.dtype)
        features.times(self._dense, scores)
        emissions = scores[batch.units].astype(np.float64)
        transitions, start = self.transitions.astype(np.float64), self.start.astype(np.float64)
        normalizers = log_normalizers(emissions, np.vstack([transitions, start]))
        inner = np.arange(len(batch.first_rows), batch.n_units)
        emissions[batch.first_rows] -= normalizers[batch.first_rows, -1:]
        emissions[batch.before[inner]] -= normalizers[inner, :-1]
        return ChainPotentials(batch, emissions, transitions, start, np.zeros(self.n_labels))

    def marginals(self, lengths: Indices, features: SparseRows) -> Floats:
        """Return p(y_t | x) ((N, L)), which depends on nothing behind the unit. O(nnz L + N L^2)."""
        potentials = self.potentials(lengths, features)
        return node_marginals(forward_backward(potentials))[potentials.batch.rows]

    def decode(self, lengths: Indices, features: SparseRows) -> Ints:
        """Return labels ((N,)) of the most probable sequences. O(nnz L + N L^2)."""
        potentials = self.potentials(lengths, features)
        return viterbi(potentials).labels[potentials.batch.rows]

    def to_data(self) -> Data:
        """Return arrays and numbers that can be stored."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """Restore from `to_data`."""
        return cls(**data)


def fit_memm(
    lengths: Indices,
    features: SparseRows,
    gold: Gold,
    *,
    c2: float = 1.0,
    max_iterations: int = 100,
    start: MEMM | None = None,
    dtype: type[np.floating] = np.float32,
) -> MEMM:
    """Maximise the conditional log-likelihood minus c2 |w|^2 by L-BFGS.

    lengths ((B,)): of the sequences. features (SparseRows): N rows, one sequence after the other.
    gold (Gold): of the units; see `local_problem`.
    c2 (float): L2 penalty. max_iterations (int): L-BFGS stops earlier where it improves no more.
    start (MEMM | None): weights to begin with, over the same labels and the first of the features. Where the optimum is
        reached it is forgotten, for there is only one.
    dtype (type): precision of scores in training, and of the weights.
    RAISES (ValueError): for rows that do not fit, no known gold, a setting out of its range, or feature values that
        are not finite.
    """
    check_training(c2, max_iterations)
    problem = local_problem(lengths, features, gold)
    objective = SoftmaxObjective(problem.rows, problem.targets, problem.cells, c2, dtype)
    optimizer = LBFGS(objective, np.zeros(len(problem.cells)) if start is None else start.weights_of(problem))
    optimizer.run(max_iterations)
    return MEMM.of_weights(problem, optimizer.x.astype(dtype))


def check_training(c2: float, max_iterations: int) -> None:
    """Raise a coded error for a setting of `fit_memm` that is out of its range."""
    check_amount("c2", c2)
    if max_iterations < 1:
        raise CRFError(CoreErrors.CRF108.format(name="max_iterations", least=1, value=max_iterations))


def log_normalizers(scores: Doubles, transitions: Doubles) -> Doubles:
    """Return log sum_j exp(transitions[i, j] + scores[n, j]), as one matrix product. O(N K L).

    scores ((N, L)): of units. transitions ((K, L)): from K contexts.
    RETURNS ((N, K)): exact where the product underflows as well.
    """
    unit_factors, unit_shifts = exp_shifted(scores, axis=1)
    context_factors, context_shifts = exp_shifted(transitions, axis=1)
    sums = unit_factors @ context_factors.T
    lost = np.flatnonzero((sums < SMALLEST).any(axis=1))
    sums[lost] = 1.0
    out = np.log(sums) + unit_shifts[:, None] + context_shifts
    for row in lost:
        factors, shifts = exp_shifted(scores[row] + transitions, axis=1)
        out[row] = np.log(factors.sum(axis=1)) + shifts
    return np.asarray(out, dtype=np.float64)
