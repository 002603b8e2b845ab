"""Costs of constraints that make the right labellings likely, on sequences that the model has not seen.

The chain gives each of a sequence's best labellings a score, and every violation takes a cost from it. Costs are those
under which the right labelling, among these, has the greatest conditional likelihood (as in discriminative reranking:
Collins & Koo, "Discriminative reranking for natural language parsing", Computational Linguistics 31, 2005), with a
Gaussian prior, and none below 0. A structured perceptron moves a cost by the same step for a sequence that is nearly
right and one that is hopeless; likelihood does not, and the prior keeps costs that few sequences bear out near 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Doubles, Indices
from ..chain.nbest import nbest
from ..errors import CoreErrors, CRFError
from ..labels import TagSet
from .check import Labelling, violations
from .families import Constraint
from .learn import ScoredGold
from .predicates import Fields

ITERATIONS = 100


@dataclass(frozen=True)
class Likelihood:
    """How costs are learned.

    strength (float): of the prior: times the sum of squared costs, as `c2` of a trainer.
    paths (int): labellings of each sequence that are compared, the best of the chain.
    RAISES (ValueError): for settings that make no sense.
    """

    strength: float = 0.3
    paths: int = 20

    def __post_init__(self) -> None:
        for name, holds, expected in (
            ("strength", 0 < self.strength < np.inf, "a number above 0"),
            ("paths", self.paths >= 2, "at least 2"),
        ):
            if not holds:
                raise CRFError(CoreErrors.CRF932.format(setting=name, value=getattr(self, name), expected=expected))


class _Choices(NamedTuple):
    """The labellings to choose from, those of one sequence after the other.

    scores ((M,)): of the chain. broken ((M, R)): violations. right ((M,)): those of a sequence that are nearest to
        gold. starts ((B,)): where each sequence begins. owners ((M,)): the sequence of each.
    """

    scores: Doubles
    broken: Doubles
    right: Bools
    starts: Indices
    owners: Indices


def likely_costs(
    parts: Sequence[ScoredGold],
    constraints: Sequence[Constraint],
    tags: TagSet,
    settings: Likelihood | None = None,
    given: Sequence[Constraint] = (),
) -> Doubles:
    """Costs of the greatest conditional likelihood. O(M R) for an evaluation, with M labellings and R constraints.

    parts (sequence of ScoredGold): sequences, and their scores under models that were trained without them.
    constraints (sequence of Constraint): what may be charged for; their own costs are not looked at.
    tags (TagSet): of the chains. settings (Likelihood | None): None for the defaults.
    given (sequence of Constraint): others, which are in force at their own costs.
    RETURNS ((R,)): costs; 0 for a constraint that is not worth having.
    """
    from scipy.optimize import minimize

    settings = settings or Likelihood()
    found = [_choices(part, constraints, tags, given, settings.paths) for part in parts]
    if not constraints or not any(len(one.starts) for one in found):
        return np.zeros(len(constraints))
    choices = _joined(found)

    def objective(costs: Doubles) -> tuple[float, Doubles]:
        loss, gradient = loss_and_gradient(choices, costs)
        return loss + settings.strength * float(costs @ costs), gradient + 2 * settings.strength * costs

    bounds = [(0.0, None)] * len(constraints)
    start = np.zeros(len(constraints))
    return np.asarray(
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS}).x
    )


def loss_and_gradient(choices: _Choices, costs: Doubles) -> tuple[float, Doubles]:
    """-log likelihood of the right labellings among all, and its gradient by the costs, (R,)."""
    scores = choices.scores - choices.broken @ costs
    all_log, all_share = _normalised(scores, choices)
    right_log, right_share = _normalised(np.where(choices.right, scores, -np.inf), choices)
    return float((all_log - right_log).sum()), choices.broken.T @ (right_share - all_share)


def _normalised(scores: Doubles, choices: _Choices) -> tuple[Doubles, Doubles]:
    """Log of the sum of exp over each sequence (B,), and each labelling's share of it (M,)."""
    most = np.maximum.reduceat(scores, choices.starts)
    weights = np.exp(scores - most[choices.owners])
    sums = np.add.reduceat(weights, choices.starts)
    return np.log(sums) + most, weights / sums[choices.owners]


def _choices(
    part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet, given: Sequence[Constraint], k: int
) -> _Choices:
    """The k best labellings of each sequence."""
    every, own_costs = [*constraints, *given], np.array([constraint.cost for constraint in given])
    broken, scores, right = [], [], []
    for labellings, own_scores, nearest in _best(part, tags, k):
        table = np.zeros((len(labellings), len(every)))
        for row, labelling in zip(table, labellings):
            found = violations(every, labelling)
            row[list(found)] = list(found.values())
        own = table[:, len(constraints) :]
        charged = np.where(own > 0, own, 0) @ np.where(np.isfinite(own_costs), own_costs, 0)
        hopeless = (own[:, np.isinf(own_costs)] > 0).any(axis=1)
        possible = ~hopeless if not hopeless.all() else np.ones(len(table), dtype=bool)
        nearest = np.where(possible, nearest, -1.0)
        broken.append(table[possible, : len(constraints)])
        scores.append((own_scores - charged)[possible])
        right.append((nearest == nearest.max())[possible])
    lengths = np.array([len(one) for one in scores], dtype=np.intp)
    nothing = np.zeros((0, len(constraints)))
    return _Choices(
        np.concatenate([np.zeros(0), *scores]),
        np.concatenate([nothing, *broken]),
        np.concatenate([np.zeros(0, dtype=bool), *right]),
        np.cumsum(lengths) - lengths,
        np.repeat(np.arange(len(lengths)), lengths),
    )


def _best(part: ScoredGold, tags: TagSet, k: int) -> Iterator[tuple[list[Labelling], Doubles, Doubles]]:
    """For each sequence that is not empty its best labellings, their scores, and how many units each has right."""
    fields, best = Fields(tags), nbest(part.potentials, k)
    rows, ends = part.potentials.batch.rows, np.cumsum(part.potentials.batch.lengths)
    for sequence, (length, (gold, facts)) in enumerate(zip(part.potentials.batch.lengths.tolist(), part.paths())):
        if not length:
            continue
        count, own = best.counts[sequence], rows[ends[sequence] - length : ends[sequence]]
        paths = best.labels[:count, own]
        labellings = [Labelling(path.tolist(), fields, facts) for path in paths]
        yield labellings, best.scores[sequence, :count], (paths == gold).sum(axis=1).astype(np.float64)


def _joined(parts: Sequence[_Choices]) -> _Choices:
    """The labellings of several parts, as one."""
    ends = np.cumsum([len(part.scores) for part in parts])
    sequences = np.cumsum([len(part.starts) for part in parts])
    firsts, numbers = ends - [len(part.scores) for part in parts], sequences - [len(part.starts) for part in parts]
    return _Choices(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.broken for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.starts + first for part, first in zip(parts, firsts)]),
        np.concatenate([part.owners + number for part, number in zip(parts, numbers)]),
    )
