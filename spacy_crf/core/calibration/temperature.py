"""Temperature scaling (Guo et al. 2017) of chains: all scores divided by one number, fitted on held-out data.

The best sequence stays the best; probabilities become sharper below 1 and flatter above. The marginals are computed
from the divided scores by forward-backward, which keeps them the marginals of one distribution over sequences. Raising
the marginals themselves to a power would not: they would no longer agree with those of transitions and spans.
"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from ..arrays import Ints
from ..chain.evidence import allowed_labels, log_evidence
from ..chain.forward import forward_backward
from ..chain.marginals import node_marginals
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..errors import CoreErrors, CoreWarnings, CRFError, CRFWarning
from ..gold import UNKNOWN

HOTTEST = 100.0  # temperatures are sought between this and its inverse
Unit = Literal["token", "sequence"]


class HeldOut(NamedTuple):
    """A batch that the weights were not trained on.

    potentials (ChainPotentials): at temperature 1. labels ((N,)): gold in packed order, -1 where it is unknown.
    """

    potentials: ChainPotentials
    labels: Ints


def tempered(potentials: ChainPotentials, temperature: float) -> ChainPotentials:
    """The same chains with all scores divided by a temperature.

    RAISES (ValueError): for a temperature that is not positive and finite.
    """
    if not 0 < temperature < np.inf:
        raise CRFError(CoreErrors.CRF110.format(value=temperature))
    if temperature == 1:
        return potentials
    factor = potentials.emissions.dtype.type(1 / temperature)
    edges = potentials.edges
    return replace(
        potentials,
        emissions=potentials.emissions * factor,
        transitions=potentials.transitions * factor,
        start=potentials.start * factor,
        end=potentials.end * factor,
        edges=edges and edges.map(lambda scores: scores * factor),
    )


def fit_temperature(held_out: Sequence[HeldOut], unit: Unit = "token") -> float:
    """The temperature under which gold is most probable. About 25 times the cost of forward-backward.

    held_out (Sequence[HeldOut]): data that the weights were not trained on, and so do not know already.
    unit (str): "token" for the marginals of the gold labels, "sequence" for the gold sequences as a whole.
    RETURNS (float): between 1 / HOTTEST and HOTTEST; 1, with a warning, where the best sequences are all of gold: no
        temperature would then be low enough.
    RAISES (ValueError): without any gold label.
    RAISES (ImpossibleEvidenceError): for unit "sequence", where a gold sequence is not allowed.
    """
    from scipy.optimize import minimize_scalar

    if not any((batch.labels != UNKNOWN).any() for batch in held_out):
        raise CRFError(CoreErrors.CRF111)
    if all(_is_all_right(batch) for batch in held_out):
        warnings.warn(CoreWarnings.CRFW101, CRFWarning, stacklevel=2)
        return 1.0
    batches = [HeldOut(batch.potentials.astype(np.float64), batch.labels) for batch in held_out]
    loss = token_loss if unit == "token" else sequence_loss
    found = minimize_scalar(
        lambda log_temperature: sum(loss(batch, float(np.exp(log_temperature))) for batch in batches),
        bounds=(-np.log(HOTTEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return float(np.exp(found.x))


def token_loss(batch: HeldOut, temperature: float) -> float:
    """Negative log-likelihood of the gold labels under their marginals, in nats.

    Labels that no sequence can have cost the same at any temperature.
    """
    marginals = node_marginals(forward_backward(tempered(batch.potentials, temperature)))
    known = np.flatnonzero(batch.labels != UNKNOWN)
    smallest = np.finfo(marginals.dtype).tiny
    return -float(np.log(np.maximum(marginals[known, batch.labels[known]], smallest)).sum())


def sequence_loss(batch: HeldOut, temperature: float) -> float:
    """Negative log-likelihood of the gold sequences, in nats; unknown labels are summed over."""
    allowed = allowed_labels(batch.labels, batch.potentials.n_labels)
    return -float(log_evidence(tempered(batch.potentials, temperature), allowed).sum())


def _is_all_right(batch: HeldOut) -> bool:
    known = batch.labels != UNKNOWN
    return bool((viterbi(batch.potentials).labels == batch.labels)[known].all())
