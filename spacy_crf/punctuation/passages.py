"""Punctuated text of any format as words with the marks around them: what punctuation is learned from.

A `Survey` tells what such texts show before any word is labelled: labels, forms in mixed case, how marks are spelt.
`Habits` are what raw texts tell of each word: in which case it is written, and whether marks stand beside it.
"""

import warnings
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ..core.errors import CRFWarning
from .block import ABBREVIATIONS, ENDS, NONE, LabelScheme
from .docs import WordView
from .errors import PunctuationWarnings
from .labels import ANY, parse_label, spelt_sign
from .subtitles import Heard, pause_between
from .words import Word, bare_form, case_of, split_words

REPLACEMENT = "\ufffd"  # what decoders write for bytes that are no text
LONG_WORD = 40  # letters; where more words than the next share are longer, no white space parts words
MOST_LONG_WORDS = 0.05
SHARES = (0.01, 0.03, 0.1, 0.3)  # of the occurrences of a word that have a mark beside them, where levels begin
LEAST_WORDS = 100  # a shorter passage may do without marks


@dataclass(frozen=True)
class Passage:
    """A running text, or a part of one that is cut out of it.

    words (list[str]): as they are spelt, without marks. marks (list[str | None]): names of those behind them, "" for
    none, None for unknown.
    openings (list[str]), closings (list[str]): kinds of quotation marks and brackets around them, "" for none.
    signs (list[str]): the marks as they are spelt, "" for the usual way.
    truncated (tuple[bool, bool]): whether the text goes on before and behind it.
    following (str): the marks behind it in the order in which each comes first, as it depends on the marks of a
        component which of them ends the sentence.
    pauses (sequence of float | None): seconds of silence behind each word, as far as known; empty if of none.
    confidences (sequence of float | None): of a recogniser in each word, as far as known; empty if in none.
    name (str): of the document that it is, or is a part of; "" if it is not known.
    """

    words: list[str]
    marks: list[str | None]
    openings: list[str]
    closings: list[str]
    signs: list[str]
    truncated: tuple[bool, bool] = (False, False)
    following: str = ""
    pauses: Sequence[float | None] = ()
    confidences: Sequence[float | None] = ()
    name: str = ""

    def windows(self, size: int) -> Iterator["Passage"]:
        """Yield parts of about the same number of words. size (int): about so many; 0 for the whole passage."""
        n_parts = max(1, round(len(self.words) / size)) if size else 1
        bounds = [len(self.words) * part // n_parts for part in range(n_parts + 1)]
        order, at = self.following.split(), len(self.marks)
        followings = []
        for bound in reversed(bounds[1:]):
            for mark in filter(lambda mark: mark != "", reversed(self.marks[bound:at])):
                order = [ANY] if mark is None else [mark, *(one for one in order if one != mark)]
            followings.append(" ".join(order))
            at = bound
        for (low, high), following in zip(pairwise(bounds), reversed(followings)):
            sides = low > 0 or self.truncated[0], high < len(self.words) or self.truncated[1]
            yield replace(self._run(low, high), truncated=sides, following=following)

    def sentences(self) -> Iterator["Passage"]:
        """Yield the parts behind which a sentence ends, each as a passage of its own; what was cut stays so."""
        bounds = [0, *(place for place, mark in enumerate(self.marks, 1) if mark in ENDS), len(self.words)]
        for low, high in pairwise(bounds):
            if low < high:
                is_open = self.truncated[1] and self.marks[high - 1] not in ENDS
                yield replace(
                    self._run(low, high),
                    truncated=(self.truncated[0] and low == 0, is_open),
                    following=self.following if is_open else "",
                )

    def _run(self, low: int, high: int) -> "Passage":
        by_word = ("words", "marks", "openings", "closings", "signs", "pauses", "confidences")
        columns = {name: getattr(self, name)[low:high] for name in by_word}
        return replace(self, **columns, truncated=(False, False), following="")


@dataclass
class Anomalies:
    """What was left out, by reason (Agrawal & Shah, section 4.1.2, discard sentences with such anomalies).

    dropped (Counter[str]): passages and rows. read (int): passages that were kept.
    """

    dropped: Counter[str] = field(default_factory=Counter)
    read: int = 0

    def check(self, passage: Passage, share: float) -> bool:
        """Count a passage and tell whether to learn from it. share (float): least share of words with a mark."""
        reason, known = "", [mark for mark in passage.marks if mark is not None]
        if not passage.words:
            reason = "without words"
        elif any(REPLACEMENT in word for word in passage.words):
            reason = "with undecodable characters"
        elif len(known) >= LEAST_WORDS and sum(map(bool, known)) < share * len(known):
            reason = "hardly punctuated"
        self.dropped.update([reason] if reason else [])
        self.read += not reason
        return not reason

    def __str__(self) -> str:
        return ", ".join(f"{number} {reason}" for reason, number in sorted(self.dropped.items())) or "-"


def make_passage(text: str, abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """Make the passage of a punctuated text. abbreviations (Collection[str]): words whose period is a part of them."""
    return _of_words(text, split_words(text, abbreviations))


def spoken_passage(heard: Sequence[Heard], abbreviations: Collection[str] = ABBREVIATIONS) -> Passage:
    """Make the passage of what was heard: one text, with the pauses behind its words and their confidences."""
    text = " ".join(one.text for one in heard)
    words = split_words(text, abbreviations)
    begins = np.cumsum([0, *(len(one.text) + 1 for one in heard)])
    owners = [heard[place] for place in np.searchsorted(begins, [word.start for word in words], side="right") - 1]
    pauses = [pause_between(first, second) for first, second in pairwise(owners)]
    passage = _of_words(text, words)
    confidences = [owner.confidence for owner in owners]
    return replace(passage, pauses=[*pauses, None][: len(words)], confidences=confidences)


def _of_words(text: str, words: Sequence[Word]) -> Passage:
    forms = [text[word.start : word.end] for word in words]
    marks, openings, closings = ([getattr(word, name) for word in words] for name in ("mark", "opening", "closing"))
    return Passage(forms, marks, openings, closings, [spelt_sign(text, word) for word in words])


class Survey:
    """What the words of texts have shown.

    labels (set[str]): of words, in a scheme. mixed (dict[str, str]): forms in mixed case by their lower-cased ones.
    signs (dict[str, str]): marks that are mostly spelt in another way than the usual one.
    """

    def __init__(self, scheme: LabelScheme, views: Iterable[WordView]):
        self.labels: set[str] = set()
        self._n_words = self._n_long = 0
        mixed: list[str] = []
        signs: Counter[tuple[str, str]] = Counter()
        for view in views:
            labels, marked = view.labels(scheme), view.marked()
            told = (label._replace(sentence=label.sentence.strip(ANY)) for label in labels if label is not None)
            self.labels.update(map(str, told))
            signs.update((mark, sign) for mark, sign in zip(marked.marks, marked.signs) if mark)
            self._n_words += len(view.forms)
            self._n_long += sum(len(form) > LONG_WORD for form in view.forms)
            if scheme.case:
                known = (form for form, mark in zip(view.forms, marked.marks) if mark is not None)
                mixed += [form for form in known if case_of(form) == "mixed"]
        self.mixed, self.signs = mixed_forms(mixed), common_signs(signs)

    def warn(self, name: str, marks: Iterable[str]) -> None:
        """Warn of texts from which nothing can be learned: without marks, or without white space between words.

        name (str): of the component. marks (Iterable[str]): that it restores.
        """
        if self._n_words and all(parse_label(label).mark == NONE for label in self.labels):
            warnings.warn(
                PunctuationWarnings.CRFW975.format(name=name, marks=", ".join(marks)), CRFWarning, stacklevel=3
            )
        if self._n_long > MOST_LONG_WORDS * self._n_words:
            told = {"name": name, "long": self._n_long, "words": self._n_words, "most": LONG_WORD}
            warnings.warn(PunctuationWarnings.CRFW976.format(**told), CRFWarning, stacklevel=3)


def common_signs(counts: Mapping[tuple[str, str], int]) -> dict[str, str]:
    """Find how each mark is spelt most often, as far as it is not as we would; of equal ones the usual, or the first.

    counts (Mapping): how often each mark has each sign, as `spelt_sign` tells signs.
    """
    found: dict[str, str] = {}
    for mark, sign in sorted(counts, key=lambda pair: (-counts[pair], pair)):
        found.setdefault(mark, sign)
    return {mark: sign for mark, sign in sorted(found.items()) if sign}


def mixed_forms(forms: Iterable[str]) -> dict[str, str]:
    """Find the most frequent form in mixed case of each word, by its lower-cased one; of equal ones the first."""
    counts = Counter(form for form in forms if case_of(form) == "mixed")
    best: dict[str, str] = {}
    for form, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        best.setdefault(form.lower(), form)
    return dict(sorted(best.items()))


class Habits:
    """How the words of texts were written, by their bare forms: counts of cases inside of sentences, and of marks."""

    def __init__(self, passages: Iterable[Passage]):
        self._cases: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._behind: Counter[str] = Counter()
        self._before: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        for passage in passages:
            forms = list(map(bare_form, passage.words))
            self._seen.update(forms)
            self._behind.update(form for form, mark in zip(forms, passage.marks) if mark)
            self._before.update(form for form, mark in zip(forms[1:], passage.marks) if mark)
            for form, word, mark in zip(forms[1:], passage.words[1:], passage.marks):
                if mark is not None and mark not in ENDS:
                    self._cases[form][case_of(word)] += 1

    def cases(self, min_count: int) -> dict[str, str]:
        """Return the usual case of each frequent word and how usual it is, up to 9: "Title9", "lower6"."""
        found = {}
        for form, counts in sorted(self._cases.items()):
            ((case, number),) = counts.most_common(1)
            if counts.total() >= min_count:
                found[form] = f"{case}{round(9 * number / counts.total())}"
        return found

    def marks(self, min_count: int) -> dict[str, str]:
        """Return how often frequent words have a mark behind them, and how often before: digits from 0 to 4, "31"."""
        shares = (
            (form, [counts[form] / number for counts in (self._behind, self._before)])
            for form, number in sorted(self._seen.items())
            if number >= min_count
        )
        return {form: "".join(str(bisect_right(SHARES, share)) for share in own) for form, own in shares}
