"""Cuts files of any length into pieces that are read apart, by whoever has time, and give the documents of the whole.

Text and JSON lines are cut at ends of lines, CoNLL-U where a document or, in a file that marks none, a sentence begins.
A file of another format is one piece. A line, document or file that cannot be read costs itself alone.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeGuard, get_args

from spacy.language import Language
from spacy.tokens import Doc

from ..annotation.documents import read_doc_name, write_doc_name
from ..core.errors import CRFError, excerpt
from ..reading.files import decode, read_chunks, spell_path
from ..reading.records import parse_json
from .cas import TYPE_SYSTEM
from .docs import RawFormat, admit, holds_words, make_doc
from .errors import CorpusErrors
from .files import (
    NUMBERED,
    TEXT_SUFFIXES,
    data_suffix,
    name_file,
    name_files,
    number_name,
    visible_files,
    warn_of_unread,
)
from .formats import FORMATS, list_files, tell_format
from .tables import holds_columns

TEXT, JSON_LINES, CONLLU = "text", "jsonl", "conllu"
HEADER = 1 << 12  # bytes of comments before a mark, as a rule
_BLANK = re.compile(rb"\n[ \t\r]*\n")
_SENTENCE = re.compile(rb"\n[ \t\r]*\n(?=[^\s])")
_DOCUMENT = re.compile(rb"\n[ \t\r]*\n(?=(?:#[^\n]*\n)*#\s*newdoc\b)")
_NAMED = re.compile(rb"^(#[ \t]*newdoc)\b[ \t]+id[ \t]*=([^\r\n]*)", re.MULTILINE)
_MARK = re.compile(rb"^#\s*newdoc\b", re.MULTILINE)


def find_raw(path: Path, format: str | None) -> list[Path]:
    """The files of a path that are raw text: by their format, or as far as names and first lines tell."""
    if format not in (None, *get_args(RawFormat)):
        return []
    files = visible_files(path, (*TEXT_SUFFIXES, ".tsv")) if path.is_dir() else [path]
    if format is not None:
        return [file for file in files if data_suffix(file) in TEXT_SUFFIXES or format == "words" or file == path]
    others = set(list_files(path, None)) - set(files)
    return files if all(map(_is_raw, files)) and not others else []


def _is_raw(file: Path) -> bool:
    """Column files called .txt are not, and tables of one column are."""
    if not file.is_file() or tell_format(file) is not None:
        return False
    if data_suffix(file) in TEXT_SUFFIXES:
        return not holds_columns(file)
    return data_suffix(file) == ".tsv" and holds_words(file)


def tell_raw(file: Path) -> RawFormat:
    """The format of raw text, by its first lines."""
    return "words" if holds_words(file) else "text"


ReadFile = Callable[[Path, str | None], Iterable[Doc]]


@dataclass(frozen=True)
class InputFault:
    """A stretch of input that gave no document, and why. line (int): where it begins, 0 for a whole file."""

    path: str
    line: int
    problem: str


@dataclass(frozen=True)
class FilePiece:
    """Whole lines of a file, or a file.

    path (Path): the file. name (str): of its documents. format (str | None): None to have each reader tell it.
    content (bytes | None): None for all of a file. line (int): number of the first one.
    number (int): of the first document in the file. problem (str): why there is no more to read of the file.
    """

    path: Path
    name: str
    format: str | None = None
    content: bytes | None = None
    line: int = 1
    number: int = 1
    problem: str = ""

    @property
    def size(self) -> int:
        """Bytes, packed where the file is."""
        return len(self.content) if self.content is not None else 0 if self.problem else self.path.stat().st_size

    def digest(self) -> bytes:
        """Checksum of all that documents are made from."""
        content = self.path.read_bytes() if self.content is None and not self.problem else self.content
        return blake2b(repr((self.name, self.format, self.number)).encode() + (content or b"")).digest()

    def split(self, at: int) -> tuple["FilePiece", "FilePiece"]:
        """The same as two pieces, the second of which begins with a sentence."""
        content = self.content or b""
        before, after = content[:at], content[at:]
        new = len(_MARK.findall(before)) - _is_marked(before) + _is_marked(after)
        later = replace(self, content=after, line=self.line + before.count(b"\n"), number=self.number + new)
        return replace(self, content=before), later


def _starts(content: bytes, is_marked: bool, first: int = 0) -> list[int]:
    """Where documents, or sentences in a file that marks none, begin behind the first one, from some byte on."""
    return [match.end() for match in (_DOCUMENT if is_marked else _SENTENCE).finditer(content, first)]


def _is_marked(content: bytes) -> bool:
    """Whether the first sentence begins a document."""
    return _MARK.search(_BLANK.split(content.lstrip(), maxsplit=1)[0]) is not None


def find_inputs(paths: list[Path], format: str | None, output: Path) -> list[tuple[Path, str]]:
    """List the files of folders, with the names of their documents; those of the output are none of the input.

    A warning tells of files in folders that are not read, such as subtitles, where no format is given.
    RAISES (ValueError): where there is none, or an input is in the folder for the output.
    """
    for path in paths:
        if _is_below(path, output):
            raise CRFError(CorpusErrors.CRF697.format(path=path, output=output))
    files = [(file, path) for path in paths for file in _files(path, format) if not _is_below(file, output)]
    if not files:
        told = ", ".join(map(str, paths))
        raise CRFError(CorpusErrors.CRF503.format(path=told, suffixes=", ".join((*TEXT_SUFFIXES[:-1], ".jsonl"))))
    read = {file for file, _ in files}
    for folder in filter(Path.is_dir, paths if format is None else ()):
        others = (file for file in visible_files(folder, None) if file not in read and file.name != TYPE_SYSTEM)
        warn_of_unread(folder, (file for file in others if not _is_below(file, output)))
    return list(name_files(files, paths))


def _is_below(path: Path, folder: Path) -> bool:
    return folder.resolve() in (path.resolve(), *path.resolve().parents)


def _files(path: Path, format: str | None) -> list[Path]:
    if not path.exists():
        raise CRFError(CorpusErrors.CRF502.format(path=path))
    if not path.is_dir():
        return [path]
    if format in (TEXT, JSON_LINES):
        return visible_files(path, TEXT_SUFFIXES if format == TEXT else (".jsonl",))
    if format not in (None, *FORMATS):
        raise CRFError(CorpusErrors.CRF698.format(path=path, format=format))
    raw = visible_files(path, (*TEXT_SUFFIXES, ".jsonl")) if format is None else []
    return sorted({*raw, *list_files(path, format)})


def cut_file(
    path: Path, name: str, format: str | None, names: set[bytes] | None = None, by_sentence: bool = True
) -> Iterator[FilePiece]:
    """Yield the pieces of a file, one after the other.

    format (str | None): None to have the file tell it. by_sentence (bool): whether it may be cut between sentences.
    """
    whole = FilePiece(path, name, format)
    try:
        whole = replace(whole, format=format or _told(path))
        if whole.format in (TEXT, JSON_LINES):
            yield from _cut_lines(whole)
        elif whole.format == CONLLU and (by_sentence or any(map(_MARK.search, read_chunks(path)))):
            yield from _cut_documents(whole, set() if names is None else names, not by_sentence)
        else:
            yield whole
    except (CRFError, OSError) as error:
        yield replace(whole, content=None, line=0, problem=str(error))


def _told(path: Path) -> str | None:
    suffix = data_suffix(path)
    if suffix == ".jsonl":
        return JSON_LINES
    try:
        told = tell_format(path)
        is_text = told is None and not holds_columns(path)
    except CRFError:  # of a line, which the others need not pay for
        told, is_text = None, True
    return TEXT if is_text and suffix in TEXT_SUFFIXES else told


def _cut_lines(whole: FilePiece) -> Iterator[FilePiece]:
    line = 1
    for chunk in read_chunks(whole.path):
        if line == 1 and chunk.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            decode(whole.path, chunk, 0)  # fails for the file: some of its lines would be UTF-8 by chance
        yield replace(whole, content=chunk, line=line)
        line += chunk.count(b"\n")


def _cut_documents(whole: FilePiece, names: set[bytes], is_marked: bool) -> Iterator[FilePiece]:
    """A piece ends where the last document that has been met begins; before the first mark, a sentence if not marked.

    is_marked (bool): whether what stands before the first mark is a document.
    """
    rest = replace(whole, content=b"")

    def once(mark: re.Match[bytes]) -> bytes:
        """A mark without its name if that was met before: such a document is called by its file."""
        name = mark[2].strip()
        is_new = name not in names
        names.add(name)
        return mark[0] if is_new else mark[1]

    for chunk in read_chunks(whole.path):
        chunk = _NAMED.sub(once, chunk)
        known = rest.content or b""
        rest = replace(rest, content=known + chunk)
        is_marked = is_marked or _MARK.search(chunk) is not None
        if starts := _starts(known + chunk, is_marked, max(0, len(known) - HEADER)):
            done, rest = rest.split(starts[-1])
            yield done
    yield rest


# -- reading -----------------------------------------------------------------------------------------------------


def read_piece(piece: FilePiece, nlp: Language, read: ReadFile) -> Iterator[Doc | InputFault]:
    """Yield the documents of a piece without gold, and faults in the place of those that cannot be read.

    read (Callable): reads the documents of a file whose format is none of lines.
    """
    if piece.problem:
        yield InputFault(spell_path(piece.path), piece.line, piece.problem)
    elif piece.format in (TEXT, JSON_LINES):
        yield from _read_lines(piece, nlp)
    elif piece.content is None:
        yield from _named(piece, piece.path, read)
    else:
        yield from _read_documents(piece, read)


def _read_lines(piece: FilePiece, nlp: Language) -> Iterator[Doc | InputFault]:
    content = (piece.content or b"").replace(b"\r\n", b"\n")
    lines = (content if b"\n" in content else content.replace(b"\r", b"\n")).split(b"\n")
    for number, line in enumerate(lines, piece.line):
        if not line.strip():
            continue
        try:
            yield _read_line(piece, nlp, line, number)
        except ValueError as error:
            yield InputFault(spell_path(piece.path), number, str(error))


def _read_line(piece: FilePiece, nlp: Language, line: bytes, number: int) -> Doc:
    where = f"{piece.path}, line {number}"
    content = decode(piece.path, line, number - 1)
    if piece.format == TEXT:
        return write_doc_name(make_doc(nlp, content), piece.name)
    found = parse_json(content, where)
    found = found if isinstance(found, dict) else {}
    whole, words, spaces, own = map(found.get, ("text", "words", "spaces", "name"))
    is_told = isinstance(whole, str) or (whole is None and words is not None)
    has_words = words is None or _is_list(words, str)
    has_spaces = spaces is None or (words is not None and _is_list(spaces, bool) and len(spaces) == len(words))
    if not (is_told and has_words and has_spaces and (own is None or type(own) in (str, int))):
        raise CRFError(CorpusErrors.CRF683.format(where=where))
    doc = make_doc(nlp, whole or "") if words is None else _join_words(nlp, words, spaces, whole, where)
    return write_doc_name(doc, piece.name if own is None else str(own))


def _join_words(nlp: Language, words: list[str], spaces: list[bool] | None, whole: str | None, where: str) -> Doc:
    """A Doc of words, with the white space of the text where that is told too. where (str): for the message."""
    admit(nlp, sum(len(word) + 1 for word in words) if whole is None else len(whole))
    if whole is not None and spaces is None:
        with suppress(ValueError):  # of words that do not make up the text
            words, spaces = _words_and_spaces(words, whole)
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    if whole is not None and doc.text.rstrip() != whole.rstrip():
        raise CRFError(CorpusErrors.CRF489.format(where=where, text=excerpt(whole), words=excerpt(doc.text)))
    return doc


def _words_and_spaces(words: list[str], text: str) -> tuple[list[str], list[bool]]:
    """Tokens of a text, and whether a space is behind each. O(text), where spaCy's function of that name takes its
    square. RAISES (ValueError): for words that do not make it up."""
    if "".join("".join(words).split()) != "".join(text.split()):
        raise ValueError
    found, spaces, place = list[str](), list[bool](), 0
    for word in [*(word for word in words if not word.isspace()), ""]:
        start = text.index(word, place) if word else len(text)
        parts = [text[place:start], word]
        place = start + len(word)
        has_space = bool(word) and text.startswith(" ", place)
        found += filter(None, parts)
        spaces += [False] * bool(parts[0]) + [has_space] * bool(word)
        place += has_space
    return found, spaces


def _is_list(value: Any, kind: type) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _read_documents(piece: FilePiece, read: ReadFile) -> Iterator[Doc | InputFault]:
    """Where something cannot be read, each half is read apart, down to one document."""
    starts = _starts(piece.content or b"", _MARK.search(piece.content or b"") is not None)
    with TemporaryDirectory() as folder:
        file = Path(folder, f"{Path(folder).name}{data_suffix(piece.path)}")  # no name that a document would have
        # a single document stands in its own lines, for messages
        before = b"" if starts else b"\n" * (piece.line - 1)
        file.write_bytes(before + (piece.content or b""))
        found = list(_named(piece, file, read))
    faults = [fault for fault in found if isinstance(fault, InputFault)]
    if not faults:
        yield from found
    elif starts:
        for half in piece.split(starts[len(starts) // 2]):
            yield from _read_documents(half, read)
    else:
        problem = faults[0].problem.replace(str(file), str(piece.path))
        yield InputFault(spell_path(piece.path), piece.line, problem)


def _named(piece: FilePiece, file: Path, read: ReadFile) -> Iterator[Doc | InputFault]:
    """The documents of a file, which have the names that those of the piece have in its own file."""
    stem = name_file(file, file, [file])
    try:
        for doc in read(file, piece.format):
            numbered = NUMBERED.fullmatch(own := read_doc_name(doc))
            if own == stem:
                write_doc_name(doc, number_name(piece.name, piece.number))
            elif numbered is not None and numbered[1] == stem:
                write_doc_name(doc, number_name(piece.name, piece.number - 1 + int(own[len(stem) + 1 :])))
            yield doc
    except (CRFError, OSError) as error:
        yield InputFault(spell_path(piece.path), 0, str(error))
