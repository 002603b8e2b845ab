from pathlib import Path

import pytest

from benchmarks.engine import JOBS
from benchmarks.report import ROWS, TITLES, Document, publish, render, update
from benchmarks.summary import Outcome, failures, gather
from benchmarks.tasks import TASKS

BEGIN, END = "<!-- engine:begin -->", "<!-- engine:end -->"


def make_document(*outcomes: Outcome, quick: bool = False, complete: bool = True) -> Document:
    return {
        "machine": {
            "date": "2030-01-02 03:04 UTC",
            "cpu": "Abacus",
            "cores": 2,
            "memory_gib": 4.0,
            "system": "Linux",
            "load_at_start": 0.5,
            "versions": {"python": "3.11"},
        },
        "quick": quick,
        "complete": complete,
        "repeats": 3,
        "results": gather(outcomes),
    }


def find_row(table: str, label: str) -> list[str]:
    line = next(line for line in table.splitlines() if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_ratios_for_times_and_points_for_percentages() -> None:
    ours = Outcome("chunking", "train", "ours", {"train_wall": 30.0, "test_f1": 93.7})
    peer = Outcome("chunking", "train", "peer", {"train_wall": 120.0, "test_f1": 93.5})
    table = render(make_document(ours, peer))
    assert find_row(table, "training alone, wall")[1:] == ["30.0 s", "120.0 s", "0.25"]
    assert find_row(table, "chunk F1, test")[1:] == ["93.70 %", "93.50 %", "+0.20"]


def test_repeated_numbers_show_their_spread() -> None:
    speeds = [10_000.0, 12_000.0, 11_000.0]
    outcomes = [Outcome("chunking", "end_to_end", "peer", {"tokens_per_second": speed}) for speed in speeds]
    row = find_row(render(make_document(*outcomes)), "words to labels")
    assert row == ["words to labels", "11,000 tokens/s (10,000 to 12,000)"]


def test_failed_jobs_and_missing_numbers_are_visible() -> None:
    ours = Outcome("chunking", "train", "ours", None)
    peer = Outcome("chunking", "train", "peer", {"train_wall": 120.0})
    table = render(make_document(ours, peer))
    assert find_row(table, "training alone, wall")[1:] == ["failed", "120.0 s", ""]
    assert "UPOS" not in table


def test_quick_runs_say_so() -> None:
    assert "Quick run" in render(make_document(quick=True))
    assert "Quick run" not in render(make_document())


def test_the_table_replaces_what_stands_between_the_markers(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf8")
    update(readme, "new")
    update(readme, "newer")
    assert readme.read_text(encoding="utf8") == f"before\n{BEGIN}\nnewer\n{END}\nafter\n"


def test_only_complete_runs_are_kept(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n", encoding="utf8")
    assert "Abacus" in publish(make_document(complete=False), readme)
    assert "Abacus" not in readme.read_text(encoding="utf8")
    publish(make_document(), readme)
    assert "Abacus" in readme.read_text(encoding="utf8")


def test_a_readme_without_markers_is_left_alone(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"{END} {BEGIN}", encoding="utf8")
    with pytest.raises(ValueError, match="engine:begin"):
        update(readme, "new")
    assert readme.read_text(encoding="utf8") == f"{END} {BEGIN}"


def test_every_job_has_a_task_and_every_row_a_job() -> None:
    assert {job.task for job in JOBS} <= set(TASKS) == set(TITLES)
    assert {(row.task, row.work) for row in ROWS} <= {job.measure for job in JOBS}


# -- numbers -----------------------------------------------------------------------------------------------------


def test_repeats_become_medians_and_ratios() -> None:
    seconds = [("ours", 2.0), ("peer", 9.0), ("ours", 1.0), ("peer", 8.0), ("ours", 6.0), ("peer", 4.0)]
    results = gather(Outcome("chunking", "decode", engine, {"wall": wall}) for engine, wall in seconds)
    measured = results["chunking"]["decode"]
    assert measured["engines"]["ours"]["summary"]["wall"] == {"median": 2.0, "min": 1.0, "max": 6.0}
    assert measured["ratios"] == {"wall": pytest.approx(0.25)}


def test_only_numbers_of_both_engines_are_compared() -> None:
    numbers = [("ours", {"wall": 1.0, "extra": 3.0}), ("peer", {"wall": 2.0, "zero": 0.0})]
    results = gather(Outcome("xpos", "train", engine, values) for engine, values in numbers)
    assert results["xpos"]["train"]["ratios"] == {"wall": 0.5}


def test_a_failure_is_kept_and_gives_no_figures() -> None:
    outcomes = [Outcome("xpos", "train", "peer", {"wall": 1.0}), Outcome("xpos", "train", "peer", None)]
    results = gather(outcomes)
    assert failures(results) == ["xpos.train.peer"]
    assert results["xpos"]["train"]["engines"]["peer"]["summary"] == {}
