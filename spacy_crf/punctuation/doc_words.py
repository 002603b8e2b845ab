"""The words of a Doc as the chain sees them: a bare Doc with a token for each word, in lower case and without marks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.types import Ints2d

from ..annotation.extensions import user_data
from ..core.arrays import Indices
from ..features.open_sides import OPEN_SIDES
from .annotation import CLOSINGS, FOLLOWING, MARKS, OPENINGS, PAUSE, read_punctuation, write_pauses
from .case import case_of
from .labels import Label, LabelScheme
from .words import OPENERS, Word, split_words

LONGEST_PAUSE = 5.0  # seconds; as a feature, a longer one counts as this, or an hour would outweigh all words
_GIVEN = "spacy_crf.given_marks"
_SIGMA = "Σ"  # in lower case another letter at the end of a word
_APOSTROPHES = str.maketrans("’ʼ", "''")


@dataclass(frozen=True)
class WordView:
    """The words of a Doc.

    doc (Doc): whose words they are. text (str): of the Doc, which takes long to ask for.
    words (list[Word]): with character offsets into the text.
    """

    doc: Doc
    text: str
    words: list[Word]

    @classmethod
    def of(cls, doc: Doc, scheme: LabelScheme) -> "WordView":
        """Read a Doc. Where it does not know what white space its text has, its tokens are the words."""
        text = doc.text
        if not doc.has_unknown_spaces:
            return cls(doc, text, split_words(text, scheme.marks.abbreviations))
        starts, sizes = _places(doc)
        return cls(doc, text, [Word(low, low + size, low + size) for low, size in zip(starts.tolist(), sizes.tolist())])

    @cached_property
    def forms(self) -> list[str]:
        """The words as they are spelt."""
        return [self.text[word.start : word.end] for word in self.words]

    @cached_property
    def bare_forms(self) -> list[str]:
        """The words in lower case, with plain apostrophes, as the chain sees them."""
        lower = self.text.lower()
        if len(lower) != len(self.text) or _SIGMA in self.text:  # what its case depends on may be outside of a word
            return [bare_form(form) for form in self.forms]
        lower = lower.translate(_APOSTROPHES)
        return [lower[word.start : word.end] for word in self.words]

    @cached_property
    def last_tokens(self) -> Indices:
        """((W,)): the token in which each word ends."""
        ends = np.array([word.end for word in self.words], dtype=np.intp)
        return np.searchsorted(self._token_starts, ends, side="left") - 1

    @cached_property
    def first_tokens(self) -> Indices:
        """((W,)): the token in which each word begins."""
        begins = np.array([word.start for word in self.words], dtype=np.intp)
        return np.searchsorted(self._token_starts, begins, side="right") - 1

    def opening_tokens(self, numbers: Indices) -> Indices:
        """((n,)): the tokens in which words begin or else, the signs that open right before them.

        numbers ((n,)): of words.
        """
        begins = np.array([self._opening_start(number) for number in numbers.tolist()], dtype=np.intp)
        return np.searchsorted(self._token_starts, begins, side="right") - 1

    def _opening_start(self, number: int) -> int:
        start, floor = self.words[number].start, self.words[number - 1].tail if number else 0
        before = self.text[floor:start]
        return start - (len(before) - len(before.rstrip(OPENERS)))

    @cached_property
    def _token_starts(self) -> Indices:
        return self.doc.to_array(IDX).astype(np.intp)

    def labels(self, scheme: LabelScheme) -> list[Label]:
        """What the marks say that the Doc was annotated with or else, those of its text."""
        stored = read_punctuation(self.doc)
        if stored is None or MARKS not in stored:
            return scheme.read(self.text, self.words)
        columns = []
        for name, is_told in ((MARKS, True), (OPENINGS, scheme.pairs), (CLOSINGS, scheme.pairs)):
            found = stored.get(name) if is_told else None
            columns.append([""] * len(self.words) if found is None else [found[k] for k in self.last_tokens.tolist()])
        labels = [
            Label(scheme.marks.label(mark), case_of(form) if scheme.case else "", opening, closing)
            for mark, opening, closing, form in zip(*columns, self.forms)
        ]
        return scheme.tell_sentences(labels, stored.get(FOLLOWING, ""))


def bare_form(form: str) -> str:
    """A word as the chain sees it: in lower case, with straight apostrophes."""
    return form.lower().translate(_APOSTROPHES)


def is_bare(doc: Doc) -> bool:
    """Whether a Doc was made by `bare_doc`."""
    return _GIVEN in user_data(doc)


def given_marks(bare: Doc, scheme: LabelScheme) -> list[str]:
    """The marks that were in the text of a bare Doc, by word; NONE where there was none."""
    view: WordView = user_data(bare)[_GIVEN]
    return [scheme.marks.label(word.mark) for word in view.words]


def bare_doc(view: WordView, vocab: Vocab, attributes: Sequence[int], extensions: Sequence[str]) -> Doc:
    """A Doc of the words alone, which remembers the marks of its text.

    attributes (sequence of int): annotation that features read; that of the token in which a word begins.
    extensions (sequence of str): custom token attributes that features read; `pause` is that of the token in which a
        word ends, in seconds up to `LONGEST_PAUSE`.
    """
    bare = Doc(vocab, words=view.bare_forms)
    given, made = user_data(view.doc), user_data(bare)
    made[_GIVEN] = view
    if OPEN_SIDES in given:
        made[OPEN_SIDES] = given[OPEN_SIDES]
    if (attributes or extensions) and len(bare):
        firsts = view.first_tokens
        if attributes:
            values = view.doc.to_array(list(attributes)).reshape(len(view.doc), -1)[firsts]
            bare.from_array(list(attributes), cast(Ints2d, values))
        for name in extensions:
            if name == PAUSE:
                write_pauses(bare, _pauses(view))
                continue
            for token, place in zip(bare, firsts.tolist()):
                token._.set(name, view.doc[place]._.get(name))
    return bare


def _pauses(view: WordView) -> list[float | None]:
    """Pauses behind words, whole numbers as real values too."""
    found = [view.doc[place]._.get(PAUSE) for place in view.last_tokens.tolist()]
    return [None if pause is None else min(float(pause), LONGEST_PAUSE) for pause in found]


def _places(doc: Doc) -> tuple[Indices, Indices]:
    """((n,), (n,)): where tokens begin, and their lengths in characters."""
    places = doc.to_array([IDX, LENGTH]).reshape(-1, 2).astype(np.intp)
    return places[:, 0], places[:, 1]
