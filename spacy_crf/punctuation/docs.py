"""Docs as the restorer sees them: where they keep punctuation, their words, and the gold labels of these.

`doc._.punctuation` is a dict of lists, one value for each token: "marks" (names, "" for none, None where gold does not
know it: then nothing is known of the word), "case", "openings" and
"closings" where they are told, and "probabilities" (n lists of M) with the names of its columns under "columns". A
token that is not the last one of its word has no mark. Gold of a window has the marks behind it, in the order in which
each comes first, under "following": one of them ends its last sentence. Gold of a text that spells marks in another way
than the restorer does without learning has their signs under "signs".

`token._.pause`, the seconds of silence behind a token, and `token._.confidence`, that of a recogniser in it, are for
features: whoever knows them sets them.

The chain runs over a bare Doc with a token for each word, in lower case and without marks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, Token
from spacy.training import Alignment, Example
from thinc.types import Ints2d

from ..annotation.documents import TRUNCATED
from ..annotation.extensions import (
    keep_values,
    place_of,
    read_result,
    read_value,
    register,
    register_result,
    shown_values,
    user_data,
    write_result,
)
from ..core.arrays import Indices, cached_property
from ..core.errors import CRFError, excerpt
from .block import NONE, LabelScheme
from .errors import PunctuationErrors
from .labels import Label, make_labels, spelt_sign, tell_sentences
from .subtitles import blank_unspoken, is_subtitles
from .words import APOSTROPHES, OPENERS, Word, bare_form, mark_words, split_words, takes_no_mark

PUNCTUATION = "punctuation"
RESTORED, RESTORATION, RESTORATIONS = "restored", "restoration", "restorations"
MARKS, CASE, OPENINGS, CLOSINGS = "marks", "case", "openings", "closings"
PROBABILITIES, COLUMNS, FOLLOWING, SPELT = "probabilities", "columns", "following", "signs"
PAUSE, CONFIDENCE = "pause", "confidence"
LONGEST_PAUSE = 5.0  # seconds; as a feature, a longer one counts as this, or an hour would outweigh all words
_GIVEN = "spacy_crf.given_marks"
_ARROW = "->"  # stands between the times of cues
_SBV = re.compile(r"\ufeff?\s*\d+:\d")  # where a comma does, a file begins so
_SIGMA = "Σ"  # in lower case another letter at the end of a word


def register_punctuation() -> None:
    """Make the custom attributes available where nobody else has."""
    register_result(PUNCTUATION)
    for name in (RESTORED, RESTORATION, RESTORATIONS):
        register(Doc, name)
    for name, value in (("punct_after", _TokenValue(MARKS)), ("case", _TokenValue(CASE))):
        register(Token, name, getter=value.get, setter=value.set)
    register(Token, PAUSE)
    register(Token, CONFIDENCE)
    register(Token, "punct_probs", getter=_probabilities)


def read_punctuation(doc: Doc) -> dict[str, Any] | None:
    """Return what a Doc has of punctuation; None for nothing, whether or not the attribute is registered."""
    return cast(dict[str, Any] | None, read_result(doc, PUNCTUATION))


def write_gold(
    doc: Doc,
    marks: Sequence[str | None],
    openings: Sequence[str] = (),
    closings: Sequence[str] = (),
    signs: Sequence[str] = (),
    following: str = "",
) -> None:
    """Give a Doc whose tokens are words the marks behind them, None for unknown. following: see `write_following`."""
    columns = ((OPENINGS, openings), (CLOSINGS, closings), (SPELT, signs))
    values: dict[str, Any] = {MARKS: list(marks), **{name: list(found) for name, found in columns if any(found)}}
    write_result(doc, PUNCTUATION, values)
    write_following(doc, following)


def write_following(doc: Doc, following: str) -> None:
    """Note the marks behind a Doc, in the order in which each comes first, where it is cut out of a text."""
    if following:
        write_result(doc, PUNCTUATION, {**(read_punctuation(doc) or {}), FOLLOWING: following})


def write_restored(
    doc: Doc, values: dict[str, Any], text: str, edits: Sequence[Sequence[Any]], texts: list[dict[str, Any]] | None
) -> None:
    """Give a Doc its punctuation, the text with its marks, the edits that make it, and the best texts, if there are."""
    write_result(doc, PUNCTUATION, values)
    doc._.set(RESTORATION, [list(edit) for edit in edits])
    doc._.set(RESTORED, text)
    if texts is not None:
        doc._.set(RESTORATIONS, texts)


def write_truncated(doc: Doc, sides: tuple[bool, bool]) -> None:
    """Note that a Doc is cut out of a text that goes on, so that its first or last word is no true start or end."""
    if any(sides):
        user_data(doc)[TRUNCATED] = list(sides)


def read_truncated(doc: Doc) -> tuple[bool, bool]:
    """Tell whether the text goes on before and behind a Doc; see `write_truncated`."""
    before, behind = user_data(doc).get(TRUNCATED, (False, False))
    return bool(before), bool(behind)


def write_speech(
    tokens: Doc | Sequence[Token], pauses: Sequence[float | None], confidences: Sequence[float | None] = ()
) -> None:
    """Set `token._.pause` and `token._.confidence` of the first tokens where they are known."""
    for name, values in ((PAUSE, pauses), (CONFIDENCE, confidences)):
        for token, value in zip(tokens, values):
            if value is not None:
                token._.set(name, value)


def read_pauses(view: "WordView") -> list[float | None]:
    """Return `token._.pause` of the tokens in which words end; of several words in a token, the last one has it."""
    places = view.last_tokens.tolist()
    return [None if at == after else view.doc[at]._.get(PAUSE) for at, after in zip(places, [*places[1:], -1])]


def read_confidences(view: "WordView") -> list[float | None]:
    """Return `token._.confidence` of the tokens in which words begin."""
    return [view.doc[place]._.get(CONFIDENCE) for place in view.first_tokens.tolist()]


class _TokenValue:
    """Getter and setter of a value of tokens. A class, so that they pickle."""

    def __init__(self, part: str):
        self.part = part

    def get(self, token: Token) -> str:
        stored = read_value(token.doc, PUNCTUATION) or {}
        return str(stored[self.part][place_of(token, PUNCTUATION)] or "") if self.part in stored else ""

    def set(self, token: Token, value: Any) -> None:
        stored = read_punctuation(token.doc) or {}
        values = [*(stored.get(self.part) or [""] * len(token.doc))]  # of a DocBin, a tuple
        values[token.i] = value
        write_result(token.doc, PUNCTUATION, {**stored, self.part: values})


def _probabilities(token: Token) -> dict[str, float] | None:
    """Get the probabilities of the marks behind a token, by their names; None where there are none."""
    stored = read_value(token.doc, PUNCTUATION) or {}
    if PROBABILITIES not in stored:
        return None
    values = stored[PROBABILITIES][place_of(token, PUNCTUATION)]
    return dict(zip(stored[COLUMNS], map(float, values)))


class MarkedWords(NamedTuple):
    """What is known of the words of a Doc, each a list by word.

    marks: names of those behind them, "" for none, None for one that is not known. openings, closings: kinds of
    quotation marks and brackets around them. signs: the marks as they are spelt, "" for the usual way.
    """

    marks: list[str | None]
    openings: list[str]
    closings: list[str]
    signs: list[str]


@dataclass(frozen=True)
class WordView:
    """The words of a Doc, with character offsets into its text, which takes long to ask for.

    settled: marks that have been told of words, by the characters at which these end.
    """

    doc: Doc
    text: str
    words: list[Word]
    settled: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, doc: Doc, scheme: LabelScheme) -> "WordView":
        """Read a Doc; of subtitles, what is spoken.

        Where it does not know what white space its text has, its tokens are the words and the marks.
        """
        text = doc.text
        if not doc.has_unknown_spaces:
            may_have_cues = _ARROW in text or _SBV.match(text)
            spoken = blank_unspoken(text) if may_have_cues and is_subtitles(text) else text
            return cls(doc, text, split_words(spoken, scheme.abbreviated))
        return cls(doc, text, mark_words(text, doc.to_array([IDX, LENGTH]).reshape(-1, 2).astype(np.intp).tolist()))

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
        lower = lower.translate(APOSTROPHES)
        return [lower[word.start : word.end] for word in self.words]

    @cached_property
    def signs(self) -> list[int]:
        """Numbers of the words behind which no mark stands, such as emoji."""
        return [n for n, form in enumerate(self.bare_forms) if not form[0].isalnum() and takes_no_mark(form)]

    @cached_property
    def last_tokens(self) -> Indices:
        """((W,)): the token in which each word ends."""
        return self._tokens_at([word.end - 1 for word in self.words])

    @cached_property
    def first_tokens(self) -> Indices:
        """((W,)): the token in which each word begins."""
        return self._tokens_at([word.start for word in self.words])

    def opening_tokens(self, numbers: Indices) -> Indices:
        """((n,)): the tokens in which words, by their numbers, begin or else, the signs that open right before them."""
        return self._tokens_at([self._opening_start(number) for number in numbers.tolist()])

    def _tokens_at(self, characters: list[int]) -> Indices:
        starts = self.doc.to_array(IDX).astype(np.intp)
        return np.searchsorted(starts, np.array(characters, dtype=np.intp), side="right") - 1

    def _opening_start(self, number: int) -> int:
        start, floor = self.words[number].start, self.words[number - 1].tail if number else 0
        before = self.text[floor:start]
        return start - (len(before) - len(before.rstrip(OPENERS)))

    @cached_property
    def _stored(self) -> dict[str, Any]:
        return read_punctuation(self.doc) or {}

    @property
    def following(self) -> str:
        """The marks behind the Doc, in the order in which each comes first, where it is a part of a text."""
        return str(self._stored.get(FOLLOWING, ""))

    def marked(self) -> MarkedWords:
        """Return the marks that the Doc was annotated with or else, those of its text."""
        if MARKS not in self._stored:
            return MarkedWords(
                [word.mark for word in self.words],
                [word.opening for word in self.words],
                [word.closing for word in self.words],
                [spelt_sign(self.text, word) for word in self.words],
            )
        none, places = [""] * len(self.doc), self.last_tokens.tolist()
        columns = [self._stored.get(name) or none for name in (MARKS, OPENINGS, CLOSINGS, SPELT)]
        return MarkedWords(*([column[place] for place in places] for column in columns))

    def labels(self, scheme: LabelScheme) -> list[Label | None]:
        """Return labels of the words by their marks; None for those of which nothing is known."""
        marks, openings, closings, _ = self.marked()
        labels = make_labels(scheme, self.forms, [mark or "" for mark in marks], openings, closings)
        known = [None if mark is None else label for mark, label in zip(marks, labels)]
        return tell_sentences(known, scheme, self.following)


def is_bare(doc: Doc) -> bool:
    """Tell whether a Doc was made by `bare_doc`."""
    return _GIVEN in user_data(doc)


def given_marks(bare: Doc, scheme: LabelScheme, keep: bool) -> list[str | None] | None:
    """Return the marks of a bare Doc that are settled, by word, None for an open one; None if all of them are open.

    keep (bool): whether those of its text are. One that is not restored is NONE then: the word has no other. So is a
        sign that has no mark: it takes none.
    """
    view: WordView = user_data(bare)[_GIVEN]
    signs = view.signs
    if not (keep or view.settled or signs):
        return None
    kept = (scheme.label(word.mark) if keep and word.mark else None for word in view.words)
    found = [view.settled.get(word.end, mark) for word, mark in zip(view.words, kept)]
    for number in signs:
        if not view.words[number].mark:
            found[number] = NONE
    return found


def bare_doc(view: WordView, attributes: Sequence[int], extensions: Sequence[str]) -> Doc:
    """Make a Doc of the words alone, which remembers the marks of its text.

    attributes, extensions: annotation and custom token attributes that features read, as the token has them in which a
        word begins; but `pause` is that of the token in which it ends, in seconds up to `LONGEST_PAUSE`.
    """
    bare = Doc(view.doc.vocab, words=view.bare_forms)
    given, made = user_data(view.doc), user_data(bare)
    made[_GIVEN] = view
    if TRUNCATED in given:
        made[TRUNCATED] = given[TRUNCATED]
    if (attributes or extensions) and len(bare):
        firsts = view.first_tokens
        if attributes:
            values = view.doc.to_array(list(attributes)).reshape(len(view.doc), -1)[firsts]
            bare.from_array(list(attributes), cast(Ints2d, values))
        for name in extensions:
            if name == PAUSE:
                pauses = read_pauses(view)
                write_speech(bare, [None if one is None else min(float(one), LONGEST_PAUSE) for one in pauses])
                continue
            shown = shown_values(view.doc, name)
            keep_values(bare, name, [shown[place] for place in firsts.tolist()])
    return bare


def gold_labels(example: Example, scheme: LabelScheme) -> list[Label | None]:
    """Return the label of each word of the predicted Doc; None where the reference does not know it, or is split into
    words otherwise."""
    words, reference = WordView.of(example.predicted, scheme), WordView.of(example.reference, scheme)
    labels = reference.labels(scheme)
    ours, theirs = (view.bare_forms for view in (words, reference))
    if ours == theirs:
        return list(labels)
    found: list[Label | None] = [None] * len(ours)
    if "".join(ours) != "".join(theirs):
        raise CRFError(PunctuationErrors.CRF975.format(document=excerpt(example.reference.text)))
    alignment = Alignment.from_strings(ours, theirs)
    back = alignment.y2x.lengths
    for word in np.flatnonzero(alignment.x2y.lengths == 1).tolist():
        (target,) = alignment.x2y[word].tolist()
        if back[target] == 1:
            found[word] = labels[target]
    return found
