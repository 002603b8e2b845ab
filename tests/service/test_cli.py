"""`crf serve` as a process: it listens to the address that it is given, and tells what is wrong before it does."""

import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from helpers.commands import invoke, run
from helpers.folders import unpack_model
from helpers.paths import ROOT
from helpers.services import httpx


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pipelines, as `make demo` leaves them."""
    folder = tmp_path_factory.mktemp("output")
    for component, name in (("crf_tagger", "tagger"), ("constrained_ner", "references")):
        unpack_model(name, folder / component / "model-best")
    return folder


def test_a_process_that_serves(folder: Path) -> None:
    given = [str(folder / "crf_tagger" / "model-best"), f"refs={folder / 'constrained_ner' / 'model-best'}"]
    options = ["--port", "0", "--max-mb", "0.001", "--name", "box"]
    command = [sys.executable, "-m", "spacy", "crf", "serve", *given, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout.readline, "")
            address = next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:[1-9]\d+", line)))
            wait_for(address)
            assert [model["name"] for model in httpx.get(f"{address}/models").json()] == ["crf_tagger", "refs"]
            assert httpx.post(f"{address}/tag", json={"text": "a" * 2000}).status_code == 413
            assert httpx.get(f"{address}/health", headers={"host": "box"}).status_code == 200
        finally:
            process.terminate()


def wait_for(address: str) -> None:
    for _ in range(200):
        try:
            httpx.get(f"{address}/health")
            return
        except httpx.TransportError:
            time.sleep(0.05)


def test_where_nothing_can_be_served(folder: Path, tmp_path: Path) -> None:
    model = folder / "crf_tagger" / "model-best"
    (tmp_path / "file").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for code, *options in (
            ("CRF588", "--port", taken.getsockname()[1]),
            ("CRF588", "--port", 0, "--host", "300.1.1.1"),
            ("CRF498", "--port", 0, "--data", tmp_path / "file"),
        ):
            assert code in run("serve", model, *options, code=1)


@pytest.mark.parametrize(
    "arguments, code",
    [(["none"], ""), (["crf_tagger", "x/crf_tagger"], "CRF736"), (["empty"], "CRF737")],
)
def test_what_cannot_be_served(folder: Path, tmp_path: Path, arguments: list[str], code: str) -> None:
    (tmp_path / "x").symlink_to(folder)
    spacy.blank("en").to_disk(tmp_path / "empty")
    (tmp_path / "crf_tagger").symlink_to(folder / "crf_tagger")
    given = [str(tmp_path / one / ("model-best" if "tagger" in one else "")) for one in arguments]
    result = invoke("serve", *given)
    assert result.exit_code == 1 and "Nothing is served" in result.output and code in result.output, result.output
