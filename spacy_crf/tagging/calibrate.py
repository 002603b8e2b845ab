"""Fits the temperature of a tagger on data that it was not trained on, and shows what that does."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from spacy.training import Example
from spacy.util import minibatch

from ..core.calibration import Reliability, reliability
from ..core.chain.temperature import HeldOut, Unit, fit_temperature
from ..core.gold import UNKNOWN
from .component import CRFTagger

BATCH_SIZE = 256


class Calibration(NamedTuple):
    """Result of a fit.

    temperature (float): what scores are to be divided by.
    before (Reliability), after (Reliability): of each token's most probable tag, at the component's temperature so
        far and at the new one.
    """

    temperature: float
    before: Reliability
    after: Reliability


def calibrate(tagger: CRFTagger, examples: Iterable[Example], unit: Unit = "token", n_bins: int = 10) -> Calibration:
    """Fit a temperature; the component itself stays as it is, until its setting `temperature` is changed.

    tagger (CRFTagger): a trained component.
    examples (Iterable[Example]): with what the component needs to see on the predicted side. Tokens whose gold label
        is missing, or unknown to the component, count for nothing.
    unit (str): "token" or "sequence", whose gold is to become most probable.
    n_bins (int): of the reliability tables, with equal width.
    RETURNS (Calibration): the temperature, and reliability before and after.
    """
    batches = [tagger.held_out(batch) for batch in minibatch(examples, BATCH_SIZE)]
    temperature = fit_temperature(batches, unit)
    before, after = (_reliability(batches, value, n_bins) for value in (tagger.cfg["temperature"], temperature))
    return Calibration(temperature, before, after)


def _reliability(batches: Sequence[HeldOut], temperature: float, n_bins: int) -> Reliability:
    confidences, right = [], []
    for distribution, labels in batches:
        marginals = distribution.at(temperature).marginals
        known = labels != UNKNOWN
        confidences.append(marginals.max(axis=1)[known])
        right.append((marginals.argmax(axis=1) == labels)[known])
    return reliability(np.concatenate(confidences), np.concatenate(right), n_bins)
