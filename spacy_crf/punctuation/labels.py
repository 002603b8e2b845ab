"""Labels of words: the mark that follows and, on request, the case and what opens and closes, all in one label.

One chain over such joint labels predicts all of them together, exactly: "PERIOD|Title|QUOTE>" is the label of `Kent`
in `said Kent.”`. The probability of a mark is the sum over the labels that have it.

Labels may tell besides what kind of sentence a word is in, by the mark that ends it: "O|@QUESTION" is a word in a
question. So what opens a question is connected with the mark that ends it, however far away, as in the layer of
sentence types of Lu & Ng, "Better punctuation prediction with dynamic conditional random fields" (EMNLP 2010).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from ..core.arrays import Bools, Floats, Indices, Ints, Segments
from ..core.chain.evidence import blocked_sequences
from ..core.errors import CRFError
from ..core.labels import UNKNOWN, Gold
from ..core.weights import Layout
from .block import NONE, SIGNS, LabelScheme
from .errors import PunctuationErrors
from .words import CASES, PAIRS, Word, case_of

BETWEEN = "|"
ANY = "?"
_OPENS, _CLOSES, _INSIDE = "<", ">", "@"


class Label(NamedTuple):
    """A label of a word.

    mark (str): name of the mark behind it, or NONE. case (str): one of `CASES`; "" where cases are not told.
    opening (str), closing (str): kind of the sign before and behind it, "" for none.
    sentence (str): the mark that ends the sentence that goes on behind the word; "" for one that is not told, ANY in
        gold that does not know it.
    """

    mark: str = NONE
    case: str = ""
    opening: str = ""
    closing: str = ""
    sentence: str = ""

    def __str__(self) -> str:
        around = (self.opening and self.opening + _OPENS) + (self.closing and self.closing + _CLOSES)
        inside = self.sentence and _INSIDE + self.sentence
        return BETWEEN.join(part for part in (self.mark, self.case, around, inside) if part)


def parse_label(text: str) -> Label:
    """Return the label behind its spelling; a text that is no label is an error."""
    mark, *parts = text.split(BETWEEN)
    case = parts.pop(0) if parts and parts[0] in CASES else ""
    inside = parts.pop() if parts and parts[-1].startswith(_INSIDE) else ""
    around = parts.pop(0) if parts else ""
    opening, _, closing = around.rpartition(_OPENS)
    label = Label(mark, case, opening, closing.removesuffix(_CLOSES), inside.removeprefix(_INSIDE))
    if parts or not mark or str(label) != text or any(kind and kind not in PAIRS for kind in label[2:4]):
        raise CRFError(PunctuationErrors.CRF974.format(label=text))
    return label


def spelt_sign(text: str, word: Word) -> str:
    """Return the mark behind a word as it is spelt; "" for none, and for a mark that is spelt as we would."""
    if not word.mark:
        return ""
    signs = (sign for sign in text[word.mark_start : word.mark_end] if sign in SIGNS[word.mark])
    sign = next(signs, "")
    return "" if sign == SIGNS[word.mark][0] else sign


def make_labels(scheme: LabelScheme, forms: Iterable[str], marks: Iterable[str], *pairs: Iterable[str]) -> list[Label]:
    """Return the labels of words, as far as a scheme tells what is around them: openings and closings."""
    cases = map(case_of, forms) if scheme.case else repeat("")
    around = pairs if scheme.pairs else (repeat(""), repeat(""))
    return list(map(Label, map(scheme.label, marks), cases, *around))


def tell_sentences(labels: Sequence[Label | None], scheme: LabelScheme, following: str = "") -> list[Label | None]:
    """Return labels that tell the kinds of their sentences. following (str): marks behind, see `Passage`.

    None is an unknown label: it may end a sentence, so that this one is of ANY kind.
    """
    if not scheme.kinds:
        return list(labels)
    told: list[Label | None] = []
    behind = (mark if mark == ANY else scheme.label(mark) for mark in following.split())
    ending = next((mark for mark in behind if mark == ANY or scheme.is_end(mark)), "")
    kind = ANY if ending == ANY else _kind(ending, scheme)
    for label in reversed(labels):
        if label is None:
            kind = ANY
        elif scheme.is_end(label.mark):
            kind = _kind(label.mark, scheme)
        else:
            label = label._replace(sentence=kind)
        told.append(label)
    return told[::-1]


def may_follow(first: Label, second: Label, scheme: LabelScheme) -> bool:
    """Tell whether a label may follow another: a sentence is of one kind from its beginning to its end."""
    if scheme.is_end(first.mark):
        return True
    return first.sentence == (_kind(second.mark, scheme) if scheme.is_end(second.mark) else second.sentence)


def _kind(mark: str, scheme: LabelScheme) -> str:
    return mark if mark in (scheme.kinds or ()) else ""


class LabelTable:
    """The L labels of a chain, as `str` spells them, as arrays."""

    def __init__(self, labels: Sequence[str]):
        self.parsed = [parse_label(text) for text in labels]
        self.marks = tuple(dict.fromkeys(label.mark for label in self.parsed))
        number = {mark: k for k, mark in enumerate(self.marks)}
        self.mark_of = np.array([number[label.mark] for label in self.parsed], dtype=np.intp)

    def having(self, marks: Sequence[str | None]) -> Bools:
        """((n, L)): whether each label has each mark; all of them for None, those without a mark for one that none has.

        Where there is no label without a mark either, all of them.
        """
        known = {mark: [label.mark == mark for label in self.parsed] for mark in self.marks}
        every = [True] * len(self.parsed)
        rows = [every if mark is None else known.get(mark, known.get(NONE, every)) for mark in marks]
        return np.array(rows, dtype=bool).reshape(len(marks), len(self.parsed))

    def gold(self, labels: Sequence[Label | None]) -> Gold:
        """Return gold of words by their labels; None is open. Of a label that is not among these, the mark is known and
        in what kind of sentence it is: gold are all labels that agree, or it is open where none does."""
        number = {label: k for k, label in enumerate(self.parsed)}
        known = [UNKNOWN if label is None else number.get(label, UNKNOWN) for label in labels]
        gold = Gold.known(np.array(known, dtype=np.int32), len(self.parsed))
        agreeing = {one: self._agreeing(one) for one in set(labels) - number.keys() if one is not None}
        for row, unit in enumerate(gold.rows.tolist()):
            alike = agreeing.get(labels[unit])
            if alike is not None and alike.any():
                gold.weights[row] = alike
        return gold

    def _agreeing(self, label: Label) -> Bools:
        """((L,)): the same labels in sentences of other kinds, if the kind may be ANY, or else those with the same mark
        in the same kind of sentence."""
        same = [label.sentence == ANY and one._replace(sentence=ANY) == label for one in self.parsed]
        alike = [one.mark == label.mark and label.sentence in (one.sentence, ANY) for one in self.parsed]
        return np.array(same if any(same) else alike, dtype=bool)

    def mark_probabilities(self, marginals: Any) -> Any:
        """((n, M)): probabilities of `marks`, by those of labels (n, L)."""
        sums = np.zeros((len(marginals), len(self.marks)), dtype=marginals.dtype)
        for label, mark in enumerate(self.mark_of.tolist()):
            sums[:, mark] += marginals[:, label]
        return sums


@dataclass(frozen=True)
class Thresholds:
    """Where marks are set.

    any (float): probability that there is some mark, from which on the most probable one is set; 0: none is.
    own (Mapping[str, float]): by mark, its own probability from which on it may be set instead of that.
    """

    any: float = 0.0
    own: Mapping[str, float] = field(default_factory=dict)


def choose(marginals: Floats, table: LabelTable, thresholds: Thresholds) -> Ints:
    """Choose the label of each word: that of the most probable mark that may be set, or else the one without a mark.

    A low threshold finds more of the marks, a high one makes fewer mistakes: with right probabilities, at least the
    share t of the marks whose own threshold is t is right.

    marginals ((n, L)): probabilities of the labels.
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

    tags ((n,)): labels with the marks of the words of one text, which tell the kinds of its sentences.
    goes_on (bool): whether the text goes on behind the words, so that its last sentence may be of any kind.
    RETURNS ((n, L)): labels with a labelling through them; a row without any where there is none.
    """
    marks = [Label(table.parsed[tag].mark) for tag in tags.tolist()]
    endings = ("", *(scheme.kinds or ())) if goes_on else ("",)
    options = [_agreeing([*filter(None, tell_sentences(marks, scheme, ending))], table) for ending in endings]
    whole = [option for option in options if option.any(axis=1).all()]
    return np.asarray(np.logical_or.reduce(whole or options[:1]))


def _agreeing(told: Sequence[Label], table: LabelTable) -> Bools:
    """((n, L)): labels that tell the same marks and sentences."""
    rows = {}
    for label in set(told):
        for mark in (label.mark, NONE):
            rows[label] = [(one.mark, one.sentence) == (mark, label.sentence) for one in table.parsed]
            if any(rows[label]):
                break
    return np.array([rows[label] for label in told], dtype=bool).reshape(len(told), len(table.parsed))


def labels_beside_given(
    marks: Sequence[str | None], lengths: Indices, table: LabelTable, layout: Layout, scheme: LabelScheme
) -> Bools:
    """Find the labels that words may have beside the marks that are settled, such as those in their texts.

    Training may never have seen such a mark in such a sentence, say a semicolon in a question. In a text that has no
    labelling with all of its marks, only those that end sentences are evidence; if there is still none, nothing is.
    `settle_marks` puts the marks into the labels then.

    marks (sequence of str | None): of all words, None where it is open. lengths ((B,)): of the texts, in words.
    """
    allowed = table.having(marks)
    ends = [mark if mark is not None and scheme.is_end(mark) else None for mark in marks]
    for weaker in (ends, [None] * len(marks)):
        texts = blocked_sequences(lengths, allowed, layout)
        if not len(texts):
            break
        blocked = np.isin(Segments(lengths).owners, texts)
        allowed[blocked] = table.having(weaker)[blocked]
    return allowed


def settle_marks(tags: Ints, marks: Iterable[str | None], table: LabelTable) -> Ints:
    """Put settled marks in the place of others, and as much of the rest as training has seen with these.

    None leaves a word alone; a mark that no label has is as none at all.
    """
    settled = tags.copy()
    for place, (tag, mark) in enumerate(zip(tags.tolist(), marks)):
        own = table.parsed[tag]
        wanted = mark if mark is None or mark in table.marks else NONE
        if wanted not in (None, own.mark) and wanted in table.marks:
            alike = [sum(map(eq, own, label)) if label.mark == wanted else -1 for label in table.parsed]
            settled[place] = int(np.argmax(alike))
    return settled
