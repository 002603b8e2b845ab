"""What components that decode under constraints tell of a Doc."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.constraints.decision import METHODS
from ..core.constraints.families import Constraint
from ..core.constraints.spelling import to_text
from ..core.labels import TagSet
from ..pipe.constrained import Decided

STRENGTH = ("viterbi", *METHODS["auto"])


def decode_info(decided: Sequence[Decided], constraints: Sequence[Constraint]) -> dict[str, Any]:
    """How a Doc was decoded: sums over its sequences, and the strongest method that any of them took.

    decided (list of Decided): of its sequences. constraints (list of Constraint): that were in force.
    RETURNS (dict): method (str); certified (bool): no labelling of any sequence has a greater objective by more than
        1e-6 max(1, |score|), under the constraints that were not relaxed; gap, score, objective, viterbi_score (float),
        iterations (int), milliseconds (float); violated, viterbi_violated (dict): texts of constraints that the labels
        break, and that those of Viterbi break, and how often; relaxed (list of str): texts of constraints given up.
    """
    texts: dict[int, str] = {}
    for one in decided:
        own = one.decision
        for index in (*own.violated, *own.viterbi_violated, *own.relaxed):
            texts[index] = texts.get(index) or to_text(constraints[index])
    decisions = [one.decision for one in decided]
    return {
        "method": max((decision.method for decision in decisions), key=STRENGTH.index, default="viterbi"),
        "certified": all(decision.certified for decision in decisions),
        "gap": float(sum(decision.gap for decision in decisions)),
        "iterations": sum(decision.iterations for decision in decisions),
        "score": float(sum(decision.score for decision in decisions)),
        "objective": float(sum(decision.objective for decision in decisions)),
        "viterbi_score": float(sum(decision.viterbi_score for decision in decisions)),
        "violated": _times((decision.violated for decision in decisions), texts),
        "viterbi_violated": _times((decision.viterbi_violated for decision in decisions), texts),
        "relaxed": list(dict.fromkeys(texts[index] for decision in decisions for index in decision.relaxed)),
        "milliseconds": float(sum(one.milliseconds for one in decided)),
    }


def constraint_changes(
    decided: Sequence[Decided], constraints: Sequence[Constraint], tags: TagSet
) -> list[dict[str, Any]]:
    """What constraints changed in a Doc.

    RETURNS (list of dict): token (int), from and to (str): its tags without and with constraints; because (list of
        lists of str): texts of constraints. Each list accounts for the change alone: without its constraints the token
        has its tag back.
    """
    return [
        {
            "token": one.first + change.unit,
            "from": tags.tags[change.before],
            "to": tags.tags[change.after],
            "because": [[to_text(constraints[index]) for index in reason] for reason in change.because],
        }
        for one in decided
        for change in one.changes or ()
    ]


def _times(found: Iterable[dict[int, int]], texts: dict[int, str]) -> dict[str, int]:
    total = Counter[str]()
    for own in found:
        for index, times in own.items():
            total[texts[index]] += times
    return dict(total)
