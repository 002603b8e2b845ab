"""Documents whose headings are known, as blocks, and the plain texts that readers of text, PDF or OCR see of them.

A document has many such texts: numbered or not, with underlined, capital or bold headings, with blank lines or none, in
lines of some width, with a table of contents and the heads of pages. A seed chooses; what was chosen is no gold.
"""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from random import Random
from typing import Any, Literal

from ..core.grammar.numerals import ARABIC, LETTER_LOWER, LETTER_UPPER, ROMAN_UPPER, numeral
from ..core.sections.headings import MOST_LEVELS
from .layout import DocumentLayout, LayoutBuilder
from .markup import name_sections, nest
from .segment import HEADINGS, KINDS, PARAGRAPH, Kind, LayoutUnit, segment
from .starts import find_mark, find_numbering
from .tree import NUMBER, TITLE, Element, GoldDocument, mark_headings

Numbering = Literal["kept", "none", "decimal", "worded", "outline"]
Look = Literal["bare", "marked", "bold", "capitals", "first capitals", "underlined", "colon"]
Spacing = Literal["blank lines", "none", "before headings", "around headings"]

CHAPTERS = {"de": "Kapitel", "en": "Chapter", "es": "Capítulo", "fr": "Chapitre", "it": "Capitolo", "nl": "Hoofdstuk"}
CONTENTS = {"de": "Inhalt", "en": "Contents", "es": "Índice", "fr": "Sommaire", "it": "Indice", "nl": "Inhoud"}
PAGES = {"de": "Seite", "en": "Page", "es": "Página", "fr": "Page", "it": "Pagina", "nl": "Pagina"}
UNDERLINES = "=-~^\"'"  # by level
OUTLINE = (ROMAN_UPPER, LETTER_UPPER, ARABIC, LETTER_LOWER)
BULLETS = ("", "- ", "* ", "• ")


class BlockKind(StrEnum):
    """What a block is. TERM: what a list of definitions defines. CODE: its line ends are kept."""

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    TERM = "term"
    CODE = "code"


BLOCK_KINDS = {kind.value: kind for kind in BlockKind}


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A block of a document. level (int): of a heading, 1 for the outermost; 0 for all else."""

    kind: BlockKind
    level: int
    text: str


@dataclass(frozen=True)
class BlockDocument:
    """The blocks of a document in order. language (str): its code, "" if it is unknown."""

    blocks: tuple[DocumentBlock, ...]
    name: str = ""
    language: str = ""


def is_block_document(entry: Any) -> bool:
    """Whether a value of JSON is a document of blocks."""
    return isinstance(entry, Mapping) and "blocks" in entry


def blocks_of_json(entry: Mapping[str, Any]) -> BlockDocument:
    """The document of {"id": .., "lang": .., "blocks": [[kind, level, text], ..]}; id and lang may be left out.

    Blocks without text are left out. RAISES (ValueError, KeyError, TypeError): for anything else.
    """
    blocks = []
    for number, (kind, level, text) in enumerate(entry["blocks"]):
        if kind not in BLOCK_KINDS or not isinstance(text, str):
            raise ValueError(f"block {number} is {kind!r} with a text of type {type(text).__name__}")
        if kind == BlockKind.HEADING and not (isinstance(level, int) and 1 <= level <= MOST_LEVELS):
            raise ValueError(f"the level of heading {number} is {level!r}")
        if text.strip():
            blocks.append(DocumentBlock(BLOCK_KINDS[kind], level if kind == BlockKind.HEADING else 0, text))
    return BlockDocument(tuple(blocks), str(entry.get("id", "")), str(entry.get("lang", "")))


def blocks_of_layout(layout: DocumentLayout) -> BlockDocument:
    """The blocks of a document whose formatting says which lines are headings, as that of Markdown and HTML does."""
    return BlockDocument(tuple(_blocks(layout)), layout.name, layout.language)


def _blocks(layout: DocumentLayout) -> Iterator[DocumentBlock]:
    text = layout.text
    known = [run for run in layout.runs if run[2] in HEADINGS or run[2] == PARAGRAPH or run[2] in KINDS]
    place = 0
    for start, end, style in sorted(known, key=lambda run: (run[0], -run[1])):
        if start < place:
            continue
        if style in HEADINGS:
            start = text.rfind("\n", 0, start) + 1  # the number of a list that a heading is in
        yield from _lines(text, place, start)
        own = text[max(start, place) : end]
        if style in HEADINGS:
            yield DocumentBlock(BlockKind.HEADING, HEADINGS[style], " ".join(own.split()))
        elif style == PARAGRAPH:
            yield _running(" ".join(own.split()))
        else:
            yield DocumentBlock(BlockKind.CODE, 0, own.strip("\n"))
        place = end
    yield from _lines(text, place, len(text))


def _lines(text: str, start: int, end: int) -> Iterator[DocumentBlock]:
    return (_running(line.strip()) for line in text[start:end].split("\n") if line.strip())


def _running(line: str) -> DocumentBlock:
    after = find_mark(line, 0, len(line)) or find_numbering(line, 0, len(line), first=False)
    return (
        DocumentBlock(BlockKind.ITEM, 0, line[after:].strip())
        if after < len(line) and after
        else DocumentBlock(BlockKind.TEXT, 0, line)
    )


# -- looks ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rendering:
    """The look of a text.

    width (int): of lines, 0 for one line for each block. indent (int): of what is below headings. code (int): of code,
    beyond that. page (int): lines of a page, 0 for none. contents (bool): a table of contents stands in front.
    """

    numbering: Numbering = "kept"
    closing: str = ""  # behind a number
    look: Look = "bare"
    spacing: Spacing = "blank lines"
    width: int = 0
    indent: int = 0
    code: int = 0
    bullet: str = ""
    page: int = 0
    contents: bool = False


PLAIN, DENSE = Rendering(), Rendering(spacing="none")
RENDERINGS = {"plain": PLAIN, "dense": DENSE, "marked": Rendering(look="marked")}


def choose_rendering(random: Random) -> Rendering:
    """Draw a rendering; about half of them are `PLAIN` or `DENSE`."""
    if random.random() < 0.5:
        return random.choice((PLAIN, DENSE))
    wrapped, headed = random.random() < 0.3, random.random() < 0.25
    return Rendering(
        numbering=random.choice(("kept", "kept", "none", "none", "decimal", "worded", "outline")),
        closing=random.choice(("", ".", ".", ")")),
        look=random.choice(("bare", "bare", "bare", "bold", "capitals", "first capitals", "underlined", "colon")),
        spacing=random.choice(("blank lines", "blank lines", "none", "none", "before headings", "around headings")),
        width=random.choice((60, 72, 78, 100)) if wrapped else 0,
        indent=random.choice((0, 0, 0, 2, 4, 7)),
        code=random.choice((0, 0, 4)),
        bullet=random.choice(BULLETS),
        page=random.choice((40, 60)) if headed else 0,
        contents=random.random() < 0.15,
    )


def render(document: BlockDocument, rendering: Rendering) -> GoldDocument:
    """Make the text of a document, whose gold are labels of its units, and the tree of its headings."""
    writer = _Writer(document, rendering)
    writer.write()
    layout = writer.builder.build(document.name, document.language)
    starts = {start: end for start, end, _ in writer.headings}
    leaves = tuple(_leaves(layout.units, starts))
    sections = nest([(start, level) for start, _, level in writer.headings], layout.text)
    mark_headings(sections, layout.units, leaves)
    name_sections(sections, layout.text, layout.units)
    return GoldDocument(layout, leaves, tuple(sections))


def _leaves(units: Sequence[LayoutUnit], headings: dict[int, int]) -> Iterator[Element]:
    """Elements of headings: of each a first numbering candidate, if it has one, and titles."""
    end = -1
    for unit in units:
        is_first = unit.start in headings
        end = headings.get(unit.start, end)
        if unit.start < end and unit.kind is not Kind.NEWLINE:
            yield Element(unit.start, unit.end, NUMBER if is_first and unit.kind is Kind.NUMBER else TITLE)


class _Writer:
    """Writes a document in one look. headings (list): start, end and level of each."""

    def __init__(self, document: BlockDocument, rendering: Rendering) -> None:
        self.document, self.rendering = document, rendering
        self.blocks = number_headings(document, rendering.numbering, rendering.closing)
        self.depths = _depths(self.blocks)
        self.builder = LayoutBuilder()
        self.headings: list[tuple[int, int, int]] = []
        self.lines = self.pages = 0

    def write(self) -> None:
        for place, block in enumerate(self.blocks):
            if place == 0 and self.rendering.contents and block.kind is not BlockKind.HEADING:
                self._contents(0)
            if block.kind is BlockKind.HEADING:
                self._heading(block, self.depths[place])
                if place == 0 and self.rendering.contents:
                    self._contents(1)
            else:
                self._body(block)

    def _line(self, text: str, indent: int = 0) -> None:
        self.builder.write(" " * indent + text)
        self.builder.end_line()
        self.lines += 1
        if self.rendering.page and self.lines % self.rendering.page == 0:
            self.pages += 1
            word = PAGES.get(self.document.language, "Page")
            self.builder.write(f"\n{word} {self.pages}\n\n")

    def _blank(self) -> None:
        if self.builder.length:
            self.builder.blank_line()

    def _heading(self, block: DocumentBlock, depth: int) -> None:
        look, spacing = self.rendering.look, self.rendering.spacing
        text = " ".join(block.text.split())
        if spacing != "none":
            self._blank()
        if look == "capitals" or (look == "first capitals" and depth == 1):
            text = text.upper()
        if look == "colon" and text[-1].isalnum():
            text += ":"
        start = self.builder.length
        for line in self._wrap(text, 0):
            self._line(line)
        self.headings.append((start, self.builder.length, block.level))
        if look in ("bold", "marked"):
            self.builder.style(start, "bold" if look == "bold" else f"heading{block.level}")
        if look == "underlined":
            self._line(UNDERLINES[min(depth, len(UNDERLINES)) - 1] * min(len(text), 79))
        if spacing == "around headings":
            self._blank()

    def _body(self, block: DocumentBlock) -> None:
        own = self.rendering
        if own.spacing == "blank lines":
            self._blank()
        if block.kind is BlockKind.CODE:
            for line in block.text.split("\n"):
                self._line(line, own.indent + own.code)
            return
        bullet = own.bullet if block.kind is BlockKind.ITEM else ""
        for number, line in enumerate(self._wrap(bullet + " ".join(block.text.split()), own.indent)):
            self._line(line, own.indent + (len(bullet) if number else 0))

    def _contents(self, depth: int) -> None:
        """A table of contents, itself a section beside those that the title of the document holds."""
        word = CONTENTS.get(self.document.language, "Contents")
        levels = [block.level for block in self.blocks[depth:] if block.kind is BlockKind.HEADING]
        if not levels:
            return
        self._heading(DocumentBlock(BlockKind.HEADING, min(levels), word), depth + 1)
        for place, block in enumerate(self.blocks):
            if block.kind is BlockKind.HEADING and place >= depth:
                title = " ".join(block.text.split())
                dots = (
                    f" {'.' * max(3, 60 - len(title))} {place // 8 + 1}"
                    if len(title) % 2 or self.rendering.page
                    else ""
                )
                self._line(title + dots, 2 * (self.depths[place] - 1))

    def _wrap(self, text: str, indent: int) -> list[str]:
        width = self.rendering.width
        if not width:
            return [text]
        return textwrap.wrap(text, width - indent, break_long_words=False, break_on_hyphens=False)


def _depths(blocks: Sequence[DocumentBlock]) -> dict[int, int]:
    """How deep each heading stands, by its place, 1 for the outermost."""
    depths: dict[int, int] = {}
    opened: list[int] = []
    for place, block in enumerate(blocks):
        if block.kind is BlockKind.HEADING:
            while opened and opened[-1] >= block.level:
                opened.pop()
            opened.append(block.level)
            depths[place] = len(opened)
    return depths


# -- numbers -------------------------------------------------------------------------------------------------


def number_headings(document: BlockDocument, numbering: Numbering, closing: str) -> list[DocumentBlock]:
    """The blocks with other numbers at their headings, or none; the title of the whole document gets none."""
    blocks = list(document.blocks)
    if numbering == "kept":
        return blocks
    depths = _depths(blocks)
    first = 1 if list(depths.values()).count(1) > 1 or len(depths) == 1 else 2  # the depth that is numbered 1
    counts: list[int] = []
    titles = _without_numbers([blocks[place].text for place in depths])
    for (place, depth), text in zip(depths.items(), titles):
        if numbering != "none" and depth >= first:
            del counts[depth - first + 1 :]
            counts += [0] * (depth - first + 1 - len(counts))
            counts[-1] += 1
            text = f"{_number(counts, numbering, closing, document.language)} {text}"
        blocks[place] = replace(blocks[place], text=text)
    return blocks


def _number(counts: Sequence[int], numbering: Numbering, closing: str, language: str) -> str:
    if numbering == "outline":
        kind = OUTLINE[min(len(counts), len(OUTLINE)) - 1]
        return (numeral(kind, counts[-1]) or str(counts[-1])) + (closing or ".")
    if numbering == "worded" and len(counts) == 1:
        return f"{CHAPTERS.get(language, 'Chapter')} {counts[0]}{closing}"
    return ".".join(map(str, counts)) + closing


def _without_numbers(headings: Sequence[str]) -> list[str]:
    """The headings of a document without the numbers that they begin with, if there is more of them."""
    lines = [" ".join(text.split()) for text in headings]
    ends = {unit.start: unit.end for unit in segment("\n".join(lines)) if unit.kind is Kind.NUMBER}
    titles, start = [], 0
    for line in lines:
        rest = line[ends.get(start, start) - start :].strip()
        titles.append(rest if rest and rest[0].isalnum() else line)
        start += len(line) + 1
    return titles
