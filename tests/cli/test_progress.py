"""Bars of commands that may take long: on standard error where that is a terminal, and nothing elsewhere."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import invoke
from helpers.folders import unpack_model
from helpers.paths import ROOT

from spacy_crf.cli import options
from spacy_crf.cli.options import watched

CORPUS = ROOT / "corpus"
TAGGED, SETS = CORPUS / "crf_tagger" / "dev.conllu", CORPUS / "set_valued_tagger" / "dev"


class Stream(io.StringIO):
    """Standard error."""

    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self) -> bool:
        return self.is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    stream = Stream(is_terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(watched([1, 2, 3], "Counting")) == [1, 2, 3]
    assert ("Counting" in stream.getvalue()) == is_terminal


COMMANDS: dict[str, list[Any]] = {
    "evaluate": ["tagger", TAGGED],
    "report": ["tagger", TAGGED, "--most", 1],
    "calibrate": ["tagger", TAGGED],
    "sets": ["sets", SETS, "--format", "tagsets"],
    "guarantee": ["sets", SETS, "--format", "tagsets", "--level", 0.2],
    "annotate": ["sets", SETS, "--source", "tagsets"],
    "review": ["tagger", TAGGED],
    "cite": ["references", CORPUS / "constrained_ner" / "bibliography.txt"],
}
WITH_OUTPUT = ("annotate", "report")


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_show_how_far_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    told = []

    def tell(items: Any, what: str, **settings: Any) -> Any:
        told.append((what, settings["disable"]))
        return items

    monkeypatch.setattr(options, "tqdm", tell)
    model, *arguments = COMMANDS[name]
    unpack_model(model, tmp_path / model)
    order = [tmp_path / model, *arguments] if name != "cite" else [*arguments, tmp_path / model]
    output = ["--output", tmp_path / "output"] if name in WITH_OUTPUT else []
    result = invoke(name, *order, *output)
    if name == "cite" and result.exit_code:
        result = invoke("cite", tmp_path / model, arguments[0])
    assert result.exit_code == 0, result.output
    assert told and all(disable is None for _, disable in told)
