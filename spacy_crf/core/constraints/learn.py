"""Costs of constraints, learned on sequences that the model has not seen: soft dual decomposition.

What mining charges for a constraint is how seldom it is broken. A hundred such rules that say nearly the same add up to
far more than any of them is worth. Here costs are moved until the labellings that they lead to break each constraint as
often as gold does (Anzaroot, Passos, Belanger & McCallum, "Learning soft linear constraints with application to
citation field extraction", ACL 2014): a structured perceptron over costs alone, averaged over its updates, with the
scores of the chain as they are. A constraint that the chain keeps by itself is never charged for, and is dropped.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Doubles, Indices, Ints
from ..chain.potentials import ChainPotentials
from ..errors import CoreErrors, CRFError
from ..labels import TagSet
from .check import Labelling, violations
from .decision import Settings
from .decode import decode
from .families import Constraint
from .predicates import Fields, UnitFacts

QUICK = Settings(max_arcs=1)  # no solver: what is not certified is good enough to learn from


@dataclass(frozen=True)
class ScoredGold:
    """Sequences that a model was not trained on. Rows are in packed order.

    potentials (ChainPotentials): their scores. gold ((N,)): the right tags. facts (UnitFacts): about the units.
    """

    potentials: ChainPotentials
    gold: Ints
    facts: UnitFacts

    def select(self, sequences: Indices) -> "ScoredGold":
        """Some of the sequences, by their indices."""
        potentials, rows = self.potentials.select(sequences)
        return ScoredGold(potentials, self.gold[rows], self.facts.at(rows))

    def paths(self) -> Iterator[tuple[Ints, UnitFacts]]:
        """The right tags and the facts of each sequence, in the order given."""
        rows, ends = self.potentials.batch.rows, np.cumsum(self.potentials.batch.lengths)
        for low, high in pairwise([0, *ends.tolist()]):
            yield self.gold[rows[low:high]], self.facts.at(rows[low:high])


@dataclass(frozen=True)
class Learning:
    """How costs are learned.

    epochs (int): passes over the sequences. step (float): how much a cost moves for a violation too many or too few.
    batch_size (int): sequences that are decoded together, under the same costs. seed (int): of their order.
    RAISES (ValueError): for settings that make no sense.
    """

    epochs: int = 5
    step: float = 0.1
    batch_size: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size"):
            self._require(name, getattr(self, name) >= 1, "at least 1")
        self._require("step", 0 < self.step < np.inf, "a number above 0")

    def _require(self, setting: str, holds: bool, expected: str) -> None:
        if not holds:
            raise CRFError(CoreErrors.CRF932.format(setting=setting, value=getattr(self, setting), expected=expected))


def learn_costs(
    parts: Sequence[ScoredGold],
    constraints: Sequence[Constraint],
    tags: TagSet,
    settings: Learning | None = None,
    given: Sequence[Constraint] = (),
) -> Doubles:
    """Costs under which labellings break constraints as often as gold does. One decoding of each sequence an epoch.

    Costs begin at 0. After each batch c <- max(0, c + step (violations of the labellings - violations of gold)).

    parts (sequence of ScoredGold): sequences, and their scores under models that were trained without them.
    constraints (sequence of Constraint): what may be charged for; their own costs are not looked at.
    tags (TagSet): of the chains. settings (Learning | None): None for the defaults.
    given (sequence of Constraint): others, which are in force at their own costs.
    RETURNS ((R,)): the mean of the costs over all updates; 0 for a constraint that is not worth having.
    """
    settings = settings or Learning()
    rng = np.random.default_rng(settings.seed)
    gold = [gold_violations(part, constraints, tags) for part in parts]
    costs, total, updates = np.zeros(len(constraints)), np.zeros(len(constraints)), 0
    for _ in range(settings.epochs):
        batches = [
            (number, own)
            for number, part in enumerate(parts)
            for own in _batches(rng.permutation(part.potentials.batch.n_sequences), settings.batch_size)
        ]
        for place in rng.permutation(len(batches)):
            number, own = batches[place]
            now = [*charged(constraints, costs), *given]
            found = decoded_violations(parts[number].select(own), now, tags)[:, : len(constraints)]
            costs = np.maximum(0.0, costs + settings.step * (found - gold[number][own]).sum(axis=0))
            total, updates = total + costs, updates + 1
    return total / max(updates, 1)


def charged(constraints: Sequence[Constraint], costs: Doubles) -> list[Constraint]:
    """The constraints with other costs."""
    return [replace(constraint, cost=float(cost)) for constraint, cost in zip(constraints, costs)]


def gold_violations(part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet) -> Indices:
    """((B, R)): how often the right labellings break each constraint, as costs count it."""
    fields = Fields(tags)
    seen = (Labelling(path.tolist(), fields, facts) for path, facts in part.paths())
    return _table([violations(constraints, labelling) for labelling in seen], len(constraints))


def decoded_violations(part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet) -> Indices:
    """((B, R)): how often the best labellings break each constraint."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decisions = decode(part.potentials, constraints, tags, part.facts, QUICK)
    return _table([decision.violated for decision in decisions], len(constraints))


def right_units(part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet) -> int:
    """How many units the best labellings have right."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decisions = decode(part.potentials, constraints, tags, part.facts, QUICK)
    return sum(int((decision.labels == path).sum()) for decision, (path, _) in zip(decisions, part.paths()))


def _batches(sequences: Indices, size: int) -> list[Indices]:
    return [sequences[low : low + size] for low in range(0, len(sequences), size)]


def _table(found: Sequence[dict[int, int]], n_constraints: int) -> Indices:
    """((B, R)): violations of each sequence."""
    table = np.zeros((len(found), n_constraints), dtype=np.intp)
    for row, own in zip(table, found):
        row[list(own)] = list(own.values())
    return table
