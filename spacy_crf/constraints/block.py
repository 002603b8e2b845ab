"""The blocks of components that decode under constraints: what a config names."""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from spacy import registry

Costs: TypeAlias = Literal["likelihood", "perceptron", "rate"]
MARKS = ("comma", "period", "colon", "semicolon", "dash", "opening", "closing")  # what fields end or begin at
GAPS = ("unmarked",)


@registry.misc("spacy_crf.Mining.v1")
@dataclass(frozen=True)
class MiningSettings:
    """Mining of constraints from the training data, in the first step of training.

    kinds (list[str] | None): families of constraints; null: all that can be mined.
    marks (list[str] | None): unit predicates at which labels may change, for state_change; null: the punctuation ones.
    gaps (list[str] | None): predicates about the gap before a unit, at which labels may not change; null: `unmarked`,
        where neither side of the gap is punctuation.
    max_terms (int): labels in a set, and disjuncts of a rule, at most.
    min_support (int): sequences in which the antecedent holds, at least.
    max_rate (float): of violations among these, at most; smoothed.
    held_out (float): share of the sequences that candidates do not come from.
    min_precision (float): share of the held-out sequences with the antecedent that keep the constraint, at least.
    count (str): whether a cost is paid "once" in a sequence or for "each" violation.
    costs (str): "likelihood": those that make gold most likely on held-out folds. "perceptron": those under which
        decoding of held-out folds breaks each constraint as often as gold. Either way what is not worth a cost is
        dropped. "rate": -log of how often a constraint is broken, times `scale`.
    scale (float | None): for "rate"; null: the one of several that has most tokens right on held-out folds.
    folds (int): of the training documents; the model of each is trained on the others, with L-BFGS and the settings of
        the component's trainer if that is spacy_crf.LBFGS.v1, but without a tok2vec layer.
    iterations (int): of these models.
    strength (float): for "likelihood": of the Gaussian prior of costs.
    paths (int): for "likelihood": labellings of each sequence that are compared, the best of the chain.
    epochs (int): for "perceptron": passes over the sequences.
    step (float): for "perceptron": how much a cost moves for a violation too many or too few.
    seed (int): of the folds and of everything that is drawn.
    RAISES (ValueError): for settings that make no sense.
    """

    kinds: list[str] | None = None
    marks: list[str] | None = None
    gaps: list[str] | None = None
    max_terms: int = 3
    min_support: int = 10
    max_rate: float = 0.1
    held_out: float = 0.25
    min_precision: float = 0.85
    count: Literal["once", "each"] = "each"
    costs: Costs = "likelihood"
    scale: float | None = None
    folds: int = 5
    iterations: int = 60
    strength: float = 0.3
    paths: int = 20
    epochs: int = 5
    step: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        from ..core.constraints.family import minable_kinds
        from ..core.errors import CoreErrors, CRFError

        kinds, infinity = minable_kinds(), math.inf
        for setting, holds, expected in (
            ("kinds", set(self.kinds or ()) <= set(kinds), f"some of {', '.join(kinds)}"),
            ("max_terms", self.max_terms >= 1, "at least 1"),
            ("min_support", self.min_support >= 1, "at least 1"),
            ("max_rate", 0 < self.max_rate <= 1, "above 0 and at most 1"),
            ("held_out", 0 <= self.held_out < 1, "at least 0 and less than 1"),
            ("min_precision", 0 <= self.min_precision <= 1, "from 0 to 1"),
            ("scale", self.scale is None or self.scale >= 0, "at least 0"),
            ("count", self.count in ("once", "each"), "'once' or 'each'"),
            ("costs", self.costs in get_args(Costs), f"one of {', '.join(get_args(Costs))}"),
            ("folds", self.folds >= 2, "at least 2"),
            ("iterations", self.iterations >= 1, "at least 1"),
            ("strength", 0 < self.strength < infinity, "a number above 0"),
            ("paths", self.paths >= 2, "at least 2"),
            ("epochs", self.epochs >= 1, "at least 1"),
            ("step", 0 < self.step < infinity, "a number above 0"),
        ):
            if not holds:
                value = getattr(self, setting)
                raise CRFError(CoreErrors.CRF932.format(setting=setting, value=value, expected=expected))

    @property
    def predicates(self) -> tuple[str, ...]:
        """Predicates of units at which, and of gaps in which, labels may change."""
        return (*(MARKS if self.marks is None else self.marks), *self.gap_predicates)

    @property
    def gap_predicates(self) -> tuple[str, ...]:
        """Predicates of the gap before a unit."""
        return GAPS if self.gaps is None else tuple(self.gaps)
