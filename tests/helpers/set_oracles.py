"""Sets of labels by exhaustive search, and p-values of conformal scores by counting."""

import numpy as np

from spacy_crf.core.sets.conformal import ConformalScores
from spacy_crf.core.sets.measures import ml_util
from spacy_crf.core.sets.predict import TIE, ChosenSets


def exact_weighted_sets(probabilities, weights, g) -> ChosenSets:
    """The set of greatest expected ml-util for each unit, out of all 2^L - 1. O(N M 2^L) for M golds.

    ml-util charges only for labels outside the gold, and gold may have several; the best set is then no longer a
    prefix of the marginals.

    probabilities ((N, M)): for each unit, of each possible gold. weights ((M, L)): these golds; none without a positive
        weight. g ((L,)): g(1) to g(L).
    RETURNS (ChosenSets): the sets; their masses are the expected share of the gold weight in them. Ties go to the
        smaller set, then to the one with the earlier labels.
    """
    sets = _all_sets(weights.shape[1])
    values = np.stack([ml_util(np.broadcast_to(row, sets.shape), sets, g) for row in weights])
    expected = probabilities.astype(np.float64) @ values
    chosen = (expected >= expected.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
    shares = (weights / weights.sum(axis=1, keepdims=True)) @ sets.T
    masses = (probabilities.astype(np.float64) @ shares)[np.arange(len(chosen)), chosen]
    members = sets[chosen]
    return ChosenSets(members, members.sum(axis=1), expected[np.arange(len(chosen)), chosen], masses)


def expected_ml_util(members, probabilities, weights, g) -> np.ndarray:
    """((N,)): expected ml-util of given sets ((N, L)). See `exact_weighted_sets` for the other arguments."""
    values = [ml_util(np.broadcast_to(row, members.shape), members, g) for row in weights]
    return (probabilities.astype(np.float64) * np.stack(values, axis=1)).sum(axis=1)


def _all_sets(n_labels: int) -> np.ndarray:
    """((2^L - 1, L)): all sets but the empty one, small ones first, then by their labels."""
    sets = np.arange(1, 2**n_labels)[:, None] >> np.arange(n_labels)[::-1] & 1 == 1
    return sets[np.lexsort((-np.arange(len(sets)), sets.sum(axis=1)))]


def p_values(scores: ConformalScores, marginals, groups=None, uniforms=None, ties=None) -> np.ndarray:
    """((N, L)): how usual each label is: the share of calibration units, with the unit itself, as strange or stranger.

    Labels with p > level are the set at that level, where strata are large enough.

    ties ((N,)): random numbers from [0, 1] for smoothed values: equal scores then count by that share.
    """
    strangeness = scores.score.of(marginals, uniforms)
    samples = dict(zip(scores.strata, scores.samples))
    found = np.empty(strangeness.shape)
    for (unit, label), value in np.ndenumerate(strangeness):
        stratum = {"marginal": 0, "label": label, "group": None if groups is None else groups[unit]}[scores.condition]
        sample = samples.get(stratum, np.zeros(0))
        equal = np.count_nonzero(sample == value) + 1
        share = 1.0 if ties is None else ties[unit]
        found[unit, label] = (np.count_nonzero(sample > value) + share * equal) / (len(sample) + 1)
    return found
