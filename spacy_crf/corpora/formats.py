"""The formats of files that `Corpus` reads, and how each is told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

from ..core.errors import CRFError
from .cas import TYPE_SYSTEM, is_cas, read_cas
from .conll import read_columns
from .conllu import is_checked, is_conllu, read_conllu
from .cora import read_cora
from .errors import CorpusErrors
from .files import data_suffix, visible_files, warn_of_unread
from .references import is_references, read_references
from .review import is_review, read_review
from .sentence import Sentence
from .tables import has_tag_column, is_tokens_tsv, read_tokens_tsv, read_xlsx
from .tasks import is_doccano, is_label_studio, read_doccano, read_label_studio
from .webanno import is_webanno, read_webanno

ColumnFormat = Literal["columns", "conll2000", "conll2002", "conll2003"]
Exchange = Literal["webanno", "cas", "label_studio", "doccano", "xlsx"]
Format = Literal["spacy", "conllu", ColumnFormat, "review", "tagsets", "cora", Exchange, "references"]
COLUMNS = (".conll", ".iob", ".iob2", ".bio", ".bioes", ".biluo", ".bilou", ".ner")
# These say little about the content: a folder's licence or raw text has them as well.
VAGUE = (".tsv", ".txt")
# In a folder with files of any format, these suffixes tell data from other files, and those are made do with.
ANY = (".spacy", ".conllu", ".xml", ".xmi", ".xlsx", *COLUMNS), (*VAGUE, ".jsonl", ".json")


@dataclass(frozen=True)
class FileFormat:
    """A format of files.

    read (Callable | None): Takes a file and the settings below; None for Docs that spaCy has stored.
    suffixes, vague (tuple[str, ...]): Of its files in a folder, and those to make do with if there are none.
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


# To add a format: its reader and a line here, and its name in `Format`. Where the suffix does not tell the format, the
# first one that looks right is taken, and "columns" if none does.
FORMATS = {
    "spacy": FileFormat(None, (".spacy",), own=".spacy"),
    "review": FileFormat(read_review, (".tsv", ".jsonl"), looks=is_review),
    "cora": FileFormat(read_cora, (".xml",), own=".xml", settings=("cora",), has_tag_sets=True),
    "webanno": FileFormat(read_webanno, (".tsv",), looks=is_webanno, has_tag_sets=True),
    "cas": FileFormat(read_cas, (".xmi", ".json"), own=".xmi", looks=is_cas, has_tag_sets=True),
    "label_studio": FileFormat(read_label_studio, (".json",), looks=is_label_studio, has_tag_sets=True),
    "doccano": FileFormat(read_doccano, (".jsonl",), looks=is_doccano, has_tag_sets=True),
    "xlsx": FileFormat(read_xlsx, (".xlsx",), own=".xlsx", has_tag_sets=True),
    "references": FileFormat(
        read_references, (".txt", ".xml"), (".tsv",), own=".xml", looks=is_references, settings=("references",)
    ),
    "conllu": FileFormat(read_conllu, (".conllu",), (".conll", *VAGUE), own=".conllu", looks=is_conllu),
    "tagsets": FileFormat(read_tokens_tsv, (".tsv",), (".txt",), looks=is_tokens_tsv, has_tag_sets=True),
    **{
        name: FileFormat(partial(read_columns, format=name), COLUMNS, VAGUE, settings=("columns", "separator"))
        for name in get_args(ColumnFormat)
    },
}

BINARY = ("spacy", "xlsx")
WITH_SETS = [name for name, format in FORMATS.items() if format.has_tag_sets]
WITH_TEXT = [*WITH_SETS, "conllu"]  # that what is made of historical text goes with, if CoNLL-U says what is checked


def find_files(path: Path, format: str | None) -> list[Path]:
    """List the files to read: the file itself, or those of a folder that may be of the format (None for any).

    Hidden files of a folder are left out. Suffixes like .txt count where the content tells the format, or if no file
    has a suffix that says more.
    """
    found = list_files(path, format)
    if not found:
        raise CRFError(CorpusErrors.CRF503.format(path=path, suffixes=", ".join(chain(*_suffixes(format)))))
    return found


def list_files(path: Path, format: str | None) -> list[Path]:
    """List the files as `find_files` does, but none where a folder has no such file."""
    if not path.is_dir():
        return [path]
    telling, vague = _suffixes(format)
    sure = [file for file in visible_files(path, telling) if file.name != TYPE_SYSTEM]  # which goes with XMI
    others = visible_files(path, vague)
    return sorted([*sure, *(file for file in others if _tells(file, format))]) if sure else others


def tell_unread(path: Path, format: str | None, suffixes: tuple[str, ...] = (".txt",)) -> None:
    """Warn of files in a folder that are not read, as others there are of a format. suffixes (tuple[str, ...]): Theirs,
    without a word on files such as licences and settings."""
    read = list_files(path, format) if path.is_dir() else []
    found = visible_files(path, suffixes) if read else []
    warn_of_unread(path, {file for file in found if file.name != TYPE_SYSTEM}.difference(read))


def _tells(path: Path, format: str | None) -> bool:
    """Whether the content of a file tells its format, or that it is of a given one."""
    looking = [own.looks for name, own in FORMATS.items() if own.looks is not None and format in (None, name)]
    try:
        return any(looks(path) for looks in looking)
    except CRFError:  # what is no text is no such file
        return False


def _suffixes(format: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Suffixes that tell files of a format, and those to make do with."""
    return ANY if format is None else (FORMATS[format].suffixes, FORMATS[format].vague)


def tell_format(path: Path) -> str | None:
    """The name of the format of a file, told from its suffix, then from its first lines; None if these tell none."""
    suffix = data_suffix(path)
    candidates = [name for name, format in FORMATS.items() if suffix and format.own == suffix]
    looking = {name: FORMATS[name].looks for name in candidates or FORMATS}
    default = candidates[0] if candidates else None
    return next((name for name, looks in looking.items() if looks is not None and looks(path)), default)


def takes_text(path: Path, format: str | None) -> bool:
    """Whether what is made of historical text goes with a file: with several tags per token, a review, or CoNLL-U that
    says what is checked."""
    own = format or pick_format(path)
    return is_checked(path) if own == "conllu" else own in (*WITH_SETS, "review")


def is_untold(format: str | None, path: Path) -> bool:
    """Whether files have a given format that they do not tell, beside reviews of columns: columns, tag sets, or
    references as words with labels."""
    files, is_columns = list_files(path, None), format in get_args(ColumnFormat)
    told = set(map(tell_format, files))
    if None not in told or not told <= {None, *(["review"] if is_columns else [])}:
        return False
    return is_columns or format == "tagsets" or (format == "references" and all(map(has_tag_column, files)))


def pick_format(path: Path) -> str:
    """The format that a file tells, see `tell_format`; one that tells none is a table of tags if it has two columns
    without spans, or else "columns".

    RAISES (ValueError): If it could be either.
    """
    return tell_format(path) or ("tagsets" if has_tag_column(path) else "columns")
