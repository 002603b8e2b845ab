"""What the makers of promises share: how strange labels are given their probabilities, and what a level asks for.

Scores: LAC (Sadinle et al. 2019), APS (Romano et al. 2020) and RAPS (Angelopoulos et al. 2021).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal, get_args

import numpy as np

from ..arrays import Doubles, Floats, Indices
from ..errors import CoreErrors, CRFError
from .reliability import check_shape

Kind = Literal["lac", "aps", "raps"]


def ranked(marginals: Floats) -> tuple[Doubles, Indices]:
    """Where labels stand among those of their unit; equal ones in the order of labels. O(N L log L).

    marginals ((N, L)): probabilities.
    RETURNS (tuple): the probability ((N, L)) of all labels before each one; its rank ((N, L)) from 1.
    RAISES (ValueError): for NaN or inf.
    """
    if not np.isfinite(marginals).all():
        raise CRFError(CoreErrors.CRF102.format(name="marginals"))
    order = np.argsort(-marginals, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(marginals, order, axis=1), axis=1, dtype=np.float64)
    before, ranks = np.zeros(marginals.shape), np.empty(marginals.shape, dtype=np.intp)
    np.put_along_axis(before, order[:, 1:], sums[:, :-1], axis=1)
    np.put_along_axis(ranks, order, np.arange(1, marginals.shape[1] + 1)[None, :], axis=1)
    return before, ranks


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a setting that is none of its choices."""
    if value not in choices:
        raise CRFError(CoreErrors.CRF819.format(name=name, value=value, expected=" or ".join(map(repr, choices))))


def least_count(level: float) -> int:
    """How many calibration units a level needs at least: with fewer, (0 + 1) / (n + 1) is more than it.

    RAISES (ValueError): for a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise CRFError(CoreErrors.CRF816.format(level=level))
    return ceil(1 / Fraction(str(float(level)))) - 1


def check_count(n: int, level: float, unit: str) -> None:
    """Refuse too few calibration units for a level. See `least_count`."""
    least = least_count(level)
    if n < least:
        message = CoreErrors.CRF818.format(n=n, unit=unit, level=level, least=least, smallest=1 / (n + 1))
        raise CRFError(message)


def shares(uniforms: Doubles, n_units: int) -> Doubles:
    """((N, 1)): random numbers of units, one each; a coded error for others."""
    check_shape("uniforms", uniforms, (n_units,))
    if not ((uniforms >= 0) & (uniforms <= 1)).all():
        raise CRFError(CoreErrors.CRF822)
    return uniforms[:, None]


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
        for name, (fulfilled, expected) in rules.items():
            if not fulfilled:
                raise CRFError(CoreErrors.CRF819.format(name=name, value=getattr(self, name), expected=expected))

    def of(self, marginals: Floats, uniforms: Doubles | None = None) -> Doubles:
        """Scores of all labels. O(N L log L), for LAC O(N L).

        marginals ((N, L)): probabilities. uniforms ((N,)): from [0, 1], only for randomised scores. The same numbers
            give the same sets, and sets that are nested in the level.
        RETURNS ((N, L)): scores.
        """
        if not np.isfinite(marginals).all():
            raise CRFError(CoreErrors.CRF102.format(name="marginals"))
        if (uniforms is not None) != self.randomised:
            raise CRFError(CoreErrors.CRF820.format(kind=self.kind, needs="wants" if self.randomised else "takes no"))
        probabilities = marginals.astype(np.float64)
        if self.kind == "lac":
            return np.asarray(1.0 - probabilities)
        share = 1.0 if uniforms is None else shares(uniforms, len(marginals))
        before, ranks = ranked(probabilities)
        return np.asarray(before + share * probabilities + self.penalty * np.maximum(0, ranks - self.k_reg))


LAC = Score("lac")
