"""WebAnno TSV 3, a format of INCEpTION: predicted tag sets go out to annotators, and come back as gold.

The user guide of INCEpTION describes it in "WebAnno TSV 3.3 File format" (https://inception-project.github.io). Values
escape the characters that separate them, the text of a sentence only control characters, and the word of a row nothing.
Offsets count the 16-bit units of UTF-16.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple, NoReturn

from ..annotation.gold import TagWeights
from ..core.errors import CRFError
from ..reading.files import read_blocks, read_lines
from ..reading.records import whole_number
from .errors import CorpusErrors
from .exchange import ExchangeDocument, ExchangeToken, as_weights, check_line, read_mark, spaces_behind
from .sentence import Sentence
from .tagsets import YES, format_tags, make_sentence, parse_tags

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
    checked: A feature of type boolean, which the annotators set for what they have seen; without it, all is gold.
    """

    name: str = "webanno.custom.TagSet"
    tag: str = "tag"
    tags: str = "tags"
    probabilities: str = "probabilities"
    checked: str = "checked"

    @property
    def features(self) -> tuple[str, ...]:
        return self.tag, self.tags, self.probabilities, self.checked


DEFAULT_LAYER = WebannoLayer()


def write_webanno(documents: Sequence[ExchangeDocument], layer: WebannoLayer = DEFAULT_LAYER) -> bytes:
    """Write one document with its predicted tag sets: one annotation for each token that has a tag.

    What is not known is written as no value. The project in INCEpTION must have the layer before it can import the
    file.
    """
    return "".join(f"{line}\n" for document in documents for line in _write_lines(document, layer)).encode()


def _write_lines(document: ExchangeDocument, layer: WebannoLayer) -> Iterator[str]:
    yield FORMAT
    yield SPAN_LAYER + "|".join((layer.name, *layer.features))
    yield ""
    text, offset, done = document.text, 0, 0
    for number, sentence in enumerate(document.sentences, 1):
        yield ""
        covered = text[sentence[0].start : sentence[-1].end]
        yield from (TEXT + _escape(line, _CONTROL) for line in covered.split("\n"))
        for i, token in enumerate(sentence, 1):
            start = offset + _count_units(text[done : token.start])
            offset, done = start + _count_units(token.word), token.end
            word = check_line(token.word, token.start, document.name)
            cells = [escape_value(value) or NO_VALUE for value in list_features(token)] or [NO_ANNOTATION] * 4
            # INCEpTION ends each row with a tab.
            yield "\t".join((f"{number}-{i}", f"{start}-{offset}", word, *cells, ""))


def list_features(token: ExchangeToken) -> list[str]:
    """The values of the features of a token in the order of the layer, "" for none; nothing for a token without tag."""
    if not token.tag and not token.is_checked:
        return []
    best = token.gold if token.gold is not None else {token.tag: 1.0}
    known = as_weights(token.predicted) if any(token.predicted.values()) else {}
    return [
        format_tags(best) if best else "",
        format_tags({tag: 1 / len(token.predicted) for tag in token.predicted}) if token.predicted else "",
        "|".join(f"{tag}:{probability:.4f}" for tag, probability in known.items()),
        "true" if token.is_checked else "false",
    ]


def read_features(tag: str, probabilities: str, checked: str | None, where: str) -> tuple[TagWeights, bool]:
    """The tags of a token, and whether it is checked: of others what was predicted, if probabilities tell.

    checked (str | None): None where there is no such feature, so that all is gold.
    """
    is_checked = checked is None or read_mark(checked, where)
    predicted = {} if is_checked else parse_tags(probabilities, where)
    return predicted or parse_tags(tag, where), is_checked


class _Row(NamedTuple):
    """One token: its word, the offsets, the cells of all features, and the line."""

    word: str
    start: int
    end: int
    cells: list[str]
    line: int


def is_webanno(path: Path) -> bool:
    """Whether the first line of a file says that it is WebAnno TSV 3."""
    return next(read_lines(path), "").startswith(MARK)


def read_webanno(path: Path, *, layer: WebannoLayer = DEFAULT_LAYER) -> Iterator[Sentence]:
    """Yield the sentences of a file, with the best tags of a layer as gold; the file is one document.

    The feature holds one tag, or several in the notation of `tagsets`. Several annotations of one token count as A|B,
    or where some are checked, these alone; an annotation of several tokens counts for each of them. A token without
    annotation or value has no gold. Other layers, and annotations of parts of tokens, are not looked at. Words and
    spaces are found in the text by the offsets.

    RAISES (ValueError): With the line, also where the text has another word at the offsets than the row.
    """
    blocks = read_blocks(path)
    _, header = next(blocks, (1, [""]))
    if not header[0].startswith(MARK):
        raise CRFError(CorpusErrors.CRF538.format(path=path))
    columns, width = _find_columns(path, header, layer)
    sentences = [rows for first, lines in blocks if (rows := _read_rows(path, first, lines, width))]
    for number, (rows, following) in enumerate(zip(sentences, [*sentences[1:], []])):
        words = [row.word for row in rows]
        tags, checked = zip(*(_read_row(row, columns, layer, path) for row in rows))
        spaces = spaces_behind(rows, following)
        yield make_sentence(words, list(tags), spaces, number == 0, checked if layer.checked in columns else None)


def _read_row(row: _Row, columns: Mapping[str, int], layer: WebannoLayer, path: Path) -> tuple[TagWeights, bool]:
    """The tags of a token; of several annotations, those that are checked count, or all if none is."""
    where = f"{path}, line {row.line}, {row.word!r}"
    values = zip_longest(*(split_cell(row.cells[column]) for column in columns.values()), fillvalue="")
    every = [dict(zip(columns, own)) for own in values]
    seen = [own for own in every if layer.checked in own and read_mark(own[layer.checked], where)]
    tags, probabilities = (
        [value for own in seen or every if (value := own.get(name))] for name in (layer.tag, layer.probabilities)
    )
    mark = None if layer.checked not in columns else YES if seen else ""
    return read_features("|".join(tags), probabilities[0] if probabilities else "", mark, where)


def _find_columns(path: Path, header: Sequence[str], layer: WebannoLayer) -> tuple[dict[str, int], int]:
    """The numbers of the columns of a layer by feature, and how many columns there are."""
    columns: dict[str, int] = {}
    width, known = FIXED, []
    for line in header:
        if line.startswith(LAYER):
            found, *features = [part for part in line.partition("=")[2].split("|") if part] or [""]
            if line.startswith(SPAN_LAYER):
                known.append("|".join((found, *features)))
                if found == layer.name and layer.tag in features:
                    columns = {name: width + features.index(name) for name in layer.features if name in features}
            # A layer without features has a column as well.
            width += max(1, len(features))
    if not columns:
        layers = ", ".join(known) or "none"
        raise CRFError(CorpusErrors.CRF539.format(path=path, layer=layer.name, feature=layer.tag, known=layers))
    return columns, width


def _read_rows(path: Path, first: int, lines: Sequence[str], width: int) -> list[_Row]:
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
        rows.append(_Row(word, start, end, cells, number))
    return rows


def _find_first(text: str, word: str) -> int:
    """Where the first token begins: behind the white space that a sentence may begin with, unless it is that itself."""
    return 0 if text.startswith(word) else len(text) - len(text.lstrip())


def _raise_bad_row(path: Path, line: int, problem: str) -> NoReturn:
    raise CRFError(CorpusErrors.CRF540.format(path=path, line=line, problem=problem))


def escape_value(value: str) -> str:
    """The value of a feature as it is in a column: reserved characters have a backslash before them."""
    return _escape(value, _RESERVED)


def split_cell(cell: str) -> list[str]:
    """The values of all annotations of one token in a column, unescaped; "" for each without a value."""
    parts = _STACKED_VALUE.findall(cell)
    values = (numbered[1] if (numbered := _NUMBERED_VALUE.fullmatch(part)) else part for part in parts)
    return ["" if value in (NO_VALUE, NO_ANNOTATION) else _unescape(value, _ESCAPED) for value in values]


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
