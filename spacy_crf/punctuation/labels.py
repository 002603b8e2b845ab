"""Labels of words: the mark that follows and, on request, the case and what opens and closes, all in one label.

One chain over such joint labels predicts all of them together, exactly: "PERIOD|Title|QUOTE>" is the label of `Kent`
in `said Kent.”`. The probability of a mark is the sum over the labels that have it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors
from .case import CASES, case_of
from .marks import NONE, PAIRS, MarkSet
from .words import Word, split_words

BETWEEN = "|"
_OPENS, _CLOSES = "<", ">"


class Label(NamedTuple):
    """What a label says of a word.

    mark (str): name of the mark behind it, or NONE. case (str): one of `CASES`; "" where cases are not told.
    opening (str), closing (str): kind of the sign before and behind it, "" for none.
    """

    mark: str = NONE
    case: str = ""
    opening: str = ""
    closing: str = ""

    def __str__(self) -> str:
        around = (self.opening and self.opening + _OPENS) + (self.closing and self.closing + _CLOSES)
        return BETWEEN.join(part for part in (self.mark, self.case, around) if part)


def parse_label(text: str) -> Label:
    """The inverse of `str`.

    RAISES (ValueError): for a text that is no label.
    """
    mark, *parts = text.split(BETWEEN)
    case = parts.pop(0) if parts and parts[0] in CASES else ""
    around = parts.pop(0) if parts else ""
    opening, _, closing = around.rpartition(_OPENS)
    label = Label(mark, case, opening, closing.removesuffix(_CLOSES))
    if parts or not mark or str(label) != text or any(kind and kind not in PAIRS for kind in label[2:]):
        raise ValueError(Errors.CRF974.format(label=text))
    return label


@dataclass(frozen=True)
class LabelScheme:
    """What labels tell of words.

    marks (MarkSet): the marks. case (bool): whether labels tell the case. pairs (bool): whether they tell quotation
    marks and brackets.
    """

    marks: MarkSet
    case: bool = False
    pairs: bool = False

    def read(self, text: str, words: Sequence[Word]) -> list[Label]:
        """Labels of the words of a punctuated text."""
        return [
            Label(
                self.marks.label(word.mark),
                case_of(text[word.start : word.end]) if self.case else "",
                word.opening if self.pairs else "",
                word.closing if self.pairs else "",
            )
            for word in words
        ]


class Stripped(NamedTuple):
    """A text without its punctuation.

    words (list[str]): as they are spelt in the text. labels (list[Label]): one for each word.
    """

    words: list[str]
    labels: list[Label]


def strip(text: str, scheme: LabelScheme) -> Stripped:
    """The words of a punctuated text, and their labels."""
    words = split_words(text, scheme.marks.abbreviations)
    return Stripped([text[word.start : word.end] for word in words], scheme.read(text, words))


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
        """Which labels have a mark; all of them for NONE, and for a mark that no label has."""
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
