"""Mark-up for reading, such as HTML: blocks begin lines, inline elements do not."""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass

from .builder import LayoutBuilder
from .lists import ListCounter
from .unit import Kind

SPACE = re.compile(r"[ \t\n\r\f]+")
SKIPPED = frozenset({"head", "script", "style", "template", "noscript", "iframe", "object"})
INLINE = frozenset(
    {
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font"),
        *("i", "img", "input", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong"),
        *("sub", "sup", "time", "tt", "u", "var", "wbr"),
        # of other formats
        *("bold", "date", "emph", "emphasis", "ext-link", "hi", "italic", "persname", "ref", "underline", "xref"),
    }
)
LONGEST_CSS = 1000  # characters of an attribute that are looked at
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
TAG_STYLES = {
    **dict.fromkeys(("b", "strong", "bold"), "bold"),
    **dict.fromkeys(("i", "em", "emph", "italic"), "italic"),
    **dict.fromkeys(("u", "ins", "underline"), "underline"),
    **{name: f"heading{name[1]}" for name in HEADINGS},
}
CSS = (
    (re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE), "bold"),
    (re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE), "italic"),
    (re.compile(r"text-decoration[^:;]*:[^;]*underline", re.IGNORECASE), "underline"),
)


@dataclass(slots=True)
class _Open:
    name: str
    start: int
    ink: int
    styles: tuple[str, ...]
    is_page: bool = False  # a table that holds headings or tables


class MarkupReader:
    """Turns the events of a parser into text and runs.

    tag_styles (Mapping[str, str]): styles of elements. skipped_tags (Set[str]): elements that are not shown.
    builder (LayoutBuilder): what was read. language (str): of it.
    """

    def __init__(self, tag_styles: Mapping[str, str], skipped_tags: Set[str]) -> None:
        self.tag_styles = tag_styles
        self.skipped_tags = skipped_tags
        self.builder = LayoutBuilder()
        self.language = ""
        self.open: list[_Open] = []
        self.lists = ListCounter()
        self.skipped = self.verbatim = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        name = name.lower()
        self.language = self.language or attributes.get("lang", "")
        self.skipped += name in self.skipped_tags
        self.verbatim += name == "pre"
        if self.skipped:
            self.open.append(_Open(name, 0, 0, ()))
            return
        if name == "br":
            self.builder.write("\n")
        elif name not in INLINE:
            self._begin_block(name, attributes)
        styles = [self.tag_styles[name]] if name in self.tag_styles else []
        css = attributes.get("style", "")[:LONGEST_CSS]
        styles += [style for pattern, style in CSS if pattern.search(css)] if css else []
        self.open.append(_Open(name, self.builder.length, self.builder.ink, tuple(styles)))

    def end(self, name: str) -> None:
        """An element ends."""
        element = self.open.pop()
        skipped = self.skipped
        self.skipped -= element.name in self.skipped_tags
        self.verbatim -= element.name == "pre"
        if skipped:
            return
        for style in element.styles:
            self.builder.style(element.start, style)
        if element.name == "table" and not element.is_page:
            self.builder.style(element.start, Kind.OTHER.value)
        if element.name not in INLINE:
            self._end_block(element)

    def data(self, text: str) -> None:
        """Text between tags."""
        if self.skipped:
            return
        if self.verbatim:
            self.builder.write(text)
        else:
            self.builder.collapse(SPACE.sub(" ", text))

    def instruction(self, name: str) -> None:
        """Instructions have no meaning here."""

    pi = comment = lambda self, *_: None

    def close(self) -> None:
        """The end of the page."""

    def _begin_block(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in ("td", "th"):
            if self.open and self.builder.ink > self.open[-1].ink:
                self.builder.write("\t")
            return
        self.builder.end_line()
        if name == "table" or name in HEADINGS:
            for element in self.open:
                element.is_page = True
        if name in ("ol", "ul"):
            self.lists.begin(name, attributes)
        elif name == "li":
            self.builder.write(self.lists.marker(attributes))

    def _end_block(self, element: _Open) -> None:
        if element.name in ("td", "th"):
            return
        if element.name in ("ol", "ul"):
            self.lists.end()
        if element.name == "p" and self.builder.ink == element.ink:
            self.builder.blank_line()
        else:
            self.builder.end_line()
