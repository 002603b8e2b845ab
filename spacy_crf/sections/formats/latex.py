r"""LaTeX: its headings with the numbers that they get in print. pylatexenc knows its signs and accents."""

import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ...core.errors import CRFWarning, required
from ...reading.figures import HIGHER, LOWER
from ...reading.latex import ACCENTS, CITING, COMMENTED, DROPPED, LABEL, SPACED, si_angle, si_unit, signs, typed
from ..errors import SectionErrors, SectionWarnings
from ..layout import DocumentLayout
from . import COUNTERS_OF_LISTS, read_text
from .latex_numbers import LEVELS, UNNUMBERED, PrintedNumber
from .latex_page import ARGUMENT, LISTS, LatexPage
from .latex_source import ANY, OF_FILE, OVERLAY, TABLES, LatexSource, macros_of

ENCODING = re.compile(rb"^[^%\n]{0,200}?\\usepackage\s*\[([\w-]+)\]\s*\{inputenc\}", re.MULTILINE)
BEGINNING = re.compile(r"^(?:[^%\n\\]++|\\(?!verb|begin\{document\}).)*+\\begin\{document\}", re.MULTILINE)
SPACE, FILE_NAME = re.compile(r"\s+"), re.compile(r"\s*[^\s{}\\%]+")
LONGEST_NAME, LONGEST_VERBATIM = 200, 1000  # characters of a file, and of \verb
DEGREE = re.compile(r"\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z@])\s*)")
OVER = re.compile(r"\{[^{}\\]{1,99}\\(?:over|choose|atop)(?![A-Za-z@])")  # a fraction of TeX in braces
WITHOUT_SPACE = " \n\t{}~.,;:!?/'-)]"  # behind \xspace
DOTLESS = {r"\i": "i", r"\j": "j"}  # which have their dots again in what is written
VERBATIM, LEFT_OUT, UNITS, JOINED = (frozenset(TABLES[kind]) for kind in ("verbatim", "left_out", "units", "joined"))
STYLES = {name: style for style, names in TABLES["styles"].items() for name in names}
FORMULAS, TITLED = frozenset({"[", "$$"}), frozenset({"abstract", "thebibliography"})  # formulas end with a paragraph
WITH_ARGUMENT = frozenset({"textbf", "textit", "emph", "textsl", "underline", "uline"})


def read_latex(path: Path) -> DocumentLayout:
    r"""Read LaTeX: an article, a report, a book, or a piece of one.

    A paragraph is a line. Headings are those of `\part` to `\subparagraph`, with their numbers in print; `\maketitle`
    gives the title of the document, and an abstract and the sources have headings of their own. Macros of the document
    are put in place; a file that it includes is read if it stands in the same folder or below. Emphasis is formatting,
    items have their numbers and bullets, and tables, formulas, captions and verbatim text are units of their own.
    Footnotes and comments are left out; of commands that are not known, the text in braces stays.

    path (Path): in UTF-8, or the encoding that it names by inputenc.
    RAISES (ValueError): for binary files and other encodings, for macros that make too much of the text, and if
        pylatexenc is not installed.
    """
    text = read_text(path, ENCODING)
    reader = _LatexReader(path, text, {})
    reader.read()
    if reader.has_references and reader.labels:
        reader = _LatexReader(path, text, reader.page.titled(reader.labels))
        reader.read()
    return reader.page.build(path.stem)


class _LatexReader:
    """Reads a document. known (Mapping): the numbers of headings that its labels stand for."""

    def __init__(self, path: Path, text: str, known: Mapping[str, PrintedNumber]) -> None:
        self.path, self.known = path, known
        with required(SectionErrors.CRF561.format(what="LaTeX", library="pylatexenc", extra="latex")):
            self.signs: Mapping[str, str] = {**signs(), **TABLES["printed"]}
        self.commands = {**PREAMBLE, **COMMANDS}
        self.source = LatexSource(path, text, {*LEVELS, *self.commands}, macros_of(TABLES["macros"]))
        self.page = LatexPage("\\chapter" in text, self.source.macros)
        self.theorems = {"proof": "Proof"}
        self.facts: dict[str, str] = {}  # of the title page
        self.is_preamble = BEGINNING.search(text) is not None
        self.is_formula = False  # between two "$"
        self.labels: dict[str, PrintedNumber] = {}
        self.has_references = False

    def read(self) -> None:
        while (token := self.source.next()) is not None:
            if (command := token["command"]) is not None:
                self._command(command, token)
            elif not self.is_preamble:
                self._token(token)

    def _token(self, token: re.Match[str]) -> None:
        if (text := token["text"]) is not None:
            is_degree = text.endswith("^") and self.source.take(DEGREE) != ""
            text = typed(text[: len(text) - is_degree], self.page.numbers.has_shorthands)
            self.page.collapse(SPACE.sub(" ", text) + "°" * is_degree)
        elif (sign := token["sign"]) is not None:
            self._sign(sign)
        elif token["paragraph"] is not None:
            self.is_formula = False
            self.page.end_paragraph()
        elif (special := token["special"]) is not None:
            if OVER.match(token.string, token.start()):
                self.page.part_digits()
            self._special(special)

    def _special(self, special: str) -> None:
        if special == "{":
            self.page.open("")
        elif special == "}":
            if self.page.close_brace() and self.source.enter():
                self.page.collapse(" " * (self.source.peek() not in "}.,;:"))
                self.page.open("", level=ARGUMENT)
        elif special == "$" or (special == "$$" and self.is_formula):  # formulas beside each other: $a$$b$
            self.is_formula = special == "$$" or not self.is_formula
        elif special == "$$":
            self._end_environment(special) if special in self.page else self._begin_environment(special)
        elif special == "&":
            self.page.write("\t")
        elif special == "~":
            self.page.collapse(" ")

    def _sign(self, sign: str) -> None:
        if sign == "\\":
            self.source.drop(sign)
            self.page.break_line()
        elif sign in "[]":
            self._begin_environment("[") if sign == "[" else self._end_environment("[")
        elif sign in ACCENTS:
            self._accent(sign)
        else:
            self.page.collapse(self.signs.get(sign, sign))

    def _accent(self, accent: str) -> None:
        letter = self.source.argument()
        letter = DOTLESS.get(letter, letter)
        if len(letter) == 1:
            self.page.write(unicodedata.normalize("NFC", letter + ACCENTS[accent]))
        else:
            self.source.push(letter)

    def _command(self, name: str, token: re.Match[str]) -> None:
        if (command := (PREAMBLE if self.is_preamble else self.commands).get(name)) is not None:
            command(self)
        elif self.is_preamble:
            return
        elif name in LEVELS:
            self._begin_heading(LEVELS[name], not token["star"] and name not in UNNUMBERED)
        elif name in STYLES:
            self._begin_style(name)
        elif name in self.signs:
            self.page.write(self.signs[name] + token["star"])
        elif name in ACCENTS:
            self._accent(name)
        elif name in DROPPED or not token["gap"]:  # "[" behind a space may be text
            self.page.collapse(" " if SPACED.match(token.string, token.start()) else "")
            self.source.take(OVERLAY)
            self.source.drop(name)
            if name not in JOINED and self.source.enter():
                self.page.open("", level=ARGUMENT)

    def _begin_style(self, name: str) -> None:
        """A command gives its argument a style, or all that follows in the group."""
        if self.source.enter():
            self.page.open("")
        elif name in WITH_ARGUMENT:
            return
        self.page.begin_style(STYLES[name])

    # -- environments

    def _begin_environment(self, name: str) -> None:
        own = name.rstrip("*")
        if own in LEFT_OUT:
            self.source.until(f"\\end{{{name}}}")
        elif self.is_preamble:
            self.is_preamble = name != "document"
        elif name and not self.source.expand(f"begin {name}"):
            self.page.end_paragraph()
            if own in VERBATIM:
                self._verbatim(name)
                return
            self.page.open(name, is_unit=own in UNITS, ends_with_paragraph=name in FORMULAS)
            self.source.take(OVERLAY)
            if LISTS.get(name) == "ol":
                self.page.lists.set_options(self.source.option() or "")
            if own in self.theorems:
                note = self.source.option()
                self.source.push(rf"\textbf{{{self.theorems[own]}{f' ({note})' if note else ''}.}} ")
            self.source.drop(own)
            titles = [self.source.argument() for _ in range(2) if own == "frame" and self.source.opens("{")]
            self.source.push("".join(rf"\frametitle{{{title}}}" for title in titles))
            if own in TITLED:
                numbers = self.page.numbers
                self.page.begin_heading(numbers.outermost, is_numbered=False)
                self.page.write(numbers.abstract if own == "abstract" else numbers.sources)
                self.page.end_paragraph()

    def _end_environment(self, name: str) -> None:
        if name == "document":
            self.is_preamble = True  # what stands behind is not read either
        elif name in self.page:
            self.page.close(name)
            self.page.end_paragraph()
        else:
            self.source.expand(f"end {name}")

    def _verbatim(self, name: str) -> None:
        self.source.drop(name)
        self.page.open(name, is_unit=True)
        self.page.write(self.source.until(f"\\end{{{name}}}").strip("\n"))
        self.page.close(name)

    def _item(self) -> None:
        self.page.end_paragraph()
        self.source.take(OVERLAY)
        term = self.source.option()
        if term is None:
            self.page.write(self.page.lists.marker({}))
        else:
            self.source.push(rf"\textbf{{{term}}} " if self.page.is_in_definitions else f"{term} ")

    def _entry(self) -> None:
        self.page.end_paragraph()
        label, _, key = self.source.option() or "", self.source.take(COMMENTED), self.source.argument()
        self.page.write(f"[{label if LABEL.fullmatch(label) else key}] ")

    def _caption(self) -> None:
        self.source.option()
        self.page.end_paragraph()
        if self.source.enter():
            self.page.open("", is_unit=True, ends_with_paragraph=True)

    # -- headings

    def _begin_heading(self, level: int, is_numbered: bool) -> None:
        self.source.option()
        self.page.begin_heading(level, is_numbered)
        self.source.enter()

    def _make_title(self) -> None:
        title, *parts = (self.facts.get(name, "") for name in ("title", "subtitle", "author", "date"))
        self.source.push("\n\n".join((f"\\@title{{{title}}}", *parts, "")))

    def _label(self) -> None:
        name = self.source.argument()
        if self.page.is_at_heading:
            self.labels[name] = self.page.numbers.last

    def _reference(self, command: str) -> None:
        self.has_references = True
        names = [*self.source.argument().split(","), *(self.source.argument() for _ in range("range" in command))]
        self.page.write(self.page.numbers.refer([self.known.get(name.strip()) for name in names], command))

    # -- text

    def _root(self) -> None:
        """A root: its index in [], if it has one, and its argument in (), which may be a fraction without braces."""
        index, argument = self.source.option(), self.source.argument()
        macro = self.source.macros.get(argument.removeprefix("\\"))
        parts = (f"{{{self.source.argument()}}}" for _ in range(macro.arguments if macro else 0))
        self.source.push(f"√{f'[{index}]' * bool(index)}({argument}{''.join(parts)})")

    def _shift(self, shift: int) -> None:
        self.page.shift = shift

    def _cite(self, command: str) -> None:
        keys: list[str] = []
        while not keys or (command.endswith("cites") and (self.source.opens("{") or self.source.opens("["))):
            while self.source.option() is not None:
                pass
            keys.append(self.source.argument())
        self.page.write(f"[{','.join(keys)}]")

    def _quote(self, is_inner: bool = False) -> None:
        self.source.push(self.page.numbers.quoted(self.source.argument(), is_inner))

    def _space_behind(self) -> None:
        if self.source.peek() not in WITHOUT_SPACE and not self.source.opens(r"\footnote"):
            self.page.collapse(" ")

    def _verb(self, command: str) -> None:
        self.source.drop(command)
        mark = self.source.take(ANY)
        self.page.write(self.source.until("}" if mark == "{" else mark, LONGEST_VERBATIM) if mark else "")

    def _address(self, is_shown: bool = True) -> None:
        self.source.option()
        if self.source.enter():
            address = self.source.until("}", LONGEST_VERBATIM)
            self.page.write(address if is_shown else "")

    def _include(self) -> None:
        """Read a file of the same folder, or below; others are named in a warning."""
        name = self.source.argument() if self.source.opens("{") else self.source.take(FILE_NAME).strip()
        folder = os.path.realpath(self.path.parent)
        for suffix in ("", ".tex"):
            found = os.path.realpath(os.path.join(folder, name[:LONGEST_NAME] + suffix))
            if os.path.isfile(found) and os.path.commonpath((folder, found)) == folder:
                text = read_text(Path(found), ENCODING)
                begun = BEGINNING.search(text)
                body = text if begun is None else text[begun.end() :].partition(r"\end{document}")[0]
                self.source.push(body, OF_FILE)
                return
        warnings.warn(SectionWarnings.CRFW482.format(path=self.path, name=name), CRFWarning, stacklevel=2)

    # -- what is said of the document

    def _class(self) -> None:
        self.page.numbers.set_class(options=self.source.option() or "", name=self.source.argument())

    def _package(self) -> None:
        self.page.numbers.set_package(options=self.source.option() or "", names=self.source.argument())

    def _language(self) -> None:
        self.source.option()
        self.page.numbers.set_language(self.source.argument())

    def _theorem(self) -> None:
        name, _ = self.source.argument(), self.source.option()
        self.source.macros.pop(f"begin {name}", None)  # such as the block of beamer
        self.theorems[name] = self.source.argument()
        self.source.option()

    def _counter(self, is_added: bool = False) -> None:
        name = self.source.argument()
        counted = self.page.lists if name in COUNTERS_OF_LISTS else self.page.numbers
        counted.set_counter(name, self.source.argument(), is_added)

    def _fact(self, name: str) -> None:
        """Take what is said for the title page."""
        self.source.option()
        self.facts[name] = self.source.argument()


R = _LatexReader
PREAMBLE: dict[str, Callable[[_LatexReader], None]] = {  # commands that count before the document as well
    **{name: partial(R._fact, name=name) for name in ("title", "subtitle", "author", "date")},
    "begin": lambda reader: reader._begin_environment(reader.source.argument()),
    "end": lambda reader: reader._end_environment(reader.source.argument()),
    **{"input": R._include, "documentclass": R._class, "usepackage": R._package},
    **{"setmainlanguage": R._language, "setdefaultlanguage": R._language, "newtheorem": R._theorem},
    **{"setcounter": R._counter, "addtocounter": lambda reader: reader._counter(is_added=True)},
}
COMMANDS: dict[str, Callable[[_LatexReader], None]] = {
    **dict.fromkeys(TABLES["breaks"], lambda reader: reader.page.end_paragraph()),
    **{name: partial(R._reference, command=name) for name in TABLES["references"]},
    **{name: partial(R._cite, command=name) for name in CITING},
    "@unit": lambda reader: reader.source.push(si_unit(reader.source.argument())),
    "@angle": lambda reader: reader.source.push(si_angle(reader.source.argument())),
    **{name: partial(R._verb, command=name) for name in ("verb", "Verb", "lstinline", "mintinline")},
    **{"href": partial(R._address, is_shown=False), **dict.fromkeys(("url", "Url", "path", "nolinkurl"), R._address)},
    **{"item": R._item, "caption": R._caption, "label": R._label, "bibitem": R._entry},
    **{"include": R._include, "subfile": R._include, "maketitle": R._make_title, "@root": R._root},
    **{"enquote": R._quote, "@enquote": partial(R._quote, is_inner=True), "xspace": R._space_behind},
    "appendix": lambda reader: reader.page.numbers.begin_appendix(),
    **{name: partial(R._shift, shift=own) for name, own in (("@higher", HIGHER), ("@lower", LOWER), ("@level", 0))},
    "@apart": lambda reader: reader.page.part_digits(),
    **dict.fromkeys(("frontmatter", "backmatter"), lambda reader: reader.page.begin_matter(is_main=False)),
    "mainmatter": lambda reader: reader.page.begin_matter(is_main=True),
}
