"""What all commands share: words for options, examples, quiet, old spellings."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.commands import invoke, run
from helpers.paths import ROOT
from spacy.training import Example
from typer.main import get_command

from spacy_crf.cli import COMMANDS, app

GROUP: Any = get_command(app)
# Options that said the same in other words, and what they are called now
OLD = ("--pipe", "--layout", "--source", "--write")
FIGURES = ("constraints", "evaluate", "experiment", "explain", "inspect", "search", "sets", "tag", "tune")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline of two taggers, and gold for it."""
    folder = tmp_path_factory.mktemp("surface")
    gold = folder / "gold.conllu"
    rows = [("Ada", "PROPN"), ("runs", "VERB"), ("fast", "ADV")]
    lines = [f"{i}\t{word}\t_\t{pos}\t{pos}\t_\t_\t_\t_\t_" for i, (word, pos) in enumerate(rows, 1)]
    gold.write_text("\n".join([*lines, "", ""]), encoding="utf8")
    nlp = spacy.blank("en")
    nlp.config["training"]["score_weights"] = {"tag_acc": 0.5, "pos_acc": 0.5, "crf_score": 0.0}
    words, tags = [word for word, _ in rows], [tag for _, tag in rows]
    example = Example.from_dict(nlp.make_doc("Ada runs fast"), {"words": words, "tags": tags, "pos": tags})
    for name, target in (("first", "tag"), ("second", "pos")):
        nlp.add_pipe("crf_tagger", name=name, config={"target": target})
    nlp.initialize(lambda: [example])
    nlp.update([example])
    nlp.to_disk(folder / "model")
    return folder / "model"


def command_of(name: str) -> Any:
    return GROUP.get_command(None, name)


def spellings(command: Any) -> set[str]:
    return {spelt for parameter in command.params for spelt in getattr(parameter, "opts", ())}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_words_of_all(name: str) -> None:
    known = spellings(command_of(name))
    assert "--quiet" in known and not known & set(OLD)
    if name in FIGURES:
        assert "--json" in known


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_a_command_can_be_written_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = command_of(name)
    title, example = (line.strip() for line in command.epilog.removeprefix("\b\n").splitlines())
    assert title == "Example:"
    *program, called = shlex.split(example)[:5]
    assert [*program, called] == ["python", "-m", "spacy", "crf", name]
    arguments = shlex.split(example)[5:]
    Path("results").mkdir()
    for text in arguments:  # files that must be there
        if "." in text and " " not in text:
            Path(text).touch()
    Path("training/model-best").mkdir(parents=True)
    with command.make_context(name, list(arguments)) as context:
        assert context.params


def test_every_help_ends_with_an_example() -> None:
    result = invoke("tag", "--help")
    assert result.output.rstrip().endswith("python -m spacy crf tag training/model-best 'The letters came late.'")


def test_the_version_and_the_codes_of_exits_are_told() -> None:
    assert invoke("--version").output == f"{__import__('spacy_crf').__version__}\n"
    assert "ends with 0" in " ".join(invoke("--help").output.split())
    assert invoke("tag", "nowhere").exit_code == 1
    assert invoke("tag").exit_code == 2


def test_an_old_name_still_works_and_says_what_it_is_called_now(model: Path) -> None:
    new = invoke("tag", model, "Ada runs", "--component", "second")
    for old in (["--pipe", "second"], ["--pipe=second"]):
        result = invoke("tag", model, "Ada runs", *old)
        assert result.exit_code == 0 and result.stdout == new.stdout
        assert "--pipe is called --component now" in " ".join(result.stderr.split())


def test_what_follows_two_dashes_is_no_option(model: Path) -> None:
    result = invoke("tag", model, "--", "--pipe")
    assert result.exit_code == 0 and not result.stderr and "pipe" in result.stdout


def test_a_flag_that_was_a_file_takes_it_as_before(model: Path, tmp_path: Path) -> None:
    config = tmp_path / "tagger.cfg"
    assert invoke("init", "crf_tagger", config, "--quiet").output == ""
    gold = model.parent / "gold.conllu"
    paths = ("--paths.train", gold, "--paths.dev", gold, "--c2", "1", "--folds", 2, "--iterations", 2)
    gold.write_text(gold.read_text(encoding="utf8") * 4, encoding="utf8")
    old = invoke("tune", config, *paths, "--json", tmp_path / "a.json", "--write", tmp_path / "a.cfg")
    assert old.exit_code == 0, old.output
    assert "--json is called --results now" in " ".join(old.stderr.split())
    assert "--write is called --output now" in " ".join(old.stderr.split())
    new = invoke("tune", config, *paths, "--json")
    before = json.loads((tmp_path / "a.json").read_text())
    assert {**json.loads(new.stdout), "settings": 0} == {**before, "settings": 0}


def test_review_took_the_format_of_its_list_by_the_name_of_the_input(model: Path) -> None:
    gold = model.parent / "gold.conllu"
    old = invoke("review", model, gold, "--format", "jsonl")
    assert "--format is called --to now" in " ".join(old.stderr.split())
    assert old.stdout == invoke("review", model, gold, "--to", "jsonl", "--format", "conllu").stdout != ""


def test_figures_as_data_are_all_that_is_written(model: Path, tmp_path: Path) -> None:
    found = invoke("evaluate", model, model.parent / "gold.conllu", "--json", "--output", tmp_path / "figures.json")
    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf8"))
    shown = json.loads(found.stdout)
    assert shown.keys() == written.keys() and shown["scores"] == written["scores"]


def test_tokens_as_data_hold_what_the_table_shows(model: Path) -> None:
    (line,) = invoke("tag", model, "Ada runs", "--json").stdout.splitlines()
    data = json.loads(line)
    assert data["text"] == "Ada runs" and [(token["token"], token["start"]) for token in data["tokens"]] == [
        ("Ada", 0),
        ("runs", 4),
    ]
    shown = invoke("tag", model, "Ada runs").stdout
    for token in data["tokens"]:
        assert f"{token['tag']}" in shown and f"{token['probability']:.2f}" in shown


def test_quiet_tells_results_alone(model: Path, tmp_path: Path) -> None:
    gold = model.parent / "gold.conllu"
    told = invoke("review", model, gold, "--output", tmp_path / "told.tsv")
    quiet = invoke("review", model, gold, "--output", tmp_path / "quiet.tsv", "--quiet")
    assert "Wrote" in told.output and "Next: fill in the column gold" in told.output
    assert "beside the old data" in " ".join(told.output.split())
    assert not quiet.output and (tmp_path / "quiet.tsv").read_bytes() == (tmp_path / "told.tsv").read_bytes()
    assert "tokens" in invoke("convert", gold, tmp_path / "told.spacy").output
    assert not invoke("convert", gold, tmp_path / "quiet.spacy", "--quiet").output


def spacy_train(*arguments: object, developing: bool = False) -> subprocess.CompletedProcess[str]:
    flags = ["-X", "dev"] if developing else []
    command = [sys.executable, *flags, "-W", "ignore", "-m", "spacy", "train", ROOT / "configs" / "crf_tagger.cfg"]
    return subprocess.run([*map(str, [*command, *arguments])], cwd=ROOT, capture_output=True, text=True)


def test_spacy_train_tells_our_errors_without_a_traceback() -> None:
    arguments = ("--paths.train", "nowhere", "--paths.dev", "nowhere")
    done = spacy_train(*arguments)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "[CRF502] No such file or folder: 'nowhere'" in " ".join(done.stderr.split())
    assert "Traceback" in spacy_train(*arguments, developing=True).stderr


def test_the_shell_completes_our_commands() -> None:
    """In the way of a shell in which `spacy-crf --install-completion` was run."""
    words = {"COMP_WORDS": "spacy-crf guar", "COMP_CWORD": "1", "_SPACY_CRF_COMPLETE": "complete_bash"}
    program = "from spacy_crf.cli import app; app(prog_name='spacy-crf')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={**os.environ, **words}, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split() == ["guarantee"], done.stderr


def test_no_command_writes_over_what_it_reads(model: Path, tmp_path: Path) -> None:
    """Under whatever name the file is given; the user's file stays as it is."""
    pasted = tmp_path / "pasted.txt"
    pasted.write_text("1. Scope\nAll ferries.\n", encoding="utf8")
    (tmp_path / "other.txt").symlink_to(pasted)
    gold = model.parent / "gold.conllu"
    run("convert", gold, stored := tmp_path / "gold.spacy")
    before = {path: path.read_bytes() for path in (pasted, gold, stored)}
    for asked in (
        ("sections", pasted, "--output", pasted),
        ("sections", pasted, "--output", tmp_path / "other.txt"),
        ("evaluate", model, gold, "--output", gold),
        ("dictionary", gold, "--output", gold),
        ("convert", stored, stored, "--group", "sentence"),
        ("tune", pasted, "--results", pasted),
        ("experiment", pasted, "--results", pasted),
        ("search", pasted, gold, "--results", gold),
        ("casing", pasted, "--output", tmp_path / "cases.tsv", "--marks", pasted),
    ):
        assert "CRF579" in run(*asked, code=1)
    assert {path: path.read_bytes() for path in before} == before


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may have more than some bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["evaluate", "report", "dictionary"])
def test_a_full_disk_leaves_the_old_result(model: Path, tmp_path: Path, name: str) -> None:
    output = tmp_path / "result"
    output.write_text("old")
    read = [model] if name != "dictionary" else []
    with full_disk():
        told = run(name, *read, model.parent / "gold.conllu", "--output", output, code=1)
    assert "CRF499" in told and "File too large" in told and output.name in told
    assert output.read_text() == "old" and list(tmp_path.iterdir()) == [output]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device is full")
def test_an_output_that_is_full_is_told_beside_it(model: Path) -> None:
    command = [sys.executable, "-m", "spacy", "crf", "evaluate", str(model), str(model.parent / "gold.conllu")]
    with open("/dev/full", "w") as full:
        told = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert told.returncode == 1 and "CRF499" in told.stderr and "Traceback" not in told.stderr


def test_results_in_a_pipe_are_utf8(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("1. Łódź\nAll ferries.\n\n2. Term\nA year.\n", encoding="utf8")
    command = [sys.executable, "-m", "spacy", "crf", "sections", str(text), "--to", "md"]
    done = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, capture_output=True)
    assert "Łódź" in done.stdout.decode("utf8"), done.stderr


def test_a_result_is_packed_where_its_name_says_so(model: Path, tmp_path: Path) -> None:
    run("evaluate", model, model.parent / "gold.conllu", "--output", tmp_path / "a.json.gz")
    assert "tag_acc" in gzip.decompress((tmp_path / "a.json.gz").read_bytes()).decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "MODEL", ""),
        ("evaluate", "", "gold.conllu"),
        ("evaluate", "MODEL", "gold.conllu", "--train="),
        ("tag", "MODEL", "It", "--component", ""),
        ("cite", "MODEL", "references.txt", "--min-confidence", "nan"),
        ("pool", "pooled", "MODEL", "MODEL", "--exponent", "inf"),
        ("calibrate", "MODEL", "gold.conllu", "--bins", 10**20),
        ("apply", "MODEL", "texts", "output", "--processes", 10**20),
        ("dictionary", "gold.conllu", "--top", 10**20),
    ],
)
def test_values_that_mean_nothing_are_wrong_usage(arguments: tuple[object, ...]) -> None:
    assert "Invalid value for" in run(*arguments, code=2)


def test_a_text_may_be_empty(model: Path) -> None:
    run("tag", model, "")


def test_a_package_need_not_be_a_pipeline() -> None:
    assert "[CRF886] 'numpy'" in run("tag", "numpy", "It", code=1)
