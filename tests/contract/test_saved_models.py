"""Pipelines that an earlier release saved load, say the same, and are saved as the same files, with checksums."""

import json
import zlib
from pathlib import Path

import pytest
import spacy
from contract.models import MODELS, predict, score
from contract.snapshots import Snapshots
from helpers.folders import unpack_model
from spacy.language import Language

from spacy_crf.pipe.source import SourcePipe


@pytest.fixture(scope="module", params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(name)
    unpack_model(name, folder)
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
    found, expected = contents(nlp, tmp_path), contents(nlp, folder)
    sealed = {f"{Path(path).parent}/checksums.json" for path in expected}
    # components over a source had no settings of their own
    sources = {name for name in nlp.pipe_names if isinstance(nlp.get_pipe(name), SourcePipe)}
    settings = {f"{name}/{file}" for name in sources for file in ("cfg", "checksums.json")}
    assert found.keys() == expected.keys() | sealed | settings
    for path, content in expected.items():
        if path.endswith("/cfg"):  # settings are those of the config; what was learned is read from here
            known, wanted = json.loads(found[path]), json.loads(content)
            assert known.pop("format") == 3 and wanted.pop("format") in (2, 3)
            assert {key: known[key] for key in known.keys() & wanted.keys()} == {
                key: wanted[key] for key in known.keys() & wanted.keys()
            }
            assert "labels" in known.keys() & wanted.keys() or "labels" not in wanted
        elif path not in sealed:
            assert found[path] == content, path
