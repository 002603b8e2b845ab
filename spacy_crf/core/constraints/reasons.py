"""Which constraints are to blame: for a contradiction, for what others imply, and for what changes in a labelling.

The first two are proved by searching the product of automata over all labellings. Constraints that ask for more than
labels are left out: what they say differs from sequence to sequence.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np

from ..arrays import Bools, Ints
from ..chain.potentials import ChainPotentials
from ..chain.viterbi import viterbi
from ..errors import CoreErrors, CRFError
from ..labels import OUTSIDE, TagSet
from .decision import Decision, MethodSettings
from .family import Constraint
from .labelling import NOTHING, Fields, Labelling, Monitor, UnitPredicates
from .strategy import decode

MAX_STATES, FEW_STATES = 20_000, 2000
NO_PREDICATES = UnitPredicates(0)
OTHER = "\0other"  # stands for all labels that the constraints do not name
SAMPLES = 400  # random labellings that show which constraints cannot imply which
LONGEST = 8

MOST_TIMES = 1_000_000_000  # that a priority may be of another: sums in double precision must tell them apart
MOST_COST = 1_000_000_000  # beside which scores still count in double precision


def contradiction(constraints: Sequence[Constraint], fields: Fields, max_states: int = MAX_STATES) -> list[int]:
    """Indices of hard constraints that no labelling of any length satisfies together, none of which can be left out.

    Those that are soft or ask for more than labels are passed over. Empty if there is no contradiction, or none was
    found in a product of at most `max_states`.
    """
    asked = [index for index, constraint in enumerate(constraints) if constraint.hard and constraint.asks is None]

    def impossible(indices: list[int]) -> bool:
        return _witnessed([constraints[index] for index in indices], None, fields, max_states) is False

    return _smallest(asked, impossible) if impossible(asked) else []


def _smallest(indices: list[int], holds: Callable[[list[int]], bool]) -> list[int]:
    """A part of some indices for which something still holds, and of which none can be left out."""
    for index in indices:
        fewer = [other for other in indices if other != index]
        if holds(fewer):
            indices = fewer
    return indices


def require_consistent(constraints: Sequence[Constraint], tags: TagSet) -> None:
    """Raise a coded error for hard constraints that contradict each other, with a smallest set of them, and for costs
    that are too great, or priorities that are too far from each other, to be summed up."""
    for one in constraints:
        expected = f"at most {MOST_COST:,}; a constraint is hard without a cost"
        one.require("cost", one.hard or one.cost <= MOST_COST, expected)
    hard = sorted((one for one in constraints if one.hard), key=lambda one: one.priority)
    if hard:
        expected = f"at most {MOST_TIMES:,} times that of {hard[0]}"
        hard[-1].require("priority", hard[-1].priority <= MOST_TIMES * hard[0].priority, expected)
    found = contradiction(constraints, Fields(tags))
    if found:
        raise CRFError(CoreErrors.CRF909.format(listing="; ".join(str(constraints[index]) for index in found)))


def implies(premises: Sequence[Constraint], conclusion: Constraint, fields: Fields) -> bool:
    """Whether every labelling that breaks a constraint breaks one of some others; False if it could not be proved.

    All of them ask for labels only; costs play no role. Labels that are not named are treated as one.
    """
    small = _abstract([*premises, conclusion], fields)
    return _witnessed(premises, conclusion, small, FEW_STATES) is False


def without_implied(ordered: Sequence[Constraint], fields: Fields, seed: int) -> list[Constraint]:
    """The constraints that the ones before them do not imply, one alone or two together.

    Random labellings, drawn with the seed, show where no proof need be tried.
    """
    free = [constraint for constraint in ordered if constraint.asks is None]
    patterns = _random_violations(free, fields, seed)
    kept: list[int] = []
    dropped: set[Constraint] = set()
    for place, one in enumerate(free):
        here = patterns[:, place]  # a premise must be broken wherever the conclusion is
        possible = [own for own in kept if _share(free[own], one)]
        alone = [(own,) for own in possible if patterns[here, own].all()]
        both = [pair for pair in combinations(possible, 2) if patterns[here][:, pair].any(axis=1).all()]
        if any(implies([free[own] for own in premises], one, fields) for premises in (*alone, *both)):
            dropped.add(one)
        else:
            kept.append(place)
    return [constraint for constraint in ordered if constraint not in dropped]


def _share(first: Constraint, second: Constraint) -> bool:
    """Whether two constraints name a common label."""
    return not {*chain(*first.label_sets)}.isdisjoint(chain(*second.label_sets))


def _random_violations(constraints: Sequence[Constraint], fields: Fields, seed: int) -> Bools:
    """((SAMPLES, R)): which constraints random labellings break. Most labellings hold few labels, to break more."""
    rng = np.random.default_rng(seed)
    out = np.zeros((SAMPLES, len(constraints)), dtype=bool)
    for sample in range(SAMPLES):
        tags = rng.choice(len(fields.tags), rng.integers(1, 5))
        labelling = Labelling(rng.choice(tags, rng.integers(1, LONGEST)).tolist(), fields, NO_PREDICATES)
        out[sample] = [constraint.broken(labelling) > 0 for constraint in constraints]
    return out


def _abstract(constraints: Sequence[Constraint], fields: Fields) -> Fields:
    """The labels that constraints name, and one more, with touching segments where the chain allows them."""
    named = dict.fromkeys([*chain(*(labels for one in constraints for labels in one.label_sets)), OTHER])
    if fields.tags.scheme == "none":
        return Fields(TagSet(tuple(named), "none"))
    return Fields(TagSet.of_spans(tuple(label for label in named if label != OUTSIDE), "BIO"))


def _witnessed(kept: Sequence[Constraint], broken: Constraint | None, fields: Fields, max_states: int) -> bool | None:
    """Whether a labelling keeps some constraints and breaks another one (if given); None if the search was stopped."""
    monitors = [constraint.watch(fields, NO_PREDICATES) for constraint in kept]
    target = None if broken is None else broken.watch(fields, NO_PREDICATES)
    begin = (NOTHING, tuple(monitor.start for monitor in monitors), target.start if target else None, target is None)
    seen, stack = {begin}, [begin]
    while stack:
        tag, states, aim, reached = stack.pop()
        ends_well = tag != NOTHING and not any(m.finish(state, tag) for m, state in zip(monitors, states))
        if ends_well and (reached or (target is not None and target.finish(aim, tag))):
            return True
        for following in range(len(fields.tags)):
            moved = _moved(monitors, states, tag, following)
            if moved is None:
                continue
            ahead, times = target.step(aim, None, tag, following) if target else (None, 0)
            state: tuple[Any, ...] = (following, moved, ahead, reached or bool(times))
            if state not in seen:
                seen.add(state)
                stack.append(state)
        if len(seen) > max_states:
            return None
    return False


def _moved(monitors: Sequence[Monitor], states: tuple[Any, ...], before: int, tag: int) -> tuple[Any, ...] | None:
    """The states behind an edge, None if it breaks something."""
    moved = []
    for monitor, state in zip(monitors, states):
        following, times = monitor.step(state, None, before, tag)
        if times:
            return None
        moved.append(following)
    return tuple(moved)


@dataclass(frozen=True)
class Change:
    """A unit of a sequence with another tag than without constraints.

    because (tuple of tuples of int): sets of constraints, by their indices, each of which accounts for the change:
        every single one without which the unit has its tag back; or else one smallest set, as far as the budget goes.
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
    """The changes that constraints made to one sequence, each with its reasons, in the order of the units.

    A change is due to a constraint if decoding without it restores the tag. Where no single one does that, a smallest
    set is named: without all of its constraints the tag is restored, and without any proper part of the rest it is not.
    It is found by deletion, so that another one of the same kind may exist. If the labelling is certified, only
    constraints that its bound rests on, or that it breaks, can be reasons. One decoding for each of them, by the method
    "auto" whatever the settings say, and with its `budget` for all of them together: when it is spent, or another limit
    leaves an answer unproved, the sets that are named are no longer the smallest.

    sequence (int): its index in the batch. decision (Decision): of `decode` for it, with the other arguments.
    """
    own, rows = potentials.select(np.array([sequence]))
    own_predicates = None if predicates is None else predicates.at(rows)
    plain = viterbi(own).labels
    changed = np.flatnonzero(plain != decision.labels).tolist()
    if not changed:
        return []
    kept = [index for index, one in enumerate(constraints) if one.cost > 0 and index not in decision.relaxed]
    tried = {*decision.grounds, *decision.violated} if decision.certified else set(kept)

    # other questions than the one that was asked need proved answers, and no warnings
    surely = replace(settings or MethodSettings(), method="auto", quiet=True)
    deadline = time.monotonic() + surely.seconds

    @cache
    def without(*left_out: int) -> Ints | None:
        if (left := deadline - time.monotonic()) <= 0:
            return None
        some = [constraints[index] for index in kept if index not in left_out]
        found = decode(own, some, tags, own_predicates, replace(surely, budget=left))[0]
        return found.labels if found.certified else None  # what a limit has cut short says nothing

    alone = [index for index in kept if index in tried]
    changes = []
    for unit, before in zip(changed, plain[changed].tolist()):

        def restores(left_out: Sequence[int], unit: int = unit, before: int = before) -> bool:
            labels = without(*left_out)
            return labels is not None and bool(labels[unit] == before)

        singly: list[tuple[int, ...]] = [(index,) for index in alone if restores([index])]
        because = singly or [tuple(_smallest(kept, restores))]
        changes.append(Change(unit, before, int(decision.labels[unit]), tuple(because)))
    return changes
