"""What sets of constraints say together, proved by searching the product of their automata over all labellings.

Constraints that ask for more than labels are left out: what they say differs from sequence to sequence.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import Bools
from ..errors import CoreErrors, CRFError
from ..labels import OUTSIDE, TagSet
from .family import Constraint
from .labelling import NOTHING, Fields, Labelling, UnitPredicates
from .meaning import Monitor

MAX_STATES = 20_000
NO_PREDICATES = UnitPredicates(0)
OTHER = "\0other"  # stands for all labels that the constraints do not name
SAMPLES = 400  # random labellings that show which constraints cannot imply which
LONGEST = 8


def contradiction(constraints: Sequence[Constraint], fields: Fields, max_states: int = MAX_STATES) -> list[int]:
    """Indices of hard constraints that no labelling of any length satisfies together.

    constraints (sequence of Constraint): those that are soft or ask for more than labels are passed over.
    max_states (int): give up where the product has more.
    RETURNS (list of int): a set from which none can be left out, empty if there is no contradiction or none was found.
    """
    kept = [index for index, constraint in enumerate(constraints) if constraint.hard and constraint.asks is None]

    def impossible(indices: list[int]) -> bool:
        return _witnessed([constraints[index] for index in indices], None, fields, max_states) is False

    if not impossible(kept):
        return []
    for index in list(kept):
        fewer = [other for other in kept if other != index]
        if impossible(fewer):
            kept = fewer
    return kept


def require_consistent(constraints: Sequence[Constraint], tags: TagSet) -> None:
    """Raise a coded error for hard constraints that contradict each other, with a smallest set of them."""
    found = contradiction(constraints, Fields(tags))
    if found:
        raise CRFError(CoreErrors.CRF909.format(listing="; ".join(str(constraints[index]) for index in found)))


def implies(premises: Sequence[Constraint], conclusion: Constraint, fields: Fields, max_states: int = 2000) -> bool:
    """Whether every labelling that breaks a constraint breaks one of some others; False if it could not be proved.

    premises (sequence of Constraint), conclusion (Constraint): that ask for labels only; costs play no role.
    fields (Fields): of the chain. Labels that are not named are treated as one.
    """
    small = _abstract([*premises, conclusion], fields)
    return _witnessed(premises, conclusion, small, max_states) is False


def without_implied(ordered: Sequence[Constraint], fields: Fields, seed: int) -> list[Constraint]:
    """The constraints that the ones before them do not imply, one alone or two together.

    seed (int): of the random labellings that show where no proof need be tried.
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
    own = {label for labels in first.label_sets for label in labels}
    return any(label in own for labels in second.label_sets for label in labels)


def _random_violations(constraints: Sequence[Constraint], fields: Fields, seed: int) -> Bools:
    """((SAMPLES, R)): which constraints random labellings break. Most labellings hold few labels, to break more."""
    rng = np.random.default_rng(seed)
    out = np.zeros((SAMPLES, len(constraints)), dtype=bool)
    for sample in range(SAMPLES):
        tags = rng.choice(len(fields.tags), rng.integers(1, 5))
        path = rng.choice(tags, rng.integers(1, LONGEST)).tolist()
        labelling = Labelling(path, fields, UnitPredicates(len(path)))
        out[sample] = [constraint.broken(labelling) > 0 for constraint in constraints]
    return out


def _abstract(constraints: Sequence[Constraint], fields: Fields) -> Fields:
    """The labels that constraints name, and one more, with touching segments where the chain allows them."""
    named = dict.fromkeys(label for constraint in constraints for labels in constraint.label_sets for label in labels)
    if fields.tags.scheme == "none":
        return Fields(TagSet((*named, OTHER), "none"))
    spans = tuple(label for label in (*named, OTHER) if label != OUTSIDE)
    return Fields(TagSet.of_spans(spans, "BIO"))


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
