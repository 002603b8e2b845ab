"""Labels of layout elements without training: ordered rules, and how lines look.

The deterministic tagger has a state machine that says which rules apply. The states are the parts of a document: its
head matter (parties, dates), the body, a quotation in it, the closing (signatures). In each state the first rule whose
condition holds decides; it also says what state comes next. The rules that decided are the trace.

They and the looks of lines are evidence of one log-linear model. Its figures are scores, not probabilities: they were
not fitted to documents such as yours.
"""

import re
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from ...core.grammar.numbering import readings, step
from ..segment import HEADINGS, Kind
from . import text
from .batch import FeatureValues, NumberSequences, Profiles, UnitBatch, is_heading
from .looks import Lines, Looks

ROLES = ("number", "title", "text", "newline")  # of elements, in the order of the labels
NUMBER, TITLE, BODY_TEXT, NEWLINE = range(4)
LONG = 16  # a line with so many words is running text
LONGEST_QUOTATION = 30  # units behind which a blank line ends a quotation that nothing has closed
_LEAST_ROW = 3  # candidates in a row that are spaced letters or initials
_CLOSING_QUOTES = ('"', "”", "“", "»", "’")
_IN_TEXT = re.compile(r"(?<!\S)\(?\w{1,5}\)(?!\S)")  # a number in brackets
LEAST_STOPPED = 2
_STOPPED = re.compile(r"[^\W\d_](?:[^.:;?!…]|\.(?=\S))*\.")
_FINITE = re.compile(  # verbs of short sentences
    r"\b(?:is|are|was|were|has|have|shall|may|must|ist|sind|wird|werden|hat|haben|kann|können|est|sont|peut|peuvent|doit|"
    r"es|son|será|serán|está|están|puede|pueden|è|sono|può|possono|zijn|wordt|worden|heeft|hebben|kunnen)\b"
)
_IN_BRACKETS = re.compile(r"\([^()\n]{1,90}\)|\[[^\[\]\n]{1,90}\]")
_STOPS = (".", ",", ";", "…")


class State(IntEnum):
    """Parts of a document."""

    HEAD = 0
    BODY = 1
    QUOTATION = 2
    CLOSING = 3


_OUTSIDE = (State.HEAD, State.BODY, State.CLOSING)


@dataclass(frozen=True)
class LabelRule:
    """One rule: the role that it gives the units for which it holds."""

    name: str  # for the trace
    role: int
    confidence: float  # for the section parser
    condition: Bools  # ((N,))
    states: tuple[State, ...] = tuple(State)  # in which it applies
    to: State | None = None  # the state behind the unit; None for the same


@dataclass(frozen=True)
class RuleDecisions:
    """Labels of N units, by the rules that decided."""

    roles: Indices  # ((N,))
    confidences: Doubles  # ((N,))
    trace: FeatureValues  # names of the rules
    states: FeatureValues  # in which they did

    def probabilities(self, batch: UnitBatch) -> Doubles:
        """((N, 4)): of the roles. What a rule is not sure of goes to the one other role that the unit can have."""
        here = np.arange(len(self.roles))
        other = np.where(self.roles != BODY_TEXT, BODY_TEXT, np.where(batch.is_number, NUMBER, TITLE))
        found = np.zeros((len(here), len(ROLES)))
        found[here, self.roles] = self.confidences
        found[here, other] += 1 - self.confidences
        return found


class LayoutPredicates:
    """Conditions of the units of a batch by name, each (N,): those of the rules, and relations such as "is title"."""

    def __init__(self, batch: UnitBatch):
        self._batch = batch
        words, cases = batch.count_by_text(text.count_words), batch.by_text(text.case)
        sequences, profiles = batch.shared(NumberSequences), batch.shared(Profiles)
        self._flags: dict[str, Bools] = {
            **{kind.value: batch.kinds.among(kind) for kind in (Kind.NUMBER, Kind.QUOTE, Kind.TEXT, Kind.NEWLINE)},
            "short": (words > 0) & (words < text.SHORT),
            "long": words >= LONG,
            "emphasised": np.array([bool(unit.styles) for unit in batch.units], dtype=np.bool_),
            "heading": np.array([any(map(is_heading, unit.styles)) for unit in batch.units], dtype=np.bool_),
            "upper": cases.among("upper"),
            "spaced": cases.among("spaced"),
            "lower": batch.by_text(text.opening).among("lower"),
            "stop": batch.flag_by_text(lambda own: own.endswith(_STOPS)),
            "end of quotation": batch.flag_by_text(lambda own: any(sign in own for sign in _CLOSING_QUOTES)),
            "behind number": batch.right_behind(batch.is_number),
            "alone": self._alone(),
            "linked": sequences.spread(sequences.plausible | sequences.find_beginnings()) > 0,
            "in row": sequences.spread(sequences.find_initials(_LEAST_ROW)) > 0,
            "like titles": profiles.short & (profiles.known > 0),
        }

    def __getitem__(self, name: str) -> Bools:
        if name not in self._flags:
            self._flags[name] = self._batch.related(name)
        return self._flags[name]

    def any(self, *names: str) -> Bools:
        """Units for which at least one of several conditions holds."""
        return np.any([self[name] for name in names], axis=0)

    def _alone(self) -> Bools:
        """Blank lines, or the edge of the document, on both sides of the line."""
        batch, here = self._batch, np.arange(len(self._batch))
        before = batch.before(~batch.is_blank & ~batch.is_number)
        blanks = np.append(0, np.cumsum(batch.is_blank))
        first = (before < 0) | (blanks[here] > blanks[before + 1])
        return first & ((batch.following < 0) | (batch.following > here + 1))


def make_rules(units: LayoutPredicates) -> list[LabelRule]:
    """The rules in their order, for some units."""
    f, rule, quotation, body = units, LabelRule, (State.QUOTATION,), (State.BODY,)
    number, own, short = f["number"], f["text"], f["short"]
    titled = own & short & ~f["has verb"] & ~f["stop"] & ~f["lower"]
    stands_out = f.any("emphasised", "upper", "spaced")
    apart = f.any("emphasised", "upper", "spaced", "alone", "behind number")
    head = f.any("is head", "opens head", "is link", "opens court", "ends role", "is role")
    return [
        rule("blank line", NEWLINE, 1.0, f["newline"]),
        rule("opening quotation mark", BODY_TEXT, 1.0, f["quote"], to=State.QUOTATION),
        rule("list mark or other element", BODY_TEXT, 1.0, ~(number | own)),
        rule("number in a quotation", BODY_TEXT, 0.7, number, quotation),
        rule("row of letters or initials", BODY_TEXT, 0.9, number & f["in row"]),
        rule("number of a sequence", NUMBER, 0.97, number & f["linked"], to=State.BODY),
        rule("number by itself", BODY_TEXT, 0.7, number),
        rule("end of a quotation", BODY_TEXT, 0.98, f["end of quotation"], quotation, State.BODY),
        rule("known title by itself", TITLE, 0.9, titled & f["is title"] & f["alone"], quotation, State.BODY),
        rule("heading of the mark-up", TITLE, 0.97, own & f["heading"], to=State.BODY),
        rule("head matter", BODY_TEXT, 0.95, own & head, (State.HEAD,)),
        rule("closing formula", BODY_TEXT, 0.95, own & f.any("opens signature", "ends signature"), to=State.CLOSING),
        rule("running text", BODY_TEXT, 0.9999, own & (f["long"] | (~f["short"] & f["stop"]))),
        rule("known title", TITLE, 0.95, own & short & f["is title"], _OUTSIDE, State.BODY),
        rule("begins as a known title", TITLE, 0.85, titled & f["opens title"] & apart, _OUTSIDE, State.BODY),
        rule("set like the known titles", TITLE, 0.75, titled & f["like titles"] & apart, body),
        rule("possible title that stands out", TITLE, 0.75, titled & f["is weak_title"] & stands_out, body),
        rule("emphasised line by itself", TITLE, 0.65, titled & f["emphasised"] & f["alone"], body),
        rule("capital line by itself", TITLE, 0.65, titled & f.any("upper", "spaced") & f["alone"], body),
        rule("short numbered line", TITLE, 0.6, titled & f["behind number"] & f["alone"], body),
        rule("text", BODY_TEXT, 0.95, np.ones_like(own)),
    ]


def apply_rules(batch: UnitBatch) -> RuleDecisions:
    """Label units by the rules, with the word lists of the batch. O(N). Each document begins in the state HEAD."""
    rules = make_rules(LayoutPredicates(batch))
    chosen, states = _run(_first_rules(rules, len(batch)), rules, batch)
    roles = np.array([rule.role for rule in rules])
    confidences = np.array([rule.confidence for rule in rules])
    trace = FeatureValues(chosen, [rule.name for rule in rules])
    parts = FeatureValues(states, [state.name.lower() for state in State])
    return RuleDecisions(roles[chosen], confidences[chosen], trace, parts)


def _first_rules(rules: list[LabelRule], count: int) -> Indices:
    """((S, N)): for each state, the first rule that holds for each unit; the last one always does."""
    found = np.full((len(State), count), len(rules) - 1, dtype=np.intp)
    for number, rule in reversed(list(enumerate(rules))):
        for state in rule.states:
            found[state][rule.condition] = number
    return found


def _run(first: Indices, rules: list[LabelRule], batch: UnitBatch) -> tuple[Indices, Indices]:
    """((N,), (N,)): the rule that decides each unit, and the state in which it does."""
    by_state, following = first.tolist(), [rule.to for rule in rules]
    starts = set(batch.runs.firsts.tolist())
    state, opened, blank = State.HEAD, 0, batch.is_blank.tolist()
    chosen = np.empty(len(batch), dtype=np.intp)
    states = np.empty(len(batch), dtype=np.intp)
    for unit in range(len(batch)):
        if unit in starts:
            state = State.HEAD
        number = by_state[state][unit]
        chosen[unit], states[unit] = number, state
        after = following[number]
        if after is State.QUOTATION and state is not State.QUOTATION:
            opened = unit
        state = state if after is None else after
        if state is State.QUOTATION and blank[unit] and unit - opened > LONGEST_QUOTATION:
            state = State.BODY
    return chosen, states


# -- rules and looks together --------------------------------------------------------------------------------

# what a rule adds to the log-odds of a title
TITLES = {
    "heading of the mark-up": 8.0,
    "set like the known titles": 1.0,
    "begins as a known title": 0.9,
    "emphasised line by itself": 0.7,
    "known title": 0.4,
    "known title by itself": 0.4,
    "closing formula": -0.5,
    "running text": -0.5,
    "head matter": -1.5,
    "end of a quotation": -2.3,
}
ENCLOSED = 4.4  # what looks take from a title in brackets behind a number with a word
STOPPED = 4.5  # and from one that ends in a full stop, where most of such numbers have one
# log-odds that a candidate numbers something
NUMBERS = {
    "bias": -2.0,
    "number of a sequence": 4.4,
    "row of letters or initials": -0.3,
    "nothing behind it": -0.9,
    "alone in a heading of the mark-up": 8.0,
    "running text behind it": 1.3,
    "code behind it": 0.9,
    "code behind it in a row": -4.0,  # behind a number without signs
    "listed": -4.4,
    "in a sentence": -4.4,
}
LIKE_TITLE, UNLIKE_TITLE = 1.9, 0.3  # for each unit of the score of the text behind a number, above and below 0
MOST = 6.0  # of these scores


@dataclass(frozen=True)
class UntrainedLabels:
    """Labels of N units. scores ((N, 4)): of the roles, which sum to 1. reasons (list[str]): why, for each unit."""

    roles: Indices
    scores: Doubles
    reasons: list[str]


def label_untrained(batch: UnitBatch) -> UntrainedLabels:
    """Label the units of a batch by looks and rules, with its word lists. O(N log N)."""
    decided = apply_rules(batch)
    rules = [decided.trace.names[code] for code in decided.trace.codes.tolist()]
    texts = batch.kinds.among(Kind.TEXT)
    title = batch.shared(Looks).scores + np.array([TITLES.get(rule, 0.0) for rule in rules])
    title += ENCLOSED * _enclosed(batch) + STOPPED * _stopped(batch)
    number = _number_scores(batch, rules, title)
    odds = np.where(batch.is_number, number, title)
    role = np.where(batch.is_number, NUMBER, TITLE)
    is_open: Bools = texts | batch.is_number  # the others are what the rules say
    chance = 1 / (1 + np.exp(-odds))
    here = np.arange(len(batch))
    scores = np.zeros((len(batch), len(ROLES)))
    scores[here, np.where(is_open, role, decided.roles)] = np.where(is_open, chance, 1.0)
    scores[here, BODY_TEXT] += np.where(is_open, 1 - chance, 0.0)
    roles = scores.argmax(axis=1)
    looks = {NUMBER: "numbers what looks like a heading", TITLE: "looks like a heading", BODY_TEXT: "looks like text"}
    agree = (roles == decided.roles).tolist()
    return UntrainedLabels(
        roles, scores, [r if same else looks[own] for r, same, own in zip(rules, agree, roles.tolist())]
    )


def _number_scores(batch: UnitBatch, rules: list[str], title: Doubles) -> Doubles:
    """((N,)): log-odds of numbering candidates. title ((N,)): those of titles."""
    lines = batch.shared(Lines)
    after = np.minimum(np.arange(len(batch)) + 1, len(batch) - 1)
    has_text = batch.is_text[after] & ~batch.begins_line[after]
    score = np.where(has_text, np.clip(title[after], -MOST, MOST), 0.0)
    code = has_text & lines.technical[after]
    opens_small = batch.by_text(text.opening).among("lower")
    bare = batch.flag_by_text(lambda own: own.isalnum())  # numbers of lines of code have no sign
    flags = {
        "nothing behind it": ~has_text,
        "alone in a heading of the mark-up": ~has_text & _named(batch),
        "running text behind it": has_text & lines.prose[after],
        "code behind it": code,
        "code behind it in a row": code & ~lines.prose[after] & (lines.rows[after] > 2) & bare,
        "listed": has_text & lines.listed[after],
        "in a sentence": _goes_on(batch) | (batch.flag_by_text(str.isdecimal) & has_text & opens_small[after]),
    }
    found = NUMBERS["bias"] + LIKE_TITLE * np.maximum(score, 0) + UNLIKE_TITLE * np.minimum(score, 0)
    found += np.array([NUMBERS.get(rule, 0.0) for rule in rules])
    return np.asarray(found + sum((NUMBERS[name] * on for name, on in flags.items()), np.zeros(len(batch))))


def _enclosed(batch: UnitBatch) -> Bools:
    """((N,)): texts in brackets right behind a number with a word, such as "§ 2 (repealed)"."""
    return batch.flag_by_text(lambda own: _IN_BRACKETS.fullmatch(own) is not None) & _behind_word(batch)


def _stopped(batch: UnitBatch) -> Bools:
    """((N,)): short texts with a full stop at their end alone, between a number with a word and text on lines of its
    own, where most of such numbers in the document have one: "Artículo 2. Objeto." """
    behind, after = _behind_word(batch) & ~batch.begins_line, batch.following
    is_short = batch.flag_by_text(_is_stopped)
    before_text = (after >= 0) & batch.kinds.among(Kind.TEXT)[after] & batch.begins_line[after]
    found = behind & is_short & before_text & ~batch.related("has verb")
    counts = np.bincount(batch.document, found), np.bincount(batch.document, behind)
    is_usual = (counts[0] >= LEAST_STOPPED) & (2 * counts[0] > counts[1])
    return np.asarray(found & is_usual[batch.document], dtype=np.bool_)


def _is_stopped(own: str) -> bool:
    return text.count_words(own) < text.SHORT and _STOPPED.fullmatch(own) is not None and not _FINITE.search(own)


def _behind_word(batch: UnitBatch) -> Bools:
    """((N,)): what follows right behind a number with a word or sign."""
    worded = batch.is_number & batch.flag_by_text(lambda own: any(each.word for each in readings(own)))
    return batch.right_behind(worded)


def _named(batch: UnitBatch) -> Bools:
    """((N,)): units that the mark-up names as headings, by a level."""
    return np.array([not unit.styles.isdisjoint(HEADINGS) for unit in batch.units], dtype=np.bool_)


def _goes_on(batch: UnitBatch) -> Bools:
    """((N,)): numbers in brackets whose successor is in the text behind them alone: "(1) rafts and (2) boats"."""
    sequences, found = batch.shared(NumberSequences), np.zeros(len(batch), dtype=np.bool_)
    texts = [batch.distinct[number] for number in batch.text_numbers.tolist()]
    breaks = np.flatnonzero(~batch.is_text | (batch.firsts == np.arange(len(batch))))
    ends = [*breaks.tolist(), len(batch)]
    for unit in sequences.units[sequences.behind_alike.steps < 0].tolist():
        if texts[unit].endswith(")"):
            behind = texts[unit + 1 : ends[np.searchsorted(breaks, unit, side="right")]]
            others = [other for line in behind for mark in _IN_TEXT.findall(line) for other in readings(mark)]
            steps = {step(a, b) for a in readings(texts[unit]) for b in others if a.format == b.format}
            found[unit] = 1 in steps and 0 not in steps  # a list of its own begins anew
    return found
