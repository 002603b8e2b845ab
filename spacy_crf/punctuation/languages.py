"""What languages do with marks and case, by files of the folder `presets`: closed classes of words that are always
written alike, white space before marks, marks that open, and signs of their own."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from ..reading.records import parse_toml
from .block import ENDS
from .words import INVERTED, NO_FORMS, PAIRS, Edit, Word, bare_form

LANGUAGES = ("en", "nl", "de", "fr", "es", "zh", "ja")
CLAUSE_ENDS = ("COMMA", "SEMICOLON", "COLON", "DASH")  # behind which a question may begin inside of a sentence


class LanguagePreset(NamedTuple):
    """The habits of a language.

    abbreviations (frozenset[str]): lower-case words whose period is a part of them.
    forms (Mapping[str, str]): words that are always written alike, by their lower-cased form.
    signs, spaces, openers (Mapping[str, str]): by mark, how it is spelt, the white space before it, and the mark where
        its sentence begins.
    questions (frozenset[str]): words with which, or with one word before them, a question begins behind a comma.
    quotes (tuple[str, str]): quotation marks, with their white space.
    """

    abbreviations: frozenset[str] = frozenset()
    forms: Mapping[str, str] = NO_FORMS
    signs: Mapping[str, str] = NO_FORMS
    spaces: Mapping[str, str] = NO_FORMS
    openers: Mapping[str, str] = NO_FORMS
    questions: frozenset[str] = frozenset()
    quotes: tuple[str, str] = ("“", "”")

    def pair(self, kind: str) -> tuple[str, str]:
        """Return the signs that open and close quotation marks or brackets."""
        return self.quotes if kind == "QUOTE" else (PAIRS[kind][0][0], PAIRS[kind][1][0])

    def opening_edits(
        self, text: str, words: Sequence[Word], marks: Sequence[str], keep: bool
    ) -> Iterator[tuple[int, Edit]]:
        """Yield edits for the marks that open sentences, with the words that they stand before.

        marks: behind the words. keep (bool): leave those that are there.
        """
        ends = [number for number, mark in enumerate(marks, 1) if mark in ENDS or number == len(words)]
        for first, end in pairwise([0, *ends]):
            is_open = _is_open(text, words[end - 1], marks[end - 1])
            opener = "" if is_open else self.openers.get(marks[end - 1], "")
            there = [(number, at) for number in range(first, end) for at in _inverted(text, words, number)]
            stays = next((at for _, at in there if text[at] == opener), None)
            if not keep:
                yield from ((number, _removed(text, at)) for number, at in there if at != stays)
            if opener and stays is None and not (keep and there):
                forms = [bare_form(text[word.start : word.end]) for word in words[first:end]]
                number = first + (self._asking(forms, marks[first:end]) if marks[end - 1] == "QUESTION" else 0)
                yield number, Edit(words[number].start, words[number].start, opener)

    def _asking(self, forms: Sequence[str], marks: Sequence[str]) -> int:
        """Return the word of a sentence with which its question begins."""
        for number in range(1, len(forms)):
            if marks[number - 1] in CLAUSE_ENDS and not self.questions.isdisjoint(forms[number : number + 2]):
                return number
        return 0


def _is_open(text: str, word: Word, mark: str) -> bool:
    """Tell whether a mark of a text that stays has its opening one right before it, as in "1820 (¿?)"."""
    return mark == word.mark != "" and text[word.mark_start - 1] in INVERTED


def _removed(text: str, at: int) -> Edit:
    """Take away a mark that opens a sentence; a period or colon that begins the word behind it stays parted."""
    is_glued = at > 0 and text[at + 1] in ".:" and not text[at - 1].isspace()
    return Edit(at, at + 1, " " if is_glued else "")


def _inverted(text: str, words: Sequence[Word], number: int) -> list[int]:
    """Return where marks that open a sentence stand before a word."""
    floor = max(words[number - 1].tail, words[number - 1].mark_end) if number else 0
    return [at for at in range(floor, words[number].start) if text[at] in INVERTED]


NO_LANGUAGE = LanguagePreset()


@cache
def preset_of(language: str | None) -> LanguagePreset:
    """Return the preset of a language, such as "es"; one without any habits where there is none."""
    if language not in LANGUAGES:
        return NO_LANGUAGE
    file = files(__package__) / "presets" / f"{language}.toml"
    data: dict[str, Any] = parse_toml(file.read_text(encoding="utf8"), file.name)
    words = {name: data.pop(name, "").split() for name in ("abbreviations", "forms", "questions")}
    quotes = tuple(data.pop("quotes", NO_LANGUAGE.quotes))
    return LanguagePreset(
        abbreviations=frozenset(words["abbreviations"]),
        forms={form.lower(): form for form in words["forms"]},
        questions=frozenset(words["questions"]),
        quotes=quotes,
        **data,
    )
