"""`crf search` from the config and the space to the config."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import invoke
from spacy.util import load_config

from spacy_crf.cli.search import held, short_names
from spacy_crf.lab.training import digest_data, train_config

SPACE = """
[settings]
"components.crf_tagger.trainer.c2" = { low = 0.001, high = 0.1, log = true }
"components.crf_tagger.trainer.period" = [5, 10]
[templates]
always = ["BIAS"]
word = ["LOWER[0]"]
before = { none = [], one = ["LOWER[-1]"] }
[start]
word = "off"
before = "none"
"""


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "space.toml"
    path.write_text(SPACE, encoding="utf8")
    return path


@pytest.fixture
def arguments(config: Path, corpus: Path, space: Path) -> tuple[Any, ...]:
    few = ("--training.max_steps", 2, "--components.crf_tagger.trainer.iterations_per_step", 2)
    return (config, space, "--paths.train", corpus, *few)


run = partial(invoke, "search")


def test_from_config_to_config(arguments: tuple[Any, ...], config: Path, tmp_path: Path) -> None:
    out, results, storage = tmp_path / "new" / "best.cfg", tmp_path / "new" / "results.json", tmp_path / "a" / "s.db"
    options = ("--results", results, "--output", out, "--storage", storage, "--top", 3)
    result = run(*arguments, "--trials", 6, *options)
    assert result.exit_code == 0, result.output
    assert "6 trials: " in result.stdout and "importance" in result.stdout and "before" in result.stdout
    assert result.stderr.count("Trial ") == 6 and "Trial " not in result.stdout
    data = json.loads(results.read_text(encoding="utf8"))
    best = data["best"]
    assert data["trials"][0]["values"]["word"] == "off" and best["values"]["word"] == "on"
    before, after = (load_config(path, interpolate=False) for path in (config, out))
    block = after["components"]["crf_tagger"]
    assert block["trainer"]["c2"] == best["values"]["components.crf_tagger.trainer.c2"]
    assert block["features"]["templates"][:2] == ["BIAS", "LOWER[0]"]
    assert after["corpora"] == before["corpora"] and after["training"]["logger"] == before["training"]["logger"]
    trained = train_config(load_config(out), lambda evaluation: None)
    assert trained.score == best["score"] and trained.scores["tag_acc"] == best["scores"]["tag_acc"]
    more = run(*arguments, "--trials", 7, *options)
    assert more.stderr.count("Trial ") == 1 and "7 trials: " in more.stdout
    again = json.loads(results.read_text(encoding="utf8"))
    assert again["trials"][:6] == data["trials"]


def test_trials_on_other_data_are_not_mixed_in(arguments: tuple[Any, ...], corpus: Path, tmp_path: Path) -> None:
    own, storage = tmp_path / "own.tsv", tmp_path / "s.db"
    shutil.copy(corpus, own)
    given = ("--paths.train", own, "--storage", storage, "--trials")
    assert run(*arguments, *given, 1).exit_code == 0
    own.write_bytes(own.read_bytes() + b"\n")
    result = run(*arguments, *given, 2)
    assert result.exit_code == 1 and "CRF634" in result.output and "another data" in " ".join(result.output.split())


def test_trials_with_other_code_are_not_mixed_in(arguments: tuple[Any, ...], tmp_path: Path) -> None:
    code, storage = tmp_path / "own.py", tmp_path / "s.db"
    code.write_text("WEIGHT = 0.5\n")
    given = ("--code", code, "--storage", storage, "--trials")
    assert run(*arguments, *given, 1).exit_code == 0
    assert run(*arguments, *given, 1).exit_code == 0
    code.write_text("WEIGHT = 0.9\n")
    result = run(*arguments, *given, 2)
    assert result.exit_code == 1 and "CRF634" in result.output and "another code" in " ".join(result.output.split())


def test_two_searches_at_once_do_not_share_a_storage(arguments: tuple[Any, ...], tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    with held(storage):
        result = run(*arguments, "--storage", storage, "--trials", 1)
    told = " ".join(result.output.split())
    assert result.exit_code == 1 and "CRF634" in told and "another search uses it now" in told and not storage.exists()
    assert run(*arguments, "--storage", storage, "--trials", 1).exit_code == 0
    assert [path.name for path in tmp_path.glob("s.db*")] == ["s.db"]
    (tmp_path / "s.db-lock").mkdir()  # stands for a folder that cannot be written to
    result = run(*arguments, "--storage", storage, "--trials", 2)
    told = " ".join(result.output.split())
    assert result.exit_code == 1 and "CRF634" in told and "unable to open" in told


def test_the_storage_and_other_settings_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a")
    config = {"corpora": {"train": {"path": str(tmp_path), "separator": "/", "text": {"path": None}}}}
    before = digest_data(config, tmp_path / "s.db")
    for name in ("s.db", "s.db-journal"):
        (tmp_path / name).write_text("b")
    assert digest_data(config, tmp_path / "s.db") == before
    (tmp_path / "b.tsv").write_text("b")
    assert digest_data(config, tmp_path / "s.db") != before


def test_files_of_components_are_data(tmp_path: Path) -> None:
    for folder in ("cache", "begun", "model"):
        (tmp_path / folder).mkdir()
    names = {"lists": "list.tsv", "cache": "cache/a.corpus", "start": "begun/cfg", "vectors": "model/meta.json"}
    files = {name: tmp_path / file for name, file in names.items()}
    for file in files.values():
        file.write_text("a")
    crf = {"factory": "crf_tagger", "features": {"lists": {"names": str(files["lists"])}}}
    crf |= {"trainer": {"cache": str(tmp_path / "cache")}, "constraints": ["at most 1 TITLE" * 99]}
    initialize = {"vectors": str(tmp_path / "model"), "components": {"crf": {"start": str(tmp_path / "begun")}}}
    config = {"corpora": {}, "components": {"crf": crf}, "initialize": initialize}
    before = digest_data(config, tmp_path / "s.db")
    for name, file in files.items():
        file.write_text("b")
        assert (digest_data(config, tmp_path / "s.db") == before) == (name == "cache")
        file.write_text("a")


def test_folds_need_no_dev_corpus(arguments: tuple[Any, ...], tmp_path: Path) -> None:
    options = ("--folds", 3, "--trials", 2, "--results", tmp_path / "a.json", "--score", "tag_acc")
    result = run(*arguments, "--paths.dev", "null", *options)
    assert result.exit_code == 0, result.output
    data = json.loads((tmp_path / "a.json").read_text(encoding="utf8"))
    for trial in data["trials"]:
        assert len(trial["folds"]) == 3 and trial["score"] == pytest.approx(sum(trial["folds"]) / 3)
    assert "tag_acc" in result.stdout


def test_corpora_may_have_their_usual_names(arguments: tuple[Any, ...], config: Path, tmp_path: Path) -> None:
    written = load_config(config, interpolate=False)
    del written["training"]["train_corpus"], written["training"]["dev_corpus"]
    written.to_disk(tmp_path / "short.cfg", interpolate=False)
    result = run(tmp_path / "short.cfg", *arguments[1:], "--folds", 2, "--trials", 1)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--score", "nothing"], "CRF633"),
        (["--folds", "1"], "CRF549"),
        (["--folds", "99"], "CRF637"),
        (["--trials", "0"], "CRF636"),
        (["--component", "tagger"], "CRF635"),
        (["--paths.train", "nowhere"], "CRF502"),
    ],
)
def test_what_is_wrong_is_named(arguments: tuple[Any, ...], options: list[str], code: str) -> None:
    result = run(*arguments, *options)
    assert result.exit_code == 1 and code in result.output, result.output


def test_columns_have_the_shortest_names_that_differ() -> None:
    assert short_names(["a.b.c2", "a.d.c2", "words", "a.b.c1"]) == ["b.c2", "d.c2", "words", "c1"]
    assert short_names(["c", "a.c"]) == ["c", "a.c"]
