"""Decoding under constraints in one call: ever stronger methods, an answer that says which one gave it, and reasons.

Viterbi is the answer where it breaks nothing. Lagrangian relaxation often proves its own; dynamic programming over the
automata of the constraints is exact where they are small enough; an integer programme is the last resort. Hard
constraints that cannot hold together are relaxed, those with the least sum of priorities.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..labels import TagSet
from .family import Constraint, violations
from .ilp import require_solver
from .labelling import Fields, Labelling, UnitPredicates
from .problem import Problem, Trellis
from .strategy import Case, Decision, MethodSettings, Strategy

CELLS = 1 << 22  # edges that are relaxed side by side


def decode(
    potentials: ChainPotentials,
    constraints: Sequence[Constraint],
    tags: TagSet,
    predicates: UnitPredicates | None = None,
    settings: MethodSettings | None = None,
    names: Sequence[str] | None = None,
) -> list[Decision]:
    """The labelling of each sequence with the greatest score minus costs that breaks no hard constraint.

    potentials (ChainPotentials): of a batch; float64 where certificates are to be exact.
    constraints (sequence of Constraint): for all of its sequences. tags (TagSet): of the chain.
    predicates (UnitPredicates | None): of the units, in packed order.
    settings (MethodSettings | None): None for the defaults. names (sequence of str): of the sequences, for warnings.
    RETURNS (list of Decision): in the order the sequences were given. Uncertified answers, relaxed constraints and
        solvers that fail give a warning that names the sequence.
    RAISES (ValueError): for constraints with unknown labels or without the predicates that they ask for, and if the
        method "ilp" has no solver.
    RAISES (NonFiniteError, NoPathError): as `viterbi`.
    """
    settings = settings or MethodSettings()
    fields, predicates = Fields(tags), predicates or UnitPredicates(potentials.batch.n_units)
    for constraint in constraints:
        constraint.check(fields, predicates)
    if settings.method == "ilp":
        require_solver(settings.solver)
    found = viterbi(potentials)
    bounds = np.concatenate([[0], np.cumsum(potentials.batch.lengths)]).tolist()
    rows = [potentials.batch.rows[low:high] for low, high in pairwise(bounds)]
    decisions: dict[int, Decision] = {}
    for index, (own, score) in enumerate(zip(rows, found.scores.tolist())):
        path = found.labels[own]
        broken = violations(constraints, Labelling(path.tolist(), fields, predicates.at(own)))
        if not any(constraints[one].cost for one in broken):
            decisions[index] = Decision(path, score, score, score, score, "viterbi", 0, broken, viterbi_violated=broken)
    strategy = Strategy(settings, names)
    for part in _parts([index for index in range(len(rows)) if index not in decisions], potentials):
        cases = []
        for index in part:
            own = rows[index]
            problem = Problem(Trellis.of(potentials, own), constraints, fields, predicates.at(own))
            cases.append(Case(index, problem, found.labels[own]))
        decisions |= zip(part, strategy.decide(cases))
    return [decisions[index] for index in range(len(rows))]


def _parts(sequences: list[int], potentials: ChainPotentials) -> list[list[int]]:
    """Runs of sequences whose edges fit into memory together."""
    parts: list[list[int]] = []
    filled = CELLS
    for sequence in sequences:
        size = int(potentials.batch.lengths[sequence]) * potentials.n_labels**2
        if filled + size > CELLS:
            parts.append([])
            filled = 0
        parts[-1].append(sequence)
        filled += size
    return parts


# -- reasons ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A unit of a sequence with another tag than without constraints.

    unit (int): its place. before (int), after (int): tags without and with the constraints.
    because (tuple of tuples of int): sets of constraints, by their indices, each of which accounts for the change:
        every single one without which the unit has its tag back; or else one smallest set.
    """

    unit: int
    before: int
    after: int
    because: tuple[tuple[int, ...], ...]


def explain(
    potentials: ChainPotentials,
    sequence: int,
    decision: Decision,
    constraints: Sequence[Constraint],
    tags: TagSet,
    predicates: UnitPredicates | None = None,
    settings: MethodSettings | None = None,
) -> list[Change]:
    """The changes that constraints made to one sequence, each with its reasons.

    A change is due to a constraint if decoding without it restores the tag. Where no single one does that, a smallest
    set is named: without all of its constraints the tag is restored, and without any proper part of the rest it is not.
    It is found by deletion, so that another one of the same kind may exist. If the labelling is certified, only
    constraints that its bound rests on, or that it breaks, can be reasons. One decoding for each of them.

    potentials, constraints, tags, predicates, settings: as they were given to `decode`.
    sequence (int): its index in the batch. decision (Decision): of `decode` for it.
    RETURNS (list of Change): in the order of the units; empty if the labels are those of Viterbi.
    """
    own, rows = potentials.select(np.array([sequence]))
    own_predicates = None if predicates is None else predicates.at(rows)
    plain = viterbi(own).labels
    changed = np.flatnonzero(plain != decision.labels).tolist()
    if not changed:
        return []
    kept = [index for index, one in enumerate(constraints) if one.cost > 0 and index not in decision.relaxed]
    tried = {*decision.grounds, *decision.violated} if decision.certified else set(kept)
    by_score = replace(settings or MethodSettings(), objective="score")
    known: dict[frozenset[int], Ints] = {}

    def without(left_out: frozenset[int]) -> Ints:
        if left_out not in known:
            some = [constraints[index] for index in kept if index not in left_out]
            known[left_out] = decode(own, some, tags, own_predicates, by_score)[0].labels
        return known[left_out]

    alone = {index: without(frozenset({index})) for index in kept if index in tried}
    changes = []
    for unit, before in zip(changed, plain[changed].tolist()):
        restoring = tuple((index,) for index, labels in alone.items() if labels[unit] == before)
        because = restoring or (_smallest(without, kept, unit, before),)
        changes.append(Change(unit, before, int(decision.labels[unit]), because))
    return changes


def _smallest(without: Callable[[frozenset[int]], Ints], kept: list[int], unit: int, tag: int) -> tuple[int, ...]:
    """Constraints without which a unit has a tag, none of which can be kept."""
    left_out = frozenset(kept)
    for index in kept:
        if without(left_out - {index})[unit] == tag:
            left_out -= {index}
    return tuple(sorted(left_out))
