"""XML of formats that are not known otherwise, among them TEI and JATS, by the names of its elements."""

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from sys import intern

from ...core.grammar.numbering import readings
from ..layout import DocumentLayout
from . import MarkupEvents, XmlSource
from .markup import APART, BLOCKS, INLINE, TAG_STYLES, MarkupReader

TITLES = ("title", "head", "heading", "kop")
# `meta` of laws, `bib.instance` of Formex; notes in the margin, which may part a number from its title
NOT_SHOWN = frozenset(
    {"bib.instance", "index-term", "indexterm", "meta", "meta-data", "metadata", "sidenote", "teiheader"}
)
NOTES = frozenset({"fn", "footnote", "index", "note"})  # which are no part of the heading that has them
# Of JATS, DocBook and DITA, beside those that HTML has: those that are whole words are apart from each other, and if
# they alone make up an element, each of a name is a line
XML_APART = APART | {
    *("abbrev", "application", "citetitle", "classname", "cmdname", "command", "constant", "email", "envar"),
    *("filename", "filepath", "firstterm", "foreignphrase", "function", "glossterm", "guibutton", "guilabel"),
    *("guimenu", "guimenuitem", "interfacename", "keycap", "keycode", "link", "methodname", "olink", "option"),
    *("phrase", "productname", "prompt", "systemitem", "term", "trademark", "uicontrol", "ulink", "uri"),
    *("varname", "wintitle"),
}
XML_INLINE = (
    INLINE
    | XML_APART
    | {
        *("chem-struct", "citerefentry", "codeph", "computeroutput", "inline-formula", "inline-graphic"),
        *("inlineequation", "inlinemediaobject", "keycombo", "literal", "math", "menucascade", "menuchoice"),
        *("monospace", "named-content", "overline", "parmname", "personname", "ph", "replaceable", "roman"),
        *("sans-serif", "sc", "styled-content", "subscript"),
        *("superscript", "systemoutput", "tex-math", "userinput", "wordasword"),
    }
) - APART
FLAT = frozenset({"inline-formula", "math"})  # all in them is within a line, as in titles, but for what is next
# What no title has in it: in laws of the United States, `title` is a part of the law, with all that it says
IN_PARTS = frozenset(
    {"article", "chapter", "header", "heading", "notes", "part", "section", "subchapter", "subpart", "toc"}
)
LINES_OF_TITLES = frozenset({"break", "l", "lb", "line", "p", "para", "subtitle", "title"})
TEI = frozenset({"tei", "tei.2", "teicorpus"})  # roots, in files of which `title` is the name of a work
TEI_INLINE = INLINE | {
    *("add", "am", "anchor", "app", "c", "choice", "corr", "damage", "ex", "expan", "foreign", "g", "gap", "geogname"),
    *("gloss", "lem", "measure", "mentioned", "milestone", "name", "num", "orgname", "orig", "pb", "pc", "placename"),
    *("ptr", "reg", "rs", "said", "seg", "sic", "socalled", "subst", "supplied", "surplus", "term", "title", "unclear"),
    "w",
}
# Of elements that say one thing in several ways: what an editor made of the source, a reference without its marks
SECOND = {"choice": frozenset({"corr", "expan", "reg"}), "citation-alternatives": frozenset({"element-citation"})}
READINGS = frozenset({"note", "rdg", "rdggrp", "wit", "witdetail"})  # of an apparatus: beside the text that it has
# References, whose fields stand in one line: parted by a space where nothing is between them
CITATIONS = frozenset({"mixed-citation", "element-citation", "citation", "nlm-citation", "bibl", "biblstruct"})
QUOTES = ("quot.start", "quot.end")  # of Formex, whose sign is an attribute
LINE_ENDS = ("lb", "break")  # of TEI and JATS; a line that goes on with the same word says so
WITHIN_WORDS = frozenset(
    {
        *("abbr", "add", "am", "anchor", "b", "bold", "c", "cb", "choice", "corr", "damage", "em", "emph", "emphasis"),
        *("ex", "expan", "fixed-case", "g", "gap", "hi", "ht", "i", "italic", "lb", "named-content", "orig", "pb"),
        *("pc", "reg", "sc", "seg", "sic", "small", "span", "strong", "styled-content", "sub", "subst", "sup"),
        *("supplied", "surplus", "u", "unclear", "underline", "w"),
    }
)
# What begins a line even within a sentence. Of names that stand nowhere here, only elements that hold such ones do, or
# several parts
BLOCKS_IN_TEXT = (
    BLOCKS
    | NOTES
    | LINES_OF_TITLES
    | frozenset(TITLES)
    | {
        *("bibliography", "bridgehead", "boxed-text", "calloutlist", "cmdsynopsis", "codeblock", "def-list"),
        *("disp-formula", "disp-formula-group", "disp-quote", "eg", "egxml", "entry", "equation", "example", "fig"),
        *("fig-group", "formalpara", "funcsynopsis", "fw", "informalequation", "informalexample", "informalfigure"),
        *("informaltable", "item", "itemizedlist", "lg", "lines", "list", "list-item", "listbibl", "listitem"),
        *("literallayout", "lq", "media", "mediaobject", "member", "msgblock", "orderedlist", "preformat"),
        *("procedure", "programlisting", "ref-list", "row", "screen", "simpara", "simplelist", "sl", "sli", "sp"),
        *("speech", "statement", "step", "supplementary-material", "synopsis", "table-wrap", "variablelist"),
        *("varlistentry", "verse-group"),
    }
)


class _SentenceReader(MarkupEvents):
    """Finds elements of unknown names that are within a sentence: beside words of the element that has them, and
    without blocks or several parts in them. Laws, dictionaries and manuals have hundreds of such names."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []  # of each element, in the order in which they begin; -1 for the root
        self.has_text = bytearray()  # of its own
        self.is_inked = bytearray()
        self.holds_blocks = bytearray()
        self.parts: dict[int, int] = {}  # elements of unknown names with text in elements that are open
        self.with_text: set[int] = set()  # of critical editions: what gives the text, and other readings
        self.open = [-1]
        self.inline = XML_INLINE

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.names and name.lower() in TEI:
            self.inline = TEI_INLINE
        if name.lower() == "lem":
            self.with_text.add(self.open[-1])
        self.parents.append(self.open[-1])
        self.open.append(len(self.names))
        self.names.append(intern(name.lower()))
        for flags in (self.has_text, self.is_inked, self.holds_blocks):
            flags.append(False)

    def data(self, text: str) -> None:
        if not text.isspace():
            self.has_text[self.open[-1]] = self.is_inked[self.open[-1]] = True

    def end(self, name: str) -> None:
        place = self.open.pop()
        parent, name = self.open[-1], self.names[place]
        has_parts = self.parts.pop(place, 0) > 1 and not self.has_text[place]
        self.holds_blocks[place] |= name not in self.inline and (has_parts or name in BLOCKS_IN_TEXT)
        if parent >= 0:
            self.holds_blocks[parent] |= self.holds_blocks[place]
            self.is_inked[parent] |= self.is_inked[place]
            if self.is_inked[place] and name not in self.inline:
                self.parts[parent] = self.parts.get(parent, 0) + 1

    def readings(self) -> frozenset[int]:
        """Return the places of readings in critical editions that are not those of the text."""
        named = enumerate(zip(self.names, self.parents)) if self.with_text else ()
        return frozenset(n for n, (name, parent) in named if parent in self.with_text and name in READINGS)

    def within(self) -> bytearray:
        """Return for each element, in the order in which they begin, whether it is within a sentence."""
        found = bytearray(len(self.names))
        for place, parent in enumerate(self.parents):
            is_beside_text = parent >= 0 and (self.has_text[parent] or found[parent])
            found[place] = is_beside_text and not self.holds_blocks[place]
        return found


class _XmlReader(MarkupReader):
    inline = XML_INLINE
    apart: Set[str] = XML_APART
    citations = 0  # that are open, one in the other
    flat = 0  # titles and formulas that are open
    is_behind_field = False
    number = ""  # of a heading of TEI whose text has yet to come: GROBID takes it out of the text, others do not
    place = -1  # of the element that began last, in the order in which they begin

    def __init__(self, within: Sequence[int], readings: Set[int]) -> None:
        super().__init__(TAG_STYLES | dict.fromkeys(TITLES, "title"), NOT_SHOWN)
        self.within = within
        self.readings = readings
        self.ended = ""  # the last element, with nothing behind it

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.place += 1
        if not self.open and name.lower() in TEI:
            self.inline = TEI_INLINE
            self.tag_styles = {tag: style for tag, style in self.tag_styles.items() if tag != "title"}
        if self.flat and name.lower() in IN_PARTS:
            self._end_titles()
        is_end_of_line = self.citations and name.lower() in LINE_ENDS and attributes.get("break") != "no"
        if name.lower() in QUOTES and re.fullmatch("20[0-9A-F]{2}|(?:00)?(?:22|27|AB|BB)", attributes.get("CODE", "")):
            self.data(chr(int(attributes["CODE"], 16)))
        if is_end_of_line or (self.is_behind_field and name.lower() not in WITHIN_WORDS):
            self.data(" ")
        if self._is_unknown_within(name.lower()):
            self._begin_unknown(name.lower())
        self.ended = ""
        super().start(name, attributes)
        self.is_behind_field = False
        self.citations += self.open[-1].name in CITATIONS
        self.flat += self._is_flat
        if self.open[-1].is_block:
            number = attributes.get("n", "").strip() if self.inline is TEI_INLINE and name == "head" else ""
            self.number = number if readings(number) else ""

    def end(self, name: str) -> None:
        self.citations -= self.open[-1].name in CITATIONS
        self.flat -= self._is_flat
        self.is_behind_field = max(self.citations, self.flat) > 0 and self.open[-1].name not in WITHIN_WORDS
        super().end(name)
        self.ended = name.lower()

    def data(self, text: str) -> None:
        self.is_behind_field, self.ended = False, ""
        if self.number and text.strip() and not self.skipped:
            is_said = re.match(rf"\W*(?:[^\W\d]+\s)?(?:\w+\.)*{re.escape(self.number.strip('.()'))}(?!\w)", text)
            text, self.number = text if is_said else f"{self.number} {text.lstrip()}", ""
        super().data(text)

    def _is_unknown_within(self, name: str) -> bool:
        """Whether the element that begins is within a sentence, and its name is not known."""
        return bool(self.within[self.place]) and name not in self.inline and name not in WITHIN_WORDS

    def _begin_unknown(self, name: str) -> None:
        """Part an element whose name is not known from the one right before it in a sentence."""
        if self.skipped:
            return
        if self.ended and self.ended not in WITHIN_WORDS:
            self.builder.gap()
        if not (self.flat or self.citations):
            self.apart |= {name}

    def _begin_block(self, name: str, attributes: Mapping[str, str]) -> None:
        is_marked = name != "li" or any(element.name in ("ol", "ul") for element in self.open)
        super()._begin_block(name if is_marked else "item", attributes)

    def _end_titles(self) -> None:
        """Take what is open for parts of the document, of which only what has been read is a title."""
        for element in self.open:
            if "title" in element.styles:
                self.builder.style(element.start, "title")
                element.styles = tuple(style for style in element.styles if style != "title")
                self.flat -= element.name not in FLAT

    def _part(self, name: str) -> None:
        parent = self.open[-1] if self.open else None
        if name == self.before and parent is not None and parent.is_block and not parent.has_text and not self.flat:
            self._end_line(name)
        else:
            super()._part(name)

    @property
    def _is_flat(self) -> bool:
        """Whether the element that began last is a title, or a formula within a line."""
        return self.open[-1].name in FLAT or "title" in self.open[-1].styles

    def is_block(self, name: str) -> bool:
        if self.flat:
            return name in LINES_OF_TITLES and name not in self.inline
        return not (self.citations or name in self.inline or self.within[self.place])

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        is_second = self.place in self.readings or (bool(self.open) and name in SECOND.get(self.open[-1].name, ()))
        return super().is_hidden(name, attributes) or is_second or (self.flat > 0 and name in NOTES)

    def style_of(self, name: str) -> str | None:
        return None if self.citations and name in TITLES else super().style_of(name)


def read_xml(path: Path) -> DocumentLayout:
    """Read XML of formats that are not known otherwise, by the names of its elements.

    Those that are inline in HTML and other usual formats are so, all others begin lines. "title", "head", "heading" and
    "kop" are titles. A reference is a line, and none of its fields a title. In TEI, "title" is none, and a heading has
    the number that its attribute `n` says, once. Of a `choice`, what an editor made of the source is left out, and of
    an `app` that has a `lem` all else. In a title all elements are inline but those that are lines of it; its notes are
    left out. What is beside words in the same element is within their sentence, whatever its name, but for blocks such
    as lists and what holds some.

    RAISES (ValueError): for malformed XML, with the line.
    """
    sentences = _SentenceReader()
    XmlSource(path, sentences).read()
    reader = _XmlReader(sentences.within(), sentences.readings())
    XmlSource(path, reader).read()
    return reader.builder.build(path.stem, reader.language)
