"""Commands as users type them, in the process of the tests."""

from functools import partial
from pathlib import Path

from spacy.cli import app as spacy_app
from thinc.api import Config
from typer import Typer
from typer.testing import CliRunner, Result

from spacy_crf.cli import app


def invoke(*arguments: object, of: Typer = app, data: str | bytes | None = None) -> Result:
    """Return the outcome of a command. data (str | bytes | None): its standard input."""
    return CliRunner().invoke(of, [str(argument) for argument in arguments], input=data)


def run(*arguments: object, of: Typer = app, code: int = 0) -> str:
    """Return what a command tells, which has to end with a code."""
    result = invoke(*arguments, of=of)
    assert result.exit_code == code, f"{result.output}\n{result.exception!r}"
    return result.output


invoke_spacy, run_spacy = partial(invoke, of=spacy_app), partial(run, of=spacy_app)


def spacy_train(config: Config, folder: Path) -> str:
    """Train by a config, which is written to a folder, into the folder. RETURNS (str): what is told of it."""
    folder.mkdir(parents=True, exist_ok=True)
    config.to_disk(folder / "config.cfg")
    return run_spacy("train", folder / "config.cfg", "--output", folder)
