"""Documents whose headings are known from how their files are written: blocks of Markdown, HTML, DOCX or JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..core.sections.headings import MOST_LEVELS
from .layout import DocumentLayout
from .segment import HEADINGS, KINDS, PARAGRAPH
from .starts import find_mark, find_numbering


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
