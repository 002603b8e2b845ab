"""Finding and recognising the files of a corpus."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ..core.errors import CRFError
from .errors import CorpusErrors
from .review_layout import FORMAT, MARK
from .text import read_lines

COLUMN_SUFFIXES = (".conll", ".iob", ".iob2", ".bio", ".bioes", ".biluo", ".bilou", ".ner")
# These say little about the content: a folder's licence or raw text has them as well.
VAGUE_SUFFIXES = (".tsv", ".txt")
# The suffixes to look for in a folder, and those to make do with if there are none, by kind of file.
SUFFIXES: dict[str | None, tuple[tuple[str, ...], tuple[str, ...]]] = {
    None: ((".spacy", ".conllu", ".xml", *COLUMN_SUFFIXES), (*VAGUE_SUFFIXES, ".jsonl")),
    "spacy": ((".spacy",), ()),
    "conllu": ((".conllu",), (".conll", *VAGUE_SUFFIXES)),
    "columns": (COLUMN_SUFFIXES, VAGUE_SUFFIXES),
    "review": ((".tsv", ".jsonl"), ()),
    "tagsets": ((".tsv",), (".txt",)),
    "cora": ((".xml",), ()),
    "webanno": ((".tsv",), ()),
    "references": ((".txt", ".xml"), ()),
}
WEBANNO_MARK = "#FORMAT=WebAnno TSV 3."
NEW_REFERENCE = "<NEWREFERENCE>"
# What the first line of tagged references, and of their XML, begins with
REFERENCE = re.compile(r"\s*(<newreference>|<(?P<field>[a-z][\w-]*)>.*</(?P=field)>)", re.IGNORECASE)
REFERENCE_XML = re.compile(r"<(dataset|sequence)\b")
HEAD = 20  # lines in which the root of an XML file is
CONLLU_WIDTH = 10
CONLLU_ID = re.compile(r"[0-9]+([-.][0-9]+)?")


def find_files(path: Path, kind: str | None) -> list[Path]:
    """List the files to read: the file itself, or those of a folder and its subfolders, sorted.

    In a folder, hidden files are left out, and suffixes like .txt count only if no file has one that says more.

    path (Path): A file or a folder.
    kind (str | None): A format to take only the files of that kind; None for all.
    RETURNS (list[Path]): At least one file.
    """
    if not path.is_dir():
        return [path]
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path)]
    telling, vague = SUFFIXES[kind]
    for suffixes in (telling, vague):
        found = [file for file in files if data_suffix(file) in suffixes]
        if found:
            return found
    raise CRFError(CorpusErrors.CRF503.format(path=path, suffixes=", ".join((*telling, *vague))))


def pick_kind(path: Path) -> str:
    """Tell from the name, then from the first token line, how a file is to be read.

    path (Path): The file.
    RETURNS (str): "spacy", "conllu", "columns", "review", "cora", "webanno" or "references".
    """
    suffix = data_suffix(path)
    for kind in ("spacy", "conllu"):
        if suffix == f".{kind}":
            return kind
    if suffix == ".xml":
        return "references" if any(map(REFERENCE_XML.search, islice(read_lines(path), HEAD))) else "cora"
    if is_review(path):
        return "review"
    if REFERENCE.match(next(filter(str.strip, read_lines(path)), "")):
        return "references"
    if next(read_lines(path), "").startswith(WEBANNO_MARK):
        return "webanno"
    for line in read_lines(path):
        if line and not line.isspace() and not line.startswith("#"):
            fields = line.split("\t")
            is_conllu = len(fields) == CONLLU_WIDTH and CONLLU_ID.fullmatch(fields[0])
            return "conllu" if is_conllu else "columns"
    return "columns"


def is_review(path: Path) -> bool:
    """Tell from the first line whether `python -m spacy crf review` has written a text file.

    path (Path): The file.
    RETURNS (bool): True for both of its layouts.
    """
    first = next((line for line in read_lines(path) if line.strip()), "")
    return first.startswith(MARK) or (first.startswith("{") and f'"{FORMAT}"' in first)


def has_xml(path: Path) -> bool:
    """Tell from the suffix, or from the declaration in the first line, whether a file is XML.

    path (Path): The file.
    RETURNS (bool): True for XML.
    """
    return data_suffix(path) == ".xml" or next(read_lines(path), "").startswith("<?xml")


def data_suffix(path: Path) -> str:
    """The suffix that tells the format, in lower case, whether or not the file is compressed.

    path (Path): The file.
    RETURNS (str): The suffix, e.g. ".conllu" for "train.conllu.gz".
    """
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_blocks(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines between blank lines; a line of white space is blank.

    path (Path): The file.
    YIELDS (tuple[int, list[str]]): The number of the first line, counted from 1, and the lines.
    """
    number = 0
    lines: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        if line and not line.isspace():
            lines.append(line)
        elif lines:
            yield number - len(lines), lines
            lines = []
    if lines:
        yield number - len(lines) + 1, lines


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
