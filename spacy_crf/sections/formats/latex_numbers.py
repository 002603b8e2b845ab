"""The numbers that LaTeX prints before headings and for references, with the words of its languages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ...core.grammar.numerals import ARABIC, LETTER_LOWER, LETTER_UPPER, ROMAN_LOWER, ROMAN_UPPER, numeral
from .latex_source import TABLES, Macro, macros_of

TITLE, PART, CHAPTER, SECTION, SUBSECTION, SUBSUBSECTION, PARAGRAPH, SUBPARAGRAPH = range(8)
LEVELS = {
    **{"@title": TITLE, "part": PART, "chapter": CHAPTER, "addchap": CHAPTER, "section": SECTION, "addsec": SECTION},
    **{"subsection": SUBSECTION, "subsubsection": SUBSUBSECTION, "paragraph": PARAGRAPH, "subparagraph": SUBPARAGRAPH},
}
NAMES = ("@title", "part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_KINDS = (ARABIC, ROMAN_LOWER, ROMAN_UPPER, LETTER_LOWER, LETTER_UPPER)
COUNTERS = dict(zip(("arabic", "roman", "Roman", "alph", "Alph"), _KINDS))
COUNTED = re.compile(rf"\\(?P<kind>{'|'.join(COUNTERS)})\s*\{{(?P<counter>\w+)\}}|\\the(?P<above>[a-z]+)\s*")
UNNUMBERED = frozenset({"@title", "addchap", "addsec"})
DEPTH = 2  # the level whose `secnumdepth` is 0
WITH_CHAPTERS = re.compile("book|report|scrreprt|memoir|thesis")
WITH_WORD = re.compile(r"chapterprefix\s*(?:,|$|=\s*(?:true|on|yes))")  # KOMA-Script has "1", not "Chapter 1"
NUMBER = re.compile(r"\s*(-?\d{1,4})\s*")
LANGUAGES, REFERRED, QUOTES = TABLES["languages"], TABLES["referred"], TABLES["quotes"]
UNKNOWN = "??"  # for a label
CODES = {name: code for code, words in LANGUAGES.items() for name in words.partition("|")[0].split()}


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """The number of a heading, as references have it. is_outer (bool): no heading but a part is further out."""

    number: str
    level: int
    is_appendix: bool
    is_outer: bool
    place: int = 0  # where the title of the last heading begins, which may have no number
    title: str = ""


class HeadingNumbers:
    r"""Counts headings. has_chapters (bool): the outermost ones are chapters, but for parts.

    macros (dict[str, Macro]): of the document, of which those such as `\thesection` say how numbers are printed.
    """

    def __init__(self, has_chapters: bool, macros: dict[str, Macro]) -> None:
        self.has_chapters, self._macros = has_chapters, macros
        self.language = ""
        self._has_babel = False
        self.part, self.chapter, self.appendix, self.abstract, self.sources = LANGUAGES["en"].split("|")[1:]
        self.last = PrintedNumber("", SECTION, False, False)  # of the last heading that has one
        self.is_main = True  # what stands before and behind the main matter has no numbers
        self._is_appendix, self._names_chapters = False, True
        self._depth: int | None = None
        self._counts = [0] * (SUBPARAGRAPH + 1)

    @property
    def outermost(self) -> int:
        """The first level of headings, but for parts."""
        return CHAPTER if self.has_chapters else SECTION

    def set_class(self, name: str, options: str) -> None:
        """Take the class of the document."""
        self.has_chapters = self.has_chapters or WITH_CHAPTERS.search(name) is not None
        self._names_chapters = not name.startswith("scr") or WITH_WORD.search(options) is not None
        self.set_language(options)

    def set_language(self, names: str) -> None:
        """Take the last language of a list of names."""
        for name in names.split(","):
            if (code := CODES.get(name.strip().removeprefix("main="))) is not None:
                self.language = code
                self.part, self.chapter, self.appendix, self.abstract, self.sources = LANGUAGES[code].split("|")[1:]

    def set_package(self, names: str, options: str) -> None:
        """Take packages, of which babel and its forerunners name the language."""
        packages = {name.strip() for name in names.split(",")}
        old = packages & {"german", "ngerman"}
        self.set_language(",".join(old) or (options if "babel" in packages else ""))
        for package in packages & TABLES["of_packages"].keys():
            self._macros |= macros_of(TABLES["of_packages"][package])
        self._has_babel |= bool(packages & {"babel", *old}) and "shorthands=off" not in options

    @property
    def has_shorthands(self) -> bool:
        """Whether quotation marks are commands of babel; pandoc takes those of its languages away."""
        return self._has_babel and self.language in ("de", "nl") and "languageshorthands" not in self._macros

    def quoted(self, text: str, is_inner: bool) -> str:
        """A quotation in the signs of the language. is_inner (bool): whether it stands in another one."""
        signs = QUOTES[self.language or "en"][2 * is_inner :]
        inner = text.replace(r"\enquote", r"\@enquote")
        return f"{signs[0]}{inner}{signs[1]}"

    def set_counter(self, name: str, value: str, is_added: bool = False) -> None:
        """Take the value of a counter, or what is added to it: that of headings of a level, or how deep numbers go."""
        found = NUMBER.fullmatch(value)
        if found and name == "secnumdepth":
            self._depth = int(found[1]) + (self._deepest - DEPTH if is_added else 0)
        elif found and name in LEVELS:
            level = LEVELS[name]
            self._counts[level] = int(found[1]) + (self._counts[level] if is_added else 0)

    def begin_appendix(self) -> None:
        """From here on, letters number what is outermost."""
        self._is_appendix, self._counts[self.outermost] = True, 0
        self._macros.pop(f"the{NAMES[self.outermost]}", None)

    def next(self, level: int) -> str:
        """What is in print before the next heading of a level, "" for nothing."""
        if level > self._deepest or not self.is_main:
            return ""
        self._counts[level] += 1
        self.has_chapters |= level == CHAPTER
        if level != PART:
            self._counts[level + 1 :] = [0] * (SUBPARAGRAPH - level)
        number = self._printed(level)
        self.last = PrintedNumber(number, level, self._is_appendix and level != PART, level == self.outermost)
        if level == PART:
            return f"{self.part} {number}"
        word = self.appendix if self._is_appendix else self.chapter
        return f"{word} {number}" if level == CHAPTER and self._names_chapters else number

    def refer(self, found: Sequence[PrintedNumber | None], command: str) -> str:
        """What a command prints for headings; None for a label of something else, and pages are not known."""
        if command == "pageref" or not all(found):
            return ", ".join(UNKNOWN if own is None or command == "pageref" else own.number for own in found)
        numbers = [own for own in found if own is not None]
        if command == "autoref":
            return ", ".join(f"{self._word(own, command, 1)} {own.number}".strip() for own in numbers)
        if command in ("crefrange", "Crefrange"):
            word = self._word(numbers[0], command.removesuffix("range"), 2)
            return f"{word} {numbers[0].number} {self._referred[-1]} {numbers[-1].number}".strip()
        if command not in ("cref", "Cref"):
            return ", ".join(own.title if command == "nameref" else own.number for own in numbers)
        groups = groupby(numbers, lambda own: self._word(own, command, 1))
        return ", ".join(self._listed(list(group), command) for _, group in groups)

    def _listed(self, numbers: Sequence[PrintedNumber], command: str) -> str:
        """Numbers that share a word: "sections 1, 2 and 3"."""
        *most, last = (own.number for own in numbers)
        listed = f"{', '.join(most)} {self._referred[-2]} {last}" if most else last
        return f"{self._word(numbers[0], command, len(numbers))} {listed}".strip()

    def _word(self, own: PrintedNumber, command: str, count: int) -> str:
        """The word before a reference, which for `\autoref` the document may have changed."""
        if not own.number:
            return ""
        changed = self._macros.get(f"{NAMES[own.level]}autorefname")
        if command == "autoref" and changed is not None and "\\" not in changed.text:
            return changed.text
        part, chapter, section, appendix, *_ = (words.split(" ") for words in self._referred)
        is_appendix = own.is_appendix and (own.is_outer or command != "autoref")
        words = appendix if is_appendix else {PART: part, CHAPTER: chapter}.get(own.level, section)
        word = words[count > 1]
        is_capital = command == "Cref" or (command == "autoref" and (is_appendix or own.level == PART))
        return word[0].upper() + word[1:] if is_capital else word

    @property
    def _referred(self) -> list[str]:
        return REFERRED[self.language or "en"].split("|")

    def _printed(self, level: int) -> str:
        """The number of the last heading of a level, as the document has it printed, or else as LaTeX does."""
        own = self._macros.get(f"the{NAMES[level]}")
        printed = COUNTED.sub(lambda found: self._counted(found, level), own.text) if own is not None else "\\"
        if "\\" not in printed:
            return " ".join(re.sub("[{}~]", "", printed).split())
        kind = ROMAN_UPPER if level == PART else LETTER_UPPER if self._is_appendix else ARABIC
        if level in (PART, self.outermost):
            return numeral(kind, self._counts[level]) or str(self._counts[level])
        return f"{self._printed(level - 1)}.{self._counts[level]}"

    def _counted(self, found: re.Match[str], level: int) -> str:
        """What a command for a counter prints in the number of a level; the command itself if that is not known."""
        above = LEVELS.get(found["above"] or "", level)
        if above < level:
            return self._printed(above)
        counter = LEVELS.get(found["counter"] or "", SUBPARAGRAPH + 1)
        return found[0] if counter > level else numeral(COUNTERS[found["kind"]], self._counts[counter]) or found[0]

    @property
    def _deepest(self) -> int:
        """The last level that has numbers."""
        if self._depth is not None:
            return self._depth + DEPTH
        return SUBSECTION if self.has_chapters else SUBSUBSECTION
