import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.engine import JOBS, ROOT, Job, Plan, run, select
from benchmarks.report import README

WORDS = {"the": ("DT", "B-NP"), "dog": ("NN", "I-NP"), "barks": ("VBZ", "B-VP"), "loudly": ("RB", "O")}


def run_engine(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.engine", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def chunking_data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "conll2000"
    folder.mkdir(parents=True)
    sentence = "".join(f"{word} {tag} {chunk}\n" for word, (tag, chunk) in WORDS.items())
    for split in ("train", "test"):
        (folder / f"{split}.txt").write_text(f"{sentence}\n" * 5, encoding="utf8")
    return folder.parent


def test_names_and_parts_of_names_choose_jobs() -> None:
    jobs = [Job("chunking", work, engine) for work in ("train", "memory") for engine in ("ours", "peer")]
    assert select(jobs, []) == jobs
    assert [job.name for job in select(jobs, ["peer"])] == ["chunking.train.peer", "chunking.memory.peer"]
    assert [job.name for job in select(jobs, ["memory.ours"])] == ["chunking.memory.ours"]
    assert select(jobs, ["nothing"]) == []


def test_the_training_that_a_job_needs_comes_along() -> None:
    jobs = [Job("xpos", "train", "peer"), Job("xpos", "decode", "peer", needs_model=True)]
    assert select(jobs, ["decode"]) == jobs


def test_models_are_trained_before_they_are_used() -> None:
    names = [job.name for job in JOBS]
    assert all(names.index(job.model_job) < names.index(job.name) for job in JOBS if job.needs_model)


def test_a_broken_job_fails_without_an_exception(tmp_path: Path) -> None:
    plan = Plan(data=tmp_path, models=tmp_path, repeats=1, iterations=None)
    assert run(Job("chunking", "unknown", "peer"), plan) is None


def test_missing_data_is_a_note_not_an_error(tmp_path: Path) -> None:
    done = run_engine("--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out.json"))
    assert done.returncode == 0
    assert "Skipped" in done.stdout and "conll2000" in done.stdout and "--data" in done.stdout
    assert not (tmp_path / "out.json").exists()


def test_an_unknown_job_is_named(tmp_path: Path) -> None:
    done = run_engine("--only", "speed", "--out", str(tmp_path / "out.json"))
    assert done.returncode == 1
    assert "speed" in done.stdout and "chunking.train.peer" in done.stdout


@pytest.mark.parametrize("options", [["--repeats", "0"], ["--out", "nowhere/out.json"]])
def test_impossible_options_stop_before_any_measurement(tmp_path: Path, options: list[str]) -> None:
    done = run_engine("--out", str(tmp_path / "out.json"), *options)
    assert done.returncode == 2
    assert options[0] in done.stderr


def test_a_quick_run_measures_both_engines_and_leaves_the_readme(chunking_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    out, readme = tmp_path / "out.json", README.read_bytes()
    options = ["--data", str(chunking_data), "--out", str(out), "--only", "chunking.peer"]
    options += ["--only", "memory.ours", "--only", "chunking.marginals.ours"]
    done = run_engine(*options, "--quick", "--repeats", "2")
    assert done.returncode == 0, done.stderr
    document = json.loads(out.read_text(encoding="utf8"))
    works = {work: measured["engines"]["peer"] for work, measured in document["results"]["chunking"].items()}
    assert document["quick"] and not document["complete"]
    assert works["train"]["summary"]["test_f1"]["median"] == 100.0
    assert works["train"]["summary"]["iterations"]["max"] <= 5
    assert len(works["train"]["runs"]) == 1 and len(works["decode"]["runs"]) == 2
    assert works["marginals"]["summary"]["tokens_per_second"]["min"] > 0
    ours = {work: document["results"]["chunking"][work]["engines"]["ours"] for work in ("train", "memory", "marginals")}
    assert ours["train"]["summary"]["test_f1"]["median"] == 100.0 and len(ours["marginals"]["runs"]) == 2
    assert ours["memory"]["summary"]["peak_mebibytes"]["min"] > ours["memory"]["summary"]["before_mebibytes"]["max"]
    assert README.read_bytes() == readme
