"""Tutorials run from their first line to their last, and print what they say; notebooks have the same cells."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import spacy.cli  # noqa: F401 - adds the commands of spaCy
from helpers.paths import ROOT
from spacy.cli._util import app
from typer.testing import CliRunner

import spacy_crf.cli  # noqa: F401 - adds ours

DOCS = ROOT / "docs"
COMMAND = "python -m spacy "
NUMBER = re.compile(r"-?\d+\.\d+")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
NEEDS = {"outline": ("pypdfium2", "reportlab"), "crfsuite": ("sklearn_crfsuite",)}  # beside the library itself


def load_notebooks() -> ModuleType:
    """Import `docs/site/notebooks.py`, which is in no package."""
    spec = importlib.util.spec_from_file_location("notebooks", DOCS / "site" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules.setdefault("notebooks", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


NOTEBOOKS = load_notebooks()
TUTORIALS = NOTEBOOKS.tutorials(DOCS)
EXECUTED = [DOCS / "start" / "own_data.md", *TUTORIALS]


class Session:
    """Runs the blocks of one page: commands of spaCy in this process, which is quicker, others in a shell."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def run(self, language: str, text: str) -> str:
        """Return what a block prints."""
        if language == "python":
            return self.run_python(text)
        told = ""
        for ours, group in groupby(text.replace("\\\n", " ").splitlines(), key=lambda line: line.startswith(COMMAND)):
            lines = list(group)
            told += "".join(map(run_command, lines)) if ours else run_shell("\n".join(lines))
        return told

    def run_python(self, text: str) -> str:
        with redirect_stdout(StringIO()) as told:
            exec(compile(text, "tutorial", "exec"), self.names)
        return told.getvalue()


def run_shell(text: str) -> str:
    """Return what lines of a shell print."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", text], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_command(line: str) -> str:
    """Return what a command of spaCy prints on standard output, if this does not go to a file."""
    command, _, path = line.removeprefix(COMMAND).partition(" > ")
    arguments = shlex.split(command, comments=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CliRunner().invoke(app, arguments, prog_name="python -m spacy")
    assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception!r}"
    told = COLOUR.sub("", done.stdout)
    if path:
        Path(path).write_text(told, encoding="utf8")
    return "" if path else told


def pieces(text: str) -> list[list[str]]:
    """Words of a printed text; what stands between lines of dots is a piece of its own."""
    return [piece.split() for piece in re.split(r"^\s*\.\.\.\s*$", text, flags=re.MULTILINE)]


def same(told: str, printed: str) -> bool:
    """Whether words are the same, or have numbers that are near: processors differ in the last digits of sums."""
    if NUMBER.sub("", told) != NUMBER.sub("", printed):
        return False
    found, expected = (list(map(float, NUMBER.findall(word))) for word in (told, printed))
    return found == pytest.approx(expected, abs=0.02, rel=0.02)


def find(words: list[str], told: list[str], start: int) -> int:
    """Where words begin in a text, at a place or behind it; -1 if they do not."""
    places = range(start, len(told) - len(words) + 1)
    return next((place for place in places if all(map(same, told[place:], words))), -1)


def agrees(told: str, printed: str) -> bool:
    """Whether a page prints what a block told, all pieces in order; without dots, all that was told."""
    words, expected, place = told.split(), pieces(printed), 0
    for piece in expected:
        place = find(piece, words, place)
        if place < 0:
            return False
        place += len(piece)
    return len(expected) > 1 or len(words) == len(expected[0])


def indented(text: str) -> str:
    return textwrap.indent("\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n", "    ")


@pytest.mark.parametrize("page", EXECUTED, ids=[page.stem for page in EXECUTED])
def test_what_pages_print(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    for module in NEEDS.get(page.stem, ()):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    session, text = Session(), page.read_text(encoding="utf8")
    rewritten, end = [], 0
    for block in NOTEBOOKS.blocks(text):
        if not block.language:
            continue
        told = session.run(block.language, block.text)
        if not block.printed:
            continue
        if pytestconfig.getoption("--rewrite-snapshots") and "..." not in block.printed:
            rewritten += [text[end : block.place[0]], indented(told)]
            end = block.place[1]
        else:
            assert agrees(told, block.printed), f"{block.text}\n{told}"
    if rewritten:
        page.write_text("".join([*rewritten, text[end:]]), encoding="utf8")


@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_notebooks_have_the_blocks_of_their_pages(page: Path) -> None:
    text = page.read_text(encoding="utf8")
    cells = json.loads(NOTEBOOKS.write_notebook(text))["cells"]
    code = ["".join(cell["source"]).removeprefix("%%bash\n") for cell in cells if cell["cell_type"] == "code"]
    assert code == [block.text for block in NOTEBOOKS.blocks(text) if block.language]
    assert all(line in text for line in code)
