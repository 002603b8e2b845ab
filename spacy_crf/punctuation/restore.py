"""From labels back to text: edits with character offsets, which touch nothing but marks and the case of words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .case import apply_case
from .labels import Label, LabelScheme
from .marks import BY_SIGN, NONE, PAIRS, SIGNS, MarkSet
from .words import Word

_NO_FORMS: Mapping[str, str] = {}
_BEHIND_WORDS = {*BY_SIGN, *(sign for _, closing in PAIRS.values() for sign in closing)}
SPACED = ("DASH",)  # marks with white space before them


class Edit(NamedTuple):
    """A replacement in a text: `text[start:end]` becomes `replacement`; start == end inserts."""

    start: int
    end: int
    replacement: str


class Editor:
    """Makes the edits that bring a text in line with labels.

    scheme (LabelScheme): of the labels. mixed (Mapping[str, str]): forms of words with mixed case.
    keep (bool): leave the marks that are there, and the case of words with a capital, as they are.
    capitalise (bool): where labels do not tell the case, title the first word of each sentence.
    """

    def __init__(
        self,
        scheme: LabelScheme,
        mixed: Mapping[str, str] = _NO_FORMS,
        keep: bool = False,
        capitalise: bool = False,
    ):
        self._scheme, self._mixed, self._keep, self._capitalise = scheme, mixed, keep, capitalise

    def edits(self, text: str, words: Sequence[Word], labels: Sequence[Label]) -> list[Edit]:
        """Edits in the order of the text; they do not overlap.

        words (sequence of Word): of the text. labels (sequence of Label): one for each.
        """
        found: list[Edit] = []
        begins, is_lower = True, text == text.lower()
        for word, label in zip(words, labels):
            if is_lower and not word.mark and self._leaves(label, begins):
                begins = False
                continue
            if self._scheme.pairs and label.opening and not word.opening:
                found.append(Edit(word.start, word.start, PAIRS[label.opening][0][0]))
            found += self._case_edit(text[word.start : word.end], word, label, begins)
            found += self._closing_edits(text, word, label)
            begins = self._scheme.marks.is_end(label.mark)
        return found

    def _leaves(self, label: Label, begins: bool) -> bool:
        """Whether a label leaves a word in lower case without a mark as it is: most do."""
        if label.mark != NONE or label.opening or label.closing:
            return False
        return label.case == "lower" or not (label.case or (begins and self._capitalise))

    def _case_edit(self, form: str, word: Word, label: Label, begins: bool) -> Iterator[Edit]:
        case = label.case or ("Title" if begins and self._capitalise and form == form.lower() else "")
        if not case or (self._keep and form != form.lower()):
            return
        wanted = apply_case(form, case, self._mixed)
        if wanted != form:
            yield Edit(word.start, word.end, wanted)

    def _closing_edits(self, text: str, word: Word, label: Label) -> Iterator[Edit]:
        """Of the mark and what closes: a mark stands inside quotation marks and outside of brackets."""
        sign = PAIRS[label.closing][1][0] if self._scheme.pairs and label.closing and not word.closing else ""
        changes = self._scheme.marks.label(word.mark) != label.mark and not (self._keep and word.mark)
        if word.mark:
            if sign:
                yield Edit(word.end, word.end, sign)
            if changes:
                yield _replace_mark(text, word, label.mark)
            return
        mark = self._spell(text, word, label.mark) if changes else ""
        inserted = mark + sign if label.closing == "QUOTE" else sign + mark
        if inserted:
            at = _behind_brackets(text, word)
            yield Edit(at, at, inserted)

    @staticmethod
    def _spell(text: str, word: Word, mark: str) -> str:
        """What is written behind a word; nothing where its own period is the mark."""
        if mark == NONE or (mark == "PERIOD" and text[word.end - 1] == "."):
            return ""
        return f" {SIGNS[mark][0]}" if mark in SPACED else SIGNS[mark][0]


def _behind_brackets(text: str, word: Word) -> int:
    """Where a mark goes: behind the brackets that close with the word."""
    at = word.end
    while at < word.tail and text[at] in PAIRS["BRACKET"][1]:
        at += 1
    return at


def _replace_mark(text: str, word: Word, mark: str) -> Edit:
    """Another mark, or none, for the one that is there; words that it parted stay parted."""
    start, end = word.mark_start, word.mark_end
    spaced = start > word.end and text[start - 1] == " "
    glued = end < len(text) and not text[end].isspace() and (spaced or text[end] not in _BEHIND_WORDS)
    if mark == NONE:
        return Edit(start - spaced, end, " " if glued else "")
    sign = SIGNS[mark][0]
    if mark in SPACED:
        return Edit(start - spaced, end, f" {sign}" + (" " if glued else ""))
    return Edit(start - spaced, end, sign + (" " if glued else ""))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with its edits, which are in its order."""
    parts, at = [], 0
    for start, end, replacement in edits:
        parts += [text[at:start], replacement]
        at = end
    return "".join([*parts, text[at:]])


def restore(words: Sequence[str], labels: Sequence[Label], marks: MarkSet, mixed: Mapping[str, str] = _NO_FORMS) -> str:
    """A text of bare words with the marks, and the case, of their labels; the inverse of `strip`."""
    text, at, placed = " ".join(words), 0, []
    for form in words:
        placed.append(Word(at, at + len(form), at + len(form)))
        at += len(form) + 1
    scheme = LabelScheme(marks, pairs=True)
    return apply_edits(text, Editor(scheme, mixed).edits(text, placed, labels))
