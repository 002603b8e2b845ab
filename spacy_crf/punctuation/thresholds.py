"""Marks that thresholds set or texts have already, and the labels of words that go with them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq

import numpy as np

from ..core.arrays import Bools, Floats, Indices, Ints
from ..core.chain.evidence import blocked_sequences
from ..core.weights import Layout
from .block import NONE, LabelScheme
from .labels import Label, LabelTable, tell_sentences


@dataclass(frozen=True)
class Thresholds:
    """Where marks are set.

    any (float): probability that there is some mark, from which on the most probable one is set; 0: none is.
    own (Mapping[str, float]): by mark, its own probability from which on it may be set instead of that.
    """

    any: float = 0.0
    own: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.any or self.own)


def choose(marginals: Floats, table: LabelTable, thresholds: Thresholds) -> Ints:
    """Choose the label of each word: that of the most probable mark that may be set, or else the one without a mark.

    A low threshold finds more of the marks, a high one makes fewer mistakes: with right probabilities, at least the
    share t of the marks whose own threshold is t is right.

    marginals ((n, L)): probabilities of the labels. table (LabelTable): of the labels.
    RETURNS ((n,)): the most probable label with the mark that was chosen.
    """
    sums = table.mark_probabilities(marginals)
    none = table.marks.index(NONE) if NONE in table.marks else -1
    own = np.array([thresholds.own.get(mark, np.nan) for mark in table.marks])
    some = np.ones(len(sums)) if none < 0 else 1 - sums[:, none]
    reached = np.where(np.isnan(own), (some >= (thresholds.any or np.inf))[:, None], sums >= own)
    if none >= 0:
        reached[:, none] = False
    best = np.where(reached, sums, -1.0).argmax(axis=1)
    chosen = np.where(reached.any(axis=1), best, none if none >= 0 else sums.argmax(axis=1))
    within = np.where(table.mark_of[None, :] == chosen[:, None], marginals, -1.0)
    return within.argmax(axis=1).astype(np.int32)


def labels_beside_marks(tags: Ints, table: LabelTable, scheme: LabelScheme, goes_on: bool = False) -> Bools:
    """Find the labels that words may have once their marks are settled: case and pairs are still open.

    A mark that training has never seen in such a sentence leaves the labels without a mark there.

    tags ((n,)): labels with the marks of the words of one text. table (LabelTable): of the labels.
    scheme (LabelScheme): of the labels; the marks tell the kinds of the sentences.
    goes_on (bool): whether the text goes on behind the words, so that its last sentence may be of any kind.
    RETURNS ((n, L)): labels with a labelling through them; a row without any where there is none.
    """
    marks = [Label(table.parsed[tag].mark) for tag in tags.tolist()]
    endings = ("", *(scheme.kinds or ())) if goes_on else ("",)
    options = [_agreeing(tell_sentences(marks, scheme, ending), table) for ending in endings]
    whole = [option for option in options if option.any(axis=1).all()]
    possible: Bools = np.logical_or.reduce(whole) if whole else options[0]
    return possible


def _agreeing(told: Sequence[Label], table: LabelTable) -> Bools:
    """((n, L)): labels that tell the same marks and sentences."""
    rows = {}
    for label in set(told):
        row = _agree(label, table)
        rows[label] = row if any(row) else _agree(label._replace(mark=NONE), table)
    return np.array([rows[label] for label in told], dtype=bool).reshape(len(told), len(table.parsed))


def _agree(told: Label, table: LabelTable) -> list[bool]:
    return [(label.mark, label.sentence) == (told.mark, told.sentence) for label in table.parsed]


def labels_beside_given(
    marks: Sequence[str], lengths: Indices, table: LabelTable, layout: Layout, scheme: LabelScheme
) -> Bools:
    """Find the labels that words may have beside the marks that are in their texts.

    Training may never have seen such a mark in such a sentence, say a semicolon in a question. In a text that has no
    labelling with all of its marks, only those that end sentences are evidence; if there is still none, nothing is.
    `settle_marks` puts the marks into the labels then.

    marks (sequence of str): of all words, NONE where there is none. lengths ((B,)): of the texts, in words.
    table (LabelTable), layout (Layout), scheme (LabelScheme): of the chain.
    RETURNS ((N, L)): for which each text has a labelling.
    """
    allowed = _having(marks, table)
    if not scheme.kinds:
        return allowed
    owners = np.repeat(np.arange(len(lengths)), lengths)
    ends = [mark if scheme.is_end(mark) else NONE for mark in marks]
    for weaker in (ends, [NONE] * len(marks)):
        blocked = np.isin(owners, blocked_sequences(lengths, allowed, layout))
        if blocked.any():
            allowed[blocked] = _having(weaker, table)[blocked]
    return allowed


def settle_marks(tags: Ints, marks: Iterable[str], table: LabelTable) -> Ints:
    """Put settled marks in the place of others, and as much of the rest as training has seen with these.

    tags ((n,)): labels. marks (iterable of str): one for each; NONE, and a mark that no label has, leave it alone.
    table (LabelTable): of the labels.
    RETURNS ((n,)): labels.
    """
    settled = tags.copy()
    for place, (tag, mark) in enumerate(zip(tags.tolist(), marks)):
        own = table.parsed[tag]
        if mark not in (NONE, own.mark) and mark in table.marks:
            alike = [sum(map(eq, own, label)) if label.mark == mark else -1 for label in table.parsed]
            settled[place] = int(np.argmax(alike))
    return settled


def _having(marks: Sequence[str], table: LabelTable) -> Bools:
    rows = {mark: table.having(mark) for mark in set(marks)}
    return np.array([rows[mark] for mark in marks], dtype=bool).reshape(len(marks), len(table.parsed))
