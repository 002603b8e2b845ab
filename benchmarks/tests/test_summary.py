import pytest

from benchmarks.summary import Outcome, failures, gather


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
