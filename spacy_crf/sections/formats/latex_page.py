"""The pages that LaTeX prints: headings with the numbers that they get there, and groups and environments."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from ...core.grammar.numerals import ARABIC, LETTER_LOWER, LETTER_UPPER, ROMAN_LOWER, ROMAN_UPPER, numeral
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import Kind
from . import ListCounter
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
ARGUMENT = -2  # the level of an argument of a command that is not known
UNNUMBERED = frozenset({"@title", "addchap", "addsec"})
DEPTH = 2  # the level whose `secnumdepth` is 0
WITH_CHAPTERS = re.compile("book|report|scrreprt|memoir|thesis")
WITH_WORD = re.compile(r"chapterprefix\s*(?:,|$|=\s*(?:true|on|yes))")  # KOMA-Script has "1", not "Chapter 1"
NUMBER = re.compile(r"\s*(-?\d{1,4})\s*")
LANGUAGES, REFERRED, QUOTES = TABLES["languages"], TABLES["referred"], TABLES["quotes"]
UNKNOWN = "??"  # for a label
CODES = {name: code for code, words in LANGUAGES.items() for name in words.partition("|")[0].split()}
LISTS = {name: kind for kind in ("ul", "ol") for name in TABLES["lists"][kind]}
NUMERALS = "1aiA"  # of lists in lists


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


@dataclass(slots=True)
class _OpenGroup:
    """A group, an environment or the text of a heading that is open.

    name (str): "" where a brace ends it. level (int): of a heading, below 0 of others. ends_with_paragraph (bool):
    whatever its braces are. styles (list): styles that begin in it, and where.
    """

    name: str
    start: int
    ink: int
    level: int = -1
    is_unit: bool = False
    ends_with_paragraph: bool = False
    styles: list[tuple[int, str]] = field(default_factory=list)


class LatexPage(LayoutBuilder):
    """The text of a document, and the groups and environments that are open."""

    def __init__(self, has_chapters: bool, macros: dict[str, Macro]) -> None:
        super().__init__()
        self.numbers = HeadingNumbers(has_chapters, macros)
        self._heading_ink = 0  # what was written when the last of them ended
        self._main_end = sys.maxsize
        self._n_headings = self._n_environments = 0  # open headings, and environments begun since the last one
        self._groups: list[_OpenGroup] = []
        self._opened: Counter[str] = Counter()  # groups by name
        self._n_units = self._n_lines = 0  # groups that are not taken apart, and that end with their paragraph
        self.lists, self._list_names = ListCounter(), list[str]()

    def build(self, name: str = "", language: str = "") -> DocumentLayout:
        """The document so far."""
        self._close(0)
        levels = self._levels()
        ranks = {level: rank for rank, level in enumerate(sorted(set(levels)), 1)}
        places = [(start, end) for start, end, _ in self.headings]
        self.headings = [(*place, ranks[level]) for place, level in zip(places, levels, strict=True)]
        return super().build(name, language or self.numbers.language)

    def _levels(self) -> list[int]:
        """The levels of headings: a chapter before the first part, or in the back matter, stands beside parts."""
        parts = [start for start, _, level in self.headings if level == PART]
        if not parts:
            return [level for *_, level in self.headings]
        return [level - (level > PART and not parts[0] <= start < self._main_end) for start, _, level in self.headings]

    def begin_matter(self, is_main: bool) -> None:
        """Begin the front, main or back matter."""
        self.numbers.is_main = is_main
        self._main_end = sys.maxsize if is_main else self.length

    def open(self, name: str, is_unit: bool = False, ends_with_paragraph: bool = False, level: int = -1) -> None:
        """Open a group, see `_OpenGroup`; by its name also a list."""
        group = _OpenGroup(name, self.length, self.ink, level, is_unit, ends_with_paragraph)
        self._groups.append(group)
        self._opened[name] += 1
        self._n_units += is_unit
        self._n_lines += ends_with_paragraph
        self._n_headings += level >= 0
        self._n_environments += bool(name) or is_unit
        if name in LISTS:
            self.lists.begin(LISTS[name], {"type": NUMERALS[len(self._list_names) % len(NUMERALS)]})
            self._list_names.append(name)

    def __contains__(self, name: str) -> bool:
        """Whether an environment is open."""
        return bool(name) and self._opened[name] > 0

    def close(self, name: str) -> None:
        """Close an environment that is open, and what is open in it."""
        left = self._opened[name] - 1
        while self._opened[name] > left:
            self._close(len(self._groups) - 1)

    def close_brace(self) -> bool:
        """Close the innermost group, if it ends with a brace. Returned is whether it was an argument."""
        if not self._groups or self._groups[-1].name:
            return False
        is_argument = self._groups[-1].level == ARGUMENT
        self._close(len(self._groups) - 1)
        return is_argument

    def _close(self, left: int) -> None:
        """Close groups until no more than these are left."""
        while len(self._groups) > left:
            group = self._groups.pop()
            self._opened[group.name] -= 1
            self._n_units -= group.is_unit
            self._n_lines -= group.ends_with_paragraph
            self._n_headings -= group.level >= 0
            if group.name in LISTS:
                self.lists.end()
                self._list_names.pop()
            for start, style in group.styles:
                self.style(start, style)
            if group.is_unit:
                self.style(group.start, Kind.OTHER.value)
            if group.level >= 0 and self.ink > group.ink:
                self.heading(group.start, group.level)
                self._heading_ink, self._n_environments = self.ink, 0
            if group.is_unit or group.level >= 0:
                self.end_paragraph()

    def end_paragraph(self) -> None:
        """End a paragraph, and what ends with it; in a table or a formula there are none."""
        while self._n_lines:
            self._close(len(self._groups) - 1)
        if not self._n_units:
            self.end_line()

    def break_line(self) -> None:
        """Begin a new line, which is none in a heading."""
        if self._n_lines:
            self.gap()
        else:
            self.end_line()

    def begin_heading(self, level: int, is_numbered: bool) -> None:
        """Begin a heading with its number; it ends whatever is not taken apart, as a brace may be missing there."""
        while self._n_units:
            self._close(len(self._groups) - 1)
        self.end_paragraph()
        number = self.numbers.next(level) if is_numbered else ""
        self.open("", level=level, ends_with_paragraph=True)
        start = self.length
        self.write(number)
        if len(number) == 1 and number.isalpha():  # of an only appendix: it looks like a word
            self.style(start, Kind.NUMBER.value)
        self.write(number and " ")
        self.numbers.last = replace(self.numbers.last, place=self.length)

    def titled(self, labels: Mapping[str, PrintedNumber]) -> dict[str, PrintedNumber]:
        """What labels stand for, with the titles."""
        titles = self.rest_of_headings([own.place for own in labels.values()])
        return {name: replace(own, title=title) for (name, own), title in zip(labels.items(), titles)}

    @property
    def is_at_heading(self) -> bool:
        """Whether it is in a heading or right behind one: what is in a figure or a formula is not about a section."""
        return self._n_headings > 0 or (self.ink == self._heading_ink and not self._n_environments)

    def begin_style(self, style: str) -> None:
        """Give what follows in the innermost group a style."""
        if self._groups:
            self._groups[-1].styles.append((self.length, style))

    @property
    def is_in_definitions(self) -> bool:
        """Whether the innermost list is one of terms."""
        return "desc" in "".join(self._list_names[-1:])
