"""WebAnno TSV 3, a format of INCEpTION: predicted tag sets go out to annotators, and come back as gold.

The user guide of INCEpTION describes it in "WebAnno TSV 3.3 File format" (https://inception-project.github.io). Values
escape the characters that separate them, the text of a sentence only control characters, and the word of a row nothing.
Offsets count the 16-bit units of UTF-16.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from spacy.tokens import Doc

from ..annotation.extensions import read_values
from ..core.errors import CRFError
from ..reading.files import read_blocks, read_lines
from ..reading.numbers import whole_number
from .errors import CorpusErrors
from .sentence import Sentence
from .tagsets import check_word, find_segments, format_tags, make_sentence, parse_tags

MARK = "#FORMAT=WebAnno TSV 3."
FORMAT = f"{MARK}3"
SPAN_LAYER, LAYER, TEXT = "#T_SP=", "#T_", "#Text="
NO_ANNOTATION, NO_VALUE = "_", "*"
FIXED = 3  # the columns before those of the layers: number, offsets, word
UNIT, UNIT_BYTES = "utf-16-le", 2

_ROW = re.compile(r"[0-9]+-[0-9]+(\.[0-9]+)?\t([0-9]+)-([0-9]+)\t")
_RESERVED = re.compile(r"->|[\\\[\]|_;\t\n*]")
_ESCAPED = re.compile(r"\\(->|[\\\[\]|_;tn*])")
# Control characters without a letter of their own are written behind a backslash as they are.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\t\n\f\r\\]")
_ESCAPED_CONTROL = re.compile(r"\\([\x00-\x07\x0e-\x1ftnfrb\\])")
_LETTERS = {"\t": "t", "\n": "n", "\f": "f", "\r": "r", "\b": "b"}
_CHARACTERS = {letter: character for character, letter in _LETTERS.items()}
_STACKED_VALUE = re.compile(r"(?:\\.|[^\\|]|\\$)+")
# Of annotations that are told apart: A[1]|B[2] on one token, A[3] on several.
_NUMBERED_VALUE = re.compile(r"((?:\\.|[^\\])*?)\[[0-9]+\]")


@dataclass(frozen=True)
class WebannoLayer:
    """A span layer with one annotation for each token, which the project in INCEpTION must have, and its features.

    tag: The best one or several in the notation of `tagsets`, which the annotators correct. tags: The set of tags that
    is predicted, A|B. probabilities: Of the tags of the set, or of the best tag if there is no set: A:0.62|B:0.31.
    """

    name: str = "webanno.custom.TagSet"
    tag: str = "tag"
    tags: str = "tags"
    probabilities: str = "probabilities"


DEFAULT_LAYER = WebannoLayer()


def write_webanno(
    doc: Doc, *, tag_set: str, tag_probs: str, target: str = "tag", layer: WebannoLayer = DEFAULT_LAYER
) -> Iterator[str]:
    """Write a document with its predicted tag sets: one annotation for each token that has a tag.

    Tokens of white space are left out. What a custom attribute does not hold is written as no value. The project in
    INCEpTION must have the layer before it can import the file.

    tag_set (str), tag_probs (str): The custom token attributes with the predicted set, a list, and with probabilities,
        a dict that may hold all tags. target (str): Of the best tag, "tag" or "pos".
    """
    yield FORMAT
    yield SPAN_LAYER + "|".join((layer.name, layer.tag, layer.tags, layer.probabilities))
    yield ""
    text, offset, done = doc.text, 0, 0
    sets, probabilities = read_values(doc, tag_set), read_values(doc, tag_probs)
    for number, segment in enumerate(find_segments(doc), 1):
        words = [token for token in segment if not token.is_space]
        yield ""
        covered = text[words[0].idx : words[-1].idx + len(words[-1])]
        yield from (TEXT + _escape(line, _CONTROL) for line in covered.split("\n"))
        for i, token in enumerate(words, 1):
            start = offset + _count_units(text[done : token.idx])
            offset, done = start + _count_units(token.text), token.idx + len(token)
            best = token.tag_ if target == "tag" else token.pos_
            cells = _make_cells(best, sets[token.i] or (), probabilities[token.i] or {})
            # INCEpTION ends each row with a tab.
            yield "\t".join((f"{number}-{i}", f"{start}-{offset}", check_word(doc, token.i), *cells, ""))


def _make_cells(best: str, tags: Sequence[str], probabilities: Mapping[str, float]) -> list[str]:
    if not best:
        return [NO_ANNOTATION] * 3
    values = (
        format_tags({best: 1.0}),
        format_tags({tag: 1 / len(tags) for tag in tags}) if tags else "",
        "|".join(f"{tag}:{probabilities[tag]:.4f}" for tag in tags or [best] if tag in probabilities),
    )
    return [escape_value(value) or NO_VALUE for value in values]


class _Row(NamedTuple):
    """One token: its word, the offsets, the cell of the feature that is read, and the line."""

    word: str
    start: int
    end: int
    cell: str
    line: int


def is_webanno(path: Path) -> bool:
    """Whether the first line of a file says that it is WebAnno TSV 3."""
    return next(read_lines(path), "").startswith(MARK)


def read_webanno(path: Path, *, layer: WebannoLayer = DEFAULT_LAYER) -> Iterator[Sentence]:
    """Yield the sentences of a file, with the best tags of a layer as gold; the file is one document.

    The feature holds one tag, or several in the notation of `tagsets`. Several annotations of one token count as A|B,
    an annotation of several tokens for each of them. A token without annotation or value has no gold. Other layers, and
    annotations of parts of tokens, are not looked at. Words and spaces are found in the text by the offsets.

    RAISES (ValueError): With the line, also where the text has another word at the offsets than the row.
    """
    blocks = read_blocks(path)
    _, header = next(blocks, (1, [""]))
    if not header[0].startswith(MARK):
        raise CRFError(CorpusErrors.CRF538.format(path=path))
    column, width = _find_column(path, header, layer)
    sentences = [rows for first, lines in blocks if (rows := _read_rows(path, first, lines, column, width))]
    for number, (rows, following) in enumerate(zip(sentences, [*sentences[1:], []])):
        words = [row.word for row in rows]
        tags = [parse_tags("|".join(split_values(row.cell)), f"{path}, line {row.line}, {row.word!r}") for row in rows]
        starts = [row.start for row in (*rows[1:], *following[:1])]
        spaces = [start > row.end for row, start in zip(rows, starts)] + [True] * (len(rows) - len(starts))
        yield make_sentence(words, tags, spaces, number == 0)


def _find_column(path: Path, header: Sequence[str], layer: WebannoLayer) -> tuple[int, int]:
    """The number of the column to read, and how many there are."""
    column, width, known = None, FIXED, []
    for line in header:
        if line.startswith(LAYER):
            found, *features = [part for part in line.partition("=")[2].split("|") if part] or [""]
            if line.startswith(SPAN_LAYER):
                known.append("|".join((found, *features)))
                if found == layer.name and layer.tag in features:
                    column = width + features.index(layer.tag)
            # A layer without features has a column as well.
            width += max(1, len(features))
    if column is None:
        layers = ", ".join(known) or "none"
        raise CRFError(CorpusErrors.CRF539.format(path=path, layer=layer.name, feature=layer.tag, known=layers))
    return column, width


def _read_rows(path: Path, first: int, lines: Sequence[str], column: int, width: int) -> list[_Row]:
    text = "\n".join(_unescape(line[len(TEXT) :], _ESCAPED_CONTROL) for line in lines if line.startswith(TEXT))
    units = text.encode(UNIT, "surrogatepass")
    rows: list[_Row] = []
    base: int | None = None
    for number, line in enumerate(lines, first):
        if line.startswith("#"):
            continue
        match, cells = _ROW.match(line), line.removesuffix("\t").split("\t")
        if not match:
            _raise_bad_row(path, number, "this is not the row of a token")
        if len(cells) != width:
            _raise_bad_row(path, number, f"found {len(cells)} columns instead of {width}")
        if match[1]:
            continue
        start, end = whole_number(match[2]), whole_number(match[3])
        if start is None or end is None:
            _raise_bad_row(path, number, "an offset has more than 18 digits")
        if base is None:
            base = start - _count_units(text[: _find_first(text, cells[2])])
        word = _cut_units(units, start - base, end - base)
        if not word or (rows and start < rows[-1].end):
            _raise_bad_row(path, number, f"the offsets {start}-{end} are not in the text, or not in order")
        if word != cells[2]:
            _raise_bad_row(path, number, f"the text has {word!r} at {start}-{end}, the row has the word {cells[2]!r}")
        rows.append(_Row(word, start, end, cells[column], number))
    return rows


def _find_first(text: str, word: str) -> int:
    """Where the first token begins: behind the white space that a sentence may begin with, unless it is that itself."""
    return 0 if text.startswith(word) else len(text) - len(text.lstrip())


def _raise_bad_row(path: Path, line: int, problem: str) -> NoReturn:
    raise CRFError(CorpusErrors.CRF540.format(path=path, line=line, problem=problem))


def escape_value(value: str) -> str:
    """The value of a feature as it is in a column: reserved characters have a backslash before them."""
    return _escape(value, _RESERVED)


def split_values(cell: str) -> list[str]:
    """The values of all annotations of one token in a column, unescaped; none where there is no value."""
    parts = _STACKED_VALUE.findall(cell)
    values = (numbered[1] if (numbered := _NUMBERED_VALUE.fullmatch(part)) else part for part in parts)
    return [_unescape(value, _ESCAPED) for value in values if value not in ("", NO_VALUE, NO_ANNOTATION)]


def _escape(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: "\\" + _LETTERS.get(match[0], match[0]), text)


def _unescape(text: str, pattern: re.Pattern[str]) -> str:
    """The text that was escaped; a backslash before any other character stays."""
    return pattern.sub(lambda match: _CHARACTERS.get(match[1], match[1]), text)


def _count_units(text: str) -> int:
    return len(text.encode(UNIT, "surrogatepass")) // UNIT_BYTES


def _cut_units(units: bytes, start: int, end: int) -> str:
    """A part of a text in UTF-16 by its offsets; "" if it is not inside of the text, or cuts a character in two."""
    is_inside = start >= 0 and end * UNIT_BYTES <= len(units)
    try:
        return units[UNIT_BYTES * start : UNIT_BYTES * end].decode(UNIT) if is_inside else ""
    except UnicodeDecodeError:
        return ""
