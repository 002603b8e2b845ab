"""Constraints from labelled sequences: instantiate the families, keep what holds, and charge what is rarely broken.

The cost of breaking a constraint is -log of how often it is broken where it applies: (b + .5) / (n + 1) for b broken
among the n sequences in which its antecedent holds, so that rules that are rarely broken cost more. (Cecchini &
Fersini print the share of all clauses, which counts sequences in which a rule says nothing.)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Bools, Ints
from ..errors import CoreErrors, CRFError
from ..labels import TagSet
from .candidates import candidates
from .check import Labelling, broken, occurrences
from .families import FAMILIES, Constraint, Count
from .language import ABOUT
from .logic import implies
from .predicates import Fields, UnitFacts
from .spelling import to_json, to_text

KINDS = (
    *("at_most", "at_least", "starts_with", "ends_with", "presence_precedence", "excludes", "requires"),
    *("adjacency", "precedence", "begin_end", "state_change", "rule"),
)
SAMPLES = 400  # random labellings that show which constraints cannot imply which
LONGEST = 8


@dataclass(frozen=True)
class Mining:
    """What to look for, and what to keep.

    kinds (tuple of str): families. max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): sequences in which the antecedent holds, at least.
    max_rate (float): of violations, at most; smoothed as above.
    held_out (float): share of the sequences that candidates do not come from.
    min_precision (float): share of the held-out sequences with the antecedent that keep the constraint, at least.
    scale (float): of costs against the scores of the chain; inf makes all constraints hard.
    count (str): whether costs are paid "once" or for "each" violation.
    gaps (tuple of str): predicates that are about the gap before a unit: state changes there are between its sides.
    seed (int): of the choice of held-out sequences.
    RAISES (ValueError): for settings that make no sense.
    """

    kinds: tuple[str, ...] = KINDS
    max_terms: int = 3
    min_support: int = 10
    max_rate: float = 0.1
    held_out: float = 0.25
    min_precision: float = 0.85
    scale: float = 1.0
    count: Count = "once"
    gaps: tuple[str, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        self._require("kinds", set(self.kinds) <= set(KINDS), f"some of {', '.join(KINDS)}")
        self._require("max_terms", self.max_terms >= 1, "at least 1")
        self._require("min_support", self.min_support >= 1, "at least 1")
        self._require("max_rate", 0 < self.max_rate <= 1, "above 0 and at most 1")
        self._require("held_out", 0 <= self.held_out < 1, "at least 0 and less than 1")
        self._require("min_precision", 0 <= self.min_precision <= 1, "from 0 to 1")
        self._require("scale", self.scale >= 0, "at least 0")
        self._require("count", self.count in ("once", "each"), "'once' or 'each'")

    def _require(self, setting: str, holds: bool, expected: str) -> None:
        if not holds:
            value = getattr(self, setting)
            raise CRFError(CoreErrors.CRF932.format(setting=setting, value=value, expected=expected))


@dataclass(frozen=True)
class Mined:
    """A constraint and what the data say of it.

    constraint (Constraint): with its cost. support (int): sequences in which its antecedent holds.
    broken (int): those of them that break it. rate (float): smoothed.
    precision (float | None): share of the held-out sequences with the antecedent that keep it; None without any.
    """

    constraint: Constraint
    support: int
    broken: int
    rate: float
    precision: float | None

    def record(self) -> dict[str, Any]:
        """The constraint as JSON, with the statistics under "about"; `language.parse` reads it back."""
        about = {"support": self.support, "broken": self.broken, "rate": self.rate, "precision": self.precision}
        return {**to_json(self.constraint), ABOUT: about}


def mine(
    paths: Sequence[Ints], tags: TagSet, facts: Sequence[UnitFacts] | None = None, settings: Mining | None = None
) -> list[Mined]:
    """Constraints that hold in labelled sequences, the most costly first.

    Candidates come from one part of the sequences and must hold in the other; the statistics are those of all.
    Constraints that others of at least their cost imply are left out (two others at most are tried).

    paths (sequence of (T,)): tags. tags (TagSet): of the chain.
    facts (sequence of UnitFacts | None): about the units of each sequence; their predicates suggest state changes.
    settings (Mining | None): None for the defaults.
    RETURNS (list of Mined): constraints whose cost is infinite only if `scale` is.
    RAISES (ValueError): without labelled units.
    """
    settings = settings or Mining()
    fields = Fields(tags)
    pairs = zip(paths, facts or [UnitFacts(len(path)) for path in paths])
    seen = [Labelling(np.asarray(path).tolist(), fields, own) for path, own in pairs if len(path)]
    if not seen:
        raise CRFError(CoreErrors.CRF931)
    order = np.random.default_rng(settings.seed).permutation(len(seen))
    n_held_out = round(settings.held_out * len(seen))
    held_out, own = ([seen[place] for place in part] for part in (order[:n_held_out], order[n_held_out:]))
    found: dict[Constraint, Mined] = {}
    for candidate in candidates(own, settings.kinds, settings.max_terms, settings.min_support, settings.gaps):
        mined = _assess(candidate, own, held_out, settings)
        if mined is not None:
            found[candidate] = mined
    kept = _without_implied(sorted(found.values(), key=_priority), fields, settings.seed)
    return [replace(mined, constraint=_charged(mined, settings)) for mined in kept]


def shown(mined: Sequence[Mined]) -> str:
    """A table for the user, a constraint a line."""
    lines = [f"{'cost':>6} {'support':>7} {'broken':>6} {'held-out':>8}  constraint"]
    for one in mined:
        precision = "" if one.precision is None else f"{one.precision:.3f}"
        text = to_text(replace(one.constraint, cost=math.inf))
        lines.append(f"{one.constraint.cost:6.2f} {one.support:7d} {one.broken:6d} {precision:>8}  {text}")
    return "\n".join(lines)


def _assess(
    candidate: Constraint, own: Sequence[Labelling], held_out: Sequence[Labelling], settings: Mining
) -> Mined | None:
    """A candidate with its statistics, None if it does not hold well enough."""
    support, wrong = _count(candidate, own)
    if support < settings.min_support or _rate(support, wrong) > settings.max_rate:
        return None
    more, also_wrong = _count(candidate, held_out)
    precision = 1 - also_wrong / more if more else None
    if precision is not None and precision < settings.min_precision:
        return None
    support, wrong = support + more, wrong + also_wrong
    return Mined(candidate, support, wrong, _rate(support, wrong), precision)


def _count(constraint: Constraint, seen: Sequence[Labelling]) -> tuple[int, int]:
    """Sequences in which a constraint applies, and those that break it."""
    found = [occurrences(constraint, labelling) for labelling in seen]
    return sum(one.applied > 0 for one in found), sum(one.broken > 0 for one in found)


def _rate(support: int, wrong: int) -> float:
    return (wrong + 0.5) / (support + 1)


def _charged(mined: Mined, settings: Mining) -> Constraint:
    cost = 0.0 if settings.scale == 0 else -math.log(mined.rate) * settings.scale
    return replace(mined.constraint, cost=max(0.0, cost), count=settings.count)


def _priority(mined: Mined) -> tuple[float, int, int]:
    """Reliable ones first, among equals the shorter ones and then the families in their order."""
    n_labels = sum(len(labels) for labels in mined.constraint.label_sets)
    return mined.rate, n_labels, list(FAMILIES).index(mined.constraint.kind)


def _without_implied(ordered: list[Mined], fields: Fields, seed: int) -> list[Mined]:
    """Those that the ones before them do not imply, one alone or two together."""
    free = [one for one in ordered if not one.constraint.asks_for_facts]
    patterns = _random_violations([one.constraint for one in free], fields, seed)
    kept: list[int] = []
    for place, one in enumerate(free):
        # a premise must be broken wherever the conclusion is
        broken_here = patterns[:, place]
        possible = [own for own in kept if _share(free[own].constraint, one.constraint)]
        alone = [(own,) for own in possible if patterns[broken_here, own].all()]
        both = [
            (first, second)
            for number, first in enumerate(possible)
            for second in possible[number + 1 :]
            if (patterns[broken_here, first] | patterns[broken_here, second]).all()
        ]
        if not any(
            implies([free[own].constraint for own in own_premises], one.constraint, fields)
            for own_premises in (*alone, *both)
        ):
            kept.append(place)
    dropped = {free[place].constraint for place in set(range(len(free))) - set(kept)}
    return [one for one in ordered if one.constraint not in dropped]


def _share(first: Constraint, second: Constraint) -> bool:
    """Whether two constraints name a common label."""
    own = {label for labels in first.label_sets for label in labels}
    return any(label in own for labels in second.label_sets for label in labels)


def _random_violations(constraints: Sequence[Constraint], fields: Fields, seed: int) -> Bools:
    """((SAMPLES, R)): which constraints random labellings break. Most labellings hold few labels, to break more."""
    rng = np.random.default_rng(seed)
    out = np.zeros((SAMPLES, len(constraints)), dtype=bool)
    for sample in range(SAMPLES):
        tags = rng.choice(len(fields.tags), rng.integers(1, 5))
        path = rng.choice(tags, rng.integers(1, LONGEST)).tolist()
        labelling = Labelling(path, fields, UnitFacts(len(path)))
        out[sample] = [broken(constraint, labelling) > 0 for constraint in constraints]
    return out
