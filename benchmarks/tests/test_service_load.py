"""Load on a service with a small model, for two seconds."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import pytest

for package in ("fastapi", "uvicorn", "cassis", "psutil"):
    pytest.importorskip(package, reason="the service needs spacy_crf[serve], and its load psutil")

from benchmarks.hostile import BODIES, Right, right_requests  # noqa: E402
from benchmarks.measure import ROOT  # noqa: E402
from benchmarks.service_load import GOOD, Hostile, Reply, fault_of  # noqa: E402

MODEL = ROOT / "tests" / "contract" / "data" / "models" / "tagger.zip"
TOLD = {"name": "one", "answers": ["tag", "cite", "punctuate"], "components": [{"labels": ["NN", "VB"]}]}


@pytest.mark.parametrize("options", [[], ["--hostile", "1"]])
def test_load_is_measured_and_finds_no_fault(tmp_path: Path, options: list[str]) -> None:
    with zipfile.ZipFile(MODEL) as archive:
        archive.extractall(tmp_path / "tagger")
    out = tmp_path / "load.json"
    command = [sys.executable, "-m", "benchmarks.service_load", str(tmp_path / "tagger"), "--out", str(out)]
    done = subprocess.run([*command, "--seconds", "2", "--connections", "3", *options], cwd=ROOT, capture_output=True)
    found = json.loads(out.read_text(encoding="utf8"))
    assert found["faults"] == [] and done.returncode == 0
    assert found["requests_per_second"] > 1 and found["cpu_milliseconds_per_request"] > 0
    assert found["p99_milliseconds"] >= found["p50_milliseconds"] > 0 and found["first_mebibytes"] > 50
    assert (found["hostile"] > 0) is bool(options) and f"{GOOD} 200" in found["statuses"]


@pytest.mark.parametrize(
    ("status", "body", "is_whole", "is_fault"),
    [
        (200, b"{}", True, False),
        (422, b'{"code":"CRF734","message":"[CRF734]"}', True, False),
        (422, b"Invalid", True, True),
        (400, b"Invalid HTTP request received.", False, False),
        (500, b'{"code":"CRF739","message":"[CRF739]"}', True, True),
        (503, b'{"code":"CRF729","message":"[CRF729]"}', False, True),
    ],
)
def test_what_is_a_fault(status: int, body: bytes, is_whole: bool, is_fault: bool) -> None:
    assert bool(fault_of(Hostile("one", [b"GET"], is_whole), Reply(status, body))) is is_fault


@pytest.mark.parametrize("change", BODIES, ids=lambda change: change.__name__)
def test_damages_are_the_same_for_a_seed_and_leave_the_request_as_it_is(change) -> None:
    right = right_requests([TOLD])
    before = [one.content for one in right]
    for number, one in enumerate(right):
        assert change(Random(number), one) == change(Random(number), Right(one.path, one.body, one.kind))
    assert [one.content for one in right] == before
