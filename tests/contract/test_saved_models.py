"""Pipelines that an earlier release saved load, say the same, and are saved as the same files."""

import json
import zipfile
import zlib
from pathlib import Path

import pytest
import spacy
from contract.models import MODELS, predict, score
from contract.snapshots import DATA, Snapshots
from spacy.language import Language

# settings that components have got since, with their defaults
ADDED = {"section_parser": {"parser": "stack", "grammar": "thesis"}}


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(name)
    with zipfile.ZipFile(DATA / "models" / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def nlp(folder: Path) -> Language:
    return spacy.load(folder)


def contents(nlp: Language, folder: Path) -> dict[str, bytes]:
    """Contents of the files of components, by name; decompressed, as the same data may be packed in other ways."""
    files = (path for name in nlp.pipe_names for path in (folder / name).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): expand(path.read_bytes()) for path in files}


def expand(content: bytes) -> bytes:
    try:
        return zlib.decompress(content)
    except zlib.error:
        return content


def test_predictions(name: str, nlp: Language, snapshots: Snapshots) -> None:
    snapshots.check(f"predictions/{name}", predict(MODELS[name], nlp))


def test_scores(name: str, nlp: Language, snapshots: Snapshots) -> None:
    snapshots.check(f"scores/{name}", score(MODELS[name], nlp))


def test_files(nlp: Language, folder: Path, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    written, stored = contents(nlp, tmp_path), contents(nlp, folder)
    for pipe, added in ADDED.items():
        if f"{pipe}/cfg" in stored:
            settings = json.loads(written[f"{pipe}/cfg"])
            assert {name: settings.pop(name) for name in added} == added
            assert settings == json.loads(stored[f"{pipe}/cfg"])
            written[f"{pipe}/cfg"] = stored[f"{pipe}/cfg"]
    assert written == stored
