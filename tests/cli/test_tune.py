"""`crf tune` from the config to the config."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers.commands import invoke, run_spacy
from helpers.paths import ROOT
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_crf.cli.search import training_examples

run = partial(invoke, "tune")


def test_from_config_to_config(config: Path, corpus: Path, tmp_path: Path) -> None:
    out, results = tmp_path / "new" / "tuned.cfg", tmp_path / "new" / "results.json"
    penalties = ("--c1", "0,0.5", "--c2", "0.01, 1000")
    arguments = (config, "--paths.train", corpus, *penalties, "--folds", 3, "--iterations", 20)
    result = run(*arguments, "--output", out, "--results", results)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert "tag_acc" in result.stdout and ["c1", "=", "0.5,", "c2", "=", "0.01"] in lines
    assert [line[:3] for line in lines if line and line[0] == "*"] == [["*", "0.5", "0.01"]]
    assert result.stderr.count("of 3, c1 = ") == 12 and "of 3, c1 = " not in result.stdout
    data = json.loads(results.read_text(encoding="utf8"))
    assert (data["c1"], data["c2"], data["rule"], len(data["settings"])) == (0.5, 0.01, "best", 4)
    assert all(len(setting["folds"]) == 3 and setting["mean"] <= 1 for setting in data["settings"])
    before, after = (load_config(path, interpolate=False) for path in (config, out))
    trainer = {**before["components"]["crf_tagger"]["trainer"], "c1": 0.5, "c2": 0.01}
    assert after["components"]["crf_tagger"]["trainer"] == trainer
    assert after["corpora"]["train"]["path"] == "${paths.train}" and after["paths"]["train"] == str(corpus)
    run_spacy("train", out, "--training.max_steps", "1")


def test_the_training_corpus_may_be_read_to_be_scored(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("he\tP\n.\t$.\n\n", encoding="utf8")
    paths = {"train": str(tmp_path / "a.tsv"), "dev": str(tmp_path / "a.tsv")}
    config = load_config(
        ROOT / "configs" / "set_valued_tagger.cfg", overrides={f"paths.{k}": v for k, v in paths.items()}
    )
    nlp, name = init_nlp(config), "set_valued_tagger"
    text = {"text": {"@misc": "spacy_crf.HistoricalText.v1", "punctuation": "context"}}
    found = [training_examples(nlp, name, changes)[0].reference for changes in (None, text)]
    assert [[token.tag_ for token in doc] for doc in found] == [["P", "$."], ["P", ""]]


def test_settings_of_a_component_of_another_pipeline_are_refused(config: Path, corpus: Path, tmp_path: Path) -> None:
    """spaCy takes such a component as it is there: whatever is tried would be the same."""
    arguments = ["--paths.train", corpus, "--output", tmp_path / "first", "--training.max_steps", 1]
    run_spacy("train", config, *arguments)
    taken = load_config(config, interpolate=False)
    taken["components"]["crf_tagger"] = {"source": str(tmp_path / "first" / "model-last")}
    path, space = tmp_path / "taken.cfg", tmp_path / "space.toml"
    taken.to_disk(path, interpolate=False)
    space.write_text('[settings]\n"components.crf_tagger.trainer.c2" = [0.1, 1.0]\n', encoding="utf8")
    for command in (
        ["tune", path, "--output", tmp_path / "tuned.cfg"],
        ["search", path, space, "--trials", 2],
        ["experiment", path, "--vary", "components.crf_tagger.overwrite=true"],
        ["experiment", path, "--components.crf_tagger.decode", "posterior"],
    ):
        result = invoke(*command, "--paths.train", corpus)
        assert result.exit_code == 1 and "CRF881" in result.output, result.output
    assert not (tmp_path / "tuned.cfg").exists()


def test_a_trainer_may_be_a_variable_of_the_config(config: Path, corpus: Path, tmp_path: Path) -> None:
    written = load_config(config, interpolate=False)
    written["shared"] = {"trainer": written["components"]["crf_tagger"]["trainer"]}
    written["components"]["crf_tagger"]["trainer"] = "${shared.trainer}"
    path, out = tmp_path / "shared.cfg", tmp_path / "tuned.cfg"
    written.to_disk(path, interpolate=False)
    arguments = (path, "--paths.train", corpus, "--c2", "0.01,1", "--folds", 2, "--iterations", 3)
    assert run(*arguments).exit_code == 0
    assert run(*arguments, "--output", out).exit_code == 0
    found = load_config(out, interpolate=False)["components"]["crf_tagger"]["trainer"]
    assert found["@misc"] == "spacy_crf.LBFGS.v1" and found["c2"] in (0.01, 1)


@pytest.mark.parametrize("dev", ["nowhere.tsv", "null"])
def test_there_need_be_no_dev_corpus(dev: str, config: Path, corpus: Path, tmp_path: Path) -> None:
    arguments = ("--paths.train", corpus, "--c2", "0.01,1", "--folds", 2, "--iterations", 3)
    found = run(config, *arguments, "--paths.dev", corpus, "--output", tmp_path / "a.cfg", "--json")
    without = run(config, *arguments, "--paths.dev", dev, "--output", tmp_path / "b.cfg", "--json")
    assert without.exit_code == 0, without.output
    chosen = [
        [fold["score"] for one in json.loads(own.stdout)["settings"] for fold in one["folds"]]
        for own in (found, without)
    ]
    assert chosen[0] == chosen[1]
    assert load_config(tmp_path / "b.cfg", interpolate=False)["corpora"]["dev"]["path"] == "${paths.dev}"


def test_the_trainer_may_have_a_cache(config: Path, corpus: Path, tmp_path: Path) -> None:
    arguments = (config, "--paths.train", corpus, "--c2", "0.01,1", "--folds", 2, "--iterations", 3, "--json")
    cached = (*arguments, "--components.crf_tagger.trainer.cache", tmp_path / "cache")
    stream = ("--training.max_epochs", -1, "--training.batcher.cached", "true")
    found = [json.loads(run(*own).stdout)["settings"] for own in (arguments, cached, (*cached, *stream))]
    means = [[one["mean"] for one in own] for own in found]
    assert means[0] == means[1] == means[2]


def test_the_rule_and_the_unit_are_passed_on(config: Path, corpus: Path) -> None:
    arguments = (config, "--paths.train", corpus, "--c2", "0.01,0.1", "--folds", 2, "--iterations", 20)
    assert "c2 = 0.1\n" in run(*arguments, "--rule", "one-se", "--unit", "sequence").stdout
    assert run(*arguments, "--rule", "worst").exit_code == 2
    assert run(*arguments, "--unit", "token").exit_code == 2


@pytest.mark.filterwarnings("ignore:.*CRFW421")  # the later tagger is the one that is looked at
def test_components_that_annotate_are_run_unless_they_are_trained(config: Path, corpus: Path) -> None:
    changed = load_config(config)
    changed["paths"]["train"] = str(corpus)
    changed["nlp"]["pipeline"] = ["first", "second", "crf_tagger"]
    changed["components"].update(first={"factory": "sentencizer"}, second={"factory": "tagger"})
    changed["corpora"]["train"]["retokenize"] = True
    for annotating, is_split in (["first"], True), ([], False):
        changed["training"]["annotating_components"] = [*annotating, "crf_tagger"]
        examples = training_examples(init_nlp(changed), "crf_tagger")
        assert len(examples) == 12 and not any(eg.predicted.has_annotation("TAG") for eg in examples)
        assert all(eg.predicted.has_annotation("SENT_START") == is_split for eg in examples)
    changed["training"]["annotating_components"] = ["second"]
    changed.to_disk(config)
    result = run(config, "--folds", 2)
    assert result.exit_code == 1 and "CRF606" in result.output and "'second'" in result.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--c1", "0,a"], "CRF605"),
        (["--c2", "-1"], "CRF605"),
        (["--folds", "40"], "CRF603"),
        (["--folds", "1"], "CRF603"),
        (["--component", "tagger"], "CRF602"),
        (["--iterations", "0"], "CRF108"),
        (["--components.crf_tagger.trainer.@misc", "spacy_crf.Perceptron.v1"], "CRF604"),
        (["--paths.train", "nowhere"], "CRF502"),
        (["--components.crf_tagger.n_bst", "2"], "'n_bst'. Nearest: n_best"),
        (["--components.crf_tagger.trainer.itrations_per_step", "2"], "Nearest: iterations_per_step"),
        (["--corpora.train.formt", "conllu"], "Nearest: format"),
        (["--components.crf_tagger.n_best", "two"], "crf_tagger.n_best: "),
        (["--paths.dev", "${paths.none}"], "${paths.none}"),
    ],
)
def test_what_is_wrong_is_named(config: Path, corpus: Path, arguments: list[str], code: str) -> None:
    changed = load_config(config)
    changed["components"]["crf_tagger"]["trainer"] = {"@misc": "spacy_crf.LBFGS.v1"}
    changed.to_disk(config)
    result = run(config, "--paths.train", corpus, *arguments)
    assert result.exit_code == 1 and code in " ".join(result.output.split())


@pytest.mark.filterwarnings("ignore:.*CRFW101")
def test_files_are_written_whoever_reads_the_tables(
    config: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with `crf tune ... | head -1`."""
    space, model = tmp_path / "space.toml", tmp_path / "model"
    space.write_text('[settings]\n"components.crf_tagger.trainer.c2" = [0.1, 1.0]\n', encoding="utf8")
    train = ["--paths.train", corpus, "--training.max_steps", 1]
    run_spacy("train", config, *train, "--output", model)

    def leave(text: Any = "", **options: Any) -> None:
        if not options.get("err"):
            raise BrokenPipeError

    monkeypatch.setattr("typer.echo", leave)
    for name, arguments in (
        ("tune", [config, *train, "--folds", 2, "--results"]),
        ("search", [config, space, *train, "--trials", 1, "--results"]),
        ("experiment", [config, *train, "--by", "sentence", "--folds", 2, "--results"]),
        ("evaluate", [model / "model-last", corpus, "--columns", "word,tag", "--output"]),
        ("dictionary", [corpus, "--columns", "word,tag", "--output"]),
        ("calibrate", [model / "model-last", corpus, "--columns", "word,tag", "--output"]),
    ):
        result = invoke(name, *arguments, tmp_path / f"{name}.json")
        assert result.exit_code == 1 and (tmp_path / f"{name}.json").exists(), (name, result.output)
