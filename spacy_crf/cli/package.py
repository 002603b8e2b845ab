"""`python -m spacy crf package`: a package of a pipeline that says what it is."""

import json
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from spacy.cli.package import package

from ..core.errors import CRFError, CRFWarning
from ..lab.errors import LabErrors
from ..lab.evaluation import COUNTS, show_figure
from ..reading.files import read_text
from ..reading.records import parse_json, parse_toml
from .options import command

OVER = {"documents": "documents drawn anew", "docs": "Docs drawn anew", "test parts": "over test parts"}
VERSION = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)*")
NAME = re.compile(r"\w*[^\W_]", re.ASCII)  # that can be imported behind a language
# spaCy's setup.py does not say of what kind the README is
MARKDOWN = "[metadata]\nlong_description_content_type = text/markdown\n"


@dataclass(frozen=True)
class Card:
    """What somebody has to tell of a pipeline, in a file of TOML.

    name (str): Of the package, without the language: letters of English, digits and "_". description (str): One line.
    license (str): Of the pipeline. sources (list[dict]): Training data, each with `name` and perhaps `url`, `author`.
    use (str): What it is for. limits (str): What it is bad at. author (str), url (str): Who made it, and where it is
    from. version (str): Of the package; that of MODEL without. command (str): What makes the scores again.
    scores (dict[str, str]): Their titles, by name.
    """

    name: str
    description: str
    license: str
    sources: list[dict[str, str]]
    use: str
    limits: str
    author: str = ""
    url: str = ""
    version: str = ""
    command: str = ""
    scores: dict[str, str] = field(default_factory=dict)


@command("package", "No package was made", "training/model-best card.toml packages --results results/test.json")
def package_pipeline(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained pipeline", exists=True)],
    told: Annotated[
        Path, typer.Argument(metavar="CARD", help="TOML file: name, data, licence, use, limits", exists=True)
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the package's sources, sdist and wheel")],
    results: Annotated[
        list[Path] | None, typer.Option(help="Figures from crf evaluate or crf experiment; several times for several")
    ] = None,
) -> None:
    """Make an sdist and a wheel of a pipeline as spacy package does, with a README about it.

    It tells data, licence, scores with the command that makes them, speed, size, intended use and limits. They are in
    the meta.json of the package, too; MODEL stays as it is. OUT/LANG_NAME-VERSION is written anew if it is there. It
    asks for the extra spacy_crf[package].
    """
    path = model / "meta.json"
    if not path.is_file():
        raise CRFError(LabErrors.CRF670.format(path=model))
    meta = parse_json(read_text(path), str(path))
    own = read_card(told)
    if results and not own.scores:
        problem = "[scores] is missing, which says what figures of --results are shown, each with a title"
        raise CRFError(LabErrors.CRF671.format(path=told, problem=problem))
    size = sum(one.stat().st_size for one in model.rglob("*") if one.is_file())
    found = {file: read_results(file) for file in results or ()}
    for file, one in found.items():
        check_model(file, one, model, size)
    meta |= describe(own, list(found.values()), size)
    meta["name"] = own.name.removeprefix(f"{meta['lang']}_")
    folder = output / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    for source in (model, told, *found):
        if source.resolve().is_relative_to(folder.resolve()):
            raise CRFError(LabErrors.CRF695.format(path=source, folder=folder))
    if output.resolve().is_relative_to(model.resolve()):
        raise CRFError(LabErrors.CRF609.format(model=model, output=output))
    with set_aside(folder), TemporaryDirectory() as temporary:  # spaCy would take the README of an old one
        folder.mkdir(parents=True)
        (folder / "setup.cfg").write_text(MARKDOWN, encoding="utf8")
        written = Path(temporary, "meta.json")
        written.write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf8")
        package(model, output, meta_path=written, create_wheel=True, require_parent=True, force=True, silent=False)


@contextmanager
def set_aside(folder: Path) -> Iterator[None]:
    """Have a folder away while another one is written in its place, and bring it back where that comes to nothing."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".old-", dir=folder.parent) as place:
        old = Path(place, folder.name)
        if folder.exists():
            folder.rename(old)
        try:
            yield
        except BaseException:  # spaCy ends the program where it cannot make a wheel
            shutil.rmtree(folder, ignore_errors=True)
            if old.exists():
                old.rename(folder)
            raise


def read_card(path: Path) -> Card:
    """Return the card in a file."""
    found = parse_toml(read_text(path), str(path))
    known = {one.name: one for one in fields(Card)}
    needed = [name for name, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    problems = [
        *(f"{name} is missing" for name in needed if not found.get(name)),
        *(f"there is no {name!r}" for name in found if name not in known),
        *(f"{name} is {value!r}" for name, value in found.items() if name in known and not _has_kind(name, value)),
    ]
    if problems:
        raise CRFError(LabErrors.CRF671.format(path=path, problem=problems[0]))
    return Card(**found)


def read_results(path: Path) -> dict[str, Any]:
    """Return what crf evaluate or crf experiment wrote."""
    found = parse_json(read_text(path), str(path))
    if not isinstance(found, dict) or not all(isinstance(found.get(name), dict) for name in ("made_of", "scores")):
        raise CRFError(LabErrors.CRF673.format(path=path))
    return found


def check_model(path: Path, results: dict[str, Any], model: Path, size: int) -> None:
    """Warn of figures that another model has, where they tell of which: those of crf evaluate do."""
    measured = results["made_of"].get("model")
    if isinstance(measured, dict) and measured.get("bytes", size) != size:
        told = LabErrors.CRFW694.format(path=path, theirs=measured["bytes"], model=model, ours=size)
        warnings.warn(told, CRFWarning, stacklevel=3)


def _has_kind(name: str, value: Any) -> bool:
    """Tell whether a value is of the kind of its field."""
    if name == "sources":
        tables = isinstance(value, list) and all(isinstance(one, dict) and one.get("name") for one in value)
        return tables and all(isinstance(text, str) for one in value for text in one.values())
    if name == "scores":
        return isinstance(value, dict) and all(isinstance(title, str) for title in value.values())
    if form := {"name": NAME, "version": VERSION}.get(name):
        return isinstance(value, str) and form.fullmatch(value) is not None
    return isinstance(value, str)


def describe(card: Card, results: list[dict[str, Any]], size: int) -> dict[str, Any]:
    """Return what a card and results tell, as parts of meta.json.

    size (int): Bytes of the pipeline. `performance` is that of the results, of which there may be none: shares alone,
    as spaCy shows everything in it as such; all figures are in `notes`.
    """
    meta: dict[str, Any] = {name: getattr(card, name) for name in ("name", "description", "license", "sources")}
    meta |= {name: getattr(card, name) for name in ("author", "url", "version") if getattr(card, name)}
    if results:
        found = {name: find_score(name, results) for name in card.scores}
        meta["performance"] = {name: value for name, value in found.items() if not name.startswith(COUNTS)}
    parts = {
        "Intended use": card.use,
        "Limits": card.limits,
        "Scores": "\n".join(score_lines(card, results)),
        "Size and speed": "\n".join(size_lines(results, size)),
    }
    meta["notes"] = "\n\n".join(f"### {title}\n\n{text.strip()}" for title, text in parts.items() if text)
    return meta


def find_score(name: str, results: list[dict[str, Any]]) -> float:
    """Return a score of the first results that have it; those of each label are no number."""
    for one in results:
        if isinstance(value := one["scores"].get(name), int | float):
            return float(value)
    raise CRFError(LabErrors.CRF672.format(name=name))


def score_lines(card: Card, results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of the scores in Markdown, a column for each file of results, with the command that makes them."""
    if not results:
        return
    yield f"| | {' | '.join(one['made_of'].get('data', 'cross-validation') for one in results)} |"
    yield f"| --- |{' ---: |' * len(results)}"
    for name, title in card.scores.items():
        yield f"| {title} | {' | '.join(score_cell(name, one) for one in results)} |"
    ways = dict.fromkeys(OVER[one["intervals_over"]] for one in results if one.get("intervals_over"))
    told = "Shares in percent." + (f" In brackets: 95 %, {' or '.join(ways)}." if ways else "")
    yield f"\n{told}" + (f" Made by `{card.command}`." if card.command else "")


def score_cell(name: str, result: dict[str, Any]) -> str:
    """A score as text, with its interval; "" without it."""
    value = result["scores"].get(name)
    if not isinstance(value, int | float):
        return ""
    bounds = result.get("intervals", {}).get(name)
    more = f" ({show_figure(name, *bounds)})" if bounds else ""
    return f"{show_figure(name, value)}{more}"


def size_lines(results: list[dict[str, Any]], size: int) -> Iterator[str]:
    """Yield sentences about the size of a pipeline, its speed, and what it was measured with."""
    yield f"{size / 1000:,.0f} kB."
    for one in results[:1]:
        if speed := one.get("speed", {}).get("tokens_per_second"):
            yield f"{speed:,} tokens a second on a CPU, in the run that made the scores, just after loading."
        libraries = one["made_of"].get("libraries", {})
        yield "Measured with " + ", ".join(f"{name} {version}" for name, version in libraries.items()) + "."
