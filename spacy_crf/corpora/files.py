"""Files of a corpus: their paths, suffixes and names."""

from collections.abc import Container, Sequence
from pathlib import Path

from ..core.errors import CRFError
from .errors import CorpusErrors

Paths = Path | str | Sequence[Path | str]


def data_suffix(path: Path) -> str:
    """The suffix that tells the format, e.g. ".conllu" for "train.CONLLU.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def check_paths(paths: Paths | None) -> list[Path]:
    """The setting `path` of a corpus as a list of at least one path; all of them exist, or it is an error."""
    found = [Path(path) for path in ([paths] if isinstance(paths, Path | str) else paths or ())]
    if not found:
        raise CRFError(CorpusErrors.CRF501)
    for path in found:
        if not path.exists():
            raise CRFError(CorpusErrors.CRF502.format(path=path))
    return found


def visible_files(folder: Path, suffixes: Container[str]) -> list[Path]:
    """The files of a folder and its subfolders with one of the suffixes, sorted; hidden ones are left out."""
    files = [file for file in sorted(folder.rglob("*")) if data_suffix(file) in suffixes and file.is_file()]
    return [file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


def name_file(file: Path, path: Path, paths: Sequence[Path]) -> str:
    """Name of the first document of a file, e.g. "letters/1425" for letters/1425.tsv.gz in the folder `path`.

    It begins with the name of this folder if it is one of several paths of the corpus.
    """
    below = file.relative_to(path) if path.is_dir() else Path(file.name)
    if len(paths) > 1 and path.is_dir():
        below = path.name / below
    suffix = data_suffix(file)
    stem = file.name[: file.name.lower().rfind(suffix)] if suffix else file.name
    return (below.parent / stem).as_posix()


def number_name(name: str, number: int) -> str:
    """Name of the n-th document of a file, n from 1; that of the first one has no number."""
    return name if number == 1 else f"{name} {number}"
