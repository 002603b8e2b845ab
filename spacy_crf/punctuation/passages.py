"""Punctuated text of any format as words with the marks around them: what punctuation is learned from."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np
import srsly

from .marks import ABBREVIATIONS, ENDS
from .subtitles import Cue
from .words import Word, split_words

REPLACEMENT = "\ufffd"  # what decoders write for bytes that are no text
LEAST_WORDS = 100  # a shorter passage may do without marks


@dataclass(frozen=True)
class Passage:
    """A running text, or a part of one that is cut out of it.

    words (list[str]): as they are spelt, without marks.
    marks (list[str]): names of the marks behind them, "" for none.
    openings (list[str]), closings (list[str]): kinds of quotation marks and brackets around them, "" for none.
    is_open (tuple[bool, bool]): whether the text goes on before and behind it.
    following (str): the first mark behind it that ends a sentence.
    pauses (sequence of float | None): seconds of silence behind each word, None where that is not known; empty where
        nothing is known of any.
    """

    words: list[str]
    marks: list[str]
    openings: list[str]
    closings: list[str]
    is_open: tuple[bool, bool] = (False, False)
    following: str = ""
    pauses: Sequence[float | None] = ()

    def windows(self, size: int) -> Iterator["Passage"]:
        """Parts of about the same number of words.

        size (int): about so many words; 0 for the whole passage.
        """
        n_parts = max(1, round(len(self.words) / size)) if size else 1
        bounds = [len(self.words) * part // n_parts for part in range(n_parts + 1)]
        ends = [place for place, mark in enumerate(self.marks) if mark in ENDS]
        for low, high in zip(bounds, bounds[1:]):
            sides = low > 0 or self.is_open[0], high < len(self.words) or self.is_open[1]
            behind = bisect_left(ends, high)
            following = self.marks[ends[behind]] if behind < len(ends) else self.following
            yield replace(self._run(low, high), is_open=sides, following=following)

    def sentences(self) -> Iterator["Passage"]:
        """The parts behind which a sentence ends, each as a passage of its own."""
        ends = [place for place, mark in enumerate(self.marks, 1) if mark in ENDS]
        for low, high in zip([0, *ends], [*ends, len(self.words)]):
            if low < high:
                yield self._run(low, high)

    def _run(self, low: int, high: int) -> "Passage":
        run = slice(low, high)
        pauses = self.pauses[run]
        return Passage(self.words[run], self.marks[run], self.openings[run], self.closings[run], pauses=pauses)


@dataclass
class Anomalies:
    """What was left out, by reason (Agrawal & Shah, section 4.1.2, discard sentences with such anomalies).

    dropped (Counter[str]): passages and rows. read (int): passages that were kept.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    read: int = 0

    def check(self, passage: Passage, share: float) -> bool:
        """Whether a passage is worth learning from.

        share (float): the least share of words with a mark.
        """
        reason = ""
        if not passage.words:
            reason = "without words"
        elif any(REPLACEMENT in word for word in passage.words):
            reason = "with undecodable characters"
        elif len(passage.words) >= LEAST_WORDS and sum(map(bool, passage.marks)) < share * len(passage.words):
            reason = "hardly punctuated"
        self.dropped.update([reason] if reason else [])
        self.read += not reason
        return not reason

    def __str__(self) -> str:
        return ", ".join(f"{number} {reason}" for reason, number in sorted(self.dropped.items()))


def make_passage(text: str, abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """The passage of a punctuated text. abbreviations (Collection[str]): words whose period is a part of them."""
    return _of_words(text, split_words(text, abbreviations))


def spoken_passage(cues: Sequence[Cue], abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """The passage of subtitles: one text, with the pauses between cues behind their last words."""
    text = "\n".join(cue.text for cue in cues)
    words = split_words(text, abbreviations)
    begins = np.cumsum([0, *(len(cue.text) + 1 for cue in cues)])
    shown = [cues[place] for place in np.searchsorted(begins, [word.start for word in words], side="right") - 1]
    pauses = [None if cue is after else max(0.0, after.start - cue.end) for cue, after in pairwise(shown)]
    return replace(_of_words(text, words), pauses=[*pauses, None][: len(words)])


def _of_words(text: str, words: Sequence[Word]) -> Passage:
    return Passage(
        [text[word.start : word.end] for word in words],
        [word.mark for word in words],
        [word.opening for word in words],
        [word.closing for word in words],
    )


def labelled_passage(rows: Sequence[tuple[str, str]]) -> Passage:
    """The passage of words that come with the names of their marks."""
    none = [""] * len(rows)
    return Passage([word for word, _ in rows], [mark for _, mark in rows], none, list(none))


def texts_of_lines(lines: Iterable[str], unit: str) -> Iterator[str]:
    """Texts of a plain file.

    unit (str): what is a text: "paragraph" for what is between blank lines, "line"; the whole file for any other.
    """
    if unit == "line":
        yield from lines
        return
    held: list[str] = []
    for line in chain(lines, [""]):
        if line.strip() or unit != "paragraph":
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)


def text_of_json(line: str, key: str) -> Any:
    """What a line of JSONL has under a key; None where it is no object or lacks it."""
    try:
        found = srsly.json_loads(line)
    except ValueError:
        return None
    return found.get(key) if isinstance(found, dict) else None
