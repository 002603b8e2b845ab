"""Labels of layout elements without training: how lines look, and what the rules know of words and of parts.

Both are evidence of one log-linear model. Its figures are scores, not probabilities: they were not fitted to documents
such as yours.
"""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Bools, Doubles, Indices
from ..segment import Kind
from .batch import UnitBatch
from .looks import Lines, Looks
from .rules import BODY_TEXT, NUMBER, ROLES, TITLE, apply_rules

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
# log-odds that a candidate numbers something
NUMBERS = {
    "bias": -2.0,
    "number of a sequence": 4.4,
    "row of letters or initials": -0.3,
    "nothing behind it": -0.9,
    "running text behind it": 1.3,
    "code behind it": 0.9,
    "code behind it in a row": -4.0,  # behind a number without signs
    "listed": -4.4,
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
    bare = batch.flag_by_text(lambda own: own.isalnum())  # numbers of lines of code have no sign
    flags = {
        "nothing behind it": ~has_text,
        "running text behind it": has_text & lines.prose[after],
        "code behind it": code,
        "code behind it in a row": code & ~lines.prose[after] & (lines.rows[after] > 2) & bare,
        "listed": has_text & lines.listed[after],
    }
    found = NUMBERS["bias"] + LIKE_TITLE * np.maximum(score, 0) + UNLIKE_TITLE * np.minimum(score, 0)
    found += np.array([NUMBERS.get(rule, 0.0) for rule in rules])
    return np.asarray(found + sum((NUMBERS[name] * on for name, on in flags.items()), np.zeros(len(batch))))
