"""The library as it is published: what its sdist and its wheel hold, and that the wheel alone is enough to train."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from helpers.paths import ROOT

CONFIGS = {path.name for path in (ROOT / "configs").iterdir()}
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "output", "*.egg-info", "__pycache__")


def run(*arguments: object, folder: Path, path: Path | None = None) -> str:
    """Run Python in a folder, with packages of another one."""
    environment = {**os.environ, "PYTHONPATH": str(path or "")}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
    assert {"README.md", "CHANGELOG.md", "LICENSE", "corpus/crf_tagger/train.conllu"} <= names


@pytest.mark.slow
def test_the_wheel_alone_is_enough_to_train(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
        assert {f"spacy_crf/configs/{name}" for name in CONFIGS} <= set(archive.namelist())
    shutil.copy(ROOT / "corpus" / "crf_tagger" / "dev.conllu", tmp_path / "mine.conllu")
    where = {"folder": tmp_path, "path": tmp_path / "installed"}
    assert str(tmp_path) in run("-c", "import spacy_crf; print(spacy_crf.__file__)", **where)
    run("-m", "spacy", "crf", "init", "crf_tagger", "mine.cfg", **where)
    paths = "--paths.train", "mine.conllu", "--paths.dev", "mine.conllu", "--training.max_steps", "1"
    run("-m", "spacy", "train", "mine.cfg", *paths, "--output", "model", **where)
    assert "tag_acc" in run("-m", "spacy", "crf", "evaluate", "model/model-best", "mine.conllu", **where)
