"""The formats of CoNLL: column files, one token per line and one annotation per column, and CoNLL-U.

CoNLL-U has ten tab-separated columns, see https://universaldependencies.org/format.html.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ..core.errors import CRFError
from ..reading.files import read_blocks, read_chunks, read_lines
from ..reading.numbers import whole_number
from .errors import CorpusErrors
from .schemes import SpanScheme, is_unsettled
from .sentence import SKIPPED, WORD, RowChecker, Sentence, find_spaces, is_spans

UNKNOWN = "_"
DOCUMENT_MARK = "-DOCSTART-"
# The layouts of each format. "columns" has those that only one kind of file is known to have: three columns
# may be CoNLL-2000 or CoNLL-2002.
LAYOUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "columns": (("word", "ner"), ("word", "tag", "chunk", "ner")),
    "conll2000": (("word", "tag", "chunk"),),
    "conll2002": (("word", "tag", "ner"), ("word", "ner")),
    "conll2003": (("word", "tag", "chunk", "ner"),),
}
# Only blanks and tabs separate columns; str.split() would also split at a no-break space inside a word.
NOT_BLANK = re.compile(r"[^ \t]+")


def read_columns(
    path: Path, *, format: str = "columns", columns: Sequence[str] | None = None, separator: str | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a column file, whose columns `columns` or else the format names; see `Corpus`.

    Lines that begin with -DOCSTART- begin a document.
    """
    split: Callable[[str], list[str]] | None = None
    checker = RowChecker(path)
    schemes: dict[str, SpanScheme] = {}
    for first, lines, starts_document in _read_marked_blocks(path):
        if split is None:
            split = _make_splitter(lines[0], separator)
            columns = columns or _pick_layout(path, first, len(split(lines[0])), format)
        rows = [split(line) for line in lines]
        sentence = _parse_rows(first, rows, columns or (), starts_document, checker)
        for kind, values in sentence.columns.items():
            if is_spans(kind) and is_unsettled(values):
                if kind not in schemes:
                    schemes[kind] = SpanScheme.of(
                        path, kind, _read_column(path, split, list(columns or ()).index(kind))
                    )
                sentence.columns[kind] = schemes[kind].rewrite(values)
        yield sentence


def _read_column(path: Path, split: Callable[[str], list[str]], place: int) -> Iterator[list[str]]:
    """Yield the values that a column has in each sentence of a file; rows that are too short are left out."""
    for _, lines, _ in _read_marked_blocks(path):
        rows = map(split, lines)
        yield ["" if row[place] == UNKNOWN else row[place] for row in rows if len(row) > place]


def _read_marked_blocks(path: Path) -> Iterator[tuple[int, list[str], bool]]:
    """Yield each sentence's first line number, its lines, and whether a document mark precedes it."""
    marked = False
    for first, lines in read_blocks(path):
        for is_mark, run in groupby(enumerate(lines, first), lambda line: line[1].startswith(DOCUMENT_MARK)):
            if not is_mark:
                numbers, own = zip(*run)
                yield numbers[0], list(own), marked
            marked = is_mark


def _make_splitter(line: str, separator: str | None) -> Callable[[str], list[str]]:
    own = separator or ("\t" if "\t" in line else None)
    return NOT_BLANK.findall if own is None else lambda row: row.rstrip(" ").split(own)


def _pick_layout(path: Path, line: int, width: int, format: str) -> Sequence[str]:
    if own := [layout for layout in LAYOUTS[format] if len(layout) == width]:
        return own[0]
    known = " or ".join("(" + ", ".join(layout) + ")" for layout in LAYOUTS[format])
    raise CRFError(CorpusErrors.CRF506.format(path=path, line=line, width=width, format=format, known=known))


def _parse_rows(
    first: int, rows: list[list[str]], names: Sequence[str], starts_document: bool, checker: RowChecker
) -> Sentence:
    lines = range(first, first + len(rows))
    for line, row in zip(lines, rows):
        checker.check_width(line, row, names)
    sentence = Sentence([], starts_document=starts_document)
    for name, values in zip(names, zip(*rows)):
        if name == WORD:
            sentence.words = list(values)
        elif name != SKIPPED:
            known = ["" if value == UNKNOWN else value for value in values]
            checker.check(name, known, lines)
            sentence.columns[name] = known
    checker.check_words(sentence.words, lines)
    return sentence


# -- CoNLL-U ---------------------------------------------------------------------------------------------------

WIDTH = 10
ID = re.compile(r"[0-9]+([-.][0-9]+)?")
RANGE_ID = re.compile(r"([0-9]+)-([0-9]+)")
EMPTY_NODE_ID = re.compile(r"[0-9]+\.[0-9]+")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
TEXT = re.compile(r"#\s*text\s*=(.*)")
ENTITY_NAMES = (b"name", b"NE", b"NER")
ENTITY = re.compile(rb"(?:^|\|)(?:%s)=(O|[BIMLEUSW]-[^|]+)" % b"|".join(ENTITY_NAMES))
# The ids of a sentence without multiword tokens and empty nodes; longer ones are read all the same.
WORD_IDS = [str(id) for id in range(1, 500)]
NO_SPACE = "SpaceAfter=No"


class _Surface(NamedTuple):
    """A multiword token: the words `start` to `end` (exclusive, counted from 0) are written as one."""

    start: int
    end: int
    form: str
    misc: str
    line: int


@dataclass(slots=True)
class _Block:
    """The lines of one sentence, sorted by what they are: words and their lines, multiword tokens, and comments."""

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    surfaces: list[_Surface] = field(default_factory=list)
    text: str = ""
    has_document_mark: bool = False


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file: its words, without multiword tokens and empty nodes.

    Entities are read from MISC (name=B-X, NE=B-X or NER=B-X). If one word of the file has one, words without are
    outside of entities; otherwise nothing is known about entities. "_" is unknown for LEMMA, UPOS, XPOS and FEATS.
    "# newdoc" begins a document.
    """
    with_entities = _has_entities(path)
    checker = RowChecker(path)
    has_document_mark = False
    for first, lines in read_blocks(path):
        block = _sort_lines(path, first, lines)
        has_document_mark = has_document_mark or block.has_document_mark
        if block.rows:
            yield _make_sentence(block, with_entities, has_document_mark, checker)
            has_document_mark = False


def is_conllu(path: Path) -> bool:
    """Whether the first token line of a file has ten columns, and an id in the first one."""
    line = next((line for line in read_lines(path) if line.strip() and not line.startswith("#")), "")
    fields = line.split("\t")
    return len(fields) == WIDTH and ID.fullmatch(fields[0]) is not None


def _has_entities(path: Path) -> bool:
    """Whether any word has an entity; only pieces of the file that may have one are looked at line by line."""
    return any(
        ENTITY.search(line.rpartition(b"\t")[2].rstrip())
        for chunk in read_chunks(path)
        if any(name + b"=" in chunk for name in ENTITY_NAMES)
        for line in chunk.split(b"\n")
        if not line.startswith(b"#")
    )


def _sort_lines(path: Path, first: int, lines: list[str]) -> _Block:
    block = _Block()
    rows: dict[int, list[str]] = {}
    for number, line in enumerate(lines, first):
        if not line.startswith("#"):
            rows[number] = line.split("\t")
        elif NEW_DOCUMENT.match(line):
            block.has_document_mark = True
        elif match := TEXT.fullmatch(line):
            block.text = match[1].strip()
    # Most sentences are this simple, and need not be gone through word by word.
    if {len(row) for row in rows.values()} == {WIDTH} and [row[0] for row in rows.values()] == WORD_IDS[: len(rows)]:
        block.rows, block.lines = list(rows.values()), list(rows)
        return block
    for number, row in rows.items():
        if len(row) != WIDTH:
            raise CRFError(CorpusErrors.CRF507.format(path=path, line=number, found=len(row), expected=WIDTH))
        if row[0] == str(len(block.rows) + 1):
            block.rows.append(row)
            block.lines.append(number)
        else:
            _read_other_id(path, number, row, block)
    for surface in block.surfaces[-1:]:
        if surface.end > len(block.rows):
            expected = f"a word with the id {surface.end} after it"
            told = {"line": surface.line, "id": f"{surface.start + 1}-{surface.end}", "expected": expected}
            raise CRFError(CorpusErrors.CRF515.format(path=path, **told))
    return block


def _read_other_id(path: Path, line: int, fields: list[str], block: _Block) -> None:
    """Take in a multiword token, skip an empty node, refuse everything else."""
    done = len(block.rows)
    open_until = block.surfaces[-1].end if block.surfaces else 0
    match = RANGE_ID.fullmatch(fields[0])
    first, last = (whole_number(match[1]) or 0, whole_number(match[2]) or 0) if match else (0, 0)
    if first == done + 1 <= last and open_until <= done:
        block.surfaces.append(_Surface(done, last, fields[1], fields[9], line))
    elif not EMPTY_NODE_ID.fullmatch(fields[0]):
        raise CRFError(CorpusErrors.CRF515.format(path=path, line=line, id=fields[0], expected=done + 1))


def _make_sentence(block: _Block, with_entities: bool, starts_document: bool, checker: RowChecker) -> Sentence:
    _, forms, lemmas, pos, tags, morphs, heads, deps, _, misc = zip(*block.rows)
    checker.check_words(forms, block.lines)
    columns = {
        # An underscore on its own is a word like any other, and its own lemma.
        "lemma": ["" if lemma == UNKNOWN != form else lemma for form, lemma in zip(forms, lemmas)]
    }
    for kind, found in (("pos", pos), ("tag", tags), ("morph", morphs)):
        columns[kind] = ["" if value == UNKNOWN else value for value in found]
    for kind, values in columns.items():
        checker.check(kind, values, block.lines)
    if with_entities:
        matches = [ENTITY.search(value.encode()) if value != UNKNOWN else None for value in misc]
        columns["ner"] = [match[1].decode() if match else "O" for match in matches]
    spaces, tree = _read_spaces(block, forms, misc), _read_tree(checker.path, block.lines, heads, deps)
    return Sentence(list(forms), columns, spaces, *tree, starts_document)


def _read_spaces(block: _Block, forms: Sequence[str], misc: Sequence[str]) -> list[bool]:
    """Whether a space follows each word; inside a multiword token none does."""
    surfaces, notes, starts = list(forms), list(misc), list(range(len(forms)))
    for surface in reversed(block.surfaces):
        covered = slice(surface.start, surface.end)
        starts[covered] = [surface.start]
        surfaces[covered] = [surface.form]
        notes[covered] = [surface.misc]
    after = [note == UNKNOWN or NO_SPACE not in note.split("|") for note in notes]
    if all(after) and block.text:
        after = find_spaces(block.text, surfaces)
    spaces = [False] * len(block.rows)
    for end, has_space in zip([*starts[1:], len(spaces)], after):
        spaces[end - 1] = has_space
    return spaces


def _read_tree(
    path: Path, lines: Sequence[int], heads: Sequence[str], deps: Sequence[str]
) -> tuple[list[int] | None, list[str] | None]:
    """Heads as indices in the sentence, the root's own for it, and relations; None unless this is a complete tree."""
    positions = {str(number): number - 1 for number in range(len(heads) + 1)}
    malformed = set(heads) - positions.keys() - {UNKNOWN}
    if malformed:
        line, head = next((line, head) for line, head in zip(lines, heads) if head in malformed)
        raise CRFError(CorpusErrors.CRF516.format(path=path, line=line, head=head, last=len(heads)))
    if UNKNOWN in heads or UNKNOWN in deps or "" in deps:
        return None, None
    parents = [positions[head] for head in heads]
    if not _is_tree(parents):
        return None, None
    root = parents.index(-1)
    parents[root] = root
    return parents, ["ROOT" if dep == "root" else dep for dep in deps]  # as spaCy spells it


def _is_tree(parents: Sequence[int]) -> bool:
    """Whether every node is below the one root, by the parent of each, -1 for a root; O(n)."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for node, parent in enumerate(parents):
        children[parent].append(node)
    reached = list(children[-1])
    for node in reached:
        reached += children[node]  # which the loop goes on with
    return len(children[-1]) == 1 and len(reached) == len(parents)
