"""The deterministic tagger of layout elements: ordered rules, and a state machine that says which of them apply.

The states are the parts of a document: its head matter (parties, dates), the body, a quotation in it, the closing
(signatures). In each state the first rule whose condition holds decides; it also says what state comes next. What was
decided by which rule is the trace.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from .phrases import Phrases
from .rule_facts import Facts
from .view import UnitView, Values

NUMBER, TITLE, BODY_TEXT, NEWLINE = range(4)  # roles of elements, in the order of the labels
ROLES = ("number", "title", "text", "newline")


class State(IntEnum):
    """Parts of a document."""

    HEAD = 0
    BODY = 1
    QUOTATION = 2
    CLOSING = 3


LONGEST_QUOTATION = 30  # units behind which a blank line ends a quotation that nothing has closed
_ANYWHERE = tuple(State)
_OUTSIDE = (State.HEAD, State.BODY, State.CLOSING)


@dataclass(frozen=True)
class Rule:
    """One rule.

    name (str): for the trace. role (int): that it gives. confidence (float): how sure it is, for the section parser.
    condition ((N,)): units for which it holds. states (tuple[State, ...]): in which it applies.
    to (State | None): the state behind the unit; None for the same.
    """

    name: str
    role: int
    confidence: float
    condition: Bools
    states: tuple[State, ...] = _ANYWHERE
    to: State | None = None


@dataclass(frozen=True)
class Decisions:
    """What the rules say of N units.

    roles ((N,)): of each. confidences ((N,)): of the rules that decided. trace (Values): their names.
    states (Values): names of the states in which they did.
    """

    roles: Indices
    confidences: Doubles
    trace: Values
    states: Values

    def probabilities(self, view: UnitView) -> Doubles:
        """((N, 4)): of the roles. What a rule is not sure of goes to the one other role that the unit can have.

        view (UnitView): the units that were decided.
        """
        here = np.arange(len(self.roles))
        other = np.where(self.roles != BODY_TEXT, BODY_TEXT, np.where(view.is_number, NUMBER, TITLE))
        found = np.zeros((len(here), len(ROLES)))
        found[here, self.roles] = self.confidences
        found[here, other] += 1 - self.confidences
        return found


def make_rules(facts: Facts) -> list[Rule]:
    """The rules in their order, for the units of the facts."""
    f = facts
    number, text, short = f["number"], f["text"], f["short"]
    titled = text & short & ~f["has verb"] & ~f["stop"] & ~f["lower"]
    stands_out = f.any("emphasised", "upper", "spaced")
    head = f.any("is head", "opens head", "is link", "opens court", "ends role", "is role")
    return [
        Rule("blank line", NEWLINE, 1.0, f["blank"]),
        Rule("opening quotation mark", BODY_TEXT, 1.0, f["quote"], to=State.QUOTATION),
        Rule("list mark or other element", BODY_TEXT, 1.0, ~(number | text)),
        Rule("number in a quotation", BODY_TEXT, 0.7, number, (State.QUOTATION,)),
        Rule("row of letters or initials", BODY_TEXT, 0.9, number & f["in row"]),
        Rule("number of a sequence", NUMBER, 0.97, number & f["linked"], to=State.BODY),
        Rule("number by itself", BODY_TEXT, 0.7, number),
        Rule("end of a quotation", BODY_TEXT, 0.98, f["end of quotation"], (State.QUOTATION,), State.BODY),
        Rule("known title by itself", TITLE, 0.9, titled & f["is title"] & f["alone"], (State.QUOTATION,), State.BODY),
        Rule("heading of the mark-up", TITLE, 0.97, text & f["heading"], to=State.BODY),
        Rule("head matter", BODY_TEXT, 0.95, text & head, (State.HEAD,)),
        Rule("closing formula", BODY_TEXT, 0.95, text & f.any("opens signature", "ends signature"), to=State.CLOSING),
        Rule("running text", BODY_TEXT, 0.9999, text & (f["long"] | (~f["short"] & f["stop"]))),
        Rule("known title", TITLE, 0.95, text & short & f["is title"], _OUTSIDE, State.BODY),
        Rule("begins as a known title", TITLE, 0.85, titled & f["opens title"] & _apart(f), _OUTSIDE, State.BODY),
        Rule("set like the known titles", TITLE, 0.75, titled & f["like titles"] & _apart(f), (State.BODY,)),
        Rule("possible title that stands out", TITLE, 0.75, titled & f["is weak_title"] & stands_out, (State.BODY,)),
        Rule("emphasised line by itself", TITLE, 0.65, titled & f["emphasised"] & f["alone"], (State.BODY,)),
        Rule("capital line by itself", TITLE, 0.65, titled & f.any("upper", "spaced") & f["alone"], (State.BODY,)),
        Rule("short numbered line", TITLE, 0.6, titled & f["behind number"] & f["alone"], (State.BODY,)),
        Rule("text", BODY_TEXT, 0.95, np.ones_like(text)),
    ]


def _apart(facts: Facts) -> Bools:
    """Lines that something sets apart from text."""
    return facts.any("emphasised", "upper", "spaced", "alone", "behind number")


def apply_rules(view: UnitView, phrases: Phrases) -> Decisions:
    """Tag units. O(N).

    view (UnitView): units of some documents; each begins in the state HEAD. phrases (Phrases): from word lists.
    RETURNS (Decisions): for the units.
    """
    rules = make_rules(Facts(view, phrases))
    chosen, states = _run(_first_rules(rules, len(view)), rules, view)
    roles = np.array([rule.role for rule in rules])
    confidences = np.array([rule.confidence for rule in rules])
    trace = Values(chosen, [rule.name for rule in rules])
    return Decisions(roles[chosen], confidences[chosen], trace, Values(states, [state.name.lower() for state in State]))


def _first_rules(rules: list[Rule], count: int) -> Indices:
    """((S, N)): for each state, the first rule that holds for each unit; the last one always does."""
    found = np.full((len(State), count), len(rules) - 1, dtype=np.intp)
    for number, rule in reversed(list(enumerate(rules))):
        for state in rule.states:
            found[state][rule.condition] = number
    return found


def _run(first: Indices, rules: list[Rule], view: UnitView) -> tuple[Indices, Indices]:
    """((N,), (N,)): the rule that decides each unit, and the state in which it does."""
    by_state, following = first.tolist(), [rule.to for rule in rules]
    starts = set((np.cumsum(view.lengths) - view.lengths).tolist())
    state, opened, blank = State.HEAD, 0, view.is_blank.tolist()
    chosen = np.empty(len(view), dtype=np.intp)
    states = np.empty(len(view), dtype=np.intp)
    for unit in range(len(view)):
        if unit in starts:
            state = State.HEAD
        rule = by_state[state][unit]
        chosen[unit], states[unit] = rule, state
        after = following[rule]
        if after is State.QUOTATION and state is not State.QUOTATION:
            opened = unit
        state = state if after is None else after
        if state is State.QUOTATION and blank[unit] and unit - opened > LONGEST_QUOTATION:
            state = State.BODY
    return chosen, states
