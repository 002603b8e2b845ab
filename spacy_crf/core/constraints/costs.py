"""Costs of constraints, learned on sequences that the model has not seen.

What mining charges for a constraint is how seldom it is broken. A hundred such rules that say nearly the same add up to
far more than any of them is worth. `likely_costs` are those under which the right labelling, among the best of the
chain, has the greatest conditional likelihood (as in discriminative reranking: Collins & Koo, "Discriminative reranking
for natural language parsing", 2005), with a Gaussian prior, which keeps costs that few sequences bear out near 0.
`perceptron_costs` are moved until decoding breaks each constraint as often as gold does: soft dual decomposition
(Anzaroot, Passos, Belanger & McCallum, "Learning soft linear constraints", ACL 2014). Neither is ever below 0, and a
constraint that the chain keeps by itself costs nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, Segments
from ..chain.paths import nbest
from ..chain.potentials import ChainPotentials
from ..labels import TagSet
from .decision import Decision, MethodSettings
from .family import Constraint
from .labelling import Fields, Labelling, UnitPredicates
from .problem import violations
from .strategy import decode

# no solver, no clock: what is not certified is good enough to learn from
QUICK = MethodSettings(max_iterations=10, budget=None, max_arcs=1, quiet=True)
BATCH_SIZE = 16  # sequences that are decoded together, under the same costs
ITERATIONS = 100


@dataclass(frozen=True)
class ScoredGold:
    """Sequences that a model was not trained on: their scores, the right tags (N,), and predicates, in packed order."""

    potentials: ChainPotentials
    gold: Ints
    predicates: UnitPredicates

    def select(self, sequences: Indices) -> "ScoredGold":
        """Some of the sequences, by their indices."""
        potentials, rows = self.potentials.select(sequences)
        return ScoredGold(potentials, self.gold[rows], self.predicates.at(rows))

    def paths(self) -> Iterator[tuple[Ints, UnitPredicates]]:
        """The right tags and the predicates of each sequence, in the order given."""
        for rows in self.potentials.batch.segments.split(self.potentials.batch.rows):
            yield self.gold[rows], self.predicates.at(rows)

    def decisions(self, constraints: Sequence[Constraint], tags: TagSet) -> list[Decision]:
        """The best labellings under constraints."""
        return decode(self.potentials, constraints, tags, self.predicates, QUICK)

    def right_units(self, constraints: Sequence[Constraint], tags: TagSet) -> int:
        """How many units the best labellings have right."""
        pairs = zip(self.decisions(constraints, tags), self.paths())
        return sum(int((decision.labels == path).sum()) for decision, (path, _) in pairs)


def charged(constraints: Sequence[Constraint], costs: Doubles) -> list[Constraint]:
    """The constraints with other costs."""
    return [replace(constraint, cost=float(cost)) for constraint, cost in zip(constraints, costs)]


def violation_table(found: Iterable[dict[int, int]], n_constraints: int) -> Indices:
    """((B, R)): violations of each sequence."""
    rows = [[own.get(index, 0) for index in range(n_constraints)] for own in found]
    return np.array(rows, dtype=np.intp).reshape(len(rows), n_constraints)


def gold_violations(part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet) -> Indices:
    """((B, R)): how often the right labellings break each constraint, as costs count it."""
    fields = Fields(tags)
    seen = (Labelling(path.tolist(), fields, predicates) for path, predicates in part.paths())
    return violation_table((violations(constraints, labelling) for labelling in seen), len(constraints))


def decoded_violations(part: ScoredGold, constraints: Sequence[Constraint], tags: TagSet) -> Indices:
    """((B, R)): how often the best labellings break each constraint."""
    return violation_table((one.violated for one in part.decisions(constraints, tags)), len(constraints))


def perceptron_costs(
    parts: Sequence[ScoredGold],
    constraints: Sequence[Constraint],
    tags: TagSet,
    given: Sequence[Constraint] = (),
    *,
    epochs: int = 5,
    step: float = 0.1,
    batch_size: int = BATCH_SIZE,
    seed: int = 0,
) -> Doubles:
    """((R,)): costs under which labellings break constraints as often as gold does; 0 for what is not worth having.

    Costs begin at 0. After each batch c <- max(0, c + step (violations of the labellings - violations of gold)); what
    is returned is their mean over all updates. One decoding of each sequence an epoch.

    parts (sequence of ScoredGold): sequences, and their scores under models that were trained without them.
    constraints (sequence of Constraint): what may be charged for; their own costs are not looked at.
    given (sequence of Constraint): others, which are in force at their own costs. seed (int): of the order.
    """
    rng = np.random.default_rng(seed)
    gold = [gold_violations(part, constraints, tags) for part in parts]
    costs, total, updates = np.zeros(len(constraints)), np.zeros(len(constraints)), 0
    for _ in range(epochs):
        orders = [rng.permutation(part.potentials.batch.n_sequences) for part in parts]
        batches = [
            (number, order[low : low + batch_size])
            for number, order in enumerate(orders)
            for low in range(0, len(order), batch_size)
        ]
        for number, own in (batches[place] for place in rng.permutation(len(batches))):
            now = [*charged(constraints, costs), *given]
            found = decoded_violations(parts[number].select(own), now, tags)[:, : len(constraints)]
            costs = np.maximum(0.0, costs + step * (found - gold[number][own]).sum(axis=0))
            total, updates = total + costs, updates + 1
    return total / max(updates, 1)


def likely_costs(
    parts: Sequence[ScoredGold],
    constraints: Sequence[Constraint],
    tags: TagSet,
    given: Sequence[Constraint] = (),
    *,
    strength: float = 0.3,
    paths: int = 20,
) -> Doubles:
    """((R,)): costs of the greatest conditional likelihood; 0 for what is not worth having. See `perceptron_costs`.

    O(M R) for an evaluation, with M labellings, the best `paths` of the chain for each sequence, and R constraints.
    strength (float): of the prior: times the sum of squared costs, as `c2` of a trainer.
    """
    from scipy.optimize import minimize

    choices, start = choices_of(parts, constraints, tags, paths, given), np.zeros(len(constraints))
    if not len(constraints) or not len(choices.starts):
        return start

    def objective(costs: Doubles) -> tuple[float, Doubles]:
        loss, gradient = loss_and_gradient(choices, costs)
        return loss + strength * float(costs @ costs), gradient + 2 * strength * costs

    limits = {"bounds": [(0.0, None)] * len(constraints), "options": {"maxiter": ITERATIONS}}
    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B", **limits).x)


class Choices(NamedTuple):
    """The labellings to choose from, those of one sequence after the other.

    scores ((M,)): of the chain. broken ((M, R)): violations. right ((M,)): those of a sequence that are nearest to
        gold. starts ((B,)): where each sequence begins. owners ((M,)): the sequence of each.
    """

    scores: Doubles
    broken: Doubles
    right: Bools
    starts: Indices
    owners: Indices


def choices_of(
    parts: Sequence[ScoredGold], constraints: Sequence[Constraint], tags: TagSet, k: int, given: Sequence[Constraint]
) -> Choices:
    """The k best labellings of each sequence that is not empty, but for those that break a hard given constraint."""
    every, prices = [*constraints, *given], np.array([constraint.cost for constraint in given])
    finite = np.where(np.isfinite(prices), prices, 0)
    scores, broken, right = [np.zeros(0)], [np.zeros((0, len(constraints)))], [np.zeros(0, dtype=bool)]
    for labellings, own_scores, hits in (one for part in parts for one in _best(part, tags, k)):
        table = violation_table((violations(every, labelling) for labelling in labellings), len(every))
        table, own = table[:, : len(constraints)], table[:, len(constraints) :]
        allowed = ~(own[:, np.isinf(prices)] > 0).any(axis=1)
        allowed |= not allowed.any()
        broken.append(table[allowed].astype(np.float64))
        scores.append((own_scores - own @ finite)[allowed])
        right.append(hits[allowed] == hits[allowed].max())
    sequences = Segments.of(scores[1:])
    joined = (np.concatenate(scores), np.concatenate(broken), np.concatenate(right))
    return Choices(*joined, sequences.firsts, sequences.owners)


def _best(part: ScoredGold, tags: TagSet, k: int) -> Iterator[tuple[list[Labelling], Doubles, Indices]]:
    """For each sequence that is not empty its best labellings, their scores, and how many units each has right."""
    fields, best, batch = Fields(tags), nbest(part.potentials, k), part.potentials.batch
    for sequence, (rows, (gold, predicates)) in enumerate(zip(batch.segments.split(batch.rows), part.paths())):
        if len(rows):
            paths = best.labels[: best.counts[sequence], rows]
            labellings = [Labelling(path.tolist(), fields, predicates) for path in paths]
            yield labellings, best.scores[sequence, : len(paths)], (paths == gold).sum(axis=1)


def loss_and_gradient(choices: Choices, costs: Doubles) -> tuple[float, Doubles]:
    """-log likelihood of the right labellings among all, and its gradient by the costs, (R,)."""
    scores = choices.scores - choices.broken @ costs
    all_log, all_share = _normalised(scores, choices)
    right_log, right_share = _normalised(np.where(choices.right, scores, -np.inf), choices)
    return float((all_log - right_log).sum()), choices.broken.T @ (right_share - all_share)


def _normalised(scores: Doubles, choices: Choices) -> tuple[Doubles, Doubles]:
    """Log of the sum of exp over each sequence (B,), and each labelling's share of it (M,)."""
    most = np.maximum.reduceat(scores, choices.starts)
    weights = np.exp(scores - most[choices.owners])
    sums = np.add.reduceat(weights, choices.starts)
    return np.log(sums) + most, weights / sums[choices.owners]
