"""The library as it is published: what its sdist and its wheel hold, and what strangers do with the wheel alone."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from importlib.metadata import requires
from itertools import cycle
from pathlib import Path

import pytest
from helpers.paths import ROOT
from packaging.requirements import Requirement

CONFIGS = {path.name for path in (ROOT / "configs").iterdir()}
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "output", "*.egg-info", "__pycache__")


def run(*arguments: object, folder: Path, path: Path | None = None) -> str:
    """Run Python in a folder, with packages of another one."""
    environment = {**os.environ, "PYTHONPATH": str(path or "")}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_spacy_rules_out_is_ruled_out() -> None:
    """pip tries the newest version that we allow, and ends where it cannot be built: thinc 9 on Python 3.13."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    own = {found.name: found.specifier for found in map(Requirement, settings["dependencies"])}
    theirs = {found.name: found.specifier for found in map(Requirement, requires("spacy") or ())}
    ends = [(name, part.version) for name in own.keys() & theirs for part in theirs[name] if part.operator == "<"]
    assert {"thinc", "srsly"} <= {name for name, _ in ends}
    assert not [(name, version) for name, version in ends if own[name].contains(version)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    run("-m", "build", "--outdir", folder, folder / "source", folder=folder)
    return folder


@pytest.mark.slow
def test_the_sdist_has_what_the_readme_names(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"configs/{name}" for name in CONFIGS} <= names
    assert {"README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "corpus/crf_tagger/train.conllu"} <= names
    assert {"tests/test_package.py", "docs/index.md", "mkdocs.yml", "projects/cora/project.yml"} <= names
    assert not any("assets" in Path(name).parts for name in names if name.startswith("projects"))


@pytest.mark.slow
def test_the_wheel_has_nothing_twice(built: Path) -> None:
    """`make wheels` and `make matrix` refuse such a wheel."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = Counter((one.CRC, one.file_size) for one in archive.infolist() if one.file_size)
        twice = [one.filename for one in archive.infolist() if found[one.CRC, one.file_size] > 1]
    assert not [name for name in twice if not name.endswith("__init__.py")]


@pytest.mark.slow
def test_the_wheel_alone_is_enough_to_train(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
        assert {f"spacy_crf/configs/{name}" for name in CONFIGS} <= set(archive.namelist())
    shutil.copy(ROOT / "corpus" / "crf_tagger" / "dev.conllu", tmp_path / "mine.conllu")
    where = {"folder": tmp_path, "path": tmp_path / "installed"}
    assert str(tmp_path) in run("-c", "import spacy_crf; print(spacy_crf.__file__)", **where)
    run("-m", "spacy", "crf", "examples", "practice", **where)
    assert {path.name for path in (tmp_path / "practice" / "configs").iterdir()} == CONFIGS
    assert (tmp_path / "practice" / "corpus" / "crf_tagger" / "train.conllu").is_file()
    run("-m", "spacy", "crf", "init", "crf_tagger", "mine.cfg", **where)
    paths = "--paths.train", "mine.conllu", "--paths.dev", "mine.conllu", "--training.max_steps", "1"
    run("-m", "spacy", "train", "mine.cfg", *paths, "--output", "model", **where)
    assert "tag_acc" in run("-m", "spacy", "crf", "evaluate", "model/model-best", "mine.conllu", **where)


TAGGED = {"DT": "the a every this", "NN": "cat boat hill letter", "VBD": "saw took left found", "RB": "soon again"}
CARD = """
name = "mine"
description = "Tags of my own"
license = "CC0 1.0"
use = "To see that it can be done."
limits = "It knows fourteen words."
command = "python -m spacy crf evaluate"

[[sources]]
name = "mine"

[scores]
tag_acc = "accuracy"
"""


def sentences(patterns: list[str]) -> str:
    """Return tagged sentences, in columns, with the words of each tag in turn."""
    words = {tag: cycle(text.split()) for tag, text in TAGGED.items()}
    lines = ("".join(f"{next(words[tag])}\t{tag}\n" for tag in pattern.split()) for pattern in patterns)
    return "\n".join(lines)


@pytest.mark.slow
def test_the_way_of_a_stranger(built: Path, tmp_path: Path) -> None:
    """Own columns, an empty environment, the wheel: train, calibrate, evaluate, package, install, use."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = str(tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}

    def do(command: str) -> str:
        call = [python, "-I", "-m", *command.split()]
        done = subprocess.run(call, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout

    (wheel,) = built.glob("*.whl")
    shapes = ["DT NN VBD DT NN", "DT NN VBD RB", "RB DT NN VBD DT NN", "DT NN VBD DT NN RB"]
    for name, times in (("train", 12), ("dev", 3)):
        (tmp_path / f"{name}.conll").write_text(sentences(shapes * times), encoding="utf8")
    (tmp_path / "card.toml").write_text(CARD, encoding="utf8")
    do(f"pip install -q {wheel}[package]")
    do("spacy crf init crf_tagger config.cfg")
    paths = "--paths.train train.conll --paths.dev dev.conll --output model --training.max_steps 2"
    columns = " ".join(f'--corpora.{split}.columns=["word","tag"]' for split in ("train", "dev"))
    do(f"spacy train config.cfg {paths} {columns}")
    do("spacy crf calibrate model/model-best dev.conll --columns word,tag --output calibrated")
    do("spacy crf evaluate calibrated dev.conll --columns word,tag --output figures.json")
    do("spacy crf package calibrated card.toml packages --results figures.json")
    assert "PASSED" in do(f"twine check --strict {wheel} packages/en_mine-0.0.0/dist/en_mine-0.0.0.tar.gz")
    do("pip install -q packages/en_mine-0.0.0/dist/en_mine-0.0.0-py3-none-any.whl")
    (tmp_path / "use.py").write_text(
        "import spacy, spacy_crf\n"
        "nlp = spacy.load('en_mine')\n"
        "assert 'site-packages' in spacy_crf.__file__ and 'fourteen' in nlp.meta['notes']\n"
        "print(*(token.tag_ for token in nlp('the cat found a letter again')))\n",
        encoding="utf8",
    )
    done = subprocess.run([python, "-I", "use.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["DT", "NN", "VBD", "DT", "NN", "RB"], done.stderr
    assert json.loads((tmp_path / "figures.json").read_text(encoding="utf8"))["scores"]["tag_acc"] > 0.9
