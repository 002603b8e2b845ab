"""One sequence to be decoded under constraints: the scores of its edges, and the objective.

Emissions, start and end scores are folded into the edges, so that a cost for any edge at any unit is one addition.
Constraints whose violations are single edges, each paid for, are charged to these scores once and for all: for them
Viterbi is exact. What is left needs more.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays import Bools, Doubles, Indices, Ints, cached_property, pack
from ..chain.edges import EdgePotentials
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from .family import Constraint
from .labelling import Fields, Indicators, Inequalities, Labelling, UnitPredicates

RESOLUTION = 100_000  # of priorities


@dataclass(frozen=True)
class Trellis:
    """The scores of the edges of one sequence of T > 0 units: of the first (L,), and (T - 1, L, L) [unit, from, to]."""

    first: Doubles
    inner: Doubles

    @classmethod
    def of(cls, potentials: ChainPotentials, rows: Indices) -> "Trellis":
        """The trellis of a sequence, in float64. rows ((T,)): its packed rows."""
        emissions = potentials.emissions[rows].astype(np.float64)
        first = emissions[0] + potentials.start
        inner = potentials.into(rows[1:]) + emissions[1:, None, :]
        (inner[-1] if len(inner) else first)[...] += potentials.end
        return cls(first, inner)

    @property
    def n_units(self) -> int:
        return len(self.inner) + 1

    @property
    def n_edges(self) -> int:
        """Edges that are allowed."""
        return int(np.count_nonzero(self.first > -np.inf) + np.count_nonzero(self.inner > -np.inf))

    def score(self, path: Ints) -> float:
        """Score of a labelling of T tags."""
        return float(self.first[path[0]] + self.inner[np.arange(len(self.inner)), path[:-1], path[1:]].sum())

    @cached_property
    def completions(self) -> Doubles:
        """((T, L)): score of the best way on from each tag to the end, without what came before. O(T L^2)."""
        best = np.zeros((self.n_units, len(self.first)))
        for unit in range(self.n_units - 2, -1, -1):
            np.max(self.inner[unit] + best[unit + 1], axis=1, out=best[unit])
        return best

    def restrict(self, least: float, scores: "Trellis") -> "Trellis":
        """Leave out the edges that no labelling takes which scores at least some value in another trellis. O(T L^2)."""
        before = np.empty_like(scores.completions)  # score of the best way to each tag
        before[0] = scores.first
        for unit, inner in enumerate(scores.inner):
            np.max(before[unit, :, None] + inner, axis=0, out=before[unit + 1])
        through = before[:-1, :, None] + scores.inner + scores.completions[1:, None, :]
        first = np.where(scores.first + scores.completions[0] >= least, self.first, -np.inf)
        return Trellis(first, np.where(through >= least, self.inner, -np.inf))

    @property
    def bound(self) -> float:
        """Score of the best labelling without constraints."""
        return float((self.first + self.completions[0]).max())

    @property
    def floor(self) -> float:
        """A number that no labelling that the chain allows scores less than."""
        low, rest = (np.where(scores > -np.inf, scores, np.inf) for scores in (self.first, self.inner))
        return float(low.min() + rest.min(axis=(1, 2)).sum())

    def copy(self) -> "Trellis":
        return Trellis(self.first.copy(), self.inner.copy())

    def subtract(self, cost: float, mask: Bools, low: int, high: int) -> None:
        """Charge a cost for edges of units low..high-1 in a mask (L + 1, L), its last row for the first unit."""
        if low == 0 and high > 0:
            self.first[mask[-1]] -= cost
        if high > max(low, 1):
            self.inner[max(low, 1) - 1 : high - 1][:, mask[:-1]] -= cost

    def charge(self, cost: float, blocks: Sequence[Inequalities]) -> None:
        """Charge a cost for every edge that inequalities of one indicator each are about, in place."""
        for block in blocks:
            (term,) = block.terms
            for run in np.split(term.lows, np.flatnonzero(np.diff(term.lows) != 1) + 1):
                if len(run):
                    self.subtract(cost, term.mask, int(run[0]), int(run[-1]) + 1)


def best_paths(trellises: Sequence[Trellis]) -> tuple[list[Ints], Doubles]:
    """Return the best labelling of each trellis and their scores (B,), by one Viterbi pass over all. O(N L^2)."""
    lengths = np.array([trellis.n_units for trellis in trellises])
    batch, ends, n_labels = pack(lengths), np.cumsum(lengths), len(trellises[0].first)
    matrices, emissions = np.zeros((batch.n_units, n_labels, n_labels)), np.zeros((batch.n_units, n_labels))
    for trellis, end in zip(trellises, ends.tolist()):
        own = batch.rows[end - trellis.n_units : end]
        emissions[own[0]], matrices[own[1:]] = trellis.first, trellis.inner
    edges, nothing = EdgePotentials(matrices, np.arange(batch.n_units)), np.zeros(n_labels)
    found = viterbi(ChainPotentials(batch, emissions, np.zeros((n_labels, n_labels)), nothing, nothing, edges))
    return np.split(found.labels[batch.rows], ends[:-1]), found.scores


def violations(constraints: Sequence[Constraint], seen: Labelling) -> dict[int, int]:
    """Indices of the constraints that are broken, and how often. O(R T)."""
    return {index: times for index, constraint in enumerate(constraints) if (times := constraint.broken(seen))}


def penalty(constraints: Sequence[Constraint], found: dict[int, int]) -> float:
    """The costs of violations, as `violations` counts them; infinite for a hard constraint."""
    return sum((constraints[index].cost * times for index, times in found.items()), 0.0)


class Value(NamedTuple):
    """A labelling: its score, its score minus costs (-inf if it breaks a hard constraint), and what it breaks."""

    score: float
    objective: float
    violated: dict[int, int]


@dataclass(frozen=True)
class Problem:
    """What is to be maximised over the labellings of one sequence: score minus the costs of what is violated.

    priorities (mapping): of the constraints, by their indices, that have been softened, in terms of the least one: see
        `softened`.
    """

    trellis: Trellis
    constraints: Sequence[Constraint]
    fields: Fields
    predicates: UnitPredicates
    priorities: Mapping[int, float] = field(default_factory=dict)
    _values: dict[bytes, Value] = field(default_factory=dict, compare=False, repr=False)
    _rows: dict[int, list[Inequalities]] = field(default_factory=dict, compare=False, repr=False)

    def value(self, path: Ints) -> Value:
        """Score, objective and violations of a labelling; remembered."""
        key = path.tobytes()
        if key not in self._values:
            violated = violations(self.constraints, Labelling(path.tolist(), self.fields, self.predicates))
            score = self.trellis.score(path)
            self._values[key] = Value(score, score - penalty(self.constraints, violated), violated)
        return self._values[key]

    def penalty(self, path: Ints) -> float:
        """The costs of what a labelling violates, without those of constraints that have been softened."""
        violated = self.value(path).violated.items()
        return penalty(self.constraints, {index: times for index, times in violated if index not in self.priorities})

    def given_up(self, path: Ints) -> float:
        """The sum of the priorities of softened constraints that a labelling breaks."""
        return math.fsum(self.priorities.get(index, 0.0) for index in self.value(path).violated)

    def restrict(self, least: float, scores: Trellis) -> "Problem":
        """The problem without the edges that no labelling takes which scores at least some value in a trellis."""
        return replace(self, trellis=self.trellis.restrict(least, scores))

    def with_constraints(
        self, constraints: Sequence[Constraint], priorities: Mapping[int, float] | None = None
    ) -> "Problem":
        """The same sequence under other constraints."""
        return Problem(self.trellis, constraints, self.fields, self.predicates, priorities or {})

    def softened(self) -> "Problem":
        """The problem with hard constraints at costs for which the best labelling breaks the least sum of priorities.

        These costs are multiples of the priorities. Sums that differ, however little, differ by more than all that
        scores and other costs bring; but for sums nearer to each other than a hundred-thousandth of the least priority.
        """
        hard = {index: one.priority for index, one in enumerate(self.constraints) if one.hard}
        priorities = {index: priority / min(hard.values()) for index, priority in hard.items()}
        soft = self.with_constraints([replace(one, cost=0.0) if one.hard else one for one in self.constraints])
        top = self.trellis.bound
        unit = (max(1.0, abs(top)) + top - soft.floor) / least_difference(list(priorities.values()))
        costs = {index: unit * priority for index, priority in priorities.items()}
        constraints = [
            replace(one, cost=costs[index], count="once") if index in costs else one
            for index, one in enumerate(self.constraints)
        ]
        return self.with_constraints(constraints, priorities)

    def rows(self, index: int) -> list[Inequalities]:
        """The inequalities of a constraint; made when they are needed."""
        if index not in self._rows:
            constraint = self.constraints[index]
            self._rows[index] = constraint.rows(Indicators(self.fields, constraint.level, self.predicates))
        return self._rows[index]

    @cached_property
    def local(self) -> list[int]:
        """Indices of the constraints that are charged to edges."""
        return [index for index, one in enumerate(self.constraints) if one.cost > 0 and one.is_local]

    @cached_property
    def left(self) -> list[int]:
        """Indices of the constraints that cannot be charged to edges and may cost something."""
        return [index for index, one in enumerate(self.constraints) if one.cost > 0 and not one.is_local]

    @cached_property
    def floor(self) -> float:
        """A number that the objective of no labelling is below that breaks no hard constraint."""
        size = self.trellis.n_units, len(self.fields.names)
        soft = (self.constraints[index] for index in self.left if not self.constraints[index].hard)
        return self.charged.floor - sum(one.cost * one.most_violations(*size) for one in soft)

    @cached_property
    def charged(self) -> Trellis:
        """The trellis with the costs of local constraints, and -inf for what a hard one forbids."""
        trellis = self.trellis.copy() if self.local else self.trellis
        for index in self.local:
            trellis.charge(self.constraints[index].cost, self.rows(index))
        return trellis


def least_difference(numbers: Sequence[float]) -> float:
    """The least by which sums of some positive numbers differ, but at least 1 / 100,000 of the least number.

    >>> least_difference([1.0, 1.05, 3.0])
    0.05
    """
    exact = [Fraction(number).limit_denominator(RESOLUTION) for number in numbers]
    whole = math.lcm(*(number.denominator for number in exact))
    divisor = Fraction(math.gcd(*(int(number * whole) for number in exact)), whole)
    return max(float(divisor), min(numbers) / RESOLUTION)
