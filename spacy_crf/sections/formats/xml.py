"""XML of formats that are not known otherwise, among them TEI and JATS, by the names of its elements."""

import re
from collections.abc import Mapping
from pathlib import Path

from ...core.grammar.numbering import readings
from ..layout import DocumentLayout
from . import XmlSource
from .markup import INLINE, TAG_STYLES, MarkupReader

TITLES = ("title", "head", "heading")
NOT_SHOWN = frozenset({"annotation", "annotation-xml", "index-term", "indexterm", "metadata", "teiheader"})
NOTES = frozenset({"fn", "footnote", "index", "note"})  # which are no part of the heading that has them
# Of JATS, DocBook and DITA, beside those that HTML has
XML_INLINE = INLINE | {
    *(
        "abbrev",
        "application",
        "chem-struct",
        "citetitle",
        "classname",
        "cmdname",
        "codeph",
        "command",
        "computeroutput",
    ),
    *("constant", "email", "envar", "filename", "filepath", "firstterm", "foreignphrase", "function", "glossterm"),
    *("guibutton", "guilabel", "guimenu", "guimenuitem", "inline-formula", "inline-graphic", "inlineequation"),
    *("inlinemediaobject", "interfacename", "keycap", "keycode", "keycombo", "link", "literal", "math"),
    *("methodname", "monospace", "named-content", "olink", "option", "overline", "parmname"),
    *("ph", "phrase", "productname", "prompt", "replaceable", "roman", "sans-serif", "sc", "styled-content"),
    *("subscript", "superscript", "systemitem", "systemoutput", "term", "tex-math", "trademark"),
    *("uicontrol", "ulink", "uri", "userinput", "varname", "wintitle", "wordasword"),
}
FLAT = frozenset({"inline-formula", "math"})  # all in them is within a line, as in titles, but for what is next
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
    citations = 0  # that are open, one in the other
    flat = 0  # titles and formulas that are open
    is_behind_field = False
    number = ""  # of a heading of TEI whose text has yet to come: GROBID takes it out of the text, others do not

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.open and name.lower() in TEI:
            self.inline = TEI_INLINE
            self.tag_styles = {tag: style for tag, style in self.tag_styles.items() if tag != "title"}
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
