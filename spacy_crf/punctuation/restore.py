"""From labels back to text and to Docs: edits with character offsets, which touch nothing but marks and case."""

import re
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
from spacy.attrs import SENT_START
from spacy.tokens import Doc
from thinc.types import Ints2d

from ..core.arrays import Floats, Ints
from .block import NONE, SIGNS, LabelScheme
from .calibration import WordPrediction
from .docs import (
    CASE,
    CLOSINGS,
    COLUMNS,
    MARKS,
    OPENINGS,
    PROBABILITIES,
    WordView,
    write_restored,
)
from .labels import Label, LabelTable
from .words import (
    BY_SIGN,
    INVERTED,
    NO_FORMS,
    PAIRS,
    QUIET,
    TURN,
    Edit,
    Word,
    apply_case,
    apply_edits,
    bare_form,
    case_of,
    is_code,
    is_emoticon,
    is_unspaced,
    takes_no_mark,
)

_BEHIND_WORDS = {*BY_SIGN, *QUIET, *(sign for _, closing in PAIRS.values() for sign in closing)}
_PAIRED = {*QUIET, *(sign for pair in PAIRS.values() for signs in pair for sign in signs)}
_NO_DASH = "".join(sign for sign in BY_SIGN if sign not in SIGNS["DASH"])
_FURTHER = re.compile(rf"[ \u00a0\u202f]([{re.escape(_NO_DASH)}]+)(?!\S)")
_BRACKETS = {*"()[]"}
SPACES = " \u00a0\u202f"
SPACED = ("DASH",)  # marks with white space before them


class Editor:
    """Edits that bring texts in line with labels.

    scheme (LabelScheme): of the labels. mixed (Mapping[str, str]): forms of words with mixed case.
    keep (bool): leave the marks that are there, and the case of words with a capital, as they are.
    capitalise (bool): where labels do not tell the case, title the first word of each sentence.
    signs (Mapping[str, str]): how marks are spelt, where it is not with the first of `SIGNS`.
    """

    def __init__(
        self,
        scheme: LabelScheme,
        mixed: Mapping[str, str] = NO_FORMS,
        keep: bool = False,
        capitalise: bool = False,
        signs: Mapping[str, str] = NO_FORMS,
    ):
        self._scheme, self._mixed, self._keep, self._capitalise = scheme, mixed, keep, capitalise
        self._language = scheme.preset
        self._signs = {**self._language.signs, **signs}

    def edits(self, text: str, words: Sequence[Word], labels: Sequence[Label]) -> list[Edit]:
        """Return edits in the order of the text, which do not overlap, by the label of each of its words."""
        found: list[Edit] = []
        is_lower = text == text.lower()
        fronts, followings = self._fronts(text, words, labels), [*(word.start for word in words[1:]), len(text)]
        told = self._in_sentences(text, words, labels)
        for number, (word, (label, begins), following) in enumerate(zip(words, told, followings)):
            form = text[word.start : word.end]
            is_listed = number in fronts or (self._language.forms and bare_form(form) in self._language.forms)
            if is_lower and not word.mark and not is_listed and self._leaves(label, begins):
                continue
            if is_emoticon(form):
                found += self._closing_edits(text, word, Label(label.mark), following)
                continue
            found += fronts.get(number, ())
            found += self._case_edit(form, word, label, begins)
            found += self._closing_edits(text, word, label, following)
        return found

    def cases(self, text: str, words: Sequence[Word], labels: Sequence[Label]) -> Iterator[str]:
        """Yield the case of each word as it is written, where labels tell cases."""
        for word, (label, begins) in zip(words, self._in_sentences(text, words, labels)):
            form = text[word.start : word.end]
            edit = None if is_emoticon(form) else next(self._case_edit(form, word, label, begins), None)
            yield case_of(edit.replacement if edit else form)

    def _in_sentences(self, text: str, words: Sequence[Word], labels: Sequence[Label]) -> Iterator[tuple[Label, bool]]:
        """Yield labels, and whether a sentence begins with their words; with one behind a sign it does as well."""
        begins, is_behind_sign = True, False
        for word, label in zip(words, labels):
            is_sign = begins and takes_no_mark(text[word.start : word.end])
            if is_behind_sign and not is_sign and label.case == "lower":
                label = label._replace(case="Title")
            is_behind_sign = is_sign
            yield label, begins
            begins = is_sign or ends_sentence(word, label.mark, self._scheme, self._keep)

    def _fronts(self, text: str, words: Sequence[Word], labels: Sequence[Label]) -> dict[int, list[Edit]]:
        """Return the edits before words, by their numbers: quotation marks, brackets and marks that open sentences."""
        found: dict[int, list[Edit]] = {}
        if self._scheme.pairs:
            for number, (word, label) in enumerate(zip(words, labels)):
                if label.opening and not word.opening:
                    found[number] = [Edit(word.start, word.start, self._language.pair(label.opening)[0])]
        if self._language.openers:
            marks = [mark_behind(word, label.mark, self._scheme, self._keep) for word, label in zip(words, labels)]
            for number, edit in self._language.opening_edits(text, words, marks, self._keep):
                found[number] = sorted([*found.get(number, ()), edit], key=attrgetter("start"))
        return found

    def _closing(self, kind: str, before: str) -> str:
        """Return the sign that closes, with the white space that parts it from the character before."""
        sign = self._language.pair(kind)[1] if self._scheme.pairs else ""
        return sign.lstrip(SPACES) if is_unspaced(before) else sign

    def _leaves(self, label: Label, begins: bool) -> bool:
        """Tell whether a label leaves a word in lower case without a mark as it is: most do."""
        if label.mark != NONE or label.opening or label.closing:
            return False
        return label.case == "lower" or not (label.case or (begins and self._capitalise))

    def _case_edit(self, form: str, word: Word, label: Label, begins: bool) -> Iterator[Edit]:
        case = label.case or ("Title" if begins and self._capitalise and form == form.lower() else "")
        listed = self._language.forms.get(bare_form(form)) if case or self._capitalise else None
        if not (case or listed) or (self._keep and form != form.lower()) or (is_code(form) and not listed):
            return
        wanted = apply_case(form, case, self._mixed)
        if listed and not (begins and listed == listed.lower()):
            wanted = "".join(new if sign.isalpha() else sign for sign, new in zip(form, listed))
        elif listed:
            wanted = apply_case(form, "Title")
        if wanted != form:
            yield Edit(word.start, word.end, wanted)

    def _closing_edits(self, text: str, word: Word, label: Label, following: int) -> Iterator[Edit]:
        """Edit the mark and what closes, before the next word: inside of quotation marks, outside of brackets."""
        sign = self._closing(label.closing, text[word.end - 1]) if label.closing and not word.closing else ""
        changes = self._scheme.label(word.mark) != label.mark and not (self._keep and word.mark)
        is_needless = label.mark == "PERIOD" and text[word.end - 1] == "."  # the period that is a part of the word
        is_needless |= not word.mark and takes_no_mark(text[word.start : word.end])
        is_needless |= label.mark == "DASH" and TURN.search(text, word.end, following) is not None
        mark = "" if is_needless or label.mark == NONE else self.spell(label.mark, text[word.end - 1])
        if word.mark:
            if sign:
                yield Edit(word.end, word.end, sign)
            if changes:
                if mark and text[word.mark_start - 1].isspace():  # which may begin the next line, as in "\n...so"
                    yield Edit(word.tail, word.tail, mark)
                    mark = ""
                yield _replace_mark(text, word, mark, following)
                yield from self._further_marks(text, word.mark_end)
            return
        mark = mark if changes else ""
        inserted = mark + sign if label.closing == "QUOTE" else sign + mark
        if inserted:
            at = word.end
            while at < word.tail and text[at] in PAIRS["BRACKET"][1]:
                at += 1
            yield Edit(at, at, inserted)

    def _further_marks(self, text: str, at: int) -> Iterator[Edit]:
        """Take away what stands by itself behind a mark that is replaced, as in ". . ." and "? !"."""
        while (found := _FURTHER.match(text, at)) and all(self._scheme.label(BY_SIGN[one]) != NONE for one in found[1]):
            at = found.end()
            yield Edit(found.start(), at, "")

    def spell(self, mark: str, before: str) -> str:
        """Return the sign of a mark, with the white space that parts it from the character before."""
        sign = self._signs.get(mark, SIGNS[mark][0])
        space = self._language.spaces.get(mark, " " if mark in SPACED else "")
        return sign if is_unspaced(before) else space + sign


def mark_behind(word: Word, mark: str, scheme: LabelScheme, keep: bool) -> str:
    """Return the mark that a word has in the end: that of a label, or one of its text that stays.

    keep (bool): whether all marks of the text stay; those that are not restored do in any case, and are in no label.
    """
    own = scheme.label(word.mark)
    if not word.mark or not (keep or mark == own == NONE):
        return mark
    return word.mark if own == NONE else own


def ends_sentence(word: Word, mark: str, scheme: LabelScheme, keep: bool) -> bool:
    """Tell whether a sentence begins behind a word; see `mark_behind`."""
    return scheme.is_end(mark_behind(word, mark, scheme, keep))


def _replace_mark(text: str, word: Word, mark: str, following: int) -> Edit:
    """Put another mark, as it is spelt, or none, for the one that is there; words that it parted stay parted."""
    start, end = word.end + len(text[word.end : word.mark_start].rstrip(INVERTED)), word.mark_end  # both of "(¿?)"
    spaced = start > word.end and text[start - 1] in SPACES
    rest = end
    while rest < following and text[rest] in _BEHIND_WORDS:  # those of an emoticon are a word
        rest += 1
    is_between = rest < len(text) and not (text[rest].isspace() or is_unspaced(text[rest]))
    is_parted = not mark and not spaced and text[start - 1].isspace()  # by a line break, which stays
    glued = not is_parted and (is_between or (spaced and rest > end))
    around = "".join(sign for sign in text[start:end] if sign in _PAIRED)  # the quotation mark of "?", stays
    if not mark and text[word.end - 1] in _BRACKETS and (around or text[end:])[:1] in _BRACKETS:
        around = f" {around}"  # an emoticon does not grow
    return Edit(start - spaced, end, mark + around + (" " if glued and around != " " else ""))


def restore(
    words: Sequence[str],
    labels: Sequence[Label],
    scheme: LabelScheme,
    mixed: Mapping[str, str] = NO_FORMS,
    signs: Mapping[str, str] = NO_FORMS,
) -> str:
    """Return a text of bare words with the marks, and the case, of their labels."""
    are_glued = (is_unspaced(before[-1:]) and is_unspaced(after) for before, after in pairwise(words))
    spaced = [*(form if is_glued else f"{form} " for form, is_glued in zip(words, are_glued)), *words[-1:]]
    starts = accumulate(map(len, spaced), initial=0)
    placed = [Word(start, start + len(form), start + len(form)) for start, form in zip(starts, words)]
    text = "".join(spaced)
    return apply_edits(text, Editor(scheme, mixed, signs=signs).edits(text, placed, labels))


def with_ends_of_words(doc: Doc, words: Sequence[Word]) -> Doc:
    """The same text in tokens that end where words do, too: one of ideographs has several."""
    ends = [word.end for word in words]
    forms: list[str] = []
    spaces: list[bool] = []
    for token in doc:
        start, end = token.idx, token.idx + len(token)
        bounds = [start, *(at for at in ends[bisect(ends, start) : bisect(ends, end)] if at < end), end]
        forms += [doc.text[low:high] for low, high in pairwise(bounds)]
        spaces += [False] * (len(bounds) - 2) + [bool(token.whitespace_)]
    return Doc(doc.vocab, words=forms, spaces=spaces)


class Restoration(NamedTuple):
    """A restored text: its words, their labels, its edits, and the probability of each mark if these were asked for."""

    view: WordView
    labels: list[Label]
    edits: list[Edit]
    probabilities: Sequence[float | None]


class RestorationWriter:
    """Writer of predictions under settings of the component that do not change meanwhile."""

    def __init__(
        self,
        scheme: LabelScheme,
        labels: Sequence[str],
        settings: Mapping[str, Any],
        mixed: Mapping[str, str],
        signs: Mapping[str, str],
    ):
        self._scheme, self._settings, self._keep = scheme, settings, settings["existing"] == "keep"
        self._table = LabelTable(labels)
        told = {MARKS: [_shown(label.mark) for label in self._table.parsed]}
        if scheme.case:
            told[CASE] = [label.case for label in self._table.parsed]
        if scheme.pairs:
            told[CLOSINGS] = [label.closing for label in self._table.parsed]
            told[OPENINGS] = [label.opening for label in self._table.parsed]
        self._is_end = np.array([scheme.is_end(label.mark) for label in self._table.parsed], dtype=bool)
        self._told = {name: np.array(by_tag, dtype=object) for name, by_tag in told.items()}
        self._editor = Editor(scheme, mixed, self._keep, settings["capitalise"], signs)

    def restoration(self, view: WordView, prediction: WordPrediction) -> Restoration:
        """Return labels, edits and probabilities, without writing them."""
        labels = self._labels(prediction.tags)
        chances: Sequence[float | None] = [None] * len(labels)
        if prediction.marginals is not None:
            sums = self._table.mark_probabilities(prediction.marginals)
            chances = sums[np.arange(len(labels)), self._table.mark_of[prediction.tags]].tolist()
        return Restoration(view, labels, self._editor.edits(view.text, view.words, labels), chances)

    def __call__(self, doc: Doc, view: WordView, prediction: WordPrediction) -> None:
        """Write marks, cases, probabilities, text, edits and sentence starts of one Doc."""
        values: dict[str, Any] = {}
        labels = self._labels(prediction.tags)
        for name, by_tag in self._told.items():  # each at the last token of its word
            column = np.full(len(doc), "", dtype=object)
            column[view.last_tokens] = by_tag[prediction.tags]
            if name == CASE:
                column[view.last_tokens] = [*self._editor.cases(view.text, view.words, labels)]
            values[name] = column.tolist()
        if self._settings["probabilities"] and prediction.marginals is not None:
            values |= self._probabilities(doc, view, prediction.marginals)
        edits = self._editor.edits(view.text, view.words, labels)
        is_listed = prediction.n_best is not None and self._settings["n_best"]
        texts = self._alternatives(view, prediction) if is_listed else None
        write_restored(doc, values, apply_edits(view.text, edits), edits, texts)
        if self._settings["sentences"]:
            self._start_sentences(doc, view, prediction.tags)

    def _labels(self, tags: Any) -> list[Label]:
        return [self._table.parsed[tag] for tag in tags.tolist()]

    def _probabilities(self, doc: Doc, view: WordView, marginals: Floats) -> dict[str, Any]:
        """Return probabilities of the marks by token; a token inside of a word has no mark for certain."""
        marks = self._table.marks
        table = np.tile(np.array([mark == NONE for mark in marks], dtype=np.float32), (len(doc), 1))
        table[view.last_tokens] = self._table.mark_probabilities(marginals)
        return {PROBABILITIES: table.tolist(), COLUMNS: list(map(_shown, marks))}

    def _alternatives(self, view: WordView, prediction: WordPrediction) -> list[dict[str, Any]]:
        """List the best texts with their probabilities, the most probable first; a Doc is one sequence. Labellings of
        one text are summed."""
        text, found = view.text, dict[str, float]()
        for paths in prediction.n_best or ():
            for tags, probability in zip(paths.labels, paths.probabilities.tolist()):
                restored = apply_edits(text, self._editor.edits(text, view.words, self._labels(tags)))
                found[restored] = found.get(restored, 0.0) + probability
        ranked = sorted(found.items(), key=lambda pair: -pair[1])
        return [{"text": restored, "probability": probability} for restored, probability in ranked]

    def _start_sentences(self, doc: Doc, view: WordView, tags: Ints) -> None:
        """A sentence begins at the first token, and with the word behind an end mark or what opens before that word."""
        starts = np.full(len(doc), -1)
        starts[:1] = 1
        ends = self._is_end[tags]
        for place, word in enumerate(view.words):
            if word.mark:
                ends[place] = ends_sentence(word, self._table.parsed[tags[place]].mark, self._scheme, self._keep)
        starts[view.opening_tokens(np.flatnonzero(ends[:-1]) + 1)] = 1
        doc.from_array(SENT_START, cast(Ints2d, starts.view(np.uint64)))


def _shown(mark: str) -> str:
    """Return a mark as tokens show it."""
    return "" if mark == NONE else mark
