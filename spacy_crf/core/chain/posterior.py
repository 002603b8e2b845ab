"""Decoding from marginals: labels that are right most often, instead of the sequence that is right most often.

Viterbi maximises the probability that the whole sequence is right. Here it is the expected number of right labels,
among the allowed sequences.
"""

from dataclasses import replace

import numpy as np

from ..arrays import Floats
from .potentials import ChainPotentials
from .viterbi import Decoded, viterbi


def posterior_decode(potentials: ChainPotentials, marginals: Floats) -> Decoded:
    """The allowed sequence with the greatest expected number of right labels. O(N L^2).

    Viterbi over marginals in the place of emissions, the transitions being either allowed or not. Summing
    logarithms of marginals instead would maximise the product, which nobody asks for.

    potentials (ChainPotentials): tell what is allowed. marginals ((N, L)): in packed order.
    RETURNS (Decoded): labels, and as scores the expected numbers of right labels.
    """
    return viterbi(_rewards(potentials, marginals))


def _rewards(potentials: ChainPotentials, marginals: Floats) -> ChainPotentials:
    """Marginals as emissions; what is forbidden stays so, and all else counts 0."""
    return replace(
        potentials,
        emissions=marginals + _mask(potentials.emissions),
        transitions=_mask(potentials.transitions),
        start=_mask(potentials.start),
        end=_mask(potentials.end),
        edges=potentials.edges and potentials.edges.map(_mask),
    )


def _mask(scores: Floats) -> Floats:
    """-inf where the scores are, else 0."""
    return np.where(np.isneginf(scores), scores, np.zeros(1, dtype=scores.dtype))
