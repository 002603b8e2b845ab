"""XML of formats that are not known otherwise, among them TEI and JATS, by the names of its elements."""

import re
from collections.abc import Mapping
from pathlib import Path

from ...core.grammar.numbering import readings
from ..layout import DocumentLayout
from . import XmlSource
from .markup import APART, INLINE, TAG_STYLES, MarkupReader

TITLES = ("title", "head", "heading")
NOT_SHOWN = frozenset({"index-term", "indexterm", "metadata", "teiheader"})
NOTES = frozenset({"fn", "footnote", "index", "note"})  # which are no part of the heading that has them
# Of JATS, DocBook and DITA, beside those that HTML has
# those that are whole words are apart from each other, and if they alone make up an element, each of a name is a line
XML_APART = APART | {
    *("abbrev", "application", "citetitle", "classname", "cmdname", "command", "constant"),
    *("email", "envar", "filename"),
    *("filepath", "firstterm", "foreignphrase", "function", "glossterm", "guibutton", "guilabel", "guimenu"),
    *("guimenuitem", "interfacename", "keycap", "keycode", "link", "methodname", "olink", "option", "phrase"),
    *("productname", "prompt", "systemitem", "term", "trademark", "uicontrol", "ulink", "uri", "varname", "wintitle"),
}
XML_INLINE = (
    INLINE
    | XML_APART
    | {
        *("chem-struct", "codeph", "computeroutput", "inline-formula", "inline-graphic", "inlineequation"),
        *("inlinemediaobject", "keycombo", "literal", "math", "menucascade", "menuchoice"),
        *("monospace", "named-content"),
        *("overline", "parmname", "ph", "replaceable", "roman", "sans-serif", "sc", "styled-content", "subscript"),
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
    *("add", "c", "choice", "corr", "expan", "foreign", "geogname", "gloss", "measure", "mentioned", "milestone"),
    *("name", "num", "orgname", "orig", "pb", "pc", "placename", "ptr", "reg", "rs", "said", "seg", "sic", "socalled"),
    *("supplied", "term", "title", "unclear", "w"),
}
# Of elements that say one thing in several ways: what an editor made of the source, a reference without its marks
SECOND = {"choice": frozenset({"corr", "expan", "reg"}), "citation-alternatives": frozenset({"element-citation"})}
# References, whose fields stand in one line: parted by a space where nothing is between them
CITATIONS = frozenset({"mixed-citation", "element-citation", "citation", "nlm-citation", "bibl", "biblstruct"})
LINE_ENDS = ("lb", "break")  # of TEI and JATS; a line that goes on with the same word says so
WITHIN_WORDS = frozenset(
    {
        *("abbr", "add", "am", "b", "bold", "c", "choice", "corr", "em", "emph", "emphasis", "ex", "expan", "hi", "i"),
        *("italic", "lb", "named-content", "orig", "pb", "pc", "reg", "sc", "seg", "sic", "small", "span", "strong"),
        *("styled-content", "sub", "sup", "supplied", "u", "unclear", "underline", "w"),
    }
)


class _XmlReader(MarkupReader):
    inline = XML_INLINE
    apart = XML_APART
    citations = 0  # that are open, one in the other
    flat = 0  # titles and formulas that are open
    is_behind_field = False
    number = ""  # of a heading of TEI whose text has yet to come: GROBID takes it out of the text, others do not

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.open and name.lower() in TEI:
            self.inline = TEI_INLINE
            self.tag_styles = {tag: style for tag, style in self.tag_styles.items() if tag != "title"}
        if self.flat and name.lower() in IN_PARTS:
            self._end_titles()
        is_end_of_line = self.citations and name.lower() in LINE_ENDS and attributes.get("break") != "no"
        if is_end_of_line or (self.is_behind_field and name.lower() not in WITHIN_WORDS):
            self.data(" ")
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

    def data(self, text: str) -> None:
        self.is_behind_field = False
        if self.number and text.strip() and not self.skipped:
            is_said = re.match(rf"\W*(?:[^\W\d]+\s)?(?:\w+\.)*{re.escape(self.number.strip('.()'))}(?!\w)", text)
            text, self.number = text if is_said else f"{self.number} {text.lstrip()}", ""
        super().data(text)

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
        return not self.citations and name not in self.inline

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        is_second = bool(self.open) and name in SECOND.get(self.open[-1].name, ())
        return super().is_hidden(name, attributes) or is_second or (self.flat > 0 and name in NOTES)

    def style_of(self, name: str) -> str | None:
        return None if self.citations and name in TITLES else super().style_of(name)


def read_xml(path: Path) -> DocumentLayout:
    """Read XML of formats that are not known otherwise, by the names of its elements.

    Those that are inline in HTML and other usual formats are so, all others begin lines, and "title", "head" and
    "heading" are titles. A reference is a line, and none of its fields a title. In TEI, "title" is none, and a heading
    has the number that its attribute `n` says, once. Of a `choice`, what an editor made of the source is left out.
    In a title all elements are inline but those that are lines of it; its notes are left out.

    RAISES (ValueError): for malformed XML, with the line.
    """
    reader = _XmlReader(TAG_STYLES | dict.fromkeys(TITLES, "title"), NOT_SHOWN)
    XmlSource(path, reader).read()
    return reader.builder.build(path.stem, reader.language)
