"""Which constraint changed which unit: what decoding without it would have said.

A change is due to a constraint if decoding without it restores the label. Where no single one does that, a smallest set
is named: without all of its constraints the label is restored, and without any proper part of the rest it is not. The
set is found by deletion, so that another one of the same kind may exist.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..labels import TagSet
from .decision import Decision, Settings
from .decode import decode
from .families import Constraint
from .predicates import UnitFacts


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
    facts: UnitFacts | None = None,
    settings: Settings | None = None,
) -> list[Change]:
    """The changes that constraints made to one sequence, each with its reasons.

    If the labelling is certified, only constraints that its bound rests on, or that it breaks, can be reasons: without
    any other it is still the best. One decoding for each of them.

    potentials (ChainPotentials), constraints, tags, facts, settings: as they were given to `decode`.
    sequence (int): its index in the batch. decision (Decision): of `decode` for it.
    RETURNS (list of Change): in the order of the units; empty if the labels are those of Viterbi.
    """
    own, rows = potentials.select(np.array([sequence]))
    own_facts = None if facts is None else facts.at(rows)
    plain = viterbi(own).labels
    changed = np.flatnonzero(plain != decision.labels).tolist()
    if not changed:
        return []
    kept = [index for index, one in enumerate(constraints) if one.cost > 0 and index not in decision.relaxed]
    tried = {*decision.grounds, *decision.violated} if decision.certified else set(kept)
    settings = replace(settings or Settings(), objective="score")
    without = _Decoder(
        lambda left: decode(own, [constraints[index] for index in left], tags, own_facts, settings)[0].labels, kept
    )
    alone = {index: without(frozenset({index})) for index in kept if index in tried}
    changes = []
    for unit in changed:
        restoring = [index for index, labels in alone.items() if labels[unit] == plain[unit]]
        because = tuple((index,) for index in restoring) or (_smallest(without, unit, int(plain[unit])),)
        changes.append(Change(unit, int(plain[unit]), int(decision.labels[unit]), because))
    return changes


class _Decoder:
    """Labels without some constraints, each set decoded once.

    decode (callable): constraints, by their indices, to labels. constraints (list of int): all of them.
    """

    def __init__(self, decode: Callable[[list[int]], Ints], constraints: list[int]):
        self.constraints = constraints
        self._decode = decode
        self._known: dict[frozenset[int], Ints] = {}

    def __call__(self, left_out: frozenset[int]) -> Ints:
        if left_out not in self._known:
            self._known[left_out] = self._decode([one for one in self.constraints if one not in left_out])
        return self._known[left_out]


def _smallest(without: _Decoder, unit: int, tag: int) -> tuple[int, ...]:
    """Constraints without which a unit has a tag, none of which can be kept."""
    left_out = frozenset(without.constraints)
    for index in without.constraints:
        fewer = left_out - {index}
        if without(fewer)[unit] == tag:
            left_out = fewer
    return tuple(sorted(left_out))
