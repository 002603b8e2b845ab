"""Measures of tags and tag sets where the gold is a weighted set (Heid, sections 2.3.2, 4.3 and 5.3).

Gold is one row of weights per unit. A single 1 is one right tag; several 1s are tags that are all right; fractions
that sum to 1 are a partial gold, where annotators could not decide. A row of zeros has no gold and is left out: all
arrays returned here have one entry for each of the N' units with gold, so that their means are means over tokens.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices
from ..errors import CoreErrors, CRFError

SUM_TOLERANCE = 1e-6
CUT = 0.01  # weights are written with two decimals, rounded or cut: .33 and .66 stand for thirds


def normalise(weights: Floats) -> Doubles:
    """Check rows of gold weights and make partial gold sum to exactly 1.

    weights ((N, L)): fractions may miss the sum of 1 by what two decimals can lose, .01 for each tag.
    RETURNS ((N, L)): the same gold; rows of zeros and rows of several ones stay as they are.
    RAISES (ValueError): for negative or non-finite weights, and for rows that are neither of these kinds.
    """
    rows, wrong = _normalise(weights)
    if wrong.any():
        unit = int(np.argmax(wrong))
        raise CRFError(CoreErrors.CRF812.format(unit=unit, weights=weights[unit][weights[unit] != 0].tolist()))
    return rows


def read_weights(gold: Mapping[str, float], labels: Sequence[str]) -> Doubles:
    """The row of gold weights of one unit, checked and normalised.

    gold (mapping): tags to weights, such as {"AVD": 0.66, "PTKG": 0.33}; empty where there is no gold.
    labels (sequence of str): the L labels.
    RETURNS ((L,)): weights.
    RAISES (ValueError): for a tag that is no label, and for weights as in `normalise`.
    """
    weights = np.zeros((1, len(labels)))
    for tag, weight in gold.items():
        if tag not in labels:
            near = ", ".join(difflib.get_close_matches(tag, labels)) or "none"
            raise CRFError(CoreErrors.CRF814.format(tag=tag, near=near))
        weights[0, labels.index(tag)] = weight
    rows, wrong = _normalise(weights)
    if wrong[0] or (gold and not rows.any()):
        raise CRFError(CoreErrors.CRF813.format(gold=dict(gold)))
    return rows.ravel()


def _normalise(weights: Floats) -> tuple[Doubles, Bools]:
    """The rows ((N, L)), and which of them ((N,)) are of no kind that is allowed."""
    rows = weights.astype(np.float64)
    wrong = np.asarray(~(np.isfinite(rows) & (rows >= 0)).all(axis=1), dtype=np.bool_)
    rows[wrong] = 0.0
    positive = rows > 0
    counts, totals = positive.sum(axis=1), rows.sum(axis=1)
    every = positive.any(axis=1) & (np.isclose(rows, 1.0, rtol=0.0, atol=SUM_TOLERANCE) | ~positive).all(axis=1)
    partial = (counts > 0) & (np.abs(totals - 1) <= CUT * counts + SUM_TOLERANCE)
    np.divide(rows, totals[:, None], out=rows, where=(partial & ~every)[:, None])
    rows[every] = positive[every]
    wrong |= (counts > 0) & ~every & ~partial
    return rows, wrong


def has_gold(weights: Floats) -> Bools:
    """((N,)): the units that measures are taken of: those with a positive weight."""
    return np.asarray((weights > 0).any(axis=1), dtype=np.bool_)


def ml_acc(weights: Floats, best: Indices) -> Doubles:
    """ml-acc of one predicted tag: the share of the gold weight that it has, squared where several tags are right.

    weights ((N, L)): as of `normalise`. best ((N,)): indices of the predicted tags.
    RETURNS ((N',)): between 0 and 1.
    """
    known = np.flatnonzero(has_gold(weights))
    rows = weights[known].astype(np.float64)
    return _accuracy(rows, rows[np.arange(len(rows)), np.asarray(best)[known]])


def ml_util(weights: Floats, members: Bools, g: Doubles) -> Doubles:
    """ml-util of predicted sets (eq. 5.1): ml-acc of the set, times g(1 + the number of its tags that are wrong).

    This is not what sets of `utility_optimal_sets` are optimal for: see `exact_weighted_sets`.

    weights ((N, L)): as of `normalise`. members ((N, L)): the sets. g ((L,)): g(1) to g(L).
    RETURNS ((N',)): one value for each unit with gold.
    """
    known = has_gold(weights)
    rows, sets = weights[known].astype(np.float64), members[known]
    superfluous = (sets & (rows <= 0)).sum(axis=1)
    values: Doubles = _accuracy(rows, (rows * sets).sum(axis=1)) * g[superfluous]
    return values


def _accuracy(rows: Doubles, found: Doubles) -> Doubles:
    """ml-acc, where `found` ((N',)) is the weight of the gold that was predicted."""
    totals = rows.sum(axis=1)
    shares = np.minimum(found / totals, 1.0)
    accuracies: Doubles = np.where(totals > 1 + SUM_TOLERANCE, shares**2, shares)
    return accuracies


def covered(weights: Floats, members: Bools) -> Bools:
    """Whether the best gold tag is in the set; where several have the greatest weight, whether any of them is.

    weights ((N, L)): gold. members ((N, L)): the sets.
    RETURNS ((N',)): one entry for each unit with gold.
    """
    known = has_gold(weights)
    rows = weights[known]
    best = rows >= rows.max(axis=1, keepdims=True, initial=0) - SUM_TOLERANCE
    hit: Bools = (best & members[known]).any(axis=1)
    return hit


@dataclass(frozen=True)
class SetMeasures:
    """Means over the units with gold; all 0 where there are none.

    n (int): units with gold.
    ml_util (float): see `ml_util`.
    accuracy, precision, recall (float): multi-label measures of the set against the set of gold tags, whatever their
        weights: |Y and S| / |Y or S|, / |S|, / |Y|. An empty set has precision 0.
    coverage (float): share of units with `covered`.
    size (float): members of a set. singletons (float): share of sets with exactly one member.
    """

    n: int
    ml_util: float
    accuracy: float
    precision: float
    recall: float
    coverage: float
    size: float
    singletons: float


def set_measures(weights: Floats, members: Bools, g: Doubles) -> SetMeasures:
    """All measures of predicted sets. See `ml_util` for the arguments."""
    known = has_gold(weights)
    gold, sets = weights[known] > 0, members[known]
    both, sizes = (gold & sets).sum(axis=1), sets.sum(axis=1)
    columns = (
        ml_util(weights, members, g),
        both / (gold | sets).sum(axis=1),
        both / np.maximum(1, sizes),
        both / gold.sum(axis=1),
        covered(weights, members),
        sizes,
        sizes == 1,
    )
    return SetMeasures(len(gold), *(float(np.mean(column)) if len(gold) else 0.0 for column in columns))
