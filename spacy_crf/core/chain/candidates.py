"""Which labels of each unit a second-order chain looks at, by the probabilities of the first-order chain."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats
from ..errors import CoreErrors, CRFError
from .forward import forward_backward
from .marginals import node_marginals
from .potentials import ChainPotentials
from .viterbi import viterbi


@dataclass(frozen=True)
class Pruning:
    """How few labels are left.

    threshold (float): least marginal probability of a candidate, below 1.
    limit (int): the most candidates of a unit; a unit with k of them among others has k^3 arcs.
    RAISES (ValueError): for values out of these ranges.
    """

    threshold: float
    limit: int

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < 1:
            raise CRFError(CoreErrors.CRF120.format(value=self.threshold))
        if self.limit < 1:
            raise CRFError(CoreErrors.CRF108.format(name="max_candidates", least=1, value=self.limit))

    def candidates(self, chains: ChainPotentials) -> Bools:
        """Labels that are probable enough, and those of the best sequence: a path is always left. O(N L^2).

        RETURNS ((N, L)): in packed order.
        RAISES (NonFiniteError), (NoPathError): as `forward_backward`.
        """
        marginals = node_marginals(forward_backward(chains))
        return self.probable(marginals) | one_hot(viterbi(chains).labels, chains.n_labels)

    def probable(self, marginals: Floats) -> Bools:
        """((N, L)): labels by their marginals alone; among the last equals, those of smaller index."""
        chosen = (marginals >= self.threshold) & (marginals > 0)
        crowded = np.flatnonzero(chosen.sum(axis=1) > self.limit)
        best = np.argsort(-marginals[crowded], axis=1, kind="stable")[:, : self.limit]
        chosen[crowded] = False
        chosen[crowded[:, None], best] = True
        return np.asarray(chosen)


def one_hot(labels: "np.ndarray[tuple[int, ...], np.dtype[np.signedinteger]]", n_labels: int) -> Bools:
    """((N, L)): the given label of each unit and no other."""
    return np.asarray(labels[:, None] == np.arange(n_labels))
