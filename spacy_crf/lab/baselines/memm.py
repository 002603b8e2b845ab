"""Maximum-entropy Markov model (McCallum, Freitag and Pereira 2000): p(y | x) = prod p(y_t | y_{t-1}, x_t).

Each factor is a logistic regression on the features of a unit and the label before it, so that training needs no
inference. The price is label bias (Lafferty, McCallum and Pereira 2001): whatever a label has received it passes on
in full, so that what is seen later never makes an earlier label more or less probable. A CRF over the same features
is normalised once, over whole sequences, and has no such bias.

The model is nonetheless a chain with constant transitions. The normaliser of a unit depends on the label before it
and can be taken off that label's score: emission_t(i) = s_t(i) - log sum_j exp(T(i, j) + s_{t+1}(j)). Label bias in
one line: how well the next unit fits is divided out. All of `core.chain` works on it, and log_z is 0.
"""

from dataclasses import dataclass
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
from ...pipe.dictionary.counts import Data, check_amount
from ..errors import LabErrors
from .contexts import LocalProblem, check_rows, local_problem
from .regression import SoftmaxObjective


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
        """The model that a solution stands for. flat ((P + (L + 1) L,)): in the order of `problem.cells`."""
        n_labels = problem.n_labels
        state, label_weights = np.split(flat, [-(n_labels + 1) * n_labels])
        transitions = label_weights.reshape(n_labels + 1, n_labels)
        n_features = problem.n_features
        return cls(n_features, problem.cells[: len(state)], state, transitions[:-1], transitions[-1])

    def weights_of(self, problem: LocalProblem) -> Doubles:
        """((P + (L + 1) L,)): these weights in the order of `problem.cells`; 0 for those that the model lacks.

        problem (LocalProblem): over the same labels and at least the same features.
        """
        flat = np.zeros(len(problem.cells))
        n_known = int(np.searchsorted(problem.cells, self.n_features * self.n_labels))
        flat[:n_known] = self._dense.reshape(-1)[problem.cells[:n_known]]
        flat[-(self.n_labels + 1) * self.n_labels :] = np.vstack([self.transitions, self.start]).reshape(-1)
        return flat

    @cached_property
    def _dense(self) -> Floats:
        """((F, L))."""
        dense = np.zeros((self.n_features, self.n_labels), self.state.dtype)
        dense.reshape(-1)[self.cells] = self.state
        return dense

    def potentials(self, lengths: Indices, features: SparseRows) -> ChainPotentials:
        """Chains whose path scores are log p(labels | x). O(nnz L + N L^2).

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
        emissions[batch.previous_rows(inner)] -= normalizers[inner, :-1]
        return ChainPotentials(batch, emissions, transitions, start, np.zeros(self.n_labels))

    def marginals(self, lengths: Indices, features: SparseRows) -> Floats:
        """p(y_t | x), which depends on nothing behind the unit. O(nnz L + N L^2).

        RETURNS ((N, L)): one sequence after the other; rows sum to 1.
        """
        potentials = self.potentials(lengths, features)
        return node_marginals(forward_backward(potentials))[potentials.batch.rows]

    def decode(self, lengths: Indices, features: SparseRows) -> Ints:
        """((N,)): labels of the most probable sequences, one sequence after the other. O(nnz L + N L^2)."""
        potentials = self.potentials(lengths, features)
        return viterbi(potentials).labels[potentials.batch.rows]

    def to_data(self) -> Data:
        """Arrays and numbers that can be stored."""
        return {
            "n_features": self.n_features,
            "cells": self.cells,
            "state": self.state,
            "transitions": self.transitions,
            "start": self.start,
        }

    @classmethod
    def from_data(cls, data: Data) -> Self:
        """The inverse of `to_data`."""
        return cls(int(data["n_features"]), data["cells"], data["state"], data["transitions"], data["start"])


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

    To train step by step, give `SoftmaxObjective` the parts of a `local_problem` and its x to `MEMM.of_weights`.

    lengths ((B,)): of the sequences. features (SparseRows): N rows, one sequence after the other.
    gold (Gold): of the units; see `local_problem`.
    c2 (float): L2 penalty. max_iterations (int): L-BFGS stops earlier where it improves no more.
    start (MEMM | None): weights to begin with, over the same labels and the first of the features. Where the optimum is
        reached it is forgotten, for there is only one.
    dtype (type): precision of scores in training, and of the weights.
    RETURNS (MEMM): the model.
    RAISES (ValueError): for rows that do not fit, no known gold, or a setting out of its range.
    RAISES (DivergedError): where feature values are not finite.
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
    """log sum_j exp(transitions[i, j] + scores[n, j]), as one matrix product. O(N K L).

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
