"""Sets of labels whose expected loss is bounded for sentences or documents: conformal risk control.

After Angelopoulos et al. (2022). Tokens of a sentence depend on each other, sentences may be exchangeable where their
tokens are not. So losses are averaged within units first, and it is the unit that the promise speaks of. The sets
of one mass are the shortest prefixes of the sorted labels with more probability than that, or all labels: they grow
with the mass, and no loss grows with them. The mass is the smallest with (n R + 1) / (n + 1) <= level, where R is the
mean loss of n calibration units. Losses change only where a gold label enters, so that all these steps are searched,
not a grid; sets hold the label at its step itself (losses are right-continuous), so that the smallest mass exists.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np

from ..arrays import Bools, Doubles, Floats, Indices, check_shape
from ..errors import CoreErrors, CRFError
from .conformal import check_choice, check_count, ranked
from .measures import SUM_TOLERANCE, best_labels, pad_labels

Unit = Literal["token", "sentence", "document"]
Loss = Literal["share", "any", "ml-acc"]
# Rounding, for each unit: thirds must add up to ones.
SLACK = 1e-9
LEAST_PROBABLE = 0.001  # of the spans in a set: there are ever more that are less probable


@dataclass(frozen=True)
class LossSteps:
    """Losses of units as functions of the mass, which fall from 1 to 0 in steps.

    masses ((M,)): where a loss falls, ascending; inf where no mass is enough. drops ((M,)): by how much.
    owners ((M,)): of which unit.
    n_units (int): units, numbered from 0.
    """

    masses: Doubles
    drops: Doubles
    owners: Indices
    n_units: int

    def at(self, mass: float) -> Doubles:
        """((n_units,)): losses of the sets of one mass."""
        stop = np.searchsorted(self.masses, mass, side="right")
        kept = np.bincount(self.owners[:stop], weights=self.drops[:stop], minlength=self.n_units)
        return np.clip(1 - kept, 0.0, 1.0)

    def take(self, units: Indices) -> "LossSteps":
        """Those of some units, each at most once, renumbered in the order given: for resampling."""
        numbers = np.full(self.n_units, -1)
        numbers[units] = np.arange(len(units))
        owners = numbers[self.owners]
        kept = owners >= 0
        return LossSteps(self.masses[kept], self.drops[kept], owners[kept], len(units))

    def smallest_mass(self, level: float, unit: Unit = "sentence") -> float:
        """The smallest mass with (n R + 1) / (n + 1) <= level, exactly, over all steps; `unit` is for errors. O(M).

        RAISES (ValueError): for too few units, or too much that no mass saves.
        """
        check_count(self.n_units, level, unit)
        bound = level * (self.n_units + 1) - 1 + SLACK * self.n_units
        total = self.n_units - np.cumsum(self.drops)  # n R behind each step
        mass = float(self.masses[np.argmax(total <= bound)])
        if mass == np.inf:
            missed = self.n_units - float(self.drops[np.isfinite(self.masses)].sum())
            lost = {"n": self.n_units, "unit": unit, "missed": missed, "smallest": (missed + 1) / (self.n_units + 1)}
            raise CRFError(CoreErrors.CRF824.format(level=level, where="", **lost))
        return mass


@dataclass(frozen=True)
class BoundedRisk:
    """Sets with a bounded expected loss. level (float): the bound. unit (str), loss (str): what it is a mean of."""

    level: float
    unit: Unit
    loss: Loss

    def to_data(self) -> dict[str, Any]:
        """The settings as plain data that JSON can hold."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """The settings that `to_data` wrote."""
        return cls(**data)


@dataclass(frozen=True)
class RiskControl(BoundedRisk):
    """Sets of labels with a bounded expected loss.

    unit (str): what losses are averaged over: "token", "sentence" or "document".
    loss (str): "share" of a unit's tokens whose gold label is not in the set; 1 if there is "any" such token; the
        unit's mean of 1 - "ml-acc".
    mass (float): of the sets. n (int): calibration units. risk (float): their mean loss.
    """

    mass: float
    n: int
    risk: float

    def predict(self, marginals: Floats) -> Bools:
        """((N, L)): the labels in the set of each token, the most probable one always. O(N L log L)."""
        before, _ = ranked(marginals)
        return np.asarray(before <= self.mass)

    @property
    def promise(self) -> str:
        """What is promised of the sets, in plain words that name the unit."""
        what = {
            "share": f"The expected share of a {self.unit}'s tokens whose gold label is not in their set",
            "any": f"The probability that a {self.unit} has a token whose gold label is not in its set",
            "ml-acc": f"The expected loss 1 - ml-acc, averaged over the tokens of a {self.unit},",
        }[self.loss]
        if self.unit == "token" and self.loss != "ml-acc":
            what = "The probability that a token's gold label is not in its set"
        return (
            f"{what} is at most {100 * self.level:.6g} % (conformal risk control at level {self.level:g}, "
            f"n = {self.n} calibration {self.unit}s), if {self.unit}s are exchangeable with these."
        )


@dataclass(frozen=True)
class SpanRisk(BoundedRisk):
    """Sets of spans with a bounded expected loss: all those with a probability from a threshold on.

    unit (str): what losses are of: "sentence" or "document", one that has gold spans.
    loss (str): "share" of its gold spans that are not in its set; 1 if there is "any" such span.
    threshold (float): least probability of a span in a set. longest (int): its most tokens.
    n (int): calibration units. risk (float): their mean loss.
    """

    threshold: float
    longest: int
    n: int
    risk: float

    @property
    def promise(self) -> str:
        """What is promised of the sets, in plain words that name the unit."""
        what = {
            "share": f"The expected share of a {self.unit}'s spans that are not in its set",
            "any": f"The probability that a {self.unit} has a span that is not in its set",
        }[self.loss]
        return (
            f"{what} is at most {100 * self.level:.6g} % (conformal risk control at level {self.level:g}, n = {self.n} "
            f"calibration {self.unit}s), if {self.unit}s that have spans are exchangeable with these."
        )


def control_span_risk(
    probabilities: Doubles, units: Indices, level: float, unit: Unit, loss: Loss, longest: int
) -> SpanRisk:
    """Choose the smallest sets of spans whose expected loss on a new unit is at most `level`. O(S log S).

    probabilities ((S,)): of gold spans of units that neither training nor the choice of settings has seen; those below
        `LEAST_PROBABLE`, such as 0 for spans that the model cannot give, are missed whatever the sets.
    units ((S,)): the sentence or document of each. Others of the arguments: see `SpanRisk`.
    RAISES (ValueError): without gold spans, with fewer than 1 / level - 1 units, or with too many certain misses.
    """
    check_choice("unit", unit, get_args(Unit)[1:])
    check_choice("loss", loss, get_args(Loss)[:2])
    if not len(probabilities):
        raise CRFError(CoreErrors.CRF817)
    masses = np.where(probabilities >= LEAST_PROBABLE, 1 - probabilities, np.inf)
    steps = unit_steps(masses, units, loss)
    mass = steps.smallest_mass(level, unit)
    return SpanRisk(level, unit, loss, 1 - mass, longest, steps.n_units, float(steps.at(mass).mean()))


def control_risk(
    marginals: Floats,
    weights: Floats,
    level: float,
    unit: Unit = "sentence",
    units: Indices | None = None,
    loss: Loss = "share",
) -> RiskControl:
    """Choose the smallest sets whose expected loss on a new unit is at most `level`. O(N L log L + N log N).

    marginals ((N, L)): of tokens that neither training nor the choice of settings has seen.
    weights ((N, W)): their gold, as of `measures.normalise`; tokens with a row of zeros are left out, and so are units
        that have no others. Labels behind those of the marginals are none of the model's, and lost in any set.
    level (float): from (0, 1). unit (str), loss (str): see `RiskControl`; the exchangeable unit must be chosen.
    units ((N,)): the sentence or document of each token, as any numbers; None for unit "token".
    RAISES (ValueError): without gold, with fewer than 1 / level - 1 units, or with too many labels that are none of the
        model's: not even sets of all labels would do.
    """
    check_choice("unit", unit, get_args(Unit))
    if (units is None) != (unit == "token"):
        raise CRFError(CoreErrors.CRF823.format(unit=unit, needs="wants" if units is None else "takes no"))
    steps = loss_steps(marginals, weights, np.arange(len(marginals)) if units is None else units, loss)
    mass = steps.smallest_mass(level, unit)
    return RiskControl(float(level), unit, loss, mass, steps.n_units, float(steps.at(mass).mean()))


def loss_steps(marginals: Floats, weights: Floats, units: Indices, loss: Loss = "share") -> LossSteps:
    """Losses, as functions of the mass, of the units with gold, in ascending order. O(N L log L + N log N).

    A token with several gold labels misses if none of greatest weight is in its set. ml-acc is the share of its gold
    weight that is in the set, squared where the weights sum to more than 1: all are right then, not one of them.
    """
    check_choice("loss", loss, get_args(Loss))
    best = best_labels(weights)
    check_shape("units", units, best.shape[:1])
    known = np.flatnonzero(best.any(axis=1))
    if not len(known):
        raise CRFError(CoreErrors.CRF817)
    before, _ = ranked(marginals[known])
    before = pad_labels(before, weights[known], np.inf)
    if loss != "ml-acc":
        return unit_steps(np.where(best[known], before, np.inf).min(axis=1), units[known], loss)
    names, owners = np.unique(units[known], return_inverse=True)
    masses, drops, tokens = _accuracy_steps(before, weights[known])
    return _ascending(masses, drops / np.bincount(owners)[owners[tokens]], owners[tokens], len(names))


def unit_steps(masses: Doubles, units: Indices, loss: Loss = "share") -> LossSteps:
    """Losses, as functions of the mass, of units of items, each of which is missed below a mass of its own. O(N log N).

    masses ((N,)): of the items; inf for what no mass saves. units ((N,)): of which unit each item is, as any numbers.
    loss (str): "share" of the items that are missed, or 1 if "any" is.
    """
    names, owners = np.unique(units, return_inverse=True)
    if loss == "share":
        return _ascending(masses, 1 / np.bincount(owners)[owners], owners, len(names))
    greatest = np.zeros(len(names))
    np.maximum.at(greatest, owners, masses)
    return _ascending(greatest, np.ones(len(names)), np.arange(len(names)), len(names))


def _ascending(masses: Doubles, drops: Doubles, owners: Indices, n_units: int) -> LossSteps:
    order = np.argsort(masses, kind="stable")
    return LossSteps(masses[order], drops[order], owners[order], n_units)


def _accuracy_steps(before: Doubles, weights: Floats) -> tuple[Doubles, Doubles, Indices]:
    """Masses at which ml-acc of tokens rises, by how much, and of which token."""
    order = np.argsort(before, axis=1, kind="stable")
    by_rank = np.take_along_axis(weights.astype(np.float64), order, axis=1)
    masses = np.take_along_axis(before, order, axis=1)
    sums = np.cumsum(by_rank, axis=1)
    total = sums[:, -1:]
    accuracies = (sums / total) ** np.where(total > 1 + SUM_TOLERANCE, 2, 1)
    tokens, places = np.nonzero(by_rank)
    rises: Doubles = np.diff(accuracies, axis=1, prepend=0.0)
    return masses[tokens, places], rises[tokens, places], tokens
