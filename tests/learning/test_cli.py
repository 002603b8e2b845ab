"""spaCy's own command line over the component: what a user types, with a tiny corpus."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from helpers.commands import invoke_spacy, run_spacy
from helpers.paths import ROOT
from helpers.tagged import EXTENSION, TRAINER_CONFIGS, make_examples, read_target
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_crf import CRFWarning

CONFIG = ROOT / "configs" / "crf_tagger.cfg"


def make_config(path: Path, corpus: Path) -> Path:
    """The project's config with the tiny corpus, and few steps."""
    config = load_config(CONFIG)
    config["paths"].update(train=str(corpus), dev=str(corpus))
    config["training"]["max_steps"] = 1
    path.mkdir(parents=True, exist_ok=True)
    config.to_disk(path / "config.cfg")
    return path / "config.cfg"


def use_minibatch(config_path: Path, use_averages: bool = False) -> None:
    config = load_config(config_path)
    config["components"]["crf_tagger"]["trainer"] = dict(TRAINER_CONFIGS["Minibatch"])
    config["training"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 5}
    config["training"]["optimizer"] = {
        "@optimizers": "Adam.v1",
        "learn_rate": 0.05,
        "L2": 0.0,
        "use_averages": use_averages,
    }
    config["training"].update(max_steps=40, eval_frequency=10, patience=0)
    config.to_disk(config_path)


def performance(folder: Path) -> dict[str, Any]:
    return dict(srsly.read_json(folder / "model-best" / "meta.json")["performance"])


def component_bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "model-last" / "crf_tagger").iterdir())}


def test_train_evaluate_and_use(tmp_path: Path, corpus: Path) -> None:
    config = make_config(tmp_path, corpus)
    run_spacy("train", config, "--output", tmp_path / "out")
    assert performance(tmp_path / "out")["tag_acc"] == 1.0
    model, scores = tmp_path / "out" / "model-best", tmp_path / "scores.json"
    run_spacy("evaluate", model, corpus, "--gold-preproc", "--output", scores)
    assert srsly.read_json(scores)["tag_acc"] == 1.0
    run_spacy("evaluate", model, corpus, "--output", scores, "-P")
    own = srsly.read_json(scores)["crf_tagger"]
    assert own["tag_acc"] == own["crf_score"] == 1.0
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert [token.tag_ for token in nlp("Ada met Bo in Delft.")] == ["NNP", "VBD", "NNP", "IN", "NNP", "."]


@pytest.mark.parametrize(
    "target, score", [("pos", "pos_acc"), ("ent", "ents_f"), ("spans", "spans_sc_f"), (EXTENSION, None)]
)
def test_the_config_is_retargeted_on_the_command_line(
    tmp_path: Path, corpus: Path, target: str, score: str | None
) -> None:
    config = make_config(tmp_path, corpus)
    run_spacy("train", config, "--output", tmp_path / "out", "--components.crf_tagger.target", target)
    scores = performance(tmp_path / "out")
    assert scores["crf_score"] == 1.0
    assert score is None or scores[score] == 1.0
    assert spacy.load(tmp_path / "out" / "model-best").get_pipe("crf_tagger").target == target


def test_the_same_seed_gives_the_same_folder(tmp_path: Path, corpus: Path) -> None:
    config = make_config(tmp_path, corpus)
    for name in ("one", "two"):
        run_spacy("train", config, "--output", tmp_path / name)
    assert component_bytes(tmp_path / "one") == component_bytes(tmp_path / "two")


def test_parts_of_a_batch_give_the_model_of_the_whole(tmp_path: Path, corpus: Path) -> None:
    config = make_config(tmp_path, corpus)
    losses = []
    for parts in (1, 2):
        run_spacy("train", config, "--output", tmp_path / str(parts), "--training.accumulate_gradient", parts)
        nlp = spacy.load(tmp_path / str(parts) / "model-last")
        pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
        losses.append(pipe.get_loss(examples, pipe.predict([example.predicted for example in examples])))
    assert losses[0] == pytest.approx(losses[1], rel=1e-2)


@pytest.mark.parametrize("use_averages", [True, False])
def test_minibatches_beside_a_tagger_of_spacy(tmp_path: Path, corpus: Path, use_averages: bool) -> None:
    config_path = make_config(tmp_path, corpus)
    use_minibatch(config_path, use_averages)
    config = load_config(config_path)
    config["nlp"]["pipeline"] = ["tagger", "crf_tagger"]
    config["components"]["tagger"] = {"factory": "tagger"}
    config["components"]["crf_tagger"]["target"] = "ent"
    config.to_disk(config_path)
    run_spacy("init", "fill-config", config_path, config_path)
    run_spacy("train", config_path, "--output", tmp_path / "out")
    scores = performance(tmp_path / "out")
    assert scores["ents_f"] > 0.9 and scores["tag_acc"] > 0.5
    assert {"tagger_loss", "crf_tagger_loss"} <= scores.keys()


def test_labels_from_a_file_keep_their_order(tmp_path: Path, corpus: Path) -> None:
    config_path = make_config(tmp_path, corpus)
    run_spacy("init", "labels", config_path, tmp_path / "labels")
    labels = srsly.read_json(tmp_path / "labels" / "crf_tagger.json")
    assert labels == sorted(labels) and "NNP" in labels
    srsly.write_json(tmp_path / "labels" / "crf_tagger.json", labels[::-1])
    config = load_config(config_path)
    reader = {"@readers": "spacy.read_labels.v1", "path": str(tmp_path / "labels" / "crf_tagger.json")}
    config["initialize"] = {"components": {"crf_tagger": {"labels": reader}}}
    config.to_disk(config_path)
    run_spacy("train", config_path, "--output", tmp_path / "out")
    assert list(spacy.load(tmp_path / "out" / "model-best").get_pipe("crf_tagger").labels) == labels[::-1]


def test_fill_config_and_debug_data(tmp_path: Path, corpus: Path) -> None:
    config_path = make_config(tmp_path, corpus)
    run_spacy("init", "fill-config", config_path, tmp_path / "filled.cfg")
    filled = load_config(tmp_path / "filled.cfg")["components"]["crf_tagger"]
    assert filled["trainer"]["iterations_per_step"] == 20 and filled["trainer"]["period"] == 10
    assert filled["model"]["all_states"] is False
    result = invoke_spacy("debug", "data", tmp_path / "filled.cfg")
    # the command ends with an error, as the corpus is small
    assert "Pipeline can be initialized" in result.output and "Training pipeline: crf_tagger" in result.output


def test_find_threshold(tmp_path: Path, corpus: Path) -> None:
    config = make_config(tmp_path, corpus)
    run_spacy("train", config, "--output", tmp_path / "out", "--components.crf_tagger.target", "ent")
    model = tmp_path / "out" / "model-best"
    output = run_spacy(
        "find-threshold", model, corpus, "crf_tagger", "threshold", "ents_f", "--n_trials", 3, "--gold-preproc"
    )
    scores = [float(line.split()[1]) for line in output.splitlines() if line.split()[:1] in (["0.0"], ["0.5"], ["1.0"])]
    assert len(scores) == 3 and scores[0] == 1.0 and scores[2] < 1.0


@pytest.mark.filterwarnings("ignore:.*CRFW401")
def test_lbfgs_with_the_usual_batcher_stops_with_advice(tmp_path: Path, corpus: Path) -> None:
    config_path = make_config(tmp_path, corpus)
    config = load_config(config_path)
    config["training"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 5}
    config.to_disk(config_path)
    result = invoke_spacy("train", config_path, "--output", tmp_path / "out")
    assert "CRF202" in str(result.exception) and "full_batch" in str(result.exception)


@pytest.mark.parametrize(
    "template, code", [("LOWWER", "CRF301"), ("SUFFIX", "CRF302"), ("LOWER[1", "CRF304"), ("@taging", "CRF303")]
)
def test_a_misspelt_template_is_named(tmp_path: Path, corpus: Path, template: str, code: str) -> None:
    config_path = make_config(tmp_path, corpus)
    config = load_config(config_path)
    config["components"]["crf_tagger"]["features"]["templates"] = [template]
    config.to_disk(config_path)
    result = invoke_spacy("train", config_path, "--output", tmp_path / "out")
    assert code in str(result.exception) and template in str(result.exception)


def test_data_without_the_annotation_are_named(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    DocBin(docs=[nlp.make_doc("Ada met Bo")]).to_disk(tmp_path / "bare.spacy")
    result = invoke_spacy("train", make_config(tmp_path, tmp_path / "bare.spacy"), "--output", tmp_path / "out")
    assert "CRF402" in str(result.exception)


def trained(folder: Path, corpus: Path) -> Path:
    run_spacy("train", make_config(folder, corpus), "--output", folder / "out")
    return folder / "out" / "model-best"


def test_frozen_and_sourced_and_annotating(tmp_path: Path, corpus: Path) -> None:
    model = trained(tmp_path / "first", corpus)
    config_path = make_config(tmp_path, corpus)
    config = load_config(config_path)
    config["nlp"]["pipeline"] = ["upstream", "crf_tagger"]
    config["components"]["upstream"] = {"source": str(model), "component": "crf_tagger"}
    config["components"]["crf_tagger"]["target"] = "ent"
    config["components"]["crf_tagger"]["features"]["templates"] = ["TAG[-1..1]"]
    config["training"].update(frozen_components=["upstream"], annotating_components=["upstream"])
    config.to_disk(config_path)
    run_spacy("train", config_path, "--output", tmp_path / "out")
    before = (model / "crf_tagger" / "model").read_bytes()
    assert (tmp_path / "out" / "model-best" / "upstream" / "model").read_bytes() == before
    nlp = spacy.load(tmp_path / "out" / "model-best")
    names = nlp.get_pipe("crf_tagger").features.state.names()
    assert "TAG[0]=NNP" in names
    assert performance(tmp_path / "out")["ents_f"] > 0.5
    doc = make_examples(nlp)[0].predicted
    with nlp.select_pipes(enable=["crf_tagger"]), pytest.warns(CRFWarning, match="CRFW407.*TAG"):
        alone = read_target(nlp(doc.copy()), "ent")
    assert alone != read_target(nlp(doc.copy()), "ent")


@pytest.mark.slow
def test_a_wheel_of_a_pipeline_requires_the_library(tmp_path: Path, corpus: Path) -> None:
    model, packages = trained(tmp_path, corpus), tmp_path / "packages"
    packages.mkdir()
    command = [sys.executable, "-m", "spacy", "package", model, packages, "--build", "wheel", "--name", "tiny"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = packages.rglob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode("utf8").splitlines()
    assert any(re.match(r"Requires-Dist: spacy[-_]crf[ (<>=]", line) for line in lines)
