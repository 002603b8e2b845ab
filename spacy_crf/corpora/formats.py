"""The formats of a corpus in one table: how files of each are found in a folder, recognised and read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..core.errors import CRFError
from .columns import read_columns
from .conllu import is_conllu, read_conllu
from .cora import read_cora
from .errors import CorpusErrors
from .files import data_suffix
from .references import is_references, read_references
from .review import is_review, read_review
from .sentence import Sentence
from .tagsets import read_tokens_tsv
from .webanno import is_webanno, read_webanno

COLUMNS = (".conll", ".iob", ".iob2", ".bio", ".bioes", ".biluo", ".bilou", ".ner")
# These say little about the content: a folder's licence or raw text has them as well.
VAGUE = (".tsv", ".txt")
# In a folder with files of any format, these suffixes tell data from other files, and those are made do with.
ANY = (".spacy", ".conllu", ".xml", *COLUMNS), (*VAGUE, ".jsonl")


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    read (Callable | None): Takes a file and the settings below; None for Docs that spaCy has stored.
    suffixes (tuple[str, ...]): Of its files in a folder. vague (tuple[str, ...]): Those to make do with if there are
        none.
    own (str): A suffix that tells the format. looks (Callable | None): Tells it by the content of a file.
    settings (tuple[str, ...]): Settings of the corpus that the format goes with.
    has_tag_sets (bool): Whether tokens have several tags, `token._.gold_tags`.
    """

    read: Callable[..., Iterator[Sentence]] | None
    suffixes: tuple[str, ...]
    vague: tuple[str, ...] = ()
    own: str = ""
    looks: Callable[[Path], bool] | None = None
    settings: tuple[str, ...] = ()
    has_tag_sets: bool = False


def _columns(name: str) -> FileFormat:
    return FileFormat(partial(read_columns, format=name), COLUMNS, VAGUE, settings=("columns", "separator"))


# Where the suffix does not tell the format, the first one that looks right is taken, and "columns" if none does.
FORMATS = {
    "spacy": FileFormat(None, (".spacy",), own=".spacy"),
    "review": FileFormat(read_review, (".tsv", ".jsonl"), looks=is_review),
    "tagsets": FileFormat(read_tokens_tsv, (".tsv",), (".txt",), has_tag_sets=True),
    "cora": FileFormat(read_cora, (".xml",), own=".xml", settings=("cora",), has_tag_sets=True),
    "webanno": FileFormat(read_webanno, (".tsv",), looks=is_webanno, has_tag_sets=True),
    "references": FileFormat(
        read_references, (".txt", ".xml"), own=".xml", looks=is_references, settings=("references",)
    ),
    "conllu": FileFormat(read_conllu, (".conllu",), (".conll", *VAGUE), own=".conllu", looks=is_conllu),
    **{name: _columns(name) for name in ("columns", "conll2000", "conll2002", "conll2003")},
}


def find_files(path: Path, format: str | None) -> list[Path]:
    """List the files to read: the file itself, or those of a folder and its subfolders, sorted.

    In a folder, hidden files are left out, and suffixes like .txt count only if no file has one that says more.

    path (Path): A file or a folder. format (str | None): Take only files that may be of it; None for any.
    RETURNS (list[Path]): At least one file.
    """
    if not path.is_dir():
        return [path]
    telling, vague = ANY if format is None else (FORMATS[format].suffixes, FORMATS[format].vague)
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path)]
    for suffixes in (telling, vague):
        found = [file for file in files if data_suffix(file) in suffixes]
        if found:
            return found
    raise CRFError(CorpusErrors.CRF503.format(path=path, suffixes=", ".join((*telling, *vague))))


def pick_format(path: Path) -> str:
    """The name of the format of a file, told from its suffix, then from its content."""
    suffix = data_suffix(path)
    candidates = [name for name, format in FORMATS.items() if suffix and format.own == suffix]
    looking = {name: FORMATS[name].looks for name in candidates or FORMATS}
    default = candidates[0] if candidates else "columns"
    return next((name for name, looks in looking.items() if looks is not None and looks(path)), default)


def read_sentences(path: Path, format: str, settings: dict[str, Any]) -> Iterator[Sentence]:
    """The sentences of a file in any format but "spacy". settings (dict): Of the corpus, by name."""
    own = FORMATS[format]
    assert own.read is not None
    return own.read(path, **{name: settings[name] for name in own.settings})


def _is_hidden(file: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(folder).parts)
