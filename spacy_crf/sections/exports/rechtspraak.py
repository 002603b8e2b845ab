"""XML of Rechtspraak.nl: sections with titles, and groups of paragraphs with numbers."""

from collections.abc import Iterator

from ..units.gold import NUMBER
from ..units.layout import Layout
from ..units.rechtspraak import ROLES
from ..units.tree import SectionNode, SectionTree
from .formatting import Formatting
from .outline import Begin, End, blocks, is_titled
from .xml_text import attributes, encode

NAMESPACE = "http://www.rechtspraak.nl/schema/rechtspraak-1.0"


def write_rechtspraak(layout: Layout, tree: SectionTree) -> str:
    """A document as the courts publish theirs: `section` with `title` and `nr`, `paragroup` with `nr`, and `para`.

    layout (Layout): the document. tree (SectionTree): its sections and labels. A section with a title is a `section`,
        others, also implied ones, are a `paragroup`.
    RETURNS (str): the file; it has no metadata.
    """
    return "".join(_Writer(layout, tree).write())


class _Writer:
    def __init__(self, layout: Layout, tree: SectionTree) -> None:
        self.layout = layout
        self.tree = tree
        self.formatting = Formatting(layout.runs, frozenset(ROLES))

    def write(self) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n<open-rechtspraak>\n'
        yield f"<uitspraak{attributes(id=self.layout.name, lang=self.layout.language, xmlns=NAMESPACE)}>\n"
        headings: set[int] = set()
        for event in blocks(self.layout, self.tree):
            if isinstance(event, Begin):
                yield f"<{_tag(self.tree, event.node)}>\n"
                yield from self._heading(event.node)
                headings.update(event.node.heading)
            elif isinstance(event, End):
                yield f"</{_tag(self.tree, event.node)}>\n"
            elif places := [place for place in event if place not in headings]:
                yield f"<para>{self._text(places)}</para>\n"
        yield "</uitspraak>\n</open-rechtspraak>\n"

    def _heading(self, node: SectionNode) -> Iterator[str]:
        if not node.heading:
            return
        parts = [
            f"<nr>{self._text([place])}</nr>" if self.tree.elements[place].label == NUMBER else self._text([place])
            for place in node.heading
        ]
        heading = " ".join(parts)
        yield f"<title>{heading}</title>\n" if is_titled(self.tree, node) else f"{heading}\n"

    def _text(self, places: list[int]) -> str:
        found = []
        start, end = self.tree.elements[places[0]].start, self.tree.elements[places[-1]].end
        for first, last, styles in self.formatting.pieces(start, end):
            text = encode(self.layout.text[first:last])
            found.append(f'<emphasis role="{" ".join(styles)}">{text}</emphasis>' if styles else text)
        return "".join(found)


def _tag(tree: SectionTree, node: SectionNode) -> str:
    return "section" if is_titled(tree, node) else "paragroup"
