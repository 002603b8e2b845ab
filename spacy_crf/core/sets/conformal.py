"""Sets of labels that hold the gold one with a promised probability: split conformal prediction (Vovk et al. 2005).

Units that the model was not trained on show how strange gold labels look: their scores, large for strange. A new unit
gets the labels whose score is at most the ceil((n + 1)(1 - level)) / n quantile of these. If all units are
exchangeable, its set misses gold with a probability of at most `level` and, where no two scores are equal, of at least
level - 1 / (n + 1), on average over calibration sets. Tokens of a sentence are not exchangeable with those of others:
see `risk`. Scores: LAC (Sadinle et al. 2019), APS (Romano et al. 2020) and RAPS (Angelopoulos et al. 2021).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal, get_args

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, check_finite, check_shape
from ..errors import CoreErrors, CoreWarnings, CRFError, require
from .measures import best_labels, pad_labels

Kind = Literal["lac", "aps", "raps"]
Condition = Literal["marginal", "label", "group"]
Fallback = Literal["pooled", "full"]


def ranked(marginals: Floats) -> tuple[Doubles, Indices]:
    """Where labels stand among those of their unit; equal ones in the order of labels. O(N L log L).

    RETURNS (tuple): the probability ((N, L)) of all labels before each one; its rank ((N, L)) from 1.
    RAISES (ValueError): for NaN or inf.
    """
    check_finite("marginals", marginals)
    order = np.argsort(-marginals, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(marginals, order, axis=1), axis=1, dtype=np.float64)
    before, ranks = np.zeros(marginals.shape), np.empty(marginals.shape, dtype=np.intp)
    np.put_along_axis(before, order[:, 1:], sums[:, :-1], axis=1)
    np.put_along_axis(ranks, order, np.arange(1, marginals.shape[1] + 1)[None, :], axis=1)
    return before, ranks


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a setting that is none of its choices."""
    require(CoreErrors.CRF819, name, value, value in choices, " or ".join(map(repr, choices)))


def least_count(level: float) -> int:
    """How many calibration units a level in (0, 1) needs: with fewer, (0 + 1) / (n + 1) is more than it."""
    if not 0 < level < 1:
        raise CRFError(CoreErrors.CRF816.format(level=level))
    return ceil(1 / Fraction(str(float(level)))) - 1


def check_count(n: int, level: float, unit: str) -> None:
    """Refuse too few calibration units for a level. See `least_count`."""
    least = least_count(level)
    if n < least:
        raise CRFError(CoreErrors.CRF818.format(n=n, unit=unit, level=level, least=least, smallest=1 / (n + 1)))


@dataclass(frozen=True)
class Score:
    """How strange labels are, given their probabilities p. It grows from the most to the least probable label.

    kind (str): "lac": 1 - p. "aps": probability of all labels before it + u p, where u = 1 unless randomised.
        "raps": the same + penalty x max(0, rank - k_reg), with rank 1 for the most probable label.
    randomised (bool): u is a uniform random number for each unit, which the caller gives. Without it a sure unit has
        scores near 1 only, so that APS and RAPS leave it without a label, or over-cover if sets may not be empty.
    penalty (float), k_reg (int): of RAPS. Ranks beyond k_reg cost as much as that much more probability: sets become
        smaller where the model is unsure, and less adaptive.
    RAISES (ValueError): for settings that do not go together.
    """

    kind: Kind = "lac"
    randomised: bool = False
    penalty: float = 0.0
    k_reg: int = 0

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, get_args(Kind))
        raps = self.kind == "raps"
        rules = {
            "randomised": (self.kind != "lac" or not self.randomised, "False for LAC, which has nothing to randomise"),
            "penalty": (0 < self.penalty < np.inf if raps else self.penalty == 0, "positive for RAPS, 0 for others"),
            "k_reg": (self.k_reg >= 0 if raps else self.k_reg == 0, "at least 0 for RAPS, 0 for others"),
        }
        for name, (holds, expected) in rules.items():
            require(CoreErrors.CRF819, name, getattr(self, name), holds, expected)

    @classmethod
    def read(cls, score: "Score | Kind") -> "Score":
        """A score as it is, or the one of a kind. RAISES (ValueError): for anything else."""
        return score if isinstance(score, Score) else cls(score)

    def of(self, marginals: Floats, uniforms: Doubles | None = None) -> Doubles:
        """((N, L)): scores of all labels. O(N L log L), for LAC O(N L).

        uniforms ((N,)): from [0, 1]; the same ones give the same sets, and sets that are nested in the level.
        """
        check_finite("marginals", marginals)
        if (uniforms is not None) != self.randomised:
            raise CRFError(CoreErrors.CRF820.format(kind=self.kind, needs="wants" if self.randomised else "takes no"))
        probabilities = marginals.astype(np.float64)
        if self.kind == "lac":
            return np.asarray(1.0 - probabilities)
        own = probabilities
        if uniforms is not None:
            check_shape("uniforms", uniforms, (len(marginals),))
            if not ((uniforms >= 0) & (uniforms <= 1)).all():
                raise CRFError(CoreErrors.CRF822)
            own = uniforms[:, None] * probabilities
        before, ranks = ranked(probabilities)
        return np.asarray(before + own + self.penalty * np.maximum(0, ranks - self.k_reg))


LAC = Score("lac")


@dataclass(frozen=True)
class ConformalSets:
    """Split conformal sets at one level.

    level (float): the share of tokens that may miss their gold label. score (Score): how labels are compared.
    condition (str): what the promise holds for: "marginal", each gold "label", or each "group" (Mondrian).
    strata (tuple[int, ...]): the labels or groups that were calibrated one by one, ascending; 0 for marginal.
    quantiles (tuple[float, ...]), counts (tuple[int, ...]): their greatest scores, inf for any, and calibration tokens.
    rest (float): greatest score in groups that calibration did not see.
    fallback (str): of strata with too few tokens: "pooled" for the quantile of all tokens, or their own greatest score
        if that is more, so that sets stay nested in the level; "full" for inf.
    allow_empty (bool): False if the most probable label is in every set. That keeps the promise, but coverage may then
        exceed it by more than 1 / (n + 1).
    """

    level: float
    score: Score
    condition: Condition
    strata: tuple[int, ...]
    quantiles: tuple[float, ...]
    counts: tuple[int, ...]
    rest: float
    fallback: Fallback
    allow_empty: bool

    def predict(self, marginals: Floats, groups: Indices | None = None, uniforms: Doubles | None = None) -> Bools:
        """((N, L)): the labels in the set of each unit, by uniforms that are drawn anew, not those of calibration."""
        scores = self.score.of(marginals, uniforms)
        quantiles = np.append(self.quantiles, self.rest)
        sets: Bools = scores <= quantiles[_places(self.condition, np.array(self.strata), groups, scores)]
        if not self.allow_empty:
            sets[np.arange(len(sets)), marginals.argmax(axis=1)] = True
        return sets

    @property
    def small(self) -> dict[int, int]:
        """Strata with too few calibration tokens for the level, and how many they have."""
        return {stratum: n for stratum, n in zip(self.strata, self.counts) if n < least_count(self.level)}

    @property
    def warning(self) -> str | None:
        """What a user should be told about `small`, if there is anything."""
        listing = ", ".join(f"{stratum} (n = {n})" for stratum, n in self.small.items())
        fate = "fall back on the quantile of all tokens" if self.fallback == "pooled" else "let every label in"
        text = CoreWarnings.CRFW801.format(level=self.level, least=least_count(self.level), listing=listing, fate=fate)
        return text if listing else None

    @property
    def promise(self) -> str:
        """What is promised of the sets, in plain words."""
        whom, name, kind = {
            "marginal": ("A", "", "marginal"),
            "label": ("For each gold label, a", "label", "class-conditional"),
            "group": ("In each group, a", "group", "Mondrian"),
        }[self.condition]
        text = (
            f"{whom} token's set holds its gold label with a probability of at least {100 * (1 - self.level):.6g} % "
            f"({kind} coverage, split conformal prediction with {self.score.kind.upper()} at level {self.level:g}, "
            f"n = {sum(self.counts)} calibration tokens), if tokens are exchangeable with these."
        )
        if self.condition == "marginal":
            return text
        fate = {
            "pooled": "fall back on the quantile of all tokens, and nothing is promised for them",
            "full": "are in every set" if self.condition == "label" else "get every label",
        }[self.fallback]
        return f"{text} {name.capitalize()}s with n < {least_count(self.level)} (here {len(self.small)}) {fate}."

    def to_data(self) -> dict[str, Any]:
        """The sets as plain data that JSON can hold: infinite quantiles are the string "inf"."""
        *quantiles, rest = (value if np.isfinite(value) else "inf" for value in (*self.quantiles, self.rest))
        lists = {"strata": list(self.strata), "quantiles": quantiles, "counts": list(self.counts)}
        return asdict(self) | lists | {"rest": rest}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "ConformalSets":
        """The sets that `to_data` wrote."""
        read = {"score": Score(**data["score"]), "strata": tuple(data["strata"]), "counts": tuple(data["counts"])}
        quantiles = {"quantiles": tuple(map(float, data["quantiles"])), "rest": float(data["rest"])}
        return cls(**data | read | quantiles)


@dataclass(frozen=True)
class ConformalScores:
    """Scores of the gold labels of calibration units, from which sets follow at any level.

    score (Score), condition (str), strata (tuple[int, ...]): as in `ConformalSets`.
    samples (tuple): for each stratum the scores ((n,)) of its units, ascending.
    """

    score: Score
    condition: Condition
    strata: tuple[int, ...]
    samples: tuple[Doubles, ...]

    def at(self, level: float, fallback: Fallback = "pooled", allow_empty: bool = False) -> ConformalSets:
        """Sets that miss gold with a probability of at most `level`. See `ConformalSets`.

        Gold labels that the model does not have are misses whatever the sets, and there may be too many of them.

        fallback (str): for strata that are too small for the level, n < 1 / level - 1: "pooled" gives up the promise,
            "full" keeps it with sets of every label. `ConformalSets.small` lists them.
        RAISES (ValueError): for a level outside (0, 1); with "pooled", where all units are too few for it; where more
            gold labels than that are none of the model's.
        """
        check_choice("fallback", fallback, get_args(Fallback))
        pooled = np.sort(np.concatenate(self.samples))
        least, rest = least_count(level), np.inf
        if fallback == "pooled":
            check_count(len(pooled), level, "token")
            rest = _reached_quantile(pooled, level)
        counts = tuple(map(len, self.samples))
        quantiles = tuple(
            _reached_quantile(
                sample, level, "" if self.condition == "marginal" else f" in the {self.condition} {stratum}"
            )
            if len(sample) >= least
            else max([rest, *sample[np.isfinite(sample)][-1:].tolist()])
            for stratum, sample in zip(self.strata, self.samples)
        )
        calibrated = self.condition, self.strata, quantiles, counts, rest
        return ConformalSets(float(level), self.score, *calibrated, fallback, allow_empty)


def calibrate(
    marginals: Floats,
    weights: Floats,
    score: Score | Kind = LAC,
    condition: Condition = "marginal",
    groups: Indices | None = None,
    uniforms: Doubles | None = None,
) -> ConformalScores:
    """Scores of gold labels. A unit with several is covered if one of greatest weight is: its least strange one counts.

    marginals ((N, L)): of units that neither training nor the choice of settings has seen.
    weights ((N, W)): their gold, as of `measures.normalise`; units with a row of zeros are left out. Columns behind
        those of the marginals are labels that the model does not have: certain misses, or for condition "label" left
        out, as nothing is promised for them.
    condition (str): as in `ConformalSets`. groups ((N,)): only for condition "group": a number for each unit, known
        without its gold label. uniforms ((N,)): see `Score.of`.
    RAISES (ValueError): where no unit has gold.
    """
    check_choice("condition", condition, get_args(Condition))
    score = Score.read(score)
    best, n_labels = best_labels(weights), marginals.shape[1]
    scores = np.where(best, pad_labels(score.of(marginals, uniforms), weights, np.inf), np.inf)
    known = np.flatnonzero(best[:, : n_labels if condition == "label" else None].any(axis=1))
    if not len(known):
        raise CRFError(CoreErrors.CRF817)
    values, labels = scores[known].min(axis=1), scores[known, :n_labels].argmin(axis=1)
    scores = scores[:, :n_labels]
    _check_groups(condition, groups, len(best))
    strata = np.arange(n_labels if condition == "label" else 1)
    if groups is not None:
        strata = np.unique(groups[known])
    places = np.broadcast_to(_places(condition, strata, groups, scores), scores.shape)[known, labels]
    samples = tuple(np.sort(values[places == place]) for place in range(len(strata)))
    return ConformalScores(score, condition, tuple(strata.tolist()), samples)


def finite_quantile(scores: Doubles, level: float) -> float:
    """The ceil((n + 1)(1 - level)) / n quantile of ascending scores, inf where they are too few.

    Reckoned with the decimals of the level as they are written.
    """
    rank = len(scores) + 1 - floor((len(scores) + 1) * Fraction(str(float(level))))
    return float(scores[rank - 1]) if rank <= len(scores) else np.inf


def _reached_quantile(scores: Doubles, level: float, where: str = "") -> float:
    """`finite_quantile`, refused where infinite scores, of gold that no set can hold, leave none."""
    found, n, missed = finite_quantile(scores, level), len(scores), int(np.isinf(scores).sum())
    if missed and found == np.inf:
        lost = {"n": n, "unit": "token", "missed": missed, "smallest": (missed + 1) / (n + 1)}
        raise CRFError(CoreErrors.CRF824.format(level=level, where=where, **lost))
    return found


def _places(condition: Condition, strata: Indices, groups: Indices | None, scores: Doubles) -> Indices:
    """The place in `strata` of each cell of (N, L), in a shape that broadcasts to it; one past the end for others."""
    _check_groups(condition, groups, len(scores))
    if groups is not None:
        places = np.minimum(np.searchsorted(strata, groups), len(strata) - 1)
        return np.where(strata[places] == groups, places, len(strata))[:, None]
    if condition == "label":
        check_shape("marginals", scores, (len(scores), len(strata)))
    return np.arange(len(strata))[None, :]


def _check_groups(condition: Condition, groups: Indices | None, n_units: int) -> None:
    if (groups is not None) != (condition == "group"):
        raise CRFError(CoreErrors.CRF821.format(condition=condition, needs="wants" if groups is None else "takes no"))
    if groups is not None:
        check_shape("groups", groups, (n_units,))
