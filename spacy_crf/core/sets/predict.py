"""Sets of labels from the marginals of single units: of greatest expected utility, of a given size or mass.

A set S is worth u(y, S) = g(|S|) where the true label y is in S, and nothing where it is not: eq. 2.3 of Heid,
*Set-Valued Prediction for Part-of-Speech Tagging*, after Mortier et al. (*Efficient set-valued prediction in
multi-class classification*, 2021), who show how the measures of the field become a g. It may rise, fall, or be a table.
The best set of s labels holds the s most probable ones, so that only the L prefixes of the sorted marginals compete:
UBOP of Mortier et al., Algorithm 5 in Heid. As printed there, the last probability is multiplied with g, and a search
stops where utility falls; right are the cumulative probability, and all prefixes: utility can rise again where g is not
log-concave. What is promised is expected utility, if the marginals are right, and nothing about coverage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, Ints, row_sums
from ..chain.distribution import Labellings
from ..chain.potentials import numbered
from ..errors import CoreErrors, CRFError, require_count

# float32 marginals are off by some 1e-6; what differs by less is equal, and the smaller set is taken
TIE = 1e-6
SUM_TOLERANCE = 1e-3
# most units are settled by their best label, nearly all others by their best few; only the rest needs all prefixes
FEW = 8

Choice: TypeAlias = Callable[[Doubles], tuple[Indices, Bools]]


# -- utilities --------------------------------------------------------------------------------------------------------


Discount: TypeAlias = Callable[[float, float, Doubles, int], Doubles]
DISCOUNTS: dict[str, Discount] = {
    "g": lambda alpha, beta, s, n_labels: 1 - alpha * (s > 1) * ((s - 1) / max(1, n_labels - 1)) ** beta,
    "precision": lambda alpha, beta, s, n_labels: 1 / s,
    "recall": lambda alpha, beta, s, n_labels: np.ones_like(s),
    "f": lambda alpha, beta, s, n_labels: (1 + beta**2) / (s + beta**2),
    # something more than 1/s for not having to guess; written so that rounding leaves g(1) = 1
    "u65": lambda alpha, beta, s, n_labels: 1 / s + 0.6 * (s - 1) / s**2,
    "u80": lambda alpha, beta, s, n_labels: 1 / s + 1.2 * (s - 1) / s**2,
    "reject": lambda alpha, beta, s, n_labels: np.where(s == 1, 1.0, np.where(s == n_labels, 1 - alpha, 0.0)),
}
MASS_TIE = 1e-9  # relative: what a mass may be less than the level
FIRST, GROWTH = 4, 4  # paths asked for at first, and how many times as many after that


@dataclass(frozen=True)
class Utility:
    """A g with a name: one of DISCOUNTS, or by a table of its values, or a function of the size."""

    name: str
    alpha: float = 1.0
    beta: float = 1.0
    table: Sequence[float] | Callable[[int], float] | None = None

    def values(self, n_labels: int) -> Doubles:
        """((L,)): g(1) to g(L), checked, in float64: float32 has ties where a g is flat."""
        require_count(n_labels=n_labels)
        if self.table is None:
            found = DISCOUNTS[self.name](self.alpha, self.beta, np.arange(1.0, n_labels + 1), n_labels)
        else:
            own = [self.table(size + 1) for size in range(n_labels)] if callable(self.table) else self.table
            found = np.array(own, dtype=np.float64)
        check_values(found, n_labels, self.name)
        return found


def check_values(g: Doubles, n_labels: int, name: str = "g") -> None:
    """Raise a coded error unless a g ((L,)) has one value for each size, all finite and not negative."""
    if g.shape != (n_labels,):
        raise CRFError(CoreErrors.CRF803.format(name=name, found=g.size, expected=n_labels))
    wrong = ~(np.isfinite(g) & (g >= 0))
    if wrong.any():
        size = int(np.argmax(wrong))
        raise CRFError(CoreErrors.CRF804.format(name=name, value=g[size], size=size + 1))


def make_utility(name: str, alpha: float = 1.0, beta: float = 1.0) -> Utility:
    """One of the utilities of the literature. All have g(1) = 1; L is the number of labels.

    g           1 - alpha ((s - 1) / (L - 1))^beta, Heid eq. 2.4. alpha is what the full set loses, beta bends the
                curve: small sets lose little for beta > 1, much for beta < 1, and alpha at once for beta = 0. The text
                excludes its own default alpha = 1, which is allowed here.
    precision   1/s: one label of the set is taken by chance.
    recall      1: only a miss costs anything.
    f           (1 + beta^2) / (s + beta^2): F-beta of the set, where one label is true.
    u65, u80    1.6/s - 0.6/s^2 and 2.2/s - 1.2/s^2 (Zaffalon, Corani and Mauá 2012): a right set of two is worth .65
                and .80, where chance is worth .5.
    reject      1 for one label, 1 - alpha for all labels, 0 between: Chow's (1970) reject option, with alpha as the
                cost of rejection. It pays only for alpha < 1 - 1/L.

    alpha (float): from 0 to 1; read by g and reject. beta (float): at least 0; read by g and f.
    RAISES (ValueError): for an unknown name, or a setting out of its range, whether read or not.
    """
    if not 0 <= alpha <= 1:
        raise CRFError(CoreErrors.CRF802.format(setting="alpha", name=name, value=alpha, expected="from 0 to 1"))
    if not 0 <= beta < np.inf:
        raise CRFError(CoreErrors.CRF802.format(setting="beta", name=name, value=beta, expected="0 or above, finite"))
    if name not in DISCOUNTS:
        raise CRFError(CoreErrors.CRF801.format(name=name, known=", ".join(DISCOUNTS)))
    return Utility(name, alpha, beta)


def table_utility(values: Sequence[float] | Doubles | Callable[[int], float], name: str = "table") -> Utility:
    """A utility of one's own: g(1) to g(L), or a function of the size, checked as soon as L is known."""
    return Utility(name, table=values if callable(values) else tuple(map(float, values)))


# -- sets -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChosenSets:
    """One set of labels for each unit, never empty.

    members ((N, L)): the labels in each set. sizes ((N,)): their number.
    utilities ((N,)): expected utility; the mass, where sets were not chosen by a utility.
    masses ((N,)): probability that the true label is in the set.
    """

    members: Bools
    sizes: Indices
    utilities: Doubles
    masses: Doubles


def utility_optimal_sets(marginals: Floats, g: Doubles) -> ChosenSets:
    """The set of greatest expected utility for each unit. O(N L log L) at most; exact for every g.

    Ties within TIE go to the smaller set, and labels of equal probability come in label order.
    """
    check_values(g, check_marginals(marginals))

    def choose(cumulative: Doubles) -> tuple[Indices, Bools]:
        values = cumulative * g[: cumulative.shape[1]]
        best = values.max(axis=1)
        return (values >= best[:, None] - TIE).argmax(axis=1) + 1, _none_better(cumulative, best, g)

    members, sizes, masses = _smallest_prefixes(marginals, choose)
    return ChosenSets(members, sizes, masses * g[sizes - 1], masses)


def _none_better(cumulative: Doubles, best: Doubles, g: Doubles) -> Bools:
    """((n,)): where no prefix longer than w can be worth more than `best` ((n,)), the best of the first w.

    No prefix has more than all of the mass. And that of s labels has at most the mass c of the first w and s - w times
    the probability p of the last of them: (c + (s - w) p) g(s) <= c g(w) where p / c <= (g(w) / g(s) - 1) / (s - w).
    """
    width = cumulative.shape[1]
    further = width + np.flatnonzero(g[width:] > 0)
    mass, last = cumulative[:, -1], cumulative[:, -1] - (cumulative[:, -2] if width > 1 else 0.0)
    growth = ((g[width - 1] / g[further] - 1) / (further - width + 1)).min(initial=np.inf)
    ceiling = g[further].max(initial=0.0) * (1 + SUM_TOLERANCE)
    settled: Bools = (best >= ceiling) | (last <= growth * mass)
    return settled


def error_controlled_sets(marginals: Floats, level: float) -> ChosenSets:
    """The smallest set for each unit that misses the true label with at most a probability in [0, 1), up to TIE.

    This holds if the marginals ((N, L)) are right; for a promise that needs no such condition see `conformal.py`.
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
    return ChosenSets(members, sizes, masses, masses)


def top_k_sets(marginals: Floats, k: int) -> ChosenSets:
    """The k most probable labels of each unit, all labels where there are fewer. O(N L log L)."""
    require_count(k=k)
    size = min(k, check_marginals(marginals))
    ranked = np.sort(marginals, axis=1)[:, ::-1][:, :size]
    sizes = np.full(len(marginals), size, dtype=np.intp)
    masses = ranked.sum(axis=1, dtype=np.float64)
    return ChosenSets(_members(marginals, ranked[:, -1], sizes), sizes, masses, masses)


def check_marginals(marginals: Floats) -> int:
    """The number of labels; a coded error unless each row ((N, L)) is a distribution, up to SUM_TOLERANCE."""
    if marginals.ndim != 2 or not marginals.shape[1]:
        raise CRFError(CoreErrors.CRF101.format(name="marginals", expected="(N, L)", actual=marginals.shape))
    totals = row_sums(marginals)
    is_one = np.abs(totals - 1) <= SUM_TOLERANCE  # the totals of rows with NaN are NaN, and compare false
    if not (marginals.min(initial=0) >= 0 and is_one.all()):
        unit = int(np.argmin(is_one & (marginals >= 0).all(axis=1)))
        found = {"least": marginals[unit].min(), "total": totals[unit]}
        raise CRFError(CoreErrors.CRF805.format(unit=unit, name="marginals", **found))
    return int(marginals.shape[1])


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


# -- sets of whole sequences -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceSet:
    """The readings of one sequence, distinct, best first.

    paths ((K, T)): label indices. probabilities ((K,)): of these paths.
    mass (float): their sum: the probability that the true sequence is among them.
    complete (bool): True where the set is the one asked for; False where the paths that were looked at were too few.
    """

    paths: Ints
    probabilities: Doubles
    mass: float
    complete: bool


def smallest_set(paths: Ints, probabilities: Doubles, level: float, exhausted: bool = False) -> SequenceSet:
    """The fewest of the best paths of a sequence with a mass of at least a level, all if their mass is below it.

    exhausted (bool): whether the sequence has no other paths, so that all of them are complete.
    """
    _check_level(level)
    problem = ""
    if len(paths) != len(probabilities) or not len(paths):
        problem = "which must be as many"
    elif not ((np.diff(probabilities) <= 0).all() and (probabilities >= 0).all()):
        problem = "which must be numbers from 0 and descend"
    if problem:
        raise CRFError(CoreErrors.CRF811.format(paths=len(paths), found=len(probabilities), problem=problem))
    reached = np.minimum(1.0, np.cumsum(probabilities)) >= level * (1 - MASS_TIE)
    chosen = probabilities[: int(reached.argmax()) + 1] if reached[-1] else probabilities
    return SequenceSet(paths[: len(chosen)], chosen, min(1.0, float(chosen.sum())), bool(reached[-1]) or exhausted)


def smallest_sequence_sets(labellings: Labellings, level: float, cap: int = 256) -> list[SequenceSet]:
    """`smallest_set` for each sequence of a batch, from as many best paths as it takes, at most `cap` of all L^T.

    Token sets multiply out to sequences that were never probable together; here each member is a whole reading with its
    exact probability. Heid (section 5.1) names such sets and leaves them open. An empty sequence has one path, of
    probability 1.
    """
    _check_level(level)  # of an empty batch, too
    require_count(cap=cap)
    found: dict[int, SequenceSet] = {}
    pending, k = np.arange(labellings.n_sequences), min(FIRST, cap)
    while len(pending):
        with numbered(pending):
            best = labellings.select(pending).n_best(k)
        for b, own in zip(pending.tolist(), best):
            found[b] = smallest_set(*own, level, exhausted=len(own.labels) < k)
        pending = np.array([b for b in pending.tolist() if not found[b].complete and k < cap], dtype=np.intp)
        k = min(GROWTH * k, cap)
    return [found[sequence] for sequence in range(labellings.n_sequences)]


def _check_level(level: float) -> None:
    if not 0 < level <= 1:
        raise CRFError(CoreErrors.CRF806.format(value=level, expected="in (0, 1]"))
