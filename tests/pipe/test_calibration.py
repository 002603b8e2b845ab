"""`temperature = "auto"`: probabilities that are fitted to the dev corpus whenever training saves a pipeline."""

import copy
import io
import warnings
from pathlib import Path
from typing import Any

import pytest
import spacy
from helpers.commands import run
from helpers.noisy import make_examples, sentences, write_columns
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import registry
from thinc.api import Config

from spacy_crf.core.errors import CRFWarning
from spacy_crf.pipe.block import make_calibrate
from spacy_crf.pipe.calibration import calibrate
from spacy_crf.tagsets.guarantee import conformal_sets, guarantee_data, held_out_tokens

CALLBACK = {"@callbacks": "spacy_crf.calibrate.v1"}
ALONE = {"tag_acc": 1.0, "crf_score": 0.0}  # for pipelines with several taggers
TEMPLATES = ["LOWER[0]", "LOWER[-1]", "LOWER[1]", "LOWER[-1]|LOWER[0]|LOWER[1]"]
TAGGER = {
    "temperature": "auto",
    "features": {"@misc": "spacy_crf.Features.v1", "templates": TEMPLATES},
    "trainer": {"@misc": "spacy_crf.LBFGS.v1", "c2": 0.001},
}


def make_nlp(factory: str = "crf_tagger", **settings: Any) -> Language:
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config={**TAGGER, **settings})
    return nlp


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A corpus that is learned by heart, one to calibrate by, and one that is too small for it."""
    folder = tmp_path_factory.mktemp("corpora")
    data = {"train": sentences(0, 150), "dev": sentences(1, 300), "few": sentences(2, 5)}
    return {name: write_columns(folder / f"{name}.tsv", own) for name, own in data.items()}


def make_config(nlp: Language, files: dict[str, str], dev: str = "dev", **training: Any) -> Config:
    """The config of a pipeline that trains by L-BFGS, with a third step at most."""
    config = nlp.config.interpolate()
    reader = {"@readers": "spacy_crf.Corpus.v1", "columns": ["word", "tag"]}
    config["corpora"] = {"train": {**reader, "path": files["train"]}, "dev": {**reader, "path": files[dev]}}
    batcher = {"@batchers": "spacy_crf.full_batch.v1"}
    own = {"batcher": batcher, "max_steps": 2, "eval_frequency": 1, "patience": 0, "score_weights": {"tag_acc": 1.0}}
    config["training"].update({**own, **training})
    return config


def train_and_load(config: Config, output: Path) -> Language:
    output.mkdir(exist_ok=True)
    train(init_nlp(config), output, stdout=io.StringIO(), stderr=io.StringIO())
    return spacy.load(output / "model-best")


@pytest.mark.parametrize("factory", ["crf_tagger", "set_valued_tagger", "constrained_ner"])
def test_a_trained_pipeline_is_calibrated_as_by_the_command(
    factory: str, files: dict[str, str], tmp_path: Path
) -> None:
    settings = {"target": "tag"} if factory == "constrained_ner" else {}
    nlp = train_and_load(make_config(make_nlp(factory, **settings), files), tmp_path)
    pipe = nlp.get_pipe(factory)
    assert pipe.settings.temperature == pipe.cfg["temperature"] == pipe.temperature > 1.3
    assert nlp.config["components"][factory]["temperature"] == "auto"
    assert nlp.config["training"]["before_to_disk"] == CALLBACK
    held_out = make_examples(nlp, sentences(1, 300))
    again = calibrate(pipe, held_out)
    assert again.temperature == pytest.approx(pipe.temperature, rel=1e-3)
    pipe.cfg["temperature"] = 1.0
    assert calibrate(pipe, held_out).before.error > 1.3 * again.before.error


def test_the_last_pipeline_has_its_own_temperature(files: dict[str, str], tmp_path: Path) -> None:
    best = train_and_load(make_config(make_nlp(), files), tmp_path)
    last = spacy.load(tmp_path / "model-last")
    for nlp in (best, last):
        pipe = nlp.get_pipe("crf_tagger")
        fitted = calibrate(pipe, make_examples(nlp, sentences(1, 300)))
        assert fitted.temperature == pytest.approx(pipe.temperature, rel=1e-3)


def test_scores_during_training_are_those_of_temperature_1(files: dict[str, str], tmp_path: Path) -> None:
    seen = []

    @registry.scorers("temperature_seen.test")
    def make_scorer() -> Any:
        def score(examples: Any, **kwargs: Any) -> dict[str, float]:
            seen.append(kwargs["temperature"])
            return {"tag_acc": len(seen) / 100}

        return score

    nlp = make_nlp(scorer={"@scorers": "temperature_seen.test"})
    trained = init_nlp(make_config(nlp, files))
    train(trained, tmp_path, stdout=io.StringIO(), stderr=io.StringIO())
    assert seen[::2] == ["auto"] * 3  # those between are of what is saved
    assert trained.get_pipe("crf_tagger").temperature > 1.3


def test_the_meta_data_have_the_scores_of_the_saved_pipeline(files: dict[str, str], tmp_path: Path) -> None:
    weights = {"ml_util": 1.0, "set_size": None}
    nlp = make_nlp("set_valued_tagger", method="mass", coverage=0.9)
    nlp = train_and_load(make_config(nlp, files, score_weights=weights), tmp_path)
    told, examples = nlp.meta["performance"], make_examples(nlp, sentences(1, 300))
    assert {name: told[name] for name in weights} == pytest.approx({k: nlp.evaluate(examples)[k] for k in weights})
    nlp.get_pipe("set_valued_tagger").cfg["temperature"] = 1.0
    assert nlp.evaluate(examples)["set_size"] < told["set_size"]


def test_one_step_is_enough(files: dict[str, str], tmp_path: Path) -> None:
    nlp = train_and_load(make_config(make_nlp(), files, max_steps=1), tmp_path)
    assert nlp.get_pipe("crf_tagger").cfg["temperature"] != "auto"


def test_a_number_stays_as_it_is(files: dict[str, str], tmp_path: Path) -> None:
    nlp = train_and_load(make_config(make_nlp(temperature=1.7), files), tmp_path)
    assert nlp.get_pipe("crf_tagger").temperature == 1.7
    assert nlp.config["training"]["before_to_disk"] is None


def test_a_small_dev_corpus_warns_and_leaves_1(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.warns(CRFWarning, match=r"CRFW409.*crf_tagger.* tokens"):
        nlp = train_and_load(make_config(make_nlp(), files, dev="few"), tmp_path)
    assert nlp.get_pipe("crf_tagger").cfg["temperature"] == 1.0


def test_a_loop_of_ones_own_is_told_that_nothing_was_fitted(tmp_path: Path) -> None:
    nlp = make_nlp()
    examples = make_examples(nlp, sentences(0, 100))
    optimizer = nlp.initialize(lambda: examples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.to_disk(tmp_path / "untrained")
    nlp.update(examples, sgd=optimizer)
    assert nlp.get_pipe("crf_tagger").temperature == 1.0
    with pytest.warns(CRFWarning, match="CRFW408"):
        nlp.to_disk(tmp_path / "loop")
    pipe = nlp.get_pipe("crf_tagger")
    pipe.cfg["temperature"] = calibrate(pipe, make_examples(nlp, sentences(1, 100))).temperature
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.to_disk(tmp_path / "fitted")
    loaded = spacy.load(tmp_path / "fitted").get_pipe("crf_tagger")
    assert loaded.temperature == pytest.approx(pipe.temperature) != 1
    with pytest.warns(CRFWarning, match="CRFW417"):
        nlp.update(examples, sgd=optimizer)
    assert pipe.temperature == loaded.temperature  # a number that was assigned stays, as one in the config does


def test_what_was_fitted_is_stored_with_the_weights(files: dict[str, str], tmp_path: Path) -> None:
    nlp = train_and_load(make_config(make_nlp(), files, max_steps=1), tmp_path)
    pipe = nlp.get_pipe("crf_tagger")
    asked = {"components": {"crf_tagger": {"temperature": "auto"}}}
    copies = [spacy.load(tmp_path / "model-best", config=asked), spacy.blank("xx"), copy.deepcopy(nlp)]
    copies[1].add_pipe("crf_tagger", config=TAGGER).from_bytes(pipe.to_bytes())
    for twin in copies:
        twin.to_disk(tmp_path / "again")
        again = spacy.load(tmp_path / "again").get_pipe("crf_tagger")
        assert again.temperature == twin.get_pipe("crf_tagger").temperature == pipe.temperature != 1
        assert 'temperature = "auto"' in (tmp_path / "again" / "config.cfg").read_text(encoding="utf8")
    asked["components"]["crf_tagger"]["temperature"] = 2.0
    assert spacy.load(tmp_path / "model-best", config=asked).get_pipe("crf_tagger").temperature == 2
    again.finish_update(None)
    assert again.temperature == 1 and again.cfg["temperature"] == "auto"


def test_a_promise_that_is_made_at_once_holds_for_the_saved_model(tmp_path: Path) -> None:
    nlp = make_nlp("set_valued_tagger")
    examples = make_examples(nlp, sentences(0, 100))
    nlp.initialize(lambda: examples)
    nlp.update(examples)
    pipe, held_out = nlp.get_pipe("set_valued_tagger"), make_examples(nlp, sentences(1, 100))
    pipe.calibrate(held_out)
    promise = guarantee_data(conformal_sets(held_out_tokens(pipe, held_out), 0.1), pipe)
    pipe.cfg.update(method="guarantee", guarantee=promise)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert pipe.temperature != 1 and loaded.get_pipe("set_valued_tagger").temperature == pipe.temperature
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded(held_out[0].reference.text)


@pytest.mark.filterwarnings("ignore:.*CRFW421")  # the later tagger is the one that is looked at
def test_examples_are_not_annotated_by_fitting(files: dict[str, str]) -> None:
    """They may be shown again, by a reader that holds them, and what is there would stay."""
    nlp = spacy.blank("xx")
    for name in ("first", "second"):
        nlp.add_pipe("crf_tagger", name=name, config={**TAGGER, "temperature": 1.0 if name == "first" else "auto"})
    nlp.config["training"] = make_config(nlp, files, score_weights=ALONE)["training"]
    examples = make_examples(nlp, sentences(0, 100))
    nlp.initialize(lambda: examples)
    nlp.update(examples)

    @registry.readers("held_examples.test")
    def make_reader() -> Any:
        return lambda nlp: examples

    nlp.config["corpora"] = {"train": None, "dev": {"@readers": "held_examples.test"}}
    make_calibrate()(nlp)
    assert nlp.get_pipe("second").temperature != 1
    assert not any(token.tag_ for example in examples for token in example.predicted)


def test_another_callback_stays_and_is_told(files: dict[str, str], tmp_path: Path) -> None:
    @registry.callbacks("own_callback.test")
    def make_callback() -> Any:
        return lambda nlp: nlp

    own = {"@callbacks": "own_callback.test"}
    with pytest.warns(CRFWarning, match="CRFW408"):
        nlp = train_and_load(make_config(make_nlp(), files, before_to_disk=own), tmp_path)
    assert nlp.config["training"]["before_to_disk"] == own


@pytest.mark.filterwarnings("ignore:.*CRFW421")  # the later tagger is the one that is looked at
def test_several_components_are_fitted_and_frozen_ones_stay(files: dict[str, str], tmp_path: Path) -> None:
    first = train_and_load(make_config(make_nlp(), files), tmp_path / "first")
    was = first.get_pipe("crf_tagger").temperature
    nlp = spacy.blank("xx")
    nlp.add_pipe("crf_tagger", source=first)
    for name, target in (("second", "tag"), ("third", "tag")):
        nlp.add_pipe("crf_tagger", name=name, config={**TAGGER, "target": target})
    config = make_config(nlp, files, frozen_components=["crf_tagger"], score_weights=ALONE)
    config["components"]["crf_tagger"] = {"source": str(tmp_path / "first" / "model-best")}
    found = train_and_load(config, tmp_path / "several")
    assert found.get_pipe("crf_tagger").temperature == was
    assert found.get_pipe("second").temperature == found.get_pipe("third").temperature > 1.3


def test_a_sourced_component_that_is_trained_on_is_fitted_anew(files: dict[str, str], tmp_path: Path) -> None:
    trained = train_and_load(make_config(make_nlp(), files, max_steps=1), tmp_path / "first")
    was = trained.get_pipe("crf_tagger").temperature
    config = make_config(trained, files, before_to_disk=CALLBACK, max_steps=3)
    config["components"]["crf_tagger"] = {"source": str(tmp_path / "first" / "model-best")}
    config["initialize"]["components"] = {}
    again = train_and_load(config, tmp_path / "again").get_pipe("crf_tagger").temperature
    assert again not in (1.0, was, "auto")


def test_the_command_sets_a_number(files: dict[str, str], tmp_path: Path) -> None:
    train_and_load(make_config(make_nlp(), files), tmp_path)
    arguments = [tmp_path / "model-best", files["dev"], "--columns", "word,tag", "--output", tmp_path / "new"]
    run("calibrate", *arguments)
    assert isinstance(spacy.load(tmp_path / "new").config["components"]["crf_tagger"]["temperature"], float)
