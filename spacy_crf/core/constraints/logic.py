"""What sets of constraints say together, proved by searching the product of their automata over all labellings.

Constraints that ask for facts about units are left out: what they say differs from sequence to sequence.
"""

from collections.abc import Sequence
from typing import Any

from ..errors import CoreErrors, CRFError
from ..labels import OUTSIDE, TagSet
from .families import Constraint
from .monitors import watch
from .predicates import NOTHING, Fields, UnitFacts
from .spelling import to_text

MAX_STATES = 20_000
NO_FACTS = UnitFacts(0)
OTHER = "\0other"  # stands for all labels that the constraints do not name


def contradiction(constraints: Sequence[Constraint], fields: Fields, max_states: int = MAX_STATES) -> list[int]:
    """Indices of hard constraints that no labelling of any length satisfies together.

    constraints (sequence of Constraint): those that are soft or ask for facts are passed over.
    max_states (int): give up where the product has more.
    RETURNS (list of int): a set from which none can be left out, empty if there is no contradiction or none was found.
    """
    kept = [index for index, constraint in enumerate(constraints) if constraint.hard and not constraint.asks_for_facts]

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
    """Raise a coded error for hard constraints that contradict each other.

    RAISES (ValueError): with a smallest set of them.
    """
    found = contradiction(constraints, Fields(tags))
    if found:
        raise CRFError(CoreErrors.CRF909.format(listing="; ".join(to_text(constraints[index]) for index in found)))


def implies(premises: Sequence[Constraint], conclusion: Constraint, fields: Fields, max_states: int = 2000) -> bool:
    """Whether every labelling that breaks a constraint breaks one of some others; False if it could not be proved.

    premises (sequence of Constraint), conclusion (Constraint): that ask for no facts; their costs play no role.
    fields (Fields): of the chain. Labels that are not named are treated as one.
    """
    small = _abstract([*premises, conclusion], fields)
    return _witnessed(premises, conclusion, small, max_states) is False


def _abstract(constraints: Sequence[Constraint], fields: Fields) -> Fields:
    """The labels that constraints name, and one more, with touching segments where the chain allows them."""
    named = dict.fromkeys(label for constraint in constraints for labels in constraint.label_sets for label in labels)
    if fields.tags.scheme == "none":
        return Fields(TagSet((*named, OTHER), "none"))
    spans = tuple(label for label in (*named, OTHER) if label != OUTSIDE)
    return Fields(TagSet.of_spans(spans, "BIO"))


def _witnessed(kept: Sequence[Constraint], broken: Constraint | None, fields: Fields, max_states: int) -> bool | None:
    """Whether a labelling keeps some constraints and breaks another one (if given); None if the search was stopped."""
    monitors = [watch(constraint, fields, NO_FACTS) for constraint in kept]
    target = None if broken is None else watch(broken, fields, NO_FACTS)
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


def _moved(monitors: Sequence[Any], states: tuple[Any, ...], before: int, tag: int) -> tuple[Any, ...] | None:
    """The states behind an edge, None if it breaks something."""
    moved = []
    for monitor, state in zip(monitors, states):
        following, times = monitor.step(state, None, before, tag)
        if times:
            return None
        moved.append(following)
    return tuple(moved)
