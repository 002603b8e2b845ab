"""What a document is called: `doc._.doc_name`, which the reader fills.

A file that marks no documents is one document, whatever Docs it is read as; so all of its sentences bear its name. In
a folder, the name is the path of the file below it, without the suffix. Of several documents in a file, the second one
and those after it have a number. A Doc that has a name keeps it, as `DocBin(store_user_data=True)` stores it.
"""

from collections.abc import Sequence
from pathlib import Path

from spacy.tokens import Doc

from ..annotation.extensions import read_value, register, write_value
from .files import data_suffix

DOC_NAME = "doc_name"


def register_doc_name() -> None:
    """Make `doc._.doc_name` available, which is "" for a Doc without a name."""
    register(Doc, DOC_NAME, default="")


def read_doc_name(doc: Doc) -> str:
    """The name of the document that a Doc is, or is a part of; "" if it has none.

    doc (Doc): The Doc; whether or not anybody has registered the attribute.
    """
    return str(read_value(doc, DOC_NAME) or "")


def write_doc_name(doc: Doc, name: str) -> Doc:
    """Give a Doc its name.

    doc (Doc): The Doc. name (str): Of the document that it is, or is a part of.
    RETURNS (Doc): The same Doc.
    """
    write_value(doc, DOC_NAME, name)
    return doc


def name_file(file: Path, path: Path, paths: Sequence[Path]) -> str:
    """What the first document of a file is called.

    file (Path): The file. path (Path): The path of the corpus that it was found under. paths (Sequence[Path]): All
        paths of the corpus: names begin with their own path if there are several folders.
    RETURNS (str): e.g. "letters/1425" for the file letters/1425.tsv.gz in a folder.
    """
    below = file.relative_to(path) if path.is_dir() else Path(file.name)
    if len(paths) > 1 and path.is_dir():
        below = path.name / below
    suffix = data_suffix(file)
    stem = file.name[: file.name.lower().rfind(suffix)] if suffix else file.name
    return (below.parent / stem).as_posix()


def number_name(name: str, number: int) -> str:
    """The name of the n-th document of a file; that of the first one has no number.

    name (str): Of the file. number (int): Counted from 1.
    """
    return name if number == 1 else f"{name} {number}"
