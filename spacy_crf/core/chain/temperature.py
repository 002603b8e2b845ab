"""Temperature scaling (Guo et al. 2017) of chains: all scores divided by one number, fitted on held-out data.

The best sequence stays the best; probabilities become sharper below 1 and flatter above. The marginals are computed
from the divided scores by forward-backward, which keeps them the marginals of one distribution over sequences. Raising
the marginals themselves to a power would not: they would no longer agree with those of transitions and spans.
"""

import warnings
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..arrays import Bools, Doubles, Floats, Ints
from ..errors import CoreErrors, CoreWarnings, CRFError, CRFWarning
from ..labels import UNKNOWN, Gold
from .distribution import ChainDistribution
from .evidence import allowed_labels

HOTTEST = 100.0  # temperatures are sought between this and its inverse
Unit = Literal["token", "sequence"]


class HeldOut(NamedTuple):
    """A batch that the weights were not trained on.

    distribution (ChainDistribution): at any temperature. labels ((N,)): gold, -1 where it is unknown.
    missed ((N,) | None): units whose gold is none of the chain's labels: wrong at any temperature.
    several (Gold | None): units with more than one gold label, in the rows of this; their `labels` are -1.
    """

    distribution: ChainDistribution
    labels: Ints
    missed: Bools | None = None
    several: Gold | None = None

    @property
    def known(self) -> Bools:
        """((N,)): units whose gold the chain can give."""
        known: Bools = self.labels != UNKNOWN
        return known if self.several is None else known | self.several.is_known

    @property
    def judged(self) -> Bools:
        """((N,)): units that have gold."""
        return self.known if self.missed is None else self.known | self.missed

    def right(self, labels: Ints) -> Doubles:
        """((N,)): how right labels ((N,)) are, from 0 to 1: the weight of a label in gold with several."""
        found: Doubles = (labels == self.labels).astype(np.float64)
        if self.several is not None:
            rows, weights = self.several.rows, self.several.weights
            found[rows] = weights[np.arange(len(rows)), labels[rows]] * self.several.is_known[rows]
        return found


def fit_temperature(held_out: Sequence[HeldOut], unit: Unit = "token") -> float:
    """The temperature under which gold is most probable. About 25 times the cost of forward-backward.

    unit (str): "token" for the marginals of the gold labels, "sequence" for the gold sequences as a whole.
    RETURNS (float): between 1 / HOTTEST and HOTTEST; 1, with a warning, where the best sequences are all of gold: no
        temperature would then be low enough.
    RAISES (ValueError, ImpossibleEvidenceError): without any gold label, for another unit, or for a gold sequence
        that is not allowed.
    """
    from scipy.optimize import minimize_scalar

    if unit not in get_args(Unit):
        expected = " or ".join(map(repr, get_args(Unit)))
        raise CRFError(CoreErrors.CRF549.format(name="unit", value=unit, expected=expected))
    if not any(batch.known.any() for batch in held_out):
        raise CRFError(CoreErrors.CRF111)
    if all((batch.right(batch.distribution.best()) == 1)[batch.known].all() for batch in held_out):
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
    loss = -float(np.log(np.maximum(marginals[known, batch.labels[known]], smallest)).sum())
    return loss if batch.several is None else loss + _loss_of_several(marginals, batch.several, smallest)


def _loss_of_several(marginals: Floats, gold: Gold, smallest: float) -> float:
    """As in learning: cross-entropy of a distribution over labels, and for a set, that one of its labels is right."""
    found, weights = marginals[gold.rows], gold.weights.astype(np.float64)
    is_set = (weights == weights.astype(bool)).all(axis=1)
    of_set = np.log(np.maximum((found * weights).sum(axis=1), smallest))
    of_distribution = (weights * np.log(np.maximum(found, smallest))).sum(axis=1)
    return -float(np.where(is_set, of_set, of_distribution).sum())


def sequence_loss(batch: HeldOut, temperature: float) -> float:
    """Negative log-likelihood of the gold sequences, in nats; unknown labels are summed over, as are several."""
    allowed = allowed_labels(batch.labels, batch.distribution.chains.n_labels)
    if batch.several is not None:
        allowed[batch.several.rows] = batch.several.weights > 0
    return -float(batch.distribution.at(temperature).log_probability(allowed).sum())
