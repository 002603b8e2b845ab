"""Online trainers through `spacy train` and in the user's own loop: averages, warm starts, seeds, streams."""

import random
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
from helpers.commands import invoke_spacy, spacy_train
from helpers.paths import ROOT
from helpers.tagged import (
    ONLINE,
    TRAINER_CONFIGS,
    TRAINERS,
    build,
    fit,
    make_examples,
    predictions,
    read_target,
)
from helpers.weights import flat_weights
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config
from thinc.api import Config

from spacy_crf.learning.model import get_layout

CONFIG = ROOT / "configs" / "crf_tagger_perceptron.cfg"


def training_config(corpus: Path, trainer: str, target: str = "tag") -> Config:
    """The project's config with the tiny corpus, small batches and another trainer."""
    config = load_config(CONFIG)
    config["paths"].update(train=str(corpus), dev=str(corpus))
    config["components"]["crf_tagger"].update(trainer=dict(TRAINER_CONFIGS[trainer]), target=target)
    config["training"].update(max_epochs=8, eval_frequency=4, patience=0)
    config["training"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 5}
    if trainer == "LBFGS":
        config["training"]["batcher"] = {"@batchers": "spacy_crf.full_batch.v1"}
    config["training"]["optimizer"] = {"@optimizers": "Adam.v1", "learn_rate": 0.05, "L2": 0.0, "use_averages": True}
    return config


def run_training(folder: Path, corpus: Path, trainer: str, target: str = "tag") -> Path:
    """Train through the command line. RETURNS (Path): the folder of the pipelines."""
    return train(folder, training_config(corpus, trainer, target))


def train(folder: Path, config: Config) -> Path:
    spacy_train(config, folder)
    return folder


def build_with(trainer: dict) -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", config={"trainer": trainer})
    return nlp


@pytest.mark.parametrize("target", ["tag", "ent"])
@pytest.mark.parametrize("trainer", TRAINERS)
def test_what_was_trained_is_what_is_loaded(tmp_path: Path, corpus: Path, trainer: str, target: str) -> None:
    out = run_training(tmp_path, corpus, trainer, target)
    score = srsly.read_json(out / "model-best" / "meta.json")["performance"]["crf_score"]
    nlp = spacy.load(out / "model-best")
    gold = [read_target(example.reference, target) for example in make_examples(nlp)]
    found = predictions(nlp, target)
    assert score > 0.9
    if score == 1.0:
        assert found == gold
    nlp.to_disk(tmp_path / "again")
    again = spacy.load(tmp_path / "again")
    assert predictions(again, target) == found
    for file in sorted((out / "model-best" / "crf_tagger").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / "crf_tagger" / file.name).read_bytes()


@pytest.mark.parametrize("trainer", ONLINE)
def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(trainer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for n_threads, seed in ((1, 0), (4, 0), (1, 1)):
        monkeypatch.setattr("spacy_crf.core.threads.available_threads", lambda n=n_threads: n)
        nlp = build_with({**TRAINER_CONFIGS[trainer], "seed": seed})
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        for low in range(0, 2 * len(examples), 10):
            nlp.update(examples[low % len(examples) :][:10])
        results.append(nlp.get_pipe("crf_tagger").to_bytes())
    assert results[0] == results[1] != results[2]


@pytest.mark.parametrize("trainer", ["Perceptron", "PassiveAggressive", "AdaGrad"])
def test_prediction_sees_the_mean_and_training_the_raw_weights(trainer: str) -> None:
    nlp = build(trainer)
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("crf_tagger")
    for _ in range(3):
        nlp.update(examples)
        raw, mean = pipe.trainer._online.weights.raw, pipe.trainer._online.weights.mean
        assert not np.allclose(raw, mean)
        np.testing.assert_allclose(flat_weights(pipe.model), mean, rtol=1e-6, atol=1e-6)
    nlp.update(examples, sgd=False)
    np.testing.assert_allclose(flat_weights(pipe.model), mean, rtol=1e-6, atol=1e-6)
    pipe.finish_update(None)
    assert not np.allclose(flat_weights(pipe.model), mean)


@pytest.mark.parametrize("trainer", ONLINE)
def test_parts_of_a_step_are_learned_one_after_the_other(trainer: str) -> None:
    results = []
    for is_whole in (True, False):
        nlp = build(trainer)
        examples = make_examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
        for low in range(0, len(examples), 5):
            nlp.update(examples[low : low + 5], sgd=None if is_whole else False)
        nlp.get_pipe("crf_tagger").finish_update(None)
        results.append(flat_weights(nlp.get_pipe("crf_tagger").model))
    np.testing.assert_array_equal(*results)


def test_averages_of_a_thinc_optimizer_are_what_minibatch_training_saves(tmp_path: Path, corpus: Path) -> None:
    out = run_training(tmp_path, corpus, "Minibatch")
    config = load_config(tmp_path / "config.cfg")
    config["training"]["optimizer"]["use_averages"] = False
    raw = train(tmp_path / "raw", config)
    models = [spacy.load(path / "model-last").get_pipe("crf_tagger").model for path in (out, raw)]
    assert get_layout(models[0]).size == get_layout(models[1]).size
    assert not np.allclose(flat_weights(models[0]), flat_weights(models[1]))


@pytest.mark.parametrize("trainer", TRAINERS)
def test_sourced_components_resume_where_they_were(tmp_path: Path, corpus: Path, trainer: str) -> None:
    first = build(trainer)
    fit(first, make_examples(first))
    first.to_disk(tmp_path / "first")
    config = training_config(corpus, trainer)
    config["nlp"]["lang"] = "xx"
    config["components"]["crf_tagger"] = {"source": str(tmp_path / "first")}
    config["training"]["max_steps"] = 1
    nlp = spacy.load(train(tmp_path / "second", config) / "model-last")
    gold = [read_target(example.reference, "tag") for example in make_examples(nlp)]
    right = np.mean([a == b for doc, other in zip(predictions(nlp, "tag"), gold) for a, b in zip(doc, other)])
    assert right > 0.9  # one step from nothing does not get there


@pytest.mark.parametrize("trainer", TRAINERS)
def test_training_goes_on_with_more_labels_and_features(tmp_path: Path, trainer: str) -> None:
    nlp = build(trainer)
    half = make_examples(nlp)[:10]
    fit(nlp, half)
    nlp.to_disk(tmp_path / "half")
    nlp = spacy.load(tmp_path / "half")
    pipe, examples = nlp.get_pipe("crf_tagger"), make_examples(nlp)
    known, n_features = set(pipe.labels), len(pipe.features.state)
    new = {token.tag_ for example in examples for token in example.reference} - known
    assert new
    for label in sorted(new):
        assert pipe.add_label(label) == 1
    old = predictions(nlp, "tag")[:10]
    optimizer = nlp.resume_training()
    optimizer.learn_rate, optimizer.L2, optimizer.grad_clip = 0.05, 0.0, 0.0
    shuffler = random.Random(0)
    for _ in range(1 if trainer == "LBFGS" else 15):
        order = list(examples)
        shuffler.shuffle(order)
        for low in range(0, len(order), 20 if trainer == "LBFGS" else 5):
            nlp.update(order[low : low + (20 if trainer == "LBFGS" else 5)], sgd=optimizer)
    gold = [[token.tag_ for token in example.reference] for example in make_examples(nlp)]
    found = predictions(nlp, "tag")
    right = np.mean([a == b for doc, other in zip(found, gold) for a, b in zip(doc, other)])
    assert right > 0.95 and len(pipe.features.state) > n_features
    assert np.mean([a == b for a, b in zip(old, gold[:10])]) > 0.8  # adding labels forgets nothing


@pytest.mark.parametrize("trainer", ["Minibatch", *ONLINE])
def test_streams_take_labels_from_the_config(tmp_path: Path, corpus: Path, trainer: str) -> None:
    labels = sorted({token.tag_ for example in make_examples(spacy.blank("en")) for token in example.reference})
    config = streamed(tmp_path, corpus, trainer, labels)
    nlp = spacy.load(train(tmp_path, config) / "model-last")
    assert list(nlp.get_pipe("crf_tagger").labels) == labels
    assert srsly.read_json(tmp_path / "model-best" / "meta.json")["performance"]["tag_acc"] > 0.9


def test_a_label_that_a_stream_shows_late_is_an_error_with_advice(tmp_path: Path, corpus: Path) -> None:
    config = streamed(tmp_path, corpus, "Perceptron", ["NNP", "VBD"])
    config.to_disk(tmp_path / "config.cfg")
    result = invoke_spacy("train", tmp_path / "config.cfg", "--output", tmp_path)
    message = str(result.exception)
    assert "CRF403" in message and "spacy init labels" in message and "initialize.components.crf_tagger" in message


def streamed(folder: Path, corpus: Path, trainer: str, labels: list[str]) -> dict:
    """A config that reads the corpus as a stream, labels from a file."""
    folder.mkdir(exist_ok=True)
    srsly.write_json(folder / "labels.json", labels)
    config = load_config(CONFIG)
    config["paths"].update(train=str(corpus), dev=str(corpus))
    config["components"]["crf_tagger"]["trainer"] = dict(TRAINER_CONFIGS[trainer])
    config["training"].update(max_epochs=-1, max_steps=40, eval_frequency=20)
    config["training"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 5}
    config["training"]["optimizer"] = {"@optimizers": "Adam.v1", "learn_rate": 0.05, "L2": 0.0}
    reader = {"@readers": "spacy.read_labels.v1", "path": str(folder / "labels.json"), "require": True}
    config["initialize"] = {"components": {"crf_tagger": {"labels": reader}}}
    return config


@pytest.mark.parametrize("trainer", ["Minibatch", *ONLINE])
@pytest.mark.parametrize("more", [{}, {"max_features": 1 << 16}])
def test_rare_features_stay_out_however_many_epochs_there_are(trainer: str, more: dict) -> None:
    templates = ["LOWER", "B:LOWER"]
    features = {"@misc": "spacy_crf.Features.v1", "templates": templates, "min_count": 2, "min_edge_count": 3, **more}
    nlp = build(trainer, features=features)
    examples = []
    for words in (["a", "b1"], ["a", "b2"], ["a", "c"], ["b3", "c"]):
        reference = Doc(nlp.vocab, words=words, tags=["X", "Y"])
        examples.append(Example(Doc(nlp.vocab, words=words), reference))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(4):
        for batch in (examples[:1], examples[1:3], examples[3:]):
            nlp.update(batch, sgd=optimizer)
    pipe = nlp.get_pipe("crf_tagger")
    assert (len(pipe.features.state), len(pipe.features.edge)) == (2, 0)
    pipe.add_label("Z")  # a trainer begins anew, but not the counts
    nlp.update(examples, sgd=optimizer)
    assert (len(pipe.features.state), len(pipe.features.edge)) == (2, 0)
