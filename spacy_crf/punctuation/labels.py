"""Labels of words: the mark that follows and, on request, the case and what opens and closes, all in one label.

One chain over such joint labels predicts all of them together, exactly: "PERIOD|Title|QUOTE>" is the label of `Kent`
in `said Kent.”`. The probability of a mark is the sum over the labels that have it.

Labels may tell besides what kind of sentence a word is in, by the mark that ends it: "O|@QUESTION" is a word in a
question. So what opens a question is connected with the mark that ends it, however far away, as in the layer of
sentence types of Lu & Ng, "Better punctuation prediction with dynamic conditional random fields" (EMNLP 2010).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import CRFError
from .block import NONE, LabelScheme
from .errors import PunctuationErrors
from .words import CASES, PAIRS, Word, case_of

BETWEEN = "|"
_OPENS, _CLOSES, _INSIDE = "<", ">", "@"


class Label(NamedTuple):
    """A label of a word.

    mark (str): name of the mark behind it, or NONE. case (str): one of `CASES`; "" where cases are not told.
    opening (str), closing (str): kind of the sign before and behind it, "" for none.
    sentence (str): the mark that ends the sentence that goes on behind the word; "" for one that is not told.
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
    """Return the label behind its spelling.

    RAISES (ValueError): for a text that is no label.
    """
    mark, *parts = text.split(BETWEEN)
    case = parts.pop(0) if parts and parts[0] in CASES else ""
    inside = parts.pop() if parts and parts[-1].startswith(_INSIDE) else ""
    around = parts.pop(0) if parts else ""
    opening, _, closing = around.rpartition(_OPENS)
    label = Label(mark, case, opening, closing.removesuffix(_CLOSES), inside.removeprefix(_INSIDE))
    if parts or not mark or str(label) != text or any(kind and kind not in PAIRS for kind in label[2:4]):
        raise CRFError(PunctuationErrors.CRF974.format(label=text))
    return label


def read_labels(text: str, words: Sequence[Word], scheme: LabelScheme) -> list[Label]:
    """Return the labels of the words of a punctuated text."""
    labels = [
        Label(
            scheme.label(word.mark),
            case_of(text[word.start : word.end]) if scheme.case else "",
            word.opening if scheme.pairs else "",
            word.closing if scheme.pairs else "",
        )
        for word in words
    ]
    return tell_sentences(labels, scheme)


def tell_sentences(labels: Sequence[Label], scheme: LabelScheme, following: str = "") -> list[Label]:
    """Return labels that tell the kinds of their sentences.

    following (str): the mark that ends the sentence which goes on behind the last word, if the text does.
    """
    if not scheme.kinds:
        return list(labels)
    told, kind = [], _kind(scheme.label(following), scheme)
    for label in reversed(labels):
        if scheme.is_end(label.mark):
            kind = _kind(label.mark, scheme)
            told.append(label)
        else:
            told.append(label._replace(sentence=kind))
    return told[::-1]


def may_follow(first: Label, second: Label, scheme: LabelScheme) -> bool:
    """Tell whether a label may follow another: a sentence is of one kind from its beginning to its end."""
    if scheme.is_end(first.mark):
        return True
    return first.sentence == (_kind(second.mark, scheme) if scheme.is_end(second.mark) else second.sentence)


def _kind(mark: str, scheme: LabelScheme) -> str:
    return mark if mark in (scheme.kinds or ()) else ""


class LabelTable:
    """The labels of a chain as arrays.

    labels (sequence of str): L of them, as `str` spells them.
    """

    def __init__(self, labels: Sequence[str]):
        self.parsed = [parse_label(text) for text in labels]
        self.marks = tuple(dict.fromkeys(label.mark for label in self.parsed))
        number = {mark: k for k, mark in enumerate(self.marks)}
        self.mark_of = np.array([number[label.mark] for label in self.parsed], dtype=np.intp)

    def having(self, mark: str) -> list[bool]:
        """Tell which labels have a mark; all of them for NONE, and for a mark that no label has."""
        if mark == NONE or mark not in self.marks:
            return [True] * len(self.parsed)
        return [label.mark == mark for label in self.parsed]

    def mark_probabilities(self, marginals: Any) -> Any:
        """((n, M)): probabilities of marks, in the order of `marks`.

        marginals ((n, L)): of labels.
        """
        sums = np.zeros((len(marginals), len(self.marks)), dtype=marginals.dtype)
        for label, mark in enumerate(self.mark_of.tolist()):
            sums[:, mark] += marginals[:, label]
        return sums
