"""`make demo`: what it shows of trained pipelines, and that it trains them."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import spacy
from helpers.folders import unpack_demo
from helpers.paths import ROOT

SHOWN = (
    "5 of 5",
    "tag_acc",
    "ml-util",
    "Repaired by constraints",
    "\n  2.2 It may be extended by letter.\n",
    "How is your sister",
    "Next",
)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A folder with small pipelines in the place of those that the demo trains."""
    unpack_demo(tmp_path)
    (tmp_path / "section_parser").mkdir()
    nlp = spacy.blank("en")
    nlp.add_pipe("section_parser")
    nlp.to_disk(tmp_path / "section_parser" / "model-best")
    return tmp_path


def load() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "demo.py"), run_name="demo"))


def test_each_part_shows_what_its_model_does(
    output: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    demo = load()
    monkeypatch.setitem(demo.main.__globals__, "train", lambda part, output: output / part.component / "model-best")
    demo.main(output)
    told = capfd.readouterr().out.replace("how is your sister", "How is your sister")
    assert all(one in told for one in SHOWN)
    commands = [line.split() for line in told.splitlines() if line.startswith("    " + demo.PYTHON)]
    assert {command[3] for command in commands} == {"crf", "train"} and len(commands) >= 2 * len(demo.PARTS)
    assert all(Path(word).exists() for command in commands for word in command if word.endswith(("model-best", ".cfg")))


@pytest.mark.slow
def test_training_included(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    load().main(tmp_path)
    told = capfd.readouterr().out
    assert all(one in told for one in SHOWN) and "Dear Anna, thank you for your letter. How is your sister?" in told


def test_a_command_that_fails_ends_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        load().run("crf", "no-such-command")
    assert ended.value.code not in (0, None)
