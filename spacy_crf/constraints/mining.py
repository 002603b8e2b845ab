"""Constraints from training data, with costs that held-out folds of it bear out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
from spacy.training import Example
from spacy.util import logger, registry

from ..core.arrays import Ints
from ..core.constraints.families import Constraint, Count
from ..core.constraints.learn import Learning, ScoredGold, charged, learn_costs, right_units
from ..core.constraints.likelihood import Likelihood, likely_costs
from ..core.constraints.mine import KINDS, Mined, Mining, mine
from ..core.constraints.predicates import UnitFacts
from ..core.errors import CoreErrors, CRFError
from ..core.labels import TagSet
from .token_predicates import MARKS, UNMARKED

Costs: TypeAlias = Literal["likelihood", "perceptron", "rate"]
SCALES = (0.0, 0.03, 0.1, 0.3)  # of -log rate against the scores of the chain
GAPS = (UNMARKED,)
DECIMALS = 4  # of costs, which people read
# a model trained on some examples, asked about others: their gold, scores and facts about the named predicates
HoldOut: TypeAlias = Callable[[Sequence[Example], Sequence[Example]], ScoredGold]


@dataclass(frozen=True)
class MiningConfig:
    """The settings of `make_mining`."""

    mining: Mining
    likelihood: Likelihood
    learning: Learning
    marks: tuple[str, ...]
    costs: Costs
    scale: float | None
    folds: int
    iterations: int

    @property
    def needs_models(self) -> bool:
        """Whether costs are found out with models that are trained on folds."""
        return self.costs != "rate" or self.scale is None


@registry.misc("spacy_crf.Mining.v1")
def make_mining(
    kinds: list[str] | None = None,
    marks: list[str] | None = None,
    gaps: list[str] | None = None,
    max_terms: int = 3,
    min_support: int = 10,
    max_rate: float = 0.1,
    held_out: float = 0.25,
    min_precision: float = 0.85,
    count: Count = "each",
    costs: Costs = "likelihood",
    scale: float | None = None,
    folds: int = 5,
    iterations: int = 60,
    strength: float = 0.3,
    paths: int = 20,
    epochs: int = 5,
    step: float = 0.1,
    seed: int = 0,
) -> MiningConfig:
    """Mining of constraints from the training data, in the first step of training.

    kinds (list[str] | None): families of constraints; null: all that can be mined.
    marks (list[str] | None): unit predicates at which labels may change, for state_change; null: the punctuation ones.
    gaps (list[str] | None): predicates about the gap before a unit, at which labels may not change; null: `unmarked`,
        where neither side of the gap is punctuation.
    max_terms (int), min_support (int), max_rate (float), held_out (float), min_precision (float): what is kept; see
        `core.constraints.mine.Mining`.
    count (str): whether a cost is paid "once" in a sequence or for "each" violation.
    costs (str): "likelihood": those that make gold most likely on held-out folds. "perceptron": those under which
        decoding of held-out folds breaks each constraint as often as gold. Either way what is not worth a cost is
        dropped. "rate": -log of how often a constraint is broken, times `scale`.
    scale (float | None): for "rate"; null: the one of several that has most tokens right on held-out folds.
    folds (int): of the training documents; the model of each is trained on the others, with L-BFGS and the settings of
        the component's trainer if that is spacy_crf.LBFGS.v1, but without a tok2vec layer.
    iterations (int): of these models. strength (float), paths (int): of "likelihood"; see
        `core.constraints.likelihood`.
    epochs (int), step (float): of "perceptron"; see `core.constraints.learn`.
    seed (int): of the folds and of everything that is drawn.
    RETURNS (MiningConfig): the block.
    RAISES (ValueError): for settings that make no sense.
    """
    for setting, value, least in (("folds", folds, 2), ("iterations", iterations, 1)):
        if value < least:
            raise CRFError(CoreErrors.CRF932.format(setting=setting, value=value, expected=f"at least {least}"))
    if costs not in get_args(Costs):
        raise CRFError(
            CoreErrors.CRF932.format(setting="costs", value=costs, expected=f"one of {', '.join(get_args(Costs))}")
        )
    mining = Mining(
        kinds=KINDS if kinds is None else tuple(kinds),
        max_terms=max_terms,
        min_support=min_support,
        max_rate=max_rate,
        held_out=held_out,
        min_precision=min_precision,
        scale=1.0 if scale is None else scale,
        count=count,
        gaps=GAPS if gaps is None else tuple(gaps),
        seed=seed,
    )
    learning = Learning(epochs=epochs, step=step, seed=seed)
    likelihood = Likelihood(strength=strength, paths=paths)
    predicates = (*(MARKS if marks is None else marks), *mining.gaps)
    return MiningConfig(mining, likelihood, learning, predicates, costs, scale, folds, iterations)


def mine_constraints(
    examples: Sequence[Example],
    gold: Sequence[tuple[Ints, UnitFacts]],
    tags: TagSet,
    given: Sequence[Constraint],
    config: MiningConfig,
    hold_out: HoldOut,
) -> list[Mined]:
    """Constraints that hold in the gold labels of examples, with their costs.

    gold (sequence of tuple): tags (T,) and facts of each sequence that is known. tags (TagSet): of the chain.
    given (sequence of Constraint): that are in force beside the mined ones, which repeat none of them.
    hold_out (callable): trains a model on some examples, and scores others with it.
    RETURNS (list of Mined): those with a cost above 0, the most costly first.
    RAISES (ValueError): where there is nothing to mine from.
    """
    known = {_priceless(constraint) for constraint in given}
    found = mine([path for path, _ in gold], tags, [facts for _, facts in gold], config.mining)
    found = [one for one in found if _priceless(one.constraint) not in known]
    if config.needs_models and found:
        parts = [hold_out(*split) for split in splits(examples, config.folds, config.mining.seed)]
        costs = _costs([one.constraint for one in found], parts, tags, given, config)
        found = [replace(one, constraint=own) for one, own in zip(found, costs)]
    kept = sorted((one for one in found if one.constraint.cost > 0), key=lambda one: -one.constraint.cost)
    logger.info("Mined %d constraints, of which %d have a cost.", len(found), len(kept))
    return kept


def _priceless(constraint: Constraint) -> Constraint:
    """What a constraint says, whatever is paid for breaking it."""
    return replace(constraint, cost=0.0, count="once")


def splits(examples: Sequence[Example], folds: int, seed: int) -> list[tuple[list[Example], list[Example]]]:
    """Examples in folds: for each the others, and its own. Folds without an example are left out."""
    order = np.random.default_rng(seed).permutation(len(examples))
    parts = [part.tolist() for part in np.array_split(order, min(folds, len(examples))) if len(part)]
    return [
        ([examples[k] for other in parts if other is not own for k in other], [examples[k] for k in own])
        for own in parts
    ]


def _costs(
    found: list[Constraint],
    parts: list[ScoredGold],
    tags: TagSet,
    given: Sequence[Constraint],
    config: MiningConfig,
) -> list[Constraint]:
    """Mined constraints with the costs that do best on held-out folds."""
    if config.costs == "likelihood":
        return charged(found, likely_costs(parts, found, tags, config.likelihood, given).round(DECIMALS))
    if config.costs == "perceptron":
        costs = learn_costs(parts, found, tags, config.learning, given)
        return charged(found, costs.round(DECIMALS))
    rates = np.array([constraint.cost for constraint in found])
    choices = [charged(found, (scale * rates).round(DECIMALS)) for scale in SCALES]
    right = [sum(right_units(part, [*given, *choice], tags) for part in parts) for choice in choices]
    return choices[int(np.argmax(right))]
