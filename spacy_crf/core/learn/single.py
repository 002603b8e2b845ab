"""Viterbi for one sequence: what a learner that updates after every sequence spends its time on.

Here a call into numpy costs more than the arithmetic: five calls for each unit, and nothing that a batch would need.
"""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Ints
from ..chain.observations import EdgeObservations
from ..chain.potentials import NonFiniteError, NoPathError
from ..errors import CoreErrors
from ..sparse import SparseRows
from ..weights import DenseWeights, Layout, masked


class SingleDecoder:
    """Decodes one sequence at a time.

    weights (DenseWeights): may change between sequences, in place.
    layout (Layout): what is allowed.
    """

    def __init__(self, weights: DenseWeights, layout: Layout):
        self._weights, self._layout = weights, layout
        self._is_free = bool(layout.allowed.all() and layout.allowed_start.all() and layout.allowed_end.all())
        self._work = np.empty_like(weights.transitions)
        self._highest = np.empty_like(weights.start)

    def __call__(self, features: SparseRows, edges: EdgeObservations | None, scores: Floats | None = None) -> Ints:
        """The highest-scoring label sequence. O(nnz L + T L^2); ties as in `viterbi`.

        features (SparseRows): T > 0 rows. edges (EdgeObservations | None): edge features.
        scores ((T, L) | None): added to the emissions.
        RETURNS ((T,)): labels.
        RAISES (NonFiniteError): for NaN or +inf.
        RAISES (NoPathError): where no path is allowed.
        """
        weights, layout = self._weights, self._layout
        emissions = np.zeros((features.n_rows, layout.n_labels), dtype=weights.state.dtype)
        features.times(weights.state, out=emissions)
        if not emissions.max() < np.inf:  # NaN compares false
            raise NonFiniteError(CoreErrors.CRF102.format(name="emissions"), [0])
        if scores is not None:
            emissions += scores
        start, end, transitions = weights.start, weights.end, weights.transitions
        if not self._is_free:
            start, end = masked(start, layout.allowed_start), masked(end, layout.allowed_end)
            transitions = masked(transitions, layout.allowed)
        best = list(emissions)
        best[0] += start
        best[-1] += end
        matrices = [transitions] * (len(best) - 1) if edges is None else self._conditioned(edges)
        self._forward(best, matrices)
        return _trace(best, matrices)

    def _conditioned(self, edges: EdgeObservations) -> list[Floats]:
        """The transitions into each unit but the first."""
        n, groups = self._layout.n_labels, edges.groups[1:]
        matrices = np.tile(self._weights.transitions.reshape(-1), (len(groups), 1))
        edges.features.take(groups).times(self._weights.edges, out=matrices)
        return list(masked(matrices.reshape(-1, n, n), self._layout.allowed))

    def _forward(self, best: list[Floats], matrices: Iterable[Floats]) -> None:
        """Turn emissions into scores of the best paths that end in each label."""
        work, highest, before = self._work, self._highest, best[0][:, None]
        for row, matrix in zip(best[1:], matrices):
            np.add(before, matrix, work)
            np.maximum.reduce(work, axis=0, out=highest)
            np.add(row, highest, row)
            before = row[:, None]


def _trace(best: list[Floats], matrices: list[Floats]) -> Ints:
    label = int(best[-1].argmax())
    score = float(best[-1][label])
    if score == -np.inf:
        raise NoPathError([0])
    if not np.isfinite(score):
        raise NonFiniteError(CoreErrors.CRF102.format(name="scores"), [0])
    labels = [label]
    for row, matrix in zip(best[-2::-1], matrices[::-1]):
        label = int((row + matrix[:, label]).argmax())
        labels.append(label)
    labels.reverse()
    return np.array(labels, dtype=np.int32)
