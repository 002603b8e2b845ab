"""Mark-up for reading: blocks begin lines, inline elements do not. HTML is read here, XML by its elements in `xml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from ...core.errors import required
from ...core.grammar.numbering import Reading, readings
from ...reading.figures import HIGHER
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import Kind, Run
from ..starts import LONGEST, begins_title, counted_numbers, is_note, part_number
from . import JOINTS, LONGEST_CSS, ItemCounter, ListCounter, MarkupElement, MarkupEvents, read_text, shift_of, whole

CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
SPACE = re.compile(r"[ \t\n\r\f]+")
NOT_IN_PAGES = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]")  # lxml stops at them
_LISTS = tomllib.loads((files(__package__) / "elements.toml").read_text(encoding="utf8"))
HTML_ELEMENTS, XML_ELEMENTS = (
    {kind: frozenset(names) for kind, names in _LISTS[format].items()} for format in ("html", "xml")
)
SKIPPED, BLOCKS, INLINE, APART = (HTML_ELEMENTS[kind] for kind in ("skipped", "blocks", "inline", "apart"))
NUMBERS = frozenset({"heading_numbering", "sdfootnotesym"})  # classes of numbers without a space behind them
# "[edit]" of wikis; a formula that is there as MathML; notes of LaTeXML, which reads LaTeX
SKIPPED_CLASSES = frozenset({"mw-editsection", "katex-html", "ltx_note"})
FORMULAS = frozenset({"annotation", "annotation-xml"})  # as they are written elsewhere, beside how they are shown
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
TAG_STYLES = {
    **dict.fromkeys(("b", "strong", "bold"), "bold"),
    **dict.fromkeys(("i", "em", "emph", "italic"), "italic"),
    **dict.fromkeys(("u", "ins", "underline"), "underline"),
    **{name: f"heading{name[1]}" for name in HEADINGS},
}
OUTERMOST, TITLE = "heading1", "title"  # a style, and the class of a title of pandoc, Quarto and R Markdown
LOWERED = {f"heading{level}": f"heading{level + 1}" for level in range(1, 7)}
CSS = (
    (re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE), "bold"),
    (re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE), "italic"),
    (re.compile(r"text-decoration[^:;]*:[^;]*underline", re.IGNORECASE), "underline"),
)

HEADING = re.compile(r"<h[1-6]\b[^<>]*+>(?:\s++|<[^<>]*+>){0,9}+([^<]{1,200})", re.IGNORECASE)  # with its first text
NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none\b", re.IGNORECASE)
REVERSED = re.compile(r"\breversed\b", re.IGNORECASE)
OWN_LINES, CELLS = frozenset({"li", "ol", "ul", "table"}), frozenset({"td", "th"})  # they begin lines in items, too


class MarkupReader(MarkupEvents):
    """Turns the events of a parser into text and runs.

    tag_styles (Mapping[str, str]): styles of elements. skipped_tags (Set[str]): elements that are not shown.
    """

    apart: Set[str] = APART

    def __init__(self, tag_styles: Mapping[str, str], skipped_tags: Set[str]) -> None:
        self.tag_styles = tag_styles
        self.skipped_tags = skipped_tags
        self.builder = LayoutBuilder()
        self.language = ""
        self.open: list[MarkupElement] = []
        self.lists = ListCounter()
        self.item = -1  # where the text of the last list item begins, behind its number
        self.cells: list[MarkupElement] = []
        self.line_due = False  # before what comes next in the same cell
        self.before = ""  # the last element of `apart` that ended, with nothing but white space behind it
        self.skipped = self.verbatim = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        name = name.lower()
        self.language = self.language or attributes.get("lang", "")
        is_hidden = self.is_hidden(name, attributes)
        self.skipped += is_hidden
        self.verbatim += name == "pre"
        if self.skipped:
            self.open.append(MarkupElement(name, 0, 0, (), is_hidden))
            return
        is_block = self.is_block(name)
        if self.open and self.builder.ink > self.open[-1].ink and (joint := self.open[-1].joint):
            self.builder.write(joint)
        elif name == "mfrac":
            self.builder.part_digits()
        elif name == "br":
            self._break_line()
        elif is_block:
            self._begin_block(name, attributes)
        elif self.before and name in self.apart:
            self._part(name)
        self.builder.write("√" * (name == "msqrt"))
        css = attributes.get("style", "")[:LONGEST_CSS]
        styles = [own] if (own := self.style_of(name)) else []
        styles += [style for pattern, style in CSS if pattern.search(css)]
        element = MarkupElement(name, self.builder.length, self.builder.ink, tuple(styles), False, is_block)
        element.is_page = name != "table" and bool(self.open) and self.open[-1].is_page
        element.shift = shift_of(name, attributes, self.open[-1].shift if self.open else 0)
        element.joint = JOINTS.get(name, "") if attributes.get("linethickness", "1").strip("0.emptx%") else " "
        self.open.append(element)
        self.cells += [element] if name in CELLS else []

    def end(self, name: str) -> None:
        element = self.open.pop()
        skipped = self.skipped
        self.skipped -= element.is_hidden
        self.verbatim -= element.name == "pre"
        if skipped:
            return
        for style in element.styles:
            self.builder.style(element.start, style)
        if element.name == "table" and not element.is_page:
            self.builder.style(element.start, Kind.OTHER.value)
        if element.name in self.apart:
            self.before = element.name
        if element.is_block:
            self._end_block(element)

    def data(self, text: str) -> None:
        if self.skipped or (self.line_due and text.isspace()):
            return
        if text.strip():
            self.before = ""
            if self.open:
                self.open[-1].has_text = True
        self._end_due_line()
        write, shown = (self.builder.write, text) if self.verbatim else (self.builder.collapse, SPACE.sub(" ", text))
        write(shown, self.open[-1].shift if self.open else 0)

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether an element is not shown."""
        return name in self.skipped_tags or (name in FORMULAS and bool(self.open) and self.open[-1].name == "semantics")

    def style_of(self, name: str) -> str | None:
        """How an element is formatted."""
        return self.tag_styles.get(name)

    def is_block(self, name: str) -> bool:
        """Whether an element begins a line, and what comes behind it another one."""
        return name not in INLINE

    def _part(self, name: str) -> None:
        """Part an element within a line from the one right before it."""
        self.builder.gap()

    def _begin_block(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in CELLS:
            self._begin_cell()
            return
        if name == "table" or name in HEADINGS:
            for element in reversed(self.open):
                if element.is_page:
                    break  # so are those around it
                element.is_page = True
        self._end_line(name)
        if name in ("ol", "ul"):
            self.lists.begin(name, attributes)
        elif name == "li":
            self._end_due_line()
            self.builder.write(self.lists.marker(attributes))
            self.item = self.builder.length

    def _begin_cell(self) -> None:
        """Part a cell from those before it in its row: in a table of data it is on their line."""
        if self.open and self.open[-1].is_page:
            self.builder.end_line()
        elif self.open and self.builder.ink > self.open[-1].ink:
            self.builder.write("\t")

    def _end_line(self, name: str) -> None:
        """Begin a new line for a block or behind it, but not between the number of a list item and its first text. In a
        cell of data, only between blocks: the next cell goes on with the line."""
        if name not in OWN_LINES and self.builder.length == self.item:
            return
        if self._is_in_data:
            self.line_due = self.builder.length > self.cells[-1].start
        else:
            self.builder.end_line()

    def _break_line(self) -> None:
        if self._is_in_data:
            self._end_line("br")
        else:
            self.builder.write("\n")

    @property
    def _is_in_data(self) -> bool:
        """Whether it is in a cell of a table that is none for the layout of a page."""
        return bool(self.cells) and not self.cells[-1].is_page

    def _end_due_line(self) -> None:
        if self.line_due:
            self.line_due = False
            self.builder.end_line()

    def _end_block(self, element: MarkupElement) -> None:
        if element.name in CELLS:
            self.line_due = False
            self.cells.pop()
            return
        if element.name in ("ol", "ul"):
            self.lists.end()
        is_empty = element.name == "p" and self.builder.ink == element.ink and self.builder.length != self.item
        if is_empty and not self._is_in_data:
            self.builder.blank_line()
        else:
            self._end_line(element.name)


class _PageReader(MarkupReader):
    """Leaves out what browsers do not show, and of headings links to themselves, whose text is but a sign."""

    link = ""  # of the last one that began
    headings = 0  # that are open
    place = -1  # where the last one began, or the number that is its first piece ended
    raised = (-1, -1)  # where what is set higher began and ended, the last time
    number: MarkupElement | None = None  # the last one that is one by its class
    numbers: Set[str] = frozenset()  # that headings begin with, right before their titles
    titles: Sequence[int] = ()  # where headings begin that have the class of one of the page
    is_office, begun = False, tuple[Reading, ...]()  # LibreOffice wrote it; the number that is all of a heading so far

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "a":
            self.link = attributes.get("href", "")
        elif name == "meta" and attributes.get("name", "").lower() == "generator":
            self.is_office = "Office" in attributes.get("content", "")
        self.headings += name in HEADINGS
        super().start(name, attributes)
        classes = attributes.get("class", "")[:LONGEST_CSS].split()
        if name in HEADINGS:
            self.place, self.begun = self.builder.length, ()
            if name == "h1" and TITLE in classes and not self.skipped:
                self.titles = [*self.titles, self.place]
        if not NUMBERS.isdisjoint(classes):
            self.number = self.open[-1]

    def data(self, text: str) -> None:
        is_first = self.is_office and self.headings > 0 and self.builder.length == self.place
        if is_first and self.begun and begins_title(self.begun[0], text):
            self.builder.gap()
        elif is_first and not self.begun:
            text = part_number(SPACE.sub(" ", text).lstrip(), self.numbers)
        super().data(text)
        if is_first and not self.begun and (found := readings(text.strip())):
            self.place, self.begun = self.builder.length, found

    def end(self, name: str) -> None:
        element = self.open[-1]
        super().end(name)
        self.headings -= element.name in HEADINGS
        if element is self.number and not self.skipped:
            self.builder.gap()
        if element.shift == HIGHER:
            self.raised = element.start, self.builder.length
        if self.headings and not self.skipped:
            if element.name == "a" and self.link.startswith("#"):
                self.builder.drop_signs(element.start, self.raised == (element.start, self.builder.length))
            elif element.shift == HIGHER:
                start = max(element.start - LONGEST, next(each.start for each in self.open if each.name in HEADINGS))
                if is_note(self.builder.since(start), element.start - start):
                    self.builder.drop_signs(element.start, is_note=True)

    def is_block(self, name: str) -> bool:
        return name in BLOCKS or name in HEADINGS or (name == "button" and self.verbatim > 0)  # "copy", below code

    def is_hidden(self, name: str, attributes: Mapping[str, str]) -> bool:
        css, classes = attributes.get("style", "")[:LONGEST_CSS], attributes.get("class", "")[:LONGEST_CSS]
        is_shown = not NOT_DISPLAYED.search(css) and SKIPPED_CLASSES.isdisjoint(classes.split())
        is_margin = self.is_office and name == "div" and attributes.get("title") in ("header", "footer")
        return super().is_hidden(name, attributes) or "hidden" in attributes or is_margin or not is_shown


def read_html(path: Path) -> DocumentLayout:
    """Read a web page by lxml, however careless its mark-up is.

    Blocks and line breaks begin lines, an empty paragraph is a blank line. Headings and emphasis, by tags or by
    `style`, are formatting. The numbers and bullets of lists are in the text as browsers show them. A table is one
    unit, unless it has headings or tables in it, as one for the layout of a page has. What has the attribute `hidden`,
    or `display: none` as its `style`, is left out, and so are marks of notes in headings, and notes of LaTeXML. Figures
    that are set higher beside a digit are raised ones (10⁶), those set lower are lowered ones.

    path (Path): in UTF-8, UTF-16 with a byte order mark, or the encoding that it names.
    RAISES (ValueError): for binary files and wrong encodings, with the line, and if lxml is not installed.
    """
    reader, counter = _PageReader(TAG_STYLES, SKIPPED), ItemCounter()
    text = NOT_IN_PAGES.sub("\ufffd", read_text(path, CHARSET))
    reader.numbers = counted_numbers(SPACE.sub(" ", found) for found in HEADING.findall(text))
    if REVERSED.search(text):
        _parse(text, _LxmlTarget(counter))
    _parse(text, _LxmlTarget(reader, counter.lengths))
    _lower(reader.builder.runs, reader.titles)
    return reader.builder.build(path.stem, reader.language)


def _lower(runs: list[Run], titles: Sequence[int]) -> None:
    """Put the headings of a page one level below its title, where others have the level of this: pandoc writes so."""
    outermost = sorted(start for start, _, style in runs if style == OUTERMOST)
    if len(titles) == 1 < len(outermost) and outermost[0] == titles[0]:
        runs[:] = [(*own[:2], own[2] if own[0] == titles[0] else LOWERED.get(own[2], own[2])) for own in runs]


def _parse(text: str, target: "_LxmlTarget") -> None:
    with required(SectionErrors.CRF956):
        from lxml import etree
    parser = etree.HTMLParser(target=target, huge_tree=True)
    parser.feed(text)
    with suppress(etree.XMLSyntaxError):  # there is no element
        parser.close()


class _LxmlTarget:
    """The methods that lxml calls. lengths (Sequence[int]): of reversed lists, by which they get their first number."""

    def __init__(self, reader: MarkupEvents, lengths: Sequence[int] = ()) -> None:
        self.end, self.data = reader.end, reader.data
        self._start = reader.start
        self._lengths = lengths
        self._n_reversed = 0

    def start(self, tag: str, attrib: Mapping[str, str]) -> None:
        if self._lengths and tag == "ol" and "reversed" in attrib:
            first = whole(attrib.get("start", ""), self._lengths[self._n_reversed])
            self._n_reversed += 1
            attrib = {**attrib, "start": str(first)}
        self._start(tag, attrib)

    def close(self) -> None:
        """Nothing is left to do."""
