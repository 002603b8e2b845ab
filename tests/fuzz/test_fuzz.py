"""Some hundreds of inputs for each parser, always the same, and all that was found once."""

from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from fuzz.mutate import Inputs
from fuzz.runner import Runner, fuzz
from fuzz.targets import FOUND, TARGETS, Target

RUNS = 150
SECONDS = 3.0


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_takes_an_input_or_refuses_it(name: str) -> None:
    report = fuzz(name, TARGETS[name], Inputs(list(TARGETS[name].seeds()), seed=1), RUNS, SECONDS)
    assert report.findings == {}
    assert report.inputs > report.refused


@pytest.mark.parametrize("name", TARGETS)
def test_parsers_take_what_fuzzing_begins_with(name: str, tmp_path: Path) -> None:
    runner = Runner(name, TARGETS[name], tmp_path)
    with runner.watching():
        for seed in islice(TARGETS[name].seeds(), 3):
            runner.run(seed)
    assert (runner.report.refused, runner.report.findings) == (0, {})


@pytest.mark.parametrize("path", sorted(FOUND.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_was_found_once(path: Path, tmp_path: Path) -> None:
    runner = Runner(path.parent.name, TARGETS[path.parent.name], tmp_path)
    runner.run(path.read_bytes())
    assert runner.report.findings == {}


def _swallow(data: bytes, folder: Path) -> None:
    """Handle all errors of an input, as pipelines do; one input never ends."""
    with suppress(Exception):
        while data == b"endless":
            pass


def test_a_handler_of_errors_does_not_hide_what_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.runner.MOST_SECONDS", 0.5)
    runner = Runner("swallowing", Target(_swallow, list), tmp_path)
    with runner.watching():
        assert runner.run(b"short") and not runner.run(b"endless")
    assert [place.split()[0] for place in runner.report.findings] == ["TooSlow"]
