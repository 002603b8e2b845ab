"""CoNLL-U, with ten tab-separated columns: read as gold, and written with what a tagger predicts and people check.

See https://universaldependencies.org/format.html. What goes beyond its columns is in MISC: `TagSet`, the predicted set
with its probabilities, `Gold`, several gold tags, and `Checked=Yes` for a token that a person has checked. A comment
`# checked = tag` says what a tagger has filled in, "pos" for UPOS: for tokens without the mark, that is unknown. It
holds for the sentences behind it, too; each one that is written has its own, as people sort, split and join such files.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from ..annotation.gold import register_gold_tags
from ..core.errors import CRFError
from ..core.labels import OUTSIDE
from ..reading.files import read_blocks, read_chunks, read_lines
from ..reading.records import whole_number
from .errors import CorpusErrors
from .exchange import ExchangeDocument, ExchangeToken, as_weights, check_line, name_line, read_mark, spaces_behind
from .sentence import CLOSES, EXTENSION_PREFIX, GOES_ON, RowChecker, Sentence, find_spaces, split_tag
from .tagsets import CHECKED_COLUMN, GOLD_COLUMN, GOLD_POS_COLUMN, YES, format_tags, parse_tags

UNKNOWN = "_"
WIDTH = 10
ID = re.compile(r"[0-9]+([-.][0-9]+)?")
RANGE_ID = re.compile(r"([0-9]+)-([0-9]+)")
EMPTY_NODE_ID = re.compile(r"[0-9]+\.[0-9]+")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b(?:\s+id\s*=(.*))?")
TEXT = re.compile(r"#\s*text\s*=(.*)")
COLUMNS = re.compile(r"#\s*global\.columns\s*=(.*)")  # of CoNLL-U Plus
TITLES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
CHECKED_KIND = re.compile(r"#\s*checked\s*=\s*(tag|pos)\s*")
ENTITY_NAMES = (b"name", b"NE", b"NER", b"ner")
CHECK = re.compile(rb"(?:^|\|)Checked=")
ENTITY = re.compile(rb"(?:^|\|)(?:%s)=(O|[BIMLEUSW]-[^|]+)" % b"|".join(ENTITY_NAMES))
# In a file with such tags, what these names have is a tag as well, in another form, or else an error.
OTHER_ENTITY = re.compile(rb"(?:^|\|)(?:%s)=([^|]+)" % b"|".join(ENTITY_NAMES[1:]))
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
    """The lines of one sentence, sorted by what they are: words and their lines, multiword tokens, and comments.

    document (str | None): the name of the document that begins here, "" if it has none; None where none begins.
    checked (str): what a tagger has filled in, "" for what the sentences before say.
    """

    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    surfaces: list[_Surface] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    text: str = ""
    document: str | None = None
    checked: str = ""


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file: its words, with multiword tokens and comments beside them; no empty nodes.

    Entities are read from MISC (name=B-X, NE=B-X, NER=B-X or ner=B-X) of words, or of the multiword token that they are
    written as. If one word of the file has one, words without are outside of entities; otherwise nothing is known about
    entities. "_" is unknown for LEMMA, UPOS, XPOS and FEATS.
    "# newdoc" begins a document, "# newdoc id = NAME" one with a name.
    """
    with_entities, checker = _has_note(path, ENTITY, ENTITY_NAMES), RowChecker(path)
    begins, name, kind = False, "", "tag" if _has_note(path, CHECK, (b"Checked",)) else ""
    for first, lines in read_blocks(path):
        block = _sort_lines(path, first, lines)
        if block.document is not None:
            begins, name = True, block.document
        kind = block.checked or kind
        if block.rows:
            sentence = _make_sentence(block, with_entities, begins, name, checker)
            yield _with_checks(sentence, kind, block, path) if kind else sentence
            begins = False


def is_conllu(path: Path) -> bool:
    """Whether the first token line of a file has ten columns, and an id in the first one."""
    line = next((line for line in read_lines(path) if line.strip() and not line.startswith("#")), "")
    fields = line.split("\t")
    return len(fields) == WIDTH and ID.fullmatch(fields[0]) is not None


def is_checked(path: Path) -> bool:
    """Whether a file says which tokens a person has checked, or what a tagger has filled in."""
    return _has_note(path, CHECK, (b"Checked",)) or any(map(CHECKED_KIND.fullmatch, read_lines(path)))


def _has_note(path: Path, note: re.Pattern[bytes], names: Sequence[bytes]) -> bool:
    """Whether any word has a note in MISC; only pieces of the file that may have one are looked at line by line."""
    return any(
        note.search(line.rpartition(b"\t")[2].rstrip())
        for chunk in read_chunks(path)
        if any(name + b"=" in chunk for name in names)
        for line in chunk.splitlines()  # which may end in CR
        if not line.startswith(b"#")
    )


def _sort_lines(path: Path, first: int, lines: list[str]) -> _Block:
    block = _Block()
    rows: dict[int, list[str]] = {}
    for number, line in enumerate(lines, first):
        if line.startswith("#"):
            _read_comment(path, number, line, block)
        else:
            rows[number] = line.split("\t")
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


def _read_comment(path: Path, number: int, line: str, block: _Block) -> None:
    if match := NEW_DOCUMENT.match(line):
        block.document = (match[1] or "").strip()
    elif match := TEXT.fullmatch(line):
        block.text = match[1].strip()
    elif match := CHECKED_KIND.fullmatch(line):
        block.checked = match[1]
    elif match := COLUMNS.fullmatch(line):
        if tuple(match[1].split()) != TITLES:
            raise CRFError(CorpusErrors.CRF589.format(path=path, line=number, titles=match[1].strip()))
    else:
        block.comments.append(line)


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


def _make_sentence(block: _Block, with_entities: bool, begins: bool, name: str, checker: RowChecker) -> Sentence:
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
        columns["ner"] = _read_entities(block, misc)
        checker.check("ner", columns["ner"], block.lines)
    spaces, tree = _read_spaces(block, forms, misc), _read_tree(checker.path, block.lines, heads, deps)
    surfaces = tuple((surface.start, surface.end, surface.form) for surface in block.surfaces)
    return Sentence(list(forms), columns, spaces, *tree, begins, name, (), tuple(block.comments), surfaces)


def _read_entities(block: _Block, misc: Sequence[str]) -> list[str]:
    """The tag of each word. That of a multiword token whose words have none, as Stanza writes it, is that of all."""
    found = list(map(_entity, misc))
    for start, end, _, note, _ in block.surfaces:
        tag = _entity(note)
        letter, label = split_tag(tag) or ("", "")
        if tag not in (OUTSIDE, "") and not any(found[start:end]):
            letters = ["I" if letter in GOES_ON else "B", *["I"] * (end - start - 1)]
            letters[-1] = "L" if letter in CLOSES else letters[-1]
            found[start:end] = [f"{own}-{label}" if letter else tag for own in letters]
    return [tag or OUTSIDE for tag in found]


def _entity(note: str) -> str:
    """The tag that is in MISC, "" for none."""
    match = None if note == UNKNOWN else ENTITY.search(note.encode()) or OTHER_ENTITY.search(note.encode())
    return match[1].decode() if match else ""


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


# -- check marks -------------------------------------------------------------------------------------------------

NOTES = ("TagSet", "Gold", "Checked")
PLACES = {"pos": 3, "tag": 4}  # of the columns
COLUMN = {kind: TITLES[place] for kind, place in PLACES.items()}
# As in other values of MISC, such as SpacesAfter.
_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", " ": "\\s"}
_ESCAPED = {escape: character for character, escape in _ESCAPES.items()}
_TABLE, _ESCAPE = str.maketrans(_ESCAPES), re.compile(r"\\[\\pts]")


def _read_notes(misc: str) -> dict[str, str]:
    """The notes of a word that tell of its tags."""
    pairs = (note.partition("=") for note in misc.split("|"))
    return {name: _ESCAPE.sub(lambda found: _ESCAPED[found[0]], value) for name, _, value in pairs if name in NOTES}


def _with_checks(sentence: Sentence, kind: str, block: _Block, path: Path) -> Sentence:
    """A sentence that says which words are checked. kind (str): what a tagger has filled in, "tag" or "pos"."""
    weighted = GOLD_COLUMN if kind == "tag" else GOLD_POS_COLUMN
    register_gold_tags(weighted.removeprefix(EXTENSION_PREFIX))
    checked, cells = [], []
    for line, row, own in zip(block.lines, block.rows, sentence.columns[kind]):
        notes, where = _read_notes(row[-1]), f"{path}, line {line}, word {row[1]!r}"
        checked.append(YES if read_mark(notes.get("Checked"), where) else "")
        weights = parse_tags(notes.get("Gold" if checked[-1] else "TagSet", ""), where)
        if own and (checked[-1] or not weights) and own not in weights:
            weights = {own: 1.0}
        cells.append(format_tags(weights) if weights else "")
    columns = {**sentence.columns, CHECKED_COLUMN: checked, weighted: cells}
    return replace(sentence, columns=columns, predicted=(kind, weighted))


# -- writing -----------------------------------------------------------------------------------------------------


def write_conllu(documents: Sequence[ExchangeDocument], target: str) -> bytes:
    """Write documents, whose tags are XPOS, or UPOS for target "pos"."""
    lines = list[str]()
    for document in documents:
        lines.append(f"# newdoc id = {name_line(document.name)}" if document.name else "# newdoc")
        following = [*document.sentences[1:], []]
        for number, (sentence, after) in enumerate(zip(document.sentences, following), 1):
            text = document.text[sentence[0].start : sentence[-1].end]
            lines += [f"# checked = {target}", f"# sent_id = {number}", f"# text = {' '.join(text.split())}"]
            for k, (token, has_space) in enumerate(zip(sentence, spaces_behind(sentence, after)), 1):
                word = check_line(token.word, token.start, document.name)
                row = [str(k), word, *[UNKNOWN] * (WIDTH - 3), UNKNOWN if has_space else NO_SPACE]
                lines.append(_fill_row(row, token, target))
            lines.append("")
    return "".join(f"{line}\n" for line in lines).encode()


def rewrite_conllu(path: Path, documents: Sequence[ExchangeDocument], target: str) -> bytes:
    """Write the file that documents were read from with their tags, all else as it was.

    Those are columns and notes of other names, comments, multiword tokens and empty nodes. Words that are in no
    document, such as punctuation that was left out, stay as they are.

    RAISES (ValueError): where the file says which words of its other column of tags a person has checked.
    """
    tokens = iter([token for document in documents for sentence in document.sentences for token in sentence])
    lines, token, kind = list[str](), next(tokens, None), "tag"
    for line in read_lines(path):
        row = line.split("\t")
        kind = match[1] if (match := CHECKED_KIND.fullmatch(line)) else kind
        if kind != target and CHECK.search(row[-1].encode()):
            raise CRFError(CorpusErrors.CRF593.format(path=path, kind=COLUMN[kind], target=COLUMN[target]))
        is_word = not line.startswith("#") and len(row) == WIDTH and row[0].isdecimal()
        if is_word and token is not None and row[1] == token.word:
            line, token = _fill_row(row, token, target), next(tokens, None)
        if not CHECKED_KIND.fullmatch(line):
            begins = line.strip() and not any(map(str.strip, lines[-1:]))
            lines += [f"# checked = {target}"] * bool(begins) + [line]
    if token is not None:
        raise CRFError(CorpusErrors.CRF578.format(path=path, word=token.word))
    return "".join(f"{line}\n" for line in lines).encode()


def _fill_row(row: Sequence[str], token: ExchangeToken, target: str) -> str:
    """The row of a word with its tag and what is to be known of it."""
    filled, place = list(row), PLACES[target]
    filled[place] = token.tag or UNKNOWN
    notes = {
        "TagSet": format_tags(as_weights(token.predicted)) if token.predicted else "",
        "Gold": format_tags(token.gold) if token.gold and (len(token.gold) > 1 or UNKNOWN in token.gold) else "",
        "Checked": "Yes" if token.is_checked else "No",
    }
    kept = [note for note in row[-1].split("|") if note != UNKNOWN and note.partition("=")[0] not in NOTES]
    kept += [f"{name}={value.translate(_TABLE)}" for name, value in notes.items() if value]
    filled[-1] = "|".join(kept)
    return "\t".join(filled)
