"""Sets of labels from the marginals of single units: of greatest expected utility, of a given size or mass.

For u(y, S) = [y in S] g(|S|) the best set of s labels holds the s most probable ones, so that only the L prefixes of
the sorted marginals compete: UBOP of Mortier et al., Algorithm 5 in Heid. As printed there, the last probability is
multiplied with g, and a search stops where utility falls; right are the cumulative probability, and all prefixes:
utility can rise again where g is not log-concave. What is promised is expected utility, if the marginals are
right, and nothing about coverage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices
from ..errors import CoreErrors, CRFError
from .metrics import ml_util
from .utility import check_values

# float32 marginals are off by some 1e-6; what differs by less is equal, and the smaller set is taken
TIE = 1e-6
SUM_TOLERANCE = 1e-3
# most units are settled by their best label, nearly all others by their best few; only the rest needs all prefixes
FEW = 8
MOST_LABELS = 10

Choice: TypeAlias = Callable[[Doubles], tuple[Indices, Bools]]


@dataclass(frozen=True)
class TagSets:
    """One set of labels for each unit, never empty.

    members ((N, L)): the labels in each set. sizes ((N,)): their number.
    utilities ((N,)): expected utility; the mass, where sets were not chosen by a utility.
    masses ((N,)): probability that the true label is in the set.
    """

    members: Bools
    sizes: Indices
    utilities: Doubles
    masses: Doubles


def utility_optimal_sets(marginals: Floats, g: Doubles) -> TagSets:
    """The set of greatest expected utility for each unit. O(N L log L) at most; exact for every g.

    Ties within TIE go to the smaller set, and labels of equal probability come in label order.

    marginals ((N, L)): probabilities, such as node marginals.
    g ((L,)): g(1) to g(L), see `Utility.values`.
    RETURNS (TagSets): the sets, with mass times g(size) as utility.
    RAISES (ValueError): for marginals that are no distributions, and for a g that does not fit.
    """
    check_values(g, check_marginals(marginals))

    def choose(cumulative: Doubles) -> tuple[Indices, Bools]:
        values = cumulative * g[: cumulative.shape[1]]
        best = values.max(axis=1)
        return (values >= best[:, None] - TIE).argmax(axis=1) + 1, _none_better(cumulative, best, g)

    members, sizes, masses = _smallest_prefixes(marginals, choose)
    return TagSets(members, sizes, masses * g[sizes - 1], masses)


def _none_better(cumulative: Doubles, best: Doubles, g: Doubles) -> Bools:
    """((n,)): where no prefix longer than w can be worth more than `best` ((n,)), the best of the first w.

    No prefix has more than all of the mass. And that of s labels has at most the mass c of the first w and s - w times
    the probability p of the last of them: (c + (s - w) p) g(s) <= c g(w) where p / c <= (g(w) / g(s) - 1) / (s - w).

    cumulative ((n, w)): probabilities of the first w prefixes. g ((L,)): g(1) to g(L).
    """
    width = cumulative.shape[1]
    further = width + np.flatnonzero(g[width:] > 0)
    mass, last = cumulative[:, -1], cumulative[:, -1] - (cumulative[:, -2] if width > 1 else 0.0)
    growth = ((g[width - 1] / g[further] - 1) / (further - width + 1)).min(initial=np.inf)
    ceiling = g[further].max(initial=0.0) * (1 + SUM_TOLERANCE)
    settled: Bools = (best >= ceiling) | (last <= growth * mass)
    return settled


def error_controlled_sets(marginals: Floats, level: float) -> TagSets:
    """The smallest set for each unit that misses the true label with at most a given probability.

    This holds if the marginals are right; for a promise that needs no such condition see `conformal.py`.

    marginals ((N, L)): probabilities. level (float): probability of a miss, in [0, 1).
    RETURNS (TagSets): prefixes of the sorted marginals with a mass of 1 - level or more, up to TIE.
    RAISES (ValueError): for marginals that are no distributions, or another level.
    """
    if not 0 <= level < 1:
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in [0, 1)"))
    n_labels = check_marginals(marginals)

    def choose(cumulative: Doubles) -> tuple[Indices, Bools]:
        enough = cumulative >= 1 - level - TIE
        width = cumulative.shape[1]
        sizes = np.where(enough[:, -1], enough.argmax(axis=1) + 1, width)
        return sizes, enough[:, -1] | (width == n_labels)

    members, sizes, masses = _smallest_prefixes(marginals, choose)
    return TagSets(members, sizes, masses, masses)


def top_k_sets(marginals: Floats, k: int) -> TagSets:
    """The k most probable labels of each unit, all labels where there are fewer. O(N L log L).

    marginals ((N, L)): probabilities. k (int): at least 1.
    RETURNS (TagSets): sets of equal size.
    RAISES (ValueError): for marginals that are no distributions, or a smaller k.
    """
    if k < 1:
        raise CRFError(CoreErrors.CRF108.format(name="k", least=1, value=k))
    size = min(k, check_marginals(marginals))
    ranked = np.sort(marginals, axis=1)[:, ::-1][:, :size]
    sizes = np.full(len(marginals), size, dtype=np.intp)
    masses = ranked.sum(axis=1, dtype=np.float64)
    return TagSets(_members(marginals, ranked[:, -1], sizes), sizes, masses, masses)


def check_marginals(marginals: Floats) -> int:
    """The number of labels; a coded error unless each row ((N, L)) is a distribution, up to SUM_TOLERANCE."""
    if marginals.ndim != 2 or not marginals.shape[1]:
        raise CRFError(CoreErrors.CRF101.format(name="marginals", expected="(N, L)", actual=marginals.shape))
    _check_rows(marginals, "marginals")
    return int(marginals.shape[1])


def _check_rows(rows: Floats, name: str) -> None:
    totals = rows @ np.ones(rows.shape[1], dtype=rows.dtype)
    # the totals of rows with NaN are NaN, and compare false
    if not (rows.min(initial=0) >= 0 and (np.abs(totals - 1) <= SUM_TOLERANCE).all()):
        unit = int(np.argmin((np.abs(totals - 1) <= SUM_TOLERANCE) & (rows >= 0).all(axis=1)))
        raise CRFError(CoreErrors.CRF805.format(unit=unit, name=name, least=rows[unit].min(), total=totals[unit]))


def _smallest_prefixes(marginals: Floats, choose: Choice) -> tuple[Bools, Indices, Doubles]:
    """Members, sizes and masses of the prefixes of the sorted marginals that are chosen.

    choose (Choice): from cumulative probabilities ((n, w)) of the first w prefixes to the sizes ((n,)) of the best
        of them, and whether ((n,)) none of the others can be better; always so for w = L.
    """
    thresholds = marginals.max(axis=1)
    masses = thresholds.astype(np.float64)
    sizes, settled = choose(masses[:, None])
    rows = np.flatnonzero(~settled)
    ranked = np.sort(marginals[rows], axis=1)[:, ::-1]
    for width in (FEW, marginals.shape[1]):
        cumulative = np.cumsum(ranked[:, :width], axis=1, dtype=np.float64)
        chosen, settled = choose(cumulative)
        cells = np.arange(len(rows)), chosen - 1
        sizes[rows], masses[rows], thresholds[rows] = chosen, cumulative[cells], ranked[cells]
        rows, ranked = rows[~settled], ranked[~settled]
    return _members(marginals, thresholds, sizes), sizes, masses


def _members(marginals: Floats, thresholds: Floats, sizes: Indices) -> Bools:
    """((N, L)): the `sizes` most probable labels, where `thresholds` ((N,)) is the probability of the last one."""
    members: Bools = marginals >= thresholds[:, None]
    if np.count_nonzero(members) == sizes.sum():  # no label outside is as probable as the last one inside
        return members
    rows = np.flatnonzero(np.count_nonzero(members, axis=1) > sizes)
    last = marginals[rows] == thresholds[rows, None]
    spare = np.count_nonzero(members[rows], axis=1) - sizes[rows]
    from_behind = np.cumsum(last[:, ::-1], axis=1)[:, ::-1]
    members[rows] &= ~(last & (from_behind <= spare[:, None]))
    return members


def exact_weighted_sets(probabilities: Floats, weights: Floats, g: Doubles) -> TagSets:
    """The set of greatest expected ml-util for each unit, out of all 2^L - 1. O(N M 2^L) for M golds.

    ml-util charges only for labels outside the gold, and gold may have several; the best set is then no longer a
    prefix of the marginals. The search shows by how much `utility_optimal_sets` falls short; it is not for many labels.

    probabilities ((N, M)): for each unit, of each possible gold. weights ((M, L)): these golds, see `metrics.py`; none
        without a positive weight. g ((L,)): g(1) to g(L).
    RETURNS (TagSets): the sets; their masses are the expected share of the gold weight that is in them. Ties go to the
        smaller set, then to the one with the earlier labels.
    RAISES (ValueError): for too many labels, or for probabilities that are no distributions.
    """
    n_labels = weights.shape[1]
    if n_labels > MOST_LABELS:
        raise CRFError(CoreErrors.CRF807.format(most=MOST_LABELS, found=n_labels))
    _check_rows(probabilities, "probabilities of golds")
    check_values(g, n_labels)
    sets = _all_sets(n_labels)
    values = np.stack([ml_util(np.broadcast_to(row, sets.shape), sets, g) for row in weights])
    expected = probabilities.astype(np.float64) @ values
    chosen = (expected >= expected.max(axis=1, keepdims=True) - TIE).argmax(axis=1)
    shares = (weights / weights.sum(axis=1, keepdims=True)) @ sets.T
    masses = (probabilities.astype(np.float64) @ shares)[np.arange(len(chosen)), chosen]
    members = sets[chosen]
    return TagSets(members, members.sum(axis=1), expected[np.arange(len(chosen)), chosen], masses)


def expected_ml_util(members: Bools, probabilities: Floats, weights: Floats, g: Doubles) -> Doubles:
    """((N,)): expected ml-util of given sets ((N, L)). See `exact_weighted_sets` for the other arguments."""
    values = [ml_util(np.broadcast_to(row, members.shape), members, g) for row in weights]
    expected: Doubles = (probabilities.astype(np.float64) * np.stack(values, axis=1)).sum(axis=1)
    return expected


def _all_sets(n_labels: int) -> Bools:
    """((2^L - 1, L)): all sets but the empty one, small ones first, then by their labels."""
    sets: Bools = np.arange(1, 2**n_labels)[:, None] >> np.arange(n_labels)[::-1] & 1 == 1
    return sets[np.lexsort((-np.arange(len(sets)), sets.sum(axis=1)))]
