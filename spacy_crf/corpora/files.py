"""Files of a corpus: their paths, suffixes and names."""

import os
import re
import warnings
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Literal

from spacy.tokens import Doc

from ..core.errors import CRFError, CRFWarning, excerpt
from ..reading.files import spell_path
from .errors import CorpusErrors, CorpusWarnings

OnError = Literal["raise", "skip"]
SHOWN_FAULTS = 5
Paths = Path | str | Sequence[Path | str]
TEXT_SUFFIXES = (".txt", ".text", ".md", "")
NUMBERED = re.compile(r"(.+) \d+", re.DOTALL)


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


def visible_files(folder: Path, suffixes: Container[str] | None) -> list[Path]:
    """The files of a folder and its subfolders with one of the suffixes, or any, sorted; hidden ones are left out."""
    found = (file for file in sorted(folder.rglob("*")) if suffixes is None or data_suffix(file) in suffixes)
    files = [file for file in found if file.is_file()]
    return [file for file in files if not any(part.startswith(".") for part in file.relative_to(folder).parts)]


@contextmanager
def refusing_damage(path: Path, kind: str) -> Iterator[None]:
    """Tell any error that a broken file makes of its parser by a coded one. kind (str): of file."""
    try:
        yield
    except CRFError:
        raise
    except Exception as error:
        raise CRFError(CorpusErrors.CRF569.format(path=path, kind=kind, reason=repr(error)[:200])) from error


def refuse_own(folder: Path, output: Path) -> None:
    """Raise an error if what a command has written before is below a folder that it reads."""
    is_there = any(output.iterdir()) if output.is_dir() else output.exists()
    if is_there and folder.is_dir() and folder.resolve() in output.resolve().parents:
        raise CRFError(CorpusErrors.CRF495.format(path=folder, output=output))


def warn_of_unread(folder: Path, files: Iterable[Path]) -> None:
    """Warn of files of a folder that are left out, if there are any, beside others that are read."""
    names = sorted(file.name for file in files)
    if names:
        message = CorpusWarnings.CRFW473.format(path=folder, files=excerpt(", ".join(names)))
        warnings.warn(message, CRFWarning, stacklevel=3)


def name_file(file: Path, path: Path, paths: Sequence[Path]) -> str:
    """Name of the first document of a file, e.g. "letters/1425" for letters/1425.tsv.gz in the folder `path`.

    It begins with the name of this folder if it is one of several paths of the corpus.
    """
    below = file.relative_to(path) if path.is_dir() else Path(file.name)
    if len(paths) > 1 and path.is_dir():
        below = path.name / below
    return spell_path((below.parent / _stem(file)).as_posix())


def name_files(files: Iterable[tuple[Path, Path]], paths: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the files of a corpus, each once, and names of their own: of files that would have one name, with as much
    of their paths, or the suffix, as tells them apart.

    files (Iterable): Files, and the paths of the corpus that they are found under.
    """
    found: dict[str, tuple[Path, Path]] = {}
    for file, path in files:
        found.setdefault(os.path.realpath(file), (file, path))
    names = {real: name_file(*own, paths) for real, own in found.items()}
    alike = _find_alike(names)
    parts = max((names[real].count("/") for real in alike), default=0)
    while alike and _find_alike(names):
        parts += 1
        for last in (_stem, attrgetter("name")):
            longer = {
                real: spell_path(Path(*Path(real).parts[-parts:-1], last(Path(real))).as_posix()) for real in alike
            }
            if not _find_alike(names | longer):
                names |= longer
                break
    return ((file, names[real]) for real, (file, _) in found.items())


def _find_alike(names: Mapping[str, str]) -> list[str]:
    """Files whose name another one has too, or a document in another one; see `number_name`."""
    counts = Counter(names.values())
    numbered = (match[1] if (match := NUMBERED.fullmatch(name)) else "" for name in names.values())
    return [file for (file, name), base in zip(names.items(), numbered) if counts[name] > 1 or base in counts]


def _stem(file: Path) -> str:
    """The name of a file without the suffix that tells its format, and that of compression."""
    suffix = data_suffix(file)
    return file.name[: file.name.lower().rfind(suffix)] if suffix else file.name


def number_name(name: str, number: int) -> str:
    """Name of the n-th document of a file, n from 1; that of the first one has no number."""
    return name if number == 1 else f"{name} {number}"


@dataclass
class FaultyFiles:
    """Files of a corpus that cannot be read: the first one ends the run, or all are left out, whole, and counted.

    faults (list[CRFError]): What was wrong with those that were left out. read (int): How many could be read.
    """

    on_error: OnError
    faults: list[CRFError] = field(default_factory=list)
    read: int = 0

    def docs(self, docs: Iterator[Doc]) -> Iterator[Doc]:
        """Yield the documents of a file, if all of it can be read."""
        if self.on_error == "raise":
            yield from docs
            return
        try:
            found = list(docs)
        except CRFError as error:
            self.faults.append(error)
            return
        self.read += 1
        yield from found

    def tell(self) -> None:
        """Warn of what was left out. RAISES (ValueError): The first fault, where no file could be read."""
        if self.faults and not self.read:
            raise self.faults[0]
        if self.faults:
            shown = " ".join(map(str, self.faults[:SHOWN_FAULTS]))
            counts = {"count": len(self.faults), "files": len(self.faults) + self.read}
            warnings.warn(CorpusWarnings.CRFW561.format(**counts, faults=shown), CRFWarning, stacklevel=3)
