"""Temperature scaling (Guo et al. 2017) of chains: all scores divided by one number, fitted on held-out data.

The best sequence stays the best; probabilities become sharper below 1 and flatter above. The marginals are computed
from the divided scores by forward-backward, which keeps them the marginals of one distribution over sequences. Raising
the marginals themselves to a power would not: they would no longer agree with those of transitions and spans.
"""

import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ..arrays import Bools, Ints
from ..errors import CoreErrors, CoreWarnings, CRFError, CRFWarning
from ..labels import UNKNOWN
from .distribution import ChainDistribution
from .evidence import allowed_labels

HOTTEST = 100.0  # temperatures are sought between this and its inverse
Unit = Literal["token", "sequence"]


class HeldOut(NamedTuple):
    """A batch that the weights were not trained on.

    distribution (ChainDistribution): at any temperature. labels ((N,)): gold, -1 where it is unknown.
    missed ((N,) | None): units whose gold is none of the chain's labels: wrong at any temperature.
    """

    distribution: ChainDistribution
    labels: Ints
    missed: Bools | None = None


def fit_temperature(held_out: Sequence[HeldOut], unit: Unit = "token") -> float:
    """The temperature under which gold is most probable. About 25 times the cost of forward-backward.

    unit (str): "token" for the marginals of the gold labels, "sequence" for the gold sequences as a whole.
    RETURNS (float): between 1 / HOTTEST and HOTTEST; 1, with a warning, where the best sequences are all of gold: no
        temperature would then be low enough.
    RAISES (ValueError, ImpossibleEvidenceError): without any gold label, or for a gold sequence that is not allowed.
    """
    from scipy.optimize import minimize_scalar

    if not any((batch.labels != UNKNOWN).any() for batch in held_out):
        raise CRFError(CoreErrors.CRF111)
    if all(_is_all_right(batch) for batch in held_out):
        warnings.warn(CoreWarnings.CRFW101, CRFWarning, stacklevel=2)
        return 1.0
    loss = token_loss if unit == "token" else sequence_loss
    found = minimize_scalar(
        lambda log_temperature: sum(loss(batch, float(np.exp(log_temperature))) for batch in held_out),
        bounds=(-np.log(HOTTEST), np.log(HOTTEST)),
        method="bounded",
        options={"xatol": 1e-4},
    )
    return float(np.exp(found.x))


def token_loss(batch: HeldOut, temperature: float) -> float:
    """Negative log-likelihood of gold labels under marginals; impossible ones cost the same at any temperature."""
    marginals = batch.distribution.at(temperature).marginals
    known = np.flatnonzero(batch.labels != UNKNOWN)
    smallest = np.finfo(marginals.dtype).tiny
    return -float(np.log(np.maximum(marginals[known, batch.labels[known]], smallest)).sum())


def sequence_loss(batch: HeldOut, temperature: float) -> float:
    """Negative log-likelihood of the gold sequences, in nats; unknown labels are summed over."""
    allowed = allowed_labels(batch.labels, batch.distribution.chains.n_labels)
    return -float(batch.distribution.at(temperature).log_probability(allowed).sum())


def _is_all_right(batch: HeldOut) -> bool:
    known = batch.labels != UNKNOWN
    return bool((batch.distribution.best() == batch.labels)[known].all())
