"""Markdown: read by markdown-it-py; written with a heading for each section that has a title."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.errors import CRFError
from ..errors import SectionErrors
from ..layout import DocumentLayout, LayoutBuilder
from ..segment import PARAGRAPH, Kind
from ..tree import SectionTree
from . import BULLET, DEEPEST, INDENT, SHIFTS, STYLE_TAGS, read_text
from .outline import Begin, End, TreeWriter

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

LONGEST = 30_000  # characters of a paragraph whose emphasis is looked for: the time can grow with their square
MOST_NESTED = 150  # deeper blocks would be lost
# tokens right behind the beginning of an item that has no text of its own
WITHOUT_TEXT = frozenset({"bullet_list_open", "ordered_list_open", "list_item_close"})
FIRST = {"ul": None, "ol": 1}  # number of a list that does not say it
SPANS = {"strong": "bold", "em": "italic"}
COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
SHIFT = re.compile(r"<(/?su[bp])\b[^<>]*>", re.IGNORECASE)
YAML = r"[\w-]+[ \t]*:(?:[ \t].*)?|[ \t]+\S.*|-[ \t].*|[\]}]|[ \t]*"  # a line of it, where it has blank lines
FRONT_MATTER = re.compile(
    rf"\A---[ \t]*\n(?=[\w-]+[ \t]*:)(?:(?:(?!---|\.\.\.|\s*\n).*\n)*|(?:(?:{YAML})\n)*)(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
)
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s{}"'=]+)"""
ATTRIBUTES = re.compile(  # of a heading, as pandoc, Quarto, Hugo and kramdown have them: {#scope .wide lang=en}, {-}
    rf"\{{:?(?:[ \t]*(?:-|[#.][^\W\d][\w:.-]*|[\w:-]+={_VALUE})(?=[ \t}}]))+[ \t]*\}}"
)
VERBATIM = frozenset({"fence", "code_block", "html_block"})
MARKERS = {"bold": "**", "italic": "*"}
MOST_LEVELS = 6  # of headings, that Markdown has
BULLETS = frozenset("-–—*+•‣⁃·●○◦▪▫■□►▶➢")
SPECIAL = re.compile(r"([\\`*_\[\]<>&|#])")
BLANK_LINES = re.compile(r"\n\s*\n\s*")  # with the indentation behind them, which would make code of a text
AT_START = re.compile(r"^([^\S\n]*)([-+=~]|\d+(?=[.)](?:\s|$)))(.?)", re.MULTILINE)


def read_markdown(path: Path) -> DocumentLayout:
    """Read Markdown (CommonMark and tables). The text is without mark-up; numbers and bullets of lists are in it.

    Headings and emphasis are formatting; a paragraph, which may have line ends, is one element; code, tables and HTML
    are units of their own. Attributes behind a heading (`{#scope .wide}`, `{-}`) are left out. A blank line before a
    block is one in the text. Items of a list count from its first number, whatever the others are, as programs show
    them. YAML before the text is left out; footnotes stay where they are.

    RAISES (ValueError): for binary files, other encodings, and blocks within blocks beyond reason.
    """
    from markdown_it import MarkdownIt

    text = FRONT_MATTER.sub(lambda found: "\n" * found[0].count("\n"), read_text(path))
    parser = MarkdownIt("commonmark", {"maxNesting": MOST_NESTED}).enable("table").disable("inline")
    parser.block.ruler.at("reference", _link_definition, {"alt": []})
    references: dict[str, Any] = {}
    tokens = parser.parse(text, references)
    deepest = max(tokens, key=lambda token: token.level, default=None)
    if deepest is not None and deepest.level >= MOST_NESTED - 1:
        line = deepest.map[0] + 1 if deepest.map else 1
        raise CRFError(SectionErrors.CRF955.format(path=path, line=line, most=MOST_NESTED))
    reader = _MarkdownReader(text.split("\n"))
    for before, token in zip([None, *tokens], tokens):
        if before is not None and before.type == "heading_open":
            token.content = token.content[: _end_of_title(token.content)]
        if token.type == "inline" and len(token.content) <= LONGEST:
            token.children = []
            parser.inline.parse(token.content, parser, references, token.children)
        reader.block(token)
    return reader.builder.build(path.stem)


def _end_of_title(heading: str) -> int:
    """Where the title of a heading ends: before its attributes, or at the end."""
    start = heading.rfind("{")
    has_attributes = start > 0 and heading[start - 1] != "\\" and ATTRIBUTES.fullmatch(heading.rstrip(), start)
    return len(heading[:start].rstrip()) if has_attributes else len(heading)


def _link_definition(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """Read the definition of a link, which that of a footnote is not: it would be taken out of the text."""
    from markdown_it.rules_block import reference

    start = state.bMarks[first] + state.tShift[first]
    return not state.src.startswith("[^", start) and reference(state, first, last, silent)


class _MarkdownReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.builder = LayoutBuilder()
        self.starts: list[int] = []  # of open headings, paragraphs and tables
        self.lists: list[int | None] = []  # that are open: the number of the next item, None for bullets
        self.marker = ""  # of the list item that begins
        self.is_broken = False  # the block that is open has line ends

    def block(self, token: "Token") -> None:
        if self.marker and token.type in WITHOUT_TEXT:
            self._begin(token)
            self._end("")
        if token.type in ("bullet_list_open", "ordered_list_open"):
            start = token.attrGet("start")
            self.lists.append(FIRST[token.tag] if start is None else int(start))
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            self.lists.pop()
        elif token.type == "list_item_open":
            self.marker = self._next_marker(token.markup)
        elif token.type in VERBATIM:
            self._verbatim(token)
        elif token.type in ("heading_open", "paragraph_open", "table_open"):
            self._begin(token)
        elif token.type in ("heading_close", "paragraph_close", "table_close"):
            paragraph = PARAGRAPH if self.is_broken else ""
            self._end({"p": paragraph, "table": Kind.OTHER.value}.get(token.tag, f"heading{token.tag[1:]}"))
        elif token.type == "tr_open":
            self.builder.end_line()
        elif token.type in ("th_close", "td_close"):
            self.builder.write("\t")
        elif token.type == "inline":
            self._inline(token)

    def _next_marker(self, sign: str) -> str:
        """The bullet of an item, or its number: lists count from their first number, whatever the others are."""
        number = self.lists[-1]
        if number is None:
            return BULLET
        self.lists[-1] = number + 1
        return f"{number}{sign} "

    def _verbatim(self, token: "Token") -> None:
        text = COMMENT.sub("", token.content) if token.type == "html_block" else token.content
        if text.strip():
            self._begin(token)
            self.builder.write(text)
            self._end(Kind.OTHER.value)

    def _begin(self, token: "Token") -> None:
        builder, first = self.builder, token.map[0] if token.map else 0
        builder.end_line()
        if builder.length and first and not self.lines[first - 1].strip(" \t>"):
            builder.write("\n")
        builder.write(INDENT * min(len(self.lists) - 1, DEEPEST))
        self.starts.append(builder.length)
        self.is_broken = False
        builder.write(self.marker)
        self.marker = ""

    def _end(self, style: str) -> None:
        start = self.starts.pop()
        if style:
            self.builder.style(start, style)
        self.builder.end_line()

    def _inline(self, block: "Token") -> None:
        builder = self.builder
        opened: list[int] = []
        if not block.children:
            builder.write(block.content)
        self.is_broken = "\n" in block.content or any(map(_breaks_line, block.children or ()))
        for token in block.children or ():
            if _breaks_line(token):
                builder.write("\n")
            elif token.type == "html_inline":
                found = SHIFT.fullmatch(token.content)
                builder.shift = builder.shift if found is None else SHIFTS.get(found[1].lower(), 0)
            elif token.type in ("strong_open", "em_open"):
                opened.append(builder.length)
            elif token.type in ("strong_close", "em_close"):
                builder.style(opened.pop(), SPANS[token.type.removesuffix("_close")])
            elif token.type in ("text", "code_inline", "image", "text_special"):
                builder.write(token.content)
        builder.shift = 0


def _breaks_line(token: "Token") -> bool:
    is_tag = token.type == "html_inline" and BREAK.fullmatch(token.content) is not None
    return is_tag or token.type in ("softbreak", "hardbreak")


def write_markdown(layout: DocumentLayout, tree: SectionTree) -> str:
    """A document as Markdown: headings by level, the sixth for deeper ones; a numbered text is a paragraph.

    Each line is a paragraph or an item of a list; implied sections are not shown, but count as levels.
    """
    return "\n\n".join(_MarkdownWriter(layout, tree, MARKERS.keys()).write()) + "\n"


class _MarkdownWriter(TreeWriter):
    def write(self) -> Iterator[str]:
        for event in self.blocks():
            if isinstance(event, Begin):
                if self.has_heading(event.node):
                    yield f"{'#' * min(event.depth, MOST_LEVELS)} {_escape_title(self.heading(event.node))}"
            elif not isinstance(event, End):
                yield self._paragraph(event)

    def _paragraph(self, places: list[int]) -> str:
        is_item = self.is_item(places) and self.layout.text[self.bounds(places)[0]] in BULLETS
        bounds = self.bounds(places[is_item:])
        text = "".join(self._piece(*piece, *bounds) for piece in self.formatting.pieces(*bounds))
        text = AT_START.sub(_escape_start, BLANK_LINES.sub("\n\n", text))
        return f"{'- ' * is_item}{text}"

    def _piece(self, start: int, end: int, styles: tuple[str, ...], low: int, high: int) -> str:
        """A stretch of the text from `low` to `high` with its styles."""
        whole, text = self.layout.text, self.layout.text[start:end]
        inner = text.strip()
        if not styles or not inner or "\n\n" in inner:
            return _escape(text)
        before, _, behind = text.partition(inner)
        beside = whole[low : start + len(before)][-1:], whole[end - len(behind) : high][:1]
        opening, closing = _marks(styles, inner, beside)
        return f"{before}{opening}{_escape(inner)}{closing}{behind}"


def _marks(styles: tuple[str, ...], inner: str, beside: tuple[str, str]) -> tuple[str, str]:
    """What begins and ends emphasis. Stars between a mark and a letter would be shown as they are: there it is tags.

    beside (tuple[str, str]): The characters before and behind the text, "" for none.
    """
    if all(edge.isalnum() or not other.strip() for edge, other in zip((inner[0], inner[-1]), beside)):
        stars = "".join(MARKERS[style] for style in styles)
        return stars, stars
    names = [STYLE_TAGS[style] for style in styles]
    return "".join(f"<{name}>" for name in names), "".join(f"</{name}>" for name in reversed(names))


def _escape(text: str) -> str:
    """Text that Markdown shows as it is, but at the start of lines, where more signs count."""
    return SPECIAL.sub(r"\\\1", text)


def _escape_title(title: str) -> str:
    """As `_escape`, for a heading, whose last brackets would be read as attributes."""
    text = _escape(title)
    if _end_of_title(text) < len(text):
        before, bracket, behind = text.rpartition("{")
        return f"{before}\\{bracket}{behind}"
    return text


def _escape_start(match: "re.Match[str]") -> str:
    sign, following = match[2], match[3]
    return f"{match[1]}{sign}\\{following}" if sign.isdigit() else f"{match[1]}\\{sign}{following}"
