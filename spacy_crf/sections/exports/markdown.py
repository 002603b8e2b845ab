"""Markdown with a heading for each section that has a title."""

import re
from collections.abc import Iterator

from ..units.layout import Layout
from ..units.tree import SectionTree
from ..units.unit import Kind
from .formatting import Formatting
from .outline import Begin, End, blocks, is_titled, text_of

MARKERS = {"bold": "**", "italic": "*"}
DEEPEST = 6  # levels that Markdown has
BULLETS = frozenset("-–—*+•‣⁃·●○◦▪▫■□►▶➢")
SPECIAL = re.compile(r"([\\`*_\[\]<>&|#])")
AT_START = re.compile(r"^([^\S\n]*)([-+=~]|\d+(?=[.)](?:\s|$)))(.?)", re.MULTILINE)


def write_markdown(layout: Layout, tree: SectionTree) -> str:
    """A document as Markdown: headings by level, the sixth for deeper ones; a numbered text is a paragraph.

    layout (Layout): the document. tree (SectionTree): its sections and labels. Each line of it is a paragraph or an
        item of a list; implied sections are not shown, but count as levels.
    RETURNS (str): the file.
    """
    return "\n\n".join(filter(None, _Writer(layout, tree).write())) + "\n"


class _Writer:
    def __init__(self, layout: Layout, tree: SectionTree) -> None:
        self.layout = layout
        self.tree = tree
        self.formatting = Formatting(layout.runs, MARKERS.keys())
        self.kinds = {unit.start: unit.kind for unit in layout.units}

    def write(self) -> Iterator[str]:
        headings: set[int] = set()
        for event in blocks(self.layout, self.tree):
            if isinstance(event, Begin):
                if is_titled(self.tree, event.node):
                    headings.update(event.node.heading)
                    title = " ".join(text_of(self.layout, self.tree, [place]) for place in event.node.heading)
                    yield f"{'#' * min(event.depth, DEEPEST)} {escape(title, start=False)}"
            elif not isinstance(event, End):
                yield self._paragraph([place for place in event if place not in headings])

    def _paragraph(self, places: list[int]) -> str:
        if not places:
            return ""
        first = self.tree.elements[places[0]]
        is_item = self.kinds.get(first.start) is Kind.MARK and self.layout.text[first.start] in BULLETS
        if is_item and len(places) > 1:
            return f"- {self._text(places[1:])}"
        return self._text(places)

    def _text(self, places: list[int]) -> str:
        start, end = self.tree.elements[places[0]].start, self.tree.elements[places[-1]].end
        text = "".join(self._piece(*piece) for piece in self.formatting.pieces(start, end))
        return AT_START.sub(_escape_start, text)

    def _piece(self, start: int, end: int, styles: tuple[str, ...]) -> str:
        text = self.layout.text[start:end]
        inner = text.strip()
        marks = "".join(MARKERS[style] for style in styles)
        if not marks or not inner or "\n\n" in inner:
            return escape(text, start=False)
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        return f"{before}{marks}{escape(inner, start=False)}{marks[::-1]}{after}"


def escape(text: str, start: bool = True) -> str:
    """Text that Markdown shows as it is. text (str): any. start (bool): it begins lines, where more signs count."""
    escaped = SPECIAL.sub(r"\\\1", text)
    return AT_START.sub(_escape_start, escaped) if start else escaped


def _escape_start(match: "re.Match[str]") -> str:
    sign, following = match[2], match[3]
    return f"{match[1]}{sign}\\{following}" if sign.isdigit() else f"{match[1]}\\{sign}{following}"
